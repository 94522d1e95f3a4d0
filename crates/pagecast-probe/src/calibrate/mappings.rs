//! Measures the cost of mappings of a file for a thread: mapping it, faults that read cached pages, and faults that write to them.
//!
//! A file is written with calls of one size, which determines its folios. Then it is read and written over twice each: with calls, and
//! through a mapping of all of it. Then some pages of it are mapped, read and unmapped one by one. Nothing waits for a device, as in
//! [`super::copies()`].
//!
//! Times are those of the processor. The times of a mapping begin when it is there and end when it is gone.

use std::io;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use pagecast_core::units::Nanos;

use super::{Clock, Failed, doing, new_file, random_memory};
use crate::io::{Direction, Io, Memory, Offsets, Times, Transfer, transfer};

/// Bytes of a call that reads or writes over the file, and of a copy to or from the mapping.
const PIECE: NonZero<u64> = NonZero::new(1 << 20).unwrap();
const PAGE: NonZero<usize> = NonZero::new(4096).unwrap();
/// So many pages are mapped one by one.
const ALONE: u64 = 256;

/// The processor time of a thread for all bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mappings {
    /// Reading them with calls of 1 MiB,
    pub read: Nanos,
    /// and writing over them.
    pub write: Nanos,
    /// Reading them through a mapping, and unmapping it.
    pub mapped_read: Nanos,
    /// Writing over them through another one, and unmapping it.
    pub mapped_write: Nanos,
    /// Mapping, reading and unmapping a page: the mean of many.
    pub page: Nanos,
}

/// Measures mappings of a file of so many bytes that was written with calls of `call`; nothing if it cannot be mapped. The file is
/// removed.
///
/// # Errors
/// [`Failed`] if the kernel refuses something else.
pub fn mappings<I: Io>(
    io: &I,
    path: &Path,
    bytes: NonZero<u64>,
    call: NonZero<u64>,
    stop: &AtomicBool,
) -> Result<Option<Mappings>, Failed> {
    let file = new_file(io, path)?;
    let mut memory = random_memory(call.max(PIECE))?;
    let measured = File { io, file: &file, bytes, stop }.measure(call, &mut memory);
    doing("unlink", io.remove(path))?;
    match measured {
        Err(Failed::Kernel { doing: "mmap", source }) if cannot_be_mapped(&source) => Ok(None),
        measured => measured.map(Some),
    }
}

/// What mmap(2) says of a file system that has no mappings, or none that are shared.
fn cannot_be_mapped(source: &io::Error) -> bool {
    [libc::ENODEV, libc::EINVAL].into_iter().any(|number| source.raw_os_error() == Some(number))
}

struct File<'a, I: Io> {
    io: &'a I,
    file: &'a I::File,
    bytes: NonZero<u64>,
    stop: &'a AtomicBool,
}

impl<I: Io> File<'_, I> {
    fn measure(&self, call: NonZero<u64>, memory: &mut Memory) -> Result<Mappings, Failed> {
        self.by_calls(Direction::Write, call, memory)?;
        Ok(Mappings {
            read: self.by_calls(Direction::Read, PIECE, memory)?,
            write: self.by_calls(Direction::Write, PIECE, memory)?,
            mapped_read: self.through_mapping(Direction::Read, memory)?,
            mapped_write: self.through_mapping(Direction::Write, memory)?,
            page: self.page_by_page(memory)?,
        })
    }

    fn by_calls(
        &self,
        direction: Direction,
        call: NonZero<u64>,
        memory: &mut Memory,
    ) -> Result<Nanos, Failed> {
        let what =
            Transfer { direction, offsets: Offsets::From(0), bytes: self.bytes.get(), call, spreads: false };
        let mut times = Times::of_whole();
        let clock = Clock::start(self.io);
        transfer(self.io, self.file, &what, memory, &mut times, self.stop).map_err(Failed::of(direction))?;
        Ok(clock.stop(self.io).used)
    }

    fn through_mapping(&self, direction: Direction, memory: &mut Memory) -> Result<Nanos, Failed> {
        let mut mapped = self.map(0, self.bytes.get())?;
        let clock = Clock::start(self.io);
        for at in (0..self.bytes.get()).step_by(PIECE.get() as usize) {
            let length = PIECE.get().min(self.bytes.get() - at) as usize;
            self.io.pass_mapped(&mut mapped, direction, at as usize, memory, length);
        }
        drop(mapped);
        Ok(clock.stop(self.io).used)
    }

    /// The pages are as far from each other as the file lets them.
    fn page_by_page(&self, memory: &mut Memory) -> Result<Nanos, Failed> {
        let page = PAGE.get() as u64;
        let pages = self.bytes.get().div_ceil(page).min(ALONE);
        let stride = self.bytes.get() / pages / page * page;
        let clock = Clock::start(self.io);
        for number in 0..pages {
            let mut mapped = self.map(number * stride, page)?;
            self.io.pass_mapped(&mut mapped, Direction::Read, 0, memory, PAGE.get());
        }
        Ok(Nanos(clock.stop(self.io).used.0 / pages))
    }

    fn map(&self, offset: u64, bytes: u64) -> Result<I::Mapped, Failed> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failed::Stopped);
        }
        let length = NonZero::new(bytes as usize).expect("there is something to map");
        doing("mmap", self.io.map(self.file, offset, length))
    }
}

#[cfg(test)]
mod tests {
    use super::super::mock::{Costs, Kernel};
    use super::*;
    use crate::io::Workplace;
    use tempfile::TempDir;

    static GO_ON: AtomicBool = AtomicBool::new(false);
    const COSTS: Costs = Costs {
        call_ns: 700,
        read_ns_per_kib: 50,
        write_ns_per_kib: 80,
        insert_ns: 400,
        map_ns: 9000,
        fault_around_ns: 1600,
        mkwrite_ns: 300,
        ..Costs::NOTHING
    };
    const BYTES: NonZero<u64> = NonZero::new(2 << 20).unwrap();
    const CALL: NonZero<u64> = NonZero::new(64 << 10).unwrap();

    fn measured<I: Io>(io: &I, stop: &AtomicBool) -> Result<Option<Mappings>, Failed> {
        mappings(io, Path::new("m"), BYTES, CALL, stop)
    }

    #[test]
    fn each_way_takes_what_the_kernel_charges_for_it() {
        let kernel = Kernel::new(COSTS);
        let took = measured(&kernel, &GO_ON).unwrap().unwrap();
        let (calls, kib, pages) = (2, 2048, 512);
        let expected = Mappings {
            read: Nanos(700 * calls + 50 * kib),
            write: Nanos(700 * calls + 80 * kib),
            mapped_read: Nanos(50 * kib + 1600 * pages / 16),
            mapped_write: Nanos(80 * kib + 300 * pages),
            page: Nanos(9000 + 50 * 4 + 1600),
        };
        assert_eq!(took, expected);
        assert_eq!(kernel.files(), 0, "nothing is left");
    }

    #[test]
    fn what_cannot_be_mapped_is_not_measured_and_what_is_stopped_ends() {
        let kernel = Kernel::new(Costs { refuses_mappings: true, ..COSTS });
        assert_eq!(measured(&kernel, &GO_ON).unwrap(), None);
        assert_eq!(kernel.files(), 0);
        let stopped = measured(&Kernel::new(COSTS), &AtomicBool::new(true));
        assert!(matches!(stopped, Err(Failed::Stopped)));
    }

    #[test]
    fn a_real_file_can_be_mapped() {
        let place = TempDir::new().unwrap();
        let workplace = Workplace::create(place.path(), "test").unwrap();
        let took = measured(workplace.folder(), &GO_ON).unwrap().unwrap();
        let parts = [took.read, took.write, took.mapped_read, took.mapped_write, took.page];
        assert!(parts.iter().all(|part| part.0 > 0), "{took:?}");
        assert!(!workplace.path().join("m").exists());
    }
}
