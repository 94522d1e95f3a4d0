//! Shares a disk among cgroups by their weights: `io.weight` with `io.cost.model` and `io.cost.qos`.
//!
//! Source: `block/blk-iocost.c`, Linux 6.12, whose names the functions have.
//!
//! - The linear model gives each request a cost: the time of the disk that it takes. The disk has a virtual time, which runs at `vrate`.
//! - A cgroup spends its own virtual time, by the cost over its part of all weights (`hweight`). A request that would outrun the disk's time
//!   sleeps in its thread, before it has a tag.
//! - At the end of each period cgroups that leave time unused give weight away, as long as others lack time, and take it back when they need it.
//! - `vrate` rises while somebody lacks time, and falls while requests wait long for tags or miss their latency.
//!
//! Requests of the root, as those of journals, pass. Left out: cgroups inside others, debts (a request that is merged pays at once), and
//! the step to the parameters of a faster disk.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::request::{Direction, Request};
use crate::machine::IoCost;
use crate::units::{Nanos, earlier};

/// `LCOEF_RANDIO_PAGES`: a request farther off than 16 MiB is random.
const RANDOM_PAGES: u64 = 4096;
const PAGE: u64 = 4096;
/// `MARGIN_MIN_PCT`, `MARGIN_LOW_PCT`, `MARGIN_TARGET_PCT`, of a period.
const MARGIN_MIN: f64 = 0.1;
const MARGIN_LOW: f64 = 0.2;
const MARGIN_TARGET: f64 = 0.5;
/// `INUSE_ADJ_STEP_PCT`
const INUSE_STEP: f64 = 0.25;
/// `TIMER_SLACK_PCT`
const TIMER_SLACK: f64 = 0.01;
/// `RQ_WAIT_BUSY_PCT`, `UNBUSY_THR_PCT`
const WAIT_BUSY: f64 = 0.05;
const UNBUSY: f64 = 0.75;
/// `VRATE_CLAMP_ADJ_PCT`
const CLAMP_STEP: f64 = 0.04;
/// `MIN_PERIOD`, `MAX_PERIOD`, in seconds.
const PERIODS: (f64, f64) = (0.001, 1.0);
/// `MAX_LAGGING_PERIODS`
const LAGGING_PERIODS: f64 = 10.0;
/// `WEIGHT_ONE`: a weight of less than one of so many parts is one.
const WEIGHT_ONE: f64 = 65536.0;
/// `WEIGHT_ONE` parts of the sum are not reached by those who give away.
const MOST_GIVEN: f64 = 1.0 - 1.0 / WEIGHT_ONE;

/// `vrate_adj_pct`: the step of `vrate` by how long the disk has been busy, or not.
fn vrate_step(busy_level: i32) -> f64 {
    match busy_level.unsigned_abs() {
        0..4 => 0.0,
        4..20 => 0.01,
        20..36 => 0.02,
        36..44 => 0.04,
        44..52 => 0.08,
        _ => 0.16,
    }
}

/// The cost of a request of a direction, in seconds of the disk: of each page, and beside that in order and at random (`calc_lcoefs`).
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    page: f64,
    sequential: f64,
    random: f64,
}

impl Coefficients {
    fn new(bytes: f64, sequential: u32, random: u32) -> Self {
        let page = PAGE as f64 / bytes;
        let base = |requests: u32| (1.0 / f64::from(requests) - page).max(0.0);
        Self { page, sequential: base(sequential), random: base(random) }
    }
}

/// A thread that sleeps until its request may be sent.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    thread: u32,
    part: u64,
    cost: f64,
}

/// A cgroup: `ioc_gq`. Virtual times are in seconds.
#[derive(Clone, Debug)]
struct Group {
    weight: f64,
    /// Its weight while it is active, and what it uses of that.
    active: f64,
    inuse: f64,
    last_inuse: f64,
    saved_margin: f64,
    is_active: bool,
    active_period: u64,
    activated_at: Nanos,
    /// The end of its last request.
    cursor: Option<u64>,
    vtime: f64,
    done_vtime: f64,
    /// Cost of the requests of this period.
    usage: f64,
    waiters: VecDeque<Waiter>,
    timer: Option<Nanos>,
}

/// A request that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    group: usize,
    cost: f64,
    /// When it began to wait for a tag, and when it had one.
    allocated: Nanos,
}

/// The controller of a disk; see the module.
#[derive(Clone, Debug)]
pub struct Controller {
    hz: u64,
    reads: Coefficients,
    writes: Coefficients,
    /// The parts of reads and writes that may take longer than their latencies, and these.
    targets: [(f64, Nanos); 2],
    vrates: (f64, f64),
    period: f64,
    groups: Vec<Group>,
    is_running: bool,
    vrate_base: f64,
    vrate: f64,
    vtime_err: f64,
    period_at: Nanos,
    period_at_vtime: f64,
    timer: Option<Nanos>,
    cur_period: u64,
    busy_level: i32,
    /// Of this period: requests within and beyond their latency, and the time that requests waited for tags.
    met: [[u64; 2]; 2],
    tag_wait: Nanos,
    sent: FxHashMap<u64, Sent>,
}

impl Controller {
    /// For cgroups of these weights, by their numbers from 1 on, on a kernel of so many ticks in a second.
    #[must_use]
    pub fn new(hz: u32, cost: &IoCost, weights: &[u32]) -> Self {
        let group = |weight: &u32| Group {
            weight: f64::from(*weight),
            active: 0.0,
            inuse: 0.0,
            last_inuse: 0.0,
            saved_margin: 0.0,
            is_active: false,
            active_period: 0,
            activated_at: Nanos::ZERO,
            cursor: None,
            vtime: 0.0,
            done_vtime: 0.0,
            usage: 0.0,
            waiters: VecDeque::new(),
            timer: None,
        };
        let (percent, latency) =
            if cost.rlat >= cost.wlat { (cost.rpct, cost.rlat) } else { (cost.wpct, cost.wlat) };
        // `ioc_refresh_period_us`
        let multiple = if percent > 0.0 { ((100.0 - percent) / 5.0).floor().max(2.0) } else { 2.0 };
        Self {
            hz: u64::from(hz),
            reads: Coefficients::new(cost.rbps.0, cost.rseqiops, cost.rrandiops),
            writes: Coefficients::new(cost.wbps.0, cost.wseqiops, cost.wrandiops),
            targets: [(1.0 - cost.rpct / 100.0, cost.rlat), (1.0 - cost.wpct / 100.0, cost.wlat)],
            vrates: (cost.min / 100.0, cost.max / 100.0),
            period: (multiple * latency.as_seconds()).clamp(PERIODS.0, PERIODS.1),
            groups: weights.iter().map(group).collect(),
            is_running: false,
            vrate_base: 1.0,
            vrate: 1.0,
            vtime_err: 0.0,
            period_at: Nanos::ZERO,
            period_at_vtime: 0.0,
            timer: None,
            cur_period: 0,
            busy_level: 0,
            met: [[0; 2]; 2],
            tag_wait: Nanos::ZERO,
            sent: FxHashMap::default(),
        }
    }

    /// A part of a period in virtual time.
    fn margin(&self, part: f64) -> f64 {
        part * self.period * self.vrate_base
    }

    fn vnow(&self, now: Nanos) -> f64 {
        self.period_at_vtime + (now - self.period_at).as_seconds() * self.vrate
    }

    /// `current_hweight`: the parts of a cgroup of all that are active, by their weights and by what they use of these.
    fn hweight(&self, at: usize) -> (f64, f64) {
        let sum = |of: fn(&Group) -> f64| self.groups.iter().map(of).sum::<f64>();
        let part = |own: f64, all: f64| if all > 0.0 { (own / all).max(1.0 / WEIGHT_ONE) } else { 1.0 };
        let group = &self.groups[at];
        (part(group.active, sum(|group| group.active)), part(group.inuse, sum(|group| group.inuse)))
    }

    /// `current_hweight_max`: what it would be if it used all of its weight.
    fn hweight_max(&self, at: usize) -> f64 {
        let group = &self.groups[at];
        let others: f64 = self.groups.iter().map(|each| each.inuse).sum::<f64>() - group.inuse;
        group.active / (others + group.active)
    }

    /// `propagate_weights`
    fn set_inuse(&mut self, at: usize, inuse: f64, saves: Option<f64>) {
        let group = &mut self.groups[at];
        group.last_inuse = group.inuse;
        if let Some(vnow) = saves {
            group.saved_margin = vnow - group.vtime;
        }
        group.inuse = if group.active > 0.0 { inuse.clamp(1.0 / WEIGHT_ONE, group.active) } else { 0.0 };
    }

    /// `calc_vtime_cost_builtin`
    fn cost(&self, at: usize, request: &Request, is_merged: bool) -> f64 {
        let of = if request.direction == Direction::Read { &self.reads } else { &self.writes };
        let away = self.groups[at].cursor.map_or(0, |cursor| request.position.abs_diff(cursor) / PAGE);
        let base = if away > RANDOM_PAGES { of.random } else { of.sequential };
        let pages = (request.bytes.0 / PAGE).max(1) as f64;
        pages * of.page + if is_merged { 0.0 } else { base }
    }

    /// `iocg_activate`
    fn activate(&mut self, now: Nanos, at: usize) {
        let (vnow, target) = (self.vnow(now), self.margin(MARGIN_TARGET));
        let cur_period = self.cur_period;
        let group = &mut self.groups[at];
        group.active_period = cur_period;
        if group.is_active {
            return;
        }
        let moved = vnow - target - group.vtime;
        group.vtime += moved;
        group.done_vtime += moved;
        (group.is_active, group.active, group.activated_at) = (true, group.weight, now);
        let inuse = if group.last_inuse > 0.0 { group.last_inuse } else { group.weight };
        self.set_inuse(at, inuse, Some(vnow));
        if !self.is_running {
            self.is_running = true;
            self.start_period(now, vnow);
        }
    }

    /// `ioc_start_period`, whose timer is of the kernel's wheel: it fires a tick after the end.
    fn start_period(&mut self, now: Nanos, vnow: f64) {
        (self.period_at, self.period_at_vtime) = (now, vnow);
        let hz = self.hz as f64;
        let jiffies = (now.as_seconds() * hz + 1e-6).floor() + (self.period * hz).ceil() + 1.0;
        self.timer = Some(Nanos::from_seconds(jiffies / hz));
    }

    /// `adjust_inuse_and_calc_cost`: the virtual time of a cost; takes weight back that was given away if the margin shrinks.
    fn price(&mut self, now: Nanos, at: usize, cost: f64) -> f64 {
        let vnow = self.vnow(now);
        let price = |each: &Self| cost / each.hweight(at).1;
        let group = &self.groups[at];
        let margin = vnow - group.vtime - price(self);
        if margin >= group.saved_margin || margin >= self.margin(MARGIN_LOW) || group.inuse >= group.active {
            return price(self);
        }
        loop {
            let Group { inuse, active, vtime, .. } = self.groups[at];
            self.set_inuse(at, inuse + active * INUSE_STEP, Some(vnow));
            let price = price(self);
            if vtime + price <= vnow || self.groups[at].inuse >= active {
                return price;
            }
        }
    }

    /// The cgroup of a request, which the root has not.
    fn group(&self, request: &Request) -> Option<usize> {
        usize::from(request.cgroup).checked_sub(1).filter(|at| *at < self.groups.len())
    }

    /// `ioc_rqos_throttle`: true if a thread may send a request; otherwise it sleeps.
    pub(super) fn passes(&mut self, now: Nanos, request: &Request) -> bool {
        let Some(at) = self.group(request) else { return true };
        let cost = self.cost(at, request, false);
        self.activate(now, at);
        self.groups[at].cursor = Some(request.end());
        let vnow = self.vnow(now);
        let part = request.part;
        let waiter = Waiter { thread: request.thread, part, cost };
        if !self.groups[at].waiters.is_empty() {
            self.groups[at].waiters.push_back(waiter);
            return false;
        }
        let price = self.price(now, at, cost);
        if self.groups[at].vtime + price <= vnow {
            self.commit(now, at, part, (cost, price));
            return true;
        }
        // Who waits uses all of its weight.
        let Group { active, inuse, .. } = self.groups[at];
        if inuse < active {
            self.set_inuse(at, active, Some(vnow));
        }
        self.groups[at].waiters.push_back(waiter);
        !self.kick(now, at).is_empty()
    }

    /// `ioc_rqos_merge`: a request that becomes part of another one costs its bytes.
    pub(super) fn merged(&mut self, now: Nanos, request: &Request) {
        let Some(at) = self.group(request) else { return };
        let cost = self.cost(at, request, true);
        self.activate(now, at);
        self.groups[at].cursor = Some(request.end());
        let price = self.price(now, at, cost);
        let group = &mut self.groups[at];
        group.vtime += price;
        group.done_vtime += price;
        group.usage += cost;
    }

    /// `iocg_commit_bio`
    fn commit(&mut self, now: Nanos, at: usize, part: u64, (cost, price): (f64, f64)) {
        let group = &mut self.groups[at];
        group.vtime += price;
        group.usage += cost;
        self.sent.insert(part, Sent { group: at, cost: price, allocated: now });
    }

    /// Notes that a request has a tag.
    pub(super) fn has_tag(&mut self, now: Nanos, part: u64) {
        if let Some(sent) = self.sent.get(&part) {
            self.tag_wait += now - sent.allocated;
        }
    }

    /// `ioc_rqos_done`: notes that the disk has served a request.
    pub(super) fn done(&mut self, now: Nanos, request: &Request) {
        let Some(sent) = self.sent.remove(&request.part) else { return };
        self.groups[sent.group].done_vtime += sent.cost;
        let is_write = usize::from(request.direction == Direction::Write);
        let page = if is_write == 1 { self.writes.page } else { self.reads.page };
        let of_bytes = Nanos::from_seconds((request.bytes.0 / PAGE) as f64 * page);
        let is_late = now - sent.allocated > of_bytes + self.targets[is_write].1;
        self.met[is_write][usize::from(is_late)] += 1;
    }

    /// `iocg_kick_waitq`: wakes threads whose requests are within the budget, and sets the timer for the next. Returns them.
    fn kick(&mut self, now: Nanos, at: usize) -> Vec<u32> {
        let (vnow, (_, hweight)) = (self.vnow(now), self.hweight(at));
        let mut woken = Vec::new();
        let mut budget = vnow - self.groups[at].vtime;
        while let Some(waiter) = self.groups[at].waiters.front().copied() {
            let price = waiter.cost / hweight;
            budget -= price;
            if budget < 0.0 {
                let slack = self.period * TIMER_SLACK;
                let expires = now + Nanos::from_seconds(-budget / self.vrate_base + slack);
                self.groups[at].timer = Some(expires.max(now + Nanos(1000)));
                return woken;
            }
            self.commit(now, at, waiter.part, (waiter.cost, price));
            self.groups[at].waiters.pop_front();
            woken.push(waiter.thread);
        }
        self.groups[at].timer = None;
        woken
    }

    /// The time at which threads wake or a period ends.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        earlier(self.timer, self.groups.iter().filter_map(|group| group.timer).min())
    }

    /// Brings it up to an instant. Returns the threads that may send their requests.
    pub(super) fn advance(&mut self, now: Nanos) -> Vec<u32> {
        let mut woken = Vec::new();
        for at in 0..self.groups.len() {
            if self.groups[at].timer.is_some_and(|due| due <= now) {
                woken.extend(self.kick(now, at));
            }
        }
        if self.timer.is_some_and(|due| due <= now) {
            self.end_period(now, &mut woken);
        }
        woken
    }

    /// `ioc_timer_fn`
    fn end_period(&mut self, now: Nanos, woken: &mut Vec<u32>) {
        let vnow = self.vnow(now);
        let period_vtime = vnow - self.period_at_vtime;
        self.check_groups(now, vnow, woken);
        let (shortages, lagging) = self.move_weights(now, vnow, period_vtime);
        self.look_whether_busy(shortages, lagging);
        self.adjust_vrate(lagging);
        self.cur_period += 1;
        if self.groups.iter().any(|group| group.is_active) {
            self.start_period(now, vnow);
        } else {
            (self.period_at, self.period_at_vtime) = (now, vnow);
            (self.busy_level, self.vtime_err) = (0, 0.0);
            (self.is_running, self.timer) = (false, None);
        }
        self.refresh_vrate();
    }

    /// `ioc_check_iocgs`: wakes threads, and drops cgroups that did nothing for a period.
    fn check_groups(&mut self, now: Nanos, vnow: f64, woken: &mut Vec<u32>) {
        for at in 0..self.groups.len() {
            let group = &self.groups[at];
            if !group.is_active {
                continue;
            }
            if !group.waiters.is_empty() {
                woken.extend(self.kick(now, at));
                continue;
            }
            let has_none_in_flight = !self.sent.values().any(|sent| sent.group == at);
            if group.active_period == self.cur_period || !has_none_in_flight {
                continue;
            }
            let excess = vnow - group.vtime - self.margin(MARGIN_TARGET);
            self.vtime_err -= excess.max(0.0) * self.hweight(at).1;
            let group = &mut self.groups[at];
            (group.last_inuse, group.is_active, group.active, group.inuse) = (group.inuse, false, 0.0, 0.0);
        }
    }

    /// Finds cgroups that give weight away. Returns how many lack time, and whether requests take longer than a period.
    fn move_weights(&mut self, now: Nanos, vnow: f64, period_vtime: f64) -> (u32, bool) {
        let (mut shortages, mut is_lagging, mut surpluses) = (0, false, Vec::new());
        let has_targets = self.targets.iter().any(|(part, _)| *part < 1.0);
        for at in 0..self.groups.len() {
            let used = std::mem::take(&mut self.groups[at].usage) / self.vrate_base;
            let group = &self.groups[at];
            if !group.is_active {
                continue;
            }
            is_lagging |= has_targets
                && group.vtime > group.done_vtime
                && group.vtime > vnow - LAGGING_PERIODS * period_vtime
                && group.done_vtime < vnow - period_vtime;
            let (active, inuse) = self.hweight(at);
            let has_surplus = group.waiters.is_empty() && group.vtime < vnow - self.margin(MARGIN_LOW);
            if inuse >= active && !has_surplus {
                shortages += 1;
                continue;
            }
            let in_flight = (group.vtime - group.done_vtime).max(0.0) * inuse / self.vrate_base;
            let since = group.activated_at.max(self.period_at);
            let lasted = (now - since).as_seconds().max(1e-6);
            let usage = (used.max(in_flight) / lasted).min(1.0);
            let most = self.hweight_max(at);
            let after = self.after_donation(at, vnow, (inuse, most), usage);
            if after < most && active >= 2.0 / WEIGHT_ONE {
                surpluses.push((at, active, after));
            } else {
                let weight = self.groups[at].active;
                self.set_inuse(at, weight, Some(vnow));
                shortages += 1;
            }
        }
        if !surpluses.is_empty() && shortages > 0 {
            self.transfer_surpluses(vnow, &surpluses);
        }
        (shortages, is_lagging)
    }

    /// `hweight_after_donation`: the part that a cgroup needs which uses so much; it loses what it has saved beyond the target.
    fn after_donation(&mut self, at: usize, vnow: f64, (inuse, most): (f64, f64), usage: f64) -> f64 {
        let (least, target) = (self.margin(MARGIN_MIN), self.margin(MARGIN_TARGET));
        let elapsed = vnow - self.period_at_vtime;
        let group = &mut self.groups[at];
        if !group.waiters.is_empty() || group.vtime > vnow - least {
            return most;
        }
        let excess = vnow - group.vtime - target;
        if excess > 0.0 {
            group.vtime += excess;
            group.done_vtime += excess;
            self.vtime_err -= excess * inuse;
        }
        let saved = (vnow - group.vtime) / elapsed;
        (usage / (1.0 - MARGIN_TARGET + saved)).clamp(1.0 / WEIGHT_ONE, most)
    }

    /// `transfer_surpluses`, for cgroups side by side.
    fn transfer_surpluses(&mut self, vnow: f64, surpluses: &[(usize, f64, f64)]) {
        let donating: f64 = surpluses.iter().map(|(_, active, _)| active).sum();
        let after: f64 = surpluses.iter().map(|(_, _, after)| after).sum();
        let (donating, scale) = (donating.min(MOST_GIVEN), (MOST_GIVEN / after).min(1.0));
        let after = (after * scale).min(donating);
        let all: f64 = self.groups.iter().map(|group| group.active).sum();
        let adjusted = all * (1.0 - donating) / (1.0 - after);
        for &(at, _, own) in surpluses {
            self.set_inuse(at, adjusted * own * scale, Some(vnow));
        }
    }

    /// Counts for how long the disk has had too much to do, or too little.
    fn look_whether_busy(&mut self, shortages: u32, is_lagging: bool) {
        let met = std::mem::take(&mut self.met);
        let missed =
            met.map(|[met, missed]| if missed == 0 { 0.0 } else { missed as f64 / (met + missed) as f64 });
        let waited = std::mem::take(&mut self.tag_wait).as_seconds() / self.period;
        let is_beyond = |part: f64| {
            let misses = missed.iter().zip(&self.targets).any(|(missed, (most, _))| *missed > most * part);
            waited > WAIT_BUSY * part || misses
        };
        self.busy_level = if is_beyond(1.0) {
            self.busy_level.max(0) + 1
        } else if is_beyond(UNBUSY) || shortages == 0 {
            0
        } else {
            self.busy_level.min(0) - i32::from(!is_lagging)
        };
        self.busy_level = self.busy_level.clamp(-1000, 1000);
    }

    /// `ioc_adjust_base_vrate`
    fn adjust_vrate(&mut self, is_lagging: bool) {
        let (least, most) = self.vrates;
        if self.busy_level == 0 || self.busy_level < 0 && is_lagging {
            return;
        }
        let vrate = self.vrate_base;
        self.vrate_base = if vrate < least {
            (vrate * (1.0 + CLAMP_STEP)).min(least)
        } else if vrate > most {
            (vrate * (1.0 - CLAMP_STEP)).max(most)
        } else {
            let step = vrate_step(self.busy_level);
            (vrate * if self.busy_level > 0 { 1.0 - step } else { 1.0 + step }).clamp(least, most)
        };
    }

    /// `ioc_refresh_vrate`: makes up for virtual time that was thrown away, within the next period.
    fn refresh_vrate(&mut self) {
        let more = (-self.vtime_err / self.period).clamp(-self.vrate_base / 2.0, self.vrate_base);
        self.vtime_err += more * self.period;
        self.vrate = self.vrate_base + more;
        let most = self.period * self.vrate_base;
        self.vtime_err = self.vtime_err.clamp(-most, most);
    }
}
