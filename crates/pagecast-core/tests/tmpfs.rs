//! Files of a tmpfs, which are in memory only. Source of the rules: `mm/shmem.c`, Linux 6.12.

use crate::common::{Case, GB, Run, linux};

/// On [`crate::common::LINUX`], where a thread copies 1 GB/s, with a tmpfs of 4 GB.
fn machine() -> Case {
    linux().set("machine.mount./dev/shm.type=tmpfs").set("machine.mount./dev/shm.size=4 GB")
}

fn run(operations: &[&str]) -> Run {
    machine().process("p", operations).run("kernel")
}

const WRITE: &str = "write = '/dev/shm/a', size = '2 GB', offset = '0 B'";
const READ: &str = "read = '/dev/shm/a'";
const FSYNC: &str = "fsync = '/dev/shm/a'";
const UNLINK: &str = "unlink = '/dev/shm/a'";
const DROP: &str = "drop_caches = true";

#[test]
fn reads_and_writes_are_copies_and_fsync_takes_no_time() {
    let run = run(&[WRITE, FSYNC, READ, WRITE, DROP, READ, UNLINK]);
    assert_eq!(run.all_seconds("p"), [2.0, 0.0, 2.0, 2.0, 0.0, 2.0, 0.0]);
    assert_eq!([2, 5].map(|at| run.sources("p", at)), [(2 * GB, 0); 2], "dropping caches leaves them");
}

#[test]
fn its_pages_are_cached_not_dirty_and_gone_with_the_file() {
    let run = run(&[WRITE, READ, UNLINK, "sleep = '1 s'"]);
    let at = |seconds| {
        let levels = run.memory_at(seconds);
        (levels.cached.0, levels.anonymous.0, levels.dirty.0)
    };
    assert_eq!([2.5, 3.5, 4.5].map(at), [(2 * GB, 0, 0), (2 * GB, 0, 0), (0, 0, 0)]);
    assert!(run.timeline.levels.iter().all(|levels| levels.dirty.0 == 0));
}

#[test]
fn two_writers_of_the_same_bytes_take_memory_once() {
    let run = machine().process("p", &[WRITE]).process("q", &[WRITE, "sleep = '1 s'"]).run("kernel");
    assert_eq!(run.memory_at(2.5).cached.0, 2 * GB);
    assert!(run.timeline.levels.iter().all(|levels| levels.used() <= levels.total));
}

#[test]
fn files_of_the_disk_make_room_and_it_has_its_pages_for_good() {
    let cold = "read = '/data/f'";
    let case = machine().file("/data/f", "9 GB");
    let run = case.process("p", &[WRITE, cold, "write = '/dev/shm/b', size = '2 GB'", READ]).run("kernel");
    assert_eq!(run.sources("p", 3), (2 * GB, 0));
    let (_, of_disk, _) = run.file("/data/f");
    assert!((5 * GB..=6 * GB + GB / 5).contains(&of_disk), "{of_disk}");
    assert!(run.timeline.levels.iter().all(|levels| levels.used() <= levels.total));
}

#[test]
fn its_pages_cannot_become_dirty_so_the_limits_are_smaller() {
    let limit = |operations: &[&str]| {
        let run = run(operations);
        run.timeline
            .levels
            .last()
            .and_then(|levels| levels.kernel.as_ref())
            .expect("it is the kernel")
            .limit
            .0
    };
    let (without, with) = (limit(&["sleep = '1 s'"]), limit(&[WRITE]));
    let of_two_gb = (2 * GB) as f64 * 0.2;
    assert!(((without - with) as f64 - of_two_gb).abs() < 0.01 * of_two_gb, "{without} {with}");
}

#[test]
fn it_is_full_at_its_size_or_at_half_of_the_memory() {
    let fill = "write = '/dev/shm/a', size = '5 GB'";
    let full = machine().process("p", &[fill]).error("kernel");
    assert!(
        full.contains("needs 5 GB on disk `/dev/shm` of host `machine`, which has 4 GB and 0 B in use"),
        "{full}"
    );
    let half = linux().set("machine.mount./dev/shm.type=tmpfs");
    half.clone().process("p", &[fill]).run("kernel");
    let full = half.process("p", &[fill, "write = '/dev/shm/b', size = '100 MB'"]).error("kernel");
    assert!(full.contains("in use"), "{full}");
}

#[test]
fn programs_and_tmpfs_have_the_memory_together() {
    let error = machine().process("p", &["alloc = '9 GB'", WRITE]).error("kernel");
    assert!(error.contains("needs 2 GB more memory"), "{error}");
}

#[test]
fn a_file_of_time_0_is_there() {
    let run = machine().file("/dev/shm/f", "1 GB").process("p", &["read = '/dev/shm/f'"]).run("kernel");
    assert_eq!((run.seconds("p", 0), run.memory_at(0.5).cached.0), (1.0, GB));
}

/// Other models copy its bytes as if they came from a disk as fast as memory.
#[test]
fn other_models_move_its_bytes_at_the_rate_of_memory() {
    for model in ["wrench", "no-cache", "endless-cache"] {
        let run = machine().process("p", &[WRITE, READ]).run(model);
        let seconds = run.all_seconds("p");
        assert!(seconds.iter().all(|&seconds| seconds < 2.5), "{model}: {seconds:?}");
    }
}

#[test]
fn what_only_a_disk_has_is_refused() {
    let refused = |set: &str| {
        let key = format!("machine.mount./dev/shm.{set}");
        machine().set(&key).scenario().err().map(|error| error.to_string()).unwrap_or_default()
    };
    let errors = ["disk=ssd", "fsync=1 us", "write_mode=through"].map(refused);
    assert!(errors[0].contains("is a tmpfs, whose files are on no disk"), "{}", errors[0]);
    assert!(errors[1].contains("`fsync` is of a file system on a disk"), "{}", errors[1]);
    assert!(errors[2].contains("there is nothing behind it"), "{}", errors[2]);
    let size = linux().set("machine.mount./data.size=1 GB").scenario().err().map(|error| error.to_string());
    assert!(size.is_some_and(|error| error.contains("`size` is of a tmpfs")));
}
