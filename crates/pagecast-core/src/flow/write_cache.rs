//! Models the write cache of a disk, which takes writes faster than the disk keeps them while it has room.
//!
//! A bucket of bytes. Writes fill it as they come. It is emptied at the rate that writes would have without room, beside the reads of that
//! moment, or more slowly. While it is full the disk serves as without a cache. Rates change only at events, also at the end of the room:
//! in between the room is a line.
//!
//! A limiter is the same bucket, of tokens: while there are some, bytes pass as fast as anything else lets them; without, they pass at the
//! limit. Tokens come at the limit, as long as the bucket is not full. Source: `block/blk-throttle.c` (`io.max`), and the burst of a
//! cloud's disk. Some limiters give tokens out at a beat instead, and let nothing pass in between: `drivers/block/null_blk/main.c:
//! null_handle_throttled, nullb_bwtimer_fn`. Their beat begins with the first byte, and ends when a whole beat was idle.
//!
//! Left out: bytes overwritten in the cache that never get to the disk, and reads from the cache.

use super::{Resource, ResourceId, Route, Use, finish_time, served};
use crate::units::{Bytes, Nanos, earlier};

/// The write cache of a disk before it is added to a network.
#[derive(Clone, Debug)]
pub struct WriteCache {
    /// The bytes that it holds.
    pub size: Bytes,
    /// The resource that all writes cross, and nothing else.
    pub writes: ResourceId,
    /// The resource that they share with reads, if they do.
    pub shared: Option<ResourceId>,
    /// The highest rate at which it is emptied.
    pub drain: f64,
    /// The beat at which all room comes back, if it does not come all the time.
    pub beat: Option<Nanos>,
    /// The service of the disk while there is room,
    pub with_room: Service,
    /// and while there is none.
    pub full: Service,
}

/// The rate of a limiter that has tokens, in bytes per second: more than memory copies, and so little that the whole nanoseconds of an end
/// do not count for a page.
const PASSING: f64 = 1e11;

impl WriteCache {
    /// The bucket of a limiter, which is a resource of its own, and the resource while there are tokens.
    pub(super) fn of_limiter(id: ResourceId, limit: &Resource) -> (Self, Resource) {
        let passing = Resource { capacity_at: vec![(1, PASSING)], ..limit.clone() };
        let alone = |writes| Service { writes, shared: None };
        let beat = (limit.interval > Nanos::ZERO).then_some(limit.interval);
        let blocked = Resource { capacity_at: vec![(1, 0.0)], ..limit.clone() };
        let bucket = Self {
            size: Bytes((beat.unwrap_or(limit.burst).as_seconds() * limit.capacity(1)) as u64),
            writes: id,
            shared: None,
            drain: f64::INFINITY,
            beat,
            with_room: alone(passing.clone()),
            full: alone(if beat.is_some() { blocked } else { limit.clone() }),
        };
        (bucket, passing)
    }
}

/// The service of a disk.
#[derive(Clone, Debug)]
pub struct Service {
    /// The resource of the writes.
    pub writes: Resource,
    /// The resource that reads and writes share, and the cost of a write there.
    pub shared: Option<(Resource, f64)>,
}

impl Service {
    /// Returns the highest rate of so many writes beside the reads of a moment.
    fn most(&self, load: Load) -> f64 {
        let alone = self.writes.capacity(load.writers);
        let beside =
            |(shared, cost): &(Resource, f64)| (shared.capacity(load.sharers) - load.reads).max(0.0) / cost;
        self.shared.as_ref().map_or(alone, |shared| alone.min(beside(shared)))
    }
}

/// Less room is none: rates are as exact as floating point is.
const LEAST_ROOM: f64 = 1.0;

/// So small a part of the rate at which a cache is emptied is noise of floating point.
const NOISE: f64 = 1e-9;

/// The load of a disk at a moment: the number of flows, and their rate together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    writers: u32,
    writes: f64,
    /// Writers, and readers if they share something.
    sharers: u32,
    reads: f64,
}

impl Load {
    /// The load of the resource of writes, and of the one that they share with reads.
    pub(super) fn new((writers, writes): (u32, f64), shared: Option<(u32, f64)>) -> Self {
        let (sharers, all) = shared.unwrap_or((writers, writes));
        Self { writers, writes, sharers, reads: all - writes }
    }
}

/// The cost of a flow on a resource of a cache. On the one that reads and writes share, rates themselves are counted.
pub(super) fn cost_at(uses: &[Use], at: ResourceId, writes: ResourceId) -> f64 {
    uses.iter().find(|each| each.resource == at && at == writes).map_or(1.0, |each| each.cost)
}

/// A resource as it is at first: one with a limiter has a bucket, which is full.
pub(super) fn limited(id: ResourceId, resource: Resource, caches: &mut WriteCaches) -> Resource {
    if resource.burst == Nanos::ZERO && resource.interval == Nanos::ZERO {
        return resource;
    }
    let (bucket, passing) = WriteCache::of_limiter(id, &resource);
    caches.add(bucket);
    passing
}

#[derive(Debug)]
struct Cache {
    spec: WriteCache,
    /// True if the disk serves as one with room.
    is_fast: bool,
    /// The free bytes at `since`, and their change in a second. They are brought forward only when the change changes.
    room: f64,
    change: f64,
    since: Nanos,
    /// The end of the room, or the next beat.
    end: Option<Nanos>,
    /// The next beat, if it is going.
    next_beat: Option<Nanos>,
}

impl Cache {
    fn new(spec: WriteCache) -> Self {
        let room = spec.size.as_f64();
        Self { spec, is_fast: true, room, change: 0.0, since: Nanos::ZERO, end: None, next_beat: None }
    }

    fn is_on(&self, is_one: &impl Fn(ResourceId) -> bool) -> bool {
        is_one(self.spec.writes) || self.spec.shared.is_some_and(is_one)
    }

    fn room_at(&self, now: Nanos) -> f64 {
        (self.room + served(self.change, self.since, now)).clamp(0.0, self.spec.size.as_f64())
    }

    /// Returns true if the disk serves otherwise from now on.
    fn turn(&mut self, now: Nanos) -> bool {
        self.give_out(now);
        let is_fast = self.room_at(now) >= LEAST_ROOM;
        std::mem::replace(&mut self.is_fast, is_fast) != is_fast
    }

    /// Gives out the room of the beats that have come.
    fn give_out(&mut self, now: Nanos) {
        let (Some(beat), Some(due)) = (self.spec.beat, self.next_beat.filter(|due| *due <= now)) else {
            return;
        };
        let is_idle = self.room_at(due) >= self.spec.size.as_f64();
        (self.room, self.since) = (self.spec.size.as_f64(), now);
        self.next_beat = (!is_idle).then_some(due + beat).filter(|next| *next > now);
    }

    fn service(&self) -> &Service {
        if self.is_fast { &self.spec.with_room } else { &self.spec.full }
    }

    /// Notes the load of the disk from now on.
    fn follow(&mut self, now: Nanos, load: Load) {
        let leaves = self.spec.full.most(load).min(self.spec.drain);
        let change = leaves - load.writes;
        let change = if change.abs() <= NOISE * leaves { 0.0 } else { change };
        if change != self.change {
            (self.room, self.change, self.since) = (self.room_at(now), change, now);
        }
        let shrinks = self.is_fast && change < 0.0;
        self.end = shrinks.then(|| finish_time(self.room, -change, self.since));
        if let Some(beat) = self.spec.beat
            && (shrinks || !self.is_fast)
        {
            let next = *self.next_beat.get_or_insert(now + beat);
            self.end = earlier(self.end, Some(next));
        }
    }

    /// Sets the cost of a write on the resource that reads and writes share, on all routes that write here.
    fn set_costs(&self, routes: &mut [Route]) {
        let (Some(shared), Some((_, cost))) = (self.spec.shared, &self.service().shared) else { return };
        let writes = |route: &&mut Route| route.0.iter().any(|each| each.resource == self.spec.writes);
        for route in routes.iter_mut().filter(writes) {
            route.0.iter_mut().filter(|each| each.resource == shared).for_each(|each| each.cost = *cost);
        }
    }
}

/// The write caches of a network. Most have none.
#[derive(Debug, Default)]
pub(super) struct WriteCaches(Vec<Cache>);

impl WriteCaches {
    /// Adds a write cache. All of it is room: its resources and routes are those of that.
    pub(super) fn add(&mut self, spec: WriteCache) {
        self.0.push(Cache::new(spec));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Updates the caches on some resources before these give new rates. `serve` is told the service of each resource from now on, and
    /// the routes with their costs.
    ///
    /// That is early enough for room that grows. It grows only if something else than the full cache holds the writes back, and then
    /// they are as fast with room.
    pub(super) fn turn(
        &mut self,
        now: Nanos,
        is_one: impl Fn(ResourceId) -> bool,
        routes: &mut [Route],
        mut serve: impl FnMut(ResourceId, &Resource, &[Route]),
    ) {
        for cache in self.0.iter_mut().filter(|cache| cache.is_on(&is_one)) {
            if !cache.turn(now) {
                continue;
            }
            cache.set_costs(routes);
            let service = cache.service();
            serve(cache.spec.writes, &service.writes, routes);
            if let (Some(shared), Some((resource, _))) = (cache.spec.shared, &service.shared) {
                serve(shared, resource, routes);
            }
        }
    }

    /// Tells the caches on some resources, which have new rates, the load of their disks.
    pub(super) fn follow(
        &mut self,
        now: Nanos,
        is_one: impl Fn(ResourceId) -> bool,
        load: impl Fn(ResourceId, Option<ResourceId>) -> Load,
    ) {
        for cache in self.0.iter_mut().filter(|cache| cache.is_on(&is_one)) {
            cache.follow(now, load(cache.spec.writes, cache.spec.shared));
        }
    }

    /// True if bytes pass a limiter that has tokens.
    pub(super) fn is_passing(&self) -> bool {
        self.0.iter().any(|cache| cache.is_fast && cache.change < 0.0)
    }

    /// Returns the next end of a cache's room.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.0.iter().fold(None, |next, cache| earlier(next, cache.end))
    }

    /// The resources that write into the caches whose room has ended by `now`.
    pub(super) fn ended(&self, now: Nanos) -> impl Iterator<Item = ResourceId> {
        let ended = self.0.iter().filter(move |cache| cache.end.is_some_and(|end| end <= now));
        ended.map(|cache| cache.spec.writes)
    }
}
