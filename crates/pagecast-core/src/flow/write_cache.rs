//! A disk that takes writes faster than it keeps them, for as long as a memory of its own has room: its write cache.
//!
//! A bucket of bytes. Writes take of its room as they come; it is emptied at the rate that writes would have without room,
//! beside the reads of that moment, or more slowly. While it is full all is as on a disk without a cache.
//! Rates change only at events, the one at which the room ends among them: in between the room is a line.
//! Left out: what is overwritten in the cache and never gets to the disk, and reads that find there what was written.

use super::{Resource, ResourceId, Route, finish_time, served};
use crate::units::{Bytes, Nanos, earlier};

/// The write cache of a disk before it is added to a network.
#[derive(Clone, Debug)]
pub struct WriteCache {
    /// What it holds.
    pub size: Bytes,
    /// The resource that all writes cross, and nothing else.
    pub writes: ResourceId,
    /// The resource that they share with reads, if they do.
    pub shared: Option<ResourceId>,
    /// The rate at which it is emptied at most.
    pub drain: f64,
    /// How the disk serves while there is room,
    pub with_room: Service,
    /// and while there is none.
    pub full: Service,
}

/// How a disk serves.
#[derive(Clone, Debug)]
pub struct Service {
    /// What the writes get.
    pub writes: Resource,
    /// What reads and writes share, and what a write costs there.
    pub shared: Option<(Resource, f64)>,
}

impl Service {
    /// The most that so many writes would get beside the reads of a moment.
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

/// What is on a disk at a moment: how many flows, and their rate together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    writers: u32,
    writes: f64,
    /// Writers, and readers if they share something.
    sharers: u32,
    reads: f64,
}

impl Load {
    /// That of the resource of writes, and of the one that they share with reads.
    pub(super) fn new((writers, writes): (u32, f64), shared: Option<(u32, f64)>) -> Self {
        let (sharers, all) = shared.unwrap_or((writers, writes));
        Self { writers, writes, sharers, reads: all - writes }
    }
}

#[derive(Debug)]
struct Cache {
    spec: WriteCache,
    /// Whether the disk serves as one that has room.
    is_fast: bool,
    /// Bytes that it could take at `since`, and how they change in a second. They are brought forward only when the change changes.
    room: f64,
    change: f64,
    since: Nanos,
    /// When the room ends.
    end: Option<Nanos>,
}

impl Cache {
    fn new(spec: WriteCache) -> Self {
        let room = spec.size.as_f64();
        Self { spec, is_fast: true, room, change: 0.0, since: Nanos::ZERO, end: None }
    }

    fn is_on(&self, is_one: &impl Fn(ResourceId) -> bool) -> bool {
        is_one(self.spec.writes) || self.spec.shared.is_some_and(is_one)
    }

    fn room_at(&self, now: Nanos) -> f64 {
        (self.room + served(self.change, self.since, now)).clamp(0.0, self.spec.size.as_f64())
    }

    /// Whether the disk serves otherwise from now on.
    fn turn(&mut self, now: Nanos) -> bool {
        let is_fast = self.room_at(now) >= LEAST_ROOM;
        std::mem::replace(&mut self.is_fast, is_fast) != is_fast
    }

    fn service(&self) -> &Service {
        if self.is_fast { &self.spec.with_room } else { &self.spec.full }
    }

    /// The disk has this load from now on.
    fn follow(&mut self, now: Nanos, load: Load) {
        let leaves = self.spec.full.most(load).min(self.spec.drain);
        let change = leaves - load.writes;
        let change = if change.abs() <= NOISE * leaves { 0.0 } else { change };
        if change != self.change {
            (self.room, self.change, self.since) = (self.room_at(now), change, now);
        }
        let shrinks = self.is_fast && change < 0.0;
        self.end = shrinks.then(|| finish_time(self.room, -change, self.since));
    }

    /// What a write costs on the resource that reads and writes share, on all routes that write here.
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
    /// One more, and all of it is room: its resources and routes are those of that.
    pub(super) fn add(&mut self, spec: WriteCache) {
        self.0.push(Cache::new(spec));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Looks which of those on some resources have room now, before these give new rates. `serve` is told how a resource serves from now
    /// on, and the routes with their costs.
    ///
    /// That is early enough for room that grows: it does so only where something else than the full cache holds the writes
    /// back, and then they are as fast with room.
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

    /// Tells those on some resources, which have new rates, what is on their disks now.
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

    /// When the room of one of them ends.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.0.iter().fold(None, |next, cache| earlier(next, cache.end))
    }

    /// The resources that write into those whose room has ended by `now`.
    pub(super) fn ended(&self, now: Nanos) -> impl Iterator<Item = ResourceId> {
        let ended = self.0.iter().filter(move |cache| cache.end.is_some_and(|end| end <= now));
        ended.map(|cache| cache.spec.writes)
    }
}
