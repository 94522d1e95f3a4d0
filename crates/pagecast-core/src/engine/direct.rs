//! What O_DIRECT asks of calls: whole blocks of the device, from one of its blocks on.
//!
//! Source: `fs/iomap/direct-io.c: iomap_dio_bio_iter, iomap_dio_complete`, `fs/nfs/direct.c`, Linux 6.16: ext4 and XFS refuse what is not
//! aligned; a read may reach beyond the end of its file, and gets what is there. Left out: the alignment of the memory, and
//! file systems that send such a call through the page cache instead (btrfs, F2FS).

use super::Engine;
use super::operations::Span;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::Located;
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
        let (bytes, call) = match operation.action {
            // Who reads up to the end asks for the whole of the last block.
            Action::Read { bytes: None, call, .. } => (block, call.unwrap_or(block)),
            Action::Read { bytes: Some(bytes), call, .. } | Action::Write { bytes, call, .. } => {
                (bytes, call.map_or(bytes, |call| call.min(bytes)))
            }
            _ => unreachable!("only reads and writes move bytes"),
        };
        // In memory, too, each place has whole blocks.
        let (Action::Read { vector, .. } | Action::Write { vector, .. }) = operation.action else {
            unreachable!("only reads and writes move bytes")
        };
        let place = if vector > 1 { span.piece.0.div_ceil(vector.into()) } else { block.0 };
        if [span.offset, bytes.0, call.0, place].iter().all(|each| each.is_multiple_of(block.0)) {
            return Ok(());
        }
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
}

impl Span {
    /// What is there of these bytes, if the file ends within the last call.
    pub(super) fn up_to_end(self, size: Bytes) -> Self {
        let Self { offset, bytes, piece } = self;
        let before_last = bytes.0.saturating_sub(1) / piece.0.max(1) * piece.0;
        if offset.saturating_add(before_last) >= size.0 {
            return self;
        }
        let bytes = bytes.min(Bytes(size.0 - offset));
        Self { offset, bytes, piece: piece.min(bytes) }
    }
}
