//! What will happen at a known time: wake-ups in the order in which they were set, then calls of policies by host.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::fs::nfs::Stage;
use crate::units::Nanos;

/// Who is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wake {
    /// A process starts.
    Start(u32),
    /// A process has slept.
    Sleeper(u32),
    /// A message of a transfer between hosts has arrived.
    Transfer(u32, Stage),
    /// The policy of a host has given way and goes on with what it named.
    Resume(u32, u64),
    /// The policy of a host wanted to be called. May be out of date.
    Policy(u32),
}

/// A time, whether it is a call of a policy, a running number, and who.
type Entry = (Nanos, bool, u64, Wake);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    entries: BinaryHeap<Reverse<Entry>>,
    number: u64,
}

impl Agenda {
    pub(super) fn add(&mut self, time: Nanos, wake: Wake) {
        self.number += 1;
        self.entries.push(Reverse((time, false, self.number, wake)));
    }

    pub(super) fn add_call(&mut self, time: Nanos, host: u32) {
        self.entries.push(Reverse((time, true, u64::from(host), Wake::Policy(host))));
    }

    pub(super) fn next(&self) -> Option<Nanos> {
        self.entries.peek().map(|Reverse((time, ..))| *time)
    }

    /// The next of those that are due.
    pub(super) fn due(&mut self, now: Nanos) -> Option<Wake> {
        let &Reverse((time, .., wake)) = self.entries.peek()?;
        (time <= now).then(|| self.entries.pop()).map(|_| wake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wake_ups_of_an_instant_keep_their_order_and_come_before_policies() {
        let mut agenda = Agenda::default();
        agenda.add_call(Nanos(5), 0);
        agenda.add(Nanos(5), Wake::Sleeper(2));
        agenda.add(Nanos(5), Wake::Sleeper(1));
        agenda.add(Nanos(4), Wake::Start(3));
        assert_eq!(agenda.next(), Some(Nanos(4)));
        assert_eq!(agenda.due(Nanos(3)), None);
        let order: Vec<Wake> = std::iter::from_fn(|| agenda.due(Nanos(5))).collect();
        assert_eq!(order, [Wake::Start(3), Wake::Sleeper(2), Wake::Sleeper(1), Wake::Policy(0)]);
    }
}
