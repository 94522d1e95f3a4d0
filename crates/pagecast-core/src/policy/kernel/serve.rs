//! Serves a read or write up to its end, if that is one run of a task that is alone on the host.
//!
//! Ours: nothing but time. All steps are those of the driver, at the same instants. Only decisions are left out that would change nothing:
//! nobody is throttled, no flusher works or is about to, and nothing is to be told.

use crate::flow::{Completion, Progress};
use crate::policy::kernel::Kernel;
use crate::policy::kernel::driver::{begin, drive, run_ended};
use crate::policy::kernel::fs_writeback::flusher::Flusher;
use crate::policy::kernel::model::settle::settle;
use crate::policy::kernel::page::PAGE;
use crate::policy::{Actions, Call, Policy, Request, Undisturbed};
use crate::result::Parts;
use crate::units::Nanos;

/// What a decision is made of, beside timers: it is the same where these are.
#[derive(Clone, Copy, PartialEq)]
struct Decided {
    turnover: u64,
    anonymous: u64,
    dirty: u64,
    dirtied: u64,
}

impl Kernel {
    /// Does as `begin`; returns the end of the operation if it has been served up to there.
    pub fn serve_run(
        &mut self,
        now: Nanos,
        request: &Request,
        by: &mut dyn Undisturbed,
        out: &mut Actions,
    ) -> Option<Nanos> {
        self.catch_up(now);
        let was_at_rest = self.tasks.len() == 0
            && matches!(
                request.call,
                Call::Read { .. } | Call::Write { through: false, dontcache: false, .. }
            )
            && self.is_at_rest(now);
        let decided = self.decided();
        let cx = &mut self.context(now, out);
        settle(cx);
        begin(cx, request);
        drive(cx, request.operation);
        let goes_on_at_rest = was_at_rest && !self.pages.is_exhausted();
        if !goes_on_at_rest {
            self.control(now, out);
        }
        let end = self.serve_up_to_end(now, request, by, out);
        match end {
            None if goes_on_at_rest => self.control(now, out),
            Some(end) if goes_on_at_rest && self.tasks.len() == 0 && self.decided() == decided => {
                self.clock.decided = Some(end);
            }
            Some(end) => self.control(end, out),
            None => {}
        }
        self.check();
        end
    }

    /// Ends the only run, if that is under way and nobody wants to look at it before its end.
    fn serve_up_to_end(
        &mut self,
        now: Nanos,
        request: &Request,
        by: &mut dyn Undisturbed,
        out: &mut Actions,
    ) -> Option<Nanos> {
        let (flow, spec) = out.only_start().filter(|_| self.tasks.len() == 1)?;
        let course = by.alone(&spec)?;
        let heard = |kernel: &mut Self, rate: f64| {
            let transfer = kernel.tasks.get_mut(request.operation).and_then(|task| task.transfer.as_mut());
            let transfer = transfer.filter(|transfer| transfer.flow == flow)?;
            transfer.heard(now, &Progress { flow, tag: spec.tag, done: 0.0, rate });
            Some(())
        };
        heard(self, course.rate)?;
        let looks_before = self.schedule(now).is_some_and(|next| next <= course.end);
        if looks_before || self.told.states.is_due(course.end) {
            heard(self, 0.0)?;
            return None;
        }
        out.take_start_back(flow);
        by.record(now, self.levels());
        self.catch_up(course.end);
        by.record(course.end, self.levels());
        let parts = Parts::of(course.part, course.end - now);
        let done = Completion { flow, tag: spec.tag, bytes: spec.bytes, parts };
        run_ended(&mut self.context(course.end, out), request.operation, &done);
        Some(course.end)
    }

    fn decided(&self) -> Decided {
        let (turnover, dirty) = (self.pages.lists().turnover_of_all(), self.pages.dirty());
        let anonymous = self.pages.anonymous();
        Decided { turnover, anonymous, dirty: dirty.total(), dirtied: dirty.dirtied() }
    }

    /// True if `control` with a task that reads or writes would change nothing now.
    fn is_at_rest(&self, now: Nanos) -> bool {
        let Self { pages, write_back, flushers, block, tasks, told, clock, .. } = self;
        let (dirty, limits) = (pages.dirty(), write_back.limits());
        let is_over =
            dirty.dirty() / PAGE > limits.thresholds.background || dirty.total() / PAGE > limits.freerun;
        !is_over
            && !clock.is_put_off
            && !tasks.has_followers
            && !tasks.has_busy
            && self.caps.processor_share_is_whole()
            && !told.states.is_due(now)
            && pages.is_plain()
            && block.is_idle()
            && flushers.iter().all(|flusher| Flusher::rests(flusher, now))
            && write_back.rests(now)
    }
}
