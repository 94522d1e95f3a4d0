//! Keeps the parts of many operations in little memory.
//!
//! Few of the parts of an operation are not zero, most often one to three of thirteen. Only those are kept.

use super::parts::{Part, Parts};
use crate::units::Nanos;

/// The bits of a row that say which parts it has.
const MASK_BITS: u32 = 16;

const _: () = assert!(Part::ALL.len() <= MASK_BITS as usize, "each part has a bit");

/// The parts of operations, row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartsTable {
    /// For each row the index of its first time in `times`, and behind that a bit for each part that is not zero.
    rows: Vec<u64>,
    /// The times of those parts, in the order of [`Part::ALL`].
    times: Vec<Nanos>,
}

impl PartsTable {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row.
    pub fn push(&mut self, parts: &Parts) {
        let (first, mut mask) = (self.times.len() as u64, 0);
        for (at, &time) in parts.times().iter().enumerate() {
            if time > Nanos::ZERO {
                mask |= 1 << at;
                self.times.push(time);
            }
        }
        self.rows.push(first << MASK_BITS | mask);
    }

    /// The parts of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> Parts {
        let (first, mask) = self.row(row);
        let has = |part: &Part| mask >> *part as u64 & 1 == 1;
        let mut parts = Parts::default();
        for (part, &time) in Part::ALL.into_iter().filter(has).zip(&self.times[first..]) {
            parts.add(part, time);
        }
        parts
    }

    /// The time of one part in each row.
    pub fn of(&self, part: Part) -> impl Iterator<Item = Nanos> + '_ {
        let before = (1_u64 << part as u64) - 1;
        (0..self.len()).map(move |row| match self.row(row) {
            (first, mask) if mask >> part as u64 & 1 == 1 => {
                self.times[first + (mask & before).count_ones() as usize]
            }
            _ => Nanos::ZERO,
        })
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = Parts> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Adds the rows of another table.
    pub(crate) fn append(&mut self, other: &Self) {
        let moved = (self.times.len() as u64) << MASK_BITS;
        self.rows.extend(other.rows.iter().map(|row| row + moved));
        self.times.extend(&other.times);
    }

    /// A table of some of the rows, in this order.
    pub(crate) fn rows(&self, order: &[usize]) -> Self {
        let mut table =
            Self { rows: Vec::with_capacity(order.len()), times: Vec::with_capacity(self.times.len()) };
        for &row in order {
            let (first, mask) = self.row(row);
            table.rows.push((table.times.len() as u64) << MASK_BITS | mask);
            table.times.extend(&self.times[first..][..mask.count_ones() as usize]);
        }
        table
    }

    /// Where the times of a row begin, and which parts it has.
    fn row(&self, row: usize) -> (usize, u64) {
        let packed = self.rows[row];
        ((packed >> MASK_BITS) as usize, packed & ((1 << MASK_BITS) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts() -> impl Strategy<Value = Parts> {
        let time = prop_oneof![3 => Just(0), 1 => any::<u32>()];
        prop::collection::vec(time, Part::ALL.len()).prop_map(|times| {
            let mut parts = Parts::default();
            Part::ALL.into_iter().zip(times).for_each(|(part, time)| parts.add(part, Nanos(time.into())));
            parts
        })
    }

    fn table(rows: &[Parts]) -> PartsTable {
        let mut table = PartsTable::default();
        rows.iter().for_each(|parts| table.push(parts));
        table
    }

    proptest! {
        #[test]
        fn a_table_gives_back_what_has_been_put_into_it(
            one in prop::collection::vec(parts(), 0..20),
            other in prop::collection::vec(parts(), 0..20),
        ) {
            let all: Vec<Parts> = one.iter().chain(&other).copied().collect();
            let mut both = table(&one);
            both.append(&table(&other));
            prop_assert_eq!(&both, &table(&all));
            prop_assert_eq!(both.iter().collect::<Vec<_>>(), all.clone());
            for part in Part::ALL {
                let times: Vec<Nanos> = all.iter().map(|parts| parts.get(part)).collect();
                prop_assert_eq!(both.of(part).collect::<Vec<_>>(), times);
            }
            let order: Vec<usize> = (0..all.len()).rev().step_by(2).collect();
            let turned: Vec<Parts> = order.iter().map(|&row| all[row]).collect();
            prop_assert_eq!(both.rows(&order), table(&turned));
        }
    }
}
