//! Counts what each disk does over time, as `/proc/diskstats` and `iostat -x` do: requests, bytes, depth, busy time.
//!
//! Time is cut into windows of one length; when they are full, each two become one. A transfer counts in the windows that it was under way
//! in, in proportion. Depth is the number of requests that wait for the disk or are served; a transfer of many requests sends one after the
//! other. All sums are whole numbers, so nothing is lost between windows.

use crate::units::Nanos;

/// The first length of a window.
const FIRST: Nanos = Nanos(1_000_000);

/// The most windows of a disk.
const MOST_WINDOWS: usize = 256;

/// What a disk did in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Requests of reads, and their bytes.
    pub reads: u64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Requests of writes, and their bytes.
    pub writes: u64,
    /// Bytes that were written.
    pub write_bytes: u64,
    /// Flushes of its cache that began.
    pub flushes: u64,
    /// The time for which it had a request.
    pub busy: Nanos,
    /// The sum over its requests of the time that they were at the disk, in nanoseconds.
    pub at_disk: u128,
    /// The part of it before they were served.
    pub waiting: u128,
    /// The most requests at a time.
    pub deepest: u64,
}

impl Used {
    fn add(self, other: Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            read_bytes: self.read_bytes + other.read_bytes,
            writes: self.writes + other.writes,
            write_bytes: self.write_bytes + other.write_bytes,
            flushes: self.flushes + other.flushes,
            busy: self.busy + other.busy,
            at_disk: self.at_disk + other.at_disk,
            waiting: self.waiting + other.waiting,
            deepest: self.deepest.max(other.deepest),
        }
    }

    /// The requests of both directions.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.reads + self.writes
    }
}

/// Requests that a disk has moved, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// True if they were written.
    pub are_writes: bool,
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What a disk has done so far; see the module.
#[derive(Clone, Debug)]
pub struct DeviceUse {
    width: Nanos,
    windows: Vec<Used>,
    most: usize,
    /// The time up to which depth is summed up, and the requests from then on: those that wait, and those that are served.
    since: Nanos,
    waiting: u64,
    served: u64,
}

impl DeviceUse {
    /// A disk that has done nothing, in so many windows at most.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            width: FIRST,
            windows: Vec::new(),
            most: most.clamp(1, MOST_WINDOWS),
            since: Nanos::ZERO,
            waiting: 0,
            served: 0,
        }
    }

    /// Notes that so many requests wait and are served from now on.
    pub fn level(&mut self, now: Nanos, waiting: u64, served: u64) {
        if (waiting, served) == (self.waiting, self.served) {
            return;
        }
        self.bring_up_to(now);
        (self.waiting, self.served) = (waiting, served);
    }

    /// Sums up depth up to an instant.
    fn bring_up_to(&mut self, now: Nanos) {
        let (since, waiting, depth) = (self.since, self.waiting, self.waiting + self.served);
        self.since = now;
        if depth == 0 || since >= now {
            return;
        }
        self.each(since, now, |window, from, to| {
            let time = to - from;
            window.busy += time;
            window.at_disk += u128::from(time.0) * u128::from(depth);
            window.waiting += u128::from(time.0) * u128::from(waiting);
            window.deepest = window.deepest.max(depth);
        });
    }

    /// Counts requests that were under way from one instant to another.
    pub fn moved(&mut self, start: Nanos, end: Nanos, requests: Requests) {
        let duration = u128::from((end - start).0.max(1));
        let by = |all: u64, at: Nanos| (u128::from(all) * u128::from((at - start).0) / duration) as u64;
        let part = |all: u64, from: Nanos, to: Nanos| {
            if start == end { all } else { by(all, to) - by(all, from) }
        };
        self.each(start, end, |window, from, to| {
            let (count, bytes) = (part(requests.count, from, to), part(requests.bytes, from, to));
            if requests.are_writes {
                window.writes += count;
                window.write_bytes += bytes;
            } else {
                window.reads += count;
                window.read_bytes += bytes;
            }
        });
    }

    /// Counts flushes.
    pub fn flushed(&mut self, now: Nanos, flushes: u64) {
        self.each(now, now, |window, _, _| window.flushes += flushes);
    }

    /// Calls a function with each window from one instant to another, and the part of that time in it.
    fn each(&mut self, start: Nanos, end: Nanos, mut change: impl FnMut(&mut Used, Nanos, Nanos)) {
        let end_within = if end > start { Nanos(end.0 - 1) } else { end };
        self.widen(end_within);
        let width = self.width.0;
        let (first, last) = (start.0 / width, end_within.0 / width);
        if self.windows.len() <= last as usize {
            self.windows.resize(last as usize + 1, Used::default());
        }
        for at in first..=last {
            let (from, to) = ((at * width).max(start.0), ((at + 1) * width).min(end.0));
            change(&mut self.windows[at as usize], Nanos(from), Nanos(to));
        }
    }

    /// Makes one window of each two until an instant is in one of them.
    fn widen(&mut self, until: Nanos) {
        while until.0 / self.width.0 >= self.most as u64 {
            self.width = Nanos(self.width.0 * 2);
            self.windows = self
                .windows
                .chunks(2)
                .map(|two| two.iter().fold(Used::default(), |sum, each| sum.add(*each)))
                .collect();
        }
    }

    /// Returns each window up to the end of a run, with its beginning and its length; none if the disk has done nothing.
    #[must_use]
    pub fn rows(mut self, end: Nanos) -> Vec<(Nanos, Nanos, Used)> {
        self.bring_up_to(end);
        if self.windows.iter().all(|window| *window == Used::default()) {
            return Vec::new();
        }
        self.widen(Nanos(end.0.saturating_sub(1)));
        let width = self.width.0;
        let windows = end.0.div_ceil(width).max(self.windows.len() as u64) as usize;
        self.windows.resize(windows, Used::default());
        let begin = |at: usize| Nanos(at as u64 * width);
        let length = |at: usize| Nanos(width.min(end.0.saturating_sub(begin(at).0)));
        self.windows.iter().enumerate().map(|(at, used)| (begin(at), length(at), *used)).collect()
    }
}

/// Columns of the disks, window by window. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct DeviceTable {
    /// The time at which the window begins.
    pub time: Vec<Nanos>,
    /// Its length.
    pub window: Vec<Nanos>,
    /// Index into `hosts`.
    pub host: Vec<u32>,
    /// Index into `paths`: the disk.
    pub device: Vec<u32>,
    /// What it did.
    pub used: Vec<Used>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn sum(rows: &[(Nanos, Nanos, Used)]) -> Used {
        rows.iter().fold(Used::default(), |sum, (.., used)| sum.add(*used))
    }

    fn reads(count: u64, bytes: u64) -> Requests {
        Requests { are_writes: false, count, bytes }
    }

    #[test]
    fn nothing_is_lost_between_windows() {
        let mut disk = DeviceUse::new(16);
        for at in 0..1000 {
            disk.moved(Nanos(at * 7 * MS + 3), Nanos((at * 7 + 9) * MS), reads(3, 1001));
        }
        disk.flushed(Nanos(MS), 2);
        let rows = disk.rows(Nanos(7003 * MS));
        assert!(rows.len() <= 16);
        let all = sum(&rows);
        assert_eq!((all.reads, all.read_bytes, all.writes, all.flushes), (3000, 1_001_000, 0, 2));
        assert_eq!(rows.iter().map(|row| row.1).sum::<Nanos>(), Nanos(7003 * MS));
    }

    /// Little's law: the sum of depth over time is the sum of the times of all requests.
    #[test]
    fn depth_over_time_is_the_time_of_all_requests() {
        let mut disk = DeviceUse::new(4);
        let spans = [(0, 10), (2, 5), (5, 9), (20, 40), (41, 42)];
        let mut changes: Vec<u64> = spans.iter().flat_map(|&(from, to)| [from, to]).collect();
        changes.sort_unstable();
        for now in changes {
            let depth = spans.iter().filter(|&&(from, to)| from <= now && now < to).count() as u64;
            disk.level(Nanos(now * MS), depth.saturating_sub(1), depth.min(1));
        }
        let all = sum(&disk.rows(Nanos(50 * MS)));
        let times: u64 = spans.iter().map(|(from, to)| to - from).sum();
        assert_eq!((all.at_disk, all.waiting), (u128::from(times * MS), u128::from(7 * MS)));
        assert_eq!((all.busy, all.deepest), (Nanos(31 * MS), 2));
    }

    #[test]
    fn a_disk_that_has_long_been_idle_has_no_more_windows_than_others() {
        let mut disk = DeviceUse::new(16);
        disk.moved(Nanos::ZERO, Nanos(MS), reads(1, 4096));
        let rows = disk.rows(Nanos(1_000_000 * MS));
        assert!((8..=16).contains(&rows.len()), "{}", rows.len());
        assert_eq!(sum(&rows).read_bytes, 4096);
        assert_eq!(rows.iter().map(|row| row.1).sum::<Nanos>(), Nanos(1_000_000 * MS));
    }

    #[test]
    fn a_disk_is_busy_no_longer_than_a_window_lasts() {
        let mut disk = DeviceUse::new(8);
        disk.level(Nanos(MS / 2), 3, 1);
        let rows = disk.rows(Nanos(100 * MS + 1));
        assert!(rows.iter().all(|(_, window, used)| used.busy <= *window));
        assert_eq!(sum(&rows).busy, Nanos(100 * MS + 1 - MS / 2));
        assert!(DeviceUse::new(8).rows(Nanos(MS)).is_empty());
    }
}
