//! Sets of byte ranges of a file.

use std::collections::BTreeMap;

/// Disjoint, non-touching ranges: start to end (exclusive).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    ends: BTreeMap<u64, u64>,
    total: u64,
}

impl Ranges {
    /// Adds `start..end`, merging what touches it, and says how many bytes of it are new.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        if self.lengthens_last(start, end) {
            return end - start;
        }
        let before = self.total;
        let (mut from, mut to) = (start, end);
        while let Some((&other, &other_end)) = self.ends.range(..=to).next_back().filter(|&(_, &e)| e >= from)
        {
            (from, to) = (from.min(other), to.max(other_end));
            self.ends.remove(&other);
            self.total -= other_end - other;
        }
        self.ends.insert(from, to);
        self.total += to - from;
        self.total - before
    }

    /// Adds `start..end` to the last range if it begins where that ends, as in a file that grows.
    fn lengthens_last(&mut self, start: u64, end: u64) -> bool {
        let Some(mut last) = self.ends.last_entry().filter(|last| *last.get() == start) else { return false };
        last.insert(end);
        self.total += end - start;
        true
    }

    /// Takes out `start..end` and says how many bytes of it were there.
    pub(super) fn remove(&mut self, start: u64, end: u64) -> u64 {
        if self.shortens_one(start, end) {
            return end - start;
        }
        let before = self.total;
        while let Some((from, to)) = self.first(start, end) {
            self.cut(from);
            self.cut(to);
            self.ends.remove(&from);
            self.total -= to - from;
        }
        before - self.total
    }

    /// Takes `start..end` out if it is the beginning of a longer range, as in a file that is written in order.
    fn shortens_one(&mut self, start: u64, end: u64) -> bool {
        let longer = self.ends.get(&start).copied().filter(|&to| start < end && end < to);
        let Some(to) = longer else { return false };
        self.ends.remove(&start);
        self.ends.insert(end, to);
        self.total -= end - start;
        true
    }

    /// Makes two ranges of one that `at` lies within.
    fn cut(&mut self, at: u64) {
        if let Some((_, end)) = self.ends.range_mut(..at).next_back()
            && *end > at
        {
            let rest = std::mem::replace(end, at);
            self.ends.insert(at, rest);
        }
    }

    /// The first range within `start..end`, cut at both.
    pub(super) fn first(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        if start >= end || self.is_behind(start) {
            return None;
        }
        let before = self.ends.range(..=start).next_back().filter(|&(_, &e)| e > start);
        let (&from, &to) = before.or_else(|| self.ends.range(start..end).next())?;
        Some((from.max(start), to.min(end)))
    }

    /// How many bytes of `start..end` are in the set.
    pub(super) fn overlap(&self, start: u64, end: u64) -> u64 {
        if self.is_behind(start) {
            return 0;
        }
        let before =
            self.ends.range(..start).next_back().map_or(0, |(_, &e)| e.min(end).saturating_sub(start));
        before + self.ends.range(start..end).map(|(&s, &e)| e.min(end) - s).sum::<u64>()
    }

    /// Whether nothing of the set is at `start` or above.
    fn is_behind(&self, start: u64) -> bool {
        self.ends.last_key_value().is_none_or(|(_, &end)| end <= start)
    }

    /// How many bytes are in the set.
    pub(super) fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_a_set_of_bytes(steps in prop::collection::vec((0u64..40, 0u64..20, any::<bool>()), 0..20)) {
            let (mut ranges, mut bytes) = (Ranges::default(), std::collections::BTreeSet::new());
            for (start, length, insert) in steps {
                let (end, before) = (start + length, bytes.len());
                if insert {
                    let new = ranges.insert(start, end);
                    bytes.extend(start..end);
                    prop_assert_eq!(new, (bytes.len() - before) as u64);
                } else {
                    let gone = ranges.remove(start, end);
                    bytes.retain(|byte| !(start..end).contains(byte));
                    prop_assert_eq!(gone, (before - bytes.len()) as u64);
                }
                prop_assert_eq!(ranges.total(), bytes.len() as u64);
                let (from, to) = (start / 2, start / 2 + length);
                prop_assert_eq!(ranges.overlap(from, to), bytes.range(from..to).count() as u64);
                let first = bytes.range(from..to).next().copied();
                prop_assert_eq!(ranges.first(from, to).map(|(at, _)| at), first);
                if let Some((at, end)) = ranges.first(from, to) {
                    prop_assert!((at..end).all(|byte| bytes.contains(&byte)));
                    prop_assert!(end == to || !bytes.contains(&end));
                }
                let gaps = ranges.ends.iter().zip(ranges.ends.iter().skip(1));
                prop_assert!(gaps.into_iter().all(|((_, end), (start, _))| end < start));
            }
        }
    }
}
