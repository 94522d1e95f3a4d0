//! Opens a file of a workload; gzip and zstd are unpacked on the way.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use flate2::bufread::MultiGzDecoder;

use super::error::ReadError;
use crate::stop;

/// The bytes at the start of a file that tell its format.
pub const HEAD_BYTES: usize = 4096;

/// The bytes of a workload, unpacked, and what is needed to name it and to find other files beside it.
pub struct Input {
    /// Its name in messages.
    pub origin: String,
    /// Where it is; none for standard input.
    pub path: Option<PathBuf>,
    /// Its size as it is stored, if that is known: for progress.
    pub stored_bytes: Option<u64>,
    /// How many of those were read so far.
    pub read_bytes: Arc<AtomicU64>,
    /// Its first bytes, at most [`HEAD_BYTES`]. They come again from `bytes`.
    pub head: Vec<u8>,
    /// All its bytes.
    pub bytes: Box<dyn BufRead + Send>,
    /// True if they are packed where they are stored.
    pub is_packed: bool,
    /// The file, if it is one that is not packed.
    pub plain: Option<File>,
}

impl Input {
    /// Opens a file, or standard input as `-`.
    ///
    /// # Errors
    /// If it cannot be opened or is no file.
    pub fn open(path: &Path, origin: &str) -> Result<Self, ReadError> {
        let failed =
            |error: io::Error| ReadError::new(origin, format!("cannot be read: {error}"), "correct the path");
        if path.as_os_str() == "-" {
            let counted = Counted { from: io::stdin(), count: Arc::default() };
            return Self::of(Box::new(BufReader::with_capacity(1 << 16, counted)), "<stdin>", None, None);
        }
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(ReadError::new(origin, "is a directory", "name a file"));
        }
        let size = metadata.is_file().then_some(metadata.len());
        let plain = if metadata.is_file() { Some(file.try_clone().map_err(failed)?) } else { None };
        let read_bytes = Arc::new(AtomicU64::new(0));
        let bytes = BufReader::with_capacity(1 << 18, Counted { from: file, count: read_bytes.clone() });
        let input = Self::of(Box::new(bytes), origin, Some(path.to_owned()), size)?;
        let is_packed = input.is_packed;
        Ok(Self { plain: plain.filter(|_| !is_packed), read_bytes, ..input })
    }

    /// Bytes that come from elsewhere.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn of(
        mut stored: Box<dyn BufRead + Send>,
        origin: &str,
        path: Option<PathBuf>,
        stored_bytes: Option<u64>,
    ) -> Result<Self, ReadError> {
        let failed = |error: io::Error| ReadError::new(origin, format!("cannot be read: {error}"), "");
        let magic = stored.fill_buf().map_err(failed)?;
        let is_packed = matches!(magic, [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..]);
        let mut bytes: Box<dyn BufRead + Send> = match magic {
            [0x1f, 0x8b, ..] => Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(stored))),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                let decoder = zstd::Decoder::with_buffer(stored).map_err(failed)?;
                Box::new(BufReader::with_capacity(1 << 18, decoder))
            }
            _ => stored,
        };
        let mut head = Vec::new();
        bytes.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(failed)?;
        let bytes = Box::new(io::Cursor::new(head.clone()).chain(bytes));
        Ok(Self {
            origin: origin.to_owned(),
            path,
            stored_bytes,
            head,
            bytes,
            is_packed,
            plain: None,
            read_bytes: Arc::default(),
        })
    }
}

/// A file whose bytes are counted as they are read. A read that a signal interrupts asks whether to stop.
struct Counted<R> {
    from: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.from.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => stop::spend(u64::MAX),
                Err(error) => return Err(error),
                Ok(length) => {
                    self.count.fetch_add(length as u64, Relaxed);
                    return Ok(length);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn unpacked(stored: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
        let mut input = Input::of(Box::new(io::Cursor::new(stored)), "x", None, None).unwrap();
        let mut all = Vec::new();
        input.bytes.read_to_end(&mut all).unwrap();
        (input.head, all)
    }

    #[test]
    fn packed_and_plain_bytes_are_the_same() {
        let plain: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let packed = [plain.clone(), gzip.finish().unwrap(), zstd::encode_all(&plain[..], 1).unwrap()];
        for stored in packed {
            let (head, all) = unpacked(stored);
            assert_eq!((head, all), (plain[..HEAD_BYTES].to_vec(), plain.clone()));
        }
        assert_eq!(unpacked(Vec::new()), (Vec::new(), Vec::new()));
    }
}
