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
        let room = match record {
            Record::All => room,
            Record::Auto => room.min(Record::MANY),
            Record::Slow(_) | Record::Histogram => 0,
        };
        let counted = Counted { is_all: record.counts(), ..Counted::default() };
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
        if self.record == Record::Auto && self.rows.len() == Record::MANY {
            self.count_rows();
        }
        let duration = row.end - row.start;
        if self.record.counts() {
            count(&mut self.counted, self.process, &row);
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

    /// Counts all operations that have rows, and keeps the slowest alone.
    fn count_rows(&mut self) {
        self.record = Record::Histogram;
        self.counted.is_all = true;
        for row in &self.rows {
            count(&mut self.counted, self.process, row);
        }
        keep_slowest(&mut self.rows);
        self.rows.sort_unstable_by_key(|row| row.index);
    }
}

/// Counts an operation of a process, unless its calls count instead of it.
fn count(counted: &mut Counted, process: u32, row: &Row) {
    if !counted.by_calls.contains(&(process, row.index)) {
        let key = (process, row.file, row.operation);
        counted.summary.add(key, (row.start, row.end), row.bytes, &row.parts());
    }
}

/// The rows of all processes, and what was counted; under [`Record::Auto`] all operations have rows, or only the slowest of all.
pub(super) fn together(record: Record, of_processes: Vec<Recorded>) -> (Vec<Vec<Row>>, Counted) {
    let rows: usize = of_processes.iter().map(|each| each.rows.len()).sum();
    let is_more = rows > Record::MANY || of_processes.iter().any(|each| each.counted.is_all);
    let record = if record == Record::Auto && is_more { Record::Histogram } else { record };
    let mut counted = Counted { is_all: record.counts(), ..Counted::default() };
    let mut all_rows = Vec::new();
    for mut each in of_processes {
        if record == Record::Histogram && !each.counted.is_all {
            each.count_rows();
        }
        all_rows.push(each.rows);
        counted.summary.add_all(each.counted.summary);
        counted.by_calls.extend(each.counted.by_calls);
    }
    slowest_of_all(record, &mut all_rows);
    (all_rows, counted)
}

/// Keeps the slowest operations, at most [`Record::SLOWEST`]; gives how long the fastest of them took.
fn keep_slowest(rows: &mut Vec<Row>) -> Nanos {
    rows.sort_by_key(|row| std::cmp::Reverse(row.end - row.start));
    rows.truncate(Record::SLOWEST);
    rows.last().map_or(Nanos::ZERO, |row| row.end - row.start)
}

/// Of all processes, the slowest operations if only those are to have rows.
fn slowest_of_all(record: Record, of_processes: &mut [Vec<Row>]) {
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
        let Recorded { rows, counted, .. } = recorded(Record::Histogram, 10_000);
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
        assert_eq!(recorded(Record::Slow(Nanos(500)), 1002).rows.len(), 2);
        for record in [Record::All, Record::Auto] {
            let all = recorded(record, 1002);
            assert_eq!((all.rows.len(), all.counted.is_all), (1002, false));
        }
    }

    #[test]
    fn of_too_many_operations_the_slowest_have_rows_whichever_process_had_them() {
        let latency = |counted: &Counted| {
            let one = counted.summary.latency.rows(&["/data/f".into()])[0].1.clone();
            (one.count, one.bytes, one.quantile(0.5), one.quantile(0.99))
        };
        let many = Record::MANY as u32;
        for sizes in [vec![many + 1], vec![many, 1], vec![10, many + 1]] {
            let each = |record| sizes.iter().map(|&size| recorded(record, size)).collect();
            let (rows, counted) = together(Record::Auto, each(Record::Auto));
            let (_, wanted) = together(Record::Histogram, each(Record::Histogram));
            assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), Record::SLOWEST);
            assert!(counted.is_all);
            assert_eq!(latency(&counted), latency(&wanted));
        }
        let (rows, counted) = together(Record::Auto, vec![recorded(Record::Auto, many)]);
        assert_eq!((rows[0].len(), counted.is_all), (Record::MANY, false));
    }
}
