//! Reads from a stream, and moves its position.

use super::stream::{Holds, Stream};
use super::writing::LEAST_BLOCK;
use super::{Direction, Library, Refusal, Work};

impl Stream {
    /// Reads `bytes` in calls of `call` bytes, from a file that ends at `end` and has them all.
    ///
    /// # Errors
    /// [`Refusal::WrongMode`] and [`Refusal::Turned`].
    pub fn read(&mut self, bytes: u64, call: u64, end: u64) -> Result<Work, Refusal> {
        self.turn_to(Direction::Read, end)?;
        let mut work = Work::default();
        let call = call.clamp(1, bytes.max(1));
        self.get_all(bytes / call, call, &mut work);
        if !bytes.is_multiple_of(call) {
            self.get_all(1, bytes % call, &mut work);
        }
        Ok(work)
    }

    fn get_all(&mut self, calls: u64, bytes: u64, work: &mut Work) {
        if self.is_unbuffered() {
            return self.take_directly(bytes, calls, work);
        }
        if bytes < self.buffer {
            return self.get_by_the_buffer(calls * bytes, work);
        }
        for done in 0..calls {
            // Nothing of such a call, nor of those that follow, goes through the buffer.
            if self.readable() == 0 && self.direct(bytes) == bytes {
                return self.take_directly(bytes, calls - done, work);
            }
            self.get(bytes, work);
        }
    }

    /// Takes bytes by calls shorter than the buffer: each time it is empty, it is filled again.
    fn get_by_the_buffer(&mut self, bytes: u64, work: &mut Work) {
        let there = self.readable().min(bytes);
        self.take(there, work);
        if bytes > there {
            self.fill_to_take(bytes - there, work);
        }
    }

    /// Takes bytes by one call at least as long as the buffer: first from the buffer, then past it, and the rest from a refilled one.
    fn get(&mut self, bytes: u64, work: &mut Work) {
        let there = self.readable();
        self.take(there, work);
        let rest = bytes - there;
        let direct = self.direct(rest);
        self.take_directly(direct, u64::from(direct > 0), work);
        if rest > direct {
            self.fill_to_take(rest - direct, work);
        }
    }

    /// Returns how many bytes go past the buffer, of the `rest` that a long call needs beyond it.
    fn direct(&self, rest: u64) -> u64 {
        match self.library {
            // `basic_filebuf::xsgetn` looks at what the call wanted.
            Library::Cxx => rest,
            _ if rest < self.buffer => 0,
            // `BufferedInputStream.read1`; `_IO_file_xsgetn` with a small buffer.
            Library::Java => rest,
            Library::C if self.buffer < LEAST_BLOCK => rest,
            // `_IO_file_xsgetn`; MINUS_LAST_BLOCK of bufferedio.c.
            Library::C | Library::Python => rest - rest % self.buffer,
        }
    }

    /// Fills the buffer as often as it takes, and takes so many bytes of it.
    fn fill_to_take(&mut self, bytes: u64, work: &mut Work) {
        let most = self.most_filled();
        let left = self.end.saturating_sub(self.position).max(bytes);
        let filled = bytes.next_multiple_of(most).min(left);
        let last = (filled - 1) % most + 1;
        let full = (filled - last) / most;
        work.add(Direction::Read, self.position, most, full);
        work.add(Direction::Read, self.position + full * most, last, 1);
        self.position += filled;
        self.holds = Holds::Read { held: last, next: bytes - (filled - last) };
        work.copied += bytes;
    }

    /// Returns how much libstdc++ fills: as much as it would let be written (`basic_filebuf::underflow`).
    fn most_filled(&self) -> u64 {
        if self.library == Library::Cxx { self.buffer - 1 } else { self.buffer }
    }

    fn take_directly(&mut self, bytes: u64, calls: u64, work: &mut Work) {
        if calls > 0 {
            work.add(Direction::Read, self.position, bytes, calls);
            self.position += bytes * calls;
            self.holds = Holds::Nothing;
        }
    }

    fn readable(&self) -> u64 {
        match self.holds {
            Holds::Read { held, next } => held - next,
            _ => 0,
        }
    }

    fn take(&mut self, bytes: u64, work: &mut Work) {
        if let Holds::Read { next, .. } = &mut self.holds {
            *next += bytes;
            work.copied += bytes;
        }
    }

    /// fseek(3) to a place in a file that ends at `end`.
    ///
    /// # Errors
    /// [`Refusal::Never`].
    pub fn seek(&mut self, offset: u64, end: u64) -> Result<Work, Refusal> {
        if self.library == Library::Java {
            return Err(Refusal::Never(self.library));
        }
        self.end = end;
        self.note_use();
        let mut work = Work::default();
        // `must_be_exact`: nothing is in the buffer, to be written or read.
        let is_empty = self.unwritten().0 == 0 && !matches!(self.holds, Holds::Read { held: 1.., .. });
        self.write_out(&mut work);
        if let Holds::Written { .. } = self.holds {
            self.holds = Holds::Nothing;
        }
        if !self.seek_within_buffer(offset, &mut work) {
            match self.library {
                Library::C if self.mode.reads() && !self.is_unbuffered() => {
                    self.seek_to_block(offset, is_empty, &mut work);
                }
                _ => self.seek_exactly(offset, &mut work),
            }
        }
        self.knows_position = true;
        self.turn = None;
        Ok(work)
    }

    /// True if the place is in the buffer; glibc tells the kernel the position all the same.
    fn seek_within_buffer(&mut self, offset: u64, work: &mut Work) -> bool {
        let held = if let Holds::Read { held, .. } = self.holds { held } else { 0 };
        let start = self.position - held;
        let is_there = match self.library {
            Library::C => self.knows_position && (start..self.position).contains(&offset),
            Library::Python => self.mode.reads() && (start..=self.position).contains(&offset),
            Library::Cxx | Library::Java => false,
        };
        if is_there {
            work.seeks += u64::from(self.library == Library::C);
            self.holds = if held > 0 { Holds::Read { held, next: offset - start } } else { Holds::Nothing };
        }
        is_there
    }

    /// `_IO_new_file_seekoff` of a stream that reads: goes to the block of the place and reads it, or up to the place if the buffer
    /// was empty.
    fn seek_to_block(&mut self, offset: u64, is_empty: bool, work: &mut Work) {
        // As it is written there, also for buffers that are no power of two.
        let block = offset & !(self.buffer - 1);
        let within = offset - block;
        if within == 0 || within > self.buffer {
            return self.seek_exactly(offset, work);
        }
        work.seeks += 1;
        let wanted = if is_empty { within } else { self.buffer };
        let held = wanted.min(self.end.saturating_sub(block));
        work.add(Direction::Read, block, held, 1);
        self.position = block + held;
        if held < within {
            return self.seek_exactly(offset, work);
        }
        self.holds = Holds::Read { held, next: within };
    }

    fn seek_exactly(&mut self, offset: u64, work: &mut Work) {
        work.seeks += 1;
        self.position = offset;
        self.holds = Holds::Nothing;
    }
}
