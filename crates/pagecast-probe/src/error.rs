//! Names the errors. A message names the place, the problem and the remedy.

use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use pagecast_core::units::Bytes;

use crate::watch::Interrupted;

/// The reasons for which nothing could be done at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// A path that the caller named cannot be used.
    #[error("{}: {trouble}", shown(path))]
    Path {
        /// The path, as it was given.
        path: PathBuf,
        /// The trouble with it.
        trouble: Trouble,
    },
    /// The paths hold no file.
    #[error("{}: there is no file in it that could be cached; name a file, or a directory with files", shown(.0))]
    NoFiles(PathBuf),
    /// cachestat was asked for, and this kernel has none for us.
    #[error(
        "cachestat(2) is not to be had here ({0}); it needs Linux 6.5 or later and a sandbox that lets it through; use the method mincore"
    )]
    NoCachestat(io::Error),
    /// More than fits into memory.
    #[error(
        "reading {wanted} into memory would push out what was read first: only {available} are available; name fewer files"
    )]
    TooLarge {
        /// The bytes not yet in memory.
        wanted: Bytes,
        /// The memory that the machine, or our cgroup, can give without swapping.
        available: Bytes,
    },
    /// More than this process may lock.
    #[error(
        "locking {wanted} needs a larger limit: RLIMIT_MEMLOCK is {limit}; raise it with `ulimit -l` or LimitMEMLOCK= \
         of a systemd unit (root may lock everything), or name fewer files"
    )]
    LockLimit {
        /// Whole pages of all files.
        wanted: Bytes,
        /// The limit of this process.
        limit: Bytes,
    },
    /// More mappings than a process may have.
    #[error(
        "locking {wanted} files needs as many mappings, and vm.max_map_count is {limit}; name fewer files"
    )]
    TooManyMappings {
        /// One for each file, or each part between holes.
        wanted: usize,
        /// `vm.max_map_count`.
        limit: usize,
    },
    /// More than the disk has left.
    #[error(
        "{}: {free} are free, and {needed} would be written; make room, name a directory on another disk, or make the files smaller",
        shown(path)
    )]
    NoRoom {
        /// The directory.
        path: PathBuf,
        /// The bytes to be written.
        needed: Bytes,
        /// The bytes free for this user.
        free: Bytes,
    },
    /// A directory whose files never leave memory.
    #[error(
        "{}: is on {file_system}, which has no device below it that could be measured; name a directory on a disk",
        shown(path)
    )]
    NoDisk {
        /// The directory.
        path: PathBuf,
        /// Its file system.
        file_system: String,
    },
    /// Only the administrator may do this.
    #[error("{what} needs root ({missing}); {remedy}")]
    NeedsRoot {
        /// What was wanted.
        what: &'static str,
        /// The right or the file that is missing.
        missing: String,
        /// What can be done without.
        remedy: &'static str,
    },
    /// tracefs is not where it is usually mounted.
    #[error(
        "tracing needs tracefs, which is not mounted ({}: {source}); mount it (mount -t tracefs tracefs /sys/kernel/tracing), \
         or leave tracing out",
        shown(path)
    )]
    NoTracefs {
        /// Where it was looked for first.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A command that cannot be started.
    #[error(
        "{}: the command cannot be started ({source}); check its name, and that it is executable",
        shown(command)
    )]
    Command {
        /// Its name.
        command: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// No memory cgroup can be made.
    #[error("{0}")]
    Group(String),
    /// Something of the kernel's own cannot be read or written.
    #[error("{}: cannot be {doing} ({source})", shown(path))]
    System {
        /// The file of /proc or /sys.
        path: PathBuf,
        /// "read" or "written".
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The watcher stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interrupted> for ProbeError {
    fn from(Interrupted: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// A file that could not be looked at or changed, while others could.
#[derive(Debug)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// The trouble with it.
    pub trouble: Trouble,
}

/// The trouble with one file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// There is nothing under this name.
    #[error("there is no such file or directory; check the name")]
    Missing,
    /// It cannot be opened.
    #[error("permission denied; become its owner or root, or ask for the right to read it")]
    NotAllowed,
    /// The kernel keeps residency from those who may not write (`can_do_mincore`, mm/mincore.c, Linux 5.2;
    /// `can_do_cachestat`, mm/filemap.c).
    #[error(
        "the kernel says what is cached only to the owner and to those who may write; become one of them or root"
    )]
    NotTold,
    /// Dropped, but whether it is gone is kept from us as well.
    #[error(
        "was dropped but is not verified: the kernel says what is cached only to the owner and to those who may write"
    )]
    NotVerified,
    /// Symbolic links that lead to themselves.
    #[error("too many symbolic links; they lead back to themselves")]
    LinkLoop,
    /// A name or a path that is too long for the kernel.
    #[error("the path is too long for the kernel; go to a directory on the way and start from there")]
    TooLong,
    /// Neither a file nor a directory.
    #[error("is a {0}; only files and block devices are in the page cache")]
    NotAFile(&'static str),
    /// proc, sysfs and the like.
    #[error("is on {0}, whose files are made up when they are read and are never in the page cache")]
    MadeUp(String),
    /// It became shorter while it was worked on.
    #[error("was truncated from {from} to {to} meanwhile; run it again when nobody writes it")]
    Truncated {
        /// The size at the start.
        from: Bytes,
        /// The size at the end.
        to: Bytes,
    },
    /// Data that could not be written back.
    #[error("cannot be made durable ({0}); look at the disk and at the kernel's log")]
    NotDurable(io::Error),
    /// The watcher stopped the work; nobody sees this.
    #[error("interrupted")]
    Stopped,
    /// A file or something else where a directory is wanted.
    #[error("is no directory; name one on the disk to be measured")]
    NoFolder,
    /// A directory in which nothing can be made.
    #[error("cannot be written to ({0}); choose another directory, or become its owner")]
    NotWritable(io::Error),
    /// Anything else that the kernel said.
    #[error("{doing} failed ({source})")]
    Failed {
        /// The system call.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
}

impl Trouble {
    /// Returns the meaning of a kernel error for a file.
    #[must_use]
    pub fn new(doing: &'static str, source: io::Error) -> Self {
        match source.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) => Self::Missing,
            Some(libc::EACCES) => Self::NotAllowed,
            Some(libc::ELOOP) => Self::LinkLoop,
            Some(libc::ENAMETOOLONG) => Self::TooLong,
            _ => Self::Failed { doing, source },
        }
    }

    /// True if the file is simply not there any more.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

/// A path as text; bytes that are no UTF-8 and control characters become `\xe9`, so that nothing is lost and no terminal is
/// confused.
#[must_use]
pub fn shown(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            match character.is_control() {
                true => text.extend(character.escape_default()),
                false => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("a string takes everything");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_no_text_is_shown_without_loss() {
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/data/caf\xe9\n\x1b[1m"));
        assert_eq!(shown(path), r"/data/caf\xe9\n\u{1b}[1m");
        assert_eq!(shown(Path::new("/data/café")), "/data/café");
    }

    #[test]
    fn errors_of_the_kernel_become_causes() {
        let trouble = |number| Trouble::new("open", io::Error::from_raw_os_error(number));
        assert!(trouble(libc::ENOENT).is_missing());
        assert!(matches!(trouble(libc::EACCES), Trouble::NotAllowed));
        assert!(matches!(trouble(libc::ELOOP), Trouble::LinkLoop));
        assert_eq!(trouble(libc::EIO).to_string(), "open failed (Input/output error (os error 5))");
    }
}
