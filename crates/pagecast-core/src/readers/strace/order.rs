//! Keeps processes in the order in which one needs what another one has done: files that it makes, bytes that it writes into a pipe.
//!
//! In a forecast processes take other times than in the recording. A process that opens a file waits until the one that has changed it
//! last has come as far as it had in the recording; so does one that reads from a pipe, or that has waited for room in it.
//!
//! Left out: sockets, shared memory, signals and locks.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// The number of a file or pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u32);

/// Nobody, and no thread has this number.
const NOBODY: u32 = u32::MAX;

/// Who was the last to change and to read something.
#[derive(Clone, Copy, Debug)]
struct Touched {
    writer: u32,
    reader: u32,
}

/// Who has changed what, and whom the call that is being read needs.
#[derive(Debug, Default)]
pub struct Order {
    keys: FxHashMap<Arc<str>, Key>,
    touched: Vec<Touched>,
    needed: Vec<u32>,
}

impl Order {
    /// The number of a file or pipe.
    pub fn key(&mut self, name: &Arc<str>) -> Key {
        match self.keys.get(name) {
            Some(&key) => key,
            None => {
                let key = Key(self.touched.len() as u32);
                self.touched.push(Touched { writer: NOBODY, reader: NOBODY });
                self.keys.insert(Arc::clone(name), key);
                key
            }
        }
    }

    /// Thread `pid` needs it as it is. True if anybody has changed it.
    pub fn need(&mut self, key: Key, pid: u32) -> bool {
        self.touched[key.0 as usize].reader = pid;
        self.need_thread(self.touched[key.0 as usize].writer, pid)
    }

    /// Thread `pid` needs the room that somebody has made by reading from it. True if anybody has.
    pub fn need_room(&mut self, key: Key, pid: u32) -> bool {
        self.need_thread(self.touched[key.0 as usize].reader, pid)
    }

    /// Thread `pid` changes it.
    pub fn change(&mut self, key: Key, pid: u32) {
        self.touched[key.0 as usize].writer = pid;
    }

    /// True if somebody has changed it.
    pub fn is_changed(&self, key: Key) -> bool {
        self.touched[key.0 as usize].writer != NOBODY
    }

    /// Thread `pid` needs what another one has done.
    pub fn need_thread(&mut self, other: u32, pid: u32) -> bool {
        if other != NOBODY && other != pid && !self.needed.contains(&other) {
            self.needed.push(other);
        }
        other != NOBODY
    }

    /// One of the threads that the call needs, until there are no more.
    pub fn next_needed(&mut self) -> Option<u32> {
        self.needed.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_needs_the_last_writer() {
        let mut order = Order::default();
        let key = order.key(&"pipe:[1]".into());
        assert_eq!((order.need(key, 1), order.next_needed()), (false, None));
        order.change(key, 1);
        assert_eq!((order.need(key, 1), order.next_needed()), (true, None));
        assert_eq!((order.need(key, 2), order.next_needed(), order.next_needed()), (true, Some(1), None));
        assert_eq!((order.need_room(key, 1), order.next_needed()), (true, Some(2)));
        assert_eq!(order.key(&"pipe:[1]".into()), key);
    }
}
