//! Finds the next instant at which a level crosses a threshold at the present rates.
//!
//! Ours. The kernel's tasks look at thresholds by themselves.

use crate::policy::kernel::block::Block;
use crate::policy::kernel::discretisation::{LEAST_STEP, TAKEN_PER_LOOK};
use crate::policy::kernel::model::follow::until_followed;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::wb::Wb;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::result::Part;
use crate::units::{Nanos, earlier};

/// The rates at which levels change, in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slopes {
    /// Pages made dirty.
    pub dirtied: f64,
    /// Pages written by devices.
    pub written: f64,
    /// Free pages taken.
    pub taken: f64,
    /// Cached pages written over.
    pub redirtied: f64,
}

/// A survey of all tasks: how fast levels change, and when a task needs the next look.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Survey {
    /// The rates of change, without the writing of devices.
    pub slopes: Slopes,
    /// Seconds until the first task needs a look, if any.
    pub soonest: Option<f64>,
    /// Seconds until the first check of a task that takes its pauses one by one, which is looked at in time.
    pub check: Option<f64>,
    /// The first end of a request's preparation by a processor, or of a pause.
    pub busy_until: Option<Nanos>,
    /// True if it is outdated a moment later: a credit is spent, a task waits for bytes to come.
    pub is_fleeting: bool,
}

impl Survey {
    fn add(&mut self, task: &Task) {
        let rate = task.transfer.as_ref().map_or(0.0, |transfer| transfer.rate);
        self.slopes.add(task, rate);
        if task.is_first && rate > 0.0 {
            // The first page that makes an inode dirty: from then on it ages.
            self.wants(PAGE as f64 / rate);
        }
        if task.busy_until.is_some() {
            self.busy_until = earlier(self.busy_until, task.busy_until);
        }
        if let Some(checks) = task.checks() {
            self.busy_until = earlier(self.busy_until, checks.sleeps_until);
        }
    }

    fn wants(&mut self, seconds: f64) {
        self.soonest = Some(self.soonest.map_or(seconds, |soonest| soonest.min(seconds)));
    }
}

impl Slopes {
    pub fn add(&mut self, task: &Task, rate: f64) {
        if task.run.dirties() {
            self.dirtied += rate;
        }
        let pages = task.pages_taken();
        if pages > 0.0 {
            self.taken += rate * pages;
        }
    }
}

/// Surveys all tasks now.
pub fn survey_tasks(pages: &Pages, write_back: &WriteBack, tasks: &Tasks) -> Survey {
    let mut survey = Survey::default();
    for task in tasks.values() {
        survey.add(task);
        if let Some(seconds) = write_back.until_check(task) {
            survey.is_fleeting = true;
            survey.check = Some(survey.check.map_or(seconds, |check| check.min(seconds)));
        }
        let end_of_run_ahead = if task.runs_ahead() {
            write_back.until_credit_is_spent(task)
        } else if task.run == Run::Follow {
            until_followed(pages, tasks, task)
        } else {
            continue;
        };
        survey.is_fleeting = true;
        end_of_run_ahead.into_iter().for_each(|seconds| survey.wants(seconds));
    }
    survey
}

/// Returns the time of a look in so many seconds, `least` at the earliest.
pub fn look_after(now: Nanos, seconds: f64, least: f64) -> Nanos {
    now + Nanos((seconds.max(least) * 1e9) as u64).max(Nanos(1))
}

/// Returns the next look at memory, if anybody takes any.
pub fn next_look_at_memory(pages: &Pages, tasks: &Tasks, slopes: &Slopes, now: Nanos) -> Option<Nanos> {
    let seconds = until_memory_changes(pages, tasks, slopes)?;
    Some(look_after(now, seconds, LEAST_STEP.min(until_too_much(pages, slopes))))
}

/// Returns the seconds until as much memory is taken as may be taken without a look.
fn until_too_much(pages: &Pages, slopes: &Slopes) -> f64 {
    (pages.memory.total / TAKEN_PER_LOOK) as f64 / slopes.taken
}

/// Returns the seconds until reclaim begins, available memory ends, or a task's node has no more pages for it.
fn until_memory_changes(pages: &Pages, tasks: &Tasks, slopes: &Slopes) -> Option<f64> {
    if slopes.taken == 0.0 {
        return None;
    }
    let mut room = pages.available().min(pages.until_reclaim()).min(pages.until_reported(tasks));
    if pages.config.host.memory.cost.fault_huge.is_some() {
        // The last huge page of a node.
        let touching = tasks.iter().filter(|(_, task)| task.takes_anonymous());
        let rooms = touching
            .map(|(operation, task)| pages.above_high(pages.placement.node(task.kind.owner(operation))));
        room = rooms.filter(|&room| room > 0).fold(room, u64::min);
    }
    if pages.nodes() > 1 {
        // A task held back by something else does not notice where its pages are.
        let copies = |task: &Task| {
            let cap = task.transfer.as_ref().and_then(|transfer| transfer.cap);
            task.run != Run::Miss && task.takes_memory() && cap.is_some_and(|(_, part)| part == Part::CpuCopy)
        };
        let takers = tasks.iter().filter(|(_, task)| copies(task));
        let rooms = takers.filter_map(|(operation, task)| {
            pages.target(pages.placement.node(task.kind.owner(operation)), task.run == Run::New)
        });
        room = rooms.map(|(_, room)| room).fold(room, u64::min);
    }
    Some(room as f64 / slopes.taken)
}

/// Returns the seconds until the background threshold, which only writers look at.
pub fn until_background(pages: &Pages, write_back: &WriteBack, slopes: &Slopes) -> Option<f64> {
    let threshold = write_back.limits().thresholds.background;
    let dirty = pages.dirty().dirty();
    // In pages, as `wake_flushers` compares them.
    (slopes.dirtied > 0.0 && dirty / PAGE <= threshold)
        .then(|| (threshold * PAGE).saturating_sub(dirty) as f64 / slopes.dirtied)
}

/// Returns the seconds until the end of free run, or the next step of the law beyond it.
pub fn until_throttling(pages: &Pages, write_back: &WriteBack, slopes: &Slopes) -> Option<f64> {
    let of_law = || write_back.limits().until_change(pages.dirty().total(), slopes.dirtied - slopes.written);
    if slopes.dirtied > 0.0 { of_law() } else { None }
}

/// Returns the seconds until a memory cgroup has to evict or wait, its free run ends, or the next step of its law.
pub fn until_memcgs_change(
    pages: &Pages,
    write_back: &WriteBack,
    block: &Block,
    tasks: &Tasks,
) -> Option<f64> {
    let slopes = (0..pages.memcgs.len()).map(|at| (at, slopes_of_memcg(block, tasks, at)));
    slopes.filter_map(|(at, slopes)| until_memcg_changes(pages, write_back, at, &slopes)).reduce(f64::min)
}

fn slopes_of_memcg(block: &Block, tasks: &Tasks, at: usize) -> Slopes {
    let mut slopes = Slopes::default();
    for task in tasks.values().filter(|task| task.memcg.index() == Some(at)) {
        let rate = task.transfer.as_ref().map_or(0.0, |transfer| transfer.rate);
        slopes.add(task, rate);
    }
    let writers = tasks.values().filter(|task| task.run.rewrites());
    let rates = writers.filter_map(|task| Some(task.transfer.as_ref()?.rate));
    slopes.redirtied = rates.sum();
    slopes.written = block.config.wbs_of(at).filter_map(|wb| block.queue_of_wb(wb).rate_for(wb)).sum();
    slopes
}

fn until_memcg_changes(pages: &Pages, write_back: &WriteBack, at: usize, slopes: &Slopes) -> Option<f64> {
    let until_full = (slopes.taken > 0.0).then(|| {
        let available = pages.memcgs[at].available() as f64 / (slopes.taken + slopes.redirtied);
        available.min(pages.room_of_memcg(at) as f64 / slopes.taken)
    });
    let until_throttling = write_back.domains[at].as_ref().and_then(|domain| {
        let (dirty, slope) = (pages.memcgs[at].dirty(), slopes.dirtied - slopes.written);
        match domain.flushed {
            // The dirty pages of its wbs are known, and the charge of the cgroup.
            Some(_) => domain.limits.brake().until_it_acts(true, dirty, slope),
            None => domain.limits.until_change(dirty, slope),
        }
    });
    until_full.into_iter().chain(until_throttling).reduce(f64::min)
}

/// Returns the next update of the estimates: every 200 ms while any task is throttled.
pub fn next_update(write_back: &WriteBack, now: Nanos) -> Option<Nanos> {
    // Writers to a strict device are in free run now and then, and still reported as throttled.
    let has_rate = |wb: &&Wb| wb.is_throttling && (wb.strict.is_none() || wb.task_rate.is_some());
    let throttled = write_back.wbs.iter().flatten().filter(has_rate);
    throttled.map(|wb| wb.next_update().max(now + Nanos(1_000_000))).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::page_alloc::watermarks::Node;
    use crate::policy::kernel::page_writeback::task_rate::TaskRate;
    use crate::policy::kernel::tasks::credit::Credit;
    use crate::policy::kernel::tasks::ids::{MemcgId, WbId};
    use crate::policy::kernel::tasks::kind::Kind;
    use crate::policy::kernel::tests::{MIB, kernel, kernel_on_nodes, reconfigure, transfer, write};
    use crate::policy::{FileId, FileView, OperationId};
    use crate::units::Bytes;

    const MB: f64 = 1e6;

    /// Before 6.9 counters were never late.
    #[test]
    fn a_group_is_looked_at_when_it_is_full_at_the_end_of_free_run_and_with_each_step() {
        let mut kernel = kernel("kernel.version = '6.8'\ncgroup.batch.memory.max = '512 MiB'");
        kernel.write_back.limit_domains(&kernel.pages);
        let limits = kernel.write_back.domains[0].as_ref().expect("v2 has dirty limits").limits;
        let page = PAGE as f64;
        let slopes = Slopes { dirtied: 100.0 * MB, written: 40.0 * MB, ..Slopes::default() };
        let until = |kernel: &Kernel, slopes: &Slopes| {
            until_memcg_changes(&kernel.pages, &kernel.write_back, 0, slopes)
        };
        assert_eq!(until(&kernel, &slopes), Some(limits.freerun as f64 * page / (60.0 * MB)));
        assert_eq!(until(&kernel, &Slopes::default()), None, "nothing changes");
        let taking = Slopes { taken: 3.0 * MB, redirtied: MB, ..Slopes::default() };
        let available = (512 * MIB - PAGE) as f64;
        assert_eq!(until(&kernel, &taking), Some(available / (4.0 * MB)), "some of it becomes dirty");
        kernel.pages.memcgs[0].busy = limits.freerun * PAGE;
        assert_eq!(until(&kernel, &slopes), Some(0.0));
        let step = limits.brake().step() * page / (60.0 * MB);
        kernel.pages.memcgs[0].busy += PAGE;
        assert_eq!(until(&kernel, &slopes), Some(step));
        let falling = Slopes { dirtied: 40.0 * MB, written: 100.0 * MB, ..Slopes::default() };
        assert_eq!(until(&kernel, &falling), Some(step), "the level falls as fast");
    }

    #[test]
    fn estimates_are_renewed_every_200_ms_while_anybody_is_throttled() {
        let mut kernel = kernel("");
        write(&mut kernel, 1, Run::New, 0.0);
        assert_eq!(next_update(&kernel.write_back, Nanos::ZERO), None);
        kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").is_throttling = true;
        assert_eq!(next_update(&kernel.write_back, Nanos(199_000_000)), Some(Nanos(200_000_000)));
        assert_eq!(
            next_update(&kernel.write_back, Nanos(300_000_000)),
            Some(Nanos(301_000_000)),
            "but not at once"
        );
    }

    /// All that moves moves so many bytes a second.
    const RATE: f64 = 100e6;

    #[test]
    fn a_task_makes_pages_dirty_and_takes_pages_for_the_cache_and_for_its_buffer() {
        let slopes = |kind: Kind, run: Run| {
            let at = (0, Bytes(MIB), Bytes(MIB));
            let task = Task { run, ..Task::new(kind, None, at, Nanos::ZERO) };
            // The pages of the other write are there already.
            let mut slopes = Slopes { dirtied: 1.0, taken: 2.0, ..Slopes::default() };
            slopes.add(&task, RATE);
            ((slopes.dirtied - 1.0) / RATE, (slopes.taken - 2.0) / RATE)
        };
        let fresh = Kind::Read { fresh: true };
        assert_eq!(slopes(Kind::Write, Run::New), (1.0, 1.0));
        assert_eq!(slopes(Kind::Write, Run::Clean), (1.0, 0.0));
        assert_eq!(slopes(Kind::Write, Run::Dirty), (0.0, 0.0));
        assert_eq!(slopes(Kind::Read { fresh: false }, Run::Miss), (0.0, 1.0));
        assert_eq!(slopes(fresh, Run::Miss), (0.0, 2.0));
        let allocate = Kind::Allocate { owner: OperationId::NOBODY };
        assert_eq!([slopes(fresh, Run::Hit), slopes(allocate, Run::Touch)], [(0.0, 1.0); 2]);
    }

    fn bytes_until_memory_changes(kernel: &Kernel) -> f64 {
        let slopes = Slopes { taken: RATE, ..Slopes::default() };
        assert_eq!(
            until_memory_changes(&kernel.pages, &kernel.tasks, &Slopes::default()),
            None,
            "nobody takes any"
        );
        until_memory_changes(&kernel.pages, &kernel.tasks, &slopes).expect("somebody takes memory") * RATE
    }

    #[track_caller]
    fn assert_bytes(actual: f64, expected: u64) {
        assert!((actual - expected as f64).abs() < 1.0, "{actual} instead of {expected}");
    }

    #[test]
    fn memory_is_looked_at_when_reclaim_begins_or_nothing_is_left() {
        let mut kernel = kernel("");
        let Node { total, min, low, high, .. } = kernel.pages.memory.nodes[0];
        assert_bytes(bytes_until_memory_changes(&kernel), total - low);
        // The last huge page of those who touch memory is above the high mark.
        write(&mut kernel, 1, Run::Touch, RATE);
        assert_bytes(bytes_until_memory_changes(&kernel), total - low);
        reconfigure(&mut kernel, |config| config.host.memory.cost.fault_huge = Some(Nanos(1)));
        assert_bytes(bytes_until_memory_changes(&kernel), total - high);
        write(&mut kernel, 1, Run::New, RATE);
        assert_bytes(bytes_until_memory_changes(&kernel), total - low);
        write(&mut kernel, 1, Run::Touch, RATE);
        // There is none left; kswapd is about to run, and is looked at when it has freed more than it does in one go.
        kernel.pages.memory.nodes[0].anonymous = total - high;
        assert_bytes(bytes_until_memory_changes(&kernel), high - low + 1);
        // Half of that is dirty: a task that has taken the rest has to wait.
        let dirty = total / 2;
        kernel.pages.memory.nodes[0].anonymous = 0;
        kernel.pages.dirty_mut().run_ahead(WbId(0), dirty);
        reconfigure(&mut kernel, |config| config.host.memory.cost.fault_huge = None);
        assert_bytes(bytes_until_memory_changes(&kernel), total - min - dirty);
    }

    /// Of two nodes of 8 GiB the writer's own can have a fifth dirty, of what can be.
    #[test]
    fn the_end_of_a_node_is_looked_at_for_tasks_that_copy_into_its_pages() {
        let until = |run: Run, part: Part| {
            let mut kernel = kernel_on_nodes(2, "");
            let operation = write(&mut kernel, 1, run, RATE);
            kernel.pages.placement.home(operation);
            let task = kernel.tasks.get_mut(operation).expect("it is there");
            task.transfer.as_mut().expect("it moves").cap = Some((RATE, part));
            bytes_until_memory_changes(&kernel)
        };
        let nodes = kernel_on_nodes(2, "").pages.memory.nodes;
        let [own, next] = [0, 1].map(|at: usize| nodes[at].total - nodes[at].low);
        let (total, both) = (nodes[0].total, own + next);
        assert_bytes(until(Run::Touch, Part::CpuCopy), own);
        let to_write = until(Run::New, Part::CpuCopy);
        assert!((0.19..0.2).contains(&(to_write / total as f64)), "{to_write}");
        for (run, part) in
            [(Run::New, Part::Throttled), (Run::Miss, Part::CpuCopy), (Run::Dirty, Part::CpuCopy)]
        {
            assert_bytes(until(run, part), both);
        }
        let mut alone = kernel("");
        write(&mut alone, 1, Run::New, RATE);
        alone.tasks.values_mut().for_each(|task| {
            task.transfer.as_mut().expect("it moves").cap = Some((RATE, Part::CpuCopy));
        });
        let Node { total, low, high, .. } = alone.pages.memory.nodes[0];
        assert_bytes(bytes_until_memory_changes(&alone), total - low);
        alone.pages.memory.nodes[0].anonymous = total - low - MIB;
        assert_bytes(bytes_until_memory_changes(&alone), high - low + 1);
    }

    /// At 300 MB/s instead of 100 it loses 2 s each second.
    #[test]
    fn a_task_ahead_of_its_rate_is_looked_at_when_its_credit_is_spent() {
        let soonest = |run: Run| {
            let mut kernel = kernel("");
            let writer = write(&mut kernel, 1, run, 300e6);
            kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").task_rate =
                Some(TaskRate::fixed(100e6));
            let credit = Some(Credit { seconds: 0.5, ..Credit::new(Nanos::ZERO) });
            kernel.tasks.get_mut(writer).expect("it is there").credit = credit;
            survey_tasks(&kernel.pages, &kernel.write_back, &kernel.tasks).soonest
        };
        assert_eq!([Run::New, Run::Clean, Run::Dirty].map(soonest), [Some(0.25), Some(0.25), None]);
    }

    #[test]
    fn the_end_of_free_run_is_looked_for_while_somebody_writes() {
        let mut kernel = kernel("");
        let until = |kernel: &Kernel, dirtied: f64| {
            until_throttling(
                &kernel.pages,
                &kernel.write_back,
                &Slopes { dirtied, written: 40.0 * MB, ..Slopes::default() },
            )
        };
        kernel.pages.dirty_mut().run_ahead(WbId(0), 100 * PAGE);
        let left = (kernel.write_back.limits().freerun - 100) * PAGE;
        assert_eq!(until(&kernel, 100.0 * MB), Some(left as f64 / (60.0 * MB)));
        kernel.pages.dirty_mut().run_ahead(WbId(0), left + PAGE);
        let step = kernel.write_back.limits().brake().step() * PAGE as f64;
        assert_eq!(until(&kernel, 100.0 * MB), Some(step / (60.0 * MB)));
        assert_eq!(until(&kernel, 0.0), None);
    }

    #[test]
    fn a_group_writes_the_pages_of_its_own_wbs() {
        let mut kernel = kernel("cgroup.batch.memory.max = '512 MiB'");
        for (number, owner, rate) in [(1, MemcgId::ROOT, 10.0), (2, MemcgId::of(0), 40.0)] {
            kernel.write_back.owners.insert(FileId(number), owner);
            let file = FileView { id: FileId(number), ..FileView::default() };
            let wb = kernel.write_back.wb_of(&file);
            kernel.write_back.wb(&file);
            kernel.block.queues[0].push(wb, file.id, (0, 10), 1, true);
            kernel.block.queues[0].transfer = Some(transfer(rate * MB));
            let of_group = if owner == MemcgId::ROOT { 0.0 } else { rate * MB };
            assert_eq!(
                slopes_of_memcg(&kernel.block, &kernel.tasks, 0).written,
                of_group,
                "the first in line is its own, or not"
            );
            let _ = kernel.block.queues[0].pop(Nanos::ZERO);
        }
    }
}
