//! Runs operations on mappings of files: each maps its bytes, touches them, and unmaps them, unless the file stays mapped.
//!
//! The program itself copies the bytes, from and to memory that stays in a processor's caches, and that cannot be taken away from a copy
//! under way. So a stop is looked for before each piece. If another process cuts the file meanwhile, the run ends by SIGBUS.

use std::io;
use std::num::NonZero;

use pagecast_core::error::SimulationError;
use pagecast_core::units::Bytes;
use pagecast_core::workload::{MapAdvice, MappedCall};

use super::{Done, Halt, Handle, Runner};
use crate::io::{Direction, Io, Memory, Streams};
use crate::run::plan::Step;

/// Memory for a program that touches mappings and did not say so before.
const PIECE: usize = 1 << 20;

/// The memory of a process that bytes of mappings are copied from and to, if it has any: of this length.
pub(super) fn memory(length: usize) -> io::Result<Option<Memory>> {
    let memory = NonZero::new(length).map(Memory::new).transpose()?;
    Ok(memory.map(|mut memory| {
        memory.fill_with_noise();
        memory
    }))
}

/// A mapping of a whole file that stays until it is unmapped; or of a part, with a length of 0, which does not.
pub(super) struct Staying<I: Io> {
    mapped: I::Mapped,
    length: u64,
    /// The last advice for it.
    advice: MapAdvice,
}

/// Where the pages of some bytes begin in their file, how far from there the bytes are, and the length of both; none if there are no
/// bytes.
fn pages_of(done: &Done) -> Option<(u64, u64, NonZero<usize>)> {
    let before = done.offset % rustix::param::page_size() as u64;
    let all = NonZero::new((before + done.bytes) as usize).filter(|_| done.bytes > 0)?;
    Some((done.offset - before, before, all))
}

impl<I: Streams> Runner<'_, I> {
    /// Does an operation on a mapping.
    pub(super) fn on_mapping(&mut self, step: &Step, file: u32, call: MappedCall) -> Result<Done, Halt> {
        if call == MappedCall::Unmap {
            self.mappings.remove(&file);
            return Ok(Done::default());
        }
        let handle = self.handle(step, false)?;
        let flags = handle.flags;
        let length = self.length(step, &handle)?;
        let (offset, bytes) = call.part();
        let bytes = bytes.map_or(length.saturating_sub(offset), |bytes| bytes.0);
        let done = Done { offset, bytes, flags, ..Done::default() };
        let (direction, advice) = match call {
            MappedCall::Map | MappedCall::Unmap => {
                // An empty file cannot be mapped, and nothing of it be touched.
                if let Some(all) = NonZero::new(length as usize) {
                    let mapped = self.map(step, &handle, 0, all)?;
                    self.mappings.insert(file, Staying { mapped, length, advice: MapAdvice::Normal });
                }
                return Ok(Done::default());
            }
            MappedCall::Sync { is_async, .. } => {
                let Some((from, _, all)) = pages_of(&done) else { return Ok(Done::default()) };
                let synced = self.shared.io.sync_mapped(&self.map(step, &handle, from, all)?, is_async);
                synced.map_err(|error| self.failed(step, error))?;
                return Ok(Done { flags, ..Done::default() });
            }
            MappedCall::Read { advice, .. } => (Direction::Read, advice),
            MappedCall::Write { advice, .. } => (Direction::Write, advice),
        };
        if offset.saturating_add(bytes) > length {
            let sizes = (offset, Bytes(bytes), Bytes(length));
            let action = &step.operation.action;
            return Err(self.workload(SimulationError::beyond_mapping(self.blame(step), action, sizes)));
        }
        let Some((from, before, all)) = pages_of(&done) else { return Ok(done) };
        let stays = self.mappings.get(&file).is_some_and(|staying| offset + bytes <= staying.length);
        let staying = if stays { self.mappings.remove(&file) } else { None };
        let (mut staying, before) = match staying {
            Some(staying) => (staying, offset),
            None => {
                let mapped = self.map(step, &handle, from, all)?;
                (Staying { mapped, length: 0, advice: MapAdvice::Normal }, before)
            }
        };
        let touched = self.touch(step, &mut staying, direction, advice, before, bytes);
        if staying.length > 0 {
            self.mappings.insert(file, staying);
        }
        touched.map(|()| done)
    }

    /// Touches so many bytes of a mapping from a place on.
    fn touch(
        &mut self,
        step: &Step,
        staying: &mut Staying<I>,
        direction: Direction,
        advice: MapAdvice,
        from: u64,
        bytes: u64,
    ) -> Result<(), Halt> {
        let io = self.shared.io;
        if advice != staying.advice {
            io.advise_mapped(&staying.mapped, advice).map_err(|error| self.failed(step, error))?;
            staying.advice = advice;
        }
        if self.mapping_memory.is_none() {
            // It did not say so when it was asked before.
            self.mapping_memory = memory(PIECE).map_err(|error| self.failed(step, error))?;
        }
        let memory = self.mapping_memory.as_mut().expect("it was taken");
        let piece = memory.length() as u64;
        for at in (0..bytes).step_by(memory.length()) {
            if self.shared.gate.is_stopped() {
                return Err(Halt::Stopped);
            }
            let length = piece.min(bytes - at) as usize;
            io.pass_mapped(&mut staying.mapped, direction, (from + at) as usize, memory, length);
        }
        Ok(())
    }

    fn map(
        &self,
        step: &Step,
        handle: &Handle<I::File>,
        from: u64,
        length: NonZero<usize>,
    ) -> Result<I::Mapped, Halt> {
        let mapped = self.shared.io.map(&handle.file, from, length);
        mapped.map_err(|error| self.failed(step, error))
    }
}

#[cfg(test)]
mod tests {
    use pagecast_core::result::Part;
    use pagecast_core::units::Nanos;
    use pagecast_core::workload::{Action, MapAdvice};

    use super::*;
    use crate::io::mock::Costs;
    use crate::run::process::tests::{error, run};
    use crate::run::testing::file;

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
        let actions = [read, write, sync(true), sync(false)];
        let rows = run(costs, &[file("/data/f", 3 << 20)], &actions).unwrap();
        let seen: Vec<_> = rows.iter().map(|row| (row.offset, row.bytes, (row.end - row.start).0)).collect();
        let all = (3 << 20) + 3 * 1000;
        assert_eq!(seen, [(0, 3 << 20, all), (5000, 7, 1007), (0, 0, 0), (0, 0, 5_000_000)]);
        let served = |at: usize| (rows[at].from_cache, rows[at].from_device);
        assert_eq!((served(0), served(1)), ((0, 3 << 20), (7, 0)));
        assert_eq!(rows[3].parts().get(Part::DeviceWrite), Nanos(5_000_000));
        assert_eq!(rows[1].parts().get(Part::DeviceRead), Nanos::ZERO);
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
