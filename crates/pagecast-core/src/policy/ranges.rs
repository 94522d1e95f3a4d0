//! Sets of byte ranges of a file.

use std::collections::BTreeMap;

/// Disjoint, non-touching ranges: start to end (exclusive).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds `start..end`, merging what touches it.
    pub(super) fn insert(&mut self, mut start: u64, mut end: u64) {
        if start >= end {
            return;
        }
        while let Some((&other, &other_end)) = self.0.range(..=end).next_back().filter(|&(_, &e)| e >= start)
        {
            (start, end) = (start.min(other), end.max(other_end));
            self.0.remove(&other);
        }
        self.0.insert(start, end);
    }

    /// Forgets everything from `end` on.
    pub(super) fn truncate(&mut self, end: u64) {
        self.0.split_off(&end);
        if let Some((_, last)) = self.0.iter_mut().next_back() {
            *last = (*last).min(end);
        }
    }

    /// How many bytes of `start..end` are in the set.
    pub(super) fn overlap(&self, start: u64, end: u64) -> u64 {
        let before = self.0.range(..start).next_back().map_or(0, |(_, &e)| e.min(end).saturating_sub(start));
        before + self.0.range(start..end).map(|(&s, &e)| e.min(end) - s).sum::<u64>()
    }

    /// How many bytes are in the set.
    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
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
                if insert {
                    ranges.insert(start, start + length);
                    bytes.extend(start..start + length);
                } else {
                    ranges.truncate(start);
                    bytes.retain(|&byte| byte < start);
                }
                prop_assert_eq!(ranges.total(), bytes.len() as u64);
                let within = bytes.range(start..start + length).count() as u64;
                prop_assert_eq!(ranges.overlap(start, start + length), within);
                let gaps = ranges.0.iter().zip(ranges.0.iter().skip(1));
                prop_assert!(gaps.into_iter().all(|((_, end), (start, _))| end < start));
            }
        }
    }
}
