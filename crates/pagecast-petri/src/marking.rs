//! Holds the tokens of places, and finds them by colour, by a field, or one after the other.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::value::{Stamp, Value};

/// A place with more colours than this has a table of them.
const FEW: usize = 12;

/// The tokens of one colour.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The colour.
    pub value: Value,
    /// How many tokens.
    pub count: u64,
    /// The stamps of tokens with stamps, the earliest first, each with its number of tokens.
    pub stamps: SmallVec<[(Stamp, u64); 1]>,
}

impl Entry {
    /// How many tokens are ready at a time.
    pub fn ready(&self, now: Stamp) -> u64 {
        match self.stamps.last() {
            None => self.count,
            Some(&(last, _)) if last <= now => self.count,
            Some(_) => {
                self.stamps.iter().take_while(|(stamp, _)| *stamp <= now).map(|(_, count)| count).sum()
            }
        }
    }

    /// When so many tokens are ready; none if there are fewer.
    pub fn ready_at(&self, wanted: u64) -> Option<Stamp> {
        if wanted > self.count {
            return None;
        }
        let mut seen = 0;
        for &(stamp, count) in &self.stamps {
            seen += count;
            if seen >= wanted {
                return Some(stamp);
            }
        }
        Some(Stamp::ZERO)
    }
}

/// The tokens of a place.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    entries: Vec<Entry>,
    /// Where each colour is, once there are many.
    places: FxHashMap<Value, u32>,
    indexes: Vec<Index>,
    size: u64,
}

/// The entries by one field of their colours, once there are many.
#[derive(Clone, Debug)]
struct Index {
    field: u32,
    entries: FxHashMap<Value, SmallVec<[u32; 2]>>,
}

impl Tokens {
    /// No tokens; these fields are looked up.
    pub fn new(indexed: &[u32]) -> Self {
        let indexes = indexed.iter().map(|&field| Index { field, entries: FxHashMap::default() }).collect();
        Self { indexes, ..Self::default() }
    }

    /// How many tokens.
    pub fn len(&self) -> u64 {
        self.size
    }

    /// True without tokens.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The colours with their tokens.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn is_tabled(&self) -> bool {
        !self.places.is_empty()
    }

    /// Where a colour is.
    pub fn find(&self, value: &Value) -> Option<usize> {
        if self.is_tabled() {
            return self.places.get(value).map(|&at| at as usize);
        }
        self.entries.iter().position(|entry| entry.value == *value)
    }

    /// Where the colours with this value in an indexed field may be; none if all have to be looked at.
    pub fn with_field(&self, index: usize, value: &Value) -> Option<&[u32]> {
        if !self.is_tabled() {
            return None;
        }
        Some(self.indexes[index].entries.get(value).map_or(&[], |found| &found[..]))
    }

    /// Adds tokens.
    pub fn add(&mut self, value: Value, stamp: Option<Stamp>, count: u64) {
        self.size += count;
        let Some(at) = self.find(&value) else {
            let stamps = stamp.map(|stamp| (stamp, count)).into_iter().collect();
            self.insert(Entry { value, count, stamps });
            return;
        };
        let entry = &mut self.entries[at];
        entry.count += count;
        let Some(stamp) = stamp else { return };
        let place = entry.stamps.partition_point(|(known, _)| *known < stamp);
        match entry.stamps.get_mut(place) {
            Some((known, n)) if *known == stamp => *n += count,
            _ => entry.stamps.insert(place, (stamp, count)),
        }
    }

    fn insert(&mut self, entry: Entry) {
        let at = self.entries.len();
        self.entries.push(entry);
        if self.is_tabled() {
            self.note(at);
        } else if at >= FEW {
            (0..=at).for_each(|at| self.note(at));
        }
    }

    /// Adds an entry to the tables.
    fn note(&mut self, at: usize) {
        let value = &self.entries[at].value;
        self.places.insert(value.clone(), at as u32);
        for index in &mut self.indexes {
            if let Value::Tuple(parts) = value {
                index.entries.entry(parts[index.field as usize].clone()).or_default().push(at as u32);
            }
        }
    }

    /// Takes the earliest tokens of a colour; there are as many.
    pub fn remove(&mut self, at: usize, count: u64) {
        self.size -= count;
        let entry = &mut self.entries[at];
        if entry.count == count {
            return self.forget(at);
        }
        entry.count -= count;
        let mut left = count;
        let mut gone = 0;
        for (_, n) in &mut entry.stamps {
            let taken = left.min(*n);
            *n -= taken;
            left -= taken;
            if *n > 0 {
                break;
            }
            gone += 1;
            if left == 0 {
                break;
            }
        }
        entry.stamps.drain(..gone);
    }

    /// Takes tokens of certain stamps.
    pub fn remove_stamps(&mut self, at: usize, stamps: &[(Stamp, u64)]) {
        let entry = &mut self.entries[at];
        for &(stamp, count) in stamps {
            self.size -= count;
            entry.count -= count;
            let place =
                entry.stamps.iter().position(|(known, _)| *known == stamp).expect("the stamp is there");
            entry.stamps[place].1 -= count;
            if entry.stamps[place].1 == 0 {
                entry.stamps.remove(place);
            }
        }
        if entry.count == 0 {
            self.forget(at);
        }
    }

    fn forget(&mut self, at: usize) {
        let gone = self.entries.swap_remove(at).value;
        if self.is_tabled() {
            self.places.remove(&gone);
            unnote(&mut self.indexes, &gone, at, None);
            if let Some(Entry { value: moved, .. }) = self.entries.get(at) {
                unnote(&mut self.indexes, moved, self.entries.len(), Some(at));
                *self.places.get_mut(moved).expect("each colour is in the table") = at as u32;
            }
        }
    }

    /// Takes all tokens.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.places.clear();
        self.indexes.iter_mut().for_each(|index| index.entries.clear());
        self.size = 0;
    }
}

/// Takes an entry out of the indexes, or gives it another number.
fn unnote(indexes: &mut [Index], value: &Value, at: usize, moved_to: Option<usize>) {
    let Value::Tuple(parts) = value else { return };
    for index in indexes {
        let key = &parts[index.field as usize];
        let Some(found) = index.entries.get_mut(key) else { continue };
        let place = found.iter().position(|&known| known as usize == at).expect("the entry is in its index");
        match moved_to {
            Some(to) => found[place] = to as u32,
            None => {
                found.swap_remove(place);
                if found.is_empty() {
                    index.entries.remove(key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: i64, b: i64) -> Value {
        Value::tuple([Value::Int(a), Value::Int(b)])
    }

    #[test]
    fn many_colours_are_found_by_colour_and_by_field() {
        let mut tokens = Tokens::new(&[1]);
        for n in 0..100 {
            tokens.add(pair(n, n % 7), None, 1);
        }
        for n in (0..100).step_by(3) {
            let at = tokens.find(&pair(n, n % 7)).unwrap();
            tokens.remove(at, 1);
        }
        assert_eq!(tokens.len(), 66);
        for n in 0..100 {
            assert_eq!(tokens.find(&pair(n, n % 7)).is_some(), n % 3 != 0);
        }
        let mut found: Vec<_> = tokens
            .with_field(0, &Value::Int(2))
            .unwrap()
            .iter()
            .map(|&at| tokens.entries()[at as usize].value.clone())
            .collect();
        found.sort();
        let wanted: Vec<_> = (0..100).filter(|n| n % 7 == 2 && n % 3 != 0).map(|n| pair(n, 2)).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn the_earliest_tokens_of_a_colour_go_first() {
        let mut tokens = Tokens::new(&[]);
        tokens.add(Value::Unit, Some(Stamp(5)), 2);
        tokens.add(Value::Unit, Some(Stamp(3)), 1);
        assert_eq!(tokens.entries()[0].ready(Stamp(4)), 1);
        assert_eq!(tokens.entries()[0].ready_at(2), Some(Stamp(5)));
        tokens.remove(0, 2);
        assert_eq!(tokens.entries()[0].stamps[..], [(Stamp(5), 1)]);
    }
}
