//! Steps operations on a file system as a whole, and a program's advice on a file.

use std::sync::Arc;

use super::Engine;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::Located;
use crate::policy::{Call, Outcome};
use crate::units::Bytes;
use crate::workload::{Advice, Operation};

impl<N: Network> Engine<'_, N> {
    /// What a path means to a process.
    pub(super) fn locate(
        &mut self,
        at: u32,
        line: Option<u32>,
        path: &Arc<str>,
    ) -> Result<Located, SimulationError> {
        let host = self.processes[at as usize].host as usize;
        self.namespace.locate(host, path).map_err(|_| {
            let blame = self.blame(at, line);
            let who = format!("process `{}` uses", blame.process);
            SimulationError::no_mount(&self.scenario.machine, host, path, blame.place, who)
        })
    }

    /// Writes all dirty pages of the device below the mount of a path.
    pub(super) fn sync_file_system(
        &mut self,
        at: u32,
        operation: Operation,
        path: &Arc<str>,
    ) -> Result<(), SimulationError> {
        let located = self.locate(at, operation.line, path)?;
        let device = self.view(self.processes[at as usize].host as usize, located).device;
        self.enter(at, operation, None, 0, Bytes::ZERO);
        self.call(at, Call::SyncFs { device })
    }

    /// Tells the policy how a process uses some bytes of a file.
    pub(super) fn advise(
        &mut self,
        at: u32,
        operation: Operation,
        located: Located,
        advice: Advice,
        (offset, bytes): (u64, Bytes),
    ) -> Result<(), SimulationError> {
        let host = self.processes[at as usize].host as usize;
        self.enter(at, operation, Some(located), 0, Bytes::ZERO);
        if advice != Advice::DontNeed && self.remote_chunk(host, located).is_some() {
            // Files of other hosts come in chunks, whatever is said.
            return self.end_operation(at, Outcome::default());
        }
        let file = self.view(host, located);
        self.call(at, Call::Advise { file, advice, offset, bytes })
    }
}
