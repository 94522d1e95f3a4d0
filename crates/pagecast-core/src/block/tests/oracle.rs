//! The block layer once more, slow and obvious: every request is an entry of a list, and each decision looks at all of them. For `none`,
//! `mq-deadline` and `kyber`. Each thread is a cgroup of its own, with limits of bytes and requests in a second.

use std::collections::BTreeMap;

use crate::machine::Scheduler;
use crate::workload::IoClass;

/// Threads whose calls are alike, each the next in its part of the disk.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    pub is_write: bool,
    pub bytes: u64,
    pub class: IoClass,
    pub depth: u32,
    pub limits: (Option<u64>, Option<u64>),
}

/// A disk and its queue; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    pub scheduler: Scheduler,
    pub nr_requests: usize,
    pub most: u64,
    pub depth: usize,
    pub time: u64,
    pub submission: u64,
    pub wake_up: u64,
}

/// Ticks in a second, and those of a slice.
const HZ: u64 = 250;
const SLICE: u64 = 25;
const TICK: u64 = 1_000_000_000 / HZ;

/// The requests that a limited thread has sent: its slice in ticks, the bytes and requests that count there, and the entries that wait; of each
/// whether its bytes count still.
#[derive(Clone, Debug, Default)]
struct Limited {
    limits: (Option<u64>, Option<u64>),
    slice: (u64, u64),
    counted: (u64, u64),
    waits: Vec<(Entry, bool)>,
    /// The tick in which the first may pass.
    due: u64,
}

impl Limited {
    /// The ticks that an entry of so many bytes waits at a tick.
    fn wait(&mut self, tick: u64, bytes: u64, counts: bool) -> u64 {
        let whole = |ticks: u64| ticks.div_ceil(SLICE) * SLICE;
        if (tick < self.slice.0 || tick > self.slice.1) && self.waits.is_empty() {
            (self.slice, self.counted) = ((tick, tick + SLICE), (0, 0));
        } else if self.slice.1 < tick + SLICE {
            self.slice.1 = whole(tick + SLICE);
        }
        let elapsed = tick - self.slice.0;
        let mut wait = 0;
        if let Some(bps) = self.limits.0.filter(|_| counts) {
            let end = whole(elapsed.max(1));
            let (allowed, wanted) = (bps * end / HZ, self.counted.0 + bytes);
            if wanted > allowed {
                wait = ((wanted - allowed) * HZ / bps).max(1) + end - elapsed;
            }
        }
        if let Some(iops) = self.limits.1 {
            let end = whole(elapsed + 1);
            if self.counted.1 + 1 > iops * end / HZ {
                wait = wait.max(end - elapsed);
            }
        }
        if wait > 0 && self.slice.1 < tick + wait {
            self.slice.1 = whole(tick + wait);
        }
        wait
    }

    fn count(&mut self, tick: u64, bytes: u64, counts: bool) {
        self.counted.0 += if counts { bytes } else { 0 };
        self.counted.1 += 1;
        if tick >= self.slice.0 && tick <= self.slice.1 {
            self.slice.1 = (tick + SLICE).div_ceil(SLICE) * SLICE;
            let over = (tick - self.slice.0) / SLICE;
            if over >= 2 {
                let ticks = (over - 1) * SLICE;
                let less =
                    |limit: Option<u64>, of: u64| limit.map_or(0, |limit| (limit * ticks / HZ).min(of));
                let (bytes, requests) =
                    (less(self.limits.0, self.counted.0), less(self.limits.1, self.counted.1));
                if bytes + requests > 0 {
                    self.counted = (self.counted.0 - bytes, self.counted.1 - requests);
                    self.slice.0 += ticks;
                }
            }
        }
    }

    /// The rest of an entry that may pass now; nothing if it waits.
    fn pass(&mut self, tick: u64, entry: &Entry, counts: bool) -> bool {
        if self.limits == (None, None) || !counts && self.limits.1.is_none() {
            return true;
        }
        let passes = self.waits.is_empty() && self.wait(tick, entry.bytes, counts) == 0;
        if passes {
            self.count(tick, entry.bytes, counts);
            return true;
        }
        self.waits.push((entry.clone(), counts));
        if self.waits.len() == 1 {
            self.due = tick + self.wait(tick, entry.bytes, counts);
        }
        false
    }
}

#[derive(Clone, Debug)]
struct Entry {
    thread: usize,
    /// The thread that sends it.
    sender: usize,
    position: u64,
    bytes: u64,
    /// The calls of which it is a part.
    calls: Vec<u64>,
    since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Thread {
    Free,
    InLine,
    Prepares(u64),
}

pub struct Oracle {
    disk: Disk,
    threads: Vec<Calls>,
    numbers: Vec<u64>,
    to_send: Vec<Vec<Entry>>,
    state: Vec<Thread>,
    ready: Vec<u64>,
    line: Vec<usize>,
    waiting: Vec<Entry>,
    ahead: Option<Entry>,
    served: Vec<(u64, Entry)>,
    parts: BTreeMap<u64, (usize, u64, u32)>,
    limited: Vec<Limited>,
    /// The tick of the timer for those that wait.
    timer: Option<u64>,
    /// Of the batch of mq-deadline or kyber: its direction, its length; how often reads went before writes; ends, by class and direction.
    batch: (bool, u32),
    starved: u32,
    ends: BTreeMap<(IoClass, bool), u64>,
    processor: u64,
    /// The times of complete calls.
    pub latencies: Vec<Vec<u64>>,
}

impl Oracle {
    pub fn run(disk: Disk, threads: &[Calls], until: u64) -> Self {
        let count = threads.len();
        let mut each = Self {
            disk,
            threads: threads.to_vec(),
            numbers: vec![0; count],
            // The last one sends what was limited.
            to_send: vec![Vec::new(); count + 1],
            state: vec![Thread::Free; count + 1],
            ready: vec![0; count + 1],
            line: Vec::new(),
            waiting: Vec::new(),
            ahead: None,
            served: Vec::new(),
            parts: BTreeMap::new(),
            limited: threads
                .iter()
                .map(|calls| Limited { limits: calls.limits, ..Limited::default() })
                .collect(),
            timer: None,
            batch: (false, 0),
            starved: 0,
            ends: BTreeMap::new(),
            processor: 0,
            latencies: vec![Vec::new(); count],
        };
        let calls = |thread: usize| (0..threads[thread].depth).map(move |_| (0, thread));
        let mut due: Vec<(u64, usize)> = (0..count).flat_map(calls).collect();
        loop {
            let prepared = each.state.iter().filter_map(|state| match state {
                Thread::Prepares(until) => Some(*until),
                _ => None,
            });
            let timer = each.timer.map(|tick| tick * TICK);
            let event = prepared.chain(each.complete()).chain(timer).min().unwrap_or(u64::MAX);
            due.sort_unstable();
            let call = due.first().map_or(u64::MAX, |(at, _)| *at);
            let now = event.min(call);
            if now > until {
                return each;
            }
            if event <= call {
                for thread in each.end_requests(now) {
                    let awake = each.work(now, each.disk.wake_up);
                    due.push((awake, thread));
                }
                each.go_on(now);
            } else {
                let (_, thread) = due.remove(0);
                each.call(now, thread);
            }
        }
    }

    /// Uses the processor for so long. Returns the end.
    fn work(&mut self, now: u64, time: u64) -> u64 {
        if time > 0 {
            self.processor = self.processor.max(now) + time;
            return self.processor;
        }
        now
    }

    /// The time at which the next requests end; those end together that are within 20 us, or a tenth of their time.
    fn complete(&self) -> Option<u64> {
        let mut ends: Vec<u64> = self.served.iter().map(|(end, _)| *end).collect();
        ends.sort_unstable();
        let mut last = *ends.first()?;
        for end in ends {
            if end <= last + (self.disk.time / 10).min(20_000) {
                last = end;
            }
        }
        Some(last)
    }

    fn call(&mut self, now: u64, thread: usize) {
        let Calls { bytes, .. } = self.threads[thread];
        let (number, position) =
            (self.numbers[thread], ((thread as u64) << 40) + self.numbers[thread] * bytes);
        self.numbers[thread] += 1;
        let call = (thread as u64) << 32 | number;
        self.parts.insert(call, (thread, now, bytes.div_ceil(self.disk.most) as u32));
        let entry = Entry { thread, sender: thread, position, bytes, calls: vec![call], since: 0 };
        if self.pass(now, &entry, true) {
            self.cut(now, entry);
        }
    }

    /// True if an entry may pass; otherwise it waits, and the first to do so sets the timer.
    fn pass(&mut self, now: u64, entry: &Entry, counts: bool) -> bool {
        let limited = &mut self.limited[entry.thread];
        let passes = limited.pass(now / TICK, entry, counts);
        if !passes && limited.waits.len() == 1 {
            self.set_timer(now);
        }
        passes
    }

    /// Cuts an entry that may pass.
    fn cut(&mut self, now: u64, entry: Entry) {
        let sender = entry.sender;
        let mut rest = Some(entry);
        while let Some(entry) = rest {
            let bytes = self.disk.most.min(entry.bytes);
            self.to_send[sender].push(Entry { bytes, ..entry.clone() });
            let after = Entry { position: entry.position + bytes, bytes: entry.bytes - bytes, ..entry };
            rest = (after.bytes > 0 && self.pass(now, &after, false)).then_some(after);
        }
        if self.state[sender] == Thread::Free {
            self.send(now, sender);
        }
    }

    /// The timer of the first that may pass fires at the end of a step: a tick, or eight if that is more than 62 off.
    fn set_timer(&mut self, now: u64) {
        let tick = now / TICK;
        let due =
            self.limited.iter().filter(|limited| !limited.waits.is_empty()).map(|limited| limited.due).min();
        self.timer = due.map(|due| {
            let step = [1, 8, 64, 512].into_iter().find(|step| due.saturating_sub(tick) < 63 * step);
            let step = step.expect("nobody waits longer");
            (due / step + 1) * step
        });
    }

    /// Passes on what has waited: of each thread six reads or two writes at a time, until nothing may pass; reads go first.
    fn pass_on(&mut self, now: u64) {
        let tick = now / TICK;
        if self.timer.is_none_or(|timer| timer > tick) {
            return;
        }
        let mut passed: Vec<Entry> = Vec::new();
        loop {
            let waits = |thread: &usize| !self.limited[*thread].waits.is_empty();
            let first = (0..self.limited.len()).filter(waits).min_by_key(|thread| self.limited[*thread].due);
            let Some(thread) = first.filter(|thread| self.limited[*thread].due <= tick) else { break };
            let most = if self.threads[thread].is_write { 2 } else { 6 };
            let limited = &mut self.limited[thread];
            for _ in 0..most {
                let Some((entry, counts)) = limited.waits.first().cloned() else { break };
                if limited.wait(tick, entry.bytes, counts) > 0 {
                    break;
                }
                limited.waits.remove(0);
                limited.count(tick, entry.bytes, counts);
                passed.push(entry);
            }
            if let Some((entry, counts)) = limited.waits.first().cloned() {
                limited.due = tick + limited.wait(tick, entry.bytes, counts);
            }
        }
        self.set_timer(now);
        let sender = self.threads.len();
        passed.sort_by_key(|entry| self.threads[entry.thread].is_write);
        for entry in passed {
            self.cut(now, Entry { sender, ..entry });
        }
    }

    fn send(&mut self, now: u64, thread: usize) {
        self.state[thread] = Thread::Free;
        while let Some(mut entry) = self.to_send[thread].first().cloned() {
            if self.ready[thread] > now {
                self.state[thread] = Thread::Prepares(self.ready[thread]);
                return;
            }
            if let Some(before) = self.mergeable(&entry) {
                self.waiting[before].bytes += entry.bytes;
                self.waiting[before].calls.insert(0, entry.calls[0]);
            } else if self.has_tag() {
                entry.since = now;
                self.waiting.push(entry);
            } else {
                self.state[thread] = Thread::InLine;
                self.line.push(thread);
                return;
            }
            self.to_send[thread].remove(0);
            self.ready[thread] = self.work(now, self.disk.submission);
            self.fill(now);
        }
    }

    fn has_tag(&self) -> bool {
        let used = self.waiting.len() + self.served.len() + usize::from(self.ahead.is_some());
        let all =
            if self.disk.scheduler == Scheduler::None { self.disk.depth } else { self.disk.nr_requests };
        used < all
    }

    fn mergeable(&self, entry: &Entry) -> Option<usize> {
        let fits = |before: &Entry| {
            before.thread == entry.thread
                && before.position + before.bytes == entry.position
                && before.bytes + entry.bytes <= self.disk.most
        };
        let merges = self.disk.scheduler != Scheduler::None;
        self.waiting.iter().position(fits).filter(|_| merges)
    }

    fn fill(&mut self, now: u64) {
        while self.served.len() < self.disk.depth {
            let Some(entry) = self.ahead.take().or_else(|| self.next(now)) else { return };
            self.served.push((now + self.disk.time, entry));
        }
        if self.ahead.is_none() && self.disk.scheduler != Scheduler::None {
            self.ahead = self.next(now);
        }
    }

    /// Takes the request that goes next.
    fn next(&mut self, now: u64) -> Option<Entry> {
        let at = match self.disk.scheduler {
            Scheduler::None => 0,
            Scheduler::Kyber => self.next_of_kyber()?,
            _ => self.next_of_deadline(now)?,
        };
        (at < self.waiting.len()).then(|| self.waiting.remove(at))
    }

    /// The oldest request of a direction.
    fn oldest(&self, is_write: bool) -> Option<usize> {
        self.waiting.iter().position(|entry| self.threads[entry.thread].is_write == is_write)
    }

    fn next_of_kyber(&mut self) -> Option<usize> {
        let (is_write, given) = self.batch;
        let most = if is_write { 8 } else { 16 };
        if let Some(at) = self.oldest(is_write).filter(|_| given < most) {
            self.batch.1 += 1;
            return Some(at);
        }
        self.batch.1 = 0;
        for direction in [!is_write, is_write] {
            self.batch.0 = direction;
            if let Some(at) = self.oldest(direction) {
                self.batch.1 = 1;
                return Some(at);
            }
        }
        None
    }

    fn next_of_deadline(&mut self, now: u64) -> Option<usize> {
        let in_disk = self.served.iter().map(|(_, entry)| entry).chain(&self.ahead);
        let class = self.waiting.iter().chain(in_disk).map(|entry| self.threads[entry.thread].class).min()?;
        if self.waiting.iter().all(|entry| self.threads[entry.thread].class != class) {
            return None;
        }
        let of = |each: &Self, is_write: bool| {
            let is_alike = |at: &usize| {
                let calls = each.threads[each.waiting[*at].thread];
                calls.class == class && calls.is_write == is_write
            };
            (0..each.waiting.len()).filter(is_alike).collect::<Vec<_>>()
        };
        let behind = |each: &Self, is_write: bool| {
            let end = each.ends.get(&(class, is_write)).copied().unwrap_or(0);
            let ahead = of(each, is_write).into_iter().filter(|at| each.waiting[*at].position >= end);
            ahead.min_by_key(|at| each.waiting[*at].position)
        };
        let (last, given) = self.batch;
        let (at, is_write) = if let Some(at) = behind(self, last).filter(|_| given < 16) {
            self.batch.1 += 1;
            (at, last)
        } else {
            let (reads, writes) = (of(self, false), of(self, true));
            let is_write = reads.is_empty() || !writes.is_empty() && self.starved == 2;
            if !reads.is_empty() && !writes.is_empty() {
                self.starved = if is_write { 0 } else { self.starved + 1 };
            } else if is_write {
                self.starved = 0;
            }
            let oldest = *if is_write { &writes } else { &reads }.first()?;
            let expire = if is_write { 5_000_000_000 } else { 500_000_000 };
            let is_expired = self.waiting[oldest].since + expire <= now;
            self.batch = (is_write, 1);
            (behind(self, is_write).filter(|_| !is_expired).unwrap_or(oldest), is_write)
        };
        self.ends.insert((class, is_write), self.waiting[at].position + self.waiting[at].bytes);
        Some(at)
    }

    /// Ends what is due. Returns the threads of complete calls.
    fn end_requests(&mut self, now: u64) -> Vec<usize> {
        let (ended, left): (Vec<_>, Vec<_>) = self.served.drain(..).partition(|(end, _)| *end <= now);
        self.served = left;
        let mut complete = Vec::new();
        for call in ended.into_iter().flat_map(|(_, entry)| entry.calls) {
            let (thread, since, parts) = self.parts.get_mut(&call).expect("it is under way");
            *parts -= 1;
            if *parts == 0 {
                complete.push(*thread);
                self.latencies[*thread].push(now - *since);
                self.parts.remove(&call);
            }
        }
        self.fill(now);
        complete
    }

    /// Lets threads send that wait for a tag, then those that have prepared their next request.
    fn go_on(&mut self, now: u64) {
        while !self.line.is_empty() && self.has_tag() {
            let thread = self.line.remove(0);
            self.send(now, thread);
        }
        let due = |(thread, state): (usize, &Thread)| match state {
            Thread::Prepares(until) if *until <= now => Some((*until, thread)),
            _ => None,
        };
        while let Some((_, thread)) = self.state.iter().enumerate().filter_map(due).min() {
            self.send(now, thread);
        }
        self.pass_on(now);
    }
}
