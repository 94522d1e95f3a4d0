//! Describes the Linux of a host, and its `vm.*` settings.

use crate::keys::{CENTISECS, PERCENT, SIZE, VERSION, Word, keys, kib, whole, word};
use crate::units::{Bytes, Nanos};

/// The lists by which a kernel chooses the pages to evict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lru {
    /// Inactive and active.
    TwoList,
    /// Generations and tiers: `/sys/kernel/mm/lru_gen/enabled`.
    Mglru,
}

/// The name of a version, as `uname -r` begins: 3.0 came after 2.6.39, so 2.6.27 is (2, 27) here.
#[must_use]
pub fn version_name((major, minor): (u32, u32)) -> String {
    if major == 2 { format!("2.6.{minor}") } else { format!("{major}.{minor}") }
}

impl Lru {
    /// The first version of Linux that has generations.
    pub const MGLRU_SINCE: (u32, u32) = (6, 1);
}

impl Word for Lru {
    const ALL: &'static [Self] = &[Self::TwoList, Self::Mglru];
    const WORDS: &'static [&'static str] = &["two-list", "mglru"];
}

keys! {
    /// The Linux that a host runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Kernel: "kernel" {
        /// Version of Linux, such as "4.18", from 2.6.27 on
        #[key(VERSION, shown = (6, 18))]
        pub version: (u32, u32),
        /// `CONFIG_HZ`, ticks per second
        ///
        /// The kernel counts pauses in ticks.
        #[key(whole(100, 1000), shown = 250)]
        pub hz: u32,
        /// How pages are chosen for eviction
        ///
        /// "mglru" (6.1 or later) where `/sys/kernel/mm/lru_gen/enabled` is not 0.
        #[key(word::<Lru>(), default = Lru::TwoList)]
        pub lru: Lru,
    }
}

keys! {
    /// The kernel settings that a model may use, with the kernel's names and defaults (Linux, `mm/page-writeback.c`). Ratios are fractions:
    /// 0.2 for 20.
    #[derive(Clone, Debug, PartialEq)]
    pub struct VmSettings: "vm" {
        /// Percent of memory
        #[key(PERCENT, shown = 0.2)]
        pub dirty_ratio: f64,
        /// Percent of memory
        #[key(PERCENT, shown = 0.1)]
        pub dirty_background_ratio: f64,
        /// Replaces `dirty_ratio`
        ///
        /// Only `kernel` looks at it.
        #[key(SIZE)]
        pub dirty_bytes: Option<Bytes>,
        /// Replaces `dirty_background_ratio`
        ///
        /// Only `kernel` looks at it.
        #[key(SIZE)]
        pub dirty_background_bytes: Option<Bytes>,
        /// Memory that is kept free, in KiB
        ///
        /// No program gets it.
        #[key(kib(1, 1 << 31), absent = "by the size of the memory, as the kernel chooses")]
        #[name = "min_free_kbytes"]
        pub min_free: Option<Bytes>,
        /// Ten-thousandths of the memory between the marks of reclaim
        ///
        /// Kernels before 4.6 have none.
        #[key(whole(1, 3000), shown = 10)]
        pub watermark_scale_factor: u32,
        /// Hundredths of a second after which dirty pages are old enough to be written back
        #[key(CENTISECS, shown = Nanos(30_000_000_000))]
        #[name = "dirty_expire_centisecs"]
        pub dirty_expire: Nanos,
        /// Hundredths of a second between the rounds of periodic write-back
        #[key(CENTISECS, shown = Nanos(5_000_000_000))]
        #[name = "dirty_writeback_centisecs"]
        pub dirty_writeback: Nanos,
    }
}
