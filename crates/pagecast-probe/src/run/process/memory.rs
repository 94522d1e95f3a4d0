//! Takes and gives back anonymous memory of a process.

use std::num::NonZero;

use pagecast_core::units::Bytes;

use super::{Done, Halt, Runner};
use crate::io::{Memory, Streams};
use crate::run::plan::Step;

/// How many pages are touched between two looks at whether to stop.
const TOUCHES: usize = 1024;

impl<I: Streams> Runner<'_, I> {
    /// Address space; its pages come when they are touched.
    pub(super) fn take(&self, step: &Step, length: NonZero<usize>) -> Result<Memory, Halt> {
        Memory::new(length).map_err(|error| self.failed(step, error))
    }

    pub(super) fn allocate(&mut self, step: &Step, bytes: Bytes) -> Result<Done, Halt> {
        let done = Done { bytes: bytes.0, ..Done::default() };
        let Some(length) = NonZero::new(bytes.0 as usize) else { return Ok(done) };
        let mut memory = self.take(step, length)?;
        for (count, place) in (0..length.get()).step_by(rustix::param::page_size()).enumerate() {
            if count.is_multiple_of(TOUCHES) && self.shared.gate.is_stopped() {
                return Err(Halt::Stopped);
            }
            memory.touch(place);
        }
        self.held.push((memory, length.get()));
        Ok(done)
    }

    /// Gives memory back, what was taken last first.
    pub(super) fn free(&mut self, step: &Step, bytes: Option<Bytes>) -> Result<Done, Halt> {
        let mut left = bytes.map_or(usize::MAX, |bytes| bytes.0 as usize);
        let mut freed = 0;
        while let Some((memory, held)) = self.held.last_mut().filter(|_| left > 0) {
            let now = left.min(*held);
            (left, freed) = (left - now, freed + now as u64);
            *held -= now;
            if *held == 0 {
                self.held.pop();
                continue;
            }
            let given = memory.give_back(*held, *held + now);
            given.map_err(|error| self.failed(step, error))?;
        }
        Ok(Done { bytes: freed, ..Done::default() })
    }
}
