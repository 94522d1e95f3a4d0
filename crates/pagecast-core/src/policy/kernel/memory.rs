//! How much memory is free, and the marks at which the kernel makes room.
//!
//! Source: `mm/page_alloc.c: calculate_min_free_kbytes`, `__setup_per_zone_wmarks`, `calculate_totalreserve_pages` and
//! `mm/khugepaged.c: set_recommended_min_free_kbytes`, Linux 6.16. Left out: zones (their marks are added up), memory of the kernel itself (the size of a
//! machine's memory is what programs and the page cache can use).

use crate::machine::Host;

/// The kernel raises `min_free_kbytes` by this for each zone that has memory, if it uses huge pages (x86: 11 blocks of 2 MiB).
const HUGE_PAGE_RESERVE: u64 = 22_528 << 10;
/// Memory below this address is in the zones DMA and DMA32, which keep a part for themselves.
const DMA32_END: u64 = 4 << 30;
/// Of the memory above, a 256th is kept free in the zones below (`vm.lowmem_reserve_ratio`).
const LOWMEM_RESERVE_RATIO: u64 = 256;

/// The first version whose marks are at least `vm.watermark_scale_factor` apart.
const SCALED_SINCE: (u32, u32) = (4, 6);

/// A node of the memory and its marks, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub total: u64,
    pub anonymous: u64,
    /// Nobody but reclaim itself may take memory below this.
    pub min: u64,
    /// A page comes from another node, or kswapd is woken, below this.
    pub low: u64,
    /// kswapd stops above this.
    pub high: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub nodes: Vec<Node>,
    pub total: u64,
    /// Not counted as dirtyable: `totalreserve_pages`, in bytes.
    pub reserve: u64,
}

impl Memory {
    /// The memory of a host, all of it free.
    pub(super) fn of(host: &Host) -> Self {
        let total = host.memory.size.0;
        let count = u64::from(host.memory.nodes);
        let usual = || min_free(total, count, host.kernel.version);
        let min = host.vm.min_free.map_or_else(usual, |bytes| bytes.0);
        let scaled = total / 10_000 * u64::from(host.vm.watermark_scale_factor);
        let gap = (min / 4).max(if host.kernel.version < SCALED_SINCE { 0 } else { scaled });
        let (low, high) = (min + gap, min + 2 * gap);
        let node = |at: u64| Node {
            total: total / count + if at == 0 { total % count } else { 0 },
            anonymous: 0,
            min: min / count,
            low: low / count,
            high: high / count,
        };
        let kept_below = total.saturating_sub(DMA32_END).min(DMA32_END * LOWMEM_RESERVE_RATIO);
        let usual = (high + kept_below / LOWMEM_RESERVE_RATIO).min(total / 4);
        let reserve = host.memory.reserve.map_or(usual, |bytes| bytes.0);
        Self { nodes: (0..count).map(node).collect(), total, reserve }
    }

    /// The anonymous memory of all nodes.
    pub(super) fn anonymous(&self) -> u64 {
        self.nodes.iter().map(|node| node.anonymous).sum()
    }

    /// What programs can hold: nobody but reclaim takes pages below the min marks, so that an allocation fails for good when all that
    /// could be reclaimed would not bring any node above its own (`mm/page_alloc.c: should_reclaim_retry, __zone_watermark_ok`).
    pub(super) fn most_anonymous(&self) -> u64 {
        self.nodes.iter().map(|node| node.total.saturating_sub(node.min)).sum()
    }

    /// What could become dirty: free memory but for the reserves, and the page cache.
    pub(super) fn dirtyable(&self, anonymous: u64, cached: u64) -> u64 {
        let free = self.total.saturating_sub(anonymous + cached);
        free.saturating_sub(self.reserve) + cached
    }
}

/// `min_free_kbytes` as the kernel chooses it, in bytes.
fn min_free(total: u64, nodes: u64, version: (u32, u32)) -> u64 {
    let most = if version < (5, 8) { 65_536 } else { 262_144 };
    let by_size = (16 * (total >> 10)).isqrt().clamp(128, most) << 10;
    // DMA and DMA32 are on the first node; each has a zone for what is above, or a part of DMA32.
    let zones = nodes + if total > DMA32_END { 2 } else { 1 };
    by_size.max((HUGE_PAGE_RESERVE * zones).min(total / 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_large_host_come_from_its_size() {
        assert_eq!(min_free(16 << 30, 1, (6, 18)), 67_584 << 10);
        assert_eq!(min_free(1 << 40, 1, (4, 18)) >> 10, 67_584);
        assert_eq!(min_free(1 << 40, 1, (6, 18)) >> 10, 131_072);
        assert_eq!(min_free(256 << 30, 2, (4, 18)) >> 10, 90_112, "as servers with two sockets have it");
    }
}
