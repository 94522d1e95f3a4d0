//! Keeps writes in the memory of a disk that turns, and brings them to the platter in the order of their places.
//!
//! Source: what data sheets call write cache. A write is complete when the cache has it, writes that adjoin become one, and the head goes
//! from low places to high ones and begins again, as `block/elevator.c` of Linux does. It is eager: the head works whenever something is kept.
//! A piece is at most as long as a request of the kernel, since room is given back as the head moves on.
//!
//! Left out: a number of segments, reads that find their bytes here, an age at which bytes go first.

use std::collections::BTreeMap;

use super::rotation::Mechanics;
use crate::units::Bytes;

/// The most that the head writes before room is given back: 1 MiB, the largest of a request's usual limits.
const PIECE: u64 = 1 << 20;

/// The write cache of a disk that turns, and its head; see the module. Times are in seconds.
#[derive(Clone, Debug)]
pub struct DiskCache {
    size: u64,
    /// Bytes per second at the first track.
    write: f64,
    mechanics: Mechanics,
    /// By their places the bytes that it keeps; no two adjoin.
    kept: BTreeMap<u64, u64>,
    bytes: u64,
    head: Option<u64>,
    /// The time up to which the head has work, or had some.
    busy: f64,
}

impl DiskCache {
    /// An empty cache of a disk that writes so fast.
    #[must_use]
    pub fn new(size: Bytes, mechanics: Mechanics, write: f64) -> Self {
        let size = size.0.max(PIECE);
        Self { size, write, mechanics, kept: BTreeMap::new(), bytes: 0, head: None, busy: 0.0 }
    }

    /// Takes a range of bytes of the disk. Returns the seconds that the last of them wait for room.
    pub fn put(&mut self, now: f64, (at, bytes): (u64, u64)) -> f64 {
        self.work_until(now);
        let (mut at, end) = (at, at + bytes);
        let mut wait = 0.0;
        while at < end {
            let part = PIECE.min(end - at);
            while self.bytes + part > self.size && self.write_piece() {
                wait = self.busy - now;
            }
            self.keep(at, at + part);
            at += part;
        }
        wait
    }

    /// Moves the head over a range of bytes that is read at such a rate, the best of so many. Returns the seconds until it is at the first of them: what it writes
    /// at the moment comes first.
    pub fn read(&mut self, now: f64, (at, bytes): (u64, u64), rate: f64, choices: usize) -> f64 {
        self.work_until(now);
        let positioning = self.mechanics.positioning(self.head, at, choices, rate);
        self.busy = self.busy.max(now) + positioning;
        self.head = Some(at + bytes);
        self.busy - now
    }

    /// Writes everything that it keeps. Returns the seconds of that.
    pub fn flush(&mut self, now: f64) -> f64 {
        self.work_until(now);
        while self.write_piece() {}
        (self.busy - now).max(0.0)
    }

    /// Lets the head work up to an instant; it ends what it has begun.
    fn work_until(&mut self, now: f64) {
        while self.busy < now && self.write_piece() {}
        self.busy = self.busy.max(now);
    }

    /// Writes what lies next in the way of the head; false if there is nothing.
    fn write_piece(&mut self) -> bool {
        let from = self.head.unwrap_or_default();
        let next = self.kept.range(from..).next().or_else(|| self.kept.first_key_value());
        let Some((&at, &bytes)) = next else { return false };
        let part = PIECE.min(bytes);
        self.kept.remove(&at);
        if part < bytes {
            self.kept.insert(at + part, bytes - part);
        }
        self.bytes -= part;
        self.busy += self.mechanics.train(self.head, &[(at, part)], self.write);
        self.head = Some(at + part);
        true
    }

    /// Adds a range, of which it may keep a part already.
    fn keep(&mut self, mut from: u64, mut to: u64) {
        while let Some((&at, &bytes)) =
            self.kept.range(..=to).next_back().filter(|(at, bytes)| **at + **bytes >= from)
        {
            self.kept.remove(&at);
            self.bytes -= bytes;
            (from, to) = (from.min(at), to.max(at + bytes));
        }
        self.kept.insert(from, to - from);
        self.bytes += to - from;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::machine::Rotation;
    use crate::units::Nanos;

    const MIB: u64 = 1 << 20;
    const SIZE: u64 = 500_000_000_000;
    const WRITE: f64 = 60e6;

    fn mechanics() -> Mechanics {
        let ms = |ms: f64| Nanos::from_seconds(ms * 1e-3);
        let rotation = Rotation {
            rpm: 7200,
            track_seek: ms(1.0),
            average_seek: ms(8.5),
            full_seek: None,
            inner: 1.0,
            cache: None,
        };
        Mechanics::new(&rotation, Bytes(SIZE))
    }

    fn cache(mib: u64) -> DiskCache {
        DiskCache::new(Bytes(mib * MIB), mechanics(), WRITE)
    }

    #[test]
    fn a_write_waits_for_nothing_while_there_is_room() {
        let mut cache = cache(8);
        assert!((0..8).all(|at| cache.put(0.0, (at << 32, MIB)) == 0.0));
        assert!(cache.put(0.0, (9 << 32, MIB)) > 0.0);
        assert!(cache.flush(0.0) > 9.0 * MIB as f64 / WRITE);
        assert_eq!(cache.put(10.0, (0, 4096)), 0.0, "it has all been written");
    }

    #[test]
    fn a_long_stream_goes_at_the_rate_of_the_platter() {
        let mut cache = cache(8);
        let mut now = 0.0;
        for at in 0..1000 {
            now += cache.put(now, (at * MIB, MIB));
        }
        assert!((1000.0 * MIB as f64 / now / WRITE - 1.0).abs() < 0.02);
    }

    /// Seconds to write 64 MiB of ten files that lie apart, so many bytes of each in turn.
    fn in_turn(mib: u64, step: u64) -> f64 {
        let mut cache = cache(mib);
        let mut now = 0.0;
        for at in 0..64 * MIB / step {
            now += cache.put(now, (((at % 10) << 33) + at / 10 * step, step));
        }
        now + cache.flush(now)
    }

    #[test]
    fn a_larger_cache_collects_more_of_each_file() {
        let times = [1, 4, 16, 64].map(|mib| in_turn(mib, 64 << 10));
        assert!(times.is_sorted_by(|more, less| more > less), "{times:?}");
        let alone = 64.0 * MIB as f64 / WRITE;
        assert!(times[0] > 2.5 * alone && times[2] < 1.3 * alone, "{times:?}");
    }

    #[test]
    fn what_is_written_again_is_written_once() {
        let mut cache = cache(8);
        let first = cache.put(0.0, (0, 4 * MIB));
        assert_eq!(first + cache.put(0.0, (0, 4 * MIB)), 0.0);
        assert!(cache.flush(0.0) < 5.0 * MIB as f64 / WRITE);
    }

    #[test]
    fn a_read_waits_for_the_piece_under_way_and_no_longer() {
        let mut cache = cache(16);
        cache.put(0.0, (0, 16 * MIB));
        let wait = cache.read(1e-3, (1 << 38, 4096), WRITE, 1);
        assert!(wait > MIB as f64 / WRITE - 1e-3 && wait < 3.0 * MIB as f64 / WRITE, "{wait}");
    }

    proptest! {
        /// A slow cache has a flag for each KiB.
        #[test]
        fn it_keeps_each_byte_once(puts in prop::collection::vec((0..300_u64, 1..200_u64), 1..30)) {
            let mut cache = cache(64);
            let mut flags = vec![false; 512];
            for (at, length) in puts {
                cache.keep(at << 10, (at + length) << 10);
                flags[at as usize..(at + length) as usize].fill(true);
                prop_assert_eq!(cache.bytes >> 10, flags.iter().filter(|flag| **flag).count() as u64);
                prop_assert_eq!(cache.kept.values().sum::<u64>(), cache.bytes);
                let ends: Vec<_> = cache.kept.iter().map(|(at, bytes)| (*at, at + bytes)).collect();
                prop_assert!(ends.windows(2).all(|pair| pair[0].1 < pair[1].0), "they adjoin");
            }
        }

        #[test]
        fn no_byte_is_faster_than_the_platter_beyond_the_room(
            puts in prop::collection::vec((0..1000_u64, 1..64_u64), 1..60), mib in 1..16_u64,
        ) {
            let mut cache = cache(mib);
            let (mut now, mut bytes) = (0.0, 0);
            for (at, length) in puts {
                now += cache.put(now, ((at << 28) + bytes, length << 14));
                bytes += length << 14;
            }
            prop_assert!(bytes as f64 <= now * WRITE + (mib * MIB) as f64 + 1.0);
            let end = now + cache.flush(now);
            prop_assert!(end * WRITE >= bytes as f64 * (1.0 - 1e-9));
            prop_assert!(cache.flush(end) < 1e-9);
        }
    }
}
