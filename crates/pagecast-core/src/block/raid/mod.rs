//! Spreads requests over the disks of an array, and serves them there.
//!
//! Source: `drivers/md`, Linux 6.12.
//!
//! - `layout` says which disks a request goes to, and where. A read goes to the copy with the shortest queue.
//! - `stripes` is the cache through which writes go on arrays with parity. Without one (`stripe_cache = 0`) a write of a whole stripe writes all
//!   disks; a smaller one reads first: the old data and parity, or what it does not write, whichever is less (`rmw`, `rcw`). On five disks
//!   with parity that makes four operations of a small write.
//!
//! Left out: resync, failed disks, write-intent bitmaps.

mod layout;
mod stripes;

use rustc_hash::FxHashMap;

use self::layout::{Operation, operations};
use self::stripes::{Numbered, Stripes};
use super::request::{Direction, Request, RequestId};
use super::service::Head;
use super::times::Times;
use crate::machine::Raid;
use crate::units::{Bytes, Nanos};

/// Whose operation it is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Owner {
    /// Of a request, by its number.
    Request(u64),
    /// Of the stripe cache, by its number there.
    Stripes(u64),
}

/// A disk of an array.
#[derive(Clone, Debug)]
struct Member {
    head: Option<Head>,
    depth: usize,
    times: Times,
    waiting: Vec<(Owner, Operation)>,
    served: Vec<(Nanos, Owner)>,
}

impl Member {
    /// Serves what waits, as far as there is room: a disk that turns one at a time, that which its head reaches first.
    fn serve(&mut self, now: Nanos) {
        let room = if self.head.is_some() { 1 } else { self.depth };
        while self.served.len() < room && !self.waiting.is_empty() {
            let next = self.head.as_ref().map_or(0, |head| {
                let seconds = |at: &usize| head.seconds(&request_of(&self.waiting[*at].1), 1);
                let all = 0..self.waiting.len();
                all.min_by(|one, other| seconds(one).total_cmp(&seconds(other))).expect("some wait")
            });
            let choices = self.waiting.len();
            let (owner, operation) = self.waiting.remove(next);
            let moved =
                self.head.as_mut().map_or(Nanos::ZERO, |head| head.go(now, &request_of(&operation), choices));
            let time = self.times.next(operation.direction);
            self.served.push((now + time + moved, owner));
        }
    }
}

/// An operation as a request to the disk alone.
fn request_of(operation: &Operation) -> Request {
    Request {
        id: RequestId(0),
        thread: 0,
        direction: operation.direction,
        position: operation.at,
        bytes: Bytes(operation.bytes),
        priority: crate::workload::IoPriority::default(),
        is_sync: true,
        is_direct: true,
        cgroup: 0,
        part: 0,
    }
}

/// A request on its way.
#[derive(Clone, Debug)]
struct InFlight {
    request: Request,
    /// Operations, or pages of the stripe cache, that are not complete.
    open: usize,
    then: Vec<Operation>,
}

/// The disks of an array; see the module.
#[derive(Clone, Debug)]
pub(super) struct Array {
    raid: Raid,
    size: u64,
    members: Vec<Member>,
    stripes: Option<Stripes>,
    /// By the number of the request's part.
    requests: FxHashMap<u64, InFlight>,
}

impl Array {
    /// An array of disks of such a size, each of which serves `depth` operations at a time, or has a head.
    pub(super) fn new(raid: Raid, size: Bytes, depth: u32, times: Times, head: Option<&Head>) -> Self {
        let member = |number| Member {
            head: head.cloned(),
            depth: depth.max(1) as usize,
            times: times.of_member(number),
            waiting: Vec::new(),
            served: Vec::new(),
        };
        Self {
            stripes: (raid.parity() > 0 && raid.stripe_cache > 0).then(|| Stripes::new(raid)),
            raid,
            size: size.0,
            members: (0..u64::from(raid.disks)).map(member).collect(),
            requests: FxHashMap::default(),
        }
    }

    /// Begins a request. A write to a stripe cache begins when its thread is not plugged.
    pub(super) fn begin(&mut self, now: Nanos, request: Request) {
        if let Some(stripes) = self.stripes.as_mut().filter(|_| request.direction == Direction::Write) {
            let (open, begun) = stripes.write(&request);
            self.requests.insert(request.part, InFlight { request, open, then: Vec::new() });
            return self.send_numbered(now, begun);
        }
        let [before, then] = operations(&self.raid, self.size, &request);
        let (first, then) = if before.is_empty() { (then, before) } else { (before, then) };
        let in_flight = InFlight { request, open: first.len(), then };
        self.requests.insert(request.part, in_flight);
        first.into_iter().for_each(|operation| self.send(now, Owner::Request(request.part), operation));
    }

    /// Begins the writes of threads that are not plugged.
    pub(super) fn unplug(&mut self, now: Nanos, is_plugged: impl Fn(u32) -> bool) {
        let begun = self.stripes.as_mut().map(|stripes| stripes.unplug(is_plugged));
        self.send_numbered(now, begun.unwrap_or_default());
    }

    /// Requests on their way.
    pub(super) fn requests(&self) -> usize {
        self.requests.len()
    }

    fn send_numbered(&mut self, now: Nanos, operations: Vec<Numbered>) {
        for (number, operation) in operations {
            self.send(now, Owner::Stripes(number), operation);
        }
    }

    fn send(&mut self, now: Nanos, owner: Owner, operation: Operation) {
        let (first, copies) = operation.disks;
        let load = |disk: &u32| {
            let member = &self.members[*disk as usize];
            member.waiting.len() + member.served.len()
        };
        let disk = (first..first + copies).min_by_key(load).expect("a disk has it");
        let member = &mut self.members[disk as usize];
        member.waiting.push((owner, operation));
        member.serve(now);
    }

    /// The time at which an operation is complete.
    pub(super) fn next_event(&self) -> Option<Nanos> {
        self.members.iter().flat_map(|member| &member.served).map(|(end, _)| *end).min()
    }

    /// Brings it up to an instant. Returns the requests that are complete.
    pub(super) fn advance(&mut self, now: Nanos) -> Vec<Request> {
        let mut complete = Vec::new();
        while let Some(end) = self.next_event().filter(|end| *end <= now) {
            let mut ended = Vec::new();
            for member in &mut self.members {
                member.served.retain(|&(at, owner)| {
                    if at == end {
                        ended.push(owner);
                    }
                    at != end
                });
                member.serve(end);
            }
            for owner in ended {
                self.operation_ended(end, owner, &mut complete);
            }
        }
        complete
    }

    fn operation_ended(&mut self, now: Nanos, owner: Owner, complete: &mut Vec<Request>) {
        match owner {
            Owner::Request(part) => self.part_ended(now, part, complete),
            Owner::Stripes(number) => {
                let mut written = Vec::new();
                let stripes = self.stripes.as_mut().expect("its operation has ended");
                let begun = stripes.ended(number, &mut written);
                written.into_iter().for_each(|part| self.part_ended(now, part, complete));
                self.send_numbered(now, begun);
            }
        }
    }

    /// Ends an operation of a request, or a page of it.
    fn part_ended(&mut self, now: Nanos, part: u64, complete: &mut Vec<Request>) {
        let request = self.requests.get_mut(&part).expect("it is on its way");
        request.open -= 1;
        if request.open > 0 {
            return;
        }
        let then = std::mem::take(&mut request.then);
        request.open = then.len();
        if then.is_empty() {
            complete.extend(self.requests.remove(&part).map(|ended| ended.request));
        }
        then.into_iter().for_each(|operation| self.send(now, Owner::Request(part), operation));
    }
}

#[cfg(test)]
mod tests;
