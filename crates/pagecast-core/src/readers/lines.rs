//! Reads a text line by line, each of bounded length, and knows where it is.

use std::io::{self, BufRead, Read};

use super::error::ReadError;
use super::input::Input;

/// The longest line that is read.
const MOST_BYTES: usize = 1 << 20;

/// The lines of a text.
pub struct Lines {
    origin: String,
    bytes: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
    is_cut: bool,
}

impl Lines {
    /// Before the first line.
    pub fn new(input: Input) -> Self {
        Self { origin: input.origin, bytes: input.bytes, line: Vec::new(), number: 0, is_cut: false }
    }

    /// The next line, without its end; none behind the last one. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// If it cannot be read or is too long.
    #[inline]
    pub fn next(&mut self) -> Result<Option<&str>, ReadError> {
        if !self.advance()? {
            return Ok(None);
        }
        if std::str::from_utf8(&self.line).is_err() {
            self.line = String::from_utf8_lossy(&self.line).into_owned().into_bytes();
        }
        Ok(Some(std::str::from_utf8(&self.line).expect("it was just made so")))
    }

    fn advance(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        let read = self.bytes.by_ref().take(MOST_BYTES as u64 + 1).read_until(b'\n', &mut self.line);
        let length = read.map_err(|error| cannot_read(&self.origin, &error))?;
        if length == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.is_cut = self.line.last() != Some(&b'\n');
        if length > MOST_BYTES {
            return Err(
                self.error(format!("this line has more than {MOST_BYTES} B"), "name the right --format")
            );
        }
        while let Some(b'\n' | b'\r') = self.line.last() {
            self.line.pop();
        }
        Ok(true)
    }

    /// The name of the text.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// True if the last line that came has no end: there is none behind it.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The number of the next line, for operations.
    pub fn following(&self) -> Option<u32> {
        (self.number + 1).try_into().ok()
    }

    /// An error in this line.
    pub fn error(&self, what: impl Into<String>, remedy: impl Into<String>) -> ReadError {
        ReadError::new(format!("{}:{}", self.origin, self.number.max(1)), what, remedy)
    }
}

/// Bytes that do not come, or not as they were packed.
pub fn cannot_read(origin: &str, error: &io::Error) -> ReadError {
    ReadError::new(origin, format!("cannot be read: {error}"), "")
}
