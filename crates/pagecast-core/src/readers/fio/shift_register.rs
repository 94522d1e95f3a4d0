//! `random_generator=lfsr`: a linear feedback shift register that gives each block once.
//!
//! Source of the taps: P. Alfke, "Efficient Shift Registers, LFSR Counters, and Long Pseudo-Random Sequence Generators" (Xilinx XAPP 052).

/// The taps of registers of 3 to 40 bits.
const TAPS: [&[u32]; 38] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 31, 29, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
];

/// A register and how far it has come.
#[derive(Clone, Debug)]
pub struct ShiftRegister {
    value: u64,
    taps: u64,
    highest: u64,
    blocks: u64,
    given: u64,
    /// fio steps twice before the first block that a register gives.
    is_fresh: bool,
}

impl ShiftRegister {
    /// One of enough bits for the blocks; `None` if there are more than 2^40.
    pub fn new(blocks: u64, seed: u64) -> Option<Self> {
        let taps = TAPS.iter().find(|taps| 1_u64 << taps[0] > blocks)?;
        let mask = taps.iter().fold(0, |mask, tap| mask | 1_u64 << (tap - 1));
        let mut register = Self {
            value: 0,
            taps: mask,
            highest: 1 << (taps[0] - 1),
            blocks: blocks.max(1),
            given: 0,
            is_fresh: true,
        };
        register.reset(seed);
        Some(register)
    }

    /// From the start again.
    pub fn reset(&mut self, seed: u64) {
        let all = (self.highest << 1) - 1;
        // All ones is the one state that a register of XNOR gates never leaves.
        self.value = if seed & all == all { 0 } else { seed & all };
        self.given = 0;
    }

    /// The next block, or `None` when each has been given.
    pub fn next(&mut self) -> Option<u64> {
        if self.given >= self.blocks {
            return None;
        }
        self.given += 1;
        if std::mem::take(&mut self.is_fresh) {
            self.step();
        }
        loop {
            self.step();
            if self.value < self.blocks {
                return Some(self.value);
            }
        }
    }

    fn step(&mut self) {
        let is_odd = self.value & 1 == 1;
        self.value = (self.value >> 1 | self.highest) ^ if is_odd { 0 } else { self.taps };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_block_comes_once() {
        for blocks in [1, 5, 7, 8, 1000, 4096, 70_000] {
            let mut register = ShiftRegister::new(blocks, 0xb189_9bed).unwrap();
            let seen: HashSet<u64> = std::iter::from_fn(|| register.next()).collect();
            assert_eq!(seen.len() as u64, blocks, "{blocks}");
            assert!(seen.iter().all(|&block| block < blocks));
        }
    }
}
