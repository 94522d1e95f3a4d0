//! Keeps values by offset in a file, few or many millions of them, and finds those around an offset.
//!
//! Ours: the kernel has an xarray. A few are a sorted list. Many are the leaves of a radix tree, each of which has the offsets of 256 KiB: a
//! look-up among millions of single pages meets a node or two that are in no cache of the processor.

use std::ops::{Range, RangeInclusive};

use smallvec::SmallVec;

/// With more values than this a list becomes a tree.
const FEW: usize = 256;

/// The offsets of a leaf, as a power of two.
const LEAF_BITS: u32 = 18;

/// The children of a node, as a power of two.
const NODE_BITS: u32 = 6;
const CHILDREN: usize = 1 << NODE_BITS;

/// Values by offset. An offset is below 2^64 - 1.
#[derive(Clone, Debug)]
pub struct Offsets<V>(Kept<V>);

#[derive(Clone, Debug)]
enum Kept<V> {
    List(Vec<(u64, V)>),
    Tree(Box<Tree<V>>),
}

impl<V> Default for Offsets<V> {
    fn default() -> Self {
        Self(Kept::List(Vec::new()))
    }
}

impl<V: Copy> Offsets<V> {
    /// The number of values.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::List(list) => list.len(),
            Kept::Tree(tree) => tree.len,
        }
    }

    /// True if there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the value at an offset.
    pub fn insert(&mut self, at: u64, value: V) {
        match &mut self.0 {
            Kept::List(list) => match list.binary_search_by_key(&at, |&(offset, _)| offset) {
                Ok(place) => list[place].1 = value,
                Err(place) if list.len() < FEW => list.insert(place, (at, value)),
                Err(_) => {
                    let mut tree = Box::<Tree<V>>::default();
                    list.iter().for_each(|&(offset, value)| tree.insert(offset, value));
                    tree.insert(at, value);
                    self.0 = Kept::Tree(tree);
                }
            },
            Kept::Tree(tree) => tree.insert(at, value),
        }
    }

    /// Takes the value at an offset out.
    pub fn remove(&mut self, at: u64) -> Option<V> {
        match &mut self.0 {
            Kept::List(list) => {
                let place = list.binary_search_by_key(&at, |&(offset, _)| offset).ok()?;
                Some(list.remove(place).1)
            }
            Kept::Tree(tree) => {
                let removed = tree.remove(at);
                if tree.len == 0 {
                    *self = Self::default();
                }
                removed
            }
        }
    }

    /// The last value before an offset.
    pub fn before(&self, at: u64) -> Option<(u64, V)> {
        match &self.0 {
            Kept::List(list) => {
                let place = list.partition_point(|&(offset, _)| offset < at);
                place.checked_sub(1).map(|place| list[place])
            }
            Kept::Tree(tree) => tree.before(at),
        }
    }

    /// The first value at an offset or behind it.
    pub fn from(&self, at: u64) -> Option<(u64, V)> {
        match &self.0 {
            Kept::List(list) => list.get(list.partition_point(|&(offset, _)| offset < at)).copied(),
            Kept::Tree(tree) => tree.from(at),
        }
    }

    /// The last value in a range that has its end, too. It looks no farther than there.
    pub fn last_in(&self, range: RangeInclusive<u64>) -> Option<(u64, V)> {
        let (least, around) = (*range.start(), self.around(*range.end()));
        let before = match around.before {
            None if around.floor > least => self.before(around.floor),
            before => before,
        };
        before.filter(|&(at, _)| at >= least)
    }

    /// The first value in a range. It looks no farther than there.
    pub fn first_in(&self, range: Range<u64>) -> Option<(u64, V)> {
        if range.is_empty() {
            return None;
        }
        let around = self.around(range.start);
        if let Some(there) = around.before.filter(|&(at, _)| at == range.start && at < range.end) {
            return Some(there);
        }
        let behind = match around.behind {
            None if around.ceiling < range.end => self.from(around.ceiling),
            behind => behind,
        };
        behind.filter(|&(at, _)| at < range.end)
    }

    /// What one look finds at an offset and around it.
    pub fn around(&self, at: u64) -> Around<V> {
        match &self.0 {
            Kept::List(list) => {
                Around::of(list, list.partition_point(|&(offset, _)| offset <= at), 0..u64::MAX)
            }
            Kept::Tree(tree) => tree.around(at),
        }
    }

    /// The last value.
    pub fn last(&self) -> Option<(u64, V)> {
        match &self.0 {
            Kept::List(list) => list.last().copied(),
            Kept::Tree(tree) => tree.last(),
        }
    }

    /// The values in a range, in the order of their offsets.
    pub fn range(&self, range: Range<u64>) -> impl Iterator<Item = (u64, V)> + '_ {
        let mut next = Some(range.start);
        std::iter::from_fn(move || {
            let found = self.from(next?).filter(|&(at, _)| at < range.end);
            next = found.and_then(|(at, _)| at.checked_add(1));
            found
        })
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = (u64, V)> + '_ {
        self.range(0..u64::MAX)
    }
}

impl<V: Copy + PartialEq> PartialEq for Offsets<V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<V: Copy + Eq> Eq for Offsets<V> {}

/// The values around an offset, as far as they are near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Around<V> {
    /// The last value at the offset or before it; if there is none, `floor` is the first offset that was looked at.
    pub before: Option<(u64, V)>,
    pub floor: u64,
    /// The first value behind the offset; if there is none, no offset from `ceiling` on was looked at.
    pub behind: Option<(u64, V)>,
    pub ceiling: u64,
}

impl<V: Copy> Around<V> {
    /// Those beside a place of a list that has all values of a range.
    fn of<T: Copy + Into<u64>>(list: &[(T, V)], place: usize, range: Range<u64>) -> Self {
        let value = |place: usize| list.get(place).map(|&(low, value)| (range.start | low.into(), value));
        Self {
            before: place.checked_sub(1).and_then(value),
            floor: range.start,
            behind: value(place),
            ceiling: range.end,
        }
    }
}

/// An inner node: which children there are, and their numbers.
#[derive(Clone, Debug)]
struct Node {
    bits: u64,
    children: [u32; CHILDREN],
}

impl Node {
    fn has(&self, child: usize) -> bool {
        self.bits >> child & 1 == 1
    }
}

/// Values by offset within a leaf. One or two pages need no memory of their own.
type Leaf<V> = SmallVec<[(u32, V); 2]>;

/// A radix tree; see the module. The root is node 0.
#[derive(Clone, Debug)]
struct Tree<V> {
    nodes: Vec<Node>,
    leaves: Vec<Leaf<V>>,
    vacant_nodes: Vec<u32>,
    vacant_leaves: Vec<u32>,
    /// The levels of inner nodes; the leaves are below the last.
    height: u32,
    len: usize,
}

impl<V> Default for Tree<V> {
    fn default() -> Self {
        let root = Node { bits: 0, children: [0; CHILDREN] };
        Self {
            nodes: vec![root],
            leaves: Vec::new(),
            vacant_nodes: Vec::new(),
            vacant_leaves: Vec::new(),
            height: 1,
            len: 0,
        }
    }
}

/// The number of the leaf of an offset, and its place there.
fn split(at: u64) -> (u64, u32) {
    (at >> LEAF_BITS, (at & ((1 << LEAF_BITS) - 1)) as u32)
}

/// The child at a level on the way to a leaf; the lowest level of inner nodes is 0.
fn child_of(leaf: u64, level: u32) -> usize {
    (leaf >> (level * NODE_BITS)) as usize % CHILDREN
}

fn place_in<V>(leaf: &Leaf<V>, low: u32) -> usize {
    leaf.partition_point(|&(at, _)| at < low)
}

impl<V: Copy> Tree<V> {
    fn reaches(&self, leaf: u64) -> bool {
        leaf >> (self.height * NODE_BITS) == 0
    }

    fn leaf(&self, number: u64) -> Option<&Leaf<V>> {
        let mut node = 0;
        if !self.reaches(number) {
            return None;
        }
        for level in (0..self.height).rev() {
            let child = child_of(number, level);
            let inner = &self.nodes[node as usize];
            if !inner.has(child) {
                return None;
            }
            node = inner.children[child];
        }
        Some(&self.leaves[node as usize])
    }

    /// The index of a leaf, which is made if it is not there.
    fn leaf_made(&mut self, number: u64) -> usize {
        while !self.reaches(number) {
            let old = std::mem::replace(&mut self.nodes[0], Node { bits: 1, children: [0; CHILDREN] });
            let below = self.new_node(old);
            self.nodes[0].children[0] = below;
            self.height += 1;
        }
        let mut node = 0;
        for level in (0..self.height).rev() {
            let child = child_of(number, level);
            if !self.nodes[node].has(child) {
                let new = match level {
                    0 => self.new_leaf(),
                    _ => self.new_node(Node { bits: 0, children: [0; CHILDREN] }),
                };
                let inner = &mut self.nodes[node];
                inner.bits |= 1 << child;
                inner.children[child] = new;
            }
            node = self.nodes[node].children[child] as usize;
        }
        node
    }

    fn new_node(&mut self, node: Node) -> u32 {
        if let Some(vacant) = self.vacant_nodes.pop() {
            self.nodes[vacant as usize] = node;
            return vacant;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    fn new_leaf(&mut self) -> u32 {
        self.vacant_leaves.pop().unwrap_or_else(|| {
            self.leaves.push(Leaf::new());
            (self.leaves.len() - 1) as u32
        })
    }

    fn insert(&mut self, at: u64, value: V) {
        let (number, low) = split(at);
        let leaf = self.leaf_made(number);
        let leaf = &mut self.leaves[leaf];
        let place = place_in(leaf, low);
        match leaf.get_mut(place).filter(|entry| entry.0 == low) {
            Some(entry) => entry.1 = value,
            None => {
                leaf.insert(place, (low, value));
                self.len += 1;
            }
        }
    }

    fn remove(&mut self, at: u64) -> Option<V> {
        let (number, low) = split(at);
        if !self.reaches(number) {
            return None;
        }
        // The nodes on the way, the root first.
        let mut way = [0_u32; (u64::BITS / NODE_BITS) as usize + 1];
        for level in (0..self.height).rev() {
            let depth = (self.height - 1 - level) as usize;
            let (child, inner) = (child_of(number, level), &self.nodes[way[depth] as usize]);
            way[depth + 1] = inner.has(child).then(|| inner.children[child])?;
        }
        let index = way[self.height as usize];
        let leaf = &mut self.leaves[index as usize];
        let place = place_in(leaf, low);
        leaf.get(place).filter(|entry| entry.0 == low)?;
        let (_, value) = leaf.remove(place);
        self.len -= 1;
        if leaf.is_empty() {
            *leaf = Leaf::new();
            self.vacant_leaves.push(index);
            self.prune(number, &way);
        }
        Some(value)
    }

    /// Takes a leaf that is gone out of its node, and nodes that have no children any more out of theirs.
    fn prune(&mut self, number: u64, way: &[u32]) {
        for level in 0..self.height {
            let at = way[(self.height - 1 - level) as usize];
            let node = &mut self.nodes[at as usize];
            node.bits &= !(1 << child_of(number, level));
            if node.bits != 0 || at == 0 {
                return;
            }
            self.vacant_nodes.push(at);
        }
    }

    fn before(&self, at: u64) -> Option<(u64, V)> {
        let (number, low) = split(at);
        if let Some(leaf) = self.leaf(number)
            && let Some(place) = place_in(leaf, low).checked_sub(1)
        {
            return Some((number << LEAF_BITS | u64::from(leaf[place].0), leaf[place].1));
        }
        let (number, leaf) = self.leaf_beside(number, Side::Before)?;
        leaf.last().map(|&(low, value)| (number << LEAF_BITS | u64::from(low), value))
    }

    fn from(&self, at: u64) -> Option<(u64, V)> {
        let (number, low) = split(at);
        if let Some(leaf) = self.leaf(number)
            && let Some(&(low, value)) = leaf.get(place_in(leaf, low))
        {
            return Some((number << LEAF_BITS | u64::from(low), value));
        }
        let (number, leaf) = self.leaf_beside(number, Side::Behind)?;
        leaf.first().map(|&(low, value)| (number << LEAF_BITS | u64::from(low), value))
    }

    fn around(&self, at: u64) -> Around<V> {
        let (number, low) = split(at);
        let start = number << LEAF_BITS;
        let range = start..start.saturating_add(1 << LEAF_BITS);
        match self.leaf(number) {
            Some(leaf) => Around::of(leaf, leaf.partition_point(|&(other, _)| other <= low), range),
            None => Around::of::<u32>(&[], 0, range),
        }
    }

    fn last(&self) -> Option<(u64, V)> {
        let (number, leaf) = self.outermost(0, self.height, 0, Side::Before)?;
        leaf.last().map(|&(low, value)| (number << LEAF_BITS | u64::from(low), value))
    }

    /// The next leaf before or behind one, which need not be there.
    fn leaf_beside(&self, number: u64, side: Side) -> Option<(u64, &Leaf<V>)> {
        if !self.reaches(number) {
            return match side {
                Side::Before => self.outermost(0, self.height, 0, side),
                Side::Behind => None,
            };
        }
        // The deepest node on the way that has a child on that side.
        let (mut node, mut found) = (0_u32, None);
        for level in (0..self.height).rev() {
            let (child, inner) = (child_of(number, level), &self.nodes[node as usize]);
            if let Some(other) = side.next(inner.bits, child) {
                found = Some((level, other, inner.children[other]));
            }
            if !inner.has(child) {
                break;
            }
            node = inner.children[child];
        }
        let (level, child, below) = found?;
        let above = number >> ((level + 1) * NODE_BITS);
        self.outermost(below, level, above << NODE_BITS | child as u64, side)
    }

    /// The last leaf below a node, or the first; `number` are the upper bits of its number.
    fn outermost(&self, node: u32, level: u32, number: u64, side: Side) -> Option<(u64, &Leaf<V>)> {
        let (mut node, mut number) = (node, number);
        for _ in 0..level {
            let inner = &self.nodes[node as usize];
            let child = side.outermost(inner.bits)?;
            (node, number) = (inner.children[child], number << NODE_BITS | child as u64);
        }
        Some((number, &self.leaves[node as usize]))
    }
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    Behind,
}

impl Side {
    /// The next child on this side of one.
    fn next(self, bits: u64, child: usize) -> Option<usize> {
        let others = match self {
            Self::Before => bits & ((1 << child) - 1),
            Self::Behind => bits & (u64::MAX << child << 1),
        };
        match (self, others) {
            (_, 0) => None,
            (Self::Before, others) => Some(others.ilog2() as usize),
            (Self::Behind, others) => Some(others.trailing_zeros() as usize),
        }
    }

    /// Of all children, the one from which no other is on the other side.
    fn outermost(self, bits: u64) -> Option<usize> {
        match (self, bits) {
            (_, 0) => None,
            (Self::Before, bits) => Some(bits.ilog2() as usize),
            (Self::Behind, bits) => Some(bits.trailing_zeros() as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Offsets near each other, far from each other, and at the ends.
    fn offset() -> impl Strategy<Value = u64> {
        prop_oneof![
            4 => 0..300_u64,
            4 => (0..300_u64).prop_map(|page| page * 4096),
            2 => (0..300_u64).prop_map(|place| place << 26),
            1 => (0..20_u64).prop_map(|back| u64::MAX - 2 - back),
            1 => (0..60_u32).prop_map(|bits| 1 << bits),
        ]
    }

    proptest! {
        #[test]
        fn equals_a_map(changes in prop::collection::vec((offset(), prop::bool::weighted(0.8)), 0..900)) {
            let (mut offsets, mut map) = (Offsets::default(), BTreeMap::new());
            for (value, &(at, is_new)) in changes.iter().enumerate() {
                if is_new || value % 3 > 0 {
                    offsets.insert(at, value);
                    map.insert(at, value);
                } else {
                    prop_assert_eq!(offsets.remove(at), map.remove(&at));
                }
                prop_assert_eq!(offsets.len(), map.len());
                let near = [at.saturating_sub(1), at, at + 1, at ^ 0x4_0000];
                for at in near {
                    let of = |entry: Option<(&u64, &usize)>| entry.map(|(&at, &value)| (at, value));
                    prop_assert_eq!(offsets.before(at), of(map.range(..at).next_back()));
                    prop_assert_eq!(offsets.from(at), of(map.range(at..).next()));
                    for least in [0, 5, at.saturating_sub(4096), at.saturating_sub(1 << 30)] {
                        let last = of(map.range(least.min(at)..=at).next_back());
                        prop_assert_eq!(offsets.last_in(least.min(at)..=at), last);
                    }
                    for end in [at, at + 1, at.saturating_add(4096), u64::MAX] {
                        prop_assert_eq!(offsets.first_in(at..end), of(map.range(at..end).next()));
                    }
                    let around = offsets.around(at);
                    prop_assert!(around.floor <= at && at <= around.ceiling);
                    prop_assert_eq!(around.before, of(map.range(around.floor..=at).next_back()));
                    prop_assert_eq!(around.behind, of(map.range(at + 1..around.ceiling.max(at + 1)).next()));
                }
                prop_assert_eq!(offsets.last(), map.last_key_value().map(|(&at, &value)| (at, value)));
            }
            prop_assert!(offsets.iter().eq(map.iter().map(|(&at, &value)| (at, value))));
            let keys: Vec<u64> = map.keys().copied().collect();
            for at in keys {
                prop_assert_eq!(offsets.remove(at), map.remove(&at));
            }
            prop_assert!(offsets.is_empty());
        }
    }
}
