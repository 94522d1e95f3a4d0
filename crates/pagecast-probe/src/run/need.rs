//! Computes the disk, memory and open files that a run needs: upper bounds, found by going through each program alone.
//!
//! A file that one process removes or cuts for another is not subtracted. So a run that fits may be refused in rare cases, and one that
//! does not fit is not begun.

use std::num::NonZero;

use pagecast_core::stdio::LibraryCall;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, AllocateMode, Buffer, MappedCall, OpenFlag};
use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::{PlannedFile, PlannedProcess, Step};

/// See [`super::Plan`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub prepared: Bytes,
    pub written: Bytes,
    pub space: Bytes,
    pub memory: Bytes,
    pub open_files: u64,
    /// How many times of calls are noted, of each process.
    pub call_times: Vec<usize>,
}

impl Needs {
    pub fn of(files: &[PlannedFile], processes: &[PlannedProcess], per_call: Option<NonZero<u64>>) -> Self {
        let initial: Vec<u64> =
            files.iter().map(|file| file.initial.map_or(0, |there| there.size.0)).collect();
        let alone: Vec<Alone> = processes.iter().map(|process| Alone::of(process, &initial)).collect();
        let mut longest = initial.clone();
        for process in &alone {
            for (&file, &length) in &process.longest {
                longest[file as usize] = longest[file as usize].max(length);
            }
        }
        let dirty: u64 = files.iter().filter_map(|file| file.initial).map(|there| there.dirty.0).sum();
        let peaks: Vec<u64> = processes.iter().map(|process| peak_memory(process, &longest)).collect();
        let of_process = |process: &PlannedProcess| {
            let threads = process.threads();
            process.buffer().get() * threads + process.stream_memory() + process.mapping_memory()
        };
        let buffers = processes.iter().map(|process| of_process(process) as u64).sum::<u64>();
        let call_times: Vec<u64> = processes
            .iter()
            .map(|process| per_call.map_or(0, |every| call_times(process, &longest, every)))
            .collect();
        let noted = call_times.iter().sum::<u64>().saturating_mul(size_of::<(Nanos, u64)>() as u64);
        Self {
            prepared: Bytes(initial.iter().sum::<u64>() + dirty),
            written: Bytes(alone.iter().map(|process| process.written).sum()),
            space: Bytes(initial.iter().sum::<u64>() + alone.iter().map(|one| one.growth).sum::<u64>()),
            // All buffers are there before time 0.
            memory: Bytes((at_a_time(processes, &peaks) + buffers).saturating_add(noted)),
            open_files: alone.iter().map(|process| process.open_files).sum(),
            call_times: call_times.into_iter().map(|times| times as usize).collect(),
        }
    }
}

/// The needs of a process alone.
#[derive(Default)]
struct Alone {
    written: u64,
    /// By how much its files have grown together, at most.
    growth: u64,
    longest: FxHashMap<u32, u64>,
    open_files: u64,
}

impl Alone {
    fn of(process: &PlannedProcess, initial: &[u64]) -> Self {
        let mut alone = Self::default();
        let mut lengths: FxHashMap<u32, u64> = FxHashMap::default();
        let mut open = FxHashSet::default();
        // Where streams are in their files.
        let mut places: FxHashMap<u32, u64> = FxHashMap::default();
        let mut appends = FxHashSet::default();
        let mut grown = 0_u64;
        for step in &process.steps {
            if step.file == u32::MAX {
                continue;
            }
            match &step.operation.action {
                Action::Close { .. } | Action::Unlink { .. } => open.remove(&step.file),
                _ => open.insert(step.file),
            };
            match &step.operation.action {
                Action::Stream { call: LibraryCall::Close, .. } | Action::Unlink { .. } => {
                    places.remove(&step.file);
                }
                Action::Stream { .. } => {
                    places.entry(step.file).or_default();
                }
                _ => {}
            }
            if let Action::Copy { .. } = step.operation.action {
                open.insert(step.target);
            }
            // A stream has its file open twice: once to be asked for its length.
            alone.open_files = alone.open_files.max((open.len() + 2 * places.len()) as u64);
            let copied =
                copied_bytes(step, |file| lengths.get(&file).copied().unwrap_or(initial[file as usize]));
            let written = if step.target == u32::MAX { step.file } else { step.target };
            let at_first = initial[written as usize];
            let length = lengths.entry(written).or_insert(at_first);
            let before = length.saturating_sub(at_first);
            match step.operation.action {
                Action::Open { flags, .. } if flags.has(OpenFlag::Append) => appends.insert(step.file),
                Action::Open { .. } | Action::Close { .. } | Action::Unlink { .. } => {
                    appends.remove(&step.file)
                }
                _ => false,
            };
            match step.operation.action {
                Action::Write { offset, bytes, .. } => {
                    alone.written += bytes.0;
                    let offset = offset.filter(|_| !appends.contains(&step.file)).unwrap_or(*length);
                    *length = (*length).max(offset.saturating_add(bytes.0));
                }
                Action::Pattern(ref pattern) if pattern.write_share > 0.0 => {
                    let range = pattern.range_within(Bytes(*length)).0;
                    alone.written += pattern.bytes.map_or(range, |bytes| bytes.0);
                    *length = (*length).max(pattern.offset.saturating_add(range));
                }
                Action::Fallocate { mode: AllocateMode::Extend, offset, bytes, .. } => {
                    *length = (*length).max(offset.saturating_add(bytes.0));
                }
                Action::Copy { offset, .. } => {
                    alone.written += copied;
                    *length = (*length).max(offset.saturating_add(copied));
                }
                Action::Stream { call, .. } => {
                    alone.written += written_by(call, places.entry(step.file).or_default(), length);
                }
                Action::Mapped { call: MappedCall::Write { offset, bytes, .. }, .. } => {
                    alone.written += bytes.map_or(length.saturating_sub(offset), |bytes| bytes.0);
                }
                Action::Truncate { size, .. } => *length = size.0,
                Action::Unlink { .. } | Action::Open { truncate: true, .. } => *length = 0,
                _ => {}
            }
            grown = grown - before + length.saturating_sub(at_first);
            alone.growth = alone.growth.max(grown);
            let longest = alone.longest.entry(written).or_default();
            *longest = (*longest).max(*length);
        }
        alone
    }
}

/// What a copy moves of a file that has this length by then; other operations none.
fn copied_bytes(step: &Step, length_of: impl Fn(u32) -> u64) -> u64 {
    match step.operation.action {
        Action::Copy { offset, bytes, .. } => {
            bytes.map_or_else(|| length_of(step.file).saturating_sub(offset), |bytes| bytes.0)
        }
        _ => 0,
    }
}

/// What a call of a library writes at most, to a stream at a place in a file of this length.
fn written_by(call: LibraryCall, place: &mut u64, length: &mut u64) -> u64 {
    match call {
        LibraryCall::Open { mode, .. } => {
            *length = if mode.truncates() { 0 } else { *length };
            // What is written in between makes such a file longer, never shorter.
            *place = if mode.appends() { *length } else { 0 };
            0
        }
        LibraryCall::Seek { offset } => {
            *place = offset;
            0
        }
        LibraryCall::Read { offset, bytes, .. } => {
            let first = offset.unwrap_or(*place);
            *place = bytes.map_or(*length, |bytes| first.saturating_add(bytes.0));
            0
        }
        LibraryCall::Write { offset, bytes, .. } => {
            *place = offset.unwrap_or(*place).saturating_add(bytes.0);
            *length = (*length).max(*place);
            bytes.0
        }
        LibraryCall::SetBuffer { .. } | LibraryCall::Flush | LibraryCall::Close => 0,
    }
}

/// How many times are noted of all reads and writes of a process, at most: one for every so many calls, and one at the end of each.
fn call_times(process: &PlannedProcess, longest: &[u64], every: NonZero<u64>) -> u64 {
    let of_step = |step: &Step| {
        let (bytes, call) = match step.operation.action {
            Action::Read { offset, bytes, call, .. } => {
                (read_bytes(step, longest, offset.unwrap_or(0), bytes), call)
            }
            Action::Write { bytes, call, .. } => (bytes.0, call),
            _ => return 0,
        };
        let call = call.map_or(bytes, |call| call.0).max(1);
        bytes.div_ceil(call).div_ceil(every.get())
    };
    process.steps.iter().map(of_step).sum()
}

/// What a read moves at most: without a size, up to the end that its file has when it is longest.
fn read_bytes(step: &Step, longest: &[u64], offset: u64, bytes: Option<Bytes>) -> u64 {
    bytes.map_or_else(|| longest[step.file as usize].saturating_sub(offset), |bytes| bytes.0)
}

/// The most memory that a process holds at a time.
fn peak_memory(process: &PlannedProcess, longest: &[u64]) -> u64 {
    let (mut held, mut peak) = (0_u64, 0);
    for step in &process.steps {
        match step.operation.action {
            Action::Allocate { bytes } => held += bytes.0,
            Action::Read { buffer: Buffer::Fresh, offset, bytes, .. } => {
                held += read_bytes(step, longest, offset.unwrap_or(0), bytes);
            }
            Action::Free { bytes } => held -= bytes.map_or(held, |bytes| bytes.0.min(held)),
            _ => {}
        }
        peak = peak.max(held);
    }
    peak
}

/// What all processes hold at a time, at most: one that comes after another begins when that has given its memory back. Of several
/// that it comes after, the first counts; processes that can run at the same time then stand beside each other in a forest too.
fn at_a_time(processes: &[PlannedProcess], peaks: &[u64]) -> u64 {
    let mut followers = vec![Vec::new(); processes.len()];
    for (at, process) in processes.iter().enumerate() {
        if let Some(&first) = process.after.first() {
            followers[first as usize].push(at);
        }
    }
    // Children before parents: each has its place after its parent in this order. Who waits in a circle is in none of the trees.
    let mut order: Vec<usize> = (0..processes.len()).filter(|&at| processes[at].after.is_empty()).collect();
    let roots = order.len();
    let mut next = 0;
    while next < order.len() {
        order.extend_from_slice(&followers[order[next]]);
        next += 1;
    }
    let mut loads = peaks.to_vec();
    for &at in order.iter().rev() {
        loads[at] = loads[at].max(followers[at].iter().map(|&follower| loads[follower]).sum());
    }
    order[..roots].iter().map(|&root| loads[root]).sum()
}

#[cfg(test)]
mod tests {
    use super::super::plan::Plan;
    use super::super::testing::{file, job, plan, process, read, write};
    use super::*;
    use crate::residency::page_size;
    use pagecast_core::workload::{Action, CopyBy};

    fn allocate(bytes: u64) -> Action {
        Action::Allocate { bytes: Bytes(bytes) }
    }

    #[test]
    fn a_file_that_is_removed_gives_its_place_back() {
        let unlink = Action::Unlink { path: "/data/g".into() };
        let round = [write("/data/g", 100, None), unlink];
        let plan = plan(&[file("/data/f", 1000)], &[process("p", &[], &[round.clone(), round].concat())]);
        assert_eq!((plan.space(), plan.written()), (Bytes(1100), (Bytes(1000), Bytes(200))));
    }

    #[test]
    fn appending_makes_a_file_longer_and_writing_over_it_does_not() {
        let over = Action::Write {
            path: "/data/f".into(),
            offset: Some(0),
            bytes: Bytes(900),
            call: None,
            vector: 1,
        };
        let plan = plan(&[file("/data/f", 1000)], &[process("p", &[], &[over, write("/data/f", 50, None)])]);
        assert_eq!(plan.space(), Bytes(1050));
    }

    #[test]
    fn a_copy_is_as_long_as_what_it_copies() {
        let copy = |by, bytes: Option<u64>| Action::Copy {
            path: "/data/f".into(),
            to: "/data/g".into(),
            by,
            offset: 100,
            bytes: bytes.map(Bytes),
            call: Some(Bytes(3 << 20)),
        };
        let actions = [copy(CopyBy::Sendfile, Some(50)), copy(CopyBy::CopyFileRange, None)];
        let in_kernel = plan(&[file("/data/f", 1000)], &[process("p", &[], &actions)]);
        assert_eq!((in_kernel.space(), in_kernel.written().1), (Bytes(2000), Bytes(950)));
        assert_eq!((in_kernel.open_files(), in_kernel.memory()), (2, Bytes(page_size())));
        let own = plan(&[file("/data/f", 9 << 20)], &[process("p", &[], &[copy(CopyBy::ReadWrite, None)])]);
        assert_eq!(own.memory(), Bytes(3 << 20), "its buffer holds a call");
    }

    #[test]
    fn who_comes_after_another_uses_its_memory() {
        let free = Action::Free { bytes: None };
        let plan = plan(
            &[],
            &[
                process("a", &[], &[allocate(100), free, allocate(30)]),
                process("b", &["a"], &[allocate(60)]),
                process("c", &["a"], &[allocate(70)]),
                process("d", &["b", "c"], &[allocate(20)]),
                process("e", &[], &[allocate(5)]),
            ],
        );
        assert_eq!(
            plan.memory(),
            Bytes(135 + 5 * page_size()),
            "b and c together, beside e, and their buffers"
        );
    }

    #[test]
    fn times_of_calls_have_their_room_before() {
        let small = write("/data/g", 10, Some(3));
        let actions = [write("/data/g", 100, Some(10)), read("/data/g", None, Some(7)), small, Action::Sync];
        let processes = [process("p", &[], &actions), process("q", &[], &[Action::Sync])];
        let mut job = job(&[], &processes);
        job.per_call = NonZero::new(4);
        let timed = Plan::of(&job).unwrap();
        // 10, 110 / 7 and 4 calls: of the file the read finds at most all that is ever in it.
        assert_eq!(timed.needs.call_times, [3 + 4 + 1, 0]);
        job.per_call = None;
        let untimed = Plan::of(&job).unwrap();
        assert_eq!(timed.memory(), untimed.memory() + Bytes(8 * 16));
    }

    #[test]
    fn a_fresh_buffer_holds_what_was_read() {
        let Action::Read { path, offset, .. } = read("/data/f", None, None) else { unreachable!() };
        let fresh = Action::Read { path, offset, bytes: None, call: None, vector: 1, buffer: Buffer::Fresh };
        let plan = plan(&[file("/data/f", 1000)], &[process("p", &[], &[fresh.clone(), fresh])]);
        assert_eq!((plan.memory(), plan.open_files()), (Bytes(2000 + page_size()), 1));
    }
}
