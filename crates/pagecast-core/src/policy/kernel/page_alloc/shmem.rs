//! Keeps which bytes of files of tmpfs are in memory, and takes pages for them.
//!
//! Source: `mm/shmem.c: shmem_get_folio_gfp, shmem_add_to_page_cache, shmem_undo_range`, Linux 6.12. The pages are in the page cache, and
//! counted as `Cached` and `Shmem`; but they are on the lists of anonymous memory, not dirtyable, and without swap they stay. Left out:
//! huge pages, charging memory cgroups.

use rustc_hash::FxHashMap;

use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::ids::{MemcgId, Taker};
use crate::policy::ranges::Ranges;
use crate::policy::{FileId, OperationId};
use crate::units::Bytes;

/// The owner of the pages of all tmpfs, among the owners of anonymous memory.
pub const SHMEM: OperationId = OperationId(u32::MAX - 1);

/// The bytes of tmpfs.
#[derive(Debug, Default)]
pub struct Shmem {
    files: FxHashMap<FileId, Ranges>,
    total: u64,
    /// Bytes that have moved and have no page yet.
    pub(super) ahead: u64,
}

impl Shmem {
    /// Returns whether a byte of a file is there, and the end of the run of bytes like it.
    pub fn run(&self, file: FileId, at: u64, end: u64) -> (bool, u64) {
        match self.files.get(&file).and_then(|there| there.first(at, end)) {
            Some((start, to)) if start <= at => (true, to.min(end)),
            Some((start, _)) => (false, start),
            None => (false, end),
        }
    }

    /// The bytes of a file.
    pub fn of_file(&self, file: FileId) -> u64 {
        self.files.get(&file).map_or(0, Ranges::total)
    }

    /// The bytes of all files.
    pub fn total(&self) -> u64 {
        self.total + self.ahead
    }
}

impl Pages {
    pub fn shmem(&self) -> &Shmem {
        &self.shmem
    }

    /// Takes pages for bytes of a file, where it has none.
    pub fn fill_shmem(&mut self, file: FileId, (start, end): (u64, u64), home: usize) {
        let new = self.shmem.files.entry(file).or_default().insert(start, end);
        self.shmem.total += new;
        self.placement.home(SHMEM);
        self.take_anonymous(Taker { home, memcg: MemcgId::ROOT }, new, SHMEM);
    }

    /// Frees the pages of a file from a byte on; returns how many bytes that are.
    pub fn cut_shmem(&mut self, file: FileId, size: u64) -> u64 {
        let Some(there) = self.shmem.files.get_mut(&file) else { return 0 };
        let gone = there.remove(size, u64::MAX);
        if there.total() == 0 {
            self.shmem.files.remove(&file);
        }
        self.shmem.total -= gone;
        self.free_anonymous(SHMEM, Bytes(gone));
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::tests::{MIB, nodes_of_8_gib, on};

    /// Bytes are taken once, whoever writes them, and all are given back.
    #[test]
    fn memory_is_taken_for_each_byte_once() {
        let (file, mut pages) = (FileId(3), nodes_of_8_gib(1, ""));
        let before = pages.anonymous();
        pages.fill_shmem(file, (0, 2 * MIB), 0);
        pages.fill_shmem(file, (MIB, 4 * MIB), 0);
        assert_eq!((pages.shmem.total(), pages.anonymous() - before), (4 * MIB, 4 * MIB));
        assert_eq!(pages.shmem.run(file, MIB, 9 * MIB), (true, 4 * MIB));
        assert_eq!(pages.shmem.run(file, 5 * MIB, 9 * MIB), (false, 9 * MIB));
        assert_eq!((pages.cut_shmem(file, MIB), pages.cut_shmem(file, 0)), (3 * MIB, MIB));
        assert_eq!((pages.shmem.total(), pages.anonymous()), (0, before));
    }

    /// Pages of tmpfs push out those of disks, and are not pushed out.
    #[test]
    fn pages_of_disks_make_room_and_those_of_tmpfs_stay() {
        let (cached, file, mut pages) = (FileId(0), FileId(3), nodes_of_8_gib(1, ""));
        pages.fill_shmem(file, (0, 4 << 30), 0);
        pages.read_in(cached, 0, 9 << 30, on(0));
        assert_eq!(pages.shmem.of_file(file), 4 << 30);
        let there = pages.cached();
        assert!(there + (4 << 30) <= pages.memory.total && there > 3 << 30, "{there}");
        pages.fill_shmem(file, (4 << 30, 6 << 30), 0);
        assert!(pages.cached() <= there - (1 << 30), "the reader's pages have left");
        assert_eq!(pages.dirty().total(), 0);
    }
}
