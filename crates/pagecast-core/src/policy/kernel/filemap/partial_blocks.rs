//! Reads and writes the rest of file system blocks that a call fills in part.
//!
//! Source: `fs/buffer.c: __block_write_begin_int`, `fs/iomap/buffered-io.c: __iomap_write_begin`, Linux 6.16; CAWL (Gholami and Schintke),
//! Equation 3.
//!
//! - A block that is written in part is read first, unless it is cached or new. The call waits for each.
//! - A synchronous call then writes the whole of each block that it has changed.
//! - The blocks of a step are counted together. They move beside the operation, which waits.
//!
//! Left out: blocks of other sizes than a page; holes, which need not be read; blocks behind a cached page at the start of a write, as far
//! as it looks at both together (`LEAST_RUN`).

use crate::policy::OperationId;
use crate::policy::kernel::discretisation::step_of;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::run::start_request;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::kind::{Kind, Next, Way};
use crate::policy::kernel::tasks::task::Task;
use crate::units::{Bytes, Nanos};

/// The calls of an operation: start of the first, length of each, end of the last.
#[derive(Clone, Copy, Debug)]
struct Calls {
    origin: u64,
    piece: u64,
    end: u64,
}

impl Calls {
    fn of(task: &Task) -> Self {
        let end = if let Kind::WriteSync { last, .. } = task.kind { last } else { task.end };
        Self { origin: task.origin, piece: task.piece.0.max(1), end }
    }

    /// True if every call begins and ends at a block's border.
    fn fill_blocks(&self) -> bool {
        let has_several = self.end - self.origin > self.piece;
        let is_whole = |at: u64| at.is_multiple_of(PAGE);
        is_whole(self.origin) && is_whole(self.end) && (!has_several || is_whole(self.piece))
    }

    /// Returns how many calls begin in `from..to`, within a block.
    fn begun_within_blocks(&self, from: u64, to: u64) -> u64 {
        let number = |at: u64| at.saturating_sub(self.origin).div_ceil(self.piece);
        let (first, last) = (number(from), number(to.min(self.end)));
        let all = last.saturating_sub(first);
        // The places of calls in their blocks come round after so many calls.
        let common = 1 << self.piece.trailing_zeros().min(PAGE.trailing_zeros());
        let period = PAGE / common;
        let is_whole = |number: &u64| (self.origin + number * self.piece).is_multiple_of(PAGE);
        let whole = (first..last.min(first + period)).find(is_whole);
        all - whole.map_or(0, |whole| (last - whole).div_ceil(period))
    }

    /// Returns how many blocks in `from..to` (whole blocks) are written by a call that does not fill them.
    fn blocks_in_part(&self, from: u64, to: u64) -> u64 {
        let (from, to) = (from.max(self.origin / PAGE * PAGE), to.min(self.end.next_multiple_of(PAGE)));
        if from >= to {
            return 0;
        }
        if self.piece < PAGE {
            return (to - from) / PAGE;
        }
        let ends_within = !self.end.is_multiple_of(PAGE) && (from..to).contains(&self.end);
        // The last call may be so short that it begins and ends in one block.
        let last = self.origin + (self.end - 1 - self.origin) / self.piece * self.piece;
        let is_counted = !last.is_multiple_of(PAGE) && last / PAGE == self.end / PAGE;
        self.begun_within_blocks(from, to) + u64::from(ends_within && !is_counted)
    }

    /// Returns how many bytes the calls from `from` to `to` have written beyond their own, if each wrote whole blocks.
    fn beside_bytes(&self, from: u64, to: u64) -> u64 {
        let blocks = to.div_ceil(PAGE) - from / PAGE;
        (blocks + self.begun_within_blocks(from + 1, to)) * PAGE - (to - from)
    }
}

/// Returns the end of the blocks that a new write fills in part and has read; none if there are no such blocks.
pub fn read_until(task: &Task) -> Option<u64> {
    let calls = Calls::of(task);
    let may_exist = task.origin / PAGE * PAGE < task.file().size.0;
    (may_exist && !calls.fill_blocks()).then_some(0)
}

/// Returns the end up to which a task may write new pages, `end` at most; none if it reads blocks first.
pub fn prepare_blocks(cx: &mut Context<'_>, operation: OperationId, end: u64) -> Option<u64> {
    let task = &cx.tasks[operation];
    let until = task.read_until.expect("only who fills blocks in part asks");
    if task.position < until {
        return Some(end.min(until));
    }
    if blocks_to_read(cx.pages, task, end) == 0 {
        return Some(end);
    }
    let calls = Calls::of(task);
    let step = step_of(Bytes(calls.end - calls.origin), task.piece);
    let end = end.min((task.position + step).next_multiple_of(PAGE));
    let blocks = blocks_to_read(cx.pages, task, end);
    cx.tasks.get_mut(operation).expect("it is there").read_until = Some(end);
    if blocks == 0 {
        return Some(end);
    }
    let latency = cx.config.disk_of(cx.tasks[operation].file()).map_or(Nanos::ZERO, |disk| disk.latency);
    let first = Nanos(latency.0.saturating_mul(blocks));
    move_beside(cx, operation, Way::Read { first }, blocks * PAGE);
    None
}

/// Writes the rest of the blocks that the calls of a synchronous step have changed; true if there are any.
pub fn write_rest_of_blocks(cx: &mut Context<'_>, operation: OperationId) -> bool {
    let task = &cx.tasks[operation];
    let Kind::WriteSync { from, .. } = task.kind else { unreachable!("only these have steps to write") };
    let rest = Calls::of(task).beside_bytes(from, task.end);
    if rest > 0 {
        move_beside(cx, operation, Way::Write, rest);
    }
    rest > 0
}

/// Moves bytes of blocks beside an operation, which waits for them.
fn move_beside(cx: &mut Context<'_>, of: OperationId, way: Way, bytes: u64) {
    let task = cx.tasks.get_mut(of).expect("who moves blocks is under way");
    (task.run, task.since) = (Run::Wait, cx.now);
    let (kind, at) = (Kind::Beside { of, way }, (0, Bytes(bytes), Bytes(bytes)));
    let mut beside = Task::new(kind, task.file, at, cx.now);
    let operation = cx.tasks.new_number();
    match way {
        Way::Read { first } if first > Nanos::ZERO => {
            beside.busy_until = Some(cx.now + first);
            cx.tasks.has_busy = true;
            cx.tasks.insert(operation, beside);
        }
        _ => {
            cx.tasks.insert(operation, beside);
            start_request(cx, operation);
        }
    }
}

/// Moves the blocks beside an operation when their requests have been answered.
pub fn step_beside(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    if task.position >= task.end { Next::Done } else { start_request(cx, operation) }
}

/// Returns how many blocks on the device, and not in the cache, a task writes in part from its position up to `end`.
fn blocks_to_read(pages: &Pages, task: &Task, end: u64) -> u64 {
    let (file, at) = (task.file(), task.position);
    let cached = |from: u64, to: u64| pages.lists().cached_within(file.id, from, to) > 0;
    let (mut from, mut to) = (at / PAGE * PAGE, end.next_multiple_of(PAGE));
    // A page that is there in part is there.
    from += if cached(from, at) { PAGE } else { 0 };
    to -= if cached(end, to) { PAGE } else { 0 };
    Calls::of(task).blocks_in_part(from, to.min(file.size.0.next_multiple_of(PAGE)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first and last byte but one of each call.
    fn each(calls: Calls) -> Vec<(u64, u64)> {
        let begins = (calls.origin..calls.end).step_by(calls.piece as usize);
        begins.map(|from| (from, (from + calls.piece).min(calls.end))).collect()
    }

    /// The blocks that a call has something of.
    fn blocks(call: (u64, u64)) -> std::ops::Range<u64> {
        call.0 / PAGE..call.1.div_ceil(PAGE)
    }

    #[test]
    fn a_call_fills_what_it_begins_and_ends_with() {
        let fill = |origin, piece, end| Calls { origin, piece, end }.fill_blocks();
        assert!(fill(0, 4096, 8192) && fill(4096, 8192, 16_384) && fill(0, 5000, 4096));
        assert!(!fill(1, 4096, 4097) && !fill(0, 2048, 8192) && !fill(0, 4096, 8000));
    }

    proptest! {
        #[test]
        fn counts_are_those_of_every_call(
            origin in prop_oneof![0_u64..20_000, (0_u64..5).prop_map(|block| block * PAGE)],
            piece in prop_oneof![1_u64..20_000, (1_u64..8).prop_map(|parts| parts * 1024)],
            count in 1_u64..30, short in 0_u64..20_000, window in (0_u64..40, 0_u64..40),
        ) {
            let end = origin + piece * count - short % piece;
            let calls = Calls { origin, piece, end };
            let (from, to) = (window.0 * PAGE, (window.0 + window.1) * PAGE);
            let is_in_part = |block: u64| each(calls).iter().any(|&call| {
                let (start, end) = (block * PAGE, (block + 1) * PAGE);
                blocks(call).contains(&block) && (call.0 > start || call.1 < end)
            });
            let expected = (from / PAGE..to / PAGE).filter(|&block| is_in_part(block)).count();
            prop_assert_eq!(calls.blocks_in_part(from, to), expected as u64);
            let step = origin + piece * (count / 2);
            let written: u64 = each(calls)
                .into_iter()
                .filter(|call| call.0 >= step)
                .map(|call| blocks(call).count() as u64 * PAGE - (call.1 - call.0))
                .sum();
            prop_assert_eq!(calls.beside_bytes(step, end), written);
        }
    }
}
