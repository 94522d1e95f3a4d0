//! Plans operations on another host's file, chunk by chunk through both page caches.
//!
//! Source: the published WRENCH-cache outputs of the NFS experiment (Exp 3). A read is a request, then three stages that overlap: the
//! server reads a chunk through its cache, the link carries it, the client puts it into its memory. A write is a request and its answer,
//! then two stages: the link carries a chunk, the server writes it through; at the end an acknowledgement. A stage has one chunk at a time,
//! and at most two chunks wait for the next stage. Every message and chunk waits for the link's latency first. Left out: commits, attribute
//! caches, rsize and wsize, several connections.
//!
//! Time is charged along the critical path: a stage that starts inherits the account of the stage that let it start.

use crate::policy::{FileView, OperationId};
use crate::result::Parts;
use crate::units::Bytes;

/// The stages of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// The messages before.
    Opening,
    /// The server reads it (reads only).
    Source,
    /// The link carries it.
    Link,
    /// The client keeps it, or the server writes it.
    Sink,
    /// The message after (writes only).
    Closing,
}

/// Stages that chunks go through.
const STAGES: [Stage; 3] = [Stage::Source, Stage::Link, Stage::Sink];

/// The bit of operations of transfers; with the next one they belong to the sink.
const SUB: u32 = OperationId::OF_NO_PROCESS;
const SINK: u32 = 1 << 30;

/// Size of a request, an answer or an acknowledgement.
pub(crate) const MESSAGE: u64 = 1024;

/// The direction of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the client.
    Read {
        /// True if they take new anonymous memory of the reader.
        fresh: bool,
    },
    /// To the client, whose page cache does not keep them.
    ReadDirect {
        /// See `Read`.
        fresh: bool,
    },
    /// To the server.
    Write,
}

/// A transfer before it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub operation: OperationId,
    pub direction: Direction,
    pub client: u32,
    pub server: u32,
    /// The link that joins the two, if one does.
    pub link: Option<usize>,
    /// The file as the client sees it, and as the server does.
    pub client_file: FileView,
    pub server_file: FileView,
    pub offset: u64,
    pub bytes: Bytes,
    pub chunk: Bytes,
}

impl Plan {
    pub(crate) fn chunks(&self) -> u32 {
        self.bytes.0.div_ceil(self.chunk.0) as u32
    }

    /// First byte and size of a chunk.
    pub(crate) fn chunk_at(&self, number: u32) -> (u64, Bytes) {
        let before = u64::from(number) * self.chunk.0;
        (self.offset + before, Bytes((self.bytes.0 - before).min(self.chunk.0)))
    }
}

/// The progress of one stage of a transfer.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    started: u32,
    finished: u32,
    /// The account of the stage that let the current chunk start.
    account: Parts,
}

#[derive(Debug)]
struct Transfer {
    plan: Plan,
    stages: [Progress; 3],
    /// The account of the messages under way.
    account: Parts,
    /// The messages still to be sent before the first chunk, with the one under way.
    opening: u32,
}

/// All transfers under way.
#[derive(Debug, Default)]
pub(crate) struct Nfs {
    transfers: Vec<Option<Transfer>>,
}

impl Nfs {
    /// Returns the transfer and stage that an operation of a policy belongs to, if it is not a process's own.
    pub(crate) fn transfer_of(operation: OperationId) -> Option<(u32, Stage)> {
        let stage = if operation.0 & SINK == 0 { Stage::Source } else { Stage::Sink };
        (operation.0 & SUB != 0).then_some((operation.0 & !(SUB | SINK), stage))
    }

    /// Returns the number under which a stage asks a policy.
    pub(crate) fn sub_operation(transfer: u32, stage: Stage) -> OperationId {
        OperationId(SUB | transfer | if stage == Stage::Sink { SINK } else { 0 })
    }

    /// Returns the operation of a process that a transfer is for.
    pub(crate) fn operation(&self, transfer: u32) -> OperationId {
        self.plan(transfer).operation
    }

    pub(crate) fn plan(&self, transfer: u32) -> &Plan {
        &self.get(transfer).plan
    }

    /// True if a transfer has begun and not ended.
    pub(crate) fn is_under_way(&self, transfer: u32) -> bool {
        self.transfers[transfer as usize].is_some()
    }

    fn get(&self, transfer: u32) -> &Transfer {
        self.transfers[transfer as usize].as_ref().expect("only transfers under way are looked up")
    }

    fn get_mut(&mut self, transfer: u32) -> &mut Transfer {
        self.transfers[transfer as usize].as_mut().expect("only transfers under way are looked up")
    }

    /// Begins a transfer of at least one byte.
    pub(crate) fn begin(&mut self, plan: Plan) -> u32 {
        let mut stages = [Progress::default(); 3];
        if plan.direction == Direction::Write {
            stages[0].started = plan.chunks();
            stages[0].finished = plan.chunks();
        }
        let opening = if plan.direction == Direction::Write { 2 } else { 1 };
        let transfer = Transfer { plan, stages, account: Parts::default(), opening };
        let at = self.transfers.iter().position(Option::is_none).unwrap_or(self.transfers.len());
        if at == self.transfers.len() {
            self.transfers.push(None);
        }
        self.transfers[at] = Some(transfer);
        at as u32
    }

    /// Ends the current work of a stage; returns the account up to now.
    pub(crate) fn finished(&mut self, transfer: u32, stage: Stage, parts: &Parts) -> Parts {
        let transfer = self.get_mut(transfer);
        let mut account = match STAGES.iter().position(|&each| each == stage) {
            Some(at) => {
                transfer.stages[at].finished += 1;
                transfer.stages[at].account
            }
            None => transfer.account,
        };
        account.add_all(parts);
        transfer.account = account;
        account
    }

    /// True if what a stage sends goes to the server: requests do, and what is written; replies and what is read come back.
    pub(crate) fn goes_to_server(&self, transfer: u32, stage: Stage) -> bool {
        let transfer = self.get(transfer);
        let is_write = transfer.plan.direction == Direction::Write;
        match stage {
            Stage::Opening => !is_write || transfer.opening == 2,
            Stage::Closing => false,
            Stage::Source | Stage::Link | Stage::Sink => is_write,
        }
    }

    /// True if another message must be sent before the first chunk.
    pub(crate) fn opening_goes_on(&mut self, transfer: u32) -> bool {
        let transfer = self.get_mut(transfer);
        transfer.opening -= 1;
        transfer.opening > 0
    }

    /// The next stage that can start, and with which chunk; it counts as started.
    pub(crate) fn start_next(&mut self, transfer: u32, account: Parts) -> Option<(Stage, u32)> {
        let transfer = self.get_mut(transfer);
        let chunks = transfer.plan.chunks();
        // The link first: whoever asks for a chunk does so before it goes on with its own.
        for at in [1, 2, 0] {
            let chunk = transfer.stages[at].started;
            let idle = transfer.stages[at].finished == chunk;
            let arrived = at == 0 || transfer.stages[at - 1].finished > chunk;
            let has_room = at + 1 == STAGES.len() || transfer.stages[at + 1].finished + 1 >= chunk;
            if chunk < chunks && idle && arrived && has_room {
                transfer.stages[at].started += 1;
                transfer.stages[at].account = account;
                return Some((STAGES[at], chunk));
            }
        }
        None
    }

    /// The chunk that the link carries, or waits to carry.
    pub(crate) fn on_link(&self, transfer: u32) -> u32 {
        self.get(transfer).stages[1].started - 1
    }

    /// True if all chunks have gone through all stages.
    pub(crate) fn is_through(&self, transfer: u32) -> bool {
        let transfer = self.get(transfer);
        transfer.stages[2].finished == transfer.plan.chunks()
    }

    /// Ends a transfer and returns its plan and its account.
    pub(crate) fn end(&mut self, transfer: u32) -> (Plan, Parts) {
        let ended = self.transfers[transfer as usize].take().expect("only transfers under way end");
        (ended.plan, ended.account)
    }
}
