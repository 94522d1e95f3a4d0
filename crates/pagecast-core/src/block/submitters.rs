//! Lets each thread submit its requests one after the other; each takes time of a processor.
//!
//! Source: `block/blk-mq-tag.c: blk_mq_get_tag`, Linux 6.12. A thread that finds no tag sleeps, and its later requests wait
//! behind that one; threads get tags in the order in which they came.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use super::request::Request;
use crate::units::Nanos;

/// The requests of a thread that are not submitted.
#[derive(Debug, Default)]
struct Submitter {
    requests: VecDeque<Request>,
    /// True if it waits in line for a tag, sleeps, or prepares its next request.
    waits: bool,
    /// The time at which it has sent its last request.
    ready: Nanos,
    /// True if its next request is within the part of its cgroup.
    is_paid: bool,
}

/// The threads that submit to a disk; see the module.
#[derive(Debug, Default)]
pub struct Submitters {
    each: FxHashMap<u32, Submitter>,
    /// Those that wait for a tag.
    line: VecDeque<u32>,
    /// Those that prepare their next request, and until when.
    preparing: BTreeSet<(Nanos, u32)>,
}

impl Submitters {
    /// Adds a request of its thread.
    pub fn push(&mut self, thread: u32, request: Request) {
        self.each.entry(thread).or_default().requests.push_back(request);
    }

    /// True if a thread has something to submit and does not wait.
    pub fn is_free(&self, thread: u32) -> bool {
        self.each.get(&thread).is_some_and(|submitter| !submitter.waits)
    }

    /// The request that a thread submits now, and whether its cgroup has paid for it; nothing if it has none, prepares it, or is `held` up.
    pub fn next(
        &mut self,
        now: Nanos,
        thread: u32,
        held: impl FnOnce() -> Option<Nanos>,
    ) -> Option<(Request, bool)> {
        let submitter = self.each.get_mut(&thread)?;
        submitter.waits = false;
        let Some(&next) = submitter.requests.front() else {
            // It is forgotten when it has nothing to send and is ready for more.
            if submitter.ready <= now {
                self.each.remove(&thread);
            }
            return None;
        };
        submitter.ready = submitter.ready.max(held().unwrap_or_default());
        if submitter.ready > now {
            submitter.waits = true;
            self.preparing.insert((submitter.ready, thread));
            return None;
        }
        Some((next, submitter.is_paid))
    }

    /// True if a thread prepares its next request.
    pub fn is_preparing(&self, thread: u32) -> bool {
        self.each.get(&thread).is_some_and(|submitter| self.preparing.contains(&(submitter.ready, thread)))
    }

    /// Notes that a thread has sent its request, and is ready for the next at an instant.
    pub fn sent(&mut self, thread: u32, ready: Nanos) {
        let submitter = self.thread(thread);
        submitter.requests.pop_front();
        (submitter.ready, submitter.is_paid) = (ready, false);
    }

    /// Notes whether the next request of a thread is within the part of its cgroup; it sleeps otherwise.
    pub fn set_paid(&mut self, thread: u32, is_paid: bool) {
        let submitter = self.thread(thread);
        submitter.is_paid = is_paid;
        submitter.waits |= !is_paid;
    }

    /// Lets a thread wait for a tag.
    pub fn wait_for_tag(&mut self, thread: u32) {
        self.thread(thread).waits = true;
        self.line.push_back(thread);
    }

    /// Takes the first thread out of the line for whose request there is a tag.
    pub fn next_in_line(&mut self, has_tag: impl Fn(&Request) -> bool) -> Option<u32> {
        let has_tag = |thread: &u32| self.each.get(thread)?.requests.front().map(&has_tag);
        let at = self.line.iter().position(|thread| has_tag(thread).unwrap_or(false))?;
        self.line.remove(at)
    }

    /// Takes out the first thread that has prepared its request by now.
    pub fn next_prepared(&mut self, now: Nanos) -> Option<u32> {
        let first = self.preparing.first().copied().filter(|(ready, _)| *ready <= now)?;
        self.preparing.remove(&first);
        Some(first.1)
    }

    /// The time at which a thread has prepared its next request.
    pub fn next_event(&self) -> Option<Nanos> {
        self.preparing.first().map(|(ready, _)| *ready)
    }

    fn thread(&mut self, thread: u32) -> &mut Submitter {
        self.each.get_mut(&thread).expect("it submits")
    }
}
