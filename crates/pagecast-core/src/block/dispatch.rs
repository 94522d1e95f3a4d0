//! Brings requests that have a tag to the disk: by way of the scheduler, and of `hctx`.
//!
//! Source: `block/blk-mq-sched.c`, `block/blk-mq.c`, `block/blk-flush.c`, Linux 6.12.
//!
//! - A scheduler gives out one request more than the disk takes, which waits for a tag of the disk.
//! - When requests are complete the scheduler fills the disk again at once, before any thread has woken up.
//! - A disk may refuse a request (`hctx`); a thread that submits while a worker sends what was refused goes before it.
//! - A request behind a flush passes the scheduler and all that wait there.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::anticipatory::Anticipatory;
use super::bfq::Bfq;
use super::cfq::Cfq;
use super::deadline::Deadline;
use super::hctx::Hctx;
use super::kyber::Kyber;
use super::mq_deadline::MqDeadline;
use super::none::Noop;
use super::request::Request;
use super::schedule::Schedule;
use super::service::Service;
use super::settings::Settings;
use super::worker::Worker;
use crate::machine::Scheduler;
use crate::run_queue::RunQueue;
use crate::units::{Bytes, Nanos, earlier};

/// The requests that have a tag, and the disk; see the module.
pub struct Dispatch {
    schedule: Box<dyn Schedule + Send>,
    has_scheduler: bool,
    nr_requests: u32,
    service: Service,
    /// The requests that the scheduler has given out and the disk has not taken.
    hctx: Hctx,
    worker: Worker,
    /// Requests that pass the scheduler: those behind a flush.
    at_head: VecDeque<Request>,
    /// The same ones until they are complete.
    passing: FxHashSet<u64>,
}

impl Dispatch {
    pub fn new(settings: &Settings, service: Service) -> Self {
        let schedule: Box<dyn Schedule + Send> = match settings.scheduler {
            Scheduler::None => Box::new(Noop::default()),
            Scheduler::MqDeadline => Box::new(MqDeadline::default()),
            Scheduler::Kyber => Box::new(Kyber::default()),
            Scheduler::Bfq => Box::new(Bfq::new(settings.is_rotational, settings.peak_rate)),
            Scheduler::Deadline => Box::new(Deadline::default()),
            Scheduler::Anticipatory => Box::new(Anticipatory::default()),
            Scheduler::Cfq => Box::new(Cfq::new(settings.is_rotational)),
        };
        Self {
            schedule,
            has_scheduler: settings.scheduler != Scheduler::None,
            nr_requests: settings.nr_requests,
            service,
            hctx: Hctx::default(),
            worker: Worker::default(),
            at_head: VecDeque::new(),
            passing: FxHashSet::default(),
        }
    }

    /// Requests that the disk has.
    pub fn served(&self) -> u64 {
        self.service.under_way()
    }

    /// The time up to which a thread that submits waits for the worker of the queue, which copies, and then goes on if it has more.
    pub fn holds(&mut self, now: Nanos, thread: u32, processors: &RunQueue) -> Option<Nanos> {
        let copies = self.service.copies(processors);
        (copies > now && self.worker.holds(thread)).then_some(copies)
    }

    /// Of so many tags, those that requests of the direction of one may have.
    pub fn limit_depth(&self, request: &Request, tags: u32) -> u32 {
        self.schedule.limit_depth(request, tags)
    }

    /// Lengthens a waiting request by one that begins where it ends, if that is no longer than `most`. Returns its number.
    pub fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        self.schedule.merge(request, most)
    }

    /// Takes a request of a thread, which runs the queue itself unless that is stopped.
    pub fn insert(&mut self, now: Nanos, request: Request) {
        let runs = self.service.may_refuse() && !self.service.is_stopped(now);
        if runs && !self.has_scheduler {
            // It passes those that were inserted while the queue was stopped (`blk_mq_flush_plug_list`).
            return self.hctx.send_first(request);
        }
        self.schedule.insert(now, request);
        if runs {
            self.take_out(now, Hctx::send_first);
        }
    }

    /// Takes a request that passes the scheduler.
    pub fn insert_at_head(&mut self, request: Request) {
        self.passing.insert(request.part);
        self.at_head.push_back(request);
    }

    /// Takes requests out of the scheduler: one more than the disk has tags for (`__blk_mq_do_dispatch_sched`).
    fn take_out(&mut self, now: Nanos, send: impl Fn(&mut Hctx, Request)) {
        let most = if self.service.may_refuse() { self.hctx.batch(self.nr_requests) } else { 1 };
        for _ in 0..most {
            let has_tag = self.service.has_room_for(self.hctx.len());
            let Some(request) = self.schedule.dispatch(now) else { return };
            send(&mut self.hctx, request);
            if !has_tag {
                return;
            }
        }
    }

    /// Sends waiting requests to the disk as long as it takes some.
    pub fn fill(&mut self, now: Nanos, processors: &mut RunQueue) {
        while self.service.takes(now)
            && let Some(request) = self.at_head.pop_front()
        {
            if !self.service.passes(now, &request) {
                return self.at_head.push_front(request);
            }
            self.service.begin(now, request, processors);
        }
        while self.service.takes(now) {
            if self.hctx.is_empty() {
                self.take_out(now, Hctx::send);
            }
            let Some(request) = self.hctx.next() else { return self.worker.stops() };
            if !self.service.passes(now, &request) {
                self.worker.stops();
                return self.hctx.refused(request);
            }
            self.hctx.taken();
            self.schedule.started(now, &request);
            if self.hctx.is_of_worker() {
                self.worker.runs();
            }
            self.service.begin(now, request, processors);
        }
        if self.has_scheduler && self.hctx.is_empty() && !self.service.may_refuse() {
            self.take_out(now, Hctx::send);
        }
    }

    /// Ends the plugs of threads that have submitted all they have (`blk_finish_plug`), or sleep.
    pub fn unplug(&mut self, now: Nanos, is_plugged: impl Fn(u32) -> bool) {
        self.service.unplug(now, is_plugged);
    }

    /// Brings the disk up to an instant. Returns what it has served.
    pub fn advance(&mut self, now: Nanos) -> Vec<Request> {
        self.service.advance(now)
    }

    /// Notes that a request is complete; true if it was the scheduler's.
    pub fn completed(&mut self, now: Nanos, request: &Request) -> bool {
        let was_scheduled = !self.passing.remove(&request.part);
        if was_scheduled {
            self.schedule.completed(now, request);
        }
        was_scheduled
    }

    /// The time at which the disk has served its next request, or serves again if some `wait`.
    pub fn next_event(&self, now: Nanos, wait: bool) -> Option<Nanos> {
        let takes_one_more = self.hctx.is_empty() && !self.service.may_refuse();
        let takes = self.service.takes(now) || takes_one_more;
        let scheduled = self.schedule.next_event().filter(|_| takes);
        let restarts = self.service.restarts(now).filter(|_| wait);
        earlier(earlier(self.service.next_event(), restarts), scheduled)
    }
}
