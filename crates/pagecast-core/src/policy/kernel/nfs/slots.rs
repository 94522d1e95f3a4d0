//! Shares the slots of a mount among those whose calls wait for one.
//!
//! Source: `net/sunrpc/sched.c: __rpc_list_enqueue_task, __rpc_find_next_queued_priority`, Linux 6.16: an owner has one place in the queue, and goes to its end when
//! a call of it has got a slot. Before 4.20 an owner that had its turn kept it for 16 calls (RPC_BATCH_COUNT).

use std::collections::VecDeque;

use crate::policy::{FileId, OperationId, Rpc};

/// Calls of an owner in one turn before 4.20.
const BATCH: u32 = 16;

/// On whose behalf a call is made: the thread group of the kernel, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Task(OperationId),
    /// Those who wait until a file is written, each of whom writes it by himself.
    WritersOf(FileId),
    Flusher,
}

impl Owner {
    /// The operation, if the call is one's own.
    pub fn operation(self) -> OperationId {
        match self {
            Self::Task(operation) => operation,
            Self::WritersOf(_) | Self::Flusher => OperationId::NOBODY,
        }
    }
}

/// The slots of a mount and the calls that wait for one, which belong to a few owners.
#[derive(Debug)]
pub struct Slots {
    free: u32,
    /// Calls of one turn.
    batch: u32,
    /// Calls that the first owner may still send in its turn.
    left: u32,
    waiting: VecDeque<(Owner, VecDeque<Rpc>)>,
}

impl Slots {
    /// So many free slots. Owners that wait take turns of one call or of 16.
    pub fn new(slots: u32, alternate: bool) -> Self {
        let batch = if alternate { 1 } else { BATCH };
        Self { free: slots, batch, left: batch, waiting: VecDeque::new() }
    }

    /// Takes a slot for a call, which is returned; without a free one the call waits.
    pub fn take(&mut self, owner: Owner, call: Rpc) -> Option<Rpc> {
        if self.free > 0 {
            self.free -= 1;
            return Some(call);
        }
        match self.waiting.iter_mut().find(|(each, _)| *each == owner) {
            Some((_, calls)) => calls.push_back(call),
            None => self.waiting.push_back((owner, VecDeque::from([call]))),
        }
        None
    }

    /// Gives a slot back. Returns the call that takes it, if one waits.
    pub fn give_back(&mut self) -> Option<Rpc> {
        let Some((owner, mut calls)) = self.waiting.pop_front() else {
            self.free += 1;
            return None;
        };
        let call = calls.pop_front().expect("an owner that waits has a call");
        self.left -= 1;
        if self.left > 0 && !calls.is_empty() {
            self.waiting.push_front((owner, calls));
            return Some(call);
        }
        self.left = self.batch;
        if !calls.is_empty() {
            self.waiting.push_back((owner, calls));
        }
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Procedure;

    fn call(operation: u32, xid: u64) -> (Owner, Rpc) {
        let operation = OperationId(operation);
        let rpc = Rpc { xid, mount: 0, operation, file: FileId(0), procedure: Procedure::Commit };
        (Owner::Task(operation), rpc)
    }

    /// The numbers of the calls in the order in which they get a slot, of one owner with 20 calls and another with 2.
    fn order(alternate: bool) -> Vec<u64> {
        let mut slots = Slots::new(1, alternate);
        let (owner, first) = call(9, 99);
        assert!(slots.take(owner, first).is_some());
        for (owner, each) in (0..20).map(|xid| call(0, xid)).chain((20..22).map(|xid| call(1, xid))) {
            assert!(slots.take(owner, each).is_none());
        }
        std::iter::from_fn(|| slots.give_back()).map(|each| each.xid).collect()
    }

    #[test]
    fn owners_take_turns_of_one_call() {
        assert_eq!(order(true)[..6], [0, 20, 1, 21, 2, 3]);
    }

    #[test]
    fn owners_take_turns_of_sixteen_calls_before_4_20() {
        assert_eq!(order(false)[14..20], [14, 15, 20, 21, 16, 17]);
    }

    #[test]
    fn every_call_gets_a_slot_once() {
        let mut all = order(true);
        all.sort_unstable();
        assert_eq!(all, (0..22).collect::<Vec<_>>());
    }
}
