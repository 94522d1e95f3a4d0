//! Remembers which blocks of a file have had their turn: fio's random map.

/// One bit for each block; above, one bit for each word of bits that are all set.
#[derive(Clone, Debug)]
pub struct BlockMap {
    levels: Vec<Vec<u64>>,
    blocks: u64,
}

impl BlockMap {
    /// None has had its turn.
    pub fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks;
        loop {
            let words = bits.div_ceil(64).max(1);
            let mut level = vec![0; words as usize];
            // Bits beyond the last one are never free.
            if !bits.is_multiple_of(64) || bits == 0 {
                *level.last_mut().expect("there is a word") = !0 << (bits % 64);
            }
            levels.push(level);
            if words == 1 {
                return Self { levels, blocks };
            }
            bits = words;
        }
    }

    /// Forgets all turns.
    pub fn reset(&mut self) {
        *self = Self::new(self.blocks);
    }

    /// True if the block has had its turn. Blocks beyond the end have not, as in fio.
    pub fn is_set(&self, block: u64) -> bool {
        block < self.blocks && self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// The next free block behind this one, or from the start again.
    pub fn next_free(&self, block: u64) -> Option<u64> {
        if block >= self.blocks {
            return None;
        }
        self.free_from(block + 1).or_else(|| self.free_from(0))
    }

    fn free_from(&self, block: u64) -> Option<u64> {
        let (mut at, mut level) = (block, 0);
        // Up, until a word has a free bit at or behind the place; then down to the block.
        loop {
            let words = self.levels.get(level)?;
            let free = words.get((at / 64) as usize).map_or(0, |word| !word & (!0 << (at % 64)));
            if free != 0 {
                at = at / 64 * 64 + u64::from(free.trailing_zeros());
                break;
            }
            at = at / 64 + 1;
            level += 1;
        }
        for level in self.levels[..level].iter().rev() {
            at = at * 64 + u64::from((!level[at as usize]).trailing_zeros());
        }
        Some(at)
    }

    /// Gives blocks from this one their turn, up to one that has had it; returns how many.
    pub fn set(&mut self, block: u64, count: u64) -> u64 {
        let free = (block..block.saturating_add(count).min(self.blocks))
            .take_while(|&block| !self.is_set(block))
            .count() as u64;
        (block..block + free).for_each(|block| self.set_one(block));
        free
    }

    fn set_one(&mut self, mut bit: u64) {
        for level in &mut self.levels {
            let word = &mut level[(bit / 64) as usize];
            *word |= 1 << (bit % 64);
            if *word != !0 {
                return;
            }
            bit /= 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_has_one_turn() {
        for blocks in [1, 63, 64, 65, 4096, 5000, 300_000] {
            let mut map = BlockMap::new(blocks);
            let mut block = blocks / 2;
            let mut turns = 0;
            while let Some(free) = if map.is_set(block) { map.next_free(block) } else { Some(block) } {
                assert!(free < blocks && !map.is_set(free));
                assert_eq!(map.set(free, 1), 1);
                turns += 1;
                block = free.wrapping_mul(0x9e37_79b9_7f4a_7c15) % blocks;
            }
            assert_eq!(turns, blocks);
            map.reset();
            assert_eq!(map.next_free(blocks - 1), Some(0));
        }
    }

    #[test]
    fn several_blocks_end_at_one_that_had_its_turn() {
        let mut map = BlockMap::new(200);
        assert_eq!(map.set(70, 1), 1);
        assert_eq!(map.set(60, 100), 10);
        assert_eq!(map.set(198, 5), 2);
        assert_eq!(map.next_free(60), Some(71));
    }
}
