//! Looks up the inode of a file that is opened: the blocks that are read, and the time of the processor.
//!
//! Source: `fs/ext4/inode.c: ext4_iget`, `fs/drop_caches.c`, `fs/jbd2/journal.c: jbd2_journal_shrink_scan`, Linux 6.12.

use crate::policy::FileView;
use crate::policy::kernel::ext4::Ext4;
use crate::policy::kernel::ext4::journal::{Journal, Tid};
use crate::policy::kernel::tasks::kind::MetadataReads;
use crate::units::Nanos;

impl Ext4 {
    /// Notes that a name of a file is changed: its blocks are in memory, and the running transaction has them.
    pub fn note_inode(&mut self, file: &FileView, blocks: u64) {
        if !self.inodes.is_kept || !self.config.is_local(file.device) {
            return;
        }
        let tid = self.journal(file.device).map_or(0, |journal| journal.running_tid());
        self.inodes.cached.insert(file.id);
        for (block, _) in self.inodes.blocks_of(file, blocks) {
            self.inodes.blocks.insert((file.device, block), tid);
        }
    }

    /// Looks up the inode of a file, in a directory of so many blocks. Returns the processor's time beside that for a cached one, and what is
    /// read from the disk.
    pub fn iget(&mut self, file: &FileView, blocks: u64) -> (Nanos, MetadataReads) {
        let none = (Nanos::ZERO, MetadataReads::default());
        let time = self.config.cost_of(file).iget;
        let is_cached = time == Nanos::ZERO || !self.config.is_local(file.device);
        if is_cached || !self.inodes.cached.insert(file.id) {
            return none;
        }
        let mut reads = MetadataReads::default();
        for (block, bytes) in self.inodes.blocks_of(file, blocks) {
            if self.inodes.blocks.contains_key(&(file.device, block)) {
                continue;
            }
            self.inodes.blocks.insert((file.device, block), 0);
            reads.bytes += bytes;
            reads.request = reads.request.max(bytes);
        }
        (time, reads)
    }

    /// Drops all inodes, and all blocks but those that the log still holds: the running transaction or the one before it has changed them. The
    /// log lets go of those that are committed, but only after the pages were looked at (`fs/drop_caches.c: drop_caches_sysctl_handler`, `fs/jbd2/journal.c:
    /// jbd2_journal_shrink_scan`): the next drop takes them.
    pub fn drop_inodes(&mut self) {
        self.inodes.cached.clear();
        let running: Vec<Tid> =
            self.journals.iter().map(|journal| journal.as_ref().map_or(0, Journal::running_tid)).collect();
        self.inodes.blocks.retain(|(device, _), tid| {
            let (changed, running) = (*tid, running[device.0 as usize]);
            if changed < running {
                *tid = 0;
            }
            changed > 0 && changed + 1 >= running
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FileId;
    use crate::policy::kernel::page::PAGE;
    use crate::policy::kernel::tests::{kernel, reconfigure};
    use crate::units::Bytes;

    const IGET: Nanos = Nanos(13_000);

    fn file(id: u32) -> FileView {
        FileView { id: FileId(id), inode: id, ..FileView::default() }
    }

    fn ext4() -> Ext4 {
        let mut kernel = kernel("");
        reconfigure(&mut kernel, |config| config.host.mounts[0].cost.iget = IGET);
        kernel.ext4.inodes.is_kept = true;
        kernel.ext4
    }

    fn reads(bytes: u64, request: u64) -> (Nanos, MetadataReads) {
        (IGET, MetadataReads { bytes: Bytes(bytes), request: Bytes(request) })
    }

    /// The first inode brings its block of names, and 512 inodes; one that is cached brings nothing.
    #[test]
    fn inodes_come_together_and_stay_until_they_are_dropped() {
        let mut ext4 = ext4();
        let table = 128 << 10;
        assert_eq!(ext4.iget(&file(0), 1), reads(PAGE + table, table));
        assert_eq!(ext4.iget(&file(0), 1), (Nanos::ZERO, MetadataReads::default()));
        for id in 1..512 {
            assert_eq!(ext4.iget(&file(id), 1), reads(0, 0), "{id}");
        }
        assert_eq!(ext4.iget(&file(512), 1), reads(table, table));
        ext4.drop_inodes();
        assert_eq!(ext4.iget(&file(3), 1), reads(PAGE + table, table));
    }

    #[test]
    fn an_inode_of_a_file_that_was_made_is_cached() {
        let mut ext4 = ext4();
        ext4.note_inode(&file(7), 1);
        assert_eq!(ext4.iget(&file(7), 1), (Nanos::ZERO, MetadataReads::default()));
        assert_eq!(ext4.iget(&file(8), 1), reads(0, 0), "its neighbour's block is there");
    }
}
