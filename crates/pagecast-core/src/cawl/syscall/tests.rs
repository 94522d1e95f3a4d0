use proptest::prelude::*;

use super::*;

const MB: u64 = 1_000_000;

/// Round numbers: the page cache takes 1000 MB/s, 500 while it writes back, and the device 100. Writing back starts at 400 MB, the hard
/// limit is 800 MB, so that the set point is 600 MB.
const CACHE: PageCache = PageCache {
    bw_ramdisk: 1e9,
    bw_reduced: 5e8,
    bw_dev: 1e8,
    bw_sync: None,
    sc_w: 0.0,
    limit_bg: 400 * MB,
    limit_hard: 800 * MB,
    dirty_expire: 30.0,
    throttling: Throttling::Minimum,
};

fn with(cache: PageCache) -> SyscallCost {
    SyscallCost::new(cache).unwrap()
}

/// Writes of 100 MB one after the other, each with this pause before it: milliseconds, and dirty bytes in MB afterwards.
fn appended(calls: &mut SyscallCost, from: u64, writes: u64, pause: f64) -> Vec<(f64, f64)> {
    (from..from + writes)
        .map(|at| {
            let written = calls.write(0, at * 100 * MB, 100 * MB, pause);
            (rounded(written.seconds * 1e3), rounded(calls.dirty() as f64 / 1e6))
        })
        .collect()
}

fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[test]
fn writing_back_starts_at_the_background_limit() {
    let mut calls = with(CACHE);
    // Four writes at 1000 MB/s. The fourth brings the dirty bytes to 400 MB, so that the device writes during it: 100 ms, 10 MB.
    assert_eq!(
        appended(&mut calls, 0, 4, 0.0),
        [(100.0, 100.0), (100.0, 200.0), (100.0, 300.0), (100.0, 390.0)]
    );
    // 390 MB are below the limit: free again, and then 490 MB, less 10.
    assert_eq!(appended(&mut calls, 4, 1, 0.0), [(100.0, 480.0)]);
    // 480 MB: 200 ms at 500 MB/s, in which the device writes 20 MB.
    assert_eq!(appended(&mut calls, 5, 1, 0.0), [(200.0, 560.0)]);
    assert_eq!(appended(&mut calls, 6, 1, 0.0), [(200.0, 640.0)]);
}

/// Seven writes as above: 700 MB in 900 ms, 640 MB of them dirty.
fn throttled(throttling: Throttling) -> SyscallCost {
    let mut calls = with(PageCache { throttling, ..CACHE });
    appended(&mut calls, 0, 7, 0.0);
    assert_eq!(calls.dirty(), 640 * MB);
    calls
}

#[test]
fn above_the_set_point_the_lower_rate_counts() {
    // Position ratio at 640 of 600 to 800: 1 - 0.2^3 = 0.992; average 700 MB / 0.9 s; the product is above 500 MB/s.
    assert_eq!(appended(&mut throttled(Throttling::Minimum), 7, 1, 0.0), [(200.0, 720.0)]);
    // At 720 MB: 1 - 0.6^3 = 0.784, times 800 MB / 1.1 s = 570.18 MB/s: still 500. Then 800 MB would be reached: nothing is left of the rate.
    let mut calls = throttled(Throttling::Minimum);
    assert_eq!(appended(&mut calls, 7, 2, 0.0)[1], (200.0, 800.0));
}

#[test]
fn the_released_program_has_both_rates_in_a_row() {
    // x = 0.992 * 777.78 = 771.556 MB/s; x * 500 / (500 + x * (1 - 0.5)) = 435.53 MB/s: 229.605 ms, 22.961 MB are written.
    let mut calls = throttled(Throttling::Harmonic);
    assert_eq!(appended(&mut calls, 7, 1, 0.0), [(229.608, 717.039)]);
}

#[test]
fn at_the_hard_limit_a_write_waits_for_the_device() {
    let mut calls = throttled(Throttling::Minimum);
    appended(&mut calls, 7, 2, 0.0);
    assert_eq!(calls.dirty(), 800 * MB - 1);
    // Next to nothing is left of the rate. The device needs 3 s for 300 MB, so that 600 are left of the 900.
    let written = calls.write(0, 900 * MB, 100 * MB, 0.0);
    assert_eq!((rounded(written.seconds), rounded(written.throttled)), (3.0, 2.8));
    assert_eq!(rounded(calls.dirty() as f64 / 1e6), 600.0);
}

#[test]
fn a_write_larger_than_the_limit_waits_for_the_rest() {
    let mut calls = with(CACHE);
    // 1800 MB: 1000 MB and a byte have to leave, 10 s. As one block they do so bit by bit.
    let written = calls.write(0, 0, 1800 * MB, 0.0);
    assert_eq!(rounded(written.seconds), 10.0);
    assert!(calls.dirty() <= CACHE.limit_hard);
}

#[test]
fn the_device_goes_on_in_pauses_block_by_block_until_the_background_limit() {
    let mut calls = with(CACHE);
    appended(&mut calls, 0, 6, 0.0);
    assert_eq!(calls.dirty(), 560 * MB);
    // The first block has 60 MB left: they and the next 100 MB leave in 1.6 s. Then 400 MB are not below the limit, and another
    // block leaves in whole.
    calls.pause(1.6);
    assert_eq!(calls.dirty(), 400 * MB);
    calls.pause(10.0);
    assert_eq!(calls.dirty(), 300 * MB);
}

#[test]
fn old_blocks_are_written_back() {
    let mut calls = with(CACHE);
    appended(&mut calls, 0, 2, 0.0);
    calls.pause(29.85);
    assert_eq!(calls.dirty(), 200 * MB, "29.95 s after the first write has ended");
    // The first block is older than 30 s after another 100 ms: the device writes while something is, block by block.
    calls.pause(0.1);
    assert_eq!(calls.dirty(), 190 * MB);
    let written = calls.write(0, 0, 0, 0.1);
    assert_eq!((written.seconds, calls.dirty()), (0.0, 180 * MB));
    calls.pause(10.0);
    assert_eq!(calls.dirty(), 0);
}

#[test]
fn a_write_beside_old_blocks_is_slower() {
    let mut calls = with(CACHE);
    appended(&mut calls, 0, 1, 0.0);
    calls.pause(29.9);
    // Older than 30 s by now, and the device has had time for 20 MB of it only.
    assert_eq!(rounded(calls.write(0, 200 * MB, 100 * MB, 0.2).seconds), 0.2);
}

#[test]
fn what_is_written_again_adds_nothing() {
    let mut calls = with(CACHE);
    for _ in 0..100 {
        calls.write(0, 0, 300 * MB, 0.0);
        assert_eq!(calls.dirty(), 300 * MB);
    }
    assert_eq!(calls.active(), 300 * MB);
}

#[test]
fn a_call_costs_something_besides() {
    let mut calls = with(PageCache { sc_w: 1e-6, ..CACHE });
    assert_eq!(rounded(calls.write(0, 0, 1000, 0.0).seconds * 1e6), 2.0);
}

#[test]
fn the_released_program_has_a_rate_of_its_own_for_writing_back() {
    let mut calls = with(PageCache { bw_sync: Some(2e8), ..CACHE });
    assert_eq!(appended(&mut calls, 0, 4, 0.0)[3], (100.0, 380.0));
}

#[test]
fn small_writes_are_written_back_at_the_rate_of_the_device() {
    let mut calls = with(PageCache { limit_bg: 1, ..CACHE });
    // 100 B at 1 GB/s give the device time for 10 B, at 500 MB/s for 20; parts of bytes are not lost.
    for at in 0..10_000 {
        calls.write(0, at * 99, 99, 0.0);
    }
    let expected = 1e8 * calls.time();
    assert!((calls.cleaned() as f64 - expected).abs() <= 1.0, "{} instead of {expected}", calls.cleaned());
}

#[test]
fn what_cannot_be_is_named() {
    let wrong = |change: fn(&mut PageCache)| {
        let mut cache = CACHE;
        change(&mut cache);
        SyscallCost::new(cache).unwrap_err().to_string()
    };
    assert_eq!(
        wrong(|cache| cache.limit_bg = 800 * MB),
        "limit_bg=800000000: must be less than limit_hard=800000000"
    );
    assert_eq!(
        wrong(|cache| cache.bw_reduced = 2e9),
        "bw_reduced=2000000000: must be at most bw_ramdisk=1000000000"
    );
    assert_eq!(wrong(|cache| cache.limit_bg = 0), "limit_bg=0: must be at least one byte");
    assert_eq!(
        wrong(|cache| cache.bw_sync = Some(0.0)),
        "bw_sync=0: must be more than zero bytes per second, and finite"
    );
    assert_eq!(
        wrong(|cache| cache.dirty_expire = f64::INFINITY),
        "dirty_expire=inf: must be zero seconds or more, and finite"
    );
}

proptest! {
    #[test]
    fn bytes_are_kept_and_limits_hold(
        writes in prop::collection::vec((0u64..2_000, 1u64..400, 0.0f64..2.0), 1..80),
        harmonic: bool,
    ) {
        let throttling = if harmonic { Throttling::Harmonic } else { Throttling::Minimum };
        let mut calls = with(PageCache { throttling, sc_w: 1e-6, ..CACHE });
        let (mut added, mut time) = (0, 0.0);
        for (offset, bytes, pause) in writes {
            let (offset, bytes) = (offset * MB, bytes * MB);
            // The same pause by itself, so that what is dirty can be asked in between.
            calls.pause(pause);
            added += bytes - calls.blocks.covered(0, &(offset..offset + bytes));
            let written = calls.write(0, offset, bytes, 0.0);
            time += pause + written.seconds;
            prop_assert!(written.seconds >= bytes as f64 / CACHE.bw_ramdisk);
            prop_assert!(written.throttled >= 0.0 && written.throttled < written.seconds);
            prop_assert!(calls.dirty() <= CACHE.limit_hard);
            prop_assert_eq!(calls.dirty() + calls.cleaned(), added);
            prop_assert!((calls.time() - time).abs() < 1e-6);
            prop_assert!(calls.cleaned() as f64 <= CACHE.bw_dev * calls.time() + 1.0);
        }
    }

    #[test]
    fn a_file_written_in_order_costs_no_more_than_by_the_device(chunk in 1u64..200, pause in 0.0f64..0.5) {
        let mut calls = with(CACHE);
        let writes = 40;
        for at in 0..writes {
            calls.write(0, at * chunk * MB, chunk * MB, pause);
        }
        let by_device = (writes * chunk * MB) as f64 / CACHE.bw_dev;
        let pauses = pause * writes as f64;
        prop_assert!(calls.time() - pauses <= by_device + 1e-6);
    }
}
