//! What holds for all tasks until one of them changes.
//!
//! With many tasks most events are the end of a unit of write-back, or a level that comes to a threshold, and change nothing of any
//! task but how far it is. What was found when all of them were last looked at is then what would be found again.

use super::Kernel;
use super::control::is_news;
use super::memcg::MemcgId;
use super::schedule::Survey;
use super::tasks::Task;

/// What the caps were set for: the tasks, by `Tasks::changes`, and the part of a processor that each of them gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CapsOf {
    changes: u64,
    processor_share: f64,
}

impl Kernel {
    /// What caps are for that are set now.
    pub(super) fn caps_of_now(&self) -> CapsOf {
        CapsOf { changes: self.tasks.changes(), processor_share: self.processor_share }
    }

    /// Whether all caps are what they were, if there are pages to be had. Who runs ahead of his rate does so for a time.
    pub(super) fn do_caps_hold(&self) -> bool {
        !self.runs_ahead && self.caps_of == Some(self.caps_of_now())
    }

    /// Whether the cap of a task may be another one because something else has come into memory or left it.
    pub(super) fn depends_on_memory(&self, task: &Task) -> bool {
        task.memcg != MemcgId::ROOT || !self.prices.are_nothing(task.page_insert())
    }

    /// Checks in debug builds that caps are what they would be if they were set now.
    pub(super) fn check_caps(&self) {
        for (operation, task) in self.tasks.iter().filter(|_| cfg!(debug_assertions)) {
            let Some(transfer) = &task.transfer else { continue };
            assert!(!is_news(transfer.cap, self.cap(task, operation, false)), "its cap is what it was");
        }
    }

    /// What one look at all tasks tells, now or when one of them last changed.
    pub(super) fn survey(&self) -> Survey {
        let changes = self.tasks.changes();
        if let Some((before, survey)) = self.surveyed.get()
            && before == changes
            && !self.runs_ahead
        {
            debug_assert_eq!(survey, self.survey_tasks(), "no task has changed");
            return survey;
        }
        let survey = self.survey_tasks();
        self.surveyed.set((!survey.is_fleeting).then_some((changes, survey)));
        survey
    }
}
