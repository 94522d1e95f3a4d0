//! Copies from file to file: by sendfile(2), copy_file_range(2), or reads and writes through a buffer that holds a whole call, so that the
//! bytes arrive as they were.
//!
//! Copies that a simulation does not model are refused with its words, so that one scenario means one thing.

use std::io::ErrorKind;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pagecast_core::error::SimulationError;
use pagecast_core::units::Bytes;
use pagecast_core::workload::{CopyBy, CopyRefusal, OpenFlag, OpenFlags};

use super::{Done, Halt, Handle, Runner};
use crate::io::{Direction, MOST_OF_A_CALL, Offsets, Streams, Times, Transfer, transfer};
use crate::run::break_off::Which;
use crate::run::names::NamedFile;
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
        let file = step.file.as_ref().expect("a copy has two files");
        let to = step.target.as_ref().expect("a copy has two files");
        if file.number == to.number {
            return Err(self.refuse_copy(step, by, CopyRefusal::SameFile));
        }
        // What was not open before is closed after it.
        let was_open = [file, to].map(|file| self.handles.contains_key(&file.number));
        let from = self.handle(step, false)?;
        let into = self.by_path(step, to, true)?;
        for (file, _) in [file, to].into_iter().zip(was_open).filter(|(_, was_open)| !was_open) {
            self.handles.remove(&file.number);
        }
        let (read, flags) = (from.flags, into.flags);
        let goes_past = |flags: OpenFlags| flags.is_direct() || flags.has(OpenFlag::DontCache);
        if goes_past(read) || goes_past(flags) || flags.has(OpenFlag::Append) {
            return Err(self.refuse_copy(step, by, CopyRefusal::Flags));
        }
        let length = self.length(step, &from)?;
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
                CopyBy::ReadWrite => self.read_and_write(step, [&from, &into], (at, now), &mut times)?,
                CopyBy::Sendfile | CopyBy::CopyFileRange => {
                    match self.copy_in_kernel(step, [&from, &into], by, (at, now))? {
                        0 => return Err(self.beyond_end(step, &done, self.length(step, &from)?)),
                        moved => moved,
                    }
                }
            };
        }
        Ok(done)
    }

    /// One call of each.
    fn read_and_write(
        &mut self,
        step: &Step,
        [from, into]: [&Handle<I::File>; 2],
        (offset, bytes): (u64, u64),
        times: &mut Times,
    ) -> Result<u64, Halt> {
        self.buffer_for(step, bytes)?;
        self.buffer.set_dontcache(false);
        self.buffer.set_longest(usize::MAX);
        let call = NonZero::new(bytes).expect("something is left");
        for (direction, handle) in [(Direction::Read, from), (Direction::Write, into)] {
            let what = Transfer { direction, offsets: Offsets::From(offset), bytes, call, spreads: false };
            let (io, stop) = (self.shared.io, &self.shared.gate.stop);
            let moved = transfer(io, &handle.file, &what, &mut self.buffer, times, stop);
            moved.map_err(|failure| self.not_moved(step, handle, &what, failure))?;
        }
        Ok(bytes)
    }

    /// Lets the buffer hold all bytes of a call, if the program asks for more than it did before.
    fn buffer_for(&mut self, step: &Step, bytes: u64) -> Result<(), Halt> {
        if bytes > self.buffer.length() as u64 {
            let length = NonZero::new(bytes as usize).expect("it is more than nothing");
            self.buffer = self.take(step, length)?;
            self.shared.in_use.note(self.at, Which::Reused, &self.buffer);
        }
        Ok(())
    }

    /// One call, or what it did of it.
    fn copy_in_kernel(
        &self,
        step: &Step,
        [from, into]: [&Handle<I::File>; 2],
        by: CopyBy,
        (offset, bytes): (u64, u64),
    ) -> Result<u64, Halt> {
        let stop = &self.shared.gate.stop;
        let length = bytes.min(MOST_OF_A_CALL) as usize;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(Halt::Stopped);
            }
            match self.shared.io.copy(&from.file, &into.file, by, offset, length) {
                // Who stops a run cuts its files.
                Ok(0) | Err(_) if stop.load(Ordering::Relaxed) => return Err(Halt::Stopped),
                Ok(moved) => return Ok(moved as u64),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(step, error)),
            }
        }
    }

    fn refuse_copy(&self, step: &Step, by: CopyBy, why: CopyRefusal) -> Halt {
        let path = |file: &Option<Arc<NamedFile>>| file.as_ref().expect("a copy has two files").path.clone();
        let (at, path, to, by) = (self.blame(step), path(&step.file), path(&step.target), by.name());
        self.workload(SimulationError::Copy { at, path, to, by, why })
    }
}
