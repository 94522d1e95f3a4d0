//! Keeps a stream's state: the content of its buffer, and the kernel's position in the file.

use super::{Direction, Library, Mode, Refusal, Work};
use crate::units::Bytes;

/// A stream that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    pub(super) library: Library,
    pub(super) mode: Mode,
    /// The size of its buffer; none below 2.
    pub(super) buffer: u64,
    pub(super) holds: Holds,
    /// The kernel's next position (the offset of the open file description).
    pub(super) position: u64,
    /// The end of the file.
    pub(super) end: u64,
    /// True if glibc knows `position` (`_offset`): from a seek until a flush.
    pub(super) knows_position: bool,
    pub(super) turn: Option<Direction>,
    is_used: bool,
}

/// The content of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Nothing, and it is neither read nor written.
    Nothing,
    /// The last `held` bytes before the kernel's position; of these `next` are taken.
    Read { held: u64, next: u64 },
    /// Bytes to be written from `at` on, and room for some more.
    Written { at: u64, unwritten: u64, room: u64 },
}

impl Stream {
    /// A stream that was opened just now.
    ///
    /// # Errors
    /// [`Refusal::Never`] for a mode or a buffer that the library does not have.
    pub fn new(library: Library, mode: Mode, buffer: Option<Bytes>) -> Result<Self, Refusal> {
        let is_java = library == Library::Java;
        if is_java && (mode.reads() && mode.writes() || buffer == Some(Bytes::ZERO)) {
            return Err(Refusal::Never(library));
        }
        Ok(Self {
            library,
            mode,
            buffer: buffer.unwrap_or_else(|| library.usual_buffer()).0,
            holds: Holds::Nothing,
            position: 0,
            end: 0,
            knows_position: false,
            turn: None,
            is_used: false,
        })
    }

    /// Sets another size of the buffer, 0 for none.
    ///
    /// # Errors
    /// [`Refusal::HasBuffer`] after something was read, written or sought, and [`Refusal::BufferWhenOpened`].
    pub fn set_buffer(&mut self, buffer: Bytes) -> Result<(), Refusal> {
        match self.library {
            Library::C | Library::Cxx if self.is_used => Err(Refusal::HasBuffer),
            Library::C | Library::Cxx => {
                self.buffer = buffer.0;
                Ok(())
            }
            Library::Python | Library::Java => Err(Refusal::BufferWhenOpened(self.library)),
        }
    }

    /// The bytes of the program that the kernel does not have yet.
    #[must_use]
    pub fn unwritten(&self) -> Bytes {
        match self.holds {
            Holds::Written { unwritten, .. } => Bytes(unwritten),
            _ => Bytes::ZERO,
        }
    }

    /// The program's next position in the file, which ends at `end`.
    #[must_use]
    pub fn tell(&self, direction: Direction, end: u64) -> u64 {
        match self.holds {
            _ if direction == Direction::Write && self.mode.appends() => end + self.unwritten().0,
            Holds::Nothing => self.position,
            Holds::Read { held, next } => self.position - held + next,
            Holds::Written { at, unwritten, .. } => at + unwritten,
        }
    }

    /// fflush(3), with the file's end at `end`: writes unwritten bytes, and goes back to the program's position.
    pub fn flush(&mut self, end: u64) -> Work {
        let mut work = Work::default();
        self.end = end;
        self.write_out(&mut work);
        if let Holds::Read { held, next } = self.holds {
            match self.library {
                // `_IO_new_file_sync`.
                Library::C => {
                    work.seeks += u64::from(held != next);
                    self.position -= held - next;
                    self.holds = Holds::Read { held: next, next };
                }
                // `buffered_flush_and_rewind_unlocked`; a stream that only reads has nothing to flush.
                Library::Python if self.mode.writes() => {
                    work.seeks += 1;
                    self.position -= held - next;
                    self.holds = Holds::Nothing;
                }
                _ => {}
            }
        }
        self.turn = None;
        self.knows_position = false;
        work
    }

    /// fclose(3), with the file's end at `end`.
    pub fn close(&mut self, end: u64) -> Work {
        let mut work = Work::default();
        self.end = end;
        self.write_out(&mut work);
        work
    }

    /// True if there is no buffer.
    pub(super) fn is_unbuffered(&self) -> bool {
        self.buffer < 2
    }

    /// Turns to reading or writing a file that ends at `end`.
    ///
    /// # Errors
    /// [`Refusal::WrongMode`] and [`Refusal::Turned`].
    pub fn turn_to(&mut self, direction: Direction, end: u64) -> Result<(), Refusal> {
        let may = match direction {
            Direction::Read => self.mode.reads(),
            Direction::Write => self.mode.writes(),
        };
        if !may {
            return Err(Refusal::WrongMode(self.mode));
        }
        if self.turn.is_some_and(|last| last != direction) {
            return Err(Refusal::Turned);
        }
        self.turn = Some(direction);
        self.end = end;
        self.note_use();
        Ok(())
    }

    pub(super) fn note_use(&mut self) {
        self.is_used = true;
    }
}
