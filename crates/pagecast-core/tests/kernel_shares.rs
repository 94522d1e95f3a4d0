//! The parts of the dirty limits that single disks have: `min_ratio`, `max_ratio` and `strict_limit`. Source of the rules:
//! `mm/page-writeback.c`, Linux 6.16. The limit of the machine is 1999.5 MB, its background threshold half of that.

use pagecast_core::result::Part;

use crate::common::{Case, MB, Run, linux};

/// Another disk of 100 MB/s at /other, beside that at /data.
fn two_disks() -> Case {
    linux()
        .set("machine.disk.other={ size = '1 TB', read = '100 MB/s', write = '100 MB/s' }")
        .set("machine.mount.\"/other\".disk=other")
}

/// A kernel whose writers are checked after each page, not after folios of up to 2 MiB.
fn by_pages(case: Case) -> Case {
    case.set("machine.kernel.version='6.15'")
}

/// As FUSE has it.
fn strict(case: Case) -> Case {
    case.set("machine.disk.other.max_ratio=1").set("machine.disk.other.strict_limit=true")
}

fn near(actual: f64, expected: f64, tolerance: f64) -> bool {
    (actual - expected).abs() <= tolerance * expected
}

fn dirty_mb(run: &Run, time: f64) -> f64 {
    run.memory_at(time).dirty.0 as f64 / MB as f64
}

fn most_dirty_mb(run: &Run, tenths: u32) -> f64 {
    (0..tenths).map(|tenth| dirty_mb(run, f64::from(tenth) / 10.0)).fold(0.0, f64::max)
}

/// Free run ends at 15 of its 20 MB: (limit + background) / 2.
#[test]
fn a_strict_disk_holds_no_more_than_its_part_and_its_writer_runs_at_its_rate() {
    let run = strict(two_disks()).process("p", &["write = '/other/g', size = '1 GB'"]).run("kernel");
    let (most, least) = (most_dirty_mb(&run, 97), dirty_mb(&run, 5.0));
    assert!((14.0..20.0).contains(&most) && least > 9.0, "{least} to {most} MB");
    assert!(near(run.seconds("p", 0), (1000.0 - 15.0) / 100.0, 0.02), "{} s", run.seconds("p", 0));
    assert!(run.part("p", 0, Part::Throttled) > 8.0);
    let began = run.events_called("throttling_begins");
    assert_eq!(began.len(), 1, "{began:?}");
    assert!(near(began[0].2 as f64 / MB as f64, 15.0, 0.1) && began[0].0 < 0.03, "{began:?}");
    let looks = run.timeline.time.len();
    assert!(looks < 2000, "it is looked at {looks} times in 10 s");
}

#[test]
fn without_a_strict_limit_the_same_part_lets_its_writer_be_free() {
    let case = two_disks().set("machine.disk.other.max_ratio=1");
    let run = case.process("p", &["write = '/other/g', size = '1 GB'"]).run("kernel");
    assert!(near(run.seconds("p", 0), 1.0, 0.01), "{} s", run.seconds("p", 0));
}

#[test]
fn writers_of_other_disks_are_free_while_that_of_a_strict_one_is_not() {
    let both = |case: Case| {
        let case = case.process("strict", &["write = '/other/g', size = '1 GB'"]);
        case.process("free", &["sleep = '2 s'", "write = '/data/g', size = '1.2 GB'"]).run("kernel")
    };
    let run = both(strict(two_disks()));
    assert_eq!(run.part("free", 1, Part::Throttled), 0.0);
    assert!(near(run.seconds("free", 1), 1.2, 0.1), "{} s", run.seconds("free", 1));
    assert!(near(run.seconds("strict", 0), 9.85, 0.03), "{} s", run.seconds("strict", 0));
}

/// The host is beyond its free run of 1500 MB by the other disk's writer.
#[test]
fn the_writer_of_a_strict_disk_is_free_in_its_own_free_run() {
    let case = two_disks().set("machine.disk.other.strict_limit=true").set("machine.disk.other.min_ratio=20");
    let case = case.process("busy", &["write = '/data/g', size = '6 GB'"]);
    let run = case.process("p", &["sleep = '20 s'", "write = '/other/g', size = '100 MB'"]).run("kernel");
    assert!(dirty_mb(&run, 20.0) > 1500.0);
    assert_eq!(run.part("p", 1, Part::Throttled), 0.0, "{:?}", run.parts("p", 1));
}

#[test]
fn many_writers_of_a_strict_disk_stay_within_its_part() {
    let operations = ["write = '/other/g{n}', size = '50 MB'"];
    let most = |case: Case| {
        most_dirty_mb(&strict(case).process_with("p{n}", "count = 20", &operations).run("kernel"), 97)
    };
    assert!(most(by_pages(two_disks())) < 20.1, "{} MB", most(by_pages(two_disks())));
    // The last folio of some of them goes beyond it.
    assert!(most(two_disks()) < 20.1 + 2.0 * 2.1, "{} MB", most(two_disks()));
    let run = strict(two_disks()).process_with("p{n}", "count = 20", &operations).run("kernel");
    let last = (1..=20).map(|n| run.end(&format!("p{n}"), 0)).fold(0.0, f64::max);
    assert!(near(last, 9.85, 0.05), "{last} s");
}

/// 1 MB of a limit of 100 MB, less than what the copy moves in a millisecond.
#[test]
fn a_tiny_part_holds_too() {
    let case = strict(by_pages(two_disks()))
        .set("machine.vm.dirty_bytes=100 MB")
        .set("machine.vm.dirty_background_bytes=50 MB");
    let run = case.process("p", &["write = '/other/g', size = '200 MB'"]).run("kernel");
    assert!(most_dirty_mb(&run, 19) < 1.1, "{} MB", most_dirty_mb(&run, 19));
    assert!(near(run.seconds("p", 0), 2.0, 0.1), "{} s", run.seconds("p", 0));
}

/// Kernels before 6.14 have no floor in the part itself: without a least part an idle strict disk begins with none.
#[test]
fn a_least_part_lets_an_idle_disk_start() {
    let run = |least: &str| {
        let case =
            two_disks().set("machine.kernel.version='6.12'").set("machine.disk.other.strict_limit=true");
        let case = case.set(&format!("machine.disk.other.min_ratio={least}"));
        let case = case.process("busy", &["write = '/data/g', size = '3 GB'"]);
        case.process("p", &["sleep = '10 s'", "write = '/other/g', size = '50 MB'"]).run("kernel")
    };
    let (with, without) = (run("10"), run("0"));
    assert_eq!(with.parts("p", 1), [("cpu_copy", 0.05)]);
    assert!(without.part("p", 1, Part::Throttled) > 0.02, "{:?}", without.parts("p", 1));
}

/// The limits that a disk has without them.
#[test]
fn the_defaults_change_nothing() {
    let run = |case: Case| {
        let case = case.process("a", &["write = '/data/g', size = '4 GB'"]);
        let run = case.process("b", &["write = '/other/g', size = '3 GB'"]).run("kernel");
        (run.seconds("a", 0), run.seconds("b", 0), run.all_events().len())
    };
    let set = two_disks().set("machine.disk.other.min_ratio=0").set("machine.disk.other.max_ratio=100");
    assert_eq!(run(two_disks()), run(set.set("machine.disk.other.strict_limit=false")));
}

/// What one disk surely has is nothing for the others: its least part is set aside whether it uses it or not.
#[test]
fn a_least_part_is_taken_from_the_others() {
    let dirty = |least: &str| {
        let case = two_disks().set(&format!("machine.disk.other.min_ratio={least}"));
        let run = case.process("p", &["write = '/data/g', size = '8 GB'"]).run("kernel");
        dirty_mb(&run, 40.0)
    };
    assert!(dirty("80") < dirty("0") - 20.0, "{} and {} MB", dirty("80"), dirty("0"));
}

/// The keys of the kernel's limits mean nothing to the other models.
#[test]
fn other_models_ignore_them() {
    let seconds = |case: Case, model: &str| {
        case.process("p", &["write = '/other/g', size = '3 GB'"]).run(model).seconds("p", 0)
    };
    for model in ["wrench", "no-cache", "endless-cache"] {
        assert_eq!(seconds(strict(two_disks()), model), seconds(two_disks(), model));
    }
}

#[test]
fn a_cgroup_has_a_part_of_its_own_on_a_strict_disk() {
    let case = strict(by_pages(two_disks())).set("machine.cgroup.box.memory.max=1 GB");
    let run =
        case.process_with("p", "cgroup = 'box'", &["write = '/other/g', size = '100 MB'"]).run("kernel");
    // 20 % of 1 GB, and 1 % of that.
    assert!(most_dirty_mb(&run, 9) < 2.2, "{} MB", most_dirty_mb(&run, 9));
    assert!(near(run.seconds("p", 0), 1.0, 0.1), "{} s", run.seconds("p", 0));
}
