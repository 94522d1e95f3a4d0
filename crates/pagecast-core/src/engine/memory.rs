//! Books anonymous memory of processes when it is taken, and refuses it if a host or a memory cgroup has no more.

use super::Engine;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::policy::{Call, OperationId, Request};
use crate::units::Bytes;
use crate::workload::Operation;

/// How many holders of memory an error names.
const HOLDERS: usize = 3;

impl<N: Network> Engine<'_, N> {
    /// A process gives memory back, all that it holds if it does not say how much.
    pub(super) fn free(
        &mut self,
        at: u32,
        operation: Operation,
        bytes: Option<Bytes>,
    ) -> Result<(), SimulationError> {
        let process = &mut self.processes[at as usize];
        let bytes = bytes.map_or(process.anonymous, |bytes| bytes.0.min(process.anonymous));
        process.anonymous -= bytes;
        self.give_memory_back(at, bytes);
        self.enter(at, operation, None, 0, Bytes(bytes));
        self.call(at, Call::Free { bytes: Bytes(bytes), owner: OperationId(at) })
    }

    /// A process that has exited gives its memory back.
    pub(super) fn free_unasked(&mut self, host: u32, at: u32, bytes: u64) -> Result<(), SimulationError> {
        self.give_memory_back(at, bytes);
        let call = Call::Free { bytes: Bytes(bytes), owner: OperationId(at) };
        self.request(host, &Request { operation: OperationId::NOBODY, call })
    }

    /// Books anonymous memory of a process.
    pub(super) fn take_memory(
        &mut self,
        at: u32,
        bytes: Bytes,
        line: Option<u32>,
    ) -> Result<(), SimulationError> {
        let host = self.processes[at as usize].host as usize;
        let size = self.scenario.machine.hosts[host].memory.size;
        let most = self.hosts[host].policy.most_anonymous().unwrap_or(size);
        if self.hosts[host].anonymous + bytes.0 > most.0 {
            return Err(self.out_of_memory(at, bytes, line, most));
        }
        if let Some(cgroup) = self.scenario.processes[at as usize].cgroup {
            self.take_memory_of_cgroup(at, bytes, line, cgroup)?;
        }
        self.hosts[host].anonymous += bytes.0;
        self.processes[at as usize].anonymous += bytes.0;
        Ok(())
    }

    fn out_of_memory(&self, at: u32, needed: Bytes, line: Option<u32>, most: Bytes) -> SimulationError {
        let host = self.processes[at as usize].host;
        let machine = &self.scenario.machine.hosts[host as usize];
        SimulationError::OutOfMemory {
            at: self.blame(at, line),
            whose: format!("host `{}`", machine.name),
            needed,
            size: machine.memory.size,
            kept: machine.memory.size.saturating_sub(most),
            held: self.held(self.hosts[host as usize].anonymous, |other| self.processes[other].host == host),
        }
    }

    /// Books anonymous memory of a process in a memory cgroup. Page cache of the group makes room for it.
    fn take_memory_of_cgroup(
        &mut self,
        at: u32,
        bytes: Bytes,
        line: Option<u32>,
        cgroup: usize,
    ) -> Result<(), SimulationError> {
        let host = self.processes[at as usize].host as usize;
        let limit = self.scenario.machine.hosts[host].cgroups[cgroup].limit.bytes();
        if self.hosts[host].anonymous_of_cgroups[cgroup] + bytes.0 > limit.0 {
            return Err(self.out_of_memory_in_cgroup(at, bytes, line, cgroup));
        }
        self.hosts[host].anonymous_of_cgroups[cgroup] += bytes.0;
        Ok(())
    }

    /// Refuses bytes of a file where all that a host can give, or a memory cgroup may have, is anonymous: not a page of them could be had.
    pub(super) fn check_has_room(
        &self,
        at: u32,
        bytes: Bytes,
        line: Option<u32>,
    ) -> Result<(), SimulationError> {
        let state = &self.hosts[self.processes[at as usize].host as usize];
        if let Some(most) = state.policy.most_anonymous().filter(|most| state.anonymous >= most.0) {
            return Err(self.out_of_memory(at, bytes, line, most));
        }
        let Some((host, cgroup)) = self.cgroup_of(at as usize) else { return Ok(()) };
        let limit = self.scenario.machine.hosts[host as usize].cgroups[cgroup].limit.bytes();
        match self.hosts[host as usize].anonymous_of_cgroups[cgroup] < limit.0 {
            true => Ok(()),
            false => Err(self.out_of_memory_in_cgroup(at, bytes, line, cgroup)),
        }
    }

    fn out_of_memory_in_cgroup(
        &self,
        at: u32,
        needed: Bytes,
        line: Option<u32>,
        cgroup: usize,
    ) -> SimulationError {
        let host = self.processes[at as usize].host;
        let machine = &self.scenario.machine.hosts[host as usize];
        let (name, limit) = (&machine.cgroups[cgroup].name, machine.cgroups[cgroup].limit);
        SimulationError::OutOfMemory {
            at: self.blame(at, line),
            whose: format!("cgroup `{name}` on host `{}` ({})", machine.name, limit.file()),
            needed,
            size: limit.bytes(),
            kept: Bytes::ZERO,
            held: self.held(self.hosts[host as usize].anonymous_of_cgroups[cgroup], |other| {
                self.cgroup_of(other) == Some((host, cgroup))
            }),
        }
    }

    /// The host and the memory cgroup of it that a process is in, if it is in one.
    fn cgroup_of(&self, at: usize) -> Option<(u32, usize)> {
        Some((self.processes[at].host, self.scenario.processes[at].cgroup?))
    }

    /// Anonymous memory of a process is no more booked.
    fn give_memory_back(&mut self, at: u32, bytes: u64) {
        let host = &mut self.hosts[self.processes[at as usize].host as usize];
        host.anonymous -= bytes;
        if let Some(cgroup) = self.scenario.processes[at as usize].cgroup {
            host.anonymous_of_cgroups[cgroup] -= bytes;
        }
    }

    /// How much anonymous memory some processes hold, and which of them most.
    fn held(&self, bytes: u64, is_asked_for: impl Fn(usize) -> bool) -> String {
        let processes = self.processes.iter().enumerate();
        let mut holders: Vec<(u64, &str)> = processes
            .filter(|&(at, process)| process.anonymous > 0 && is_asked_for(at))
            .map(|(_, process)| (process.anonymous, &*process.name))
            .collect();
        if holders.is_empty() {
            return "no process holds any".to_owned();
        }
        holders.sort_by_key(|&(bytes, name)| (std::cmp::Reverse(bytes), name));
        let more = holders.len().saturating_sub(HOLDERS);
        let mut shown: Vec<String> =
            holders.iter().take(HOLDERS).map(|&(bytes, name)| format!("`{name}` {}", Bytes(bytes))).collect();
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        format!("the processes hold {} ({})", Bytes(bytes), shown.join(", "))
    }
}
