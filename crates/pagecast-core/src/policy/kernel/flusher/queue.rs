//! Pages under writeback that wait for their device: it writes them in the order in which they were submitted.
//!
//! Whoever submits waits while the queue is full (`block/blk-mq-tag.c: blk_mq_get_tag`, Linux 6.16). Left out: the order in which
//! a scheduler would have them written.

use std::collections::VecDeque;

use crate::policy::{FileId, OperationId};

/// Pages under writeback that the device gets in one go.
#[derive(Clone, Debug)]
pub(in crate::policy::kernel) struct Unit {
    pub file: FileId,
    pub start: u64,
    pub end: u64,
    /// Who is told when it is written.
    pub waiters: Vec<OperationId>,
}

/// See the module.
#[derive(Debug)]
pub(in crate::policy::kernel) struct Queue {
    /// How many bytes may be under writeback.
    capacity: u64,
    units: VecDeque<Unit>,
    bytes: u64,
}

impl Queue {
    /// An empty one.
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, units: VecDeque::new(), bytes: 0 }
    }

    /// Whether more may be submitted by somebody who may not take all of it.
    pub(super) fn has_room(&self, limit: Option<u64>) -> bool {
        self.bytes < limit.map_or(self.capacity, |limit| limit.min(self.capacity))
    }

    /// Bytes of a file have been submitted.
    pub(super) fn push(&mut self, file: FileId, (start, end): (u64, u64)) {
        self.bytes += end - start;
        self.units.push_back(Unit { file, start, end, waiters: Vec::new() });
    }

    /// The first in line.
    pub(in crate::policy::kernel) fn front(&self) -> Option<&Unit> {
        self.units.front()
    }

    /// The first in line has been written.
    pub(in crate::policy::kernel) fn pop(&mut self) -> Unit {
        let unit = self.units.pop_front().expect("the device writes what waits for it");
        self.bytes -= unit.end - unit.start;
        unit
    }

    /// The bytes that wait for the device, with those of the first in line that it has already.
    ///
    /// # Panics
    /// If they are not as many as are counted for the room that they take.
    pub(in crate::policy::kernel) fn bytes(&self) -> u64 {
        let waiting = self.units.iter().map(|unit| unit.end - unit.start).sum();
        assert_eq!(self.bytes, waiting, "bytes in the queue of a device");
        waiting
    }

    /// Somebody waits until no page of a file is under writeback; false if there is none.
    pub(in crate::policy::kernel) fn wait_for(&mut self, file: FileId, waiter: OperationId) -> bool {
        self.wait_within(file, (0, u64::MAX), waiter)
    }

    /// The same of a part of a file.
    pub(in crate::policy::kernel) fn wait_within(
        &mut self,
        file: FileId,
        (start, end): (u64, u64),
        waiter: OperationId,
    ) -> bool {
        let overlaps = |unit: &&mut Unit| unit.file == file && unit.start < end && start < unit.end;
        let last = self.units.iter_mut().rev().find(overlaps);
        last.map(|unit| unit.waiters.push(waiter)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_part_of_a_file_is_told_with_the_last_unit_that_has_some_of_it() {
        let (file, other) = (FileId(0), FileId(1));
        let mut queue = Queue::new(u64::MAX);
        for (file, range) in [(file, (0, 10)), (file, (10, 20)), (other, (0, 20)), (file, (30, 40))] {
            queue.push(file, range);
        }
        assert!(queue.wait_within(file, (5, 15), OperationId(1)));
        assert!(queue.wait_for(file, OperationId(2)));
        assert!(!queue.wait_within(file, (20, 30), OperationId(3)));
        let waiters: Vec<Vec<OperationId>> = (0..4).map(|_| queue.pop().waiters).collect();
        assert_eq!(waiters, [vec![], vec![OperationId(1)], vec![], vec![OperationId(2)]]);
    }

    #[test]
    fn it_is_full_when_it_has_its_capacity_until_the_first_in_line_is_written() {
        let mut queue = Queue::new(20);
        queue.push(FileId(0), (0, 19));
        assert!(queue.has_room(None), "a request may go a little beyond");
        queue.push(FileId(0), (19, 30));
        assert_eq!((queue.has_room(None), queue.bytes()), (false, 30));
        queue.pop();
        assert_eq!((queue.has_room(None), queue.bytes()), (true, 11));
        assert_eq!([11, 12, 100].map(|limit| queue.has_room(Some(limit))), [false, true, true]);
    }
}
