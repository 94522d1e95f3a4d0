//! What a result tells of the kernel's levels, limits and blocks. Source of the rules: `mm/page-writeback.c`, Linux 6.16.

use crate::common::{Run, linux};

fn near(actual: u64, expected: u64) -> bool {
    actual.abs_diff(expected) <= expected / 1000
}

/// 409 and 819 of 4096 parts of 10 GB, free run between them, the set point between that and the limit.
#[test]
fn limits_are_told_in_bytes() {
    let levels = linux().process("p", &["sleep = '1 s'"]).run("kernel").memory_at(0.0);
    let kernel = levels.kernel.expect("it has limits");
    let told = [kernel.background, kernel.limit, kernel.hard_limit, kernel.setpoint].map(|bytes| bytes.0);
    let expected = [998_500_000, 1_999_500_000, 1_999_500_000, 1_749_250_000];
    assert!(told.into_iter().zip(expected).all(|(told, expected)| near(told, expected)), "{told:?}");
}

/// The bytes that became dirty, sample by sample.
fn dirtied(run: &Run) -> Vec<u64> {
    run.timeline.levels.iter().map(|levels| levels.kernel.expect("it has counters").dirtied.0).collect()
}

/// Two processes that wrote the same pages counted both as making them dirty, until it was looked which pages those were. Then
/// `dirtied_bytes` fell, though it counts from the start.
#[test]
fn what_two_writers_make_dirty_together_is_never_taken_back() {
    let run = linux()
        .cached("/data/f", "200 MB", "200 MB")
        .process("p", &["write = '/data/f', offset = '0 B', size = '150 MB'", "sleep = '1 s'"])
        .process("q", &["write = '/data/f', offset = '50 MB', size = '150 MB'", "sleep = '1 s'"])
        .run("kernel");
    let dirtied = dirtied(&run);
    assert!(dirtied.is_sorted(), "{dirtied:?}");
    assert!((200_000_000..=300_000_000).contains(dirtied.last().expect("there are samples")));
}

/// A run ended while a window of read-ahead was on its way: 464 kB of it were in what the host had cached, and in no file.
#[test]
fn files_add_up_to_what_is_cached_while_read_ahead_is_under_way() {
    for latency in ["0 s", "1 ms"] {
        let run = linux()
            .set(&format!("machine.disk.ssd.latency={latency}"))
            .file("/data/f", "1 GB")
            .process("p", &["fadvise = '/data/f', advice = 'willneed'", "sleep = '105 ms'"])
            .run("kernel");
        let cached = run.timeline.levels.last().expect("there are samples").cached.0;
        assert_eq!(run.files.cached.iter().sum::<u64>(), cached, "latency of {latency}");
        assert!(cached > 1_000_000, "{cached} bytes had come");
    }
}
