//! Computes the watermarks of each node, and how much memory is free.
//!
//! Source: `mm/page_alloc.c: calculate_min_free_kbytes`, `__setup_per_zone_wmarks`, `setup_per_zone_lowmem_reserve`, `__zone_watermark_ok`,
//! `calculate_totalreserve_pages` and `mm/khugepaged.c: set_recommended_min_free_kbytes`, Linux 6.16. Left out: zones; their marks are
//! added up, with the reserves that each keeps from requests for a higher zone. Memory of the kernel itself is not part of the machine's
//! memory.

use crate::machine::Host;

/// The kernel raises `min_free_kbytes` by this for each zone that has memory, if it uses huge pages (x86: 11 blocks of 2 MiB).
const HUGE_PAGE_RESERVE: u64 = 22_528 << 10;
/// Memory below this address is in the zones DMA and DMA32, which keep a part for themselves.
const DMA32_END: u64 = 4 << 30;
/// Of the node's memory above, a 256th is kept free in the zones below (`vm.lowmem_reserve_ratio`).
const LOWMEM_RESERVE_RATIO: u64 = 256;

/// The first version whose marks are at least `vm.watermark_scale_factor` apart.
const SCALED_SINCE: (u32, u32) = (4, 6);

/// A node and its watermarks, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub total: u64,
    pub anonymous: u64,
    /// Only reclaim itself may take memory below this mark. All marks include the reserves of the lower zones.
    pub min: u64,
    /// A page comes from another node, or kswapd is woken, below this.
    pub low: u64,
    /// kswapd stops above this.
    pub high: u64,
}

/// The memory of a host by node.
#[derive(Clone, Debug)]
pub struct Memory {
    pub nodes: Vec<Node>,
    pub total: u64,
    /// Not counted as dirtyable: `totalreserve_pages`, in bytes.
    pub reserve: u64,
}

impl Memory {
    /// The memory of a host, all of it free.
    pub fn of(host: &Host) -> Self {
        let total = host.memory.size.0;
        let count = u64::from(host.memory.nodes);
        let usual = || min_free(total, count, host.kernel.version);
        let min = host.vm.min_free.map_or_else(usual, |bytes| bytes.0);
        let scaled = total / 10_000 * u64::from(host.vm.watermark_scale_factor);
        let gap = (min / 4).max(if host.kernel.version < SCALED_SINCE { 0 } else { scaled });
        let high = min + 2 * gap;
        let above = (total / count).saturating_sub(DMA32_END).min(DMA32_END * LOWMEM_RESERVE_RATIO);
        let usual = (high + above / LOWMEM_RESERVE_RATIO).min(total / 4);
        let reserve = host.memory.reserve.map_or(usual, |bytes| bytes.0);
        let protected = reserve.saturating_sub(high);
        let node = |at: u64| {
            let first = |bytes: u64| if at == 0 { bytes } else { 0 };
            let min = min / count + first(protected);
            let gap = gap / count;
            Node {
                total: total / count + first(total % count),
                anonymous: 0,
                min,
                low: min + gap,
                high: min + 2 * gap,
            }
        };
        Self { nodes: (0..count).map(node).collect(), total, reserve }
    }

    /// The anonymous memory of all nodes.
    pub fn anonymous(&self) -> u64 {
        self.nodes.iter().map(|node| node.anonymous).sum()
    }

    /// The most memory that programs can hold. Only reclaim takes pages below the min marks. An allocation fails for good when
    /// reclaiming everything would bring no node above its own (`mm/page_alloc.c: should_reclaim_retry, __zone_watermark_ok`).
    pub fn most_anonymous(&self) -> u64 {
        self.nodes.iter().map(|node| node.total.saturating_sub(node.min)).sum()
    }

    /// The dirtyable memory: free memory without the reserves, plus the page cache.
    pub fn dirtyable(&self, anonymous: u64, cached: u64) -> u64 {
        let free = self.total.saturating_sub(anonymous + cached);
        free.saturating_sub(self.reserve) + cached
    }
}

/// Returns `min_free_kbytes` as the kernel chooses it, in bytes.
fn min_free(total: u64, nodes: u64, version: (u32, u32)) -> u64 {
    let most = if version < (5, 8) { 65_536 } else { 262_144 };
    let by_size = (16 * (total >> 10)).isqrt().clamp(128, most) << 10;
    // DMA and DMA32 are on the first node; each has a zone for what is above, or a part of DMA32.
    let zones = nodes + if total > DMA32_END { 2 } else { 1 };
    by_size.max((HUGE_PAGE_RESERVE * zones).min(total / 20))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::load_machine;

    #[test]
    fn marks_of_a_large_host_come_from_its_size() {
        assert_eq!(min_free(16 << 30, 1, (6, 18)), 67_584 << 10);
        assert_eq!(min_free(1 << 40, 1, (4, 18)) >> 10, 67_584);
        assert_eq!(min_free(1 << 40, 1, (6, 18)) >> 10, 131_072);
        assert_eq!(min_free(256 << 30, 2, (4, 18)) >> 10, 90_112, "as servers with two sockets have it");
    }

    #[test]
    fn marks_of_a_small_host_leave_it_its_memory() {
        assert_eq!(min_free(4 << 30, 1, (6, 18)) >> 10, 2 * 22_528, "no zone above 4 GiB");
        assert_eq!(min_free((4 << 30) + 1, 1, (6, 18)) >> 10, 3 * 22_528);
        assert_eq!(min_free(64 << 20, 1, (6, 18)), (64 << 20) / 20);
        // The root of 16 * 16 MiB in KiB is 512.
        assert_eq!(min_free(16 << 20, 1, (6, 18)), (16 << 20) / 20, "more than 512 KiB");
        assert_eq!(min_free(1 << 20, 1, (6, 18)), 128 << 10, "the least");
        assert_eq!(min_free(2 << 40, 1, (5, 7)) >> 10, 67_584);
        assert_eq!(min_free(2 << 40, 1, (5, 8)) >> 10, 185_363, "the root of 2^35");
    }

    fn memory_of(settings: &str) -> Memory {
        let machine = format!("cores = 4\nmemory.read = '1 GB/s'\nmemory.write = '1 GB/s'\n{settings}");
        let machine = load_machine(machine.as_bytes(), "test.toml", Path::new(""), Path::new(""));
        Memory::of(&machine.expect("it is a machine").hosts[0])
    }

    /// `min_free_kbytes` is 4 * 22,528 with three zones and one node more; a ten-thousandth of the memory is 6,871,947.
    #[test]
    fn marks_are_a_quarter_of_the_least_apart_or_a_thousandth_of_the_memory() {
        /// Of the 28 GiB that the first node has above 4 GiB a 256th is kept in the zones below.
        const LOWMEM: u64 = (28 << 30) / 256;
        let min = (4 * 22_528) << 10;
        let marks = |version: &str| {
            let memory =
                memory_of(&format!("memory.size = '64 GiB'\nmemory.nodes = 2\nkernel.version = '{version}'"));
            assert_eq!(memory.nodes[1].total, 32 << 30);
            assert_eq!(memory.nodes[1].min, min / 2);
            assert_eq!(memory.nodes[0].min, min / 2 + LOWMEM);
            assert_eq!(memory.nodes[0].high, memory.nodes[1].high + LOWMEM);
            (memory.nodes[1].low, memory.nodes[1].high, memory.reserve)
        };
        let gap = 68_719_470;
        assert_eq!(marks("6.18"), ((min + gap) / 2, (min + 2 * gap) / 2, min + 2 * gap + LOWMEM));
        assert_eq!(marks("4.6"), marks("6.18"));
        let gap = min / 4;
        assert_eq!(marks("4.5"), ((min + gap) / 2, (min + 2 * gap) / 2, min + 2 * gap + LOWMEM));
    }

    #[test]
    fn the_zones_below_keep_no_more_than_they_have() {
        // 5 GiB: of 1 GiB above. 2 TiB: of 1 TiB, as that is all of 4 GiB. 1 GiB: nothing is above.
        for (gib, lowmem) in [(5, 4 << 20), (2048, 4 << 30), (1, 0)] {
            let memory = memory_of(&format!("memory.size = '{gib} GiB'"));
            let min = min_free(memory.total, 1, (6, 18));
            assert_eq!(memory.nodes[0].min, min + lowmem, "{gib} GiB");
            assert_eq!(memory.reserve, memory.nodes[0].high, "{gib} GiB");
        }
        let most = memory_of("memory.size = '1 GiB'\nvm.min_free_kbytes = 300000");
        assert_eq!(most.reserve, 256 << 20, "a quarter is the most");
    }

    /// The marks of a host of 24 GiB, of which a holder of memory leaves 2.3 GiB: Linux 6.18 kept 185 to 218 MiB free there.
    #[test]
    fn the_dirty_limit_leaves_out_the_memory_that_reclaim_keeps_free() {
        let memory = memory_of(
            "memory.size = '2434408 KiB'\nmemory.reserve = '216518 KiB'\nvm.min_free_kbytes = 67584",
        );
        let kept = |mark: u64| mark >> 10;
        let node = memory.nodes[0];
        assert_eq!((kept(node.min), kept(node.low), kept(node.high)), (182_726, 199_622, 216_518));
    }

    #[test]
    fn the_first_node_has_what_cannot_be_divided() {
        let memory = memory_of("memory.size = '10 GB'\nmemory.nodes = 3");
        let totals: Vec<u64> = memory.nodes.iter().map(|node| node.total).collect();
        assert_eq!(totals, [3_333_333_334, 3_333_333_333, 3_333_333_333]);
    }

    #[test]
    fn dirtyable_are_the_cache_and_what_is_free_above_the_reserve() {
        let memory = memory_of("memory.size = '10 GB'\nmemory.reserve = '1 GB'");
        let gb = 1_000_000_000;
        assert_eq!(memory.dirtyable(2 * gb, 3 * gb), 4 * gb + 3 * gb);
        assert_eq!(memory.dirtyable(7 * gb, 3 * gb), 3 * gb, "nothing is free");
        assert_eq!(memory.dirtyable(9 * gb, 3 * gb), 3 * gb, "nor is less than nothing");
    }
}
