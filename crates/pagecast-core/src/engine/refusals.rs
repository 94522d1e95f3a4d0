//! Names the process, the time and the line of a system call that is refused.

use super::run::Engine;
use crate::calls::CallError;
use crate::error::{Blame, SimulationError};
use crate::flow::Network;
use crate::fs::Span;
use crate::units::Bytes;

/// How many holders of memory an error names.
const HOLDERS: usize = 3;

impl<N: Network> Engine<'_, N> {
    /// Puts the process and the line into the error of a call.
    pub(super) fn blamed<T>(
        &self,
        at: u32,
        line: Option<u32>,
        result: Result<T, CallError>,
    ) -> Result<T, SimulationError> {
        result.map_err(|error| self.call_failed(at, line, error))
    }

    pub(super) fn call_failed(&self, at: u32, line: Option<u32>, error: CallError) -> SimulationError {
        let blame = self.blame(at, line);
        match error {
            CallError::NoMount { path } => {
                let host = self.processes[at as usize].host as usize;
                let who = format!("process `{}` uses", blame.process);
                SimulationError::no_mount(&self.scenario.machine.hosts[host], &path, blame.place, who)
            }
            CallError::NoSuchFile { operation, path } => {
                SimulationError::NoSuchFile { at: blame, operation, path }
            }
            CallError::NotOpen { operation, path, fd } => {
                SimulationError::NotOpen { at: blame, operation, path, fd: fd.0 }
            }
            CallError::NoDescriptor { operation } => SimulationError::NoDescriptor { at: blame, operation },
            CallError::Exists { operation, path } => SimulationError::Exists { at: blame, operation, path },
            CallError::OtherMount { operation, path, to } => {
                SimulationError::OtherMount { at: blame, operation, path, to }
            }
            CallError::BeyondEnd { path, span: Span { offset, bytes, .. }, size } => {
                SimulationError::BeyondEnd { at: blame, path, offset, bytes, size }
            }
            CallError::Unaligned { operation, path, span, vector, block } => {
                let Span { offset, bytes, piece: call } = span;
                SimulationError::Unaligned { at: blame, operation, path, offset, bytes, call, vector, block }
            }
            CallError::NotSupported { operation, path, kernel } => {
                SimulationError::NotSupported { at: blame, operation, path, kernel }
            }
            CallError::DiskFull { needed, disk: (host, disk), used, .. } => {
                let host = &self.scenario.machine.hosts[host];
                let (disk, size) = host.room_of(disk);
                SimulationError::DiskFull {
                    place: blame.place,
                    who: format!("process `{}`", blame.process),
                    disk: disk.to_owned(),
                    host: host.name.clone(),
                    needed,
                    size,
                    used,
                }
            }
            CallError::OutOfMemory { needed, most, held, cgroup } => {
                self.out_of_memory(at, blame, (needed, most, held), cgroup)
            }
        }
    }

    fn out_of_memory(
        &self,
        at: u32,
        blame: Blame,
        (needed, most, held): (Bytes, Bytes, Bytes),
        cgroup: Option<usize>,
    ) -> SimulationError {
        let host = self.processes[at as usize].host;
        let (machine, anonymous) =
            (&self.scenario.machine.hosts[host as usize], &self.hosts[host as usize].anonymous);
        let (whose, size, kept, booked) = match cgroup {
            None => {
                let kept = machine.memory.size.saturating_sub(most);
                (format!("host `{}`", machine.name), machine.memory.size, kept, anonymous.all)
            }
            Some(cgroup) => {
                let (name, limit) = (&machine.cgroups[cgroup].name, machine.cgroups[cgroup].limit);
                let whose = format!("cgroup `{name}` on host `{}` ({})", machine.name, limit.file());
                (whose, most, Bytes::ZERO, anonymous.of_cgroups[cgroup])
            }
        };
        let is_asked_for = |other: usize| {
            let is_in_group = cgroup.is_none() || self.scenario.processes[other].cgroup == cgroup;
            self.processes[other].host == host && is_in_group
        };
        // With what the process has just been given.
        let given = held - booked;
        let of = |other: usize| {
            let own = self.processes[other].task.anonymous;
            if other == self.owner(at) as usize { own + given } else { own }
        };
        let holders = (0..self.scenario.processes.len())
            .filter(|&other| is_asked_for(other))
            .map(|other| (of(other), &*self.processes[other].name));
        let held = in_words(held, holders.filter(|&(bytes, _)| bytes > Bytes::ZERO).collect());
        SimulationError::OutOfMemory { at: blame, whose, needed, size, kept, held }
    }
}

/// How much anonymous memory processes hold, and which of them most.
fn in_words(held: Bytes, mut holders: Vec<(Bytes, &str)>) -> String {
    if holders.is_empty() {
        return "no process holds any".to_owned();
    }
    holders.sort_by_key(|&(bytes, name)| (std::cmp::Reverse(bytes), name));
    let more = holders.len().saturating_sub(HOLDERS);
    let mut shown: Vec<String> =
        holders.iter().take(HOLDERS).map(|&(bytes, name)| format!("`{name}` {bytes}")).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    format!("the processes hold {held} ({})", shown.join(", "))
}
