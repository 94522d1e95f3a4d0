//! Gives each system call its meaning: operations on files, a child, or time that passes.

mod attributes;
mod names;
mod opening;
mod transfers;

use std::sync::Arc;

pub use self::opening::close;
use super::arguments::{Arguments, Number, has_flag};
use super::line::Call;
use super::order::Key;
use super::recording::Recording;
use crate::trace::TraceError;
use crate::units::Nanos;
use crate::workload::{Action, CopyBy, Fd};

/// What a call does, beside its operations.
pub enum Meaning {
    /// It takes the recorded time.
    Recorded,
    /// It takes the time of its operations.
    Forecast,
    /// It takes the recorded time, but not more than this, and that of its operations.
    Partly(Nanos),
    /// A child or a thread.
    Made {
        /// Its number.
        child: u32,
        /// Whether they share descriptors.
        shares_files: bool,
        /// Whether the parent waits until the child executes a program (vfork).
        waits_for_it: bool,
    },
    /// It has waited for the end of a child or thread.
    Reaped {
        /// Its number.
        child: u32,
    },
    /// Another program.
    Executes {
        /// Its name.
        name: Arc<str>,
    },
}

/// Operations, each with the open file that it goes through, and the recorded time of an earlier call that it stands for.
pub type Operations = Vec<(Action, Option<Fd>, Nanos)>;

/// The meaning of a call, if nothing fails.
type Done = Result<Meaning, TraceError>;

/// True if a call makes a child.
pub fn makes_child(name: &str) -> bool {
    matches!(name, "clone" | "clone3" | "fork" | "vfork")
}

/// Whether a child shares descriptors with its parent, and whether that waits until it executes a program; from the name and the arguments
/// of the call.
pub fn how_made(text: &str) -> (bool, bool) {
    let waits_for_it = text.starts_with("vfork(") || has_flag(text, "CLONE_VFORK");
    (has_flag(text, "CLONE_FILES"), waits_for_it)
}

/// The meaning of a call of a thread; its operations are added. One that has failed has none.
///
/// # Errors
/// If there are too many paths or open files.
pub fn meaning(
    recording: &mut Recording<'_>,
    pid: u32,
    call: &Call<'_>,
    operations: &mut Operations,
) -> Done {
    let Some(returned) = call.number() else {
        if matches!(call.name, "exit" | "exit_group") {
            recording.threads.of(pid).is_exiting = true;
        }
        return Ok(Meaning::Recorded);
    };
    let table = recording.threads.of(pid).table;
    let arguments = Arguments::of(call.arguments);
    let mut on = On { recording, pid, table, operations, returned, call, arguments };
    match call.name {
        "read" | "readv" => on.transfer(None, false),
        "pread64" | "pread" | "preadv" | "preadv2" => on.transfer(arguments.number(3), false),
        "write" | "writev" => on.transfer(None, true),
        "pwrite64" | "pwrite" | "pwritev" | "pwritev2" => on.transfer(arguments.number(3), true),
        "sendfile" | "sendfile64" => on.copy((1, 2), (0, usize::MAX), Some(CopyBy::Sendfile)),
        "copy_file_range" => on.copy((0, 1), (2, 3), Some(CopyBy::CopyFileRange)),
        "splice" => on.copy((0, 1), (2, 3), None),
        name if makes_child(name) => Ok(on.made()),
        "wait4" | "waitpid" => Ok(on.reaped(returned as u32)),
        "waitid" => Ok(on.waited()),
        "futex" => Ok(on.joined()),
        "execve" | "execveat" => Ok(on.executes()),
        "io_submit" | "io_uring_enter" => {
            Ok(on.unknown("calls of libaio or io_uring, whose reads and writes strace does not show"))
        }
        "chroot" | "pivot_root" => {
            Ok(on.unknown("changes of the root directory: later paths are as written"))
        }
        name => match on.opening(name)? {
            Some(meaning) => Ok(meaning),
            None => match on.names(name)? {
                Some(meaning) => Ok(meaning),
                None => on.attributes(name),
            },
        },
    }
}

/// A call with what it changes.
struct On<'r, 't, 'a, 'c> {
    recording: &'r mut Recording<'t>,
    pid: u32,
    table: usize,
    operations: &'r mut Operations,
    returned: u64,
    call: &'c Call<'a>,
    arguments: Arguments<'a>,
}

/// An open file of a disk.
struct Through {
    number: u32,
    path: Arc<str>,
    key: Key,
    position: u64,
    appends: bool,
    is_renamed: bool,
}

impl On<'_, '_, '_, '_> {
    fn push(&mut self, action: Action, fd: Option<u32>) {
        self.operations.push((action, fd.map(Fd), Nanos::ZERO));
    }

    fn unknown(&mut self, what: &'static str) -> Meaning {
        self.recording.noted.unknown(what);
        Meaning::Recorded
    }

    fn path(&mut self, directory: Option<Number<'_>>, at: usize) -> Result<Option<Arc<str>>, TraceError> {
        let Some(text) = self.arguments.string(at) else { return Ok(None) };
        let absolute = self.recording.files.absolute(self.table, directory, &text);
        self.recording.name(&absolute).map(Some)
    }

    fn made(&self) -> Meaning {
        let child = self.returned as u32;
        let (shares_files, waits_for_it) = how_made(self.call.arguments);
        let waits_for_it = waits_for_it || self.call.name == "vfork";
        if child == 0 { Meaning::Recorded } else { Meaning::Made { child, shares_files, waits_for_it } }
    }

    fn waited(&self) -> Meaning {
        let has_ended =
            ["CLD_EXITED", "CLD_KILLED", "CLD_DUMPED"].iter().any(|code| self.arguments.has(2, code));
        match self.arguments.field(2, "si_pid").and_then(|child| child.try_into().ok()) {
            Some(child) if has_ended => self.reaped(child),
            _ => Meaning::Recorded,
        }
    }

    /// pthread_join(3) waits until the kernel has cleared the number of a thread that ends (glibc, `nptl/pthread_join_common.c`).
    fn joined(&mut self) -> Meaning {
        let waits = self.arguments.text(1).starts_with("FUTEX_WAIT");
        let Some(other) = self.arguments.number(2).filter(|_| waits) else { return Meaning::Recorded };
        let Ok(other) = u32::try_from(other) else { return Meaning::Recorded };
        if other == self.pid { Meaning::Recorded } else { self.reaped(other) }
    }

    /// A wait for a thread that has ended.
    fn reaped(&self, child: u32) -> Meaning {
        let has_ended = match self.recording.threads.get(child) {
            Some(thread) => thread.is_exiting,
            None => self.recording.threads.ended(child).is_some(),
        };
        if has_ended { Meaning::Reaped { child } } else { Meaning::Recorded }
    }

    fn executes(&mut self) -> Meaning {
        let path = self.arguments.string(usize::from(self.call.name == "execveat")).unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        Meaning::Executes { name: name.replace(char::is_control, "?").into() }
    }
}
