//! Computes the disk, memory and open files that a run needs: upper bounds, found by going through each program alone.
//!
//! A file that one process removes or cuts for another is not subtracted. So a run that fits may be refused in rare cases, and one that
//! does not fit is not begun. The growth of files of a process that was not surveyed to its end is left out: the run watches the disk.

use std::sync::Arc;

use pagecast_core::units::{Bytes, Nanos};

use super::names::NamedFile;
use super::plan::PlannedProcess;

/// See [`super::Plan`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub prepared: Bytes,
    pub written: Bytes,
    pub space: Bytes,
    pub memory: Bytes,
    pub open_files: u64,
}

impl Needs {
    pub fn of(files: &[Arc<NamedFile>], processes: &[PlannedProcess]) -> Self {
        let surveys = || processes.iter().map(|process| &process.survey);
        let initial: u64 = files.iter().map(|file| file.initial_size()).sum();
        let dirty: u64 = files.iter().filter_map(|file| file.initial).map(|there| there.dirty.0).sum();
        let buffers = surveys().map(|survey| {
            survey.buffer().get() * survey.threads + survey.stream_memory + survey.mapping_memory
        });
        let buffers = buffers.sum::<usize>() as u64;
        let times = surveys().map(|survey| survey.call_times).sum::<u64>();
        let noted = times.saturating_mul(size_of::<(Nanos, u64)>() as u64);
        let peaks: Vec<u64> = surveys().map(|survey| survey.peak_memory).collect();
        Self {
            prepared: Bytes(initial + dirty),
            written: Bytes(surveys().fold(0, |sum, survey| sum.saturating_add(survey.written))),
            space: Bytes(
                surveys()
                    .filter(|survey| !survey.is_open_ended)
                    .fold(initial, |sum, survey| sum.saturating_add(survey.growth)),
            ),
            // All buffers are there before time 0.
            memory: Bytes((at_a_time(processes, &peaks) + buffers).saturating_add(noted)),
            open_files: surveys().map(|survey| survey.open_files).sum(),
        }
    }
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
    use std::num::NonZero;

    use super::super::plan::Plan;
    use super::super::testing::{file, job, plan, process, read, write};
    use super::*;
    use crate::residency::page_size;
    use pagecast_core::workload::{Action, Buffer, CopyBy, Operation};

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
    fn files_of_a_program_that_was_not_surveyed_to_its_end_are_no_need() {
        let append = || Operation::from(write("/data/log", 1 << 30, None));
        let mut endless = process("endless", &[], &[]);
        endless.program = Arc::new(move || std::iter::repeat_with(append));
        let plan = plan(&[], &[endless, process("other", &[], &[write("/data/f", 1000, None)])]);
        assert_eq!((plan.space(), plan.is_open_ended()), (Bytes(1000), true));
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
        // 10, 100 / 7 and 4 calls.
        let times: Vec<u64> = timed.processes.iter().map(|process| process.survey.call_times).collect();
        assert_eq!(times, [3 + 4 + 1, 0]);
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
