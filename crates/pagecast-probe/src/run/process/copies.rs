//! Copies from file to file: by sendfile(2), copy_file_range(2), or reads and writes through a buffer that holds a whole call, so that the
//! bytes arrive as they were.
//!
//! Copies that a simulation does not model are refused with its words, so that one scenario means one thing.

use std::io::ErrorKind;
use std::num::NonZero;
use std::sync::atomic::Ordering;

use pagecast_core::error::SimulationError;
use pagecast_core::units::Bytes;
use pagecast_core::workload::{CopyBy, CopyRefusal, OpenFlag, OpenFlags};

use super::{Done, Halt, Runner};
use crate::io::{Direction, MOST_OF_A_CALL, Offsets, Streams, Times, Transfer, transfer};
use crate::run::plan::Step;

impl<I: Streams> Runner<'_, I> {
    /// Copies bytes of a file to the same place in another one.
    pub(super) fn copy(
        &mut self,
        step: &Step,
        by: CopyBy,
        offset: u64,
        bytes: Option<Bytes>,
        call: Option<Bytes>,
    ) -> Result<Done, Halt> {
        if step.file == step.target {
            return Err(self.refuse_copy(step, by, CopyRefusal::SameFile));
        }
        let read = self.handle(step, step.file, false)?;
        let flags = self.handle(step, step.target, true)?;
        let goes_past = |flags: OpenFlags| flags.is_direct() || flags.has(OpenFlag::DontCache);
        if goes_past(read) || goes_past(flags) || flags.has(OpenFlag::Append) {
            return Err(self.refuse_copy(step, by, CopyRefusal::Flags));
        }
        let length = self.length(step)?;
        let bytes = bytes.map_or(length.saturating_sub(offset), |bytes| bytes.0);
        let done = Done { offset, bytes, flags, ..Done::default() };
        if offset.saturating_add(bytes) > length {
            return Err(self.beyond_end(step, &done, length));
        }
        let call = call.or(by.usual_call()).map_or(MOST_OF_A_CALL, |call| call.0.max(1));
        let mut times = Times::of_whole();
        let mut moved = 0;
        while moved < bytes {
            let (at, now) = (offset + moved, call.min(bytes - moved));
            moved += match by {
                CopyBy::ReadWrite => self.read_and_write(step, at, now, &mut times)?,
                CopyBy::Sendfile | CopyBy::CopyFileRange => match self.copy_in_kernel(step, by, at, now)? {
                    0 => return Err(self.beyond_end(step, &done, self.length(step)?)),
                    moved => moved,
                },
            };
        }
        Ok(done)
    }

    /// One call of each.
    fn read_and_write(
        &mut self,
        step: &Step,
        offset: u64,
        bytes: u64,
        times: &mut Times,
    ) -> Result<u64, Halt> {
        self.buffer.set_dontcache(false);
        self.buffer.set_longest(usize::MAX);
        let call = NonZero::new(bytes).expect("something is left");
        for (direction, file) in [(Direction::Read, step.file), (Direction::Write, step.target)] {
            let what = Transfer { direction, offsets: Offsets::From(offset), bytes, call, spreads: false };
            let (io, stop) = (self.shared.io, &self.shared.gate.stop);
            let moved = transfer(io, &self.handles[&file].file, &what, &mut self.buffer, times, stop);
            moved.map_err(|failure| self.not_moved(step, &what, failure))?;
        }
        Ok(bytes)
    }

    /// One call, or what it did of it.
    fn copy_in_kernel(&self, step: &Step, by: CopyBy, offset: u64, bytes: u64) -> Result<u64, Halt> {
        let stop = &self.shared.gate.stop;
        let [from, to] = [step.file, step.target].map(|file| &self.handles[&file].file);
        let length = bytes.min(MOST_OF_A_CALL) as usize;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(Halt::Stopped);
            }
            match self.shared.io.copy(from, to, by, offset, length) {
                // Who stops a run cuts its files.
                Ok(0) | Err(_) if stop.load(Ordering::Relaxed) => return Err(Halt::Stopped),
                Ok(moved) => return Ok(moved as u64),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(step, error)),
            }
        }
    }

    fn refuse_copy(&self, step: &Step, by: CopyBy, why: CopyRefusal) -> Halt {
        let path = |file: u32| self.shared.plan.files[file as usize].path.clone();
        let (at, path, to, by) = (self.blame(step), path(step.file), path(step.target), by.name());
        self.workload(SimulationError::Copy { at, path, to, by, why })
    }
}
