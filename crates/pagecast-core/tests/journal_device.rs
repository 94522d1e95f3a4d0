//! A journal on a disk of its own. Source of the rules: `fs/jbd2/commit.c`, `fs/jbd2/journal.c: jbd2_trans_will_send_data_barrier`, Linux 6.12 and
//! 6.15.

use pagecast_core::result::{Part, Used};

use crate::common::{Case, Run, linux};

const LOG: &str = "[machine.disk.log]\nsize = '4 GB'\nread = '50 MB/s'\nwrite = '50 MB/s'\nwrite_latency = '3 ms'\nflush = '5 ms'";

/// Ext4 on a disk of 100 MB/s, 1 ms for a write and 20 ms for a flush; its log on one of 50 MB/s, 3 ms and 5 ms.
fn external(version: &str) -> Case {
    set(
        linux().keys(LOG),
        &[
            "disk.ssd.write_latency=1 ms",
            "disk.ssd.flush=20 ms",
            "mount./data.journal={}",
            "mount./data.journal_device=log",
            &format!("kernel.version={version}"),
        ],
    )
}

fn set(case: Case, keys: &[&str]) -> Case {
    keys.iter().fold(case, |case, key| case.set(&format!("machine.{key}")))
}

const APPEND: &str = "write = '/data/g', size = '4096 B', append = true";
const FSYNC: &str = "fsync = '/data/g'";

/// So many pages at a rate.
fn pages(count: f64, rate: f64) -> f64 {
    count * 4096.0 / rate
}

/// All that a disk did.
fn used(run: &Run, disk: &str) -> Used {
    let table = &run.devices;
    let rows = (0..table.used.len()).filter(|&row| &*run.paths[table.device[row] as usize] == disk);
    rows.fold(Used::default(), |sum, row| {
        let used = table.used[row];
        Used {
            writes: sum.writes + used.writes,
            write_bytes: sum.write_bytes + used.write_bytes,
            flushes: sum.flushes + used.flushes,
            ..sum
        }
    })
}

#[test]
fn the_log_goes_to_its_disk_and_the_disk_of_the_files_is_flushed_meanwhile() {
    let fsync = |version: &str| external(version).process("p", &[APPEND, FSYNC]).run("kernel");
    let (data, log, record) = (1e-3 + pages(1.0, 100e6), 3e-3 + pages(4.0, 50e6), 3e-3 + pages(1.0, 50e6));
    let (new, old) = (fsync("6.15"), fsync("6.12"));
    let near = |run: &Run, expected: f64| {
        let seconds = run.seconds("p", 1);
        assert!((seconds - expected).abs() < 1e-6, "{seconds} s, not {expected}");
    };
    near(&new, data + 20e-3 + 5e-3 + record);
    near(&old, data + log + 5e-3 + record);
    let counts = |used: Used| (used.writes, used.write_bytes / 4096, used.flushes);
    assert_eq!((counts(used(&new, "log")), counts(used(&new, "ssd"))), ((2, 5, 1), (1, 1, 1)));
    assert_eq!((counts(used(&old, "log")), counts(used(&old, "ssd"))), ((2, 5, 1), (1, 1, 0)));
}

/// `t_need_data_flush` is set by ordered data before 6.15, too.
#[test]
fn ordered_data_is_flushed_before_the_commit_block() {
    let flushes = |keys: &[&str]| {
        let run = set(external("6.12"), keys).process("p", &[APPEND, FSYNC]).run("kernel");
        (used(&run, "ssd").flushes, used(&run, "log").flushes)
    };
    assert_eq!(flushes(&["mount./data.type=ext3"]), (1, 1));
    assert_eq!(flushes(&["mount./data.type=ext3", "mount./data.journal.data=writeback"]), (0, 1));
    assert_eq!(flushes(&["mount./data.type=ext3", "mount./data.journal.barrier=false"]), (0, 0));
}

/// `fdatasync` does not wait for new times: it flushes the disk of the file itself, and nothing is written to the log.
#[test]
fn a_durable_call_that_commits_nothing_flushes_the_disk_of_its_file() {
    let over = "write = '/data/g', size = '4096 B', offset = '0 B'";
    let case = external("6.18").cached("/data/g", "4096 B", "4096 B");
    let run = case.process("p", &[over, FSYNC, over, "fdatasync = '/data/g'"]).run("kernel");
    let commits = run.events_called("journal_commit").len();
    assert_eq!((commits, used(&run, "ssd").flushes, used(&run, "log").flushes), (1, 2, 1));
}

/// An fsync that asks for a transaction that is being committed already cannot rely on a flush of the disk of the files, and flushes it.
#[test]
fn an_fsync_that_comes_during_a_commit_flushes_the_disk_of_its_file() {
    let flushes = |start: &str| {
        // Both files have got blocks in the transaction, which commits for 12 ms.
        let append = "write = '/data/h', size = '4096 B'";
        let case = set(external("6.12"), &["mount./data.type=ext3", "mount./data.journal.data=writeback"]);
        let case = case.process("p", &[APPEND, append, FSYNC]);
        let run = case.process_with("q", &format!("start = '{start}'"), &["fsync = '/data/h'"]).run("kernel");
        (run.events_called("journal_commit").len(), used(&run, "ssd").flushes)
    };
    assert_eq!(flushes("1 s"), (1, 1), "it is committed");
    assert_eq!(flushes("8 ms"), (1, 1));
}

/// The end of a commit on one disk lets `fsync` write to the other one at once.
#[test]
fn journaled_data_goes_to_its_place_when_the_log_has_it() {
    let case = set(external("6.18"), &["mount./data.journal.data=journal"]);
    let run = case.process("p", &[APPEND, FSYNC]).run("kernel");
    let (log, record) = (3e-3 + pages(5.0, 50e6), 3e-3 + pages(1.0, 50e6));
    let expected = f64::max(log, 20e-3) + 5e-3 + record + 1e-3 + pages(1.0, 100e6) + 20e-3;
    let seconds = run.seconds("p", 1);
    assert!((seconds - expected).abs() < 1e-3, "{seconds} s, not {expected}");
}

/// Data is written to the log and to its place by two disks, in part at once.
#[test]
fn a_stream_of_journaled_data_is_faster_with_two_disks() {
    let seconds = |external_log: bool| {
        let keys = [
            "disk.log.write=100 MB/s",
            "mount./data.journal.data=journal",
            "mount./data.journal.size=64 MiB",
        ];
        let case =
            if external_log { external("6.18") } else { set(linux().keys(LOG), &["mount./data.journal={}"]) };
        let run = set(case, &keys).process("p", &["write = '/data/g', size = '1 GB'", FSYNC]).run("kernel");
        (run.seconds("p", 0) + run.seconds("p", 1), used(&run, "log").write_bytes)
    };
    let (two, one) = (seconds(true), seconds(false));
    assert!(one.0 > 19.0 && two.0 < 17.0, "{one:?} and {two:?}");
    assert!(two.1 > 1_000_000_000 && one.1 == 0);
}

/// The disk of the files is busy; the commits of an idle file system's log wait for nobody there.
#[test]
fn waits_for_the_log_are_for_others_on_its_disk() {
    let on_log = "[machine.mount.'/fast']\ndisk = 'log'";
    let busy = |path: &str| {
        let case = external("6.18").keys(on_log);
        let write = format!("write = '{path}', size = '1.2 GB'");
        let run =
            case.process("big", &[&write]).process_with("p", "start = '2 s'", &[APPEND, FSYNC]).run("kernel");
        (run.part("p", 1, Part::Journal), run.waits.time.len())
    };
    let (data, log) = (busy("/data/big"), busy("/fast/big"));
    assert!(data.0 < 0.04 && log.0 > 0.1, "{data:?} and {log:?}");
    assert!(log.1 > 0);
}
