//! Charges a seek to a request that does not begin near the end of the one before it, on a disk with a moving head.
//!
//! Ours. An operation past the cache pays at each request, a read that misses pays at each short run; a long run hides it. A disk with a
//! `rotation` has a head at a place of its `layout`; there a unit of write-back pays, too: its positionings and its bytes give one rate for it.
//! Left out: the order in which a scheduler takes requests.

use crate::block::{DiskCache, Mechanics};
use crate::machine::{Disk, Host};
use crate::policy::FileId;
use crate::policy::kernel::block::layout::Layout;
use crate::policy::kernel::block::queue::{Queue, Unit};
use crate::policy::kernel::page::PAGE;
use crate::units::Nanos;

/// The distance within which no seek is needed: two windows of read-ahead may lie between.
const NEAR: u64 = 4 << 20;

/// The position of each disk's head: a file and a byte of it.
#[derive(Debug, Default)]
pub struct Heads(Vec<Option<(FileId, u64)>>);

impl Heads {
    /// Starts at an unknown position: the first request of every disk seeks.
    pub fn of(disks: usize) -> Self {
        Self(vec![None; disks])
    }

    /// Moves the head of a disk over a range; true if it had to seek to its start.
    pub fn go(&mut self, disk: usize, file: FileId, (start, end): (u64, u64)) -> bool {
        let before = self.0[disk].replace((file, end));
        before.is_none_or(|(other, at)| other != file || at.abs_diff(start) > NEAR)
    }
}

/// A disk that turns, and its head.
#[derive(Debug)]
pub struct Turning {
    mechanics: Mechanics,
    read: f64,
    write: f64,
    /// The disks of an array that write different bytes of a stream.
    members: u64,
    log: u64,
    head: Option<u64>,
    /// When the head is free, in seconds: short reads take turns.
    free: f64,
    /// Its write cache, which has a head of its own.
    cache: Option<DiskCache>,
}

impl Turning {
    /// Those of the disks of a host that turn.
    pub fn of(host: &Host) -> Vec<Option<Self>> {
        let turning = |at: usize, disk: &Disk| {
            let rotation = disk.rotation.as_ref()?;
            let mechanics = Mechanics::new(rotation, disk.member_size());
            let cache = rotation.cache.map(|size| DiskCache::new(size, mechanics, disk.write.0));
            let members = u64::from(disk.streaming().1);
            let mut logs = host.mounts.iter().filter_map(|mount| mount.log(&host.disks));
            let log = logs.find(|(disk, _)| *disk == at).map_or(0, |(_, blocks)| blocks * PAGE);
            Some(Self {
                mechanics,
                read: disk.read.0,
                write: disk.write.0,
                members,
                log,
                head: None,
                free: 0.0,
                cache,
            })
        };
        host.disks.iter().enumerate().map(|(at, disk)| turning(at, disk)).collect()
    }

    /// The part of each disk of an array in a range of bytes: they move together.
    fn of_each_disk(&self, (at, bytes): (u64, u64)) -> (u64, u64) {
        let first = at / self.members;
        (first, (at + bytes) / self.members - first)
    }

    /// Moves the head over a range of bytes that is read. Returns the seconds until it is at the first of them. Short reads come one after the
    /// other, and of those that wait the disk takes the one that comes up first; a long one is a stream that shares the rate.
    pub fn read(&mut self, now: Nanos, (at, bytes): (u64, u64), is_short: bool) -> f64 {
        let (at, bytes) = self.of_each_disk((at, bytes));
        if let Some(cache) = &mut self.cache {
            return cache.read(now.as_seconds(), (at, bytes), self.read, 1);
        }
        let from = self.head.replace(at + bytes);
        let position = |choices| self.mechanics.positioning(from, at, choices, self.read);
        if !is_short {
            return position(1);
        }
        let (now, transfer) = (now.as_seconds(), bytes as f64 / self.read);
        let waits = (self.free - now).max(0.0);
        let waiting = (waits / (position(1) + transfer)) as usize;
        let seconds = waits + position(1 + waiting);
        self.free = now + seconds + transfer;
        seconds
    }

    /// Moves the head over the first unit of a queue. Returns its rate if it is less than that of the disk.
    pub fn write(&mut self, now: Nanos, queue: &Queue, layout: &mut Layout) -> Option<f64> {
        let &Unit { file, start, end, .. } = queue.front()?;
        let bytes = end - start;
        let pieces = match file {
            Some(file) => layout.pieces(file, (start, end)),
            None => vec![layout.log(bytes, self.log)],
        };
        let of_each: Vec<(u64, u64)> = pieces.into_iter().map(|piece| self.of_each_disk(piece)).collect();
        let seconds = self.seconds(now, &of_each);
        let rate = bytes as f64 / seconds;
        (rate < self.write * self.members as f64 * (1.0 - 1e-6)).then_some(rate)
    }

    /// Returns the seconds until ranges are written, or are in the cache.
    fn seconds(&mut self, now: Nanos, ranges: &[(u64, u64)]) -> f64 {
        let Some(cache) = &mut self.cache else {
            let seconds = self.mechanics.train(self.head, ranges, self.write);
            self.head = ranges.last().map(|(at, bytes)| at + bytes);
            return seconds;
        };
        let waits = ranges.iter().map(|range| cache.put(now.as_seconds(), *range));
        let wait = waits.fold(0.0, f64::max);
        wait.max(ranges.iter().map(|(_, bytes)| bytes).sum::<u64>() as f64 / self.write)
    }

    /// Returns the time in which its write cache becomes empty; no other write comes meanwhile.
    pub fn flush(&mut self, now: Nanos) -> Nanos {
        let seconds = self.cache.as_mut().map_or(0.0, |cache| cache.flush(now.as_seconds()));
        Nanos::from_seconds(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_to_move_to_another_file_and_far_from_where_it_is() {
        let mut heads = Heads::of(2);
        let [file, other] = [1, 2].map(FileId);
        assert!(heads.go(0, file, (0, 100)), "nobody knows where it was");
        assert!(!heads.go(0, file, (100, 200)) && !heads.go(0, file, (200 + NEAR, 300 + NEAR)));
        assert!(heads.go(0, file, (301 + 2 * NEAR, 400 + 2 * NEAR)));
        assert!(!heads.go(0, file, (400 + NEAR, 500)) && heads.go(0, other, (500, 600)), "back, and away");
        assert!(heads.go(1, other, (600, 700)), "each disk has its own");
    }
}
