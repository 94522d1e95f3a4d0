//! States as data which rules each version of Linux has.
//!
//! Source: the versions named at each rule.

/// The rules of one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// A writer over its limit writes back by itself, instead of pausing by the law (before 3.2, "writeback: IO-less balance_dirty_pages()").
    pub writes_in_foreground: bool,
    /// A device is over the background threshold by its own part of it, too (since 3.2, "writeback: per-bdi background threshold").
    pub devices_have_background: bool,
    /// A visit of the flusher is half a second of writing (since 3.1, "writeback: scale IO chunk size up to half device bandwidth").
    pub chunk_follows_bandwidth: bool,
    /// The rounding of `vm.dirty_ratio` to pages.
    pub rounding: Rounding,
    /// A floor under an idle device's share of the limit (since 6.14), instead of one in the position ratio only.
    pub share_has_floor: bool,
    /// Periodic work leaves an inode after one visit if it is not old enough itself (since 6.10).
    pub requeue_has_cutoff: bool,
    /// Timers fire with the end of a step of the wheel's level that they are in (since 4.8).
    pub has_timer_wheel: bool,
    /// The bandwidth is also measured 200 ms after the last page of an inode was written (since 5.16).
    pub measures_after_writeback: bool,
    /// Dirty pages at the end of the inactive list wake all flushers (since 4.11), not only tasks that wait for memory.
    pub dirty_tail_wakes_flushers: bool,
    /// Work for all flushers waits until their present work has ended (since 4.15). Before, the present work broke off.
    pub start_all_waits: bool,
    /// Write-back throttling counts writers throttled in a memory cgroup (since 6.8, and in stable releases of 6.6).
    pub wbt_sees_cgroups: bool,
    /// Counters of a memory cgroup for its dirty limits are added up every two seconds only (since 6.9), not at each look.
    pub memcg_stats_are_late: bool,
    /// Writing to a page counts as an access, as reading it does (before 4.7).
    pub writes_are_accesses: bool,
    /// The longest folio that a write fills, in pages. ext4 has large ones since 6.16, none longer than a huge page.
    pub largest_folio: u64,
    /// The longest folio that a write to a file of NFS fills, in pages (`fs/nfs/inode.c: nfs_fhget`, large folios since 6.11).
    pub nfs_largest_folio: u64,
    /// A client of NFS reads 15 READs ahead (before 5.4, "NFS: Don't use page_size for readahead"), and then as any device.
    pub nfs_reads_far_ahead: bool,
    /// A pass of a flusher over a file of NFS ends with a COMMIT (since 4.13). Before, more than half of the file had to be unstable.
    pub nfs_commits_passes: bool,
    /// Calls of NFS that wait for a slot take turns by their owners, one each (since 4.20). Before, an owner had 16 in a turn.
    pub nfs_slots_alternate: bool,
    /// Unstable pages of NFS count for the background threshold (before 5.8, "mm/writeback: discard NR_UNSTABLE_NFS").
    pub unstable_is_reclaimable: bool,
    /// A window of read-ahead is no smaller than the one before it (since 6.13, and in stable releases of 6.12).
    pub windows_keep_size: bool,
    /// A fault of a mapping maps whole folios (since 6.18). Before, it maps the pages around it, or only its own for writing.
    pub maps_folios: bool,
    /// The rules of the two lists.
    pub two_lists: TwoLists,
    /// The rules of the multi-generational lists, reworked in 6.14. Dirty pages at their end wake all flushers from 6.13 on, and in
    /// 6.12 (6.12.104).
    pub lru_gen: LruGen,
}

impl Rules {
    /// The rules of a version, as a machine has it: 2.6.27 is (2, 27).
    pub fn of(version: (u32, u32)) -> Self {
        let rounding = if version < (4, 7) { Rounding::Plain } else { Rounding::FourThousandNinetySixths };
        Self {
            writes_in_foreground: version < (3, 2),
            devices_have_background: version >= (3, 2),
            chunk_follows_bandwidth: version >= (3, 1),
            rounding,
            share_has_floor: version >= (6, 14),
            requeue_has_cutoff: version >= (6, 10),
            has_timer_wheel: version >= (4, 8),
            measures_after_writeback: version >= (5, 16),
            dirty_tail_wakes_flushers: version >= (4, 11),
            start_all_waits: version >= (4, 15),
            wbt_sees_cgroups: version >= (6, 6),
            memcg_stats_are_late: version >= (6, 9),
            writes_are_accesses: version < (4, 7),
            largest_folio: if version < (6, 16) { 1 } else { 512 },
            nfs_largest_folio: if version < (6, 11) { 1 } else { 512 },
            nfs_reads_far_ahead: version < (5, 4),
            nfs_commits_passes: version >= (4, 13),
            nfs_slots_alternate: version >= (4, 20),
            unstable_is_reclaimable: version < (5, 8),
            windows_keep_size: version >= (6, 12),
            maps_folios: version >= (6, 18),
            two_lists: TwoLists {
                remembers_evicted: version >= (3, 15),
                ratio_grows: version >= (4, 7),
                refaults_deactivate: version >= (4, 12),
            },
            lru_gen: LruGen { reworked: version >= (6, 14), wakes_flushers: version >= (6, 12) },
        }
    }
}

/// The rounding of a percentage of the dirtyable memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Down to a whole 4096th first, since about Linux 4.7: 20 % is 819/4096.
    FourThousandNinetySixths,
    /// Only the result, as before.
    Plain,
}

/// The rules of the two lists that differ between versions of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoLists {
    /// Evicted pages are remembered, and are active at once if they are read again soon (since 3.15).
    pub remembers_evicted: bool,
    /// With much of both, the active list may be longer than the inactive (since 4.7).
    pub ratio_grows: bool,
    /// Refaults end the protection of the active list (since 4.12).
    pub refaults_deactivate: bool,
}

/// The rules of the multi-generational lists that differ between versions of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LruGen {
    /// Reads are counted, pages inserted, aged and protected, and refaults judged by the rules of Linux 6.14.
    pub reworked: bool,
    /// Reclaim that finds nothing but dirty pages wakes the flushers.
    pub wakes_flushers: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules in force, in the order in which they came.
    fn in_force(version: (u32, u32)) -> [bool; 25] {
        let rules = Rules::of(version);
        [
            rules.chunk_follows_bandwidth,
            !rules.writes_in_foreground,
            rules.devices_have_background,
            rules.two_lists.remembers_evicted,
            rules.rounding == Rounding::FourThousandNinetySixths,
            rules.two_lists.ratio_grows,
            !rules.writes_are_accesses,
            rules.has_timer_wheel,
            rules.dirty_tail_wakes_flushers,
            rules.two_lists.refaults_deactivate,
            rules.nfs_commits_passes,
            rules.nfs_slots_alternate,
            !rules.nfs_reads_far_ahead,
            !rules.unstable_is_reclaimable,
            rules.measures_after_writeback,
            rules.wbt_sees_cgroups,
            rules.memcg_stats_are_late,
            rules.requeue_has_cutoff,
            rules.nfs_largest_folio > 1,
            rules.lru_gen.wakes_flushers,
            rules.windows_keep_size,
            rules.share_has_floor,
            rules.lru_gen.reworked,
            rules.largest_folio > 1,
            rules.maps_folios,
        ]
    }

    /// Each rule begins with its version, and none of them ends.
    #[test]
    fn each_version_has_the_rules_of_those_before_and_its_own() {
        let first = [
            (3, 1),
            (3, 2),
            (3, 2),
            (3, 15),
            (4, 7),
            (4, 7),
            (4, 7),
            (4, 8),
            (4, 11),
            (4, 12),
            (4, 13),
            (4, 20),
            (5, 4),
            (5, 8),
            (5, 16),
            (6, 6),
            (6, 9),
            (6, 10),
            (6, 11),
            (6, 12),
            (6, 12),
            (6, 14),
            (6, 14),
            (6, 16),
            (6, 18),
        ];
        for version in
            [(2, 27), (3, 0), (3, 14), (4, 6), (4, 10), (4, 18), (5, 15), (6, 9), (6, 11), (6, 13), (6, 18)]
        {
            assert_eq!(in_force(version), first.map(|first| first <= version), "{version:?}");
        }
        for version in first {
            assert_eq!(in_force(version), first.map(|first| first <= version), "{version:?}");
        }
    }

    #[test]
    fn work_for_all_flushers_waits_since_4_15() {
        assert_eq!([(4, 14), (4, 15)].map(|version| Rules::of(version).start_all_waits), [false, true]);
    }
}
