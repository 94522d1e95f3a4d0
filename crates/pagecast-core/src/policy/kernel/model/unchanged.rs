//! What holds for all tasks until one of them changes.
//!
//! With many tasks most events are the end of a unit of write-back, or a level that comes to a threshold, and change nothing of any
//! task but how far it is. What was found when all of them were last looked at is then what would be found again.

use crate::policy::kernel::Kernel;
use crate::policy::kernel::model::control::is_news;
use crate::policy::kernel::model::next_call::Survey;
use crate::policy::kernel::task::ids::MemcgId;
use crate::policy::kernel::task::task::Task;

/// What the caps were set for: the tasks, by `Tasks::changes`, and the part of a processor that each of them gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapsOf {
    changes: u64,
    rate_changes: u64,
    processor_share: f64,
}

impl Kernel {
    /// What caps are for that are set now.
    pub fn caps_of_now(&self) -> CapsOf {
        CapsOf {
            changes: self.tasks.changes(),
            rate_changes: self.write_back.rate_changes,
            processor_share: self.caps.processor_share,
        }
    }

    /// Whether all caps are what they were, if there are pages to be had. Who runs ahead of his rate does so for a time.
    pub fn do_caps_hold(&self) -> bool {
        !self.tasks.runs_ahead && self.caps.caps_of == Some(self.caps_of_now())
    }

    /// Whether the cap of a task may be another one because something else has come into memory or left it.
    pub fn depends_on_memory(&self, task: &Task) -> bool {
        task.memcg != MemcgId::ROOT || !self.config.prices.are_nothing(task.page_insert())
    }

    /// Whether caps are what they would be if they were set now. For debug builds: this is what need not be done.
    pub fn are_caps_right(&self) -> bool {
        self.tasks.iter().all(|(operation, task)| {
            let cap = || self.cap(task, operation, false);
            task.transfer.as_ref().is_none_or(|transfer| !is_news(transfer.cap, cap()))
        })
    }

    /// What one look at all tasks tells, now or when one of them last changed.
    pub fn survey(&self) -> Survey {
        let changes = self.tasks.changes();
        if let Some((before, survey)) = self.caps.surveyed.get()
            && before == changes
            && !self.tasks.runs_ahead
        {
            debug_assert_eq!(survey, self.survey_tasks(), "no task has changed");
            return survey;
        }
        let survey = self.survey_tasks();
        self.caps.surveyed.set((!survey.is_fleeting).then_some((changes, survey)));
        survey
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Actions;
    use crate::policy::OperationId;
    use crate::policy::kernel::page_writeback::balance_dirty_pages::TaskRate;
    use crate::policy::kernel::task::cost::Run;
    use crate::policy::kernel::task::credit::Credit;
    use crate::policy::kernel::tests::{kernel, write};
    use crate::units::Nanos;

    const WRITER: OperationId = OperationId(1);

    /// Whether caps hold that were set for a writer, and whether they do after a change.
    fn hold(settings: &str, change: impl FnOnce(&mut Kernel)) -> [bool; 2] {
        let mut kernel = kernel(settings);
        write(&mut kernel, WRITER.0, Run::New, 0.0);
        kernel.control(Nanos::ZERO, &mut Actions::default());
        let before = kernel.do_caps_hold();
        change(&mut kernel);
        [before, kernel.do_caps_hold()]
    }

    #[test]
    fn caps_hold_until_a_task_changes_or_somebody_runs_ahead() {
        let free = "";
        let millisecond = Nanos(1_000_000);
        assert_eq!(hold(free, |kernel| kernel.sync(millisecond)), [true, true], "time passes");
        let task = |kernel: &mut Kernel| {
            kernel.tasks.get_mut(WRITER).expect("it is there");
        };
        assert_eq!(hold(free, task), [true, false]);
        assert_eq!(hold(free, |kernel| kernel.caps.processor_share = 0.5), [true, false]);
        let credit = |kernel: &mut Kernel| {
            kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").task_rate =
                Some(TaskRate::fixed(1e6));
            let credit = Some(Credit { seconds: 0.5, at: Nanos::ZERO });
            kernel.tasks.moving().for_each(|task| task.credit = credit);
            kernel.sync(millisecond);
        };
        assert_eq!(hold(free, credit), [true, false]);
        let dear = "memory.cost.call = '1 ms'";
        assert_eq!(hold(dear, |_| ()), [false, false], "what it costs depends on the memory");
    }

    #[test]
    fn a_survey_holds_until_a_task_changes() {
        let mut kernel = kernel("");
        let surveyed = |kernel: &mut Kernel, rate: f64| {
            write(kernel, WRITER.0, Run::New, rate);
            (kernel.survey(), kernel.survey_tasks())
        };
        let [(one, again), (other, anew)] = [1e6, 2e6].map(|rate| surveyed(&mut kernel, rate));
        assert_eq!((one, other), (again, anew));
        assert_ne!(one, other);
    }
}
