//! Keeps the state of each open file and mapping: `struct file_ra_state`, mapped pages.
//!
//! Source: `include/linux/fs.h`, Linux 6.16.

use rustc_hash::FxHashMap;

use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::readahead::mapping::Mapping;
use crate::policy::kernel::readahead::window::Stream;
use crate::policy::kernel::tasks::cost::Access;
use crate::policy::kernel::tasks::kind::Mode;
use crate::policy::kernel::tasks::shape::StreamKey;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{FileView, OperationId};
use crate::workload::MapAdvice;

/// The open files of all processes, and their mappings that stay.
#[derive(Default)]
pub struct Readers {
    /// The process whose open files an asynchronous operation uses.
    shared: FxHashMap<OperationId, OperationId>,
    pub streams: FxHashMap<StreamKey, Stream>,
    pub mappings: FxHashMap<StreamKey, Mapping>,
}

impl Readers {
    /// Lets the operations of a number use the open files of a process.
    pub fn share(&mut self, operation: OperationId, process: OperationId) {
        self.shared.insert(operation, process);
    }

    /// Returns the process whose open files an operation uses: usually the one that does it.
    pub fn process(&self, operation: OperationId) -> OperationId {
        if self.shared.is_empty() {
            return operation;
        }
        self.shared.get(&operation).copied().unwrap_or(operation)
    }

    /// Notes the end of a read at this byte, or of touching a mapping, which leaves no `prev_pos`.
    pub fn leave_stream(&mut self, key: StreamKey, end: u64, file: &FileView, is_mapped: bool) {
        let stream = self.streams.entry(key).or_default();
        stream.previous = if is_mapped { stream.previous } else { Some(end / PAGE) };
        // Nothing follows the end of a file: who begins again begins anew.
        if end >= file.size.0 && stream.mode == Mode::Normal {
            self.streams.remove(&key);
        }
    }

    /// Gives a task the mapping that it is going to touch: one of its own, or one that stays.
    pub fn map(&mut self, task: &mut Task, advice: MapAdvice, mapping: Option<u32>) {
        task.mapped = Some(match advice {
            MapAdvice::Normal => Mode::Normal,
            MapAdvice::Sequential => Mode::Sequential,
            MapAdvice::Random => Mode::Random,
        });
        (task.folio, task.access) = (1, if mapping.is_some() { Access::Faults } else { Access::Maps });
        let key = task.stream.expect("who touches a mapping reads an open file");
        if let Some(number) = mapping
            && self.mappings.get(&key).is_none_or(|known| known.number != number)
        {
            self.mappings.insert(key, Mapping { number, ..Mapping::default() });
        }
    }
}
