//! Activates pages that are read a second time, and evicted pages that are read again soon: the two lists.
//!
//! Source: `mm/swap.c: folio_mark_accessed`, `mm/workingset.c: workingset_refault`, Linux 6.16. A page is activated by the second read
//! since it came into the inactive list. Writes are no accesses since 4.7; the caller decides. Left out: accesses by mapped memory, and the
//! batches of each processor by which the kernel delays moves between lists.

use crate::policy::FileId;
use crate::policy::kernel::vmscan::lists::Lists;
use crate::policy::kernel::vmscan::lruvec::{ACTIVE, INACTIVE, Inserted, LruvecId};
use crate::policy::kernel::vmscan::shadows::Shadow;
use crate::policy::kernel::vmscan::slab::State;

impl State {
    /// Returns the state of a page after a read.
    fn accessed(self) -> Self {
        match (self.list, self.referenced) {
            (INACTIVE, true) => State { list: ACTIVE, referenced: false, ..self },
            _ => State { referenced: true, ..self },
        }
    }
}

impl Lists {
    /// Marks the bytes that a read has copied, as far as they are in memory.
    pub fn folio_mark_accessed(&mut self, file: FileId, start: u64, end: u64) {
        let mut at = start;
        while let Some((slot, extent)) = self.extents.first_in(file, at, end) {
            let (from, state) = (extent.start.max(at), extent.state.accessed());
            at = extent.end.min(end);
            if state == extent.state {
                continue;
            }
            if state.list == extent.state.list {
                let slot = self.extents.cut(slot, from, at);
                self.extents.set_state(slot, state);
            } else {
                self.extents.take_part(slot, from, at);
                self.activate(file, from, at, state);
            }
        }
    }

    /// Moves bytes to the head of the active list: one more reason to evict others.
    pub fn activate(&mut self, file: FileId, start: u64, end: u64, state: State) {
        self.extents.insert_newest(file, start, end, State { list: ACTIVE, ..state });
        self.lruvecs[usize::from(state.lruvec.0)].age += end - start;
    }

    /// Inserts evicted bytes that are read again. They become active if an empty active list would have kept them in memory.
    ///
    /// The distance is the same for each next byte once one is activated, and shorter by one after one that is not: so the run has one
    /// border.
    pub fn workingset_refault(&mut self, lruvec: LruvecId, file: FileId, gone: Shadow) -> Inserted {
        let distance = self.lruvecs[usize::from(gone.lruvec.0)].age - gone.age;
        let far = distance.saturating_sub(self.active(gone.lruvec));
        let near = gone.start + far.min(gone.end - gone.start);
        self.extents.insert_newest(file, gone.start, near, State::fresh(lruvec, INACTIVE));
        let (refaulted, activated) = (gone.end - gone.start, gone.end - near);
        if activated > 0 {
            let state = State { workingset: gone.token.workingset, ..State::fresh(lruvec, ACTIVE) };
            self.activate(file, near, gone.end, state);
            self.lruvecs[usize::from(lruvec.0)].refaulted = true;
        }
        Inserted { refaulted, activated, restored: if gone.token.workingset { activated } else { 0 } }
    }
}
