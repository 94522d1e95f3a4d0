//! What a power cut would lose at each moment: the table `at_risk`.

use pagecast_core::result::AtRisk;
use pagecast_core::units::{Bytes, Nanos};

use crate::common::{Case, MB, Run, linux};

/// A disk with a volatile cache under ext4 with a journal in a mode.
fn ext4(data: &str) -> Case {
    let case = linux().set("machine.disk.ssd.flush=5 ms").set("machine.mount.\"/data\".type=ext4");
    case.set(&format!("machine.mount.\"/data\".journal.data={data}")).at_risk()
}

/// What was at risk at a time.
fn at(run: &Run, seconds: f64) -> AtRisk {
    let table = &run.at_risk;
    let rows = (0..table.time.len()).take_while(|&row| table.time[row] <= Nanos::from_seconds(seconds));
    rows.last().map_or(AtRisk::default(), |row| table.levels[row])
}

fn last(run: &Run) -> AtRisk {
    *run.at_risk.levels.last().expect("it was asked for")
}

#[test]
fn nothing_is_at_risk_after_fsync_of_all_files() {
    let program = [
        "write = '/data/a', size = '30 MB'",
        "write = '/data/b', size = '20 MB'",
        "fsync = '/data/a'",
        "fsync = '/data/b'",
    ];
    for data in ["ordered", "writeback", "journal"] {
        let run = ext4(data).process("p", &program).run("kernel");
        let written = at(&run, run.end("p", 1));
        assert!(written.bytes().0 >= 49 * MB && written.files == 2, "{data}: {written:?}");
        assert_eq!((last(&run).bytes(), last(&run).files), (Bytes::ZERO, 0), "{data}");
    }
    let plain = linux().set("machine.disk.ssd.flush=5 ms").at_risk().process("p", &program).run("kernel");
    assert_eq!(last(&plain), AtRisk::default(), "without a journal");
}

/// `sync_file_range` makes nothing durable.
#[test]
fn bytes_stay_in_the_cache_of_the_disk_until_it_is_flushed() {
    let write = [
        "write = '/data/a', size = '30 MB'",
        "sync_file_range = '/data/a', flags = ['WRITE', 'WAIT_AFTER']",
        "fsync = '/data/a'",
    ];
    let cached = linux().set("machine.disk.ssd.flush=5 ms").at_risk().process("p", &write).run("kernel");
    let between = at(&cached, cached.end("p", 1));
    assert_eq!((between.memory, between.disk_cache), (Bytes::ZERO, Bytes(30 * MB)));
    assert_eq!(last(&cached), AtRisk::default());
    let durable = linux().at_risk().process("p", &write).run("kernel");
    assert_eq!(
        at(&durable, durable.end("p", 1)),
        AtRisk::default(),
        "no flush takes time: the disk keeps its bytes"
    );
}

/// Written bytes of a file that has grown are on the disk, but not in the file, until the commit.
#[test]
fn new_blocks_are_at_risk_until_their_commit() {
    let write = [
        "write = '/data/a', size = '30 MB'",
        "sync_file_range = '/data/a', flags = ['WRITE', 'WAIT_AFTER']",
        "sleep = '20 s'",
    ];
    let run = ext4("ordered").set("machine.disk.ssd.flush=0 s").process("p", &write).run("kernel");
    assert_eq!(at(&run, run.end("p", 1)).uncommitted, Bytes(30 * MB));
    assert_eq!(last(&run).bytes(), Bytes::ZERO, "a commit has come by itself");
}

/// With `data=journal` a commit makes data safe that is still dirty.
#[test]
fn journaled_data_is_safe_once_it_is_committed() {
    let write = ["write = '/data/a', size = '20 MB'", "sleep = '12 s'"];
    let dirty = |run: &Run| run.memory_at(run.end("p", 1) - 1.0).dirty.0;
    let journaled = ext4("journal").process("p", &write).run("kernel");
    assert_eq!((last(&journaled).bytes(), dirty(&journaled)), (Bytes::ZERO, 20 * MB));
    let ordered = ext4("ordered").process("p", &write).run("kernel");
    assert_eq!((last(&ordered).memory, dirty(&ordered)), (Bytes(20 * MB), 20 * MB), "delayed allocation");
}

#[test]
fn names_are_at_risk_until_their_commit() {
    let program =
        ["write = '/data/a', size = '1 MB'", "rename = '/data/a', to = '/data/b'", "fsync = '/data/b'"];
    let run = ext4("ordered").process("p", &program).run("kernel");
    assert!(at(&run, run.end("p", 1)).names >= 1);
    assert_eq!(last(&run).names, 0);
}

#[test]
fn nobody_is_told_who_has_not_asked() {
    assert!(
        linux().process("p", &["write = '/data/a', size = '1 MB'"]).run("kernel").at_risk.time.is_empty()
    );
}
