//! RWF_DONTCACHE, which a kernel may have and a file system may take.
//!
//! Source: `include/linux/fs.h: kiocb_set_rw_flags`, Linux 6.14; ext4 takes it since 6.17, XFS and Btrfs since 6.14.

use super::Engine;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::Located;
use crate::machine::{FileSystem, MountSource};
use crate::workload::Operation;

impl<N: Network> Engine<'_, N> {
    /// Refuses calls with a flag that the file system does not take, as with EOPNOTSUPP.
    pub(super) fn check_dontcache(
        &self,
        at: u32,
        operation: &Operation,
        located: Located,
    ) -> Result<(), SimulationError> {
        let host = &self.scenario.machine.hosts[self.processes[at as usize].host as usize];
        let mount = &host.mounts[located.mount as usize];
        let is_local = matches!(mount.source, MountSource::Disk(_));
        let since = since(mount.file_system).filter(|_| is_local);
        if since.is_some_and(|since| host.kernel.version >= since) {
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

/// The first kernel whose driver of a file system takes it; none that is known.
fn since(file_system: FileSystem) -> Option<(u32, u32)> {
    match file_system {
        FileSystem::Ext4 | FileSystem::Ext3 => Some((6, 17)),
        FileSystem::Xfs | FileSystem::Btrfs => Some((6, 14)),
        FileSystem::F2fs | FileSystem::Other => None,
    }
}
