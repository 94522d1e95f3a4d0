//! Sets the cap of each task: the rate to which something holds it back.
//!
//! Ours. With many tasks most events are the end of a unit of write-back, or a level at a threshold. They change the progress of tasks and
//! nothing else. So the caps and the survey of all tasks are cached until a task or a rate changes.

use std::cell::Cell;
use std::sync::Arc;

use crate::policy::OperationId;
use crate::policy::kernel::block::Block;
use crate::policy::kernel::config::Config;
use crate::policy::kernel::discretisation::LEAST_CHANGE;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::next_call::{Survey, survey_tasks};
use crate::policy::kernel::model::turns::Turns;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::rates::rate_of;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::cost::{Distance, PerByte, Run, Step};
use crate::policy::kernel::tasks::credit::has_credit;
use crate::policy::kernel::tasks::ids::MemcgId;
use crate::policy::kernel::tasks::table::Tasks;
use crate::policy::kernel::tasks::task::Task;
use crate::result::Part;

/// The state for which the caps were set: the tasks, by `Tasks::changes`, and each task's part of a processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapsOf {
    changes: u64,
    rate_changes: u64,
    processor_share: f64,
}

/// Caps and the survey, cached at the last look at all tasks.
pub struct Caps {
    /// The state for which the caps hold.
    pub(super) caps_of: Option<CapsOf>,
    /// The last survey of all tasks, and their changes then.
    pub(super) surveyed: Cell<Option<(u64, Survey)>>,
    /// The part of a processor's time for a task that could use all of it.
    pub(super) processor_share: f64,
    /// The turns of tasks whose operations are short.
    pub turns: Turns,
    pub config: Arc<Config>,
}

impl Caps {
    pub fn new(config: &Arc<Config>) -> Self {
        let (host, version) = (&config.host, config.host.kernel.version);
        let turns = Turns::new(host.cores, host.kernel.hz, version);
        let surveyed = Cell::new(None);
        Self { caps_of: None, surveyed, processor_share: 1.0, turns, config: config.clone() }
    }

    /// True if no task has to share its processor.
    pub fn processor_share_is_whole(&self) -> bool {
        self.processor_share == 1.0 && self.turns.next().is_none()
    }

    /// Returns the cap of a task; all tasks share whether memory is exhausted.
    // Of every task with every event.
    #[inline(always)]
    pub fn cap(
        &self,
        pages: &Pages,
        write_back: &WriteBack,
        block: &Block,
        task: &Task,
        operation: OperationId,
        is_exhausted: bool,
    ) -> Option<(f64, Part)> {
        if task.is_at_device {
            return None;
        }
        self.cap_at(pages, write_back, task, is_exhausted, || self.cost(pages, block, task, operation))
    }

    /// Returns the cap of a task whose bytes cost so much.
    #[inline(always)]
    pub fn cap_at(
        &self,
        pages: &Pages,
        write_back: &WriteBack,
        task: &Task,
        is_exhausted: bool,
        cost: impl FnOnce() -> PerByte,
    ) -> Option<(f64, Part)> {
        if is_exhausted && task.takes_memory() {
            return Some((0.0, Part::Reclaim));
        }
        // If there are pages for it.
        let cap = match write_back.throttled_rate(task) {
            Some(rate) if self.is_far_below_pace(task, rate) => Some((rate, Part::Throttled)),
            throttled => self.cap_by_costs(task, throttled, &cost()),
        };
        match pages.charging_rate(task) {
            Some(rate) if cap.is_none_or(|(cap, _)| rate < cap) => Some((rate, Part::Reclaim)),
            _ => cap,
        }
    }

    /// Returns the cap of a task if the law lets it do so much, or anything.
    fn cap_by_costs(&self, task: &Task, throttled: Option<f64>, cost: &PerByte) -> Option<(f64, Part)> {
        let part = if task.run == Run::Touch { Part::PageAllocation } else { Part::CpuCopy };
        let processors = if task.has_processor { self.processor_share } else { 0.0 };
        let own = task.shape.thread_rate(cost).map(|rate| processors * rate);
        match (throttled, task.shape.latency_rate()) {
            (Some(rate), _) if own.is_none_or(|own| rate < own) => Some((rate, Part::Throttled)),
            (_, Some(rate)) if own.is_none_or(|own| rate < own) => Some((rate, Part::DeviceRead)),
            _ => own.map(|own| (own, part)),
        }
    }

    /// True if the law alone holds a task back, by as much as when its cap was set: nothing follows then.
    #[inline(always)]
    fn is_held_as_before(&self, write_back: &WriteBack, task: &Task, old: Option<(f64, Part)>) -> bool {
        let Some((cap, Part::Throttled)) = old else { return false };
        task.held_by == Some(Part::Throttled)
            && rate_of(&write_back.wbs, task) == Some(cap)
            && !has_credit(task)
            && task.checks().is_none()
            && task.memcg == MemcgId::ROOT
            && self.is_far_below_pace(task, cap)
    }

    /// True if nothing holds back, or held back, a task that makes no pages dirty, on a host without costs.
    #[inline(always)]
    fn is_free_as_before(&self, task: &Task, old: Option<(f64, Part)>) -> bool {
        old.is_none()
            && task.held_by.is_none()
            && !task.run.dirties()
            && task.memcg == MemcgId::ROOT
            && task.shape.is_free()
            && self.config.prices.are_nothing(task.page_insert())
    }

    /// True if a task may do so much less than its thread could that its costs need no look.
    #[inline(always)]
    fn is_far_below_pace(&self, task: &Task, rate: f64) -> bool {
        rate < self.processor_share * task.pace / 4.0
    }

    /// Returns the cost of a task's bytes for its thread.
    pub fn cost(&self, pages: &Pages, block: &Block, task: &Task, operation: OperationId) -> PerByte {
        let page_insert = task.page_insert();
        if task.reads_ahead() || (task.mapped.is_none() && self.config.prices.are_nothing(page_insert)) {
            return PerByte::default();
        }
        let operation = task.kind.owner(operation);
        // Only a task that adds pages to a file notices.
        let is_being_written =
            task.run == Run::New && task.file.as_ref().is_some_and(|file| block.is_being_written(file));
        let distance = if pages.nodes() > 1 { pages.distance(task, operation) } else { Distance::default() };
        let touched = pages.touched(task, operation);
        let (reclaimed, reported) = (pages.reclaimed(task), pages.reported(task));
        self.config.prices.per_byte(&Step {
            run: task.run,
            piece: task.piece,
            touched,
            distance,
            is_being_written,
            reclaimed,
            reported,
            page_insert,
            reserves: has_no_block(task),
            folio: task.folio,
            access: task.access,
        })
    }

    /// Returns the state for which caps set now would hold.
    fn caps_of_now(&self, write_back: &WriteBack, tasks: &Tasks) -> CapsOf {
        CapsOf {
            changes: tasks.changes(),
            rate_changes: write_back.rate_changes(),
            processor_share: self.processor_share,
        }
    }

    /// True if all caps still hold, if there are pages to be had. A task ahead of its rate has its cap for a time only.
    fn do_caps_hold(&self, write_back: &WriteBack, tasks: &Tasks) -> bool {
        !tasks.runs_ahead && self.caps_of == Some(self.caps_of_now(write_back, tasks))
    }

    /// True if the cap of a task may change when anything else comes into memory or leaves it.
    fn depends_on_memory(&self, task: &Task) -> bool {
        task.memcg != MemcgId::ROOT || !self.config.prices.are_nothing(task.page_insert())
    }

    /// True if the caps are what they would be if set now. Debug builds check this.
    fn are_caps_right(&self, pages: &Pages, write_back: &WriteBack, block: &Block, tasks: &Tasks) -> bool {
        tasks.iter().all(|(operation, task)| {
            let cap = || self.cap(pages, write_back, block, task, operation, false);
            task.transfer.as_ref().is_none_or(|transfer| !is_news(transfer.cap, cap()))
        })
    }

    /// Surveys all tasks; returns the cached survey if no task has changed since.
    pub fn survey(&self, pages: &Pages, write_back: &WriteBack, tasks: &Tasks) -> Survey {
        let changes = tasks.changes();
        if let Some((before, survey)) = self.surveyed.get()
            && before == changes
            && !tasks.runs_ahead
        {
            debug_assert_eq!(survey, survey_tasks(pages, write_back, tasks), "no task has changed");
            return survey;
        }
        let survey = survey_tasks(pages, write_back, tasks);
        self.surveyed.set((!survey.is_fleeting).then_some((changes, survey)));
        survey
    }
}

/// True if the file of a task has no block yet where it is. A hole in the middle of a file counts as one that has.
fn has_no_block(task: &Task) -> bool {
    task.file.as_ref().is_some_and(|file| task.position >= file.filled.0)
}

/// Tells that a task is held back no more, since it has ended a run.
pub fn let_go(cx: &mut Context<'_>, operation: OperationId, held_by: Option<Part>) {
    if held_by.is_none() {
        return;
    }
    let wb = cx.tasks[operation].wb;
    cx.block.note_sleep(cx.now, wb, held_by);
    let dirty = cx.write_back.dirty_told(cx.pages, wb);
    cx.told.end_run(cx.config, cx.now, (operation, wb), held_by, dirty);
}

/// Sets the caps of all tasks, unless the last ones still hold.
pub fn set_caps(cx: &mut Context<'_>) {
    // Some have begun since.
    cx.pages.look_who_takes(cx.tasks);
    cx.caps.share_processors(cx.tasks, cx.now);
    let is_exhausted = cx.pages.is_exhausted();
    if !is_exhausted && cx.caps.do_caps_hold(cx.write_back, cx.tasks) {
        debug_assert!(
            cx.caps.are_caps_right(cx.pages, cx.write_back, cx.block, cx.tasks),
            "caps are what they were"
        );
        return;
    }
    let mut depends = is_exhausted;
    for (operation, task) in cx.tasks.iter_mut() {
        let Some(old) = task.transfer.as_ref().map(|transfer| transfer.cap) else { continue };
        // With many tasks that is so of most of them with most events, and found out sooner than all that a cap is made of.
        if !is_exhausted
            && (cx.caps.is_held_as_before(cx.write_back, task, old) || cx.caps.is_free_as_before(task, old))
        {
            debug_assert!(
                !is_news(old, cx.caps.cap(cx.pages, cx.write_back, cx.block, task, operation, false)),
                "its cap is what it was"
            );
            continue;
        }
        depends |= task.runs_ahead() || cx.caps.depends_on_memory(task);
        let cap = cx.caps.cap(cx.pages, cx.write_back, cx.block, task, operation, is_exhausted);
        if let Some(transfer) = task.transfer.as_mut().filter(|_| is_news(old, cap)) {
            cx.out.set_cap(transfer.flow, cap);
            transfer.cap = cap;
        }
        cx.told.note_cap(cx.pages, cx.write_back, cx.block, cx.now, operation, task);
    }
    cx.caps.caps_of = (!depends).then(|| cx.caps.caps_of_now(cx.write_back, cx.tasks));
}

/// True if a cap has changed enough to matter.
fn is_news(old: Option<(f64, Part)>, new: Option<(f64, Part)>) -> bool {
    match (old, new) {
        (Some((old, before)), Some((new, after))) if before == after => {
            (new - old).abs() > LEAST_CHANGE * old
        }
        _ => old != new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kernel::Kernel;
    use crate::policy::kernel::fs_writeback::flusher::Flusher;
    use crate::policy::kernel::page::PAGE;
    use crate::policy::kernel::page_writeback::law::Thresholds;
    use crate::policy::kernel::page_writeback::limits::Limits;
    use crate::policy::kernel::page_writeback::shares::Strict;
    use crate::policy::kernel::page_writeback::task_rate::TaskRate;
    use crate::policy::kernel::tasks::credit::Credit;
    use crate::policy::kernel::tasks::ids::WbId;
    use crate::policy::kernel::tests::{MIB, kernel, write};
    use crate::policy::{Actions, FileId};
    use crate::units::Nanos;

    const WRITER: OperationId = OperationId(1);

    /// True if the caps set for a writer hold, and if they do after a change.
    fn hold(settings: &str, change: impl FnOnce(&mut Kernel)) -> [bool; 2] {
        let mut kernel = kernel(settings);
        write(&mut kernel, WRITER.0, Run::New, 0.0);
        kernel.control(Nanos::ZERO, &mut Actions::default());
        let before = kernel.caps.do_caps_hold(&kernel.write_back, &kernel.tasks);
        change(&mut kernel);
        [before, kernel.caps.do_caps_hold(&kernel.write_back, &kernel.tasks)]
    }

    #[test]
    fn caps_hold_until_a_task_changes_or_somebody_runs_ahead() {
        let free = "";
        let millisecond = Nanos(1_000_000);
        assert_eq!(hold(free, |kernel| kernel.catch_up(millisecond)), [true, true], "time passes");
        let task = |kernel: &mut Kernel| {
            kernel.tasks.get_mut(WRITER).expect("it is there");
        };
        assert_eq!(hold(free, task), [true, false]);
        assert_eq!(hold(free, |kernel| kernel.caps.processor_share = 0.5), [true, false]);
        let credit = |kernel: &mut Kernel| {
            kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").task_rate =
                Some(TaskRate::fixed(1e6));
            let credit = Some(Credit { seconds: 0.5, ..Credit::new(Nanos::ZERO) });
            kernel.tasks.moving().for_each(|task| task.credit = credit);
            kernel.catch_up(millisecond);
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
            (
                kernel.caps.survey(&kernel.pages, &kernel.write_back, &kernel.tasks),
                survey_tasks(&kernel.pages, &kernel.write_back, &kernel.tasks),
            )
        };
        let [(one, again), (other, anew)] = [1e6, 2e6].map(|rate| surveyed(&mut kernel, rate));
        assert_eq!((one, other), (again, anew));
        assert_ne!(one, other);
    }

    #[test]
    fn a_cap_is_news_if_it_is_another_part_or_differs_by_more_than_half_a_percent() {
        let before = Some((1000.0, Part::Throttled));
        let news = [994.0, 996.0, 1004.0, 1006.0].map(|rate| is_news(before, Some((rate, Part::Throttled))));
        assert_eq!(news, [true, false, false, true]);
        assert!(is_news(before, Some((1000.0, Part::CpuCopy))) && is_news(before, None));
        assert!(is_news(None, before) && !is_news(None, None));
        let nothing = Some((0.0, Part::Throttled));
        assert!(is_news(nothing, before) && !is_news(nothing, nothing));
    }

    #[test]
    fn the_lowest_limit_of_a_task_is_its_cap() {
        let mut kernel = kernel("cgroup.batch.memory.max = '512 MiB'");
        let writer = write(&mut kernel, 1, Run::New, 0.0);
        kernel.tasks.get_mut(writer).expect("it is there").memcg = MemcgId::of(0);
        let cap = |kernel: &Kernel, is_exhausted| {
            kernel.caps.cap(
                &kernel.pages,
                &kernel.write_back,
                &kernel.block,
                &kernel.tasks[writer],
                writer,
                is_exhausted,
            )
        };
        assert_eq!(cap(&kernel, false), None, "nothing costs anything on this host");
        assert_eq!(cap(&kernel, true), Some((0.0, Part::Reclaim)));
        kernel.pages.memcgs[0].busy = MIB;
        let (charging, part) = cap(&kernel, false).expect("its group holds it back");
        assert_eq!(part, Part::Reclaim);
        let mut with_law = |rate: f64| {
            kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").task_rate =
                Some(TaskRate::fixed(rate));
            cap(&kernel, false)
        };
        assert_eq!(with_law(charging / 2.0), Some((charging / 2.0, Part::Throttled)));
        assert_eq!(with_law(charging * 2.0), Some((charging, Part::Reclaim)));
    }

    #[test]
    fn a_writer_wakes_the_flusher_above_the_background_threshold_or_free_run() {
        let has_work = |dirty: u64, writeback: u64, run: Run| {
            let mut kernel = kernel("");
            write(&mut kernel, 1, run, 0.0);
            kernel.pages.dirty_mut().make_dirty(FileId(5), WbId(0), 0, writeback * PAGE, Nanos(0));
            kernel.pages.dirty_mut().submit(FileId(5), u64::MAX);
            kernel.pages.dirty_mut().run_ahead(WbId(0), dirty * PAGE);
            kernel.flushers.wake_flushers(&kernel.pages, &kernel.write_back, &kernel.tasks, Nanos(0));
            kernel.flushers.get(0).is_some_and(Flusher::has_work)
        };
        let Limits { thresholds: Thresholds { background, .. }, freerun, .. } =
            *kernel("").write_back.limits();
        assert_eq!([background, background + 1].map(|dirty| has_work(dirty, 0, Run::New)), [false, true]);
        assert_eq!([freerun, freerun + 1].map(|pages| has_work(0, pages, Run::New)), [false, true]);
        assert!(!has_work(background + 1, 0, Run::Hit), "nobody writes");
    }

    /// `mm/page-writeback.c: balance_dirty_pages`: a writer to a strict device looks at its dirty pages.
    #[test]
    fn a_writer_to_a_strict_device_wakes_the_flusher_beyond_its_free_run() {
        const PART: Thresholds = Thresholds { limit: 150, background: 50 };
        let has_work = |own: u64, of_others: u64| {
            let mut kernel = kernel("");
            write(&mut kernel, 1, Run::New, 0.0);
            kernel.write_back.has_strict = true;
            kernel.write_back.wbs[0].as_mut().expect("somebody writes to it").strict = Some(Strict::of(PART));
            kernel.pages.dirty_mut().run_ahead(WbId(0), own * PAGE);
            kernel.pages.dirty_mut().run_ahead(WbId(1), of_others * PAGE);
            kernel.flushers.wake_flushers(&kernel.pages, &kernel.write_back, &kernel.tasks, Nanos(0));
            kernel.flushers.get(0).is_some_and(Flusher::has_work)
        };
        assert_eq!([100, 101, 102].map(|own| has_work(own, 0)), [false, true, true]);
        // The background threshold of the host holds beside it, its free run does not.
        let background = kernel("").write_back.limits().thresholds.background;
        assert_eq!(
            [background, background + 1, background + 2].map(|dirty| has_work(0, dirty)),
            [false, true, true]
        );
    }
}
