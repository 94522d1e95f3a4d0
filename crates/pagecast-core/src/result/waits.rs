//! Holds whom operations waited behind.

use super::parts::Part;
use crate::units::Nanos;

/// Columns of the waits, operation by operation. All have the same length.
#[derive(Clone, Debug, Default)]
pub struct WaitTable {
    /// Index into `processes`: whose operation.
    pub process: Vec<u32>,
    /// The index of the operation in its process.
    pub index: Vec<u32>,
    /// The part of its time.
    pub part: Vec<Part>,
    /// Index into `processes`: who it waited behind, or `u32::MAX` if nobody is known.
    pub behind_process: Vec<u32>,
    /// Index into `paths`: the file of the requests that it waited behind, or `u32::MAX` for none.
    pub behind_path: Vec<u32>,
    /// How long.
    pub time: Vec<Nanos>,
}

impl WaitTable {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.time.len()
    }

    /// Makes the table of some of its rows, in this order.
    pub(crate) fn take_rows(&mut self, order: &[usize]) {
        for column in [&mut self.process, &mut self.index, &mut self.behind_process, &mut self.behind_path] {
            *column = order.iter().map(|&row| column[row]).collect();
        }
        self.part = order.iter().map(|&row| self.part[row]).collect();
        self.time = order.iter().map(|&row| self.time[row]).collect();
    }
}
