//! Lets a thread mind other threads and its own latencies: it is ended, waits for its turn, sleeps, searches its depth.

use super::{Running, Stage};
use crate::readers::fio::job::{READ, WRITE};
use crate::readers::fio::target::Next;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, MappedCall};

/// A thread that sleeps looks this often whether it has been ended (`usec_sleep`).
const NOTICES_EVERY: Nanos = Nanos(1_000_000_000);

impl Running {
    fn place(&self) -> usize {
        self.thread.number as usize - 1
    }

    /// The time of its stonewall.
    fn time_of_wave(&self, now: Nanos) -> Nanos {
        Nanos(self.thread.start.0.saturating_add(now.0))
    }

    /// Whether another thread has ended it, or it is steady.
    pub(super) fn is_called_off(&self) -> bool {
        self.together.as_ref().is_some_and(|together| together.is_terminated(self.place()))
    }

    /// Its time begins.
    pub(super) fn begin_time(&mut self, now: Nanos) {
        if let Some(together) = &self.together {
            together.began(self.place(), self.time_of_wave(now));
        }
        if let Some(search) = &mut self.search {
            search.begin(now);
        }
    }

    /// Its end, of which others may be told.
    pub(super) fn leave(&mut self) {
        if let Some(together) = self.together.take() {
            together.ended(self.place());
        }
    }

    /// Whether its flow holds it back: it sleeps, or waits for another thread to go on.
    pub(super) fn waits_for_flow(&mut self) -> bool {
        let Some(together) = self.together.as_ref().filter(|_| self.thread.job.flow.weight > 0) else {
            return false;
        };
        if together.goes_on(self.place()) {
            return false;
        }
        match self.thread.job.flow.sleep {
            Nanos::ZERO => self.is_held = true,
            time => {
                self.drain();
                self.put(Action::Sleep { time, random: None });
            }
        }
        true
    }

    /// Whether it could be ended in a sleep of this length.
    pub(super) fn notices_others_in(&self, time: Nanos) -> bool {
        time > NOTICES_EVERY && self.together.as_ref().is_some_and(|together| together.may_end_others())
    }

    /// Sleeps; in parts, between which it notices that it has been ended.
    pub(super) fn sleep(&mut self, mut time: Nanos) {
        while self.notices_others_in(time) {
            let part = Nanos(NOTICES_EVERY.0 + time.0 % NOTICES_EVERY.0).min(time);
            self.put(Action::Sleep { time: part, random: None });
            time -= part;
        }
        if time > Nanos::ZERO {
            self.put(Action::Sleep { time, random: None });
        }
    }

    /// The requests that may be under way.
    pub(super) fn depth(&self) -> u32 {
        self.search.as_ref().map_or(self.thread.job.depth, |search| search.depth)
    }

    /// Judges a window of `latency_target`; true if something has to come before the next request.
    pub(super) fn look_at_latencies(&mut self, now: Nanos) -> bool {
        let next = match &mut self.search {
            Some(search) if self.is_ramp_over => search.look(now),
            _ => return false,
        };
        self.follow(next);
        next != Next::GoOn
    }

    fn follow(&mut self, next: Next) {
        match next {
            Next::GoOn => {}
            Next::Drain => self.drain(),
            Next::Found | Next::Failed => {
                self.is_terminated = true;
                if self.stage == Stage::Issue {
                    self.stage = Stage::Finish;
                }
            }
        }
    }

    /// Whether it is told of the end of each request.
    pub(super) fn watches_requests(&self) -> bool {
        let job = &self.thread.job;
        let is_judged = self.together.is_some() && job.steady.is_some();
        is_judged || self.search.is_some() || job.most_latency.iter().any(|&most| most > Nanos::ZERO)
    }

    /// A request has ended, or another operation.
    pub(super) fn note_end(&mut self, action: &Action, bytes: Bytes, began: Nanos, now: Nanos) {
        let direction = match action {
            Action::Read { .. } | Action::Mapped { call: MappedCall::Read { .. }, .. } => READ,
            Action::Write { .. } | Action::Mapped { call: MappedCall::Write { .. }, .. } => WRITE,
            _ => return,
        };
        if self.epoch == Nanos(u64::MAX) {
            return;
        }
        let took = now.saturating_sub(began);
        let most = self.thread.job.most_latency[direction];
        if most > Nanos::ZERO && took > most {
            self.follow(Next::Failed);
        }
        if let Some(search) = &mut self.search {
            let next = search.note(took, now);
            self.follow(next);
        }
        if let Some(together) = self.together.as_ref().filter(|_| self.is_ramp_over) {
            together.moved(self.place(), bytes.0, self.time_of_wave(now));
        }
    }
}
