//! The wait of fsync beside a writer that keeps the disk busy: it is that of the queue of the device.
//!
//! Story: fsync of 64 KiB beside a sequential writer at 450 MB/s took a median of 11, 20, 64, 125, 167 ms with 8, 16, 64, 128, 256 GB of
//! memory and a queue of one request, because a flusher submitted a part of the memory in one go and nobody was let in before
//! its end. And it took 2.3 ms, as on an idle disk, where the writer was in a memory cgroup, whose flusher had a queue of its own. In
//! Linux all of them share the requests of the device (`block/blk-mq-tag.c`), so what is waited for is what is in the queue.

use crate::common::{Case, on};

const WRITE: f64 = 450e6;
const REQUEST: f64 = (1280 << 10) as f64;
const FLUSH: f64 = 2e-3;

/// A database appends 64 KiB and calls fsync, again and again, beside a backup of 20 GB in 1 MiB calls.
#[derive(Clone)]
struct Beside {
    memory_gb: u32,
    requests: u32,
    cgroup: Option<&'static str>,
    call: &'static str,
    sync: &'static str,
    mount: &'static str,
    dirty_mb: u32,
}

const BESIDE: Beside = Beside {
    memory_gb: 16,
    requests: 64,
    cgroup: None,
    call: "1 MiB",
    sync: "fsync",
    mount: "",
    dirty_mb: 1600,
};

impl Beside {
    fn case(&self) -> Case {
        let Self { memory_gb, requests, cgroup, call, sync, mount, dirty_mb } = self;
        let cgroup_of = |size: &str| format!("cgroup.backup.memory.max = '{size}'");
        let machine = format!(
            "[machine]\ncores = 8\nkernel.version = '6.18'\n\
             vm = {{ dirty_bytes = '{dirty_mb} MB', dirty_background_bytes = '400 MB' }}\n\
             memory = {{ size = '{memory_gb} GB', read = '10 GB/s', write = '5 GB/s' }}\n{}\n\
             disk.sata = {{ size = '1 TB', read = '500 MB/s', write = '450 MB/s', flush = '2 ms', nr_requests = {requests} }}\n\
             mount.'/data' = {{ disk = 'sata' {mount} }}\n",
            cgroup.map(cgroup_of).unwrap_or_default()
        );
        // Odd times, so that it comes at any moment of a request.
        let append = "write = '/data/wal', size = '64 KiB', append = true";
        let database =
            format!("repeat = 40, do = [{{ {append} }}, {{ {sync} = '/data/wal' }}, {{ sleep = '437 ms' }}]");
        let backup = format!("write = '/data/backup', size = '20 GB', call = '{call}'");
        let keys = if cgroup.is_some() { "cgroup = 'backup'" } else { "" };
        on(&machine).process("database", &["sleep = '10 s'", &database]).process_with(
            "backup",
            keys,
            &[&backup],
        )
    }

    /// The times of fsync from the shortest to the longest, in seconds.
    fn waits(&self) -> Vec<f64> {
        let run = self.case().run("kernel");
        let end = run.end("backup", 0);
        let is_meant = |row: &usize| {
            let table = &run.operations;
            &*run.processes[table.process[*row] as usize] == "database"
                && table.operation[*row] == self.sync
                && table.end[*row].as_seconds() < end
        };
        let rows = (0..run.operations.end.len()).filter(is_meant);
        let seconds = |row: usize| (run.operations.end[row] - run.operations.start[row]).as_seconds();
        let mut waits: Vec<f64> = rows.map(seconds).collect();
        waits.sort_by(f64::total_cmp);
        assert!(waits.len() > 5, "{} came beside the backup", waits.len());
        waits
    }

    fn median(&self) -> f64 {
        let waits = self.waits();
        waits[waits.len() / 2]
    }
}

/// What is in the queue, at most two turns before it is its own, 64 KiB, and a flush.
#[track_caller]
fn assert_is_of_queue(wait: f64, requests: u32) {
    let queue = f64::from(requests) * REQUEST;
    let turn = (queue / 32.0).clamp(REQUEST, 4.0 * 1048576.0);
    let least = queue / WRITE + FLUSH;
    let most = (queue + 3.0 * turn) / WRITE + FLUSH;
    assert!((least..most).contains(&wait), "{wait} s with {requests} requests, not {least} to {most} s");
}

#[test]
fn it_depends_on_the_queue_and_not_on_the_memory() {
    for requests in [1, 16, 64, 256] {
        let medians = [4, 16, 64, 256].map(|memory_gb| Beside { memory_gb, requests, ..BESIDE }.median());
        for median in medians {
            assert_is_of_queue(median, requests);
        }
    }
}

#[test]
fn the_longest_waits_no_longer_than_the_queue_takes() {
    for memory_gb in [4, 256] {
        let longest = Beside { memory_gb, ..BESIDE }.waits().pop().expect("there were some");
        assert_is_of_queue(longest, 64);
    }
}

#[test]
fn a_writer_in_a_memory_cgroup_shares_the_queue() {
    // With 1 GB less is dirty than 64 requests hold.
    for (cgroup, requests) in [("1 GB", 1), ("1 GB", 16), ("8 GB", 16), ("8 GB", 64)] {
        assert_is_of_queue(Beside { cgroup: Some(cgroup), requests, ..BESIDE }.median(), requests);
    }
}

#[test]
fn the_calls_of_the_writer_make_no_difference() {
    for call in ["64 KiB", "16 MiB", "1 GB"] {
        assert_is_of_queue(Beside { call, ..BESIDE }.median(), 64);
    }
}

#[test]
fn fdatasync_waits_as_long() {
    assert_is_of_queue(Beside { sync: "fdatasync", ..BESIDE }.median(), 64);
}

/// The journal's own request comes behind what is in the queue by then; after that the commit takes what it takes alone.
#[test]
fn a_commit_waits_in_the_queue_too() {
    let with_commit = Beside { mount: ", commit = '5 ms'", ..BESIDE }.median();
    let expected = 2.0 * 64.0 * REQUEST / WRITE + FLUSH + 5e-3;
    assert!((expected..1.1 * expected).contains(&with_commit), "{with_commit} s, not {expected} s");
}

/// Of a limiter in front of the queue nothing bounds what waits, and that is all there is under writeback.
#[test]
fn in_a_queue_without_a_bound_it_waits_for_all_that_is_under_writeback() {
    let longest = |dirty_mb| Beside { requests: 100_000, dirty_mb, ..BESIDE }.waits().pop();
    let [small, large] = [800, 3200].map(|dirty_mb| longest(dirty_mb).expect("there were some"));
    assert!(large > 3.0 * small, "{small} and {large} s");
}

/// Every call of O_SYNC is one that waits.
#[test]
fn each_synchronous_call_waits_in_the_queue() {
    let open = "open = '/data/log', create = true, flags = ['O_SYNC']";
    let write = "write = '/data/log', size = '80 KiB', call = '4 KiB'";
    let run = BESIDE.case().process("log", &["sleep = '12 s'", open, write]).run("kernel");
    let each = run.seconds("log", 2) / 20.0;
    assert_is_of_queue(each, 64);
}
