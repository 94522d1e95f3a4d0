//! `anticipatory`, of the single queue: waits after a read for the next one of the same thread, which is often close by.
//!
//! Source: `block/as-iosched.c`, Linux 2.6.27 to 2.6.32, whose names the functions have. Left out: that the head may go back a little, threads
//! that end, what is known of threads before they begin; a direct write counts as a write, and not as synchronous.

use std::collections::BTreeMap;

use super::elevator::{Key, Sorted};
use super::request::{Direction, Request};
use super::schedule::Schedule;
use crate::units::{Bytes, Nanos};

/// `default_read_expire`, `default_write_expire`: `HZ / 8`, `HZ / 4`
const EXPIRE: [Nanos; 2] = [Nanos(125_000_000), Nanos(250_000_000)];
/// `default_read_batch_expire`, `default_write_batch_expire`: `HZ / 2`, `HZ / 8`
const BATCH_EXPIRE: [Nanos; 2] = [Nanos(500_000_000), Nanos(125_000_000)];
/// `default_antic_expire`: `HZ / 150`
const ANTIC_EXPIRE: Nanos = Nanos(6_666_667);
/// `MAX_THINKTIME`: `HZ / 50`
const MAX_THINK_TIME: Nanos = Nanos(20_000_000);
/// Requests of a batch of writes at first (`write_batch_count`: a tenth of the time of a batch, in ticks of 4 ms).
const WRITE_BATCH_COUNT: u32 = 3;
/// Bytes within which a request is close at once (`as_close_req`: 8192 sectors); twice as many after each millisecond.
const CLOSE: u64 = 8192 * Request::SECTOR;

const MS: u64 = 1_000_000;
const READ: usize = Direction::Read as usize;
const WRITE: usize = Direction::Write as usize;

/// `enum anticipation_status`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Antic {
    Off,
    /// Until the last read is complete.
    WaitReq,
    /// Until the thread's next read comes, or this time.
    WaitNext(Nanos),
    Finished,
}

/// The history of the reads of a thread (`struct as_io_context`).
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    queued: u32,
    last_end: Option<Nanos>,
    last_position: Option<u64>,
    /// Think times in nanoseconds, and distances in bytes, in fixed point.
    think: Mean,
    distance: Mean,
}

/// A mean that forgets an eighth with each sample.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    samples: u64,
    total: u64,
}

impl Mean {
    fn add(&mut self, value: u64) {
        self.samples = (7 * self.samples + 256) / 8;
        self.total = (7 * self.total + 256 * value) / 8;
    }

    fn value(self) -> u64 {
        (self.total + 128) / self.samples.max(1)
    }
}

impl Thread {
    /// `as_update_iohist`
    fn note_arrival(&mut self, now: Nanos, request: &Request) {
        if let Some(last) = self.last_position {
            let thinks = self.last_end.filter(|_| self.queued == 0);
            self.think.add(thinks.map_or(0, |since| (now - since).min(MAX_THINK_TIME).0));
            let most = if self.distance.samples <= 60 { 2 << 20 } else { 2 << 16 } * Request::SECTOR;
            let distance = request.position.abs_diff(last).min(self.distance.value() * 4 + most);
            self.distance.add(distance);
        }
        self.last_position = Some(request.end());
        self.queued += 1;
    }
}

/// The scheduler; see the module.
#[derive(Debug)]
pub struct Anticipatory {
    queues: [Sorted; 2],
    threads: BTreeMap<u32, Thread>,
    antic: Antic,
    /// The thread of the last read, and when that read was complete.
    thread: Option<u32>,
    finished: Option<Nanos>,
    /// The direction of the batch, its end, and the writes that are left of it.
    batch: usize,
    batch_expires: Nanos,
    writes_left: u32,
    write_batch_count: u32,
    last_check: [Nanos; 2],
    /// True if the batch begins when the requests of the other one are complete.
    changed_batch: bool,
    /// True if a batch of reads counts from the end of its first.
    new_batch: bool,
    in_flight: u32,
}

impl Default for Anticipatory {
    fn default() -> Self {
        Self {
            queues: Default::default(),
            threads: BTreeMap::new(),
            antic: Antic::Off,
            thread: None,
            finished: None,
            batch: READ,
            batch_expires: Nanos::ZERO,
            writes_left: 0,
            write_batch_count: WRITE_BATCH_COUNT,
            last_check: [Nanos::ZERO; 2],
            changed_batch: false,
            new_batch: false,
            in_flight: 0,
        }
    }
}

impl Anticipatory {
    fn is_waiting(&self) -> bool {
        matches!(self.antic, Antic::WaitReq | Antic::WaitNext(_))
    }

    /// `as_antic_timeout`
    fn time_out(&mut self, now: Nanos) {
        if let Antic::WaitNext(until) = self.antic
            && until <= now
        {
            self.antic = Antic::Finished;
        }
    }

    /// `as_close_req`
    fn is_close(&self, now: Nanos, request: &Request, thread: &Thread) -> bool {
        let waited =
            self.finished.filter(|_| self.antic != Antic::Off).map_or(0, |since| (now - since).0 / MS);
        let (last, ahead) = (self.queues[READ].last, CLOSE << waited.min(ANTIC_EXPIRE.0 / MS));
        let is_near = last <= request.position + ahead / 2 && request.position <= last + ahead;
        is_near || thread.distance.value() > request.position.abs_diff(last)
    }

    /// `as_can_break_anticipation`
    fn can_break(&self, now: Nanos, request: Option<&Request>) -> bool {
        let Some(awaited) = self.thread else { return true };
        let thread = &self.threads[&awaited];
        let is_late = self.finished.is_some_and(|since| since + ANTIC_EXPIRE <= now);
        let is_good = request.is_some_and(|request| {
            let is_read = request.direction == Direction::Read;
            request.thread == awaited || is_read && self.is_close(now, request, thread)
        });
        is_good || is_late || thread.queued > 0 || thread.think.value() > ANTIC_EXPIRE.0
    }

    fn is_batch_expired(&self, now: Nanos) -> bool {
        if self.changed_batch || self.new_batch {
            return false;
        }
        self.batch_expires <= now || self.batch == WRITE && self.writes_left == 0
    }

    /// `as_fifo_expired`: looks once in each time of expiry.
    fn expired(&mut self, now: Nanos, direction: usize) -> Option<Key> {
        if now < self.last_check[direction] + EXPIRE[direction] {
            return None;
        }
        self.last_check[direction] = now;
        let (oldest, since) = self.queues[direction].oldest()?;
        (since + EXPIRE[direction] <= now).then_some(oldest)
    }

    /// `update_write_batch`: as many writes as take the time of a batch.
    fn update_write_batch(&mut self, now: Nanos) {
        let (batch, count) = (BATCH_EXPIRE[WRITE].0, self.write_batch_count);
        let time = (now.0 + batch).saturating_sub(self.batch_expires.0);
        let count = if time > batch {
            if time > 3 * batch { count / 2 } else { count - 1 }
        } else if self.writes_left > 0 {
            count
        } else if batch > 3 * time {
            count * 2
        } else {
            count + 1
        };
        self.write_batch_count = count.clamp(1, 1 << 16);
    }

    /// The request that `as_dispatch_request` would give out next.
    fn select(&mut self, now: Nanos) -> Option<Key> {
        let [reads, writes] = [READ, WRITE].map(|direction| !self.queues[direction].is_empty());
        if !(reads && writes && self.is_batch_expired(now)) {
            let next = self.queues[self.batch].next_around();
            if self.batch == READ {
                if let Some(expired) = self.expired(now, READ) {
                    return Some(expired);
                }
                let request = next.map(|next| *self.queues[READ].get(next));
                let can_wait = self.thread.is_some() && self.antic != Antic::Finished;
                if can_wait && !self.can_break(now, request.as_ref()) {
                    let waits = |since| Antic::WaitNext(since + ANTIC_EXPIRE);
                    self.antic = self.finished.map_or(Antic::WaitReq, waits);
                    return None;
                }
            }
            if let Some(next) = next {
                if reads && !writes {
                    self.batch_expires = now + BATCH_EXPIRE[READ];
                }
                return Some(self.expired(now, self.batch).unwrap_or(next));
            }
        }
        let direction = if reads && !(writes && self.batch == READ) { READ } else { WRITE };
        let (oldest, _) = self.queues[direction].oldest()?;
        if self.batch != direction {
            (self.changed_batch, self.new_batch) = (true, false);
        }
        self.batch = direction;
        self.last_check[direction] = now;
        self.writes_left = self.write_batch_count;
        Some(oldest)
    }
}

impl Schedule for Anticipatory {
    fn insert(&mut self, now: Nanos, request: Request) {
        self.time_out(now);
        if request.direction == Direction::Read {
            self.threads.entry(request.thread).or_default().note_arrival(now, &request);
        }
        self.queues[request.direction as usize].insert(now, request);
        if self.is_waiting() && self.can_break(now, Some(&request)) {
            self.antic = Antic::Finished;
        }
    }

    fn merge(&mut self, request: &Request, most: Bytes) -> Option<u64> {
        self.queues[request.direction as usize].merge(request, most)
    }

    /// `as_dispatch_request`
    fn dispatch(&mut self, now: Nanos) -> Option<Request> {
        self.time_out(now);
        if self.is_waiting() || self.queues.iter().all(Sorted::is_empty) {
            return None;
        }
        if self.changed_batch {
            return None;
        }
        let key = self.select(now)?;
        if self.changed_batch {
            if self.in_flight > 0 {
                return None;
            }
            (self.changed_batch, self.new_batch) = (false, self.batch == READ);
            if self.batch == WRITE {
                self.batch_expires = now + BATCH_EXPIRE[WRITE];
            }
        }
        // `as_move_to_dispatch`
        let request = self.queues[self.batch].take(key);
        (self.antic, self.finished) = (Antic::Off, None);
        self.thread = (self.batch == READ).then_some(request.thread);
        if self.batch == READ {
            self.threads.get_mut(&request.thread).expect("it has sent it").queued -= 1;
        } else {
            self.writes_left = self.writes_left.saturating_sub(1);
        }
        self.in_flight += 1;
        Some(request)
    }

    /// `as_completed_request`
    fn completed(&mut self, now: Nanos, request: &Request) {
        self.time_out(now);
        if self.changed_batch && self.in_flight == 1 {
            self.batch_expires = now + BATCH_EXPIRE[self.batch];
            (self.changed_batch, self.new_batch) = (false, self.batch == READ);
        }
        self.in_flight -= 1;
        if request.direction == Direction::Write {
            return;
        }
        if std::mem::take(&mut self.new_batch) {
            self.update_write_batch(now);
            self.batch_expires = now + BATCH_EXPIRE[READ];
        }
        if self.thread == Some(request.thread) {
            self.finished = Some(now);
            if self.antic == Antic::WaitReq {
                self.antic = Antic::WaitNext(now + ANTIC_EXPIRE);
            }
        }
        self.threads.get_mut(&request.thread).expect("it was in flight").last_end = Some(now);
    }

    fn next_event(&self) -> Option<Nanos> {
        match self.antic {
            Antic::WaitNext(until) => Some(until).filter(|_| !self.queues.iter().all(Sorted::is_empty)),
            _ => None,
        }
    }
}
