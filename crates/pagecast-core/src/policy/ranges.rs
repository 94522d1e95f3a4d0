//! Keeps sets of byte ranges of a file.

use super::offsets::Offsets;

/// Disjoint, non-touching ranges.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// The first of them, start and end (exclusive); nothing is at 0. Most files have only this one, which grows at its end and
    /// is written from its beginning.
    first: (u64, u64),
    /// The others, start to end.
    ends: Offsets<u64>,
    /// None of the others is longer.
    longest: u64,
    total: u64,
}

impl PartialEq for Ranges {
    fn eq(&self, other: &Self) -> bool {
        (self.first, self.total) == (other.first, other.total) && self.ends == other.ends
    }
}

impl Eq for Ranges {}

impl Ranges {
    /// Adds `start..end`, merges it with ranges that it touches, and returns how many of its bytes are new.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        if self.lengthens_last(start, end) {
            return end - start;
        }
        let before = self.total;
        if self.first.1 < start {
            self.insert_among_others(start, end);
        } else {
            self.with_first_among_others(|ranges| ranges.insert_among_others(start, end));
        }
        self.total - before
    }

    fn insert_among_others(&mut self, start: u64, end: u64) {
        let (mut from, mut to) = (start, end);
        while let Some((other, other_end)) = self.last_touching(from, to) {
            (from, to) = (from.min(other), to.max(other_end));
            self.ends.remove(other);
            self.total -= other_end - other;
        }
        self.insert_other(from, to);
        self.total += to - from;
    }

    /// The last of the others that ends at a place or behind it and starts at another or before it.
    fn last_touching(&self, end: u64, start: u64) -> Option<(u64, u64)> {
        let least = end.saturating_sub(self.longest);
        self.ends.last_in(least..=start).filter(|&(_, to)| to >= end)
    }

    fn insert_other(&mut self, start: u64, end: u64) {
        self.longest = self.longest.max(end - start);
        self.ends.insert(start, end);
    }

    /// Does something while the first range is one like all others.
    fn with_first_among_others(&mut self, change: impl FnOnce(&mut Self)) {
        let (start, end) = std::mem::take(&mut self.first);
        if start < end {
            self.insert_other(start, end);
        }
        change(self);
        self.first = self.take_first_of_others();
    }

    /// Adds `start..end` to the last range if it begins where that ends, as in a file that grows, or if there is none.
    fn lengthens_last(&mut self, start: u64, end: u64) -> bool {
        if self.total == 0 {
            self.first = (start, end);
        } else {
            let last = self.ends.last();
            if last.map_or(self.first.1, |(_, end)| end) != start {
                return false;
            }
            match last {
                Some((from, _)) => self.insert_other(from, end),
                None => self.first.1 = end,
            }
        }
        self.total += end - start;
        true
    }

    /// Takes out `start..end` and returns how many of its bytes were there.
    pub(super) fn remove(&mut self, start: u64, end: u64) -> u64 {
        if self.shortens_first(start, end) {
            return end - start;
        }
        let before = self.total;
        if self.first.1 <= start {
            self.remove_from_others(start, end);
        } else {
            self.with_first_among_others(|ranges| ranges.remove_from_others(start, end));
        }
        before - self.total
    }

    fn remove_from_others(&mut self, start: u64, end: u64) {
        while let Some((from, to)) = self.first(start, end) {
            self.cut(from);
            self.cut(to);
            self.ends.remove(from);
            self.total -= to - from;
        }
    }

    /// Takes `start..end` out if it is the first range or the beginning of it, as in a file that is written in order.
    fn shortens_first(&mut self, start: u64, end: u64) -> bool {
        if start >= end || start != self.first.0 || end > self.first.1 {
            return false;
        }
        self.first.0 = end;
        if end == self.first.1 {
            self.first = self.take_first_of_others();
        }
        self.total -= end - start;
        true
    }

    /// Splits the range that contains `at` in two, of those behind the first.
    fn cut(&mut self, at: u64) {
        if let Some((start, end)) = self.ends.before(at)
            && end > at
        {
            self.insert_other(start, at);
            self.insert_other(at, end);
        }
    }

    fn take_first_of_others(&mut self) -> (u64, u64) {
        let first = self.ends.from(0).unwrap_or_default();
        self.ends.remove(first.0);
        if self.ends.is_empty() {
            self.longest = 0;
        }
        first
    }

    /// The first range within `start..end`, cut at both.
    pub(super) fn first(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        if start >= end || self.is_behind(start) {
            return None;
        }
        let (from, to) = if start < self.first.1 { self.first } else { self.first_of_others(start, end)? };
        (from < end).then(|| (from.max(start), to.min(end)))
    }

    fn first_of_others(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let before = self.ends.last_in(start.saturating_sub(self.longest)..=start);
        before.filter(|&(_, to)| to > start).or_else(|| self.ends.first_in(start..end))
    }

    /// Returns how many bytes of `start..end` are in the set.
    pub(super) fn overlap(&self, start: u64, end: u64) -> u64 {
        if self.is_behind(start) {
            return 0;
        }
        let of_first = self.first.1.min(end).saturating_sub(self.first.0.max(start));
        let before = self.ends.before(start).map_or(0, |(_, e)| e.min(end).saturating_sub(start));
        of_first + before + self.ends.range(start..end).map(|(s, e)| e.min(end) - s).sum::<u64>()
    }

    /// True if no byte of the set is at `start` or above.
    fn is_behind(&self, start: u64) -> bool {
        self.ends.last().map_or(self.first.1, |(_, end)| end) <= start
    }

    /// The number of bytes in the set.
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
                let others = || ranges.ends.iter();
                let all = || std::iter::once(ranges.first).chain(others());
                prop_assert!(all().zip(others()).all(|((_, end), (start, _))| end < start));
                prop_assert!(all().all(|(start, end)| start < end || bytes.is_empty()));
            }
        }
    }
}
