//! Words the failure of a process: the operation, the process, the time and the reason.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pagecast_core::error::{Blame, SimulationError};
use pagecast_core::units::Bytes;
use pagecast_core::workload::{Action, Fd, OpenFlag};

use super::{Done, Handle, Runner};
use crate::io::{Cause, Failure, Offsets, Streams, Transfer};
use crate::run::error::{RunError, blame};
use crate::run::gate::Stopped;
use crate::run::plan::Step;

/// What most disks read or write at least (`queue/logical_block_size`), for the message.
const LOGICAL_BLOCK: Bytes = Bytes(512);

/// The reason for which a process did not end properly.
#[derive(Debug)]
pub(in crate::run) enum Halt {
    Stopped,
    Failed(Box<RunError>),
}

impl From<Stopped> for Halt {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

impl<I: Streams> Runner<'_, I> {
    /// A transfer has not moved all of its bytes.
    pub(super) fn not_moved(
        &self,
        step: &Step,
        handle: &Handle<I::File>,
        what: &Transfer<'_>,
        failure: Failure,
    ) -> Halt {
        match failure.cause {
            Cause::Stopped => Halt::Stopped,
            // It became shorter meanwhile.
            Cause::EndOfFile => match self.length(step, handle) {
                Ok(length) => {
                    let Offsets::From(offset) = what.offsets else { unreachable!("a run gives no list") };
                    self.beyond_end(step, &Done { offset, bytes: what.bytes, ..Done::default() }, length)
                }
                Err(halt) => halt,
            },
            Cause::Failed(error) => match error.raw_os_error() {
                Some(libc::EINVAL) if handle.flags.is_direct() => self.unaligned(step, what),
                Some(libc::EOPNOTSUPP) if handle.flags.has(OpenFlag::DontCache) => self.not_supported(step),
                _ => self.failed(step, error),
            },
        }
    }

    /// Nobody has opened the descriptor of a step, or it is closed again.
    pub(super) fn not_open(&self, step: &Step, fd: Fd) -> Halt {
        let (at, operation) = (self.blame(step), step.operation.action.name());
        let path = self.path(step).expect("a descriptor is a file's");
        self.workload(SimulationError::NotOpen { at, operation, path, fd: fd.0 })
    }

    /// The path of the file that a step is about, if it is about one.
    pub(super) fn path(&self, step: &Step) -> Option<Arc<str>> {
        step.file.as_ref().map(|file| file.path.clone())
    }

    /// Where the scenario says it, of which process it is, and what time it is for that.
    pub(super) fn blame(&self, step: &Step) -> Blame {
        blame(&self.shared.plan.origin, &self.process.name, step.operation.line, self.now())
    }

    /// The file ends before what is read of it.
    pub(super) fn beyond_end(&self, step: &Step, wanted: &Done, size: u64) -> Halt {
        self.workload(SimulationError::BeyondEnd {
            at: self.blame(step),
            path: self.path(step).expect("a read has a file"),
            offset: wanted.offset,
            bytes: Bytes(wanted.bytes),
            size: Bytes(size),
        })
    }

    /// The device takes whole blocks only, at places that are multiples of one.
    fn unaligned(&self, step: &Step, what: &Transfer<'_>) -> Halt {
        let Offsets::From(offset) = what.offsets else { unreachable!("a run gives no list") };
        self.workload(SimulationError::Unaligned {
            at: self.blame(step),
            operation: step.operation.action.name(),
            path: self.path(step).expect("a transfer has a file"),
            offset,
            bytes: Bytes(what.bytes),
            call: Bytes(what.call.get().min(what.bytes)),
            vector: match step.operation.action {
                Action::Read { vector, .. } | Action::Write { vector, .. } => vector,
                _ => 1,
            },
            block: LOGICAL_BLOCK,
        })
    }

    /// This kernel, or this file system, does not know a flag.
    fn not_supported(&self, step: &Step) -> Halt {
        self.workload(SimulationError::NotSupported {
            at: self.blame(step),
            operation: step.operation.action.name(),
            path: self.path(step).expect("a transfer has a file"),
            kernel: release(),
        })
    }

    /// A system call has failed; that a file is not there is told as a simulation tells it.
    pub(super) fn failed(&self, step: &Step, source: io::Error) -> Halt {
        let (operation, at, path) = (step.operation.action.name(), self.blame(step), self.path(step));
        match (source.kind(), path) {
            (io::ErrorKind::NotFound, Some(path)) => {
                self.workload(SimulationError::NoSuchFile { at, operation, path })
            }
            (_, path) => self.halt(RunError::Call { at, operation, path, source }),
        }
    }

    /// The program asks for what cannot be.
    pub(super) fn workload(&self, error: SimulationError) -> Halt {
        self.halt(error.into())
    }

    /// This process ends here, and with it all others.
    pub(super) fn halt(&self, error: RunError) -> Halt {
        // The others need not wait until this one is gone. What fails after a stop fails because of it.
        match self.shared.gate.stop.swap(true, Ordering::Relaxed) {
            true => Halt::Stopped,
            false => Halt::Failed(Box::new(error)),
        }
    }
}

/// Returns the kernel's release.
fn release() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}
