//! Keeps the bytes of a recording: in memory as long as they are few, then in a file without a name.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::error::TraceError;

/// Above this a recording goes into a file.
pub const MOST_IN_MEMORY: usize = 64 << 20;

/// What is written at once.
const WRITE_BYTES: usize = 1 << 20;

/// Bytes that can be read at any place.
#[derive(Debug)]
pub enum Store {
    /// In memory.
    Memory(Vec<u8>),
    /// In a file.
    File(File),
}

impl Store {
    /// Reads bytes from a place on; all of them must be there.
    pub fn read(&self, buffer: &mut [u8], at: u64) -> Result<(), TraceError> {
        let damaged = || TraceError::Damaged { at, what: "the file ends here" };
        match self {
            Self::Memory(bytes) => {
                let start = usize::try_from(at).map_err(|_| damaged())?;
                let end = start.checked_add(buffer.len()).ok_or_else(damaged)?;
                buffer.copy_from_slice(bytes.get(start..end).ok_or_else(damaged)?);
                Ok(())
            }
            Self::File(file) => file.read_exact_at(buffer, at).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => damaged(),
                _ => TraceError::Read(error),
            }),
        }
    }
}

/// Bytes that are appended, and changed here and there.
#[derive(Debug)]
pub struct Growing {
    /// All that is not in the file.
    tail: Vec<u8>,
    file: Option<File>,
    /// The length of the file.
    written: u64,
    most_in_memory: usize,
}

impl Growing {
    /// None yet; above so many a file is made.
    pub fn new(most_in_memory: usize) -> Self {
        Self { tail: Vec::new(), file: None, written: 0, most_in_memory }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.written + self.tail.len() as u64
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        self.tail.extend_from_slice(bytes);
        let most = if self.file.is_some() { WRITE_BYTES } else { self.most_in_memory };
        if self.tail.len() > most { self.write_out() } else { Ok(()) }
    }

    fn write_out(&mut self) -> Result<(), TraceError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile().map_err(spill)?,
        };
        file.write_all_at(&self.tail, self.written).map_err(spill)?;
        self.written += self.tail.len() as u64;
        // Of the first time it is large.
        match self.tail.capacity() > 4 * WRITE_BYTES {
            true => self.tail = Vec::with_capacity(2 * WRITE_BYTES),
            false => self.tail.clear(),
        }
        self.file = Some(file);
        Ok(())
    }

    /// Changes bytes that were appended in one piece.
    pub fn change(&mut self, at: u64, bytes: &[u8]) -> Result<(), TraceError> {
        match at.checked_sub(self.written) {
            Some(at) => {
                let at = usize::try_from(at).expect("it is in memory");
                self.tail[at..at + bytes.len()].copy_from_slice(bytes);
                Ok(())
            }
            None => {
                let file = self.file.as_ref().expect("what is written is in a file");
                file.write_all_at(bytes, at).map_err(spill)
            }
        }
    }

    /// All of them, to be read.
    pub fn finish(mut self) -> Result<Store, TraceError> {
        if self.file.is_some() {
            self.write_out()?;
        }
        Ok(self.file.map_or(Store::Memory(self.tail), Store::File))
    }
}

fn spill(source: io::Error) -> TraceError {
    TraceError::Spill { dir: std::env::temp_dir().display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_same_in_memory_and_in_a_file() {
        for most in [10, 100_000] {
            let mut growing = Growing::new(most);
            let bytes: Vec<u8> = (0..50_000_u32).map(|at| at as u8).collect();
            bytes.chunks(7).try_for_each(|chunk| growing.append(chunk)).unwrap();
            growing.change(3, &[200, 201]).unwrap();
            growing.change(49_990, &[202]).unwrap();
            assert_eq!(growing.len(), 50_000);
            let store = growing.finish().unwrap();
            assert_eq!(matches!(store, Store::File(_)), most == 10);
            let mut part = [0; 4];
            store.read(&mut part, 2).unwrap();
            assert_eq!(part, [2, 200, 201, 5]);
            store.read(&mut part[..1], 49_990).unwrap();
            assert_eq!(part[0], 202);
            assert!(store.read(&mut part, 49_998).is_err() && store.read(&mut part, u64::MAX).is_err());
        }
    }
}
