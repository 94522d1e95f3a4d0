//! Shares the processors among the threads that copy.
//!
//! Source: `kernel/sched/fair.c`, Linux 6.12. Each runnable thread gets an equal part of the time; the part that one does not need goes to
//! the others. If no operation takes longer than a turn, they get turns (`turns`); many turns amount to equal parts. Left out: programs that
//! compute, flushers, interrupts; moving one thread from processor to processor.

use crate::policy::OperationId;
use crate::policy::kernel::discretisation::{AT_CAP, LEAST_CHANGE};
use crate::policy::kernel::model::caps::Caps;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::result::Part;
use crate::units::Nanos;

impl Caps {
    /// Sets the part of a processor's time for a task that could use all of it, or the tasks whose turn it is.
    pub fn share_processors(&mut self, tasks: &mut Tasks, now: Nanos) {
        let cores = self.config.host.cores as usize;
        self.processor_share = 1.0;
        if tasks.len() <= cores && self.turns.is_empty() {
            return;
        }
        if self.take_turns(tasks, now) {
            return;
        }
        if tasks.len() > cores {
            self.processor_share = share(cores as f64, tasks.values().map(demand).collect());
        }
    }

    /// Sets the same part, and returns true if it has changed enough to matter.
    pub fn has_share_changed(&mut self, tasks: &mut Tasks, now: Nanos) -> bool {
        let (before, changes) = (self.processor_share, tasks.changes());
        self.share_processors(tasks, now);
        (self.processor_share - before).abs() > LEAST_CHANGE * before || tasks.changes() != changes
    }

    /// Sets which tasks have a processor, and returns true, unless one of them takes longer than a turn: then all have.
    fn take_turns(&mut self, tasks: &mut Tasks, now: Nanos) -> bool {
        let wants = |task: &Task| demand(task) == 1.0;
        let threads = tasks.values().filter(|task| wants(task)).count();
        let turn = self.turns.longest(threads).as_seconds();
        let is_short = |task: &Task| (task.end - task.origin) as f64 <= turn * task.pace;
        let are_short = tasks.values().filter(|task| wants(task)).all(is_short);
        if are_short {
            let runnable: Vec<OperationId> =
                tasks.iter().filter(|(_, task)| wants(task)).map(|(operation, _)| operation).collect();
            self.turns.pass_on(now, &runnable, |thread| tasks.get(thread).is_some());
        } else {
            self.turns.clear();
        }
        let mut has_changed = false;
        for (operation, task) in tasks.moving_by_number() {
            let has_processor = !are_short || !wants(task) || self.turns.runs(operation);
            has_changed |= std::mem::replace(&mut task.has_processor, has_processor) != has_processor;
        }
        if has_changed {
            tasks.note_change();
        }
        are_short
    }
}

/// Returns the part of a processor's time that a task wants: all of it, unless a device, the law of write-back or reclaim holds it back.
fn demand(task: &Task) -> f64 {
    let Some(transfer) = &task.transfer else { return 0.0 };
    let Some((cap, part)) = transfer.cap else { return 0.0 };
    // Nobody has said yet how fast a flow is that has just begun.
    let is_at_cap = transfer.rate == 0.0 || transfer.rate >= AT_CAP * cap;
    match part {
        _ if !is_at_cap => (transfer.rate / task.pace).min(1.0),
        Part::CpuCopy | Part::PageAllocation => 1.0,
        _ => (cap / task.pace).min(1.0),
    }
}

/// Returns the largest part of a processor that a task gets, if none gets more than it wants and all processors are used.
fn share(cores: f64, mut demands: Vec<f64>) -> f64 {
    demands.sort_by(f64::total_cmp);
    let (mut left, mut count) = (cores, demands.len());
    for demand in demands {
        let equal = left / count as f64;
        if demand >= equal {
            return equal;
        }
        left -= demand;
        count -= 1;
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::tasks::cost::Run;
    use crate::policy::kernel::tests::{kernel, write};
    use proptest::prelude::*;

    /// An operation that takes many turns.
    const LONG: u64 = 1 << 40;

    #[test]
    fn spare_processor_time_goes_to_the_others() {
        assert_eq!(share(1.0, vec![1.0, 1.0, 1.0, 1.0]), 0.25);
        assert_eq!(share(1.0, vec![1.0, 0.1, 1.0]), 0.45);
        assert_eq!(share(2.0, vec![1.0, 0.5, 0.5]), 1.0);
        assert_eq!(share(1.0, vec![0.2, 0.3]), 1.0, "there is enough");
    }

    #[test]
    fn tasks_want_the_time_that_nothing_else_holds_back() {
        let mut kernel = kernel("");
        let mut wants = |rate: f64, cap: Option<(f64, Part)>| {
            let writer = write(&mut kernel, 1, Run::New, rate);
            let task = kernel.tasks.get_mut(writer).expect("it is there");
            task.pace = 1000.0;
            task.transfer.as_mut().expect("it moves").cap = cap;
            demand(task)
        };
        assert_eq!(wants(0.0, Some((1000.0, Part::CpuCopy))), 1.0, "it has just begun");
        assert_eq!(wants(250.0, Some((250.0, Part::CpuCopy))), 1.0, "it has a quarter and could use more");
        assert_eq!(wants(250.0, Some((1000.0, Part::CpuCopy))), 0.25, "its device is as slow");
        assert_eq!(wants(100.0, Some((100.0, Part::Throttled))), 0.1);
        assert_eq!(wants(0.0, Some((0.0, Part::Reclaim))), 0.0);
        assert_eq!(wants(1e9, None), 0.0, "copying costs nothing");
    }

    #[test]
    fn only_more_tasks_than_processors_have_to_share_them() {
        let mut kernel = kernel("");
        let mut share_of = |number: u32| {
            let writer = write(&mut kernel, number, Run::New, 0.0);
            let task = kernel.tasks.get_mut(writer).expect("it is there");
            task.transfer.as_mut().expect("it moves").cap = Some((1e9, Part::CpuCopy));
            (task.end, task.pace) = (LONG, 1e9);
            kernel.caps.share_processors(&mut kernel.tasks, Nanos::ZERO);
            kernel.caps.processor_share
        };
        assert_eq!(
            [1, 2, 3, 4, 5, 6, 7, 8].map(&mut share_of)[3..],
            [1.0, 4.0 / 5.0, 4.0 / 6.0, 4.0 / 7.0, 0.5]
        );
    }

    /// Five calls on four processors: the fifth waits for its turn.
    #[test]
    fn short_operations_get_turns() {
        let mut kernel = kernel("");
        for number in 1..=5 {
            let writer = write(&mut kernel, number, Run::New, 0.0);
            let task = kernel.tasks.get_mut(writer).expect("it is there");
            task.transfer.as_mut().expect("it moves").cap = Some((1e9, Part::CpuCopy));
            (task.end, task.pace) = (task.origin + 4096, 1e9);
            kernel.caps.share_processors(&mut kernel.tasks, Nanos::ZERO);
        }
        let running =
            |kernel: &Kernel| -> Vec<bool> { kernel.tasks.values().map(|task| task.has_processor).collect() };
        assert_eq!(kernel.caps.processor_share, 1.0);
        assert_eq!(running(&kernel), [true, true, true, true, false]);
        let next = kernel.caps.turns.next().expect("one waits");
        kernel.caps.share_processors(&mut kernel.tasks, next);
        assert_eq!(running(&kernel).iter().filter(|&&runs| runs).count(), 4);
        assert!(running(&kernel)[4], "it is its turn");
        kernel.tasks.values_mut().for_each(|task| task.end = LONG);
        kernel.caps.share_processors(&mut kernel.tasks, next);
        assert_eq!((kernel.caps.processor_share, running(&kernel)), (0.8, vec![true; 5]), "parts again");
    }

    proptest! {
        #[test]
        fn all_processors_are_used_or_everybody_has_what_he_wants(
            cores in 1u32..20, demands in prop::collection::vec(0.0..=1.0, 1..40),
        ) {
            let share = share(cores.into(), demands.clone());
            let wanted: f64 = demands.iter().sum();
            let used: f64 = demands.iter().map(|demand| demand.min(share)).sum();
            prop_assert!((used - wanted.min(cores.into())).abs() < 1e-9);
        }
    }

    #[test]
    fn a_share_has_changed_if_it_has_by_half_a_percent() {
        let changes = |count: u32| {
            let mut kernel = kernel("");
            let mut has_changed = |number: u32| {
                let writer = write(&mut kernel, number, Run::New, 0.0);
                let task = kernel.tasks.get_mut(writer).expect("it is there");
                task.transfer.as_mut().expect("it moves").cap = Some((1e9, Part::CpuCopy));
                (task.end, task.pace) = (LONG, 1e9);
                kernel.caps.has_share_changed(&mut kernel.tasks, Nanos::ZERO)
            };
            (1..=count).map(&mut has_changed).last()
        };
        // Four processors for one more task: a 191st or a 211th less for each.
        assert_eq!([4, 5, 191, 211].map(changes), [false, true, true, false].map(Some));
    }
}
