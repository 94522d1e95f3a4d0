//! Checks how the next bytes of an operation are served, and where they are.

use crate::policy::kernel::Kernel;
use crate::policy::kernel::discretisation::{FOLLOW_STRIDE, LEAST_RUN, MOST_RUN};
use crate::policy::kernel::filemap::read::look_up_to_read;
use crate::policy::kernel::filemap::write::{LOCKED, is_being_read, look_up_to_write};
use crate::policy::kernel::model::follow::until_followed;
use crate::policy::kernel::model::settle::settle_others;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_writeback::rates::rate_of;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::cost::{Distance, Run};
use crate::policy::kernel::tasks::ids::MemcgId;
use crate::policy::kernel::tasks::kind::Kind;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::kernel::tests::{MIB, kernel, kernel_on_nodes, on, write};
use crate::policy::{Actions, FileId, OperationId};
use crate::units::{Bytes, Nanos};

/// An operation of its own on the file of another.
fn beside(kernel: &mut Kernel, number: u32, of: OperationId, run: Run) -> OperationId {
    let operation = write(kernel, number, run, 0.0);
    kernel.tasks.get_mut(operation).expect("it is there").file = kernel.tasks[of].file;
    operation
}

/// A thread on node 0 of two, which is full if so wanted.
fn on_node_0(is_full: bool) -> (Kernel, OperationId) {
    let mut kernel = kernel_on_nodes(2, "");
    let operation = write(&mut kernel, 1, Run::New, 0.0);
    assert_eq!(kernel.pages.placement.home(operation), 0);
    if is_full {
        kernel.pages.memory.nodes[0].anonymous = kernel.pages.memory.nodes[0].total;
    }
    (kernel, operation)
}

/// In a group with no memory left, a few cached pages do not let its writer go on bit by bit.
#[test]
fn in_an_exhausted_group_a_short_cached_run_waits_with_the_next() {
    let of = |cached: u64, is_exhausted: bool| {
        let mut kernel = kernel("cgroup.batch.memory.max = '512 MiB'");
        let writer = write(&mut kernel, 1, Run::Wait, 0.0);
        kernel.tasks.get_mut(writer).expect("it is there").memcg = MemcgId::of(0);
        kernel.pages.memcgs[0].is_exhausted = is_exhausted;
        kernel.pages.read_in(FileId(1), 0, cached, on(0));
        look_up_to_write(&kernel.pages, &kernel.tasks, &kernel.tasks[writer], writer)
    };
    assert_eq!(of(PAGE, true), (Run::New, LEAST_RUN));
    assert_eq!(of(LEAST_RUN, true), (Run::Clean, LEAST_RUN), "a run of its own");
    assert_eq!(of(10 * MIB, true), (Run::Clean, 10 * MIB));
    assert_eq!(of(PAGE, false), (Run::Clean, LEAST_RUN));
}

#[test]
fn pages_are_locked_that_are_less_than_two_windows_ahead_of_their_reader() {
    let mut kernel = kernel("");
    let reader = write(&mut kernel, 1, Run::Miss, 0.0);
    let is_locked = |kernel: &Kernel, at| is_being_read(&kernel.tasks, FileId(1), at);
    assert_eq!([0, LOCKED - 1, LOCKED].map(|at| is_locked(&kernel, at)), [true, true, false]);
    // A page has come, but is nowhere yet.
    kernel.tasks.get_mut(reader).expect("it is there").pending = PAGE;
    assert_eq!([LOCKED, LOCKED + PAGE].map(|at| is_locked(&kernel, at)), [true, false]);
    assert!(!is_being_read(&kernel.tasks, FileId(2), 0), "another file");
}

/// A reader of a GB at 100 MB/s has come so far, and another one reads the file from its first byte on. It waits for 16 MiB.
#[test]
fn a_reader_close_behind_another_one_waits_for_more_than_a_few_bytes() {
    let behind = |came: u64, of: Kind, kind: Kind, end: u64| {
        let mut kernel = kernel("");
        let leader = write(&mut kernel, 1, Run::Miss, 100e6);
        kernel.pages.read_in(FileId(1), 0, came, on(0));
        let task = kernel.tasks.get_mut(leader).expect("it is there");
        (task.kind, task.position, task.origin) = (of, came, came);
        let other = beside(&mut kernel, 2, leader, Run::Follow);
        let task = kernel.tasks.get_mut(other).expect("it is there");
        (task.kind, task.end, task.transfer) = (kind, end, None);
        let task = &kernel.tasks[other];
        let is_read = matches!(kind, Kind::Read { .. });
        let found = if is_read {
            look_up_to_read(&kernel.pages, &kernel.tasks, task)
        } else {
            look_up_to_write(&kernel.pages, &kernel.tasks, task, other)
        };
        (found.0, until_followed(&kernel.pages, &kernel.tasks, task))
    };
    let read = Kind::Read { fresh: false };
    let waits = |came: u64| (Run::Follow, Some((FOLLOW_STRIDE - came) as f64 / 100e6));
    for came in [0, 1, LEAST_RUN - 1] {
        assert_eq!(behind(came, read, read, 100 * MIB), waits(came));
    }
    let goes_on = (Run::Hit, None);
    assert_eq!(behind(LEAST_RUN, read, read, 100 * MIB), goes_on);
    assert_eq!(behind(PAGE, read, read, PAGE), goes_on, "it has all that it wants");
    let ahead = Kind::ReadAhead { thread: OperationId(1) };
    assert_eq!(behind(PAGE, ahead, read, 100 * MIB), goes_on, "what is read ahead comes at once");
    assert_eq!(behind(PAGE, read, Kind::Write, 100 * MIB), (Run::Clean, None), "a writer goes on by as much");
}

#[test]
fn new_pages_are_looked_at_in_one_go_up_to_what_the_own_node_has_room_for() {
    const END: u64 = 100 << 30;
    let mut alone = kernel("");
    let writer = write(&mut alone, 1, Run::New, 0.0);
    assert_eq!(alone.pages.new_end(writer, 5, END), END, "there is but one node");
    let (kernel, writer) = on_node_0(false);
    // A fifth of what can be dirty of it (`vm.dirty_ratio`), which is not all of its 8 GiB.
    let end = kernel.pages.new_end(writer, 5, END);
    assert!((1500 * MIB..1639 * MIB).contains(&end), "{end}");
    let (kernel, writer) = on_node_0(true);
    assert_eq!(kernel.pages.new_end(writer, 5, END), 5 + MOST_RUN);
}

#[test]
fn new_pages_are_far_where_the_own_node_is_full() {
    let file = FileId(1);
    let distance = |is_full: bool, run: Run, kind: Kind| {
        let (mut kernel, operation) = on_node_0(false);
        kernel.pages.read_in(file, 0, MIB, on(0));
        if is_full {
            let node = &mut kernel.pages.memory.nodes[0];
            node.anonymous = node.total - MIB;
        }
        let task = Task { run, kind, ..Task::new(kind, kernel.tasks[operation].file, whole(), Nanos::ZERO) };
        let Distance { from, to } = kernel.pages.distance(&task, operation);
        [from, to]
    };
    let (plain, fresh) = (Kind::Read { fresh: false }, Kind::Read { fresh: true });
    for (is_full, far) in [(false, 0.0), (true, 1.0)] {
        assert_eq!(distance(is_full, Run::Touch, Kind::Allocate { owner: OperationId(0) }), [0.0, far]);
        assert_eq!(distance(is_full, Run::Hit, plain), [0.0, 0.0], "into memory that it has");
        assert_eq!(distance(is_full, Run::Hit, fresh), [0.0, far], "into new memory");
        assert_eq!(distance(is_full, Run::Miss, plain), [far, far], "through new pages of the cache");
    }
}

fn whole() -> (u64, Bytes, Bytes) {
    (0, Bytes(MIB), Bytes(MIB))
}

#[test]
fn all_tasks_on_a_file_settle_before_one_looks_at_its_pages() {
    let mut kernel = kernel("");
    let one = write(&mut kernel, 1, Run::New, 0.0);
    let same = beside(&mut kernel, 2, one, Run::New);
    let other = write(&mut kernel, 3, Run::New, 0.0);
    let Kernel { tasks, pages, write_back: WriteBack { wbs, .. }, .. } = &mut kernel;
    for task in tasks.values_mut() {
        pages.count(task, MIB, rate_of(wbs, task), Nanos::ZERO);
    }
    settle_others(&mut kernel.context(Nanos::ZERO, &mut Actions::default()), one);
    assert_eq!([one, same, other].map(|operation| kernel.tasks[operation].pending), [0, 0, MIB]);
    assert_eq!([1, 3].map(|file| kernel.pages.lists().of_file(FileId(file))), [MIB, 0]);
}
