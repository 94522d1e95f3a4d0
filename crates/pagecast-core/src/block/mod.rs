//! Serves requests one by one: the block layer between file systems and a disk.
//!
//! Source: `block/blk-mq.c`, `block/blk-mq-tag.c`, `block/blk-mq-sched.c`, `block/blk-merge.c`, Linux 6.12. A state machine without a clock:
//! requests come with the time, and what is complete goes out.
//!
//! - A request needs a tag of the scheduler (`nr_requests`), or without a scheduler one of the disk. A thread that finds none sleeps, and its
//!   later requests wait behind that one; threads get tags in the order in which they came.
//! - A disk may refuse a request (`hctx`); a thread that submits while a worker sends what was refused goes before it.
//! - The single queue has `nr_requests` for reads and as many for writes (`block/blk-core.c: get_request`, Linux 4.20).
//! - When requests are complete the scheduler fills the disk again at once, before any thread has woken up.
//! - A thread sends one request after the other, and takes its time for each.
//! - The disk serves so many requests at a time as it has tags (`service`).
//! - A call of a cgroup beyond its `io.max` waits before it is cut (`throttle`), and a thread whose cgroup has spent its part of the disk
//!   before it has a tag (`iocost`).
//!
//! Left out: several queues of the hardware; plugs; polled requests.

mod allowance;
mod anticipatory;
mod bfq;
mod cfq;
mod deadline;
mod disk_cache;
mod elevator;
mod hctx;
mod iocost;
mod kyber;
mod mq_deadline;
mod none;
mod raid;
mod request;
mod rotation;
mod schedule;
mod service;
mod throttle;
mod times;

pub use self::allowance::Allowance;
pub use self::disk_cache::DiskCache;
pub use self::iocost::Controller;
pub use self::request::{Direction, Request, RequestId};
pub use self::rotation::Mechanics;
pub use self::service::Service;
pub use self::throttle::{Limits, Throttle};
pub use self::times::Times;

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use self::anticipatory::Anticipatory;
use self::bfq::Bfq;
use self::cfq::Cfq;
use self::deadline::Deadline;
use self::hctx::Hctx;
use self::kyber::Kyber;
use self::mq_deadline::MqDeadline;
use self::none::Noop;
use self::schedule::Schedule;
use self::throttle::Bio;
use crate::machine::Scheduler;
use crate::run_queue::RunQueue;
use crate::units::{Bytes, BytesPerSecond, Nanos, earlier};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// The thread that sends bios which `io.max` has held back (`kthrotld_workqueue`).
const KTHROTLD: u32 = 1 << 31;

/// The settings of the queue of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Tags of the scheduler.
    pub nr_requests: u32,
    /// The longest request.
    pub max_sectors: Bytes,
    /// The time that a thread takes for a request before it sends the next.
    pub submission: Nanos,
    /// The same of a request for pages of the cache.
    pub page_read: Nanos,
    /// The time that a flusher takes for a page before it sends the next request.
    pub page_writeback: Nanos,
    /// True if the disk turns.
    pub is_rotational: bool,
    /// The most bytes per second that it moves.
    pub peak_rate: BytesPerSecond,
}

/// What a thread wants to submit next, and those behind it.
#[derive(Debug, Default)]
struct Submitter {
    requests: VecDeque<Request>,
    /// True if it waits in line for a tag, or prepares its next request.
    waits: bool,
    /// The time at which it has sent its last request.
    ready: Nanos,
    /// True if its next request is within the part of its cgroup.
    is_paid: bool,
}

/// The worker of the queue, while it has requests to send, and the threads that have preempted it since it began.
///
/// A worker of `kblockd` has nice -20. A thread that wakes up preempts it, as it has used less of the processor than its share; what it then uses is more
/// than its share of one in 88, so the worker preempts it when it wakes up again (`kernel/sched/fair.c: entity_eligible`).
#[derive(Debug, Default)]
struct Worker {
    runs: bool,
    preempted_by: FxHashSet<u32>,
}

impl Worker {
    /// True if a thread waits until the worker has sent what it has; notes that it preempts it otherwise.
    fn holds(&mut self, thread: u32) -> bool {
        self.runs && !self.preempted_by.insert(thread)
    }

    /// It has nothing to send, or the disk takes nothing.
    fn stops(&mut self) {
        self.runs = false;
        self.preempted_by.clear();
    }
}

/// The tags that requests need.
#[derive(Debug)]
struct Tags {
    /// Those of a direction, and all.
    depth: u32,
    all: u32,
    /// Those that reads and writes have.
    used: [u32; 2],
}

impl Tags {
    /// True if there is one for a request whose direction may have so many.
    fn has(&self, request: &Request, most: u32) -> bool {
        self.used.iter().sum::<u32>() < self.all && self.used[request.direction as usize] < most
    }

    fn take(&mut self, request: &Request) {
        self.used[request.direction as usize] += 1;
    }

    fn give_back(&mut self, request: &Request) {
        self.used[request.direction as usize] -= 1;
    }
}

/// A disk with its queue; see the module.
pub struct Device {
    settings: Settings,
    schedule: Box<dyn Schedule + Send>,
    /// Those of the scheduler, or of the disk without one.
    tags: Tags,
    /// `io.max` and `io.weight` of cgroups, where there are any.
    throttle: Option<Throttle>,
    iocost: Option<Controller>,
    submitters: FxHashMap<u32, Submitter>,
    /// The threads that wait for a tag.
    line: VecDeque<u32>,
    /// The threads that prepare their next request, and until when.
    preparing: BTreeSet<(Nanos, u32)>,
    service: Service,
    /// The requests that the scheduler has given out and the disk has not taken.
    hctx: Hctx,
    worker: Worker,
    /// Requests that pass the scheduler: those behind a flush.
    at_head: VecDeque<Request>,
    /// The same ones until they are complete.
    passing: FxHashSet<u64>,
    /// The parts of each call that are not complete.
    parts: FxHashMap<RequestId, u32>,
    /// Requests into which others were merged, with the calls of those.
    merged: FxHashMap<u64, Vec<RequestId>>,
    submitted: u64,
    /// Requests that are not complete, those that were merged one by one.
    incomplete: u64,
    /// Requests that the disk has served, and their bytes: reads, then writes.
    moved: [(u64, Bytes); 2],
    /// The time up to which it has been brought.
    now: Nanos,
}

impl Device {
    /// An idle disk.
    #[must_use]
    pub fn new(settings: Settings, service: Service) -> Self {
        let schedule: Box<dyn Schedule + Send> = match settings.scheduler {
            Scheduler::None => Box::new(Noop::default()),
            Scheduler::MqDeadline => Box::new(MqDeadline::default()),
            Scheduler::Kyber => Box::new(Kyber::default()),
            Scheduler::Bfq => Box::new(Bfq::new(settings.is_rotational, settings.peak_rate)),
            Scheduler::Deadline => Box::new(Deadline::default()),
            Scheduler::Anticipatory => Box::new(Anticipatory::default()),
            Scheduler::Cfq => Box::new(Cfq::new(settings.is_rotational)),
        };
        let is_single_queue =
            matches!(settings.scheduler, Scheduler::Deadline | Scheduler::Anticipatory | Scheduler::Cfq);
        let depth =
            if settings.scheduler != Scheduler::None { settings.nr_requests } else { service.depth() };
        Self {
            settings,
            tags: Tags { depth, all: if is_single_queue { 2 * depth } else { depth }, used: [0; 2] },
            schedule,
            throttle: None,
            iocost: None,
            submitters: FxHashMap::default(),
            line: VecDeque::new(),
            preparing: BTreeSet::new(),
            service,
            hctx: Hctx::default(),
            worker: Worker::default(),
            at_head: VecDeque::new(),
            passing: FxHashSet::default(),
            parts: FxHashMap::default(),
            merged: FxHashMap::default(),
            submitted: 0,
            incomplete: 0,
            moved: [(0, Bytes::ZERO); 2],
            now: Nanos::ZERO,
        }
    }

    /// The same disk, with limits of cgroups and their parts of it.
    #[must_use]
    pub fn shared(self, throttle: Option<Throttle>, iocost: Option<Controller>) -> Self {
        Self { throttle, iocost, ..self }
    }

    /// True if nothing waits and nothing is served.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.parts.is_empty()
    }

    /// Requests that wait for the disk, and those that it serves.
    #[must_use]
    pub fn depth(&self) -> (u64, u64) {
        let served = self.service.under_way();
        (self.incomplete.saturating_sub(served), served)
    }

    /// Requests that the disk has served so far, and their bytes: reads, then writes.
    #[must_use]
    pub fn moved(&self) -> [(u64, Bytes); 2] {
        self.moved
    }

    /// Submits a call of a thread, which takes time of a processor for each request. It is cut into requests (`bio_split_rw`).
    pub fn submit(&mut self, now: Nanos, call: Request, processors: &mut RunQueue) {
        self.now = self.now.max(now);
        let parts = call.bytes.0.div_ceil(self.settings.max_sectors.0.max(1));
        if parts == 0 {
            return;
        }
        *self.parts.entry(call.id).or_default() += parts as u32;
        self.incomplete += parts;
        let bio = Bio { request: call, is_counted: false };
        if let Some(bio) = self.pass(now, bio) {
            self.send(now, bio, processors);
        }
    }

    /// Lets a bio pass the limits of its cgroup, or keeps it.
    fn pass(&mut self, now: Nanos, bio: Bio) -> Option<Bio> {
        match &mut self.throttle {
            Some(throttle) => throttle.pass(now, bio),
            None => Some(bio),
        }
    }

    /// Cuts a bio into requests of its thread. Each part of it but the first passes the limits of its cgroup once more.
    fn send(&mut self, now: Nanos, bio: Bio, processors: &mut RunQueue) {
        let (most, thread) = (self.settings.max_sectors.0.max(1), bio.request.thread);
        let mut rest = Some(bio);
        while let Some(bio) = rest {
            let Request { position, bytes, .. } = bio.request;
            let cut = most.min(bytes.0);
            self.submitted += 1;
            let part = Request { bytes: Bytes(cut), part: self.submitted, ..bio.request };
            self.submitters.entry(thread).or_default().requests.push_back(part);
            let request = Request { position: position + cut, bytes: Bytes(bytes.0 - cut), ..bio.request };
            rest = (bytes.0 > cut).then_some(Bio { request, ..bio }).and_then(|rest| self.pass(now, rest));
        }
        if self.submitters.get(&thread).is_some_and(|submitter| !submitter.waits) {
            self.submit_of(now, thread, processors);
        }
    }

    /// Submits a request that passes the scheduler and all that wait there (`block/blk-flush.c`).
    pub fn submit_at_head(&mut self, now: Nanos, request: Request, processors: &mut RunQueue) {
        self.now = self.now.max(now);
        self.submitted += 1;
        *self.parts.entry(request.id).or_default() += 1;
        self.incomplete += 1;
        self.passing.insert(self.submitted);
        self.at_head.push_back(Request { part: self.submitted, ..request });
        self.fill(now, processors);
    }

    /// Submits the next requests of a thread, each when it has prepared it; it waits in line where there is no tag.
    fn submit_of(&mut self, now: Nanos, thread: u32, processors: &mut RunQueue) {
        while let Some(submitter) = self.submitters.get_mut(&thread) {
            submitter.waits = false;
            let Some(&next) = submitter.requests.front() else { break };
            // The worker copies, and goes on then if it has more.
            let copies = self.service.copies(processors);
            if copies > now && self.worker.holds(thread) {
                submitter.ready = submitter.ready.max(copies);
            }
            if submitter.ready > now {
                submitter.waits = true;
                self.preparing.insert((submitter.ready, thread));
                return;
            }
            let is_paid = submitter.is_paid;
            let into = if is_paid { None } else { self.schedule.merge(&next, self.settings.max_sectors) };
            if let Some(into) = into {
                self.merged.entry(into).or_default().push(next.id);
                self.iocost.iter_mut().for_each(|iocost| iocost.merged(now, &next));
            } else if !is_paid && !self.pays(now, &next) {
                self.submitters.get_mut(&thread).expect("it submits").waits = true;
                return;
            } else if self.has_tag(&next) {
                self.tags.take(&next);
                self.iocost.iter_mut().for_each(|iocost| iocost.has_tag(now, next.part));
                self.insert(now, next);
            } else {
                self.submitters.get_mut(&thread).expect("it submits").waits = true;
                self.line.push_back(thread);
                return;
            }
            let ready = processors.run(now, self.preparation(&next));
            let submitter = self.submitters.get_mut(&thread).expect("it submits");
            submitter.requests.pop_front();
            (submitter.ready, submitter.is_paid) = (ready, false);
            self.fill(now, processors);
        }
        // It is forgotten when it has nothing to send and is ready for more.
        if self.submitters.get(&thread).is_some_and(|submitter| submitter.ready <= now) {
            self.submitters.remove(&thread);
        }
    }

    /// Takes a request of a thread, which runs the queue itself unless that is stopped.
    fn insert(&mut self, now: Nanos, request: Request) {
        let runs = self.service.may_refuse() && !self.service.is_stopped(now);
        if runs && self.settings.scheduler == Scheduler::None {
            // It passes those that were inserted while the queue was stopped (`blk_mq_flush_plug_list`).
            return self.hctx.send_first(request);
        }
        self.schedule.insert(now, request);
        if runs {
            self.dispatch(now, Hctx::send_first);
        }
    }

    /// Takes requests out of the scheduler: one more than the disk has tags for (`__blk_mq_do_dispatch_sched`).
    fn dispatch(&mut self, now: Nanos, send: impl Fn(&mut Hctx, Request)) {
        let most = if self.service.may_refuse() { self.hctx.batch(self.settings.nr_requests) } else { 1 };
        for _ in 0..most {
            let has_tag = self.service.has_room_for(self.hctx.len());
            let Some(request) = self.schedule.dispatch(now) else { return };
            send(&mut self.hctx, request);
            if !has_tag {
                return;
            }
        }
    }

    /// True if a request is within the part of its cgroup; its thread sleeps otherwise.
    fn pays(&mut self, now: Nanos, request: &Request) -> bool {
        let Some(iocost) = &mut self.iocost else { return true };
        let pays = iocost.passes(now, request);
        self.submitters.get_mut(&request.thread).expect("it submits").is_paid = pays;
        pays
    }

    /// The time of a processor that a thread takes for a request.
    fn preparation(&self, request: &Request) -> Nanos {
        match request.direction {
            _ if request.is_direct => self.settings.submission,
            Direction::Read => self.settings.page_read,
            Direction::Write => Nanos(self.settings.page_writeback.0 * request.bytes.0.div_ceil(PAGE)),
        }
    }

    fn has_tag(&self, request: &Request) -> bool {
        self.tags.has(request, self.schedule.limit_depth(request, self.tags.depth))
    }

    fn has_tag_for(&self, thread: u32) -> bool {
        let next = self.submitters.get(&thread).and_then(|submitter| submitter.requests.front());
        next.is_some_and(|next| self.has_tag(next))
    }

    /// Sends waiting requests to the disk as long as it takes some. A scheduler gives out one more, which waits for a tag of the disk.
    fn fill(&mut self, now: Nanos, processors: &mut RunQueue) {
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
                self.dispatch(now, Hctx::send);
            }
            let Some(request) = self.hctx.next() else { return self.worker.stops() };
            if !self.service.passes(now, &request) {
                self.worker.stops();
                return self.hctx.refused(request);
            }
            self.hctx.taken();
            self.schedule.started(now, &request);
            self.worker.runs |= self.hctx.is_of_worker();
            self.service.begin(now, request, processors);
        }
        let has_scheduler = self.settings.scheduler != Scheduler::None;
        if has_scheduler && self.hctx.is_empty() && !self.service.may_refuse() {
            self.dispatch(now, Hctx::send);
        }
    }

    /// The time at which the disk has served its next request, or serves again.
    #[must_use]
    pub fn next_event(&self) -> Option<Nanos> {
        let takes_one_more = self.hctx.is_empty() && !self.service.may_refuse();
        let takes = self.service.takes(self.now) || takes_one_more;
        let scheduled = self.schedule.next_event().filter(|_| takes);
        let prepared = self.preparing.first().map(|(ready, _)| *ready);
        let waits = self.incomplete > self.service.under_way();
        let restarts = self.service.restarts(self.now).filter(|_| waits);
        let limited = self.throttle.as_ref().and_then(Throttle::next_event);
        let shared = self.iocost.as_ref().and_then(Controller::next_event);
        let own = earlier(earlier(earlier(self.service.next_event(), restarts), scheduled), prepared);
        earlier(own, earlier(limited, shared))
    }

    /// Brings it up to an instant. Returns the calls that are complete then.
    pub fn advance(&mut self, now: Nanos, processors: &mut RunQueue) -> Vec<RequestId> {
        // A scheduler may have waited for a moment at which the disk was busy.
        let now = now.max(self.now);
        self.now = now;
        let mut complete = Vec::new();
        let served = self.service.advance(now);
        for request in &served {
            // Those behind a flush were never the scheduler's.
            if !self.passing.remove(&request.part) {
                self.schedule.completed(now, request);
                self.tags.give_back(request);
                self.iocost.iter_mut().for_each(|iocost| iocost.done(now, request));
            }
            let (count, bytes) = &mut self.moved[usize::from(request.direction == Direction::Write)];
            (*count, *bytes) = (*count + 1, *bytes + request.bytes);
            let merged = self.merged.remove(&request.part).unwrap_or_default();
            for call in merged.into_iter().chain([request.id]) {
                self.part_ended(call, &mut complete);
            }
        }
        self.fill(now, processors);
        complete
    }

    /// Lets threads go on that waited for tags, or have prepared their next requests. Called after `advance`, when those have had a processor
    /// whose calls are complete: the kernel's scheduler prefers who sleeps much.
    pub fn resume(&mut self, now: Nanos, processors: &mut RunQueue) {
        while let Some(at) = self.line.iter().position(|thread| self.has_tag_for(*thread)) {
            let thread = self.line.remove(at).expect("it is in line");
            self.submit_of(now, thread, processors);
        }
        while let Some(&(ready, thread)) = self.preparing.first().filter(|(ready, _)| *ready <= now) {
            self.preparing.remove(&(ready, thread));
            self.submit_of(now, thread, processors);
        }
        self.resume_cgroups(now, processors);
    }

    /// Lets threads and bios go on that cgroups have held back.
    fn resume_cgroups(&mut self, now: Nanos, processors: &mut RunQueue) {
        for thread in self.iocost.as_mut().map(|iocost| iocost.advance(now)).unwrap_or_default() {
            self.submitters.get_mut(&thread).expect("it waits").is_paid = true;
            self.submit_of(now, thread, processors);
        }
        for bio in self.throttle.as_mut().map(|throttle| throttle.dispatch(now)).unwrap_or_default() {
            let request = Request { thread: KTHROTLD, ..bio.request };
            self.send(now, Bio { request, ..bio }, processors);
        }
    }

    fn part_ended(&mut self, call: RequestId, complete: &mut Vec<RequestId>) {
        let left = self.parts.get_mut(&call).expect("it was submitted");
        *left -= 1;
        self.incomplete -= 1;
        if *left == 0 {
            self.parts.remove(&call);
            complete.push(call);
        }
    }
}

#[cfg(test)]
mod tests;
