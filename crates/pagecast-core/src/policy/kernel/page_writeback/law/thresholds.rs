//! Computes the background threshold and the dirty limit from `vm.dirty_*`.
//!
//! Source: `mm/page-writeback.c: domain_dirty_limits`, Linux 6.16. Left out: real-time tasks, who may have a quarter more.

use crate::policy::kernel::tick::mul_div;
use crate::policy::kernel::version::Rounding;

const PAGE: u64 = 4096;

/// One of the two limits, as set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A percentage of the dirtyable memory (`vm.dirty_ratio`, `vm.dirty_background_ratio`).
    Ratio(u32),
    /// A number of bytes (`vm.dirty_bytes`, `vm.dirty_background_bytes`), rounded up to pages.
    Bytes(u64),
}

impl Limit {
    fn pages(self, rounding: Rounding, dirtyable: u64) -> u64 {
        match (self, rounding) {
            (Self::Bytes(bytes), _) => bytes.div_ceil(PAGE),
            (Self::Ratio(percent), Rounding::Plain) => mul_div(u64::from(percent), dirtyable, 100),
            (Self::Ratio(percent), Rounding::FourThousandNinetySixths) => {
                mul_div(u64::from(percent) * PAGE / 100, dirtyable, PAGE)
            }
        }
    }
}

/// The settings `vm.dirty_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirtySettings {
    /// The level at which writing stops.
    pub limit: Limit,
    /// The level at which the flusher starts.
    pub background: Limit,
    /// The rounding of percentages.
    pub rounding: Rounding,
}

/// The two limits in pages, of all memory or of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// The level at which writing stops.
    pub limit: u64,
    /// The level at which the flusher starts; below the limit unless that is 0.
    pub background: u64,
}

impl Thresholds {
    /// Returns the limits for so many dirtyable pages.
    pub fn of(settings: &DirtySettings, dirtyable: u64) -> Self {
        let pages = |limit: Limit| limit.pages(settings.rounding, dirtyable);
        Self::ordered(pages(settings.limit), pages(settings.background))
    }

    /// Returns the limits of a memory cgroup with so many dirtyable pages, when all memory has `dirtyable_in_all`. Limits in bytes
    /// become the same part of its pages, in 4096ths.
    pub fn of_memcg(settings: &DirtySettings, dirtyable_in_all: u64, dirtyable: u64) -> Self {
        let pages = |limit: Limit| match limit {
            Limit::Bytes(bytes) => {
                mul_div(bytes.div_ceil(dirtyable_in_all.max(1)).min(PAGE), dirtyable, PAGE)
            }
            Limit::Ratio(_) => limit.pages(settings.rounding, dirtyable),
        };
        Self::ordered(pages(settings.limit), pages(settings.background))
    }

    fn ordered(limit: u64, background: u64) -> Self {
        // The law counts on 32 bits.
        let limit = limit.min(u64::from(u32::MAX));
        Self { limit, background: if background >= limit { limit / 2 } else { background } }
    }

    /// Returns the dirty pages up to which nobody is throttled (`dirty_freerun_ceiling`).
    pub fn freerun(&self) -> u64 {
        (self.limit + self.background) / 2
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ratios(limit: u32, background: u32, rounding: Rounding) -> DirtySettings {
        DirtySettings { limit: Limit::Ratio(limit), background: Limit::Ratio(background), rounding }
    }

    /// True if some amount of dirtyable memory gives both thresholds (in KiB).
    fn is_possible(settings: &DirtySettings, limit: u64, background: u64) -> bool {
        let Limit::Ratio(percent) = settings.limit else { panic!("a ratio is to be tested") };
        let about = limit / 4 * 100 / u64::from(percent);
        let expected = Thresholds { limit: limit / 4, background: background / 4 };
        (about..about + about / 500).any(|dirtyable| Thresholds::of(settings, dirtyable) == expected)
    }

    /// Thresholds that kernels printed in `/sys/kernel/debug/bdi/*/stats`, in KiB:
    /// limit percent, background percent, limit, background.
    const PRINTED: [(u32, u32, u64, u64); 10] = [
        // linux-fsdevel, 2025-01-21, message CAJnrk1Z21NU0GCjj+GzsudyT1LAKx3TNqHt2oO22u1MZAZ4Lug@mail.gmail.com
        (20, 10, 359_824, 179_692),
        (20, 10, 359_824, 179_692),
        (20, 10, 359_824, 179_692),
        (20, 10, 359_824, 179_692),
        (20, 10, 359_824, 179_692),
        (20, 10, 361_300, 180_428),
        (20, 10, 359_132, 179_348),
        (20, 10, 359_144, 179_352),
        // linux-mtd, 2022-03-01, message 719960584.100772.1646147154879.JavaMail.zimbra@nod.at
        (20, 10, 772_620, 385_836),
        // linux-mm, 2024-03-27, message 20240327155751.3536-1-shikemeng@huaweicloud.com, 320 GB
        (60, 10, 195_337_564, 32_516_508),
    ];

    #[test]
    fn ratios_are_rounded_to_4096ths_first() {
        for (limit, background, limit_kib, background_kib) in PRINTED {
            let rounded = ratios(limit, background, Rounding::FourThousandNinetySixths);
            let plain = ratios(limit, background, Rounding::Plain);
            assert!(is_possible(&rounded, limit_kib, background_kib), "{limit_kib}");
            assert!(!is_possible(&plain, limit_kib, background_kib), "{limit_kib}");
        }
    }

    /// linux-mm, 2010-08-24, message 20100824100943.F3B6.A69D9226@jp.fujitsu.com.
    #[test]
    fn a_kernel_of_2010_took_plain_percentages() {
        assert!(is_possible(&ratios(20, 10, Rounding::Plain), 1_719_076, 859_536));
        assert!(!is_possible(&ratios(20, 10, Rounding::FourThousandNinetySixths), 1_719_076, 859_536));
    }

    #[test]
    fn defaults_are_a_little_below_20_and_10_percent() {
        let of = Thresholds::of(&ratios(20, 10, Rounding::FourThousandNinetySixths), 1_000_000);
        assert_eq!(of, Thresholds { limit: 199_951, background: 99_853 });
        assert_eq!(of.freerun(), 149_902);
    }

    #[test]
    fn bytes_are_rounded_up_to_pages() {
        let settings = DirtySettings {
            limit: Limit::Bytes(4_096_001),
            background: Limit::Bytes(1),
            rounding: Rounding::FourThousandNinetySixths,
        };
        assert_eq!(Thresholds::of(&settings, 7), Thresholds { limit: 1001, background: 1 });
    }

    /// As on a machine with dirty limit 4 GiB whose background of 10 % is above it (linux-mm, 2012-01-28).
    #[test]
    fn a_background_above_the_limit_is_half_of_it() {
        let settings = DirtySettings {
            limit: Limit::Bytes(4 << 30),
            background: Limit::Ratio(10),
            rounding: Rounding::Plain,
        };
        let of = Thresholds::of(&settings, 16_000_000);
        assert_eq!(of, Thresholds { limit: 1_048_576, background: 524_288 });
        assert_eq!(of.freerun(), 786_432);
    }

    #[test]
    fn bytes_are_a_part_of_a_cgroups_pages() {
        let settings = DirtySettings {
            limit: Limit::Bytes(1 << 30),
            background: Limit::Ratio(10),
            rounding: Rounding::FourThousandNinetySixths,
        };
        // 2^30 bytes of 2^20 pages are 1024/4096 of them; of 100,000 pages 25,000. 409/4096 of them are 9985.
        let of = Thresholds::of_memcg(&settings, 1 << 20, 100_000);
        assert_eq!(of, Thresholds { limit: 25_000, background: 9985 });
        let more_than_all = Thresholds::of_memcg(&settings, 1000, 100_000);
        assert_eq!(more_than_all.limit, 100_000);
    }

    #[test]
    fn a_limit_fits_in_32_bits() {
        let of = Thresholds::of(&ratios(100, 50, Rounding::Plain), 1 << 40);
        assert_eq!(of, Thresholds { limit: u64::from(u32::MAX), background: u64::from(u32::MAX) / 2 });
    }

    proptest! {
        #[test]
        fn background_is_below_freerun_is_below_limit(
            limit in 0u32..=100, background in 0u32..=100, dirtyable in 0u64..1 << 34, plain: bool,
        ) {
            let rounding = if plain { Rounding::Plain } else { Rounding::FourThousandNinetySixths };
            let of = Thresholds::of(&ratios(limit, background, rounding), dirtyable);
            prop_assert!(of.background < of.limit || of.limit == 0 && of.background == 0);
            prop_assert!(of.background <= of.freerun() && of.freerun() <= of.limit);
            prop_assert!(of.limit <= dirtyable);
        }
    }
}
