//! Keeps the threads of a recording: what they are called, what they wait for, and a call that goes on.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::units::Nanos;

/// The longest text of a call that goes on.
const MOST_UNFINISHED: usize = 1 << 16;

/// Of how many others a thread knows how far they had come when it last waited for them.
const MOST_WAITED: usize = 16;

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// Its number in the trace, once it has done something.
    pub process: Option<u32>,
    /// The program.
    pub name: Arc<str>,
    /// Where its descriptors are.
    pub table: usize,
    /// How many threads have had its number so far, it among them.
    pub uses: u32,
    /// The number of the call before its first one.
    pub born: u64,
    /// The event that it begins after.
    pub begins_after: Option<Arc<str>>,
    /// When its last call ended, as recorded.
    pub real_end: Option<Nanos>,
    /// What strace took behind it.
    pub overhead: Nanos,
    /// When its last operation ended without strace.
    pub end: Nanos,
    /// The time since then, in nanoseconds. Below 0 if more was taken for strace's than has passed.
    pub pending: i64,
    /// How many calls it has made.
    pub calls: u64,
    /// False while the call that has made it has not returned.
    pub is_confirmed: bool,
    /// How much of the time of the call that it is in has been counted.
    pub accounted: i64,
    /// True if it has called exit(2).
    pub is_exiting: bool,
    /// A call that goes on.
    unfinished: Option<Unfinished>,
    /// The text of that: its name, "(", its arguments so far.
    text: String,
    waited: Vec<(u32, u64)>,
}

/// A call that goes on.
#[derive(Clone, Copy, Debug)]
struct Unfinished {
    name_length: usize,
    time: Option<Nanos>,
    number: u64,
}

impl Thread {
    /// The name of an event of it.
    pub fn event(&self, what: &str, pid: u32) -> Arc<str> {
        event(what, pid, self.uses)
    }

    /// True if it must wait for another one, which has made so many calls: not if it did so since the last `step` of them.
    pub fn must_wait(&mut self, other: u32, calls: u64, step: u64) -> bool {
        let Some(entry) = self.waited.iter_mut().find(|entry| entry.0 == other) else {
            if self.waited.len() == MOST_WAITED {
                self.waited.remove(0);
            }
            self.waited.push((other, calls));
            return true;
        };
        // Fewer than before are those of another thread with its number.
        let must = calls.checked_sub(entry.1).is_none_or(|more| more >= step);
        if must {
            entry.1 = calls;
        }
        must
    }
}

/// The name of an event of the thread that is the n-th with its number.
fn event(what: &str, pid: u32, uses: u32) -> Arc<str> {
    format!("{what} {pid}.{uses}").into()
}

/// The threads that are there, by number, and what is left of those that were.
#[derive(Debug, Default)]
pub struct Threads {
    alive: FxHashMap<u32, Thread>,
    /// How many threads have had each number.
    uses: FxHashMap<u32, u32>,
    /// Those in a call that makes a child, in the order in which they began it.
    forking: BTreeSet<(u64, u32)>,
    /// Numbers that strace has announced and that no line had yet.
    announced: BTreeSet<u32>,
    /// The number of the only process of a recording that did not name it at first.
    first: Option<u32>,
    unfinished: u64,
}

/// The number of the only process of a recording that names none.
pub const UNNAMED: u32 = 0;

impl Threads {
    /// The thread of a number.
    pub fn get(&self, pid: u32) -> Option<&Thread> {
        self.alive.get(&pid)
    }

    /// The thread of a number that is there.
    ///
    /// # Panics
    /// If it is not.
    pub fn of(&mut self, pid: u32) -> &mut Thread {
        self.alive.get_mut(&pid).expect("it was found before")
    }

    /// The number of the thread that a line is about. On a terminal strace names threads while there are several.
    pub fn named(&mut self, pid: Option<u32>, is_resumed: bool) -> u32 {
        let Some(pid) = pid else {
            return match self.alive.len() {
                1 => *self.alive.keys().next().expect("there is one"),
                _ => UNNAMED,
            };
        };
        let is_new = !self.announced.remove(&pid) && !self.alive.contains_key(&pid);
        if is_new && self.first.is_none() && (is_resumed || self.forking.is_empty()) {
            self.first = self.alive.contains_key(&UNNAMED).then_some(pid);
        }
        if self.first == Some(pid) { UNNAMED } else { pid }
    }

    /// strace has announced a thread.
    pub fn announce(&mut self, pid: u32) {
        if !self.alive.contains_key(&pid) {
            self.announced.insert(pid);
        }
    }

    /// The thread that is making a child, if any: the last one that began to.
    pub fn forking(&self) -> Option<u32> {
        self.forking.last().map(|&(_, pid)| pid)
    }

    /// Adds a thread that begins at a time of the forecast, and after a call; gives the event of its beginning.
    pub fn add(
        &mut self,
        pid: u32,
        (name, table): (Arc<str>, usize),
        end: Nanos,
        born: u64,
        is_child: bool,
    ) -> Arc<str> {
        let uses = self.uses.entry(pid).or_default();
        *uses += 1;
        let begun = event("begun", pid, *uses);
        let thread = Thread {
            process: None,
            name,
            table,
            uses: *uses,
            born,
            begins_after: is_child.then(|| Arc::clone(&begun)),
            real_end: None,
            overhead: Nanos::ZERO,
            end,
            pending: 0,
            calls: 0,
            is_confirmed: true,
            accounted: 0,
            is_exiting: false,
            unfinished: None,
            text: String::new(),
            waited: Vec::new(),
        };
        self.alive.insert(pid, thread);
        begun
    }

    /// Removes a thread that has ended.
    pub fn remove(&mut self, pid: u32) {
        if pid == UNNAMED {
            self.first = None;
        }
        if let Some(Thread { unfinished: Some(unfinished), .. }) = self.alive.remove(&pid) {
            self.forking.remove(&(unfinished.number, pid));
        }
    }

    /// The event of the end of the last thread of a number, if there was one.
    pub fn ended(&self, pid: u32) -> Option<Arc<str>> {
        self.uses.get(&pid).map(|&uses| event("ended", pid, uses))
    }

    /// The numbers of all that are there.
    pub fn all(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.alive.keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// The thread is in a call that goes on. `makes_child`: it makes one.
    pub fn begin(&mut self, pid: u32, name: &str, arguments: &str, time: Option<Nanos>, makes_child: bool) {
        let number = self.unfinished;
        self.unfinished += 1;
        let thread = self.of(pid);
        let before = thread.unfinished.replace(Unfinished { name_length: name.len(), time, number });
        thread.text.clear();
        thread.text.push_str(name);
        thread.text.push('(');
        if arguments.len() <= MOST_UNFINISHED {
            thread.text.push_str(arguments);
        }
        if let Some(before) = before {
            self.forking.remove(&(before.number, pid));
        }
        if makes_child {
            self.forking.insert((number, pid));
        }
    }

    /// The call of the thread has returned: its text so far, where its arguments begin in it, and when it began. The text is to be put back.
    pub fn resume(&mut self, pid: u32, name: &str) -> Option<(String, usize, Option<Nanos>)> {
        let thread = self.alive.get_mut(&pid)?;
        let unfinished = thread.unfinished.take()?;
        self.forking.remove(&(unfinished.number, pid));
        let text = std::mem::take(&mut thread.text);
        (text[..unfinished.name_length] == *name).then_some((text, name.len() + 1, unfinished.time))
    }

    /// The call that a thread is in: its name and its arguments so far, and when it began.
    pub fn unfinished(&self, pid: u32) -> (&str, Option<Nanos>) {
        let thread = self.alive.get(&pid);
        let begun = thread.and_then(|thread| thread.unfinished).and_then(|unfinished| unfinished.time);
        (thread.map_or("", |thread| &thread.text), begun)
    }

    /// The room for the text of a call.
    pub fn put_back(&mut self, pid: u32, text: String) {
        if let Some(thread) = self.alive.get_mut(&pid) {
            thread.text = text;
        }
    }

    /// Another thread goes on under this number, in the call that it has begun.
    pub fn take_over(&mut self, pid: u32, from: u32) {
        if pid == from || !self.alive.contains_key(&pid) {
            return;
        }
        let Some(other) = self.alive.get_mut(&from) else { return };
        let (begun, text) = (other.unfinished.take(), std::mem::take(&mut other.text));
        let before = std::mem::replace(&mut self.of(pid).unfinished, begun);
        self.of(pid).text = text;
        if let Some(before) = before {
            self.forking.remove(&(before.number, pid));
        }
        if let Some(begun) = begun
            && self.forking.remove(&(begun.number, from))
        {
            self.forking.insert((begun.number, pid));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(threads: &mut Threads, pid: u32) -> Arc<str> {
        threads.add(pid, ("".into(), 0), Nanos::ZERO, 0, false)
    }

    #[test]
    fn a_number_that_comes_again_is_another_thread() {
        let mut threads = Threads::default();
        assert_eq!(&*add(&mut threads, 7), "begun 7.1");
        threads.remove(7);
        assert_eq!(threads.ended(7).as_deref(), Some("ended 7.1"));
        assert_eq!(&*add(&mut threads, 7), "begun 7.2");
        assert_eq!(threads.ended(8), None);
    }

    #[test]
    fn the_first_process_of_a_terminal_is_named_when_there_is_another() {
        let mut threads = Threads::default();
        assert_eq!(threads.named(None, false), UNNAMED);
        add(&mut threads, UNNAMED);
        threads.announce(8);
        assert_eq!(threads.named(Some(8), false), 8);
        add(&mut threads, 8);
        assert_eq!((threads.named(Some(7), false), threads.all()), (UNNAMED, vec![UNNAMED, 8]));
        threads.remove(8);
        assert_eq!(threads.named(None, false), UNNAMED);
    }

    #[test]
    fn waiting_again_needs_more_calls_of_the_other() {
        let mut threads = Threads::default();
        add(&mut threads, 7);
        let thread = threads.of(7);
        let waits = [(8, 5, 1), (8, 5, 1), (8, 6, 1), (8, 7, 2), (8, 8, 2), (8, 1, 1)];
        let must = waits.map(|(other, calls, step)| thread.must_wait(other, calls, step));
        assert_eq!(must, [true, false, true, false, true, true]);
    }
}
