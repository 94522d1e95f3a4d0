//! Model `cawl` from outside: what it answers, and what it refuses.

use insta::assert_snapshot;

use crate::common::{Case, GB, HOSTS, MB, case, on};

/// The disk writes 100 MB/s; the page cache takes 1000 MB/s, 500 while dirty blocks are written back, from 400 MB on; limit 800 MB.
fn cawl() -> Case {
    case().option("bw_reduced", "500 MB/s").option("limit_bg", "400 MB").option("limit_hard", "800 MB")
}

fn refused(case: Case) -> String {
    case.error("cawl")
}

#[test]
fn buffered_writes_go_through_algorithm_1() {
    let write = "write = '/data/f', append = true, size = '100 MB'";
    let run = cawl().process("p", &[write; 9]).run("cawl");
    // As in the core's own tests: free up to 400 MB, then at 500 MB/s; the device takes 10 MB in 100 ms.
    assert_eq!(run.all_seconds("p")[..8], [0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2]);
    assert_eq!(run.parts("p", 5), [("cpu_copy", 0.2)]);
    assert_eq!(run.sources("p", 0), (100 * MB, 0));
    assert_eq!(run.file("/data/f").0, 900 * MB);
    let dirty = |time| run.memory_at(time).dirty.0 / MB;
    assert_eq!([0.35, 0.45, 0.65, 0.95].map(dirty), [300, 390, 480, 640]);
}

#[test]
fn a_write_is_as_many_writes_as_it_has_calls() {
    let one = cawl().process("p", &["write = '/data/f', size = '700 MB', call = '100 MB'"]).run("cawl");
    assert_eq!(one.all_seconds("p"), [0.9]);
    let call =
        cawl().option("sc_w", "1 ms").process("p", &["write = '/data/f', size = '4 kB', call = '1 kB'"]);
    assert_eq!(call.run("cawl").all_seconds("p"), [0.004_004]);
}

#[test]
fn a_throttled_write_says_so() {
    let write = "write = '/data/f', append = true, size = '100 MB'";
    let run = cawl().process("p", &[write; 10]).run("cawl");
    // The tenth finds the limit reached: 3 s until the set point is.
    assert_eq!(run.parts("p", 9), [("cpu_copy", 0.2), ("throttled", 2.799_999_99)]);
}

#[test]
fn dirty_blocks_are_written_back_in_pauses() {
    let write = "write = '/data/f', append = true, size = '600 MB'";
    let run = cawl().process("p", &[write, "sleep = '3 s'", "write = '/data/g', size = '1 MB'"]).run("cawl");
    // 600 MB in one free write, during which 60 are written back. In the pause 300 more: that there are 400 is asked of a block as
    // a whole.
    assert_eq!((run.seconds("p", 0), run.memory_at(0.61).dirty.0 / MB), (0.6, 540));
    assert_eq!(run.memory_at(3.6).dirty.0 / MB, 240);
    assert_eq!(run.seconds("p", 2), 0.001);
}

#[test]
fn direct_and_synchronous_writes_go_by_the_equations() {
    let open = |flag: &str| format!("open = '/data/f', create = true, flags = ['{flag}']");
    let write = "write = '/data/f', size = '10 MB', call = '1 MB'";
    let with = |flag: &str, write: &str| {
        let costs = cawl().option("sc_sw", "1 ms").option("c_sk", "5 ms").option("bw_rdev", "50 MB/s");
        costs.process("p", &[&open(flag), write, write]).run("cawl")
    };
    // Ten calls of 1 ms and 10 ms each; the second write begins anew, one seek.
    let direct = with("O_DIRECT", &write.replace("1 MB", "1024 kB").replace("10 MB", "10240 kB"));
    assert_eq!(direct.all_seconds("p"), [0.0, 0.1124, 0.1174]);
    assert_eq!(direct.parts("p", 1), [("device_write", 0.1124)]);
    // 1 ms of copying more, and a block of 512 B that is not filled: 10.24 us to read, 5.12 to write; 64 B are not written by themselves.
    let sync = with("O_SYNC", write);
    let of_call = 1e-3 + 1e-3 + (1_000_000.0 - 64.0) / 1e8 + 512.0 / 5e7 + 512.0 / 1e8;
    assert!((sync.seconds("p", 1) - 10.0 * of_call).abs() < 1e-8);
    assert_eq!(sync.sources("p", 1), (0, 10 * MB));
    assert_eq!(sync.memory_at(0.2).dirty.0, 0);
}

#[test]
fn what_is_written_synchronously_or_cut_off_is_no_more_dirty() {
    let write = "write = '/data/f', size = '100 MB'";
    let sync = "open = '/data/f', flags = ['O_SYNC']";
    let run = cawl().process("p", &[write, sync, "write = '/data/f', size = '40 MB'"]).run("cawl");
    assert_eq!(run.file("/data/f").2, 60 * MB);
    let run = cawl().process("p", &[write, "truncate = '/data/f', size = '30 MB'"]).run("cawl");
    assert_eq!((run.file("/data/f").2, run.memory_at(0.2).dirty.0), (30 * MB, 30 * MB));
    let run = cawl().process("p", &[write, "unlink = '/data/f'"]).run("cawl");
    assert_eq!(run.memory_at(0.2).dirty.0, 0);
}

#[test]
fn what_does_not_write_is_as_under_any_model() {
    let others = [
        "alloc = '1 GB'",
        "drop_caches = true",
        "compute = '1 s'",
        "fadvise = '/data/f', advice = 'dontneed'",
        "free = 'all'",
    ];
    let run = cawl().cached("/data/f", "1 GB", "1 GB").process("p", &others).run("cawl");
    assert_eq!(run.all_seconds("p"), [0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(run.memory_at(0.5).anonymous.0, GB);
    // A process beside it may do all but write.
    let two = cawl().process("p", &["write = '/data/f', size = '1 MB'"]).process("q", &["compute = '1 s'"]);
    assert_eq!(two.run("cawl").seconds("p", 0), 0.001);
}

#[test]
fn what_it_does_not_know_is_refused_where_it_stands() {
    let file = || cawl().file("/data/f", "1 GB");
    assert_snapshot!(refused(file().process("p", &["read = '/data/f'"])),
        @"test.toml:16: process `p` does a read at the start, and model `cawl` knows writes only; ask model `kernel`, or leave the read out"
    );
    assert_snapshot!(refused(file().process("p", &["sleep = '1 s'", "fsync = '/data/f'"])),
        @"test.toml:17: process `p` does a fsync at 1.000 s, and model `cawl` knows no write-back that a process asks for; ask model `kernel`, or open the file with O_SYNC"
    );
    assert_snapshot!(refused(file().process("p", &["sync = true"])),
        @"test.toml:16: process `p` does a sync at the start, and model `cawl` knows no write-back that a process asks for; ask model `kernel`, or open the file with O_SYNC"
    );
    let write = "write = '/data/f', size = '1 MB'";
    assert_snapshot!(refused(file().process("p", &[write]).process_with("q", "after = ['p']", &[write])),
        @"test.toml:22: process `q` does a write at 1.000 ms, and model `cawl` knows one process that writes; ask model `kernel`"
    );
    assert_snapshot!(refused(cawl().dirty("/data/f", "1 GB", "1 MB").process("p", &[write])),
        @"test.toml: a file is partly dirty at the start, and model `cawl` begins with nothing dirty; ask model `kernel`, or let the file be clean"
    );
    assert_snapshot!(refused(on(HOSTS).process("p", &["write = '/remote/f', size = '1 MB'"])),
        @"test.toml:18: process `p` does a write at the start, and model `cawl` knows no files of other hosts; ask model `kernel`"
    );
    let second = on(&format!(
        "{}disk.hdd = {{ size = '1 TB', read = '1 MB/s', write = '1 MB/s' }}\nmount.'/slow'.disk = 'hdd'\n",
        crate::common::MACHINE
    ));
    assert_snapshot!(refused(second.process("p", &[write, "write = '/slow/f', size = '1 MB'"])),
        @"test.toml:15: process `p` does a write at 1.000 ms, and model `cawl` knows one device that is written to; ask model `kernel`"
    );
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let write = ["write = '/data/f', size = '1 MB'"];
    assert_snapshot!(refused(case().option("limit_bg", "9 GB").process("p", &write)),
        @"option cawl.limit_bg: model.cawl.limit_bg: 9000000000 does not fit; it must be less than limit_hard=3948593152"
    );
    assert_snapshot!(refused(case().option("bw_disk", "9 GB").process("p", &write)),
        @"option cawl.bw_disk: model `cawl` has no option `bw_disk`; options of it: `bw_ramdisk`, `bw_reduced`, `bw_dev`, `bw_rdev`, `bw_sync`, `bs`, `sc_w`, `sc_sw`, `c_sk`, `limit_bg`, `limit_hard`, `dirty_expire` and 2 more"
    );
    let group = case().set("machine.cgroup.g.memory.max='1 GB'").process("p", &write);
    assert_snapshot!(refused(group),
        @"test.toml: model `cawl` knows no memory cgroups, and host `machine` has some; ask model `kernel`, or remove the cgroups"
    );
}
