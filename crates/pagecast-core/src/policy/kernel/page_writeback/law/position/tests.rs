//! Checks published and recorded events of real kernels, branches worked out by hand, and properties that hold everywhere.

use proptest::prelude::*;

use super::*;

/// Linux 3.3-rc1, machine lkp-nex04, ext4 on ten disks, dirty limit 4 GiB; 30 of the 119 events of a trace in
/// linux-mm, 2012-01-28, message AAFC850A73EC0C40804D40FD09800642101AEA51@SHSMSX102.ccr.corp.intel.com.
/// Columns: dirty, device's setpoint, device's dirty (pages), base rate, task rate (pages/s).
const LINUX_3_3: [[u64; 5]; 30] = [
    [950_856, 83_005, 81_032, 15_852, 15_898],
    [950_942, 83_005, 81_088, 15_852, 15_882],
    [950_754, 82_981, 81_200, 15_852, 15_867],
    [950_999, 82_973, 81_312, 15_852, 15_852],
    [950_826, 82_916, 83_720, 15_850, 15_447],
    [950_903, 82_891, 83_832, 15_850, 15_432],
    [955_229, 83_567, 84_000, 15_850, 15_385],
    [955_196, 83_558, 84_168, 15_850, 15_354],
    [953_514, 84_104, 81_032, 15_850, 15_989],
    [953_890, 84_088, 81_368, 15_850, 15_927],
    [955_596, 84_205, 84_504, 15_850, 15_401],
    [958_022, 82_789, 85_736, 15_850, 14_905],
    [958_343, 82_762, 86_072, 15_850, 14_843],
    [955_683, 80_839, 86_408, 15_792, 14_481],
    [956_072, 80_833, 86_520, 15_792, 14_465],
    [957_370, 84_074, 83_944, 15_768, 15_336],
    [957_579, 84_166, 83_888, 15_768, 15_336],
    [941_736, 84_089, 85_232, 15_768, 15_475],
    [941_840, 84_069, 85_400, 15_768, 15_444],
    [952_833, 83_354, 85_792, 15_768, 15_059],
    [953_595, 83_354, 85_904, 15_768, 15_013],
    [955_590, 83_450, 84_336, 15_738, 15_200],
    [956_666, 83_572, 83_496, 15_686, 15_272],
    [954_043, 81_632, 86_856, 15_676, 14_497],
    [954_777, 81_641, 87_584, 15_676, 14_359],
    [955_302, 81_629, 88_424, 15_676, 14_206],
    [955_739, 81_682, 89_208, 15_676, 14_068],
    [950_852, 82_067, 84_616, 15_666, 14_992],
    [952_088, 82_070, 86_632, 15_666, 14_640],
    [952_273, 82_092, 86_912, 15_666, 14_595],
];

/// The disk wrote 15,977 pages/s when the trace printed it once; these give every printed rate.
const LINUX_3_3_BANDWIDTH: u64 = 15_800;

fn linux_3_3(row: &[u64; 5]) -> Position {
    let limit = 1 << 20;
    // Printed is the setpoint of the whole, 7/8 of the limit, in proportion to the device's part, rounded down.
    let part = (row[1] * (limit + 1)).div_ceil(limit / 8 * 7);
    Position {
        thresholds: Thresholds { limit, background: limit / 2 },
        hard_limit: limit,
        dirty: row[0],
        device_thresholds: Thresholds { limit: part, background: part / 2 },
        device_dirty: row[2],
        device_bandwidth: LINUX_3_3_BANDWIDTH,
        strict_limit: false,
        floor_in_ratio: true,
    }
}

fn task_rate(base_rate: u64, ratio: u64) -> u64 {
    base_rate * ratio / UNIT_RATIO
}

#[test]
fn every_task_rate_is_that_of_linux_3_3() {
    for row in &LINUX_3_3 {
        assert_eq!(task_rate(row[3], linux_3_3(row).ratio()), row[4], "{row:?}");
    }
}

#[test]
fn without_rounding_it_is_within_a_quarter_percent() {
    for row in &LINUX_3_3 {
        let observed = row[4] as f64 / row[3] as f64;
        assert!((linux_3_3(row).ratio_real() / observed - 1.0).abs() < 0.0025, "{row:?}");
    }
}

/// Columns: limit, background, hard limit, dirty, device's part, device's dirty (pages), its bandwidth, base rate, task
/// rate (pages/s). The bandwidth follows from the next `bdi_dirty_ratelimit` event.
fn check_recorded(rows: &[[u64; 9]], floor_in_ratio: bool) {
    for row in rows {
        let position = Position {
            thresholds: Thresholds { limit: row[0], background: row[1] },
            hard_limit: row[2],
            dirty: row[3],
            device_thresholds: Thresholds { limit: row[4], background: row[4] / 2 },
            device_dirty: row[5],
            device_bandwidth: row[6],
            strict_limit: false,
            floor_in_ratio,
        };
        assert_eq!(task_rate(row[7], position.ratio()), row[8], "{row:?}");
    }
}

/// Own recording, Linux 6.12: one task writes, disk of 100 MiB/s, the only one in use.
#[test]
fn task_rates_are_those_of_linux_6_12() {
    check_recorded(
        &[
            [87_386, 43_639, 87_940, 82_751, 87_386, 82_751, 23_009, 25_563, 20_869],
            [87_742, 43_817, 87_986, 80_744, 87_742, 80_744, 23_009, 25_599, 23_999],
            [87_636, 43_764, 88_025, 74_379, 87_636, 74_379, 23_008, 25_600, 26_200],
            [87_191, 43_542, 87_638, 69_558, 87_191, 69_558, 19_924, 14_014, 18_147],
            [87_392, 43_642, 87_739, 69_120, 87_392, 69_120, 19_976, 13_936, 19_053],
            [86_904, 43_399, 87_664, 68_208, 86_904, 68_208, 19_923, 14_014, 20_391],
            [87_149, 43_521, 87_354, 67_358, 87_149, 67_358, 19_681, 14_869, 24_220],
            [87_020, 43_457, 87_383, 65_287, 87_020, 65_287, 19_680, 14_869, 31_582],
        ],
        true,
    );
}

/// Own recording, Linux 6.18: one task writes, disk of 200 MiB/s.
#[test]
fn task_rates_are_those_of_linux_6_18() {
    check_recorded(
        &[
            [101_981, 50_928, 106_886, 86_016, 101_719, 86_016, 44_714, 37_055, 39_515],
            [102_001, 50_938, 104_946, 81_664, 101_913, 81_664, 59_962, 28_539, 36_481],
            [102_056, 50_965, 107_044, 80_896, 101_783, 80_896, 44_714, 37_055, 51_855],
            [102_056, 50_965, 107_204, 79_872, 101_762, 79_872, 44_714, 37_055, 56_414],
            [101_953, 50_914, 105_243, 78_592, 101_856, 78_592, 61_555, 21_812, 36_019],
            [101_954, 50_915, 105_141, 77_824, 101_860, 77_824, 61_019, 24_630, 43_800],
            [102_056, 50_965, 107_204, 77_312, 101_775, 77_312, 44_714, 37_055, 71_215],
            [102_086, 50_980, 107_370, 76_544, 101_754, 76_544, 44_714, 37_055, 77_113],
        ],
        false,
    );
}

/// Limit 1000, free run 500, setpoint 750; the device has half of it, and a line from 375 to 375 + span with
/// scale = (500 * 65536)/1001 = 32735, span = (500 + 8 * 100) * 32735 / 65536 = 649 and setpoint 374.
const HALF: Position = Position {
    thresholds: Thresholds { limit: 1000, background: 0 },
    hard_limit: 1000,
    dirty: 750,
    device_thresholds: Thresholds { limit: 500, background: 0 },
    device_dirty: 374,
    device_bandwidth: 100,
    strict_limit: false,
    floor_in_ratio: false,
};

fn ratio_with(change: impl Fn(&mut Position)) -> u64 {
    let mut position = HALF;
    change(&mut position);
    position.ratio()
}

#[test]
fn at_both_setpoints_it_is_one() {
    assert_eq!(HALF.ratio(), 1024);
    assert_eq!(HALF.balance(), (750, 750));
}

#[test]
fn below_the_setpoint_it_rises_with_the_third_power() {
    // x = 125 * 1024 / 251 = 509; 509 * 509 >> 10 = 253, 253 * 509 >> 10 = 125.
    assert_eq!(ratio_with(|at| at.dirty = 625), 1024 + 125);
    // x = -509; 253 * -509 = -128777, >> 10 = -126 (towards minus infinity).
    assert_eq!(ratio_with(|at| at.dirty = 875), 1024 - 126);
}

#[test]
fn at_free_run_and_below_it_is_two() {
    // x = 250 * 1024 / 251 = 1019; 1014 * 1019 >> 10 = 1009.
    assert_eq!(ratio_with(|at| at.dirty = 500), 1024 + 1009);
    assert_eq!(ratio_with(|at| at.dirty = 400), 2048);
    assert_eq!(ratio_with(|at| at.dirty = 0), 2048);
}

#[test]
fn at_the_hard_limit_it_is_nothing() {
    assert_eq!(ratio_with(|at| at.dirty = 1000), 0);
    assert_eq!(ratio_with(|at| at.dirty = 5000), 0);
    // x = -249 * 1024 / 251 = -1015; 1006 * -1015 >> 10 = -998.
    assert_eq!(ratio_with(|at| at.dirty = 999), 1024 - 998);
    // With a higher hard limit the setpoint is (500 + 1500)/2, and 1000 dirty pages are at it.
    assert_eq!(HALF.thresholds.freerun(), 500);
    let raised = Position { hard_limit: 1500, dirty: 1000, ..HALF };
    assert_eq!(raised.balance(), (1000, 1000));
    assert!(raised.ratio() > 1024, "the device's setpoint has risen too");
}

#[test]
fn a_device_line_falls_to_a_quarter() {
    assert_eq!(ratio_with(|at| at.device_dirty = 374 + 324), 1024 * 325 / 649);
    // The line ends at 1023 - 162 = 861.
    assert_eq!(ratio_with(|at| at.device_dirty = 860), 1024 * 163 / 649);
    assert_eq!(ratio_with(|at| at.device_dirty = 861), 256);
    assert_eq!(ratio_with(|at| at.device_dirty = 100_000), 256);
}

#[test]
fn a_device_with_less_than_half_its_part_may_have_more() {
    assert_eq!(ratio_with(|at| at.device_dirty = 250), 1024 * 773 / 649);
    // 1024 * 823 / 649 = 1298; times 250/200.
    assert_eq!(ratio_with(|at| at.device_dirty = 200), 1298 * 250 / 200);
    // 1024 * 991 / 649 = 1563; 32 is more than 250/8 = 31, so times 250/32.
    assert_eq!(ratio_with(|at| at.device_dirty = 32), 1563 * 250 / 32);
    // 1024 * 992 / 649 = 1565.
    assert_eq!(ratio_with(|at| at.device_dirty = 31), 1565 * 8);
    assert_eq!(ratio_with(|at| at.device_dirty = 0), 1024 * 1023 / 649 * 8);
}

#[test]
fn a_limit_of_one_page_has_a_line_too() {
    let one = Thresholds { limit: 1, background: 0 };
    let position = Position {
        thresholds: one,
        hard_limit: 1,
        dirty: 0,
        device_thresholds: one,
        device_dirty: 0,
        ..HALF
    };
    // The setpoint is 0, the scale 65536 / 1 and the line 8 * 100 pages long.
    assert_eq!(position.ratio(), 1024 * 800 / 801);
}

#[test]
fn before_6_14_an_idle_device_was_raised_in_the_ratio() {
    let idle = Position { device_thresholds: Thresholds { limit: 0, background: 0 }, ..HALF };
    assert_eq!(idle.ratio(), 256, "no part, no line");
    // Its part is (1000 - 750)/8 = 31: scale 2029, setpoint 23, span (969 + 800) * 2029 >> 16 = 54.
    let raised = |device_dirty| Position { floor_in_ratio: true, device_dirty, ..idle }.ratio();
    assert_eq!(raised(23), 1024 * 54 / 55);
    assert_eq!(raised(10), 1024 * 67 / 55 * 15 / 10);
    assert_eq!(raised(64), 256);
}

#[test]
fn a_part_is_at_most_the_whole() {
    let whole = Position { device_thresholds: HALF.thresholds, ..HALF };
    let more = Position { device_thresholds: Thresholds { limit: 3000, background: 0 }, ..HALF };
    assert_eq!(more.ratio(), whole.ratio());
}

#[test]
fn a_strict_limit_is_a_cubic_of_its_own() {
    // Setpoint (500 + 100)/2 = 300; x = 50 * 1024 / 201 = 254; 63 * 254 >> 10 = 15.
    let device_thresholds = Thresholds { limit: 500, background: 100 };
    let strict = Position { strict_limit: true, device_thresholds, device_dirty: 250, dirty: 400, ..HALF };
    assert_eq!(strict.ratio(), 1024 + 15);
    assert_eq!(strict.balance(), (250, 300));
    assert_eq!(Position { dirty: 875, ..strict }.ratio(), 1024 - 126, "the smaller of both counts");
    assert_eq!(Position { device_dirty: 500, ..strict }.ratio(), 0);
    assert_eq!(Position { dirty: 1000, ..strict }.ratio(), 0);
    let unset = Thresholds { limit: 1, background: 0 };
    assert_eq!(Position { device_thresholds: unset, device_dirty: 0, ..strict }.ratio(), 0);
}

#[test]
fn before_6_14_a_strict_device_started_with_eight_pages() {
    let device_thresholds = Thresholds { limit: 0, background: 0 };
    let idle =
        Position { strict_limit: true, floor_in_ratio: true, device_thresholds, device_dirty: 7, ..HALF };
    assert_eq!((idle.ratio(), idle.balance()), (2048, (7, 8)));
    // x = -220 * 1024 / 251 = -897; 785 * -897 >> 10 = -688.
    assert_eq!(Position { dirty: 970, ..idle }.ratio(), 2 * (1024 - 688));
    // 2 * (1 - 0.88^3).
    assert!((Position { dirty: 970, ..idle }.ratio_real() - 0.637_056).abs() < 1e-9);
    assert_eq!(Position { device_dirty: 8, ..idle }.ratio(), 0);
    assert_eq!(Position { floor_in_ratio: false, ..idle }.ratio(), 0);
}

/// A FUSE file system stood still because it had no part: linux-mm, 2024-10-24, message
/// 20241024060954.443574-1-jimzhao.ai@gmail.com.
#[test]
fn a_strict_device_without_a_part_is_blocked() {
    let thresholds = Thresholds { limit: 295_073, background: 152_221 };
    for (dirty, device_dirty) in [(454, 32), (454, 33), (489, 35), (490, 36)] {
        let fuse = Position {
            thresholds,
            hard_limit: thresholds.limit,
            dirty,
            device_thresholds: Thresholds { limit: 0, background: 0 },
            device_dirty,
            device_bandwidth: 25_600,
            strict_limit: true,
            floor_in_ratio: true,
        };
        assert_eq!(fuse.ratio(), 0);
    }
}

fn any_position() -> impl Strategy<Value = Position> {
    let sizes = (2u64..1 << 28, 0u64..=100, 0u64..=100, 0u64..=300);
    let parts = (0u64..=100, 0u64..=200, 0u64..=200, 1u64..1 << 22);
    (sizes, parts, any::<[bool; 2]>()).prop_map(|(sizes, parts, [strict_limit, floor_in_ratio])| {
        let (limit, background, raise, dirty) = sizes;
        let hard_limit = limit + limit * raise / 100;
        let part = limit * parts.0 / 100;
        let background = limit / 2 * background / 100;
        Position {
            thresholds: Thresholds { limit, background },
            hard_limit,
            dirty: hard_limit * dirty / 200,
            device_thresholds: Thresholds { limit: part, background: part / 2 },
            device_dirty: part * parts.1 / 100,
            device_bandwidth: parts.3,
            strict_limit,
            floor_in_ratio,
        }
    })
}

proptest! {
    #[test]
    fn more_dirty_pages_never_give_a_higher_ratio(position in any_position(), more in 0u64..1 << 28) {
        // With the floor inside, the device's part depends on the dirty pages.
        let position = Position { floor_in_ratio: false, ..position };
        let further = Position { dirty: position.dirty + more, ..position };
        prop_assert!(further.ratio() <= position.ratio());
    }

    #[test]
    fn more_dirty_pages_of_the_device_never_give_a_higher_ratio(position in any_position(), more in 0u64..1 << 28) {
        let further = Position { device_dirty: position.device_dirty + more, ..position };
        prop_assert!(further.ratio() <= position.ratio());
    }

    #[test]
    fn it_is_bounded(position in any_position()) {
        let ratio = position.ratio();
        // Twice for the cubic, eight times in the reserve area, and the line where it is highest.
        let line = Position { device_dirty: 0, dirty: position.dirty.min(position.hard_limit), ..position };
        let line = line.device_line(UNIT_RATIO);
        let highest = if position.strict_limit { 2 * UNIT_RATIO } else { 16 * (line + 1) };
        prop_assert!(ratio <= highest, "{} {}", ratio, highest);
        if position.dirty >= position.hard_limit {
            prop_assert_eq!(ratio, 0);
        }
    }

    #[test]
    fn rounding_changes_it_by_little(position in any_position()) {
        // Sizes of real machines: the scale of the device's part has 16 bits.
        prop_assume!(position.thresholds.limit > 1 << 16 && position.device_thresholds.limit > 1 << 16);
        let (rounded, real) = (position.ratio() as f64 / UNIT_RATIO as f64, position.ratio_real());
        prop_assert!((rounded - real).abs() <= 0.01 * real + 0.05, "{} {}", rounded, real);
    }
}
