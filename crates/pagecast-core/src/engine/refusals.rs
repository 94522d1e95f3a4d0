//! Refuses calls that break a rule of their flags, as Linux does. The rules are those of `fs::span`.

use super::Engine;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::{Located, Span, takes_dontcache};
use crate::machine::MountSource;
use crate::units::Bytes;
use crate::workload::{Action, Operation};

impl<N: Network> Engine<'_, N> {
    /// Refuses calls that are not whole blocks, as with EINVAL.
    pub(super) fn check_aligned(
        &self,
        at: u32,
        operation: &Operation,
        located: Located,
        span: &Span,
    ) -> Result<(), SimulationError> {
        let Some(block) = self.block_of_direct_io(at, located) else { return Ok(()) };
        if span.is_aligned(&operation.action, block) {
            return Ok(());
        }
        let (Action::Read { vector, .. } | Action::Write { vector, .. }) = operation.action else {
            unreachable!("only reads and writes move bytes")
        };
        Err(SimulationError::Unaligned {
            at: self.blame(at, operation.line),
            operation: operation.action.name(),
            path: operation.action.path().expect("reads and writes have a path").clone(),
            offset: span.offset,
            bytes: span.bytes,
            call: span.piece,
            vector,
            block,
        })
    }

    /// The logical block of the disk of a file; none for another host's, which takes any bytes.
    fn block_of_direct_io(&self, at: u32, located: Located) -> Option<Bytes> {
        let host = &self.scenario.machine.hosts[self.processes[at as usize].host as usize];
        match host.mounts[located.mount as usize].source {
            MountSource::Disk(disk) => Some(host.disks[disk].logical_block_size),
            MountSource::Nfs { .. } => None,
        }
    }

    /// Refuses calls with RWF_DONTCACHE where the file system does not take it, as with EOPNOTSUPP.
    pub(super) fn check_dontcache(
        &self,
        at: u32,
        operation: &Operation,
        located: Located,
    ) -> Result<(), SimulationError> {
        let host = &self.scenario.machine.hosts[self.processes[at as usize].host as usize];
        if takes_dontcache(host, &host.mounts[located.mount as usize]) {
            return Ok(());
        }
        let (major, minor) = host.kernel.version;
        Err(SimulationError::NotSupported {
            at: self.blame(at, operation.line),
            operation: operation.action.name(),
            path: operation.action.path().expect("reads and writes have a path").clone(),
            kernel: format!("{major}.{minor}"),
        })
    }
}
