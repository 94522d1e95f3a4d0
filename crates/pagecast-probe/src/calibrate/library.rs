//! Measures the C library's streams: its copies in memory, and its buffer.

use std::num::NonZero;
use std::path::Path;

use pagecast_core::stdio::Mode;
use pagecast_core::units::Nanos;

use super::{Clock, Failed, doing, make, random_memory};
use crate::bench::pass;
use crate::io::{Direction, Io, StreamCall, Streams};

/// A buffer that is no larger than this is found.
const LARGEST: u64 = 1 << 20;

/// Copies so many bytes of memory to a small buffer, again and again the same one, and gives the time of the processor.
#[must_use]
pub fn memory<I: Io>(io: &I, bytes: NonZero<u64>, call: NonZero<u64>) -> Nanos {
    let call = call.get().min(bytes.get()) as usize;
    let (mut large, mut small) = (vec![1_u8; bytes.get() as usize], vec![2_u8; call]);
    let clock = Clock::start(io);
    pass(Direction::Read, &mut large, &mut small);
    clock.stop(io).used
}

/// Writes byte after byte to a new stream until some of them reach the file: so many does it buffer. The file is removed.
///
/// # Errors
/// [`Failed`] if the kernel refuses.
pub fn stream_buffer<I: Streams>(io: &I, path: &Path) -> Result<Option<u64>, Failed> {
    let mut stream = doing("fopen", io.open_stream(path, Mode::Write))?;
    let file = doing("open", io.open(path, make([])))?;
    let mut byte = random_memory(NonZero::<u64>::MIN)?;
    let mut found = None;
    for _ in 0..=LARGEST {
        doing("fwrite", io.call(&mut stream, &mut byte, StreamCall::Write(1)))?;
        found = Some(doing("stat", io.length(&file))?).filter(|length| *length > 0);
        if found.is_some() {
            break;
        }
    }
    doing("fclose", io.call(&mut stream, &mut byte, StreamCall::Close))?;
    doing("unlink", io.remove(path))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Workplace;
    use crate::io::mock::{Costs, Mock};
    use tempfile::TempDir;

    /// glibc's is `st_blksize`, at most 8 KiB, and other libraries have one of their own.
    #[test]
    fn the_buffer_of_a_real_stream_is_found_and_its_file_gone() {
        let place = TempDir::new().unwrap();
        let workplace = Workplace::create(place.path(), "test").unwrap();
        let found = stream_buffer(workplace.folder(), Path::new("s")).unwrap().expect("it is not larger");
        assert!(found.is_power_of_two() && (512..=LARGEST).contains(&found), "{found}");
        assert!(!workplace.path().join("s").exists());
    }

    #[test]
    fn a_stream_without_a_buffer_has_one_of_a_byte() {
        let kernel = Mock::new(Costs::default());
        assert_eq!(stream_buffer(&kernel, Path::new("s")).unwrap(), Some(1));
    }

    #[test]
    fn copying_more_takes_longer() {
        let place = TempDir::new().unwrap();
        let workplace = Workplace::create(place.path(), "test").unwrap();
        let [page, many] = [4096, 32 << 20].map(|bytes| NonZero::new(bytes).unwrap());
        assert!(memory(workplace.folder(), many, page) > memory(workplace.folder(), page, page));
    }
}
