//! Keeps the operations of a process that have ended: a row of each, of the slow ones, or of the slowest; all others are counted.

use pagecast_core::result::Counted;
use pagecast_core::result::Record;
use pagecast_core::units::Nanos;

use super::row::Row;

/// See the module.
pub(super) struct Recorded {
    process: u32,
    record: Record,
    pub rows: Vec<Row>,
    /// Under [`Record::Histogram`] no operation has a row that took no longer.
    too_short: Nanos,
    /// Operations, and the calls of patterns, by kind.
    pub counted: Counted,
}

impl Recorded {
    /// With room for so many operations.
    pub fn new(process: usize, record: Record, room: usize) -> Self {
        let room = if record == Record::All { room } else { 0 };
        let counted = Counted { is_all: record != Record::All, ..Counted::default() };
        Self {
            process: process as u32,
            record,
            rows: Vec::with_capacity(room),
            too_short: Nanos::ZERO,
            counted,
        }
    }

    /// An operation has ended.
    pub fn add(&mut self, row: Row) {
        let duration = row.end - row.start;
        if self.record != Record::All && !self.counted.by_calls.contains(&(self.process, row.index)) {
            let key = (self.process, row.file, row.operation);
            self.counted.summary.add(key, (row.start, row.end), row.bytes, &row.parts());
        }
        match self.record {
            Record::Slow(least) if duration < least => return,
            Record::Histogram if duration <= self.too_short => return,
            Record::Histogram if self.rows.len() >= 2 * Record::SLOWEST => {
                self.too_short = keep_slowest(&mut self.rows)
            }
            _ => {}
        }
        self.rows.push(row);
    }

    /// The rows in the order of the program.
    pub fn in_order(mut self) -> (Vec<Row>, Counted) {
        self.rows.sort_unstable_by_key(|row| row.index);
        (self.rows, self.counted)
    }
}

/// Keeps the slowest operations, at most [`Record::SLOWEST`]; gives how long the fastest of them took.
fn keep_slowest(rows: &mut Vec<Row>) -> Nanos {
    rows.sort_by_key(|row| std::cmp::Reverse(row.end - row.start));
    rows.truncate(Record::SLOWEST);
    rows.last().map_or(Nanos::ZERO, |row| row.end - row.start)
}

/// Of all processes, the slowest operations if only those are to have rows.
pub(super) fn slowest_of_all(record: Record, of_processes: &mut [Vec<Row>]) {
    if record != Record::Histogram {
        return;
    }
    let mut times: Vec<Nanos> = of_processes.iter().flatten().map(|row| row.end - row.start).collect();
    times.sort_unstable_by_key(|&time| std::cmp::Reverse(time));
    let Some(&least) = times.get(Record::SLOWEST - 1) else { return };
    let mut left = Record::SLOWEST - times.iter().filter(|&&time| time > least).count();
    for rows in of_processes {
        rows.retain(|row| {
            let time = row.end - row.start;
            let is_last = time == least && left > 0;
            left -= usize::from(is_last);
            time > least || is_last
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::row::{Done, Used};
    use crate::run::testing::write;

    fn recorded(record: Record, operations: u32) -> Recorded {
        let mut recorded = Recorded::new(0, record, 0);
        for at in 0..operations {
            let done = Done { bytes: 7, ..Done::default() };
            let time = (Nanos(1000 * u64::from(at)), Nanos(1000 * u64::from(at) + u64::from(at * 37 % 501)));
            recorded.add(Row::new(&write("/data/f", 7, None), (at, 0), &done, time, Used::default()));
        }
        recorded
    }

    #[test]
    fn rows_of_the_slowest_are_kept_and_all_are_counted() {
        let (rows, counted) = recorded(Record::Histogram, 10_000).in_order();
        assert!(rows.len() <= 2 * Record::SLOWEST + 1);
        let latency = counted.summary.latency.rows(&["/data/f".into()]);
        assert_eq!((latency[0].1.count, latency[0].1.bytes), (10_000, 70_000));
        let mut all = [rows.clone(), rows];
        slowest_of_all(Record::Histogram, &mut all);
        assert_eq!(all.iter().map(Vec::len).sum::<usize>(), Record::SLOWEST);
        assert!(
            all.iter().flatten().all(|row| (row.end - row.start).0 >= 490),
            "the others took 0 to 500 ns"
        );
    }

    #[test]
    fn slow_operations_have_rows_and_without_a_choice_all_have() {
        let (slow, _) = recorded(Record::Slow(Nanos(500)), 1002).in_order();
        assert_eq!(slow.len(), 2);
        let (all, counted) = recorded(Record::All, 1002).in_order();
        assert_eq!((all.len(), counted.is_all), (1002, false));
    }
}
