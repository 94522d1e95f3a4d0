//! Steps reading and writing through mappings, and msync(2).
//!
//! Source: `mm/mmap.c`, `mm/filemap.c: filemap_fault`, `mm/msync.c`, Linux 6.16. A mapping ends at the end of its file: a touch behind it
//! gets SIGBUS. The flags of the open file make no difference to it, as O_DIRECT, O_SYNC and O_APPEND are about calls. Left out: private
//! mappings, and the cost of mapping and unmapping a file that stays mapped.

use super::run::Engine;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::fs::Span;
use crate::policy::{Call, OperationId, Outcome, Refusal};
use crate::units::Bytes;
use crate::workload::{MappedCall, OpenFlags, Operation};

const NO_REMOTE: Refusal = Refusal {
    what: "does not know how another host's file is written through a mapping",
    remedy: "write it with `write`, or let the process run on the server",
};

const NO_STRIPES: Refusal = Refusal {
    what: "does not know how a file of a striped mount is mapped",
    remedy: "use `read`, `write` and `fsync`",
};

impl<N: Network> Engine<'_, N> {
    pub(super) fn begin_on_mapping(
        &mut self,
        at: u32,
        operation: Operation,
        call: MappedCall,
    ) -> Result<(), SimulationError> {
        let line = operation.line;
        let located = self.caller(at).file_of(&operation.action);
        let located = self.blamed(at, line, located)?;
        if self.caller(at).is_striped(located) {
            self.enter(at, operation, Some(located), 0, Bytes::ZERO);
            return Err(self.refused(OperationId(at), NO_STRIPES));
        }
        let file = self.caller(at).view(located);
        let (offset, bytes) = call.part();
        let bytes = bytes.unwrap_or(file.size.saturating_sub(Bytes(offset)));
        let (advice, writes) = match call {
            MappedCall::Map | MappedCall::Unmap => {
                let process = &mut self.processes[at as usize];
                match call {
                    MappedCall::Map => process.mappings.insert(located.file, (process.operations, file.size)),
                    _ => process.mappings.remove(&located.file),
                };
                self.enter(at, operation, Some(located), 0, Bytes::ZERO);
                return self.end_operation(at, Outcome::default());
            }
            MappedCall::Read { advice, .. } => (advice, false),
            MappedCall::Write { advice, .. } => (advice, true),
            MappedCall::Sync { is_async, .. } => {
                self.enter(at, operation, Some(located), 0, Bytes::ZERO);
                return match is_async {
                    true => self.end_operation(at, Outcome::default()),
                    false => self.call(at, Call::FsyncRange { file, offset, bytes }),
                };
            }
        };
        if offset.saturating_add(bytes.0) > file.size.0 {
            return Err(SimulationError::beyond_mapping(
                self.blame(at, line),
                &operation.action,
                (offset, bytes, file.size),
            ));
        }
        let has_room = self.caller(at).check_room(bytes, Bytes::ZERO);
        self.blamed(at, line, has_room)?;
        self.enter(at, operation, Some(located), offset, bytes);
        let span = Span { offset, bytes, piece: bytes };
        let caller = self.caller(at);
        match (caller.chunk(located).is_some(), writes) {
            (true, true) => Err(self.refused(OperationId(at), NO_REMOTE)),
            (true, false) => {
                let wants = caller.read(located, &span, OpenFlags::default(), false);
                self.ask(at, wants)
            }
            (false, true) if caller.files.writes_through(located.file) => {
                let wants = caller.write(located, &span, OpenFlags::default());
                self.ask(at, wants)
            }
            (false, _) => {
                let mapping = self.processes[at as usize].mappings.get(&located.file);
                let mapping =
                    mapping.filter(|(_, size)| offset + bytes.0 <= size.0).map(|&(number, _)| number);
                self.call(at, Call::Mapped { file, offset, bytes, writes, advice, mapping })
            }
        }
    }
}
