//! Keeps what clients of striped mounts have written and not sent: each has so many dirty bytes for each server, and a write of more waits.
//!
//! Source: `lustre/osc/osc_cache.c: osc_enter_cache, osc_io_unplug0`, `lustre/include/obd.h: OSC_MAX_DIRTY_DEFAULT`, Lustre 2.5. A client copies a
//! write into its memory, at most `write_cache` for each server. It sends them in buffers of `flow_buffer`, `flow_buffers` at once. Any other
//! operation on the file, whoever asks for it, comes after all of its dirty bytes: its lock would call them back.
//!
//! Left out: that Lustre waits for a full RPC, or for the flusher, before it sends; grants of the server; reads from the client's own pages.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::slab::Slab;
use crate::policy::FileId;
use crate::units::Bytes;

/// A client's host, one of its mounts, and a server of that.
pub(super) type Way = (u32, u32, u32);

/// Dirty bytes of a datafile that follow one another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub file: FileId,
    /// The file that it is a part of.
    pub of: FileId,
    pub offset: u64,
    pub bytes: Bytes,
}

/// Bytes that a client keeps for a server.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Dirty bytes, with those on their way.
    pub dirty: Bytes,
    pub ranges: VecDeque<Range>,
    pub under_way: u32,
    /// Payloads that wait for room.
    pub waiting: VecDeque<u32>,
}

/// A buffer on its way to its server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub way: Way,
    pub of: FileId,
    pub bytes: Bytes,
}

/// The dirty bytes of all clients; see the module.
#[derive(Debug, Default)]
pub(super) struct ClientCaches {
    pub kept: FxHashMap<Way, Kept>,
    pub sent: Slab<Sent>,
    /// Dirty bytes of each file, and the operations that come after them.
    pub of_files: FxHashMap<FileId, (Bytes, Vec<u32>)>,
}

impl ClientCaches {
    /// Lets an operation wait for the dirty bytes of a file, if there are any.
    pub(super) fn wait(&mut self, file: FileId, joined: u32) -> bool {
        let Some((_, waiting)) = self.of_files.get_mut(&file) else { return false };
        waiting.push(joined);
        true
    }
}
