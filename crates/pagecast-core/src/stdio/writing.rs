//! Writes to a stream.

use super::stream::{Holds, Stream};
use super::{Direction, Library, Refusal, Work};

/// From this size on glibc rounds a write past the buffer to whole buffers (`_IO_new_file_xsputn`).
pub(super) const LEAST_BLOCK: u64 = 128;

/// libstdc++ writes so many bytes at once, together with those in the buffer (`__chunk` in `basic_filebuf::xsputn`).
const CXX_CHUNK: u64 = 1024;

impl Stream {
    /// Writes `bytes` in calls of `call` bytes, to a file that ends at `end`.
    ///
    /// # Errors
    /// [`Refusal::WrongMode`] and [`Refusal::Turned`].
    pub fn write(&mut self, bytes: u64, call: u64, end: u64) -> Result<Work, Refusal> {
        self.turn_to(Direction::Write, end)?;
        let mut work = Work::default();
        let call = call.clamp(1, bytes.max(1));
        self.put_all(bytes / call, call, &mut work);
        if !bytes.is_multiple_of(call) {
            self.put(bytes % call, &mut work);
        }
        Ok(work)
    }

    /// Puts many calls. Those that only fill the buffer are one step. As soon as one that does more leaves it as the one before did,
    /// so do all that follow.
    fn put_all(&mut self, calls: u64, bytes: u64, work: &mut Work) {
        let (mut left, mut last) = (calls, None);
        while left > 0 {
            if self.fills_block_by_block(bytes) {
                return self.put_block_by_block(left * bytes, work);
            }
            let fitting = self.fitting(bytes).min(left);
            self.keep(fitting * bytes, work);
            left -= fitting;
            if left == 0 {
                return;
            }
            let mut one = Work::default();
            self.put(bytes, &mut one);
            left -= 1;
            let times = if last == Some(self.fill()) { left / (fitting + 1) } else { 0 };
            last = Some(self.fill());
            left -= times * (fitting + 1);
            work.copied += one.copied + (one.copied + fitting * bytes) * times;
            work.seeks += one.seeks;
            for each in &one.transfers {
                work.append(each, times + 1);
                self.go_on(each.bytes * times);
            }
        }
    }

    /// Puts one call.
    fn put(&mut self, bytes: u64, work: &mut Work) {
        match self.library {
            _ if self.is_unbuffered() => {
                self.begin_writing();
                self.write_through(bytes, work);
            }
            Library::C => self.put_to_c(bytes, work),
            Library::Cxx => self.put_to_cxx(bytes, work),
            Library::Python => self.put_after_what_is_there(bytes, bytes > self.buffer, work),
            Library::Java => self.put_after_what_is_there(bytes, bytes >= self.buffer, work),
        }
    }

    /// `_IO_new_file_xsputn`: fills the buffer up and writes it, then whole buffers directly, and keeps the rest.
    fn put_to_c(&mut self, bytes: u64, work: &mut Work) {
        let fits = self.room().min(bytes);
        self.keep(fits, work);
        let mut rest = bytes - fits;
        if rest == 0 {
            return;
        }
        // `_IO_new_file_overflow`; it gives a buffer that was not written to its room.
        if !self.begin_writing() {
            self.write_out(work);
        }
        let direct = if self.buffer >= LEAST_BLOCK { rest - rest % self.buffer } else { rest };
        if direct > 0 {
            self.write_through(direct, work);
            rest -= direct;
        }
        // `_IO_default_xsputn`; after a seek into a block there is less room than a buffer has.
        let fits = self.room().min(rest);
        self.keep(fits, work);
        if rest > fits {
            self.write_out(work);
            self.keep(rest - fits, work);
        }
    }

    /// `basic_filebuf::xsputn`: bytes that do not fit, and large calls, go with the buffer in one writev(2).
    fn put_to_cxx(&mut self, bytes: u64, work: &mut Work) {
        self.begin_writing();
        if bytes < self.room().min(CXX_CHUNK) {
            return self.keep(bytes, work);
        }
        let unwritten = self.unwritten().0;
        self.write_through(unwritten + bytes, work);
    }

    /// `_io_BufferedWriter_write_impl`, and `BufferedOutputStream.write`: bytes that do not fit come after a write of the buffer.
    fn put_after_what_is_there(&mut self, bytes: u64, goes_past: bool, work: &mut Work) {
        self.begin_writing();
        if bytes > self.room() || bytes >= self.buffer {
            self.write_out(work);
        }
        match goes_past {
            true => self.write_through(bytes, work),
            false => self.keep(bytes, work),
        }
    }

    /// Returns how many calls of so many bytes only fill the buffer.
    fn fitting(&self, bytes: u64) -> u64 {
        let room = self.room();
        match self.library {
            _ if self.is_unbuffered() => 0,
            Library::C => room / bytes,
            Library::Cxx if bytes < CXX_CHUNK => room.saturating_sub(1) / bytes,
            Library::Python | Library::Java if bytes < self.buffer => room / bytes,
            _ => 0,
        }
    }

    /// True if calls of so many bytes make glibc write one full buffer after the other.
    fn fills_block_by_block(&self, bytes: u64) -> bool {
        let is_whole = self.unwritten().0 + self.room() == self.buffer;
        self.library == Library::C && self.buffer >= LEAST_BLOCK && is_whole && bytes < self.buffer
    }

    /// Puts calls that write a full buffer when there is a byte more.
    fn put_block_by_block(&mut self, bytes: u64, work: &mut Work) {
        let Holds::Written { at, unwritten, .. } = self.holds else {
            unreachable!("a buffer with room is written to")
        };
        let in_all = unwritten + bytes;
        let full = in_all.saturating_sub(1) / self.buffer;
        self.emit(at, self.buffer, full, work);
        work.copied += bytes;
        let unwritten = in_all - full * self.buffer;
        let at = if full > 0 { self.position } else { at };
        self.holds = Holds::Written { at, unwritten, room: self.buffer - unwritten };
    }

    /// Makes the buffer one that is written to; false if it is one.
    fn begin_writing(&mut self) -> bool {
        let (at, taken) = match self.holds {
            Holds::Written { .. } => return false,
            Holds::Nothing => (self.position, 0),
            // What was written at its end goes to the next one (glibc slides it forwards).
            Holds::Read { held, next } if next >= self.buffer => (self.position - held + next, 0),
            Holds::Read { held, next } => (self.position - held + next, next),
        };
        self.holds = Holds::Written { at, unwritten: 0, room: self.capacity() - taken };
        true
    }

    /// The room in the buffer. In C there is some only while it is written to, in C++, Python and Java also before.
    fn room(&self) -> u64 {
        match (self.holds, self.library) {
            (Holds::Written { room, .. }, _) => room,
            (_, Library::C) => 0,
            (Holds::Read { next, .. }, _) if next < self.buffer => self.capacity() - next,
            _ => self.capacity(),
        }
    }

    /// The capacity of a buffer; libstdc++ keeps a byte for `overflow` (`_M_set_buffer`).
    fn capacity(&self) -> u64 {
        match self.library {
            _ if self.is_unbuffered() => 0,
            Library::Cxx => self.buffer - 1,
            _ => self.buffer,
        }
    }

    fn fill(&self) -> (u64, u64) {
        (self.unwritten().0, self.room())
    }

    /// Copies bytes that fit into the buffer.
    fn keep(&mut self, bytes: u64, work: &mut Work) {
        if bytes == 0 {
            return;
        }
        self.begin_writing();
        let Holds::Written { unwritten, room, .. } = &mut self.holds else {
            unreachable!("it has begun to be written to")
        };
        *unwritten += bytes;
        *room -= bytes;
        work.copied += bytes;
    }

    /// Writes all unwritten bytes; then the buffer has all of its room.
    pub(super) fn write_out(&mut self, work: &mut Work) {
        if self.unwritten().0 > 0 {
            return self.write_through(self.unwritten().0, work);
        }
        let capacity = self.capacity();
        if let Holds::Written { room, .. } = &mut self.holds {
            *room = capacity;
        }
    }

    /// Writes bytes with one call, together with unwritten ones; then the buffer is empty.
    fn write_through(&mut self, bytes: u64, work: &mut Work) {
        let Holds::Written { at, .. } = self.holds else {
            unreachable!("only what is written to is written")
        };
        self.emit(at, bytes, 1, work);
        self.holds = Holds::Written { at: self.position, unwritten: 0, room: self.capacity() };
    }

    fn emit(&mut self, at: u64, bytes: u64, times: u64, work: &mut Work) {
        if times == 0 {
            return;
        }
        let offset = if self.mode.appends() { self.end } else { at };
        work.seeks += u64::from(!self.mode.appends() && at != self.position);
        work.add(Direction::Write, offset, bytes, times);
        self.position = offset + bytes * times;
        self.end = self.end.max(self.position);
    }

    /// Notes so many bytes more, written in the same way.
    fn go_on(&mut self, bytes: u64) {
        self.position += bytes;
        self.end = self.end.max(self.position);
        if let Holds::Written { at, .. } = &mut self.holds {
            *at += bytes;
        }
    }
}
