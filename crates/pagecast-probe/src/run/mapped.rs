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
        let flags = self.handle(step, step.file, false)?;
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

#[cfg(test)]
mod tests {
    use pagecast_core::result::Part;
    use pagecast_core::units::Nanos;
    use pagecast_core::workload::{Action, MapAdvice};

    use super::super::process::tests::{error, run};
    use super::super::testing::file;
    use super::*;
    use crate::io::mock::Costs;

    const ADVICE: MapAdvice = MapAdvice::Normal;

    fn on(path: &str, call: MappedCall) -> Action {
        Action::Mapped { path: path.into(), call }
    }

    #[test]
    fn bytes_are_copied_piece_by_piece_and_written_when_that_is_asked_for() {
        let costs = Costs { call_ns: 1000, ns_per_byte: 1, sync_ns: 5_000_000, ..Costs::default() };
        let sync = |is_async| on("/data/f", MappedCall::Sync { offset: 0, bytes: None, is_async });
        let (read, write) = (
            on("/data/f", MappedCall::Read { offset: 0, bytes: None, advice: ADVICE }),
            on("/data/f", MappedCall::Write { offset: 5000, bytes: Some(Bytes(7)), advice: ADVICE }),
        );
        let actions = [read.clone(), write.clone(), sync(true), sync(false)];
        let rows = run(costs, &[file("/data/f", 3 << 20)], &actions).unwrap();
        let seen: Vec<_> = rows.iter().map(|row| (row.offset, row.bytes, (row.end - row.start).0)).collect();
        let all = (3 << 20) + 3 * 1000;
        assert_eq!(seen, [(0, 3 << 20, all), (5000, 7, 1007), (0, 0, 0), (0, 0, 5_000_000)]);
        assert_eq!((rows[0].served(&read), rows[1].served(&write)), ((0, 3 << 20), (7, 0)));
        assert_eq!(rows[3].parts(&actions[3]).get(Part::DeviceWrite), Nanos(5_000_000));
        assert_eq!(rows[1].parts(&write).get(Part::DeviceRead), Nanos::ZERO);
    }

    #[test]
    fn nothing_is_mapped_beyond_the_end_of_a_file_and_nothing_of_an_empty_one() {
        let beyond = MappedCall::Write { offset: 90, bytes: Some(Bytes(20)), advice: ADVICE };
        let said = error(&[file("/data/f", 100)], &[on("/data/f", beyond)]);
        assert!(said.contains("a mmap_write of 20 B at offset 90 B of /data/f, which has 100 B"), "{said}");
        let read = MappedCall::Read { offset: 0, bytes: None, advice: ADVICE };
        let empty = run(Costs::default(), &[file("/data/f", 0)], &[on("/data/f", read)]).unwrap();
        assert_eq!(empty[0].bytes, 0);
        assert!(error(&[], &[on("/data/f", read)]).contains("there is no such file"));
    }
}
