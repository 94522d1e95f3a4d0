//! Reading and writing through the cache without leaving anything there (RWF_DONTCACHE). Source of the rules: `mm/filemap.c`,
//! `include/linux/fs.h`, Linux 6.16; ext4 since 6.17.

use crate::common::{Case, GB, MB, linux};

const OPEN: &str = "open = '/data/g', create = true, flags = ['RWF_DONTCACHE']";

#[track_caller]
fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} instead of {expected}");
}

fn reader(cached: &str) -> Case {
    linux().cached("/data/g", "1024 MB", cached)
}

#[test]
fn a_read_leaves_nothing_of_what_it_had_to_fetch() {
    let operations = [OPEN, "read = '/data/g', call = '1024 kB'", "read = '/data/g', call = '1024 kB'"];
    let run = reader("102400 kB").process("p", &operations).run("kernel");
    for index in [1, 2] {
        // What was cached before stays, and is used.
        assert_eq!(run.sources("p", index), (102_400_000, 1024 * MB - 102_400_000));
        assert_near(run.seconds("p", index), 0.1024 + 9.216, 0.01);
    }
    assert_eq!(run.file("/data/g").1, 102_400_000);
    let most = (0..180).map(|tenth| run.memory_at(f64::from(tenth) / 10.0).cached.0).max();
    assert_eq!(most, Some(102_400_000), "nor is it there meanwhile");
}

#[test]
fn a_read_is_as_fast_as_one_that_is_kept() {
    for call in ["4 KiB", "1 MiB"] {
        let read = |open: &str| {
            let read = format!("read = '/data/g', call = '{call}'");
            let case = linux().file("/data/g", "256 MiB").set("machine.disk.ssd.latency=100 us");
            case.set("machine.memory.cost.call=1 us")
                .process("p", &[open, &read])
                .run("kernel")
                .seconds("p", 1)
        };
        let (kept, passed) = (read("open = '/data/g'"), read(OPEN));
        assert_near(passed, kept, 0.005 * kept);
    }
}

#[test]
fn a_write_submits_its_pages_which_leave_when_the_disk_has_them() {
    let run = linux()
        .process("p", &[OPEN, "write = '/data/g', size = '1024 MB', call = '1024 kB'", "sleep = '1 s'"])
        .run("kernel");
    // The disk is busy from the first call on; the last 21 MB are in its queue when the write returns.
    assert_near(run.seconds("p", 1), 10.24 - 0.21, 0.1);
    assert_eq!(run.file("/data/g"), (1024 * MB, 0, 0));
    let most = (0..112).map(|tenth| run.memory_at(f64::from(tenth) / 10.0).dirty.0).max();
    assert!(most < Some(40 * MB), "{most:?}");
    let usual =
        linux().process("p", &["write = '/data/g', size = '1024 MB', call = '1024 kB'"]).run("kernel");
    assert_near(usual.seconds("p", 0), 1.024, 0.05);
}

#[test]
fn what_was_cached_before_stays_when_it_is_written_over() {
    let write = "write = '/data/g', size = '204800 kB', call = '1024 kB'";
    let run = reader("102400 kB").process("p", &[OPEN, write, "fsync = '/data/g'"]).run("kernel");
    assert_eq!(run.file("/data/g"), (1024 * MB, 102_400_000, 0));
}

#[test]
fn what_somebody_else_uses_stays() {
    let run = linux()
        .process("p", &[OPEN, "write = '/data/g', size = '10240 kB', call = '1024 kB'", "signal = 'done'"])
        .process("q", &["wait = 'done'", "read = '/data/g', size = '10240 kB'", "sleep = '1 s'"])
        .run("kernel");
    assert!(run.sources("q", 1).0 > 5 * MB, "{:?}", run.sources("q", 1));
    assert!(run.file("/data/g").1 > 5 * MB);
}

#[test]
fn a_file_that_is_removed_and_made_again_is_an_ordinary_one() {
    let write = "write = '/data/g', size = '10240 kB', call = '1024 kB'";
    let run =
        linux().process("p", &[OPEN, write, "unlink = '/data/g'", write, "fsync = '/data/g'"]).run("kernel");
    assert_eq!(run.file("/data/g"), (10_240_000, 10_240_000, 0));
}

#[test]
fn other_models_keep_nothing_or_all() {
    let operations = [OPEN, "read = '/data/g'", "write = '/data/g', size = '500 MB'"];
    let cached = |model: &str| reader("100 MB").process("p", &operations).run(model).file("/data/g").1;
    assert_eq!([cached("no-cache"), cached("endless-cache")], [0, 100 * MB]);
    assert!(cached("wrench") > GB / 2, "it has no such thing");
}

#[test]
fn a_kernel_or_file_system_that_does_not_take_it_says_so() {
    let error = |keys: &[&str]| {
        let case = reader("0 B").process("p", &[OPEN, "read = '/data/g'"]);
        let case = keys.iter().fold(case, |case, key| case.set(key));
        case.simulate("kernel").map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(
        error(&["machine.kernel.version='6.16'"]).unwrap_err(),
        "test.toml:22: process `p` does a read of /data/g with RWF_DONTCACHE at the start, which fails with EOPNOTSUPP on Linux 6.16 and this \
         file system; ext4 takes it since 6.17, XFS and Btrfs since 6.14"
    );
    let of = |kind: &str, version: &str| {
        let version = format!("machine.kernel.version='{version}'");
        error(&[&version, &format!("machine.mount.\"/data\".type={kind}")]).is_ok()
    };
    assert!(error(&["machine.kernel.version='6.17'"]).is_ok());
    assert_eq!(
        [of("xfs", "6.13"), of("xfs", "6.14"), of("btrfs", "6.14"), of("f2fs", "6.18")],
        [false, true, true, false]
    );
}
