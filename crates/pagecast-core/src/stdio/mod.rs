//! Turns calls of a library's buffered stream into system calls and copies.
//!
//! A [`Stream`] is a state machine without time: it takes a program's call and returns the system calls. The engine
//! performs them under a model, `pagecast run` has the real glibc do it.
//!
//! Sources, each read and then seen with strace (glibc 2.36, libstdc++ of GCC 12, CPython 3.11, OpenJDK 17):
//! - C: glibc, libio/fileops.c (`_IO_new_file_xsputn`, `_IO_new_file_overflow`, `_IO_file_xsgetn`,
//!   `_IO_new_file_underflow`, `_IO_new_file_seekoff`, `_IO_new_file_sync`) and libio/filedoalloc.c (`_IO_file_doallocate`).
//! - C++: libstdc++, bits/fstream.tcc (`basic_filebuf::xsputn`, `xsgetn`, `underflow`, `overflow`, `seekoff`).
//! - Python: CPython, Modules/_io/bufferedio.c (`_io_BufferedWriter_write_impl`, `_bufferedreader_read_generic`, `_io__Buffered_seek_impl`).
//! - Java: OpenJDK, java/io/BufferedOutputStream.java (`write`) and BufferedInputStream.java (`read1`, `fill`).
//!
//! Left out:
//! - streams of text (line buffering, decoding), `ungetc`, streams that are not files;
//! - further system calls of a library: fstat(2) before its first transfer, an lseek(2) as it opens or closes, the read(2) of 0 bytes
//!   at the end of a file;
//! - the cost of a call besides copying: a lock and a few branches in C, about 0.1 us of an interpreter in Python.

mod reading;
#[cfg(test)]
mod sequences;
mod stream;
#[cfg(test)]
mod tests;
mod work;
mod writing;

use std::fmt;

pub use stream::Stream;
pub use work::{Direction, Transfer, Work};

use crate::units::Bytes;

/// The library of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// `FILE` of glibc.
    #[default]
    C,
    /// `std::fstream` of libstdc++.
    Cxx,
    /// The binary files of CPython's `open`.
    Python,
    /// `BufferedInputStream` and `BufferedOutputStream`.
    Java,
}

impl Library {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 4] = ["c", "c++", "python", "java"];
    /// All of them.
    pub const ALL: [Self; 4] = [Self::C, Self::Cxx, Self::Python, Self::Java];

    /// The word of a scenario.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The default size of its buffer.
    #[must_use]
    pub fn usual_buffer(self) -> Bytes {
        Bytes(match self {
            // `st_blksize` where that is below BUFSIZ (`_IO_file_doallocate`): 4 KiB on ext4, xfs and btrfs. On NFS it is BUFSIZ, 8 KiB.
            Self::C => 4096,
            // BUFSIZ (`basic_filebuf::_M_buf_size`).
            Self::Cxx => 8192,
            // max(min(st_blksize, 8 MiB), DEFAULT_BUFFER_SIZE) since 3.14 (documentation of `open`); before, st_blksize.
            Self::Python => 128 << 10,
            // BufferedOutputStream.DEFAULT_MAX_BUFFER_SIZE.
            Self::Java => 8192,
        })
    }
}

/// The mode in which a stream is opened: the second argument of fopen(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To read.
    Read,
    /// To write a file from its beginning; it is emptied.
    Write,
    /// To write at the end.
    Append,
    /// To read and write.
    ReadUpdate,
    /// To read and write a file that is emptied.
    WriteUpdate,
    /// To read, and to write at the end.
    AppendUpdate,
}

impl Mode {
    /// The words of a scenario, in the order of `ALL`.
    pub const NAMES: [&'static str; 6] = ["r", "w", "a", "r+", "w+", "a+"];
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Read, Self::Write, Self::Append, Self::ReadUpdate, Self::WriteUpdate, Self::AppendUpdate];

    /// The word of a scenario.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// True if the stream can be read.
    #[must_use]
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::Append)
    }

    /// True if the stream can be written.
    #[must_use]
    pub fn writes(self) -> bool {
        self != Self::Read
    }

    /// True if every write goes to the end of the file (O_APPEND).
    #[must_use]
    pub fn appends(self) -> bool {
        matches!(self, Self::Append | Self::AppendUpdate)
    }

    /// True if the file is emptied (O_TRUNC).
    #[must_use]
    pub fn truncates(self) -> bool {
        matches!(self, Self::Write | Self::WriteUpdate)
    }

    /// True if the file is made if it is not there (O_CREAT).
    #[must_use]
    pub fn creates(self) -> bool {
        !matches!(self, Self::Read | Self::ReadUpdate)
    }
}

/// The calls of a program. Other libraries' calls have the names of C's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryCall {
    /// fopen(3).
    Open {
        /// The mode.
        mode: Mode,
        /// The library.
        library: Library,
        /// The size of its buffer, 0 for none; by default the library's own choice.
        buffer: Option<Bytes>,
    },
    /// setvbuf(3): a buffer of this size, 0 for none, before anything is read or written.
    SetBuffer {
        /// Its size.
        buffer: Bytes,
    },
    /// fwrite(3), as often as it takes.
    Write {
        /// The start of the first write; by default the current position.
        offset: Option<u64>,
        /// The number of bytes.
        bytes: Bytes,
        /// Bytes of one call of the library; `None` is all in one.
        call: Option<Bytes>,
    },
    /// fread(3), as often as it takes.
    Read {
        /// The start of the first read; by default the current position.
        offset: Option<u64>,
        /// The number of bytes; `None` is up to the end of the file.
        bytes: Option<Bytes>,
        /// Bytes of one call of the library; `None` is all in one.
        call: Option<Bytes>,
    },
    /// fseek(3) to a place counted from the beginning of the file.
    Seek {
        /// The place.
        offset: u64,
    },
    /// fflush(3).
    Flush,
    /// fclose(3).
    Close,
}

impl LibraryCall {
    /// True if it opens a stream; all other calls need an open one.
    #[must_use]
    pub fn opens(&self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// The operation's name in every table and scenario.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open { .. } => "fopen",
            Self::SetBuffer { .. } => "setvbuf",
            Self::Write { .. } => "fwrite",
            Self::Read { .. } => "fread",
            Self::Seek { .. } => "fseek",
            Self::Flush => "fflush",
            Self::Close => "fclose",
        }
    }
}

/// The reason for which a stream refuses a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not open.
    NotOpen,
    /// It is open already.
    IsOpen,
    /// It was opened in a mode in which it does not read, or does not write.
    WrongMode(Mode),
    /// It reads after it has written, or the other way round, without a seek or a flush between, which C does not define.
    Turned,
    /// It has been read or written, so it keeps its buffer.
    HasBuffer,
    /// The library chooses the buffer when it opens the stream.
    BufferWhenOpened(Library),
    /// No stream of the library can.
    Never(Library),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen => out.write_str("which is not open as a stream; `fopen` it first"),
            Self::IsOpen => out.write_str("which is open as a stream already; `fclose` it first"),
            Self::WrongMode(mode) => {
                let right = if mode.reads() { "w" } else { "r" };
                let mode = mode.name();
                write!(out, "which was opened in mode \"{mode}\"; open it in mode \"{right}\" or \"r+\"")
            }
            Self::Turned => out.write_str(
                "right after the other of reading and writing, which C does not define; put an `fseek` or `fflush` between",
            ),
            Self::HasBuffer => {
                out.write_str("which was read or written before; choose its buffer right after `fopen`")
            }
            Self::BufferWhenOpened(library) => {
                write!(
                    out,
                    "whose buffer {} chooses when it opens it; give `buffer` to `fopen`",
                    library.name()
                )
            }
            Self::Never(library) => write!(
                out,
                "which no stream with stream = \"{}\" does; use another stream, or `read` and `write`",
                library.name()
            ),
        }
    }
}
