//! `bfq`: budgets of sectors for threads, by their weights; the disk idles for a thread that others would push aside.
//!
//! Source: `block/bfq-iosched.c`, Linux 6.12, whose names the functions have. A thread whose queue has just begun looks interactive, and its
//! weight is raised thirtyfold for some seconds (`low_latency`). Write-back that nobody waits for has a queue of its own, which is never
//! raised or idled for, and is charged threefold beside others. Threads that begin together share a queue. Left out: soft real-time raising, cgroups, the clock tick
//! in which the kernel compares times.

mod burst;
mod inject;
mod merge;
mod peak_rate;
mod queue;
mod wf2q;

use std::collections::BTreeMap;

use self::burst::Burst;
use self::inject::Injection;
use self::merge::{Fate, Merging};
use self::peak_rate::PeakRate;
use self::queue::{LARGE, Queue, Raised, SLICE_IDLE};
use self::wf2q::{On, ServiceTrees};
use super::request::{Direction, Request};
use super::schedule::Schedule;
use crate::units::{Bytes, BytesPerSecond, Nanos};
use crate::workload::IoClass;

/// `bfq_timeout`
const TIMEOUT: Nanos = Nanos(125_000_000);
/// `bfq_wr_min_idle_time`
const WR_MIN_IDLE_TIME: Nanos = Nanos(2_000_000_000);
/// `max_service_from_wr`, in sectors.
const MAX_SERVICE_FROM_WR: u64 = 120_000;
/// `bfq_async_charge_factor`
const ASYNC_CHARGE_FACTOR: u64 = 3;
/// The disk idles so long for a raised queue (`bfq_arm_slice_timer`), and for one of random requests in a symmetric scenario.
const SLICE_IDLE_RAISED: Nanos = Nanos(20_000_000);
const MIN_THINK_TIME: Nanos = Nanos(2_000_000);
/// `BFQ_HW_QUEUE_THRESHOLD`, `BFQ_HW_QUEUE_SAMPLES`
const HW_QUEUE_THRESHOLD: u32 = 3;
const HW_QUEUE_SAMPLES: u32 = 32;

/// Why a queue goes out of service (`bfqq_expiration`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expiration {
    TooIdle,
    BudgetTimeout,
    BudgetExhausted,
    NoMoreRequests,
    Preempted,
}

/// The next step of the queue in service.
enum Check {
    /// It, or one whose request is injected, gives out a request; or none does.
    Serve(Option<u32>),
    Expire(Expiration),
}

/// Whether the disk queues requests (`bfq_update_hw_tag`).
#[derive(Debug, Default)]
struct HwTag {
    queues: Option<bool>,
    samples: u32,
    most_in_flight: u32,
}

/// The scheduler; see the module.
#[derive(Debug)]
pub struct Bfq {
    is_rotational: bool,
    /// By the thread for which each was made.
    queues: BTreeMap<u32, Queue>,
    merging: Merging,
    trees: ServiceTrees,
    in_service: Option<u32>,
    /// The end of the idle time, while the disk idles for the queue in service, and its beginning.
    idles_until: Option<Nanos>,
    last_idling_start: Nanos,
    last_budget_start: Nanos,
    in_flight: u32,
    hw_tag: HwTag,
    rate: PeakRate,
    max_budget: u64,
    injection: Injection,
    burst: Burst,
}

impl Bfq {
    /// A scheduler of a disk that turns, or of one that does not.
    pub fn new(is_rotational: bool, peak: BytesPerSecond) -> Self {
        let rate = PeakRate::new(is_rotational, peak);
        Self {
            is_rotational,
            queues: BTreeMap::new(),
            merging: Merging::default(),
            trees: ServiceTrees::default(),
            in_service: None,
            idles_until: None,
            last_idling_start: Nanos::ZERO,
            last_budget_start: Nanos::ZERO,
            in_flight: 0,
            hw_tag: HwTag::default(),
            max_budget: rate.budget(TIMEOUT),
            rate,
            injection: Injection::default(),
            burst: Burst::default(),
        }
    }

    fn busy(&self) -> impl Iterator<Item = &Queue> {
        self.queues.values().filter(|queue| queue.is_busy)
    }

    /// `bfq_min_budget`
    fn min_budget(&self) -> u64 {
        self.max_budget / 32
    }

    /// `bfq_asymmetric_scenario`: queues whose weights are not raised differ in weight, and this one has not the least; or in class.
    fn is_asymmetric(&self, thread: u32) -> bool {
        let counts = |queue: &&Queue| (queue.is_busy || queue.dispatched > 0) && queue.raised.is_none();
        let weights = || self.queues.values().filter(counts).map(|queue| queue.entity.weight);
        let queue = &self.queues[&thread];
        let has_least = counts(&queue) && weights().min() == Some(queue.entity.weight);
        let varied = !has_least && weights().min() != weights().max();
        let mut classes = self.busy().map(|queue| queue.entity.class);
        let first = classes.next();
        varied || classes.any(|class| Some(class) != first)
    }

    /// `idling_needed_for_service_guarantees`
    fn needs_idling(&self, thread: u32) -> bool {
        let queue = &self.queues[&thread];
        let (busy, raised) = self
            .busy()
            .fold((0, 0), |(all, raised), each| (all + 1, raised + usize::from(each.raised.is_some())));
        queue.raised.is_some() && (raised < busy || self.in_flight >= queue.dispatched + 4)
            || self.is_asymmetric(thread)
            || busy == 1
    }

    /// `idling_boosts_thr_without_issues`
    fn idling_boosts(&self, thread: u32) -> bool {
        let queue = &self.queues[&thread];
        let queues_requests = self.hw_tag.queues != Some(false);
        let is_sequential = !queue.is_seeky() && queue.io_bound && queue.has_short_think_time;
        let boosts = self.is_rotational && !queues_requests
            || (self.is_rotational || !queues_requests) && is_sequential;
        boosts && !self.busy().any(|each| each.raised.is_some())
    }

    /// `bfq_better_to_idle`
    fn is_better_to_idle(&self, thread: u32) -> bool {
        let queue = &self.queues[&thread];
        queue.is_sync
            && queue.entity.class != IoClass::Idle
            && (self.idling_boosts(thread) || self.needs_idling(thread))
    }

    /// `bfq_bfqq_must_idle`
    fn must_idle(&self, thread: u32) -> bool {
        self.queues[&thread].is_empty() && self.is_better_to_idle(thread)
    }

    /// `bfq_may_expire_for_budg_timeout`
    fn may_time_out(&self, now: Nanos, thread: u32) -> bool {
        let queue = &self.queues[&thread];
        let has_left = queue.entity.budget_left() >= queue.entity.budget / 3;
        (self.idles_until.is_none() || has_left) && queue.budget_timeout.is_some_and(|end| end <= now)
    }

    /// Charges a queue for service; see `ServiceTrees`.
    fn served(&mut self, thread: u32, sectors: u64) {
        let queue = self.queues.get_mut(&thread).expect("it is served");
        if let Some(raised) = &mut queue.raised {
            raised.service += sectors;
        }
        self.trees.served(&mut queue.entity, sectors);
        let class = queue.entity.class;
        self.trees.forget_idle(class, self.queues.values_mut().map(|queue| &mut queue.entity));
    }

    /// Puts a queue among those that wait (`bfq_add_bfqq_busy`).
    fn add_busy(&mut self, thread: u32) {
        let queue = self.queues.get_mut(&thread).expect("it has a request");
        let (class, coeff) = (queue.priority.class, queue.coeff());
        let shifted_back = std::mem::take(&mut queue.waits_without_blocking);
        self.trees.activate(&mut queue.entity, class, shifted_back, coeff);
        queue.is_busy = true;
    }

    /// Puts an active queue where its budget belongs (`bfq_updated_next_req`).
    fn updated_next(&mut self, thread: u32) {
        let queue = self.queues.get_mut(&thread).expect("it is there");
        let Some(next) = queue.next().filter(|_| self.in_service != Some(thread)) else { return };
        let budget = queue.max_budget.max(next.sectors()).max(queue.entity.service);
        if queue.entity.budget != budget {
            queue.entity.budget = budget;
            let coeff = queue.coeff();
            self.trees.requeue(&mut queue.entity, coeff);
        }
    }

    /// `bfq_bfqq_handle_idle_busy_switch`
    fn becomes_busy(&mut self, now: Nanos, thread: u32) {
        let min_budget = self.min_budget();
        let queue = self.queues.get_mut(&thread).expect("it has a request");
        let is_back_soon = now <= queue.last_end + Nanos(3 * SLICE_IDLE.0);
        let was_idle_long =
            queue.dispatched == 0 && queue.budget_timeout.is_none_or(|since| since + WR_MIN_IDLE_TIME < now);
        let is_interactive =
            queue.is_sync && !queue.in_large_burst && was_idle_long && queue.has_default_weight();
        let next = queue.next().expect("it has a request").sectors();
        // `bfq_bfqq_update_budg_for_activation`
        let left = queue.entity.budget_left();
        let wants_to_preempt = queue.waits_without_blocking && is_back_soon && left > 0;
        queue.waits_without_blocking = wants_to_preempt;
        queue.entity.budget =
            if wants_to_preempt { left.min(queue.max_budget) } else { queue.max_budget.max(next) };
        queue.entity.service = 0;
        queue.note_return(is_back_soon);
        // `bfq_update_bfqq_wr_on_rq_arrival`
        if is_interactive {
            if queue.raised.is_none() {
                queue.entity.budget = queue.entity.budget.min(2 * min_budget);
            }
            let service = queue.raised.map_or(0, |raised| raised.service);
            queue.raised = Some(Raised { since: now, time: self.rate.wr_duration(), service });
        } else if queue.in_large_burst {
            queue.raised = None;
        }
        self.add_busy(thread);
        if let Some(in_service) = self.in_service {
            let (queue, other) = (&self.queues[&thread], &self.queues[&in_service]);
            let is_better = queue.priority.class < other.entity.class
                || queue.entity.weight > other.entity.weight
                || wants_to_preempt && queue.coeff() >= other.coeff()
                || !self.is_better_to_idle(in_service);
            if is_better {
                self.expire(now, in_service, None, Expiration::Preempted);
            }
        }
    }

    /// `bfq_bfqq_is_slow`. Returns whether a queue was slow in service, and for how many milliseconds it was there.
    fn is_slow(&self, now: Nanos, thread: u32, idled_since: Option<Nanos>) -> (bool, u64) {
        let queue = &self.queues[&thread];
        let time = idled_since.unwrap_or(now) - self.last_budget_start;
        if !queue.is_sync {
            return (false, time.0 / 1_000_000);
        }
        if time < Nanos(1_000_000) {
            let least = if self.is_rotational { SLICE_IDLE } else { MIN_THINK_TIME };
            return (queue.is_seeky(), least.0 / 1_000_000);
        }
        let is_long = time > Nanos(20_000_000);
        let is_slow = if is_long { queue.entity.service < self.max_budget / 2 } else { queue.is_seeky() };
        (is_slow, time.0 / 1_000_000)
    }

    /// `bfq_bfqq_charge_time`: charges a slow queue with what it would have got at the peak rate.
    fn charge_time(&mut self, thread: u32, milliseconds: u64) {
        let timeout = TIMEOUT.0 / 1_000_000;
        let entity = &mut self.queues.get_mut(&thread).expect("it is in service").entity;
        let in_time = 0 < milliseconds && milliseconds < timeout;
        let total = if in_time { self.max_budget * milliseconds / timeout } else { entity.service };
        let total = total.max(entity.service);
        entity.budget = entity.budget.max(total);
        let more = total - entity.service;
        self.served(thread, more);
    }

    /// `__bfq_bfqq_recalc_budget`
    fn recalculate_budget(&mut self, thread: u32, reason: Expiration) {
        let (min_budget, most) = (self.min_budget(), self.max_budget);
        let queue = self.queues.get_mut(&thread).expect("it is in service");
        let budget = match reason {
            _ if queue.raised.is_some() => 2 * min_budget,
            _ if !queue.is_sync => most,
            Expiration::TooIdle if queue.dispatched == 0 => {
                if queue.max_budget > 5 * min_budget {
                    queue.max_budget - 4 * min_budget
                } else {
                    min_budget
                }
            }
            Expiration::TooIdle | Expiration::BudgetTimeout => most.min(queue.max_budget * 2),
            Expiration::BudgetExhausted => most.min(queue.max_budget * 4),
            Expiration::NoMoreRequests => queue.entity.service.max(min_budget),
            Expiration::Preempted => return,
        };
        queue.max_budget = budget.min(most);
        if let Some(next) = queue.next() {
            queue.entity.budget = queue.max_budget.max(next.sectors());
        }
    }

    /// `bfq_bfqq_expire`: takes a queue out of service.
    fn expire(&mut self, now: Nanos, thread: u32, idled_since: Option<Nanos>, reason: Expiration) {
        let (is_slow, milliseconds) = self.is_slow(now, thread, idled_since);
        let queue = self.queues.get_mut(&thread).expect("it is in service");
        let has_left = queue.entity.budget_left() >= queue.entity.budget / 3;
        if reason == Expiration::TooIdle && queue.entity.service <= 2 * queue.entity.budget / 10 {
            queue.io_bound = false;
            queue.requests_within_timer = 0;
        }
        if queue.raised.is_none() && (is_slow || reason == Expiration::BudgetTimeout && has_left) {
            self.charge_time(thread, milliseconds);
        }
        self.injection.end();
        self.recalculate_budget(thread, reason);
        // `__bfq_bfqq_expire`
        let stays =
            !self.queues[&thread].is_empty() || reason == Expiration::Preempted && self.needs_idling(thread);
        let queue = self.queues.get_mut(&thread).expect("it is in service");
        if stays {
            let coeff = queue.coeff();
            self.trees.requeue(&mut queue.entity, coeff);
        } else {
            if queue.dispatched == 0 {
                queue.budget_timeout = Some(now);
            }
            queue.is_busy = false;
            self.trees.deactivate(&mut queue.entity);
        }
        (self.in_service, self.idles_until) = (None, None);
        let ends_budget = matches!(reason, Expiration::BudgetTimeout | Expiration::BudgetExhausted);
        queue.waits_without_blocking |= !stays && !ends_budget;
        if stays || ends_budget {
            queue.entity.service = 0;
        }
    }

    /// `bfq_set_in_service_queue`
    fn set_in_service(&mut self, now: Nanos) -> Option<u32> {
        let thread =
            self.trees.next(now, self.queues.iter().map(|(thread, queue)| (*thread, &queue.entity)))?;
        let queue = self.queues.get_mut(&thread).expect("it is active");
        queue.entity.on = On::Service;
        let coeff = queue.entity.weight / queue.entity.orig_weight;
        queue.budget_timeout = Some(now + Nanos(TIMEOUT.0 * coeff));
        self.last_budget_start = now;
        self.in_service = Some(thread);
        Some(thread)
    }

    /// Decides whether the queue in service goes on, idles or ends: the part `check_queue` of `bfq_select_queue`.
    fn check(&mut self, thread: u32) -> Check {
        let queue = &self.queues[&thread];
        if let Some(next) = queue.next() {
            if next.sectors() > queue.entity.budget_left() {
                return Check::Expire(Expiration::BudgetExhausted);
            }
            self.idles_until = None;
            return Check::Serve(Some(thread));
        }
        if self.idles_until.is_none() && (queue.dispatched == 0 || !self.is_better_to_idle(thread)) {
            return Check::Expire(Expiration::NoMoreRequests);
        }
        let raised = self.busy().filter(|each| each.raised.is_some()).count();
        let bears_others = queue.raised.is_none() || raised > 1 || !queue.has_short_think_time;
        Check::Serve((bears_others && !self.idling_boosts(thread)).then(|| self.injected(thread)).flatten())
    }

    /// `bfq_choose_bfqq_for_injection`
    fn injected(&mut self, thread: u32) -> Option<u32> {
        let served = &self.queues[&thread];
        let bears_all = served.raised.is_none() || !served.has_short_think_time;
        let fits = |queue: &Queue| {
            let next = queue.next().map(Request::sectors);
            next.filter(|next| *next <= queue.entity.budget_left()).is_some_and(|next| {
                let is_large = !self.is_rotational && next >= LARGE;
                let limit = if is_large { served.inject_limit.min(1) } else { served.inject_limit };
                self.in_flight < limit && (bears_all || queue.raised.is_some())
            })
        };
        let mut active = self.queues.iter().filter(|(_, queue)| queue.entity.on == On::Active);
        let (other, _) = active.find(|(_, queue)| fits(queue))?;
        self.injection.has_passed = true;
        Some(*other)
    }

    /// `bfq_select_queue`
    fn select(&mut self, now: Nanos) -> Option<u32> {
        let mut thread = match self.in_service {
            Some(thread) if self.may_time_out(now, thread) && !self.must_idle(thread) => {
                self.expire(now, thread, None, Expiration::BudgetTimeout);
                self.set_in_service(now)?
            }
            Some(thread) => thread,
            None => self.set_in_service(now)?,
        };
        loop {
            match self.check(thread) {
                Check::Serve(served) => return served,
                Check::Expire(reason) => self.expire(now, thread, None, reason),
            }
            thread = self.set_in_service(now)?;
        }
    }

    /// `bfq_update_wr_data`: ends the raising of a weight after its time, or enough service.
    fn update_raised(&mut self, now: Nanos, thread: u32) {
        let queue = self.queues.get_mut(&thread).expect("it is in service");
        let ends = |raised: Raised| raised.since + raised.time < now || raised.service > MAX_SERVICE_FROM_WR;
        if queue.raised.is_some_and(|raised| queue.in_large_burst || ends(raised)) {
            queue.raised = None;
        }
        if queue.entity.weight != queue.entity.orig_weight * queue.coeff() {
            let coeff = queue.coeff();
            self.trees.update_weight(&mut queue.entity, coeff);
        }
    }

    /// `bfq_serv_to_charge`
    fn charge_of(&self, thread: u32, request: &Request) -> u64 {
        let is_plain = request.is_sync || self.is_asymmetric(thread);
        request.sectors() * if is_plain { 1 } else { ASYNC_CHARGE_FACTOR }
    }

    /// `bfq_dispatch_rq_from_bfqq`
    fn dispatch_from(&mut self, now: Nanos, thread: u32) -> Request {
        let queue = self.queues.get_mut(&thread).expect("it was selected");
        let request = queue.pop().expect("it has one");
        queue.dispatched += 1;
        let is_empty = queue.is_empty();
        let charged = self.charge_of(thread, &request);
        self.served(thread, charged);
        if self.rate.dispatched(now, &request, self.in_flight) {
            self.max_budget = self.rate.budget(TIMEOUT);
        }
        self.in_flight += 1;
        if self.in_service != Some(thread) {
            if is_empty {
                let queue = self.queues.get_mut(&thread).expect("it was selected");
                queue.is_busy = false;
                self.trees.deactivate(&mut queue.entity);
                (queue.entity.service, queue.entity.budget) = (0, 0);
            } else {
                self.updated_next(thread);
            }
            return request;
        }
        self.injection.dispatched(request.part);
        self.update_raised(now, thread);
        if self.queues[&thread].entity.class == IoClass::Idle && self.busy().count() > 1 {
            self.expire(now, thread, None, Expiration::BudgetExhausted);
        }
        request
    }

    /// `bfq_idle_slice_timer_body`, at the time of the timer.
    fn idle_timer(&mut self, now: Nanos) {
        let (Some(thread), Some(until)) = (self.in_service, self.idles_until.filter(|until| *until <= now))
        else {
            return;
        };
        self.idles_until = None;
        let queue = &self.queues[&thread];
        let times_out = queue.budget_timeout.is_some_and(|end| end <= until);
        if times_out {
            self.expire(until, thread, Some(self.last_idling_start), Expiration::BudgetTimeout);
        } else if queue.is_empty() {
            self.expire(until, thread, Some(self.last_idling_start), Expiration::TooIdle);
        }
    }

    /// `bfq_arm_slice_timer`
    fn arm_idle_timer(&mut self, now: Nanos, thread: u32) {
        let queue = &self.queues[&thread];
        let time = if queue.raised.is_some() {
            SLICE_IDLE_RAISED
        } else if queue.is_seeky() && !self.is_asymmetric(thread) {
            MIN_THINK_TIME
        } else {
            SLICE_IDLE
        };
        self.last_idling_start = now;
        self.idles_until = Some(now + time);
    }

    fn update_hw_tag(&mut self) {
        let waiting: u32 = self.queues.values().map(Queue::len).sum();
        let hw_tag = &mut self.hw_tag;
        hw_tag.most_in_flight = hw_tag.most_in_flight.max(self.in_flight);
        if hw_tag.queues == Some(true) || self.in_flight + waiting <= HW_QUEUE_THRESHOLD {
            return;
        }
        let is_shallow = self.in_service.map(|thread| &self.queues[&thread]).is_some_and(|queue| {
            queue.has_short_think_time && queue.dispatched + queue.len() < HW_QUEUE_THRESHOLD
        });
        if is_shallow && self.in_flight < HW_QUEUE_THRESHOLD {
            return;
        }
        hw_tag.samples += 1;
        if hw_tag.samples > HW_QUEUE_SAMPLES {
            let queues = Some(hw_tag.most_in_flight > HW_QUEUE_THRESHOLD);
            *hw_tag = HwTag { queues, ..HwTag::default() };
        }
    }

    /// The queue of a thread, made if it is new (`bfq_get_queue`), or merged into another one (`bfq_setup_cooperator`).
    fn queue_of(&mut self, now: Nanos, request: &Request) -> u32 {
        let mut thread = self.merging.queue_of(request.thread);
        if !self.queues.contains_key(&thread) {
            match self.merging.created(now, request, self.is_flash_with_queueing()) {
                Fate::Own => self.create(now, request),
                Fate::Merged => thread = self.merging.queue_of(thread),
            }
        } else if let Some(into) = self.merging.due(now, thread).filter(|_| self.may_merge(thread)) {
            self.merge_queues(thread, into);
            thread = into;
        }
        let queue = self.queues.get_mut(&thread).expect("it was made");
        if queue.priority != request.priority {
            queue.set_priority(request.priority);
        }
        thread
    }

    fn create(&mut self, now: Nanos, request: &Request) {
        let is_anybody_busy = self.busy().next().is_some();
        self.queues.insert(request.thread, Queue::new(now, request, 2 * self.max_budget / 3));
        for thread in self.burst.began(now, request.thread, is_anybody_busy) {
            self.queues.get_mut(&thread).expect("it has begun").in_large_burst = true;
        }
    }

    /// `nonrot_with_queueing`
    fn is_flash_with_queueing(&self) -> bool {
        !self.is_rotational && self.hw_tag.queues != Some(false)
    }

    /// `bfq_setup_stable_merge`: not a queue for which it is better that the disk idles.
    fn may_merge(&self, thread: u32) -> bool {
        !self.is_flash_with_queueing() && !self.idling_boosts(thread)
    }

    /// `bfq_merge_bfqqs`: what the queue has is still served from it; a raised weight goes over.
    fn merge_queues(&mut self, thread: u32, into: u32) {
        self.merging.merge(thread, into);
        let is_in_service = self.in_service == Some(thread);
        let queue = self.queues.get_mut(&thread).expect("it was made");
        let (raised, io_bound) = (queue.raised.take(), std::mem::take(&mut queue.io_bound));
        if queue.is_busy && queue.is_empty() && !is_in_service {
            queue.is_busy = false;
            self.trees.deactivate(&mut queue.entity);
        }
        let other = self.queues.get_mut(&into).expect("it was made");
        other.raised = other.raised.or(raised);
        other.io_bound |= io_bound;
    }
}

impl Schedule for Bfq {
    fn insert(&mut self, now: Nanos, request: Request) {
        self.idle_timer(now);
        let thread = self.queue_of(now, &request);
        let request = Request { thread, ..request };
        let (is_in_service, in_flight) = (self.in_service == Some(thread), self.in_flight);
        let queue = self.queues.get_mut(&thread).expect("it was made");
        let has_changed = queue.note_arrival(now, &request, self.is_rotational);
        let is_due = queue.decreased + Nanos(100_000_000) <= now || !queue.has_short_think_time;
        if has_changed && queue.last_service_time.is_none() && is_due {
            self.injection.reset(now, queue);
        }
        if queue.is_empty() {
            self.injection.arrived(now, queue, is_in_service, in_flight);
        }
        queue.push(request);
        if !queue.is_busy {
            self.becomes_busy(now, thread);
        } else {
            self.updated_next(thread);
        }
        // `bfq_rq_enqueued`
        let idled = self.in_service == Some(thread) && self.idles_until.take().is_some();
        if idled && self.queues[&thread].budget_timeout.is_some_and(|end| end <= now) {
            self.expire(now, thread, None, Expiration::BudgetTimeout);
        }
    }

    fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        self.queues.get_mut(&self.merging.queue_of(request.thread))?.merge(request, most)
    }

    fn dispatch(&mut self, now: Nanos) -> Option<Request> {
        self.idle_timer(now);
        self.busy().next()?;
        let thread = self.select(now)?;
        Some(self.dispatch_from(now, thread))
    }

    fn completed(&mut self, now: Nanos, request: &Request) {
        self.idle_timer(now);
        let thread = request.thread;
        let in_flight = (self.in_flight, self.hw_tag.most_in_flight);
        let queue = self.queues.get_mut(&thread).expect("it was in flight");
        self.injection.completed(now, queue, request.part, in_flight);
        self.update_hw_tag();
        self.in_flight -= 1;
        let queue = self.queues.get_mut(&thread).expect("it was in flight");
        queue.dispatched -= 1;
        queue.last_end = now;
        if queue.dispatched == 0 && !queue.is_busy {
            queue.budget_timeout = Some(now);
        }
        let is_left = queue.dispatched == 0;
        if self.rate.completed(now) {
            self.max_budget = self.rate.budget(TIMEOUT);
        }
        if self.in_service != Some(thread) {
            return;
        }
        if self.must_idle(thread) {
            if is_left {
                self.arm_idle_timer(now, thread);
            }
        } else if self.may_time_out(now, thread) {
            self.expire(now, thread, None, Expiration::BudgetTimeout);
        } else if self.queues[&thread].is_empty() && (is_left || !self.is_better_to_idle(thread)) {
            self.expire(now, thread, None, Expiration::NoMoreRequests);
        }
    }

    /// `bfq_limit_depth`: writes have three quarters of each word of the tags' bitmap (`lib/sbitmap.c: sbitmap_calculate_shift`), or three eighths
    /// beside a raised queue, and half of that if nobody waits for them; a queue that has its part of all tags, by its weight, has one of each word.
    fn limit_depth(&self, request: &Request, tags: u32) -> u32 {
        let mut shift = 6;
        while shift > 0 && tags >= 4 && (4 << shift) > tags {
            shift -= 1;
        }
        let (word, words) = (1_u32 << shift, tags.div_ceil(1 << shift));
        let is_raised = self.busy().any(|queue| queue.raised.is_some());
        let per_word = match (request.direction, is_raised) {
            (Direction::Read, _) => word,
            (Direction::Write, false) if request.is_sync => (word * 3 / 4).max(1),
            (Direction::Write, true) if request.is_sync => (word * 6 / 16).max(1),
            (Direction::Write, false) => (word / 2).max(1),
            (Direction::Write, true) => (word * 3 / 16).max(1),
        };
        let most = (words * per_word).min(tags);
        let queue = self.queues.get(&self.merging.queue_of(request.thread));
        let Some(queue) = queue.filter(|queue| queue.entity.on != On::Nothing) else {
            return most;
        };
        let (weight, sum) = (queue.entity.weight, self.trees.weights_down_to(queue.entity.class));
        let part = (u64::from((tags * per_word) >> shift) * weight + sum / 2) / sum.max(1);
        let is_over = u64::from(queue.len() + queue.dispatched) >= part;
        if is_over { words.min(most) } else { most }
    }

    fn next_event(&self) -> Option<Nanos> {
        let waits = self.queues.values().any(|queue| !queue.is_empty());
        self.idles_until.filter(|_| waits)
    }
}
