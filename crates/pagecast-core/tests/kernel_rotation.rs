//! Disks that turn, and arrays of disks: the way of the head, and the operations of a request.

use crate::common::{Case, case, linux};

const ROTATION: &str =
    "machine.disk.ssd.rotation={ rpm = 7200, track_seek = '1 ms', average_seek = '8.5 ms' }";

/// Seconds until so many processes have written 400 MB each and made them durable, on such a file system.
fn writers(count: usize, file_system: &str, rotation: bool) -> f64 {
    let mut case = linux().set(&format!("machine.mount.'/data'.type='{file_system}'"));
    if rotation {
        case = case.set(ROTATION);
    }
    for at in 0..count {
        let write = format!("write = '/data/f{at}', size = '400 MB', call = '1 MiB'");
        let sync = format!("fsync = '/data/f{at}'");
        case = case.process(&format!("p{at}"), &[&write, &sync]);
    }
    let run = case.run("kernel");
    (0..count).map(|at| run.all_seconds(&format!("p{at}")).iter().sum()).fold(0.0, f64::max)
}

#[test]
fn a_file_written_alone_pays_for_one_way_of_the_head() {
    let more = writers(1, "ext4", true) - writers(1, "ext4", false);
    assert!((0.0..0.02).contains(&more), "{more}");
}

/// A unit of write-back ends anywhere; the disks of an array go on together behind it.
#[test]
fn a_file_written_alone_on_an_array_pays_for_one_way_of_the_heads() {
    let seconds = |rotation: bool| {
        let case = linux().set("machine.disk.ssd.raid={ level = '0', disks = 3 }");
        let case = if rotation { case.set(ROTATION) } else { case };
        let write = "write = '/data/f', size = '400 MB', call = '1 MiB'";
        case.process("p", &[write, "fsync = '/data/f'"]).run("kernel").all_seconds("p").iter().sum::<f64>()
    };
    let more = seconds(true) - seconds(false);
    assert!((0.0..0.02).contains(&more), "{more}");
}

/// The callers of fsync take turns of a 32nd of the queue: 16 requests of 1280 KiB.
#[test]
fn files_written_at_once_pay_for_each_turn_unless_successive_writes_lie_side_by_side() {
    let slower = |file_system| writers(4, file_system, true) / writers(4, file_system, false);
    let (ext4, xfs, btrfs) = (slower("ext4"), slower("xfs"), slower("btrfs"));
    assert!(ext4 > 1.1 && xfs > 1.1, "{ext4} {xfs}");
    assert!(btrfs < 1.05, "{btrfs}");
}

fn direct(settings: &[&str], operation: &str) -> f64 {
    let case = linux().file("/data/f", "1 GiB");
    let case = settings.iter().fold(case, |case, setting| case.set(setting));
    let open = "open = '/data/f', flags = ['O_DIRECT']";
    case.process("p", &[open, operation]).run("kernel").all_seconds("p")[1]
}

#[test]
fn direct_requests_elsewhere_pay_for_seek_and_half_a_turn_and_those_that_go_on_do_not() {
    let random = "read = '/data/f', size = '4 MiB', call = '4 KiB', pattern = { random = 'uniform' }";
    let each = direct(&[ROTATION], random) / 1024.0;
    assert!((0.005..0.0065).contains(&each), "within a GB of a TB: {each}");
    let on = direct(&[ROTATION], "read = '/data/f', size = '100 MiB', call = '1 MiB'");
    assert!((on - 1.0617).abs() < 1e-3, "{on}");
}

#[test]
fn a_small_write_to_an_array_with_parity_takes_twice_the_time_of_a_read() {
    let each = |level: &str, operation: &str| {
        let raid = format!("machine.disk.ssd.raid={{ level = '{level}', disks = 5 }}");
        let operation = format!(
            "{operation} = '/data/f', size = '400 KiB', call = '4 KiB', pattern = {{ random = 'uniform' }}"
        );
        direct(&["machine.disk.ssd.service=1 ms", &raid], &operation) / 100.0
    };
    let near = |seconds: f64, ms: f64| (seconds * 1e3 - ms).abs() < 0.01;
    assert!(near(each("5", "read"), 1.0) && near(each("5", "write"), 2.0), "{}", each("5", "write"));
    assert!(near(each("0", "write"), 1.0) && near(each("1", "write"), 1.0));
}

/// A call of a whole stripe goes in four requests, a disk's chunk each.
#[test]
fn requests_of_one_call_meet_in_the_stripe_cache_of_an_array_with_parity() {
    let each = |stripe_cache: u32, submission: &str| {
        let raid = format!("level = '5', disks = 5, chunk = '64 KiB', stripe_cache = {stripe_cache}");
        let settings = [
            "machine.disk.ssd.service=1 ms",
            "machine.disk.ssd.max_sectors_kb=64",
            &format!("machine.memory.cost.request={submission}"),
            &format!("machine.disk.ssd.raid={{ {raid} }}"),
        ];
        direct(&settings, "write = '/data/f', size = '10 MiB', call = '256 KiB'") / 40.0
    };
    let (at_once, in_turn) = (each(256, "0 s"), each(256, "10 us"));
    assert!((0.001..0.0011).contains(&at_once), "no read before the write: {at_once}");
    assert!((0.00103..0.00115).contains(&in_turn), "{in_turn}");
    assert!(each(0, "10 us") > 0.002, "each request by itself reads before it writes");
}

#[test]
fn long_streams_use_the_disks_of_an_array_that_hold_different_bytes() {
    let seconds = |settings: &[String]| {
        let case =
            settings.iter().fold(case().file("/data/f", "1 GB"), |case: Case, setting| case.set(setting));
        case.process("p", &["read = '/data/f'"]).run("no-cache").all_seconds("p")[0]
    };
    let alone = seconds(&[]);
    let faster = |level: &str| {
        let raid = format!("machine.disk.ssd.raid={{ level = '{level}', disks = 4 }}");
        alone / seconds(&[raid])
    };
    assert_eq!(
        ["jbod", "0", "1", "5", "6", "10"].map(|level| faster(level).round()),
        [1.0, 4.0, 1.0, 3.0, 2.0, 2.0]
    );
}
