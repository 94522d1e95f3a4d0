//! Finds the blocks outside of the inode that map the blocks of a file, and change as it gets more.
//!
//! Source: `fs/ext4/extents.c: ext4_ext_create_new_leaf`, `fs/ext4/mballoc.c: ext4_mb_group_or_file`, `fs/ext4/indirect.c`, Linux 6.12.
//!
//! - ext4: an inode holds four extents, and a leaf block all beyond. Files of up to 64 KiB take their blocks from one group of blocks, in the order
//!   of their allocations: a file that grows while others do gets an extent each time.
//! - ext3: an inode holds the numbers of 12 blocks; each indirect block those of 1024 more.
//!
//! Left out: a second leaf, double indirect blocks, and that each processor has a group of blocks of its own.

use crate::policy::FileId;
use crate::policy::kernel::page::PAGE;

/// Extents of an inode (`ext4_ext_space_root`: 60 bytes, less the header).
const EXTENTS_OF_INODE: u32 = 4;

/// The size up to which a file takes its blocks from the group (`MB_DEFAULT_STREAM_THRESHOLD`, 16 blocks).
const SMALL: u64 = 16 * PAGE;

/// `EXT4_NDIR_BLOCKS`, and the numbers in an indirect block.
const DIRECT: u64 = 12 * PAGE;
const PER_INDIRECT: u64 = 1024 * PAGE;

/// A block that maps blocks of a file, and its number among them.
pub type MapBlock = (FileId, u64);

/// How the blocks of a file are mapped.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockMap {
    extents: u32,
}

impl BlockMap {
    /// Adds blocks of a file of ext4, from one byte to another, which are not behind its last ones if others have got blocks since.
    pub fn extend(&mut self, (from, end): (u64, u64), others_since: bool) {
        let leaves_group = from <= SMALL && end > SMALL;
        if self.extents == 0 || leaves_group || (others_since && end <= SMALL) {
            self.extents = self.extents.saturating_add(1);
        }
    }

    /// The blocks that change as a file of ext4 gets blocks.
    pub fn leaf(&self, file: FileId) -> impl Iterator<Item = MapBlock> + use<> {
        (self.extents > EXTENTS_OF_INODE).then_some((file, 0)).into_iter()
    }
}

/// The blocks that change as a file of ext3 gets blocks from one byte to another.
pub fn indirect(file: FileId, from: u64, end: u64) -> impl Iterator<Item = MapBlock> {
    let number = |at: u64| at.saturating_sub(DIRECT) / PER_INDIRECT;
    let numbers = if end > DIRECT { number(from)..number(end - 1) + 1 } else { 0..0 };
    numbers.map(move |number| (file, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileId = FileId(7);

    #[test]
    fn a_small_file_that_grows_while_others_do_gets_a_leaf_with_its_fifth_extent() {
        let leaves = |others_since: bool| -> Vec<usize> {
            let mut map = BlockMap::default();
            let grow = |at: u64| {
                map.extend((at * PAGE, (at + 1) * PAGE), others_since);
                map.leaf(FILE).count()
            };
            (0..6).map(grow).collect()
        };
        assert_eq!(leaves(true), [0, 0, 0, 0, 1, 1]);
        assert_eq!(leaves(false), [0; 6]);
    }

    #[test]
    fn a_large_file_has_blocks_of_its_own() {
        let mut map = BlockMap::default();
        for at in 16..100 {
            map.extend((at * PAGE, (at + 1) * PAGE), true);
        }
        assert_eq!((map.extents, map.leaf(FILE).count()), (1, 0));
    }

    #[test]
    fn indirect_blocks_begin_behind_the_twelfth_block() {
        let numbers = |from: u64, end: u64| {
            indirect(FILE, from * PAGE, end * PAGE).map(|(_, number)| number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(0, 12), [0; 0]);
        assert_eq!((numbers(11, 13), numbers(12, 13)), (vec![0], vec![0]));
        assert_eq!(
            (numbers(1035, 1036), numbers(1035, 1037), numbers(1036, 1037)),
            (vec![0], vec![0, 1], vec![1])
        );
    }
}
