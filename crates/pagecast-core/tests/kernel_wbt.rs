//! Write-back throttling of the block layer. Source of the rules: `block/blk-wbt.c`, Linux 6.16.

use crate::common::{Case, MB, Run, linux};

/// A request of 1280 KiB, in MB.
const REQUEST: f64 = 1.31072;

/// A disk of 200 MB/s with a queue of 128 requests, as many devices have it, and throttling.
fn throttled() -> Case {
    let settings = ["write='200 MB/s'", "nr_requests=128", "wbt_lat_usec=2000"];
    settings.iter().fold(linux(), |case, setting| case.set(&format!("machine.disk.ssd.{setting}")))
}

/// How long unlink waits for what is on its way, if a writer of 3 GB, who was held back from 1.5 GB on, calls it after a pause.
fn unlink_seconds(case: Case, pause: &str) -> f64 {
    let pause = format!("sleep = '{pause}'");
    let operations = ["write = '/data/g', size = '3 GB'", &pause, "unlink = '/data/g'"];
    case.process("p", &operations).run("kernel").seconds("p", 2)
}

/// What is submitted at once are 4.9 MB here: so much more or less is on its way.
fn assert_requests(seconds: f64, requests: f64) {
    let expected = requests * REQUEST / 200.0;
    assert!((seconds - expected).abs() <= 4.95 / 200.0, "{seconds} s, not {expected}");
}

/// Measured on a disk of 200 MB/s with a queue of 128: 123 MB, 96 requests, were on their way when a file was unlinked whose writer
/// had just been held back, and unlink took 0.6 s. The depth is three quarters of the queue, 96 requests or 125.8 MB: 0.63 s.
#[test]
fn unlink_waits_for_three_quarters_of_the_queue_if_the_writer_was_just_held_back() {
    assert_requests(unlink_seconds(throttled(), "0 s"), 96.0);
    assert_requests(unlink_seconds(throttled(), "0.5 s"), 96.0);
    // A queue of 48, which is what the background has of 128, would say half of it.
    let of_48 = throttled().set("machine.disk.ssd.wbt_lat_usec=0").set("machine.disk.ssd.nr_requests=48");
    assert_requests(unlink_seconds(of_48, "0 s"), 48.0);
}

/// A second after the writer was held back the flusher has (96 + 1) / 2 of the queue, and (96 + 3) / 4 where the file system says
/// that it writes in the background. The 96 are down to that after 0.36 s more.
#[test]
fn a_second_later_the_background_has_half_of_that_or_a_quarter() {
    assert_requests(unlink_seconds(throttled(), "1.6 s"), 48.0);
    assert_requests(unlink_seconds(throttled().set("machine.mount./data.type='xfs'"), "1.6 s"), 24.0);
    assert_requests(unlink_seconds(throttled().set("machine.mount./data.type='xfs'"), "0 s"), 96.0);
}

/// The queue fills up to a depth and runs down to half of it, less an eighth, before the flusher is woken (`wbt_rqw_done`).
fn assert_within(mb: f64, most: f64, normal: f64) {
    let least = 0.75 * normal;
    let within = least * REQUEST - 5.0..=most * REQUEST + 5.0;
    assert!(within.contains(&mb), "{mb} MB, not {least} to {most} requests");
}

fn writeback_mb(run: &Run, time: f64) -> f64 {
    let levels = run.memory_at(time).kernel.expect("it is that model");
    levels.writeback.0 as f64 / MB as f64
}

/// 500 MB, copied in 0.5 s and below the background threshold. fsync finds a disk that has not written yet: 16 requests, and twice
/// as many with each tenth of a second.
#[test]
fn the_depth_grows_while_the_disk_writes() {
    let run =
        throttled().process("p", &["write = '/data/g', size = '500 MB'", "fsync = '/data/g'"]).run("kernel");
    for (time, requests) in [(0.55, 16.0), (0.65, 31.0), (0.75, 61.0), (0.95, 96.0)] {
        assert_within(writeback_mb(&run, time), requests, requests / 2.0);
    }
}

/// 1.4 GB, of which 0.4 GB are above the background threshold; nobody is held back. The flusher has 48 requests, beside reads 24.
#[test]
fn beside_reads_the_flusher_has_a_quarter_of_the_depth() {
    let writeback = |reads: bool| {
        let case = throttled().file("/data/cold", "2 GB").set("machine.disk.ssd.write='100 MB/s'");
        let case = case.process("p", &["write = '/data/g', size = '1400 MB'", "sleep = '9 s'"]);
        let case = if reads { case.process("q", &["read = '/data/cold'"]) } else { case };
        writeback_mb(&case.run("kernel"), 2.5)
    };
    let [alone, beside] = [false, true].map(writeback);
    assert_within(alone, 48.0, 48.0);
    assert_within(beside, 24.0, 24.0);
}
