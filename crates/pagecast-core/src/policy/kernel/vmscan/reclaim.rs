//! Evicts pages from the two lists.
//!
//! Source: `mm/vmscan.c: shrink_lruvec, shrink_inactive_list, shrink_active_list, inactive_is_low, prepare_scan_control`, Linux 6.16.
//!
//! - The inactive list is scanned from its tail. Clean pages are freed, others set aside at the head of the active list until they are
//!   written.
//! - Each pass scans a share of both lists; of the active one only if the inactive is low or refaults were activated.
//! - Pages scanned in the active list go to the head of the inactive list.
//!
//! An extent is freed from its low end, where its oldest bytes are. A pass that frees all that it may has scanned the same part of its
//! share of both lists; the kernel alternates between them in batches. Left out: mapped pages, anonymous pages, protection of memory
//! cgroups, sleeping until pages are written.

use crate::policy::kernel::address_space::page_state::{Busy, PageState};
use crate::policy::kernel::version::TwoLists;
use crate::policy::kernel::vmscan::lists::Lists;
use crate::policy::kernel::vmscan::lruvec::{ACTIVE, INACTIVE, LruvecId};
use crate::policy::kernel::vmscan::scan_control::{
    Batches, Demand, FIRST_PRIORITY, Reclaimed, share, whole_pages_of,
};
use crate::policy::kernel::vmscan::shadows::Token;
use crate::policy::kernel::vmscan::slab::{Slot, State};
use crate::stop;

impl TwoLists {
    /// True if the active list is too long: longer than the inactive by the root of ten times the GiB in both.
    ///
    /// Before 4.7 it should not be longer at all (`inactive_file_is_low_global`).
    pub fn inactive_is_low(self, inactive: u64, active: u64) -> bool {
        let gib = if self.ratio_grows { (inactive + active) >> 30 } else { 0 };
        let ratio = if gib > 0 { (10 * gib).isqrt() } else { 1 };
        inactive * ratio < active
    }
}

impl Lists {
    /// Frees as much as is demanded, or all clean pages if those are fewer.
    ///
    /// Pages go round, from the tail of the active list to the head of the inactive one and, if they cannot be freed, from its tail to
    /// the active head. So no clean page is left when as many as there are were found unclean in turn.
    pub fn shrink_lruvec(
        &mut self,
        version: TwoLists,
        lruvec: LruvecId,
        demand: Demand,
        busy: &impl Busy,
    ) -> Reclaimed {
        let want = demand.want();
        let mut total = Reclaimed::default();
        let mut unclean = 0;
        while total.freed < want && unclean < self.of_lruvec(lruvec) {
            let before = total;
            let mut priority = Some(FIRST_PRIORITY);
            while let Some(share) = priority.filter(|_| total.freed < want) {
                let begun = total;
                self.pass(version, lruvec, share, demand.until(begun.freed), busy, &mut total);
                let (scanned, freed) = (total.scanned - begun.scanned, total.freed - begun.freed);
                if demand.raises_priority(scanned, freed) {
                    priority = share.checked_sub(1);
                }
            }
            unclean = if total.freed > before.freed { 0 } else { unclean + total.scanned - before.scanned };
        }
        self.lruvecs[usize::from(lruvec.0)].refaulted &= want == 0;
        total
    }

    fn pass(
        &mut self,
        version: TwoLists,
        lruvec: LruvecId,
        priority: u32,
        want: u64,
        busy: &impl Busy,
        total: &mut Reclaimed,
    ) {
        let inactive = share(self.inactive(lruvec), priority);
        let active =
            if self.may_deactivate(version, lruvec) { share(self.active(lruvec), priority) } else { 0 };
        let scanned = self.shrink_inactive_list(lruvec, inactive, want, busy, total);
        let demoted = match scanned < inactive {
            true => whole_pages_of((u128::from(active) * u128::from(scanned) / u128::from(inactive)) as u64),
            false => active,
        };
        self.shrink_active_list(lruvec, demoted);
        total.demoted += demoted;
    }

    /// True if refaults were activated since the last reclaim: the active list may hold pages that are used no more.
    fn may_deactivate(&self, version: TwoLists, lruvec: LruvecId) -> bool {
        let refaulted = version.refaults_deactivate && self.lruvecs[usize::from(lruvec.0)].refaulted;
        refaulted || version.inactive_is_low(self.inactive(lruvec), self.active(lruvec))
    }

    /// Scans `share` bytes, or fewer when `want` are free. Returns how many.
    fn shrink_inactive_list(
        &mut self,
        lruvec: LruvecId,
        share: u64,
        want: u64,
        busy: &impl Busy,
        total: &mut Reclaimed,
    ) -> u64 {
        let mut batches = Batches::default();
        while batches.scanned < share && total.freed < want {
            stop::spend(1);
            let Some((slot, extent)) = self.extents.oldest(lruvec, INACTIVE) else { break };
            let (file, start) = (extent.file, extent.start);
            let (state, end) = busy.run(file, start, extent.end.min(start + share - batches.scanned));
            let bytes = match state {
                PageState::Clean => (end - start).min(want - total.freed),
                PageState::Dirty | PageState::Writeback => end - start,
            };
            let slot = self.extents.cut(slot, start, start + bytes);
            match state {
                PageState::Clean => {
                    self.evict(slot, Token { workingset: extent.state.workingset, ..Token::default() })
                }
                // Unlike a page under write-back, one that is dirty is asked for references before.
                PageState::Dirty => self.set_aside(slot, false),
                PageState::Writeback => self.set_aside(slot, extent.state.referenced),
            }
            batches.scan(state, bytes);
            total.add(state, bytes);
        }
        let scanned = batches.scanned;
        total.all_dirty |= batches.finish();
        scanned
    }

    fn set_aside(&mut self, slot: Slot, referenced: bool) {
        let extent = self.extents.take(slot);
        let state = State { referenced, reclaim: true, ..extent.state };
        self.activate(extent.file, extent.start, extent.end, state);
    }

    /// Moves the oldest active bytes to the head of the inactive list; they stay referenced if they were.
    fn shrink_active_list(&mut self, lruvec: LruvecId, bytes: u64) {
        let mut left = bytes;
        while let Some((slot, extent)) = self.extents.oldest(lruvec, ACTIVE).filter(|_| left > 0) {
            stop::spend(1);
            let end = extent.end.min(extent.start + left);
            let slot = self.extents.cut(slot, extent.start, end);
            self.extents.take(slot);
            let state = State { list: INACTIVE, workingset: true, ..extent.state };
            self.extents.insert_newest(extent.file, extent.start, end, state);
            left -= end - extent.start;
        }
    }

    /// Returns the state of pages that could not be dropped.
    pub fn deactivated(state: State) -> State {
        State { list: INACTIVE, referenced: false, reclaim: true, ..state }
    }
}
