//! Keeps for whom each device has worked and when, so that who waited for it knows whom it waited behind.
//!
//! Ours. A turn is the time in which the device wrote a unit of its queue, or served a request up to the end of the one before. Left out:
//! transfers that only share the bandwidth of a device.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::policy::{Behind, FileId, OperationId};
use crate::units::Nanos;

/// The most turns that are kept of a device. Waits that began before these are named in part.
const MOST_TURNS: usize = 4096;

/// A time that a device has spent on a file.
#[derive(Clone, Copy, Debug)]
struct Turn {
    start: Nanos,
    end: Nanos,
    process: Option<OperationId>,
    file: Option<FileId>,
}

/// The turns of all devices of a host.
#[derive(Debug, Default)]
pub struct Turns {
    each: Vec<VecDeque<Turn>>,
    /// The last writer of each file.
    writers: FxHashMap<FileId, OperationId>,
}

impl Turns {
    /// Notes that a process writes a file.
    pub fn note_writer(&mut self, file: FileId, process: OperationId) {
        if process.process().is_some() {
            self.writers.insert(file, process);
        }
    }

    /// Adds the time from `start`, or from the end of the last turn, to `end`: of pages of a file, or of a log.
    pub fn write(&mut self, device: usize, (start, end): (Nanos, Nanos), file: Option<FileId>) {
        let process = file.and_then(|file| self.writers.get(&file).copied());
        self.add(device, Turn { start, end, process, file });
    }

    /// Adds the time up to the end of a request of a process.
    pub fn serve(&mut self, device: usize, span: (Nanos, Nanos), process: OperationId, file: FileId) {
        self.add(device, Turn { start: span.0, end: span.1, process: Some(process), file: Some(file) });
    }

    fn add(&mut self, device: usize, mut turn: Turn) {
        if self.each.len() <= device {
            self.each.resize_with(device + 1, VecDeque::new);
        }
        let turns = &mut self.each[device];
        if let Some(last) = turns.back_mut() {
            turn.start = turn.start.max(last.end);
            if turn.start >= turn.end {
                return;
            }
            if (last.end, last.process, last.file) == (turn.start, turn.process, turn.file) {
                last.end = turn.end;
                return;
            }
        }
        if turns.len() == MOST_TURNS {
            turns.pop_front();
        }
        turns.push_back(turn);
    }

    /// Returns whom a process waited behind at a device from one instant to another, and for how long; `under_way` is the turn that has not
    /// ended. Its own work is left out, and the log of a
    /// journal, which is that of many.
    pub fn behind(
        &self,
        device: usize,
        (from, to): (Nanos, Nanos),
        own: OperationId,
        under_way: Option<(Nanos, Option<FileId>)>,
    ) -> Vec<Behind> {
        let mut found: Vec<Behind> = Vec::new();
        let mut add = |turn: &Turn| {
            let (start, end) = (turn.start.max(from), turn.end.min(to));
            let is_of_log = turn.process.is_none() && turn.file.is_none();
            if start >= end || turn.process == Some(own) || is_of_log {
                return;
            }
            let (process, file, time) = (turn.process, turn.file, end - start);
            match found.iter_mut().find(|each| (each.process, each.file) == (process, file)) {
                Some(known) => known.time += time,
                None => found.push(Behind { process, file, time }),
            }
        };
        if let Some((start, file)) = under_way {
            let process = file.and_then(|file| self.writers.get(&file).copied());
            // Of requests that are served one by one some of its units are turns already.
            let last = self.each.get(device).and_then(VecDeque::back).map_or(Nanos::ZERO, |turn| turn.end);
            add(&Turn { start: start.max(last), end: to, process, file });
        }
        let turns = self.each.get(device).into_iter().flatten().rev();
        turns.take_while(|turn| turn.end > from).for_each(add);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: OperationId = OperationId(1);
    const OTHER: OperationId = OperationId(2);

    fn names(found: &[Behind]) -> Vec<(Option<u32>, Option<u32>, u64)> {
        let name = |each: &Behind| (each.process.map(|of| of.0), each.file.map(|file| file.0), each.time.0);
        found.iter().map(name).collect()
    }

    #[test]
    fn who_waits_is_behind_the_turns_of_others() {
        let mut turns = Turns::default();
        turns.note_writer(FileId(5), OTHER);
        turns.note_writer(FileId(6), OWN);
        for (span, file) in [((0, 10), Some(5)), ((10, 20), Some(6)), ((20, 25), None), ((25, 40), Some(5))] {
            turns.write(0, (Nanos(span.0), Nanos(span.1)), file.map(FileId));
        }
        let behind = |from: u64, to: u64| names(&turns.behind(0, (Nanos(from), Nanos(to)), OWN, None));
        assert_eq!(behind(5, 30), [(Some(2), Some(5), 10)]);
        assert_eq!(behind(10, 20), [], "its own pages");
        assert_eq!(behind(40, 50), []);
        let now = turns.behind(0, (Nanos(40), Nanos(50)), OWN, Some((Nanos(45), Some(FileId(5)))));
        assert_eq!(names(&now), [(Some(2), Some(5), 5)]);
        let begun_before = turns.behind(0, (Nanos(20), Nanos(50)), OWN, Some((Nanos(30), Some(FileId(5)))));
        assert_eq!(names(&begun_before), [(Some(2), Some(5), 25)], "from 40 on, and the turn before");
        assert!(turns.behind(1, (Nanos(0), Nanos(50)), OWN, None).is_empty(), "another device");
    }

    #[test]
    fn turns_do_not_overlap_and_like_ones_are_one() {
        let mut turns = Turns::default();
        turns.serve(0, (Nanos(0), Nanos(10)), OTHER, FileId(1));
        turns.serve(0, (Nanos(2), Nanos(15)), OTHER, FileId(1));
        turns.serve(0, (Nanos(3), Nanos(15)), OperationId(3), FileId(1));
        turns.serve(0, (Nanos(3), Nanos(18)), OperationId(3), FileId(1));
        assert_eq!(turns.each[0].len(), 2);
        let found = turns.behind(0, (Nanos(0), Nanos(18)), OWN, None);
        assert_eq!(found.iter().map(|each| each.time).sum::<Nanos>(), Nanos(18));
    }

    #[test]
    fn the_oldest_turns_are_forgotten() {
        let mut turns = Turns::default();
        for at in 0..2 * MOST_TURNS as u64 {
            turns.write(0, (Nanos(at), Nanos(at + 1)), Some(FileId(at as u32 % 2)));
        }
        assert_eq!(turns.each[0].len(), MOST_TURNS);
    }
}
