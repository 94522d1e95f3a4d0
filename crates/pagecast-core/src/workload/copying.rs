//! Describes copies from file to file.

use thiserror::Error;

use crate::units::Bytes;

/// The system calls that a program copies with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyBy {
    /// read(2) into a buffer of its own and write(2) from there, call by call.
    ReadWrite,
    /// sendfile(2).
    Sendfile,
    /// copy_file_range(2).
    CopyFileRange,
}

impl CopyBy {
    /// The words of a scenario, in the order of the variants.
    pub const NAMES: [&'static str; 3] = ["read_write", "sendfile", "copy_file_range"];
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ReadWrite, Self::Sendfile, Self::CopyFileRange];

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The bytes of a call that are usual where none are given: of a program that copies by itself, its buffer, as that of cp
    /// (`IO_BUFSIZE`, src/ioblksize.h, coreutils 9.2); otherwise a call copies all.
    #[must_use]
    pub fn usual_call(self) -> Option<Bytes> {
        (!self.is_in_kernel()).then_some(Bytes(256 << 10))
    }

    /// True if the bytes stay in the kernel.
    #[must_use]
    pub fn is_in_kernel(self) -> bool {
        self != Self::ReadWrite
    }
}

/// The reason for which a copy is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CopyRefusal {
    /// From a file to itself.
    #[error("and that is the same file; copy to another one")]
    SameFile,
    /// One of them was opened with a flag that a copy does not take.
    #[error(
        "and one of them is open with O_DIRECT, RWF_DONTCACHE or, to be written, O_APPEND, which is not modelled; open both without, or use `read` and `write`"
    )]
    Flags,
    /// One of them is another host's.
    #[error(
        "and one of them is another host's file, which is not modelled; use \"sendfile\" or \"read_write\""
    )]
    Remote,
    /// They are not on one file system: EXDEV.
    #[error(
        "and they are on two file systems, with which it fails with EXDEV; use \"sendfile\" or \"read_write\""
    )]
    OtherFileSystem,
}
