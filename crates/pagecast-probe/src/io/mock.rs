//! Plays a kernel for tests: files are lengths, and a clock goes forward by the given cost of a call.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use pagecast_core::stdio::Mode;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Advice, AllocateMode, CopyBy, MapAdvice, SyncRangeFlags};

use super::{Direction, Io, Memory, Names, Open, StreamCall, Streams, Sync};

/// The costs and failures of calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    /// The cost of each read and write.
    pub call_ns: u64,
    /// The additional cost of each byte.
    pub ns_per_byte: u64,
    /// The cost of fsync and fdatasync.
    pub sync_ns: u64,
    /// A call moves no more than this; 0 is no limit.
    pub most_of_a_call: usize,
    /// Every so many calls are interrupted; 0 is never.
    pub interrupts_every: u64,
}

/// The files of a host; see the module.
#[derive(Default)]
pub(crate) struct Mock {
    costs: Costs,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    now: u64,
    asked: u64,
    device_read: u64,
    names: BTreeMap<PathBuf, usize>,
    /// Of each file, with a name or without.
    lengths: Vec<u64>,
    calls: Vec<(u64, u64)>,
}

/// Memory of so many bytes.
pub(crate) fn memory(length: usize) -> Memory {
    Memory::new(NonZero::new(length).unwrap()).unwrap()
}

impl Mock {
    /// A kernel without files whose clock is at 0.
    pub fn new(costs: Costs) -> Self {
        Self { costs, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Offset and length of each read and write that was not interrupted.
    pub fn calls(&self) -> Vec<(u64, u64)> {
        self.state().calls.clone()
    }

    fn moved(&self, state: &mut State, length: usize, offset: u64) -> io::Result<usize> {
        state.asked += 1;
        if self.costs.interrupts_every > 0 && state.asked.is_multiple_of(self.costs.interrupts_every) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length =
            if self.costs.most_of_a_call > 0 { length.min(self.costs.most_of_a_call) } else { length };
        state.now += self.costs.call_ns + self.costs.ns_per_byte * length as u64;
        state.calls.push((offset, length as u64));
        Ok(length)
    }
}

impl Io for Mock {
    type File = usize;
    type Mapped = (usize, u64);

    fn now(&self) -> Nanos {
        Nanos(self.state().now)
    }

    fn processor_time(&self) -> Nanos {
        // A busy loop looks at this all the time; each look takes a microsecond.
        let mut state = self.state();
        state.now += 1000;
        Nanos(state.now)
    }

    fn processor_wait(&self) -> Nanos {
        Nanos::ZERO
    }

    fn device_read(&self) -> Bytes {
        Bytes(self.state().device_read)
    }

    fn sleep_until(&self, time: Nanos) {
        let mut state = self.state();
        state.now = state.now.max(time.0);
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<usize> {
        let mut state = self.state();
        let State { names, lengths, .. } = &mut *state;
        match names.get(path) {
            Some(&file) => {
                if how.truncate {
                    lengths[file] = 0;
                }
                Ok(file)
            }
            None if how.create => {
                lengths.push(0);
                names.insert(path.to_owned(), lengths.len() - 1);
                Ok(lengths.len() - 1)
            }
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn read(&self, file: &usize, _: &mut Memory, _: usize, length: usize, offset: u64) -> io::Result<usize> {
        let mut state = self.state();
        let left = state.lengths[*file].saturating_sub(offset);
        let moved = self.moved(&mut state, length.min(left as usize), offset)?;
        state.device_read += moved as u64;
        Ok(moved)
    }

    fn write(&self, file: &usize, _: &mut Memory, _: usize, length: usize, offset: u64) -> io::Result<usize> {
        let mut state = self.state();
        let moved = self.moved(&mut state, length, offset)?;
        let known = &mut state.lengths[*file];
        *known = (*known).max(offset + moved as u64);
        Ok(moved)
    }

    fn copy(&self, from: &usize, to: &usize, _: CopyBy, offset: u64, length: usize) -> io::Result<usize> {
        let mut state = self.state();
        let left = state.lengths[*from].saturating_sub(offset);
        let moved = self.moved(&mut state, length.min(left as usize), offset)?;
        let known = &mut state.lengths[*to];
        *known = (*known).max(offset + moved as u64);
        Ok(moved)
    }

    fn sync(&self, _: &usize, _: Sync) -> io::Result<()> {
        self.state().now += self.costs.sync_ns;
        Ok(())
    }

    fn sync_all(&self) {
        self.state().now += self.costs.sync_ns;
    }

    fn sync_file_system(&self) -> io::Result<()> {
        self.sync_all();
        Ok(())
    }

    fn sync_range(&self, _: &usize, _: u64, _: u64, _: SyncRangeFlags) -> io::Result<()> {
        self.state().now += self.costs.sync_ns;
        Ok(())
    }

    fn readahead(&self, _: &usize, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn map(&self, file: &usize, offset: u64, _: NonZero<usize>) -> io::Result<(usize, u64)> {
        Ok((*file, offset))
    }

    fn advise_mapped(&self, _: &(usize, u64), _: MapAdvice) -> io::Result<()> {
        Ok(())
    }

    /// Each piece costs what a call would.
    fn pass_mapped(
        &self,
        (file, offset): &mut (usize, u64),
        direction: Direction,
        from: usize,
        _: &mut Memory,
        length: usize,
    ) {
        let mut state = self.state();
        assert!(*offset + (from + length) as u64 <= state.lengths[*file], "beyond is SIGBUS");
        state.now += self.costs.call_ns + self.costs.ns_per_byte * length as u64;
        state.device_read += if direction == Direction::Read { length as u64 } else { 0 };
    }

    fn sync_mapped(&self, _: &(usize, u64), is_async: bool) -> io::Result<()> {
        self.state().now += if is_async { 0 } else { self.costs.sync_ns };
        Ok(())
    }

    fn drop_caches(&self) -> io::Result<()> {
        Ok(())
    }

    fn advise(&self, _: &usize, _: Advice, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn length(&self, file: &usize) -> io::Result<u64> {
        Ok(self.state().lengths[*file])
    }

    fn set_length(&self, file: &usize, length: u64) -> io::Result<()> {
        self.state().lengths[*file] = length;
        Ok(())
    }

    fn allocate(&self, file: &usize, mode: AllocateMode, offset: u64, length: u64) -> io::Result<()> {
        if mode == AllocateMode::Extend {
            let mut state = self.state();
            let before = state.lengths[*file];
            state.lengths[*file] = before.max(offset + length);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let gone = self.state().names.remove(path);
        gone.map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Names for Mock {
    fn rename(&self, path: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let file = state.names.remove(path).ok_or(io::ErrorKind::NotFound)?;
        state.names.insert(to.to_owned(), file);
        Ok(())
    }

    fn link(&self, path: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let &file = state.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        if state.names.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.names.insert(to.to_owned(), file);
        Ok(())
    }

    fn mkdir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn rmdir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn stat(&self, path: &Path) -> io::Result<()> {
        self.state().names.get(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn make_above(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Each call of the library costs what a system call would.
impl Streams for Mock {
    type Stream = (usize, u64);

    fn open_stream(&self, path: &Path, mode: Mode) -> io::Result<(usize, u64)> {
        let how = Open { create: mode.creates(), truncate: mode.truncates(), ..Open::default() };
        let file = self.open(path, how)?;
        let position = if mode.appends() { self.length(&file)? } else { 0 };
        Ok((file, position))
    }

    fn call(&self, stream: &mut (usize, u64), memory: &mut Memory, call: StreamCall) -> io::Result<()> {
        let (file, position) = stream;
        let moved = match call {
            StreamCall::Write(bytes) => self.write(file, memory, 0, bytes, *position)? as u64,
            StreamCall::Read(bytes) => self.read(file, memory, 0, bytes, *position)? as u64,
            StreamCall::Seek(offset) => offset.wrapping_sub(*position),
            StreamCall::SetBuffer(_) | StreamCall::Flush | StreamCall::Close => 0,
        };
        *position = position.wrapping_add(moved);
        Ok(())
    }
}
