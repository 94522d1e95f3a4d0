//! Finds folios whose dirty bytes a write would not join.
//!
//! Source: `fs/nfs/write.c: nfs_try_to_update_request, nfs_can_extend_write`, Linux 6.16. A folio has one request, a single range. A write that
//! neither overlaps nor touches it first has the folio written and committed. Writes are lengthened to whole pages.
//!
//! Left out: that a write to bytes which are written and not committed has them written again.

use crate::policy::kernel::address_space::dirty::DirtyPages;
use crate::policy::kernel::address_space::folios::Folios;
use crate::policy::kernel::page::{PAGE, whole_pages};
use crate::policy::kernel::tasks::task::Task;

/// A folio that is to be written before a write goes on at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incompatible {
    pub at: u64,
    pub folio: (u64, u64),
}

/// Returns the first folio that a write, from its position on, finds with dirty bytes that it does not join. What is not cached gets a new
/// folio; `cached` says whether a byte is, and up to where that holds.
pub fn incompatible(
    dirty: &DirtyPages,
    folios: &Folios,
    task: &Task,
    cached: impl Fn(u64, u64) -> (bool, u64),
) -> Option<Incompatible> {
    let file = task.file().id;
    let last = folio_at(folios, task, task.end.saturating_sub(1)).1;
    let mut at = task.position;
    while at < task.end {
        let (pages, end_of_run) = folios.run(file, at, task.end);
        if pages == 1 {
            at = end_of_run;
            continue;
        }
        if let (false, next) = cached(at, task.end) {
            at = next;
            continue;
        }
        let folio = folio_at(folios, task, at);
        let (start, end) = whole_pages((at, task.end_of_call(at).min(folio.1).min(task.end)));
        let has_dirty = |start, end| dirty.reclaimable_within(file, start, end).is_some();
        if has_dirty(folio.0, folio.1) && !has_dirty(start.saturating_sub(1), end + 1) {
            return Some(Incompatible { at, folio });
        }
        at = match dirty.reclaimable_within(file, folio.1, last) {
            Some((next, _)) => folio_at(folios, task, next).0.max(folio.1),
            None => task.end,
        };
    }
    None
}

/// The folio that has a byte of a task's file.
fn folio_at(folios: &Folios, task: &Task, at: u64) -> (u64, u64) {
    let (pages, _) = folios.run(task.file().id, at, at + 1);
    let length = pages * PAGE;
    let start = at / length * length;
    (start, start + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::tasks::ids::WbId;
    use crate::policy::kernel::tasks::kind::Kind;
    use crate::policy::{FileId, FileView};
    use crate::units::{Bytes, Nanos};

    const FILE: FileId = FileId(0);

    /// The place where a write of pages, in calls of some pages, meets dirty pages of another part of a folio of 16 pages.
    fn meets(dirty: &[(u64, u64)], (from, to): (u64, u64), call: u64) -> Option<u64> {
        let (mut pages, mut folios) = (DirtyPages::default(), Folios::default());
        folios.set(FILE, (0, 64 * PAGE), 16);
        for &(start, end) in dirty {
            pages.make_dirty(FILE, WbId::default(), start * PAGE, end * PAGE, Nanos(0));
        }
        let at = (from * PAGE, Bytes((to - from) * PAGE), Bytes(call * PAGE));
        let view = FileView { id: FILE, ..FileView::default() };
        let task = Task::new(Kind::Write, Some(view), at, Nanos(0));
        incompatible(&pages, &folios, &task, |_, end| (true, end)).map(|found| found.at / PAGE)
    }

    #[test]
    fn a_write_joins_what_it_touches() {
        assert_eq!(meets(&[], (0, 64), 1), None);
        assert_eq!(meets(&[(0, 4)], (4, 8), 1), None, "it goes on");
        assert_eq!(meets(&[(4, 8)], (0, 6), 6), None, "it overlaps");
        assert_eq!(meets(&[(4, 8)], (20, 24), 4), None, "another folio");
        assert_eq!(meets(&[(4, 8)], (0, 64), 64), None, "it fills the folio");
    }

    #[test]
    fn a_write_beside_dirty_pages_of_its_folio_meets_them() {
        assert_eq!(meets(&[(0, 4)], (5, 8), 3), Some(5));
        assert_eq!(meets(&[(8, 9)], (0, 4), 4), Some(0));
        assert_eq!(meets(&[(24, 25)], (0, 64), 1), Some(16), "call by call");
        assert_eq!(meets(&[(60, 61)], (0, 50), 50), Some(48), "in its last folio");
    }
}
