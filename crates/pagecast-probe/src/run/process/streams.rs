//! Runs operations on a process's streams of the C library.
//!
//! Calls that a library refuses, and C does not define, are refused before, with the words of a simulation. A call under way is not broken
//! off when the run is stopped: the program itself copies its memory, so it cannot be taken away.

use std::io;
use std::num::NonZero;
use std::sync::atomic::Ordering;

use pagecast_core::error::SimulationError;
use pagecast_core::stdio::{Direction, LibraryCall, Mode, Refusal, Stream};
use pagecast_core::units::Bytes;
use rustc_hash::FxHashMap;

use super::{Done, Halt, Runner};
use crate::io::{Memory, Open, StreamCall, Streams};
use crate::run::names::NamedFile;
use crate::run::plan::Step;
use crate::run::survey::Survey;

/// A stream that is open.
struct OpenStream<I: Streams> {
    stream: I::Stream,
    /// To be asked for its length.
    file: I::File,
    mode: Mode,
    /// What says whether the library may be called; nothing is read from it or written to it.
    rules: Stream,
    /// Where the next byte comes from or goes to, if it is not appended.
    position: u64,
}

/// Those of a process, by their file, and the memory that all of them read into and write from.
pub(super) struct ProcessStreams<I: Streams> {
    open: FxHashMap<u32, OpenStream<I>>,
    memory: Option<Memory>,
}

impl<I: Streams> ProcessStreams<I> {
    /// With all the memory that the process's calls need.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn new(survey: &Survey) -> io::Result<Self> {
        let memory = NonZero::new(survey.stream_memory).map(Memory::new).transpose()?.map(|mut memory| {
            memory.fill_with_noise();
            memory
        });
        Ok(Self { open: FxHashMap::default(), memory })
    }

    /// The file is gone, and what its stream has not written with it.
    pub fn forget(&mut self, file: u32) {
        self.open.remove(&file);
    }
}

/// Why a call was not made, or did not do what it should.
enum Trouble {
    Refused(Refusal),
    Failed(io::Error),
    Stopped,
    BeyondEnd { offset: u64, bytes: u64, length: u64 },
}

impl From<Refusal> for Trouble {
    fn from(why: Refusal) -> Self {
        Self::Refused(why)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl<I: Streams> Runner<'_, I> {
    /// Does an operation on a stream.
    pub(super) fn on_stream(
        &mut self,
        step: &Step,
        file: &NamedFile,
        call: LibraryCall,
    ) -> Result<Done, Halt> {
        let done = match call {
            LibraryCall::Open { mode, buffer, .. } => self.open_stream(step, file, mode, buffer),
            LibraryCall::SetBuffer { buffer } => self.set_buffer(step, buffer),
            LibraryCall::Write { offset, bytes, call } => {
                self.move_by_stream(step, Direction::Write, offset, Some(bytes), call)
            }
            LibraryCall::Read { offset, bytes, call } => {
                self.move_by_stream(step, Direction::Read, offset, bytes, call)
            }
            LibraryCall::Seek { offset } => self.seek(step, offset),
            LibraryCall::Flush => self.flush(step),
            LibraryCall::Close => self.close_stream(step),
        };
        done.map_err(|trouble| match trouble {
            Trouble::Stopped => Halt::Stopped,
            Trouble::Failed(error) => self.failed(step, error),
            Trouble::Refused(why) => self.workload(SimulationError::Stream {
                at: self.blame(step),
                operation: step.operation.action.name(),
                path: self.path(step).expect("a stream has a file"),
                why,
            }),
            Trouble::BeyondEnd { offset, bytes, length } => {
                self.beyond_end(step, &Done { offset, bytes, ..Done::default() }, length)
            }
        })
    }

    fn open_stream(
        &mut self,
        step: &Step,
        named: &NamedFile,
        mode: Mode,
        buffer: Option<Bytes>,
    ) -> Result<Done, Trouble> {
        if self.streams.open.contains_key(&named.number) {
            return Err(Refusal::IsOpen.into());
        }
        let io = self.shared.io;
        let within = &named.within;
        let open = || io.open_stream(within, mode);
        let stream = if mode.creates() { self.in_directory(within, open)? } else { open()? };
        let file = io.open(within, Open::default())?;
        let rules = Stream::new(pagecast_core::stdio::Library::C, mode, None)?;
        self.streams.open.insert(named.number, OpenStream { stream, file, mode, rules, position: 0 });
        match buffer {
            Some(buffer) => self.set_buffer(step, buffer),
            None => Ok(Done::default()),
        }
    }

    /// The stream of a step, and the memory of all.
    fn stream_of(&mut self, step: &Step) -> Result<(&mut OpenStream<I>, &mut Memory), Trouble> {
        let open = self.streams.open.get_mut(&step.number()).ok_or(Refusal::NotOpen)?;
        // What moves nothing is not asked for memory.
        let memory = self.streams.memory.as_mut().unwrap_or(&mut self.buffer);
        Ok((open, memory))
    }

    fn set_buffer(&mut self, step: &Step, buffer: Bytes) -> Result<Done, Trouble> {
        let io = self.shared.io;
        let (open, memory) = self.stream_of(step)?;
        open.rules.set_buffer(buffer)?;
        io.call(&mut open.stream, memory, StreamCall::SetBuffer(buffer.0 as usize))?;
        Ok(Done::default())
    }

    fn seek(&mut self, step: &Step, offset: u64) -> Result<Done, Trouble> {
        let io = self.shared.io;
        let (open, memory) = self.stream_of(step)?;
        open.rules.seek(offset, 0)?;
        io.call(&mut open.stream, memory, StreamCall::Seek(offset))?;
        open.position = offset;
        Ok(Done { offset, ..Done::default() })
    }

    fn flush(&mut self, step: &Step) -> Result<Done, Trouble> {
        let io = self.shared.io;
        let (open, memory) = self.stream_of(step)?;
        open.rules.flush(0);
        io.call(&mut open.stream, memory, StreamCall::Flush)?;
        Ok(Done::default())
    }

    fn close_stream(&mut self, step: &Step) -> Result<Done, Trouble> {
        let io = self.shared.io;
        let (open, memory) = self.stream_of(step)?;
        let closed = io.call(&mut open.stream, memory, StreamCall::Close);
        self.streams.forget(step.number());
        Ok(closed.map(|()| Done::default())?)
    }

    fn move_by_stream(
        &mut self,
        step: &Step,
        direction: Direction,
        offset: Option<u64>,
        bytes: Option<Bytes>,
        call: Option<Bytes>,
    ) -> Result<Done, Trouble> {
        if let Some(offset) = offset {
            self.seek(step, offset)?;
        }
        let (io, stop) = (self.shared.io, &self.shared.gate.stop);
        let (open, memory) = self.stream_of(step)?;
        open.rules.turn_to(direction, 0)?;
        let offset = if open.mode.appends() && direction == Direction::Write {
            io.length(&open.file)?
        } else {
            open.position
        };
        let bytes = match bytes {
            Some(bytes) => bytes.0,
            None => io.length(&open.file)?.saturating_sub(offset),
        };
        let longest = call.map_or(bytes, |call| call.0).clamp(1, memory.length() as u64);
        let mut left = bytes;
        while left > 0 {
            if stop.load(Ordering::Relaxed) {
                return Err(Trouble::Stopped);
            }
            let now = left.min(longest) as usize;
            let call =
                if direction == Direction::Read { StreamCall::Read(now) } else { StreamCall::Write(now) };
            match io.call(&mut open.stream, memory, call) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    let length = io.length(&open.file)?;
                    return Err(Trouble::BeyondEnd { offset, bytes, length });
                }
                answer => answer?,
            }
            left -= now as u64;
        }
        open.position = offset + bytes;
        Ok(Done { offset, bytes, ..Done::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing::{plan, process, write};
    use pagecast_core::stdio::Library;
    use pagecast_core::workload::Action;

    fn on_stream(call: LibraryCall) -> Action {
        Action::Stream { path: "/data/g".into(), call }
    }

    fn open(mode: Mode) -> Action {
        on_stream(LibraryCall::Open { mode, library: Library::C, buffer: None })
    }

    fn put(bytes: u64, offset: Option<u64>, call: Option<u64>) -> Action {
        on_stream(LibraryCall::Write { offset, bytes: Bytes(bytes), call: call.map(Bytes) })
    }

    #[test]
    fn what_streams_write_and_hold_is_known_before() {
        let actions =
            [write("/data/g", 50, None), open(Mode::Append), put(100, None, None), put(10, Some(300), None)];
        let plan = plan(&[], &[process("p", &[], &actions)]);
        assert_eq!((plan.written().1, plan.space()), (Bytes(160), Bytes(310)));
        assert_eq!(plan.open_files(), 3, "with the one of `write`");
    }

    #[test]
    fn a_call_has_its_bytes_in_one_piece() {
        let of =
            |actions: &[Action]| plan(&[], &[process("p", &[], actions)]).processes[0].survey.stream_memory;
        assert_eq!(of(&[open(Mode::Write), put(5000, None, Some(512)), put(9000, None, None)]), 9000);
        assert_eq!(of(&[write("/data/g", 50, None)]), 0);
    }
}
