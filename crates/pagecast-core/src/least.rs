//! Finds the least of many entries that change one at a time.

/// A key, and its entry. The least of equal keys is left open.
pub(crate) type Entry = (u64, u32);

/// What a number has that has no entry.
const NONE: Entry = (u64::MAX, u32::MAX);

/// Entries by number. A change costs as many steps as a tree over them is high, and leaves nothing old behind.
#[derive(Clone, Debug)]
pub(crate) struct Least {
    /// A complete binary tree: 1 is the root, the children of n are 2n and 2n + 1, and each node is the lesser of its
    /// children. The second half are the entries.
    nodes: Vec<Entry>,
}

impl Default for Least {
    fn default() -> Self {
        Self { nodes: vec![NONE; 2] }
    }
}

impl Least {
    fn leaf(&self, number: u32) -> usize {
        self.nodes.len() / 2 + number as usize
    }

    pub(crate) fn set(&mut self, number: u32, entry: Option<Entry>) {
        while self.leaf(number) >= self.nodes.len() {
            self.grow();
        }
        let (mut at, mut least) = (self.leaf(number), entry.unwrap_or(NONE));
        while self.nodes[at] != least {
            self.nodes[at] = least;
            if at == 1 {
                return;
            }
            least = lesser(least, self.nodes[at ^ 1]);
            at /= 2;
        }
    }

    /// Makes room for twice as many.
    fn grow(&mut self) {
        let room = self.nodes.len() / 2;
        let old = std::mem::replace(&mut self.nodes, vec![NONE; 4 * room]);
        self.nodes[2 * room..3 * room].copy_from_slice(&old[room..]);
        for at in (1..2 * room).rev() {
            self.nodes[at] = lesser(self.nodes[2 * at], self.nodes[2 * at + 1]);
        }
    }

    pub(crate) fn least(&self) -> Option<Entry> {
        Some(self.nodes[1]).filter(|&entry| entry != NONE)
    }

    /// The least of all but one: of what the other branches have on its way to the root.
    pub(crate) fn least_but(&self, number: u32) -> Option<Entry> {
        let (mut at, mut least) = (self.leaf(number), NONE);
        if at >= self.nodes.len() {
            return self.least();
        }
        while at > 1 {
            least = lesser(least, self.nodes[at ^ 1]);
            at /= 2;
        }
        Some(least).filter(|&entry| entry != NONE)
    }
}

fn lesser(one: Entry, other: Entry) -> Entry {
    if other.0 < one.0 { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_a_plain_table(changes in prop::collection::vec((0..20_u32, 0..9_u64), 0..60)) {
            let (mut least, mut plain) = (Least::default(), [None; 25]);
            let key_of = |entry: Option<Entry>| entry.map(|(key, _)| key);
            for (number, key) in changes {
                let entry = (key > 0).then_some((key, number));
                least.set(number, entry);
                plain[number as usize] = entry;
                prop_assert_eq!(key_of(least.least()), key_of(plain.into_iter().flatten().min()));
                prop_assert!(least.least().is_none() || plain.contains(&least.least()));
                for but in 0..25 {
                    let others = (0..25).filter(|&other| other != but).filter_map(|other| plain[other]);
                    prop_assert_eq!(key_of(least.least_but(but as u32)), key_of(others.min()));
                }
            }
        }
    }
}
