//! Calls the real streams of the C library, for operations of a scenario with `fopen`.
//!
//! A state machine that makes the same system calls would copy as the library does, and measure itself. So this calls glibc.

use std::ffi::CString;
use std::io;
use std::path::Path;

use pagecast_core::stdio::Mode;
use rustix::fs::OFlags;

use super::folder::Folder;
use super::{Memory, Names};
use crate::syscall::CStream;

/// A call of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamCall {
    /// setvbuf(3) with memory of the stream's own; 0 is no buffer.
    SetBuffer(usize),
    /// fwrite(3) of so many bytes.
    Write(usize),
    /// fread(3) of so many bytes.
    Read(usize),
    /// fseek(3), from the beginning.
    Seek(u64),
    /// fflush(3).
    Flush,
    /// fclose(3); nothing may be called after it.
    Close,
}

/// A kernel with names that change, and a C library.
pub trait Streams: Names {
    /// A stream that is open, until it is closed or dropped.
    type Stream: Send;

    /// Opens a stream by the path of its file within the folder.
    ///
    /// # Errors
    /// What the kernel said.
    fn open_stream(&self, path: &Path, mode: Mode) -> io::Result<Self::Stream>;

    /// Calls the library; bytes come from the beginning of the memory, and go there.
    ///
    /// # Errors
    /// What the kernel said; [`io::ErrorKind::UnexpectedEof`] if a file ends before a read does.
    fn call(&self, stream: &mut Self::Stream, memory: &mut Memory, call: StreamCall) -> io::Result<()>;
}

impl Streams for Folder {
    type Stream = CStream;

    fn open_stream(&self, path: &Path, mode: Mode) -> io::Result<CStream> {
        let flag = |is_set: bool, flag: OFlags| if is_set { flag } else { OFlags::empty() };
        let access = match (mode.reads(), mode.writes()) {
            (true, true) => OFlags::RDWR,
            (_, writes) => flag(writes, OFlags::WRONLY),
        };
        let flags = access
            | flag(mode.creates(), OFlags::CREATE)
            | flag(mode.truncates(), OFlags::TRUNC)
            | flag(mode.appends(), OFlags::APPEND);
        let mode_of_c = CString::new(mode.name()).expect("a mode has no zero in it");
        CStream::new(self.open_with(path, flags, mode.creates())?, &mode_of_c)
    }

    fn call(&self, stream: &mut CStream, memory: &mut Memory, call: StreamCall) -> io::Result<()> {
        match call {
            StreamCall::SetBuffer(size) => stream.set_buffer(size),
            StreamCall::Write(bytes) => stream.write(memory, bytes),
            StreamCall::Read(bytes) => stream.read(memory, bytes),
            StreamCall::Seek(offset) => stream.seek(offset),
            StreamCall::Flush => stream.flush(),
            StreamCall::Close => stream.close(),
        }
    }
}
