//! Spreads requests over the disks of an array, and serves them there.
//!
//! Source: `drivers/md/raid0.c`, `raid1.c`, `raid10.c` (near copies), `raid5.c: raid5_compute_sector` (left-symmetric), `handle_stripe_dirtying`,
//! Linux 6.12.
//!
//! - A write of a whole stripe with parity writes all disks. A smaller one reads first: the old data and parity, or what it does not write,
//!   whichever is less (`rmw`, `rcw`). On five disks with parity that makes four operations of a small write.
//! - A read goes to the copy with the shortest queue.
//!
//! Left out: the stripe cache, which collects requests that fill a stripe one after the other; resync, failed disks, write-intent bitmaps.

use rustc_hash::FxHashMap;

use super::request::{Direction, Request, RequestId};
use super::service::Head;
use super::times::Times;
use crate::machine::{Level, Raid};
use crate::units::{Bytes, Nanos};

/// An operation of one disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operation {
    /// The first of the disks that have it, and how many do.
    disks: (u32, u32),
    direction: Direction,
    at: u64,
    bytes: u64,
}

/// The operations of a request: those that read come first, and the others when they are complete.
type Phases = [Vec<Operation>; 2];

/// The part of a request in one stripe: columns with the first and last byte in their chunks.
type Columns = Vec<(u32, u64, u64)>;

/// Returns the operations of a request to an array of disks of such a size.
fn operations(raid: &Raid, size: u64, request: &Request) -> Phases {
    let chunk = raid.chunk.0;
    let data = u64::from(raid.data_disks());
    let mut phases = Phases::default();
    let (mut at, end) = (request.position, request.end());
    if raid.level == Level::Jbod {
        while at < end {
            let to = end.min((at / size + 1) * size);
            let disk = u32::try_from(at / size).expect("they are few").min(raid.disks - 1);
            phases[1].push(Operation {
                disks: (disk, 1),
                direction: request.direction,
                at: at % size,
                bytes: to - at,
            });
            at = to;
        }
        return phases;
    }
    while at < end {
        let stripe = at / (chunk * data);
        let to = end.min((stripe + 1) * chunk * data);
        let mut columns = Columns::new();
        while at < to {
            let from = at % chunk;
            let bytes = (chunk - from).min(to - at);
            columns.push(((at / chunk % data) as u32, from, from + bytes));
            at += bytes;
        }
        match request.direction {
            Direction::Read => read(raid, stripe, &columns, &mut phases[1]),
            Direction::Write => write(raid, stripe, &columns, &mut phases),
        }
    }
    phases
}

/// Returns the first disk of a column of a stripe, whose parity goes round (`ALGORITHM_LEFT_SYMMETRIC`).
fn disk_of(raid: &Raid, stripe: u64, column: u32) -> u32 {
    match raid.parity() {
        0 => column * raid.copies(),
        parity => (parity_of(raid, stripe) + parity + column) % raid.disks,
    }
}

fn parity_of(raid: &Raid, stripe: u64) -> u32 {
    raid.disks - 1 - (stripe % u64::from(raid.disks)) as u32
}

fn read(raid: &Raid, stripe: u64, columns: &Columns, into: &mut Vec<Operation>) {
    for &(column, from, to) in columns {
        let disks = (disk_of(raid, stripe, column), raid.copies());
        let at = stripe * raid.chunk.0 + from;
        into.push(Operation { disks, direction: Direction::Read, at, bytes: to - from });
    }
}

fn write(raid: &Raid, stripe: u64, columns: &Columns, [before, writes]: &mut Phases) {
    let base = stripe * raid.chunk.0;
    let one = |disk: u32, direction, (from, to): (u64, u64)| Operation {
        disks: (disk, 1),
        direction,
        at: base + from,
        bytes: to - from,
    };
    for &(column, from, to) in columns {
        let first = disk_of(raid, stripe, column);
        writes.extend((first..first + raid.copies()).map(|disk| one(disk, Direction::Write, (from, to))));
    }
    if raid.parity() == 0 {
        return;
    }
    let low = columns.iter().map(|column| column.1).min().unwrap_or_default();
    let high = columns.iter().map(|column| column.2).max().unwrap_or_default();
    let parities = (0..raid.parity()).map(|at| (parity_of(raid, stripe) + at) % raid.disks);
    writes.extend(parities.clone().map(|disk| one(disk, Direction::Write, (low, high))));
    let is_whole =
        |column: u32| columns.iter().any(|&(each, from, to)| each == column && (from, to) == (low, high));
    let not_written: Vec<u32> = (0..raid.data_disks()).filter(|column| !is_whole(*column)).collect();
    let rmw = columns.len() + raid.parity() as usize;
    if rmw < not_written.len() {
        let old = columns.iter().map(|&(column, from, to)| (disk_of(raid, stripe, column), (from, to)));
        let parities = parities.map(|disk| (disk, (low, high)));
        before.extend(old.chain(parities).map(|(disk, range)| one(disk, Direction::Read, range)));
    } else {
        let disks = not_written.into_iter().map(|column| disk_of(raid, stripe, column));
        before.extend(disks.map(|disk| one(disk, Direction::Read, (low, high))));
    }
}

/// A disk of an array.
#[derive(Clone, Debug)]
struct Member {
    head: Option<Head>,
    depth: usize,
    times: Times,
    waiting: Vec<(u64, Operation)>,
    served: Vec<(Nanos, u64)>,
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
            let (part, operation) = self.waiting.remove(next);
            let moved =
                self.head.as_mut().map_or(Nanos::ZERO, |head| head.go(now, &request_of(&operation), choices));
            let time = self.times.next(operation.direction);
            self.served.push((now + time + moved, part));
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
    open: usize,
    then: Vec<Operation>,
}

/// The disks of an array; see the module.
#[derive(Clone, Debug)]
pub(super) struct Array {
    raid: Raid,
    size: u64,
    members: Vec<Member>,
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
            raid,
            size: size.0,
            members: (0..u64::from(raid.disks)).map(member).collect(),
            requests: FxHashMap::default(),
        }
    }

    /// Begins a request.
    pub(super) fn begin(&mut self, now: Nanos, request: Request) {
        let [before, then] = operations(&self.raid, self.size, &request);
        let (first, then) = if before.is_empty() { (then, before) } else { (before, then) };
        let in_flight = InFlight { request, open: first.len(), then };
        self.requests.insert(request.part, in_flight);
        self.send(now, request.part, first);
    }

    /// Requests on their way.
    pub(super) fn requests(&self) -> usize {
        self.requests.len()
    }

    fn send(&mut self, now: Nanos, part: u64, operations: Vec<Operation>) {
        for operation in operations {
            let (first, copies) = operation.disks;
            let load = |disk: &u32| {
                let member = &self.members[*disk as usize];
                member.waiting.len() + member.served.len()
            };
            let disk = (first..first + copies).min_by_key(load).expect("a disk has it");
            let member = &mut self.members[disk as usize];
            member.waiting.push((part, operation));
            member.serve(now);
        }
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
                member.served.retain(|&(at, part)| {
                    if at == end {
                        ended.push(part);
                    }
                    at != end
                });
                member.serve(end);
            }
            for part in ended {
                self.operation_ended(end, part, &mut complete);
            }
        }
        complete
    }

    fn operation_ended(&mut self, now: Nanos, part: u64, complete: &mut Vec<Request>) {
        let request = self.requests.get_mut(&part).expect("it is on its way");
        request.open -= 1;
        if request.open > 0 {
            return;
        }
        let then = std::mem::take(&mut request.then);
        request.open = then.len();
        if then.is_empty() {
            complete.extend(self.requests.remove(&part).map(|ended| ended.request));
        } else {
            self.send(now, part, then);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::keys::Word;

    const CHUNK: u64 = 64 << 10;
    const SIZE: u64 = 1 << 40;

    fn raid(level: Level, disks: u32) -> Raid {
        Raid { level, disks, chunk: Bytes(CHUNK) }
    }

    fn request(direction: Direction, position: u64, bytes: u64) -> Request {
        Request {
            direction,
            part: position + 1,
            ..request_of(&Operation { disks: (0, 1), direction, at: position, bytes })
        }
    }

    /// Reads before, and writes.
    fn counts(level: Level, disks: u32, bytes: u64) -> (usize, usize) {
        let phases = operations(&raid(level, disks), SIZE, &request(Direction::Write, 0, bytes));
        (phases[0].len(), phases[1].len())
    }

    #[test]
    fn a_small_write_with_parity_costs_four_operations_and_a_whole_stripe_one_of_each_disk() {
        assert_eq!(counts(Level::Raid5, 5, 4096), (2, 2));
        assert_eq!(counts(Level::Raid6, 8, 4096), (3, 3));
        assert_eq!(counts(Level::Raid5, 5, 4 * CHUNK), (0, 5));
        assert_eq!(counts(Level::Raid6, 8, 6 * CHUNK), (0, 8));
        assert_eq!(counts(Level::Raid5, 5, 3 * CHUNK), (1, 4), "it reads what it does not write");
        assert_eq!(counts(Level::Raid5, 3, 4096), (1, 2), "the other chunk is less than data and parity");
        assert_eq!([Level::Raid0, Level::Jbod].map(|level| counts(level, 4, 4096)), [(0, 1); 2]);
        assert_eq!(
            [(Level::Raid1, 3), (Level::Raid10, 4)].map(|(level, disks)| counts(level, disks, 4096).1),
            [3, 2]
        );
    }

    #[test]
    fn parity_goes_round() {
        let of: Vec<u32> = (0..5).map(|stripe| parity_of(&raid(Level::Raid5, 5), stripe)).collect();
        assert_eq!(of, [4, 3, 2, 1, 0]);
    }

    /// The time of random writes of 4 KiB, one after the other, on disks that take a millisecond for each operation.
    fn seconds(level: Level, disks: u32, direction: Direction, depth: u64) -> f64 {
        let mut array = Array::new(raid(level, disks), Bytes(SIZE), 1, Times::equal(Nanos(1_000_000)), None);
        let (mut now, mut sent) = (Nanos::ZERO, 0);
        let mut next = |array: &mut Array, now| {
            let position = sent * 7919 % 100_000 * CHUNK;
            array.begin(now, Request { part: sent, ..request(direction, position, 4096) });
            sent += 1;
        };
        (0..depth).for_each(|_| next(&mut array, now));
        let mut complete = 0;
        while complete < 1000 {
            now = array.next_event().expect("something is on its way");
            for _ in array.advance(now) {
                complete += 1;
                next(&mut array, now);
            }
        }
        now.as_seconds()
    }

    #[test]
    fn a_small_write_takes_two_operations_one_after_the_other_and_a_read_one() {
        let all = |level, disks| [Direction::Read, Direction::Write].map(|way| seconds(level, disks, way, 1));
        assert_eq!(all(Level::Raid0, 4), [1.0, 1.0]);
        assert_eq!(all(Level::Raid1, 2), [1.0, 1.0]);
        assert_eq!(all(Level::Raid5, 5), [1.0, 2.0]);
    }

    #[test]
    fn many_requests_use_all_disks_four_operations_each_with_parity() {
        let rate = |level, disks, way| 1.0 / seconds(level, disks, way, 64);
        let of_five = rate(Level::Raid0, 5, Direction::Write);
        assert!((of_five - 5.0).abs() < 0.25, "{of_five}");
        let with_parity = rate(Level::Raid5, 5, Direction::Write);
        assert!((with_parity - 1.25).abs() < 0.1, "{with_parity}");
        let mirrored = rate(Level::Raid1, 2, Direction::Read);
        assert!((mirrored - 2.0).abs() < 0.05, "{mirrored}");
    }

    proptest! {
        #[test]
        fn all_bytes_are_moved_and_no_two_lie_at_one_place(
            of in 0..6_usize, extra in 0..3_u32, position in 0..1000_u64, bytes in 1..600_u64,
        ) {
            let level = Level::ALL[of];
            let disks = if level == Level::Raid10 { 4 + 2 * extra } else { 4 + extra };
            let raid = raid(level, disks);
            let (position, bytes) = (position * 4096, bytes * 4096);
            let [before, reads] = operations(&raid, SIZE, &request(Direction::Read, position, bytes));
            prop_assert!(before.is_empty());
            prop_assert_eq!(reads.iter().map(|each| each.bytes).sum::<u64>(), bytes);
            let mut ranges: Vec<_> = reads.iter().map(|each| (each.disks.0, each.at, each.at + each.bytes)).collect();
            ranges.sort_unstable();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1));
            let [_, writes] = operations(&raid, SIZE, &request(Direction::Write, position, bytes));
            let written: u64 = writes.iter().map(|each| each.bytes).sum();
            prop_assert!(written >= bytes * u64::from(raid.copies()));
            prop_assert!(raid.parity() > 0 || written == bytes * u64::from(raid.copies()));
        }
    }
}
