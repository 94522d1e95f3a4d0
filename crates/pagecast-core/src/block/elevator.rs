//! Requests by position and by age, as the schedulers of the single queue keep them.
//!
//! Source: `block/elevator.c: elv_rb_add`, Linux 2.6.27 to 4.20. Left out: front merges.

use std::collections::{BTreeMap, VecDeque};

use super::request::Request;
use crate::units::{Bytes, Nanos};

/// The first byte of a request, and its number among equals.
pub type Key = (u64, u64);

/// Waiting requests; see the module.
#[derive(Debug, Default)]
pub struct Sorted {
    sorted: BTreeMap<Key, (Request, Nanos)>,
    fifo: VecDeque<Key>,
    /// The end of the last one that was taken.
    pub last: u64,
}

impl Sorted {
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    pub fn insert(&mut self, now: Nanos, request: Request) {
        let key = (request.position, request.part);
        self.sorted.insert(key, (request, now));
        self.fifo.push_back(key);
    }

    /// Lengthens the request that ends where another one begins.
    pub fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        let (_, (before, _)) = self.sorted.range_mut(..(request.position, 0)).next_back()?;
        before.takes(request, most).then(|| {
            before.bytes += request.bytes;
            before.part
        })
    }

    /// The oldest one, and since when it waits.
    pub fn oldest(&mut self) -> Option<(Key, Nanos)> {
        while let Some(key) = self.fifo.front() {
            match self.sorted.get(key) {
                Some((_, since)) => return Some((*key, *since)),
                None => self.fifo.pop_front(),
            };
        }
        None
    }

    /// The first one behind the last.
    pub fn next(&self) -> Option<Key> {
        self.sorted.range((self.last, 0)..).next().map(|(key, _)| *key)
    }

    /// The first one behind the last, or the first of all: an elevator of one way.
    pub fn next_around(&self) -> Option<Key> {
        self.next().or_else(|| self.sorted.first_key_value().map(|(key, _)| *key))
    }

    pub fn get(&self, key: Key) -> &Request {
        &self.sorted[&key].0
    }

    pub fn take(&mut self, key: Key) -> Request {
        let (request, _) = self.sorted.remove(&key).expect("it waits");
        self.last = request.end();
        request
    }
}
