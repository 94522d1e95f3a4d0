//! Keeps the events at known times: wake-ups in the order in which they were set, then calls of policies by host.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::connections::Recipient;
use crate::fs::nfs::Stage;
use crate::units::Nanos;

/// Who is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wake {
    /// A process starts.
    Start(u32),
    /// A process may begin its next operation.
    Arrival(u32),
    /// A process has slept.
    Sleeper(u32),
    /// A message of a transfer between hosts has arrived.
    Transfer(u32, Stage),
    /// A message has arrived.
    Message(Recipient),
    /// A client has copied a call of a striped file into its cache.
    Copied(u32),
    /// A thread of an NFS server has done what a call takes beside its data.
    Nfsd { server: u32, thread: u32 },
    /// The threads of an NFS server take calls again.
    NfsdGoesOn(u32),
    /// The policy of a host has given way and goes on with what it named.
    Resume(u32, u64),
    /// The policy of a host wanted to be called. May be out of date.
    Policy(u32),
}

/// A time, whether it is a call of a policy, a running number, and who.
type Entry = (Nanos, bool, u64, Wake);

/// The dirty pages of a host; see the module.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    entries: BinaryHeap<Reverse<Entry>>,
    number: u64,
    /// Wake-ups that were due when they were set, and when that was: all `entries` of then were set before.
    at_once: VecDeque<(Nanos, Wake)>,
}

impl Agenda {
    pub(super) fn add(&mut self, now: Nanos, time: Nanos, wake: Wake) {
        if time <= now {
            self.at_once.push_back((time, wake));
            return;
        }
        self.number += 1;
        self.entries.push(Reverse((time, false, self.number, wake)));
    }

    pub(super) fn add_call(&mut self, time: Nanos, host: u32) {
        self.entries.push(Reverse((time, true, u64::from(host), Wake::Policy(host))));
    }

    pub(super) fn next(&self) -> Option<Nanos> {
        let later = self.entries.peek().map(|Reverse((time, ..))| *time);
        self.at_once.front().map(|&(time, _)| time).or(later)
    }

    /// The next of those that are due.
    pub(super) fn due(&mut self, now: Nanos) -> Option<Wake> {
        let first = self.entries.peek().map(|&Reverse(entry)| entry).filter(|&(time, ..)| time <= now);
        let is_call = first.is_none_or(|(_, is_call, ..)| is_call);
        if is_call && let Some((_, wake)) = self.at_once.pop_front() {
            return Some(wake);
        }
        let (.., wake) = first?;
        self.entries.pop();
        Some(wake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wake_ups_of_an_instant_keep_their_order_and_come_before_policies() {
        let mut agenda = Agenda::default();
        agenda.add_call(Nanos(5), 0);
        agenda.add(Nanos(3), Nanos(5), Wake::Sleeper(2));
        agenda.add(Nanos(3), Nanos(5), Wake::Sleeper(1));
        agenda.add(Nanos(3), Nanos(4), Wake::Start(3));
        assert_eq!(agenda.next(), Some(Nanos(4)));
        assert_eq!(agenda.due(Nanos(3)), None);
        assert_eq!(agenda.due(Nanos(4)), Some(Wake::Start(3)));
        agenda.add(Nanos(5), Nanos(5), Wake::Sleeper(4));
        assert_eq!(agenda.next(), Some(Nanos(5)));
        let order: Vec<Wake> = std::iter::from_fn(|| agenda.due(Nanos(5))).collect();
        assert_eq!(order, [Wake::Sleeper(2), Wake::Sleeper(1), Wake::Sleeper(4), Wake::Policy(0)]);
        assert_eq!(agenda.next(), None);
    }
}
