//! A process's mappings of files: each operation maps what it is about, touches it, and unmaps it.
//!
//! Bytes are copied by the program itself, from and to memory that stays in a processor's caches, and that cannot be taken away from
//! a copy that is under way: whether to stop is asked before each piece. Whoever else cuts the file meanwhile ends the run by SIGBUS.

use std::io;
use std::num::NonZero;

use pagecast_core::error::SimulationError;
use pagecast_core::units::Bytes;
use pagecast_core::workload::{MapAdvice, MappedCall};

use super::plan::{PlannedProcess, Step};
use super::process::{Done, Halt, Runner};
use crate::io::{Direction, Memory, Streams};

/// The memory of a process that bytes of mappings are copied from and to, if it has any.
pub(super) fn memory(process: &PlannedProcess) -> io::Result<Option<Memory>> {
    let memory = NonZero::new(process.mapping_memory()).map(Memory::new).transpose()?;
    Ok(memory.map(|mut memory| {
        memory.fill_with_noise();
        memory
    }))
}

impl<I: Streams> Runner<'_, I> {
    /// Does an operation on a mapping.
    pub(super) fn on_mapping(&mut self, step: &Step, call: MappedCall) -> Result<Done, Halt> {
        let flags = self.handle(step, false)?;
        let length = self.length(step)?;
        let (offset, bytes) = call.part();
        let bytes = bytes.map_or(length.saturating_sub(offset), |bytes| bytes.0);
        let done = Done { offset, bytes, flags };
        // A mapping begins with a page.
        let before = offset % rustix::param::page_size() as u64;
        let (from, mapped) = (offset - before, NonZero::new((before + bytes) as usize));
        let direction = match call {
            MappedCall::Sync { is_async, .. } => {
                let Some(mapped) = mapped.filter(|_| bytes > 0) else { return Ok(Done::default()) };
                let mapping = self.map(step, from, mapped)?;
                let synced = self.shared.io.sync_mapped(&mapping, is_async);
                synced.map_err(|error| self.failed(step, error))?;
                return Ok(Done { flags, ..Done::default() });
            }
            MappedCall::Read { .. } => Direction::Read,
            MappedCall::Write { .. } => Direction::Write,
        };
        if offset.saturating_add(bytes) > length {
            let sizes = (offset, Bytes(bytes), Bytes(length));
            let action = &step.operation.action;
            return Err(self.workload(SimulationError::beyond_mapping(self.blame(step), action, sizes)));
        }
        let Some(mapped) = mapped.filter(|_| bytes > 0) else { return Ok(done) };
        let mut mapping = self.map(step, from, mapped)?;
        let io = self.shared.io;
        let advice = call.advice().filter(|&advice| advice != MapAdvice::Normal);
        if let Some(advice) = advice {
            io.advise_mapped(&mapping, advice).map_err(|error| self.failed(step, error))?;
        }
        let memory = self.mapping_memory.as_mut().expect("who touches mappings has memory for it");
        let piece = memory.length() as u64;
        for at in (0..bytes).step_by(memory.length()) {
            if self.shared.gate.is_stopped() {
                return Err(Halt::Stopped);
            }
            io.pass_mapped(
                &mut mapping,
                direction,
                (before + at) as usize,
                memory,
                piece.min(bytes - at) as usize,
            );
        }
        Ok(done)
    }

    fn map(&self, step: &Step, from: u64, length: NonZero<usize>) -> Result<I::Mapped, Halt> {
        let mapped = self.shared.io.map(self.file(step), from, length);
        mapped.map_err(|error| self.failed(step, error))
    }
}
