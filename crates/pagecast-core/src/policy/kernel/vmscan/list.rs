//! Keeps one list: extents in the order in which they will be reclaimed, the oldest first.
//!
//! Source: `include/linux/list.h`, for extents instead of folios.

use crate::policy::kernel::vmscan::slab::{NONE, Slab, Slot};

/// The two ends of a list and the bytes between them. The kernel's head is the newest, its tail the oldest.
#[derive(Clone, Debug)]
pub struct List {
    pub oldest: Slot,
    pub newest: Slot,
    pub bytes: u64,
    /// All bytes that have ever come to the head: the time by which extents of this list are dated.
    pub inserted: u64,
    /// True if its bytes count as active.
    pub is_active: bool,
}

impl List {
    /// An empty list whose time starts at `inserted`.
    pub fn new(inserted: u64, is_active: bool) -> Self {
        List { oldest: NONE, newest: NONE, bytes: 0, inserted, is_active }
    }

    /// Forgets its extents, but not their bytes.
    pub fn forget(&mut self) {
        (self.oldest, self.newest) = (NONE, NONE);
    }

    /// Puts an extent between two neighbours, or an end and a neighbour. Bytes are counted by the caller.
    pub fn link(&mut self, slab: &mut Slab, older: Slot, slot: Slot, newer: Slot) {
        (slab[slot].older, slab[slot].newer) = (older, newer);
        self.connect(slab, older, slot);
        self.connect(slab, slot, newer);
    }

    /// Takes an extent out of the order.
    pub fn unlink(&mut self, slab: &mut Slab, slot: Slot) {
        let (older, newer) = (slab[slot].older, slab[slot].newer);
        self.connect(slab, older, newer);
    }

    fn connect(&mut self, slab: &mut Slab, older: Slot, newer: Slot) {
        match older {
            NONE => self.oldest = newer,
            _ => slab[older].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => slab[newer].older = older,
        }
    }

    /// Its slots, the oldest first.
    pub fn slots<'a>(&self, slab: &'a Slab) -> impl Iterator<Item = Slot> + use<'a> {
        let following = |slot: Slot| (slot != NONE).then_some(slot);
        std::iter::successors(following(self.oldest), move |&slot| following(slab[slot].newer))
    }
}
