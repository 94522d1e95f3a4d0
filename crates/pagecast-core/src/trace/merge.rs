//! Reads the records of all processes by their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::cursor::Cursor;
use super::error::TraceError;
use super::inner::Inner;
use super::record::Record;
use crate::units::Nanos;

/// All records of a recording, each with the number of its process.
#[derive(Debug)]
pub struct Merged {
    trace: Arc<Inner>,
    cursors: Vec<Cursor>,
    /// The time of the next record of each process. A time before that of the record before counts as that.
    next: BinaryHeap<Reverse<(Nanos, u32)>>,
    heads: Vec<Option<Record>>,
    failed: Option<TraceError>,
}

impl Merged {
    /// The records of all cursors, one for each process.
    pub(super) fn new(trace: Arc<Inner>, cursors: Vec<Cursor>) -> Self {
        let heads = cursors.iter().map(|_| None).collect();
        let mut merged = Self { trace, cursors, next: BinaryHeap::new(), heads, failed: None };
        for process in 0..merged.cursors.len() as u32 {
            merged.pull(process, Nanos::ZERO);
        }
        merged
    }

    fn pull(&mut self, process: u32, last: Nanos) {
        match self.cursors[process as usize].next(self.trace.names()) {
            Ok(None) => {}
            Ok(Some(record)) => {
                let time = record.time.map_or(last, |time| time.max(last));
                self.next.push(Reverse((time, process)));
                self.heads[process as usize] = Some(record);
            }
            Err(error) => self.failed = Some(error),
        }
    }
}

impl Iterator for Merged {
    type Item = Result<(u32, Record), TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            self.next.clear();
            return Some(Err(error));
        }
        let Reverse((time, process)) = self.next.pop()?;
        let record = self.heads[process as usize].take().expect("it has one as it is in the heap");
        self.pull(process, time);
        Some(Ok((process, record)))
    }
}
