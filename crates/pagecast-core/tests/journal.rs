//! Commits of a journal as requests to the disk. Source of the rules: `fs/jbd2`, `fs/ext4`, `fs/xfs/xfs_log_cil.c`, Linux 6.12.

use std::sync::Arc;

use pagecast_core::workload::{Action, OpenFlags, Operation};

use crate::common::{Case, Run, linux};

/// On [`crate::common::LINUX`], whose disk takes 1 ms for a write and 2 ms to flush its cache, and writes 100 MB/s.
fn journaled(journal: &str) -> Case {
    let disk = ["write_latency=1 ms", "flush=2 ms"].map(|key| format!("machine.disk.ssd.{key}"));
    let case = disk.iter().fold(linux(), |case, key| case.set(key)).set("machine.kernel.version=6.12");
    case.set(&format!("machine.mount./data.journal={journal}"))
}

const APPEND: &str = "write = '/data/g', size = '4096 B', offset = '0 B'";
const FSYNC: &str = "fsync = '/data/g'";

/// So many pages at 100 MB/s.
fn pages(count: f64) -> f64 {
    count * 4096.0 / 100e6
}

fn near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 1e-6, "{actual} s, not {expected}");
}

fn commits(run: &Run) -> usize {
    run.events_called("journal_commit").len()
}

#[test]
fn an_append_takes_its_data_the_log_a_flush_and_the_commit_block_in_sequence() {
    let fsync =
        |journal: &str| journaled(journal).process("p", &[APPEND, FSYNC]).run("kernel").seconds("p", 1);
    // Data; a descriptor with an inode, a bitmap and a group descriptor; the commit block.
    let moved = pages(1.0 + 4.0 + 1.0);
    near(fsync("{}"), moved + 3e-3 + 2e-3);
    near(fsync("{ barrier = false }"), moved + 3e-3);
    near(fsync("{ data = 'writeback' }"), fsync("{ data = 'ordered' }"));
}

#[test]
fn an_overwrite_within_a_tick_takes_its_data_and_a_flush() {
    let seconds = |journal: &str| {
        let case = journaled(journal).cached("/data/g", "4096 B", "4096 B").set("machine.kernel.hz=100");
        let run = case.process("p", &[APPEND, FSYNC, APPEND, FSYNC]).run("kernel");
        assert_eq!(commits(&run), 1, "the times of the file");
        run.seconds("p", 3)
    };
    near(seconds("{}"), pages(1.0) + 1e-3 + 2e-3);
    near(seconds("{ barrier = false }"), pages(1.0) + 1e-3);
}

#[test]
fn the_log_of_xfs_is_one_write_behind_a_flush() {
    let run =
        journaled("{}").set("machine.mount./data.type=xfs").process("p", &[APPEND, FSYNC]).run("kernel");
    near(run.seconds("p", 1), pages(1.0 + 4.0) + 2e-3 + 2e-3);
}

#[test]
fn a_write_gives_its_file_new_times_once_a_tick() {
    let open = "open = '/data/g', create = true";
    let case = journaled("{}").set("machine.mount./data.update_time=1 ms").set("machine.kernel.hz=250");
    let copy = 4096.0 / 1e9;
    let seconds =
        case.process("p", &[open, APPEND, "sleep = '10 ms'", APPEND, APPEND, "sleep = '5 ms'", APPEND]);
    let seconds = seconds.run("kernel").all_seconds("p");
    near(seconds[1], copy);
    near(seconds[3], copy + 1e-3);
    near(seconds[4], copy);
    near(seconds[6], copy + 1e-3);
}

/// Calls of 16 KiB pay for each page on ext4 and once on XFS, whose writes make folios since Linux 6.6.
#[test]
fn a_write_on_xfs_pays_for_its_folio() {
    let seconds = |file_system: &str, version: &str| {
        let case = journaled("{}").set(&format!("machine.kernel.version={version}"));
        let case = case.set("machine.memory.cost.folio_insert=10 us");
        let case = case.set(&format!("machine.mount./data.type={file_system}"));
        case.process("p", &["write = '/data/g', size = '16 KiB'"]).run("kernel").seconds("p", 0)
    };
    let copy = 16_384.0 / 1e9;
    near(seconds("ext4", "6.12"), copy + 40e-6);
    near(seconds("xfs", "6.5"), copy + 40e-6);
    near(seconds("xfs", "6.6"), copy + 10e-6);
    near(seconds("ext4", "6.16"), copy + 10e-6);
}

#[test]
fn processes_that_come_during_a_commit_share_the_next_one() {
    let calls = 40;
    let case = (0..16).fold(journaled("{}"), |case, at| {
        let (write, fsync) = (
            format!("write = '/data/f{at}', size = '4096 B', append = true"),
            format!("fsync = '/data/f{at}'"),
        );
        let operations: Vec<&str> = (0..calls).flat_map(|_| [write.as_str(), fsync.as_str()]).collect();
        case.process(&format!("p{at}"), &operations)
    });
    let run = case.set("machine.cores=1").set("machine.mount./data.fsync=50 us").run("kernel");
    let (all, commits) = (16 * calls, commits(&run));
    assert!(commits <= all / 4 && commits >= calls, "{commits} commits of {all} calls");
}

/// Two processes begin to append at once, or one does what both do; the blocks of the last commit.
fn blocks_of_last_commit(together: bool, file_system: &str, calls: usize) -> u64 {
    let append = |file: &str| format!("write = '/data/{file}', size = '4096 B', append = true");
    let (appends, fsyncs) =
        (["a", "b"].map(append), ["a", "b"].map(|file| format!("fsync = '/data/{file}'")));
    let case = journaled("{}").set(&format!("machine.mount./data.type={file_system}"));
    let files = if together { 0..2 } else { 0..1 };
    let case = files.fold(case, |case, at| {
        let calls: Vec<&str> = (0..calls).flat_map(|_| [appends[at].as_str(), fsyncs[at].as_str()]).collect();
        case.process(&format!("p{at}"), &calls)
    });
    let run = case.run("kernel");
    run.events_called("journal_commit").last().expect("there is one").2 / 4096
}

/// Source: the recordings of par4_append_fsync, whose commits have a block for each process.
#[test]
fn small_files_that_grow_at_once_have_a_leaf_of_extents_in_each_commit() {
    // A descriptor, an inode, a bitmap and a group descriptor, the commit block; and a leaf.
    assert_eq!([false, true].map(|together| blocks_of_last_commit(together, "ext4", 8)), [5, 6]);
}

#[test]
fn files_of_ext3_have_an_indirect_block_from_48_kib_on() {
    assert_eq!([12, 13].map(|calls| blocks_of_last_commit(false, "ext3", calls)), [5, 6]);
}

#[test]
fn a_commit_comes_behind_callers_on_the_only_processor() {
    let duration = |cores: &str| {
        let case =
            journaled("{}").set("machine.mount./data.commit=1 ms").set(&format!("machine.cores={cores}"));
        let case = case.set("machine.mount./data.create=10 ms");
        // The commit of the first append begins after 1 ms, as files are made.
        let makes: Vec<String> = (0..3).map(|at| format!("open = '/data/m{at}', create = true")).collect();
        let makes: Vec<&str> = makes.iter().map(String::as_str).collect();
        case.process("p", &[APPEND, FSYNC]).process("m", &makes).run("kernel").seconds("p", 1)
    };
    let (one, two) = (duration("1"), duration("2"));
    assert!(one > 30e-3 && two < 10e-3, "{one} s, {two} s");
}

/// Of three processes on one processor, two wait for the second commit as the first one ends.
#[test]
fn the_end_of_a_commit_wakes_those_that_wait_for_a_later_one() {
    let run = |wakeup: &str| {
        let case = journaled("{}").set("machine.cores=1").set("machine.mount./data.commit=50 us");
        let case = case.set(&format!("machine.mount./data.commit_wakeup={wakeup}"));
        let case = (0..3).fold(case, |case, at| {
            let fsync = format!("fsync = '/data/{at}'");
            let write = format!("write = '/data/{at}', size = '4096 B'");
            let sleep = format!("sleep = '{} us'", at * 1500);
            case.process(&format!("p{at}"), &[&sleep, &write, &fsync])
        });
        case.run("kernel")
    };
    let [none, some] = ["0 s", "100 us"].map(run);
    let later = |process: &str| some.end(process, 2) - none.end(process, 2);
    near(later("p0"), 0.0);
    near(later("p1"), 200e-6);
    near(later("p2"), 200e-6);
    assert_eq!(commits(&none), commits(&some));
}

#[test]
fn callers_that_flush_at_once_share_the_next_flush() {
    let seconds = |count: usize| {
        let case = (0..count).fold(journaled("{}"), |case, at| {
            let file = format!("/data/f{at}");
            case.cached(&file, "4096 B", "0 B").process(&format!("p{at}"), &[&format!("fsync = '{file}'")])
        });
        let run = case.run("kernel");
        (0..count).map(|at| run.seconds(&format!("p{at}"), 0)).fold(0.0, f64::max)
    };
    near(seconds(1), 2e-3);
    near(seconds(3), 4e-3);
}

#[test]
fn journaled_data_of_a_file_that_is_removed_leaves_the_transaction() {
    let blocks = |removes: bool| {
        let mut steps = vec!["write = '/data/a', size = '4 MiB'", "write = '/data/b', size = '4096 B'"];
        steps.extend(removes.then_some("unlink = '/data/a'"));
        steps.push("fsync = '/data/b'");
        let run = journaled("{ data = 'journal' }").process("p", &steps).run("kernel");
        run.events_called("journal_commit")[0].2 / 4096
    };
    assert!(blocks(false) > 1024 && blocks(true) < 16, "{} and {} blocks", blocks(false), blocks(true));
}

#[test]
fn a_transaction_is_committed_by_its_age() {
    let operations = [APPEND, "sleep = '12 s'", APPEND, "sleep = '6 s'"];
    let run = journaled("{}").process("p", &operations).run("kernel");
    let times: Vec<f64> = run.events_called("journal_commit").iter().map(|event| event.0.round()).collect();
    // The flusher's first look at 5.1 s gives the file its block.
    assert_eq!(times, [5.0, 10.0, 17.0]);
    let seldom = journaled("{ commit_interval = '10 s' }").process("p", &operations).run("kernel");
    assert_eq!(seldom.events_called("journal_commit").len(), 1);
}

/// `guest612-null-flush-fs-ordered`, mechanism 5: with delayed allocation an fsync does not write what others have made dirty.
#[test]
fn without_delayed_allocation_a_commit_writes_the_new_data_of_others_first() {
    let fsync = |settings: &[&str]| {
        let case = settings.iter().fold(journaled("{}"), |case, setting| case.set(setting));
        let other = "write = '/data/big', size = '200 MB'";
        case.process("p", &[other, APPEND, FSYNC]).run("kernel").seconds("p", 2)
    };
    assert!(fsync(&[]) < 0.01);
    assert!(fsync(&["machine.mount./data.delalloc=false"]) > 2.0);
    assert!(fsync(&["machine.mount./data.type=ext3"]) > 2.0);
    assert!(fsync(&["machine.mount./data.type=ext3", "machine.mount./data.journal.data='writeback'"]) < 0.01);
}

/// `fs/ext3/inode.c: ext3_ordered_write_end`: blocks that are there are ordered, too, until Linux 4.3.
#[test]
fn the_driver_of_ext3_writes_overwritten_data_before_a_commit() {
    let fsync = |version: &str, data: &str| {
        let keys = ["type=ext3", "journal.barrier=false", &format!("journal.data='{data}'")]
            .map(|key| format!("machine.mount./data.{key}"));
        let case = keys.iter().fold(journaled("{}"), |case, key| case.set(key));
        let case =
            case.set(&format!("machine.kernel.version={version}")).cached("/data/big", "200 MB", "200 MB");
        case.process("p", &["write = '/data/big', size = '200 MB', offset = '0 B'", APPEND, FSYNC])
            .run("kernel")
            .seconds("p", 2)
    };
    for version in ["2.6.27", "4.2"] {
        assert!(fsync(version, "ordered") > 1.5, "{version}: {} s", fsync(version, "ordered"));
        assert!(fsync(version, "writeback") < 0.01);
    }
    assert!(fsync("4.3", "ordered") < 0.01);
}

/// One file and no other writer: its fsync writes its data in any case.
#[test]
fn ordered_and_writeback_take_the_same_time_for_one_file_alone() {
    for (version, kind) in [("2.6.27", "ext3"), ("6.12", "ext3"), ("6.12", "ext4")] {
        let seconds = |data: &str| {
            let keys = [format!("type={kind}"), format!("journal.data='{data}'")]
                .map(|key| format!("machine.mount./data.{key}"));
            let case = keys.iter().fold(journaled("{}"), |case, key| case.set(key));
            let write = "write = '/data/g', size = '300 MB', call = '8 KiB'";
            case.set(&format!("machine.kernel.version={version}"))
                .process("p", &[write, FSYNC])
                .run("kernel")
                .end("p", 1)
        };
        let [ordered, writeback] = ["ordered", "writeback"].map(seconds);
        assert!((ordered / writeback - 1.0).abs() < 0.005, "{kind}, {version}: {ordered} and {writeback} s");
    }
}

/// That synchronous mode hides the mode of the journal, as a dissertation on Petri nets of ext3 says, is not jbd's rule: `data=journal` commits the
/// data of each call, `ordered` only a new time in each tick.
#[test]
fn synchronous_writes_follow_the_mode_of_the_journal() {
    let seconds = |data: &str| {
        let case = journaled("{ barrier = false }")
            .set("machine.kernel.version=2.6.27")
            .set("machine.mount./data.type=ext3");
        let case = case
            .set(&format!("machine.mount./data.journal.data='{data}'"))
            .cached("/data/g", "4 MiB", "4 MiB");
        let write = "write = '/data/g', offset = '0 B', size = '4 MiB', call = '8 KiB'";
        let run = case.process("p", &["open = '/data/g', flags = ['O_SYNC']", write]).run("kernel");
        (run.seconds("p", 1), commits(&run))
    };
    let [ordered, writeback, journal] = ["ordered", "writeback", "journal"].map(seconds);
    assert_eq!(ordered, writeback);
    assert!(journal.0 > 1.2 * ordered.0, "{journal:?} and {ordered:?}");
    assert_eq!(journal.1, 512);
    assert!(ordered.1 < 512, "once for each tick of the clock");
}

#[test]
fn journaled_data_is_written_twice_and_a_writer_waits_for_room() {
    let run = |data: &str| {
        let case = journaled(&format!("{{ size = '64 MiB', data = '{data}' }}"));
        case.process("p", &["write = '/data/g', size = '256 MiB'", "sync = true"]).run("kernel")
    };
    let [ordered, journal] = ["ordered", "journal"].map(run);
    let bytes = 268_435_456.0;
    assert!(ordered.seconds("p", 0) < 0.4 && journal.seconds("p", 0) > 3.5, "the log holds an eighth of it");
    let all = |run: &Run| run.end("p", 1);
    assert!((all(&ordered) - bytes / 100e6).abs() < 0.3, "{}", all(&ordered));
    assert!((all(&journal) - 2.0 * bytes / 100e6).abs() < 0.4, "{}", all(&journal));
    let logged: Vec<u64> = journal.events_called("journal_commit").iter().map(|event| event.2).collect();
    assert!(
        logged.iter().all(|bytes| *bytes <= (64 << 20) / 3 + (1 << 20)),
        "a third of the log: {logged:?}"
    );
    assert!(logged.iter().sum::<u64>() as f64 >= bytes);
}

#[test]
fn names_take_time_and_are_committed() {
    let costs =
        ["create=100 us", "rename=200 us", "unlink=300 us"].map(|key| format!("machine.mount./data.{key}"));
    let case = costs.iter().fold(journaled("{}"), |case, key| case.set(key));
    let operations = [
        "open = '/data/n', create = true",
        "rename = '/data/n', to = '/data/m'",
        "unlink = '/data/m'",
        "sync = true",
    ];
    let run = case.process("p", &operations).run("kernel");
    assert_eq!([0, 1, 2].map(|at| (run.seconds("p", at) * 1e6).round()), [100.0, 200.0, 300.0]);
    assert_eq!(commits(&run), 1);
}

#[test]
fn a_program_that_keeps_the_time_of_names_pays_nothing_for_them() {
    let keys =
        ["open=10 us", "iget=20 us", "create=100 us", "rename=200 us", "unlink=300 us", "name_scan=1 us"];
    let case = keys.iter().fold(journaled("{}"), |case, key| case.set(&format!("machine.mount./data.{key}")));
    let path = |name: &str| -> Arc<str> { format!("/data/{name}").into() };
    let open = |name, create| Action::Open {
        path: path(name),
        create,
        truncate: false,
        flags: OpenFlags::default(),
    };
    let actions = [
        open("n", true),
        Action::Rename { path: path("n"), to: path("m") },
        open("m", false),
        Action::Unlink { path: path("m") },
        open("old", false),
        Action::Sync,
    ];
    let seconds = |is_timed| {
        let operations = actions.iter().map(|action| Operation { is_timed, ..action.clone().into() });
        let case = case.clone().file("/data/old", "1 MB").program("p", operations.collect());
        let run = case.run("kernel");
        assert_eq!(commits(&run), 1, "the journal has the names");
        run.all_seconds("p").into_iter().map(|seconds| (seconds * 1e6).round()).collect::<Vec<_>>()
    };
    let (timed, plain) = (seconds(true), seconds(false));
    assert_eq!(timed[..5], [0.0; 5]);
    assert_eq!(plain[..4], [102.0, 202.0, 10.0, 300.0]);
    assert!(plain[4] >= 30.0, "the inode is read");
}

#[test]
fn a_new_name_passes_those_of_its_block_of_the_directory() {
    let costs = ["create=100 us", "rename=100 us", "unlink=50 us", "name_scan=1 us"];
    let case =
        costs.iter().fold(journaled("{}"), |case, key| case.set(&format!("machine.mount./data.{key}")));
    let mut operations: Vec<String> =
        (0..300).map(|at| format!("open = '/data/d/{at}', create = true")).collect();
    operations.push("rename = '/data/d/0', to = '/data/e'".into());
    operations.push("rename = '/data/e', to = '/data/d/1'".into());
    let run = case.process("p", &operations.iter().map(String::as_str).collect::<Vec<_>>()).run("kernel");
    let microseconds = |at: u32| (run.seconds("p", at) * 1e6).round();
    assert_eq!([0, 1, 255].map(microseconds), [101.0, 102.0, 356.0]);
    assert_eq!([256, 299].map(microseconds), [277.0; 2], "the block was split");
    assert_eq!(microseconds(300), 101.0, "another directory");
    assert_eq!(microseconds(301), 327.0, "the file that had the name is removed");
}

/// Of 20 MiB, which fill less than a transaction, the commit writes as many as there are when it begins.
#[test]
fn a_commit_has_the_journaled_data_that_was_copied_by_then() {
    let case = journaled("{ size = '64 MiB', data = 'journal' }").set("machine.memory.write=100 MB/s");
    let case = case.process("w", &["write = '/data/g', size = '20 MiB'"]);
    let fsync = ["sleep = '0.1 s'", "write = '/data/h', size = '4096 B'", "fsync = '/data/h'"];
    let run = case.process("f", &fsync).run("kernel");
    let first = run.events_called("journal_commit")[0].2;
    assert!((9 << 20..13 << 20).contains(&first), "{first}");
}

/// A random scenario came to an internal error: a writer that had followed a read of its page, and then waited for room in the journal, was woken by both.
#[test]
fn a_writer_to_a_mapping_waits_for_room_in_the_journal_alone() {
    let stream = ["fopen = '/data/s', mode = 'w'", "fwrite = '/data/s', size = '50 MB', call = '1000 B'"];
    let run = linux()
        .set("machine.cores=1")
        .set("machine.memory={ size = '7 GB', read = '3 GB/s', write = '2 GB/s' }")
        .set("machine.disk.ssd={ size = '4 TB', read = '60 MB/s', write = '1 GB/s' }")
        .set("machine.mount./data.journal={ size = '8 MB', data = 'journal' }")
        .process("map", &["write = '/data/m', size = '30 MB', offset = '1 MB'", "mmap_write = '/data/m'"])
        .process("stream", &stream)
        .run("kernel");
    assert_eq!(run.operations.end.len(), 5, "with the close of the stream");
}

/// A random scenario did not end: after the commit each write began again.
#[test]
fn an_o_sync_write_of_journaled_data_ends_with_its_checkpoint() {
    let run = journaled("{ data = 'journal' }")
        .set("machine.kernel.version=6.18")
        .process("p", &["write = '/data/g', size = '1760 B'", "open = '/data/g', flags = ['O_SYNC']", APPEND])
        .run("kernel");
    assert_eq!(commits(&run), 1);
}
