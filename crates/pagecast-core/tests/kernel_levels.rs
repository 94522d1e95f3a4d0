//! What a result tells of the kernel's levels, limits and blocks. Source of the rules: `mm/page-writeback.c`, Linux 6.16.

use crate::common::linux;

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
