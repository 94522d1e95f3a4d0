//! Hit ratio of plain LRU over whole objects, as caches of objects have it, to compare with their simulators.
//!
//! An object is a place of a file that is read from its start; it is kept or evicted as a whole. One that is larger than the cache is not
//! kept. Source: libCacheSim, cache/eviction/LRU.c and cache/cache.c (`cache_get_base`, `cache_can_insert_default`), without the metadata
//! of objects.

use rustc_hash::FxHashMap;

use super::error::TraceError;
use super::open::Trace;
use crate::stop;
use crate::units::Bytes;
use crate::workload::Action;

/// What was found in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectHits {
    /// All reads.
    pub requests: u64,
    /// Those that were found.
    pub hits: u64,
    /// The bytes of all reads.
    pub bytes: u64,
    /// The bytes of those that were found.
    pub hit_bytes: u64,
}

/// No object.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node {
    object: (usize, u64),
    bytes: u64,
    newer: u32,
    older: u32,
}

/// Objects in the order of their use.
struct Lru {
    places: FxHashMap<(usize, u64), u32>,
    nodes: Vec<Node>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
    used: u64,
}

/// Sends the reads of a recording, by time, through an LRU cache of objects.
///
/// # Errors
/// If the recording cannot be read.
pub fn object_lru(trace: &Trace, capacity: Bytes) -> Result<ObjectHits, TraceError> {
    let mut hits = ObjectHits::default();
    let mut cache = Lru {
        places: FxHashMap::default(),
        nodes: Vec::new(),
        free: Vec::new(),
        newest: NONE,
        oldest: NONE,
        used: 0,
    };
    for record in trace.records() {
        stop::spend(1);
        let Action::Read { path, offset: Some(offset), bytes: Some(Bytes(bytes)), .. } =
            record?.1.operation.action
        else {
            continue;
        };
        hits.requests += 1;
        hits.bytes += bytes;
        // All records of a file have the same text.
        if cache.touch((path.as_ptr().addr(), offset), bytes, capacity.0) {
            hits.hits += 1;
            hits.hit_bytes += bytes;
        }
    }
    Ok(hits)
}

impl Lru {
    /// Reads an object; true if it was there.
    fn touch(&mut self, object: (usize, u64), bytes: u64, capacity: u64) -> bool {
        if let Some(&at) = self.places.get(&object) {
            self.unlink(at);
            self.link_newest(at);
            return true;
        }
        if bytes > capacity {
            return false;
        }
        while self.used + bytes > capacity {
            self.evict();
        }
        let node = Node { object, bytes, newer: NONE, older: NONE };
        let at = match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        self.places.insert(object, at);
        self.used += bytes;
        self.link_newest(at);
        false
    }

    fn evict(&mut self) {
        let at = self.oldest;
        let node = self.nodes[at as usize];
        self.unlink(at);
        self.places.remove(&node.object);
        self.used -= node.bytes;
        self.free.push(at);
    }

    fn unlink(&mut self, at: u32) {
        let Node { newer, older, .. } = self.nodes[at as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.nodes[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.nodes[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, at: u32) {
        let newest = self.newest;
        self.nodes[at as usize].newer = NONE;
        self.nodes[at as usize].older = newest;
        match newest {
            NONE => self.oldest = at,
            newest => self.nodes[newest as usize].newer = at,
        }
        self.newest = at;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::testing::read;
    use crate::trace::{Level, Writer};
    use crate::units::Nanos;

    fn hits(objects: &[u64], capacity: u64) -> (u64, u64) {
        let mut writer = Writer::new("x", Level::Objects);
        let process = writer.process("p").unwrap();
        let path = writer.path("objects").unwrap();
        for (time, &object) in objects.iter().enumerate() {
            let read = read(&path, object * 4096, object + 1);
            writer.record(process, Some(Nanos(time as u64)), None, &read).unwrap();
        }
        let hits = object_lru(&writer.finish().unwrap(), Bytes(capacity)).unwrap();
        (hits.hits, hits.hit_bytes)
    }

    /// The same, with a list.
    fn obvious(objects: &[u64], capacity: u64) -> (u64, u64) {
        let mut cache: Vec<u64> = Vec::new();
        let (mut hits, mut bytes) = (0, 0);
        for &object in objects {
            if let Some(at) = cache.iter().position(|&each| each == object) {
                cache.remove(at);
                hits += 1;
                bytes += object + 1;
            } else if object + 1 > capacity {
                continue;
            }
            cache.push(object);
            while cache.iter().map(|each| each + 1).sum::<u64>() > capacity {
                cache.remove(0);
            }
        }
        (hits, bytes)
    }

    proptest! {
        #[test]
        fn it_equals_a_list(objects in prop::collection::vec(0..12_u64, 0..200), capacity in 0..60_u64) {
            prop_assert_eq!(hits(&objects, capacity), obvious(&objects, capacity));
        }
    }
}
