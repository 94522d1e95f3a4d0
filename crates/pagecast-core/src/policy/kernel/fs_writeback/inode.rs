//! Makes inodes dirty: the first dirty page puts an inode on the list of its flusher.
//!
//! Source: `fs/fs-writeback.c: __mark_inode_dirty, __inode_attach_wb`, Linux 6.16. The pages themselves are in `page_alloc::pages`.

use crate::policy::FileView;
use crate::policy::kernel::fs_writeback::Flushers;
use crate::policy::kernel::fs_writeback::flusher::Flusher;
use crate::policy::kernel::page_alloc::pages::{Pages, Written};
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::ids::{MemcgId, Taker};
use crate::units::{Bytes, Nanos};

impl Flushers {
    /// Puts the first bytes of a file into the cache before time 0, the first of them dirty.
    pub fn preload(
        &mut self,
        pages: &mut Pages,
        write_back: &mut WriteBack,
        now: Nanos,
        file: &FileView,
        bytes: Bytes,
        dirty: Bytes,
    ) {
        let nobody = Taker { home: 0, memcg: MemcgId::ROOT };
        let refaults = pages.refaults();
        pages.read_in(file.id, 0, bytes.0, nobody);
        pages.forget_reads(refaults);
        if dirty > Bytes::ZERO {
            write_back.inode_attach_wb(pages, file, MemcgId::ROOT);
            self.make_dirty(pages, write_back, now, file, (0, dirty.0), nobody);
        }
    }

    /// Returns the flusher of a file's wb; both are made at first use.
    pub fn flusher_of(&mut self, write_back: &mut WriteBack, file: &FileView) -> &mut Flusher {
        write_back.wb(file);
        let wb = write_back.wb_of(file);
        self.of(wb)
    }

    /// Makes pages dirty, and their inode with the first.
    pub fn make_dirty(
        &mut self,
        pages: &mut Pages,
        write_back: &mut WriteBack,
        now: Nanos,
        file: &FileView,
        range: (u64, u64),
        by: Taker,
    ) -> Written {
        let written = pages.write(file.id, write_back.wb_of(file), range, by, now);
        if written.dirtied_inode {
            let (interval, timers) = (self.config.host.vm.dirty_writeback, self.config.timers());
            self.flusher_of(write_back, file).inode_dirtied(file.id, now, interval, timers);
        }
        written
    }
}
