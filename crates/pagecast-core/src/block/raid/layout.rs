//! Says which disks of an array a request goes to, and where.
//!
//! Source: `drivers/md/raid0.c`, `raid1.c`, `raid10.c` (near copies), `raid5.c: raid5_compute_sector` (left-symmetric), `handle_stripe_dirtying`,
//! Linux 6.12.

use crate::block::request::{Direction, Request};
use crate::machine::{Level, Raid};

/// An operation of one disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The first of the disks that have it, and how many do.
    pub disks: (u32, u32),
    pub direction: Direction,
    pub at: u64,
    pub bytes: u64,
}

/// The operations of a request: those that read come first, and the others when they are complete.
pub type Phases = [Vec<Operation>; 2];

/// The part of a request in one stripe: columns with the first and last byte in their chunks.
type Columns = Vec<(u32, u64, u64)>;

/// Returns the operations of a request to an array of disks of such a size.
pub fn operations(raid: &Raid, size: u64, request: &Request) -> Phases {
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
pub fn disk_of(raid: &Raid, stripe: u64, column: u32) -> u32 {
    match raid.parity() {
        0 => column * raid.copies(),
        parity => (parity_of(raid, stripe) + parity + column) % raid.disks,
    }
}

/// Returns the first disk with parity of a stripe.
pub fn parity_of(raid: &Raid, stripe: u64) -> u32 {
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
