//! The requests of a client to the server of one of its mounts, and what comes back.
//!
//! Source: RFC 1813 (NFS version 3), RFC 7862 (version 4.2). A policy decides which of them are sent and when; an engine carries them.

use super::{FileId, OperationId};
use crate::units::{Bytes, Nanos};

/// A remote procedure call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rpc {
    /// The number by which the reply names it.
    pub xid: u64,
    /// The mount of the client's host.
    pub mount: u32,
    /// The operation that it is for; [`OperationId::NOBODY`] for a flusher.
    pub operation: OperationId,
    /// Its file.
    pub file: FileId,
    /// The procedure.
    pub procedure: Procedure,
}

/// The procedures of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// Reads bytes.
    Read {
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
    },
    /// Writes bytes.
    Write {
        /// First byte.
        offset: u64,
        /// The number of bytes.
        bytes: Bytes,
        /// True if they are to be durable before the reply (FILE_SYNC); else the server may keep them in memory (UNSTABLE).
        stable: bool,
    },
    /// Makes all bytes of the file durable.
    Commit,
    /// Asks for the attributes of the file.
    Getattr,
    /// Looks up a name that no file has.
    Lookup,
    /// Opens the file (version 4).
    Open,
    /// Closes the file (version 4).
    Close,
    /// Returns a delegation of the file (version 4).
    Delegreturn,
    /// Makes the file, or a directory.
    Create,
    /// Removes a name of the file.
    Remove {
        /// True if it is the last one.
        is_last: bool,
    },
    /// Changes a name of the file, or adds one.
    Rename {
        /// True if another file had the new name.
        replaces: bool,
    },
    /// Cuts the file.
    Setattr {
        /// Its new size.
        size: Bytes,
    },
}

impl Procedure {
    /// True if it changes names or attributes.
    #[must_use]
    pub fn changes_metadata(&self) -> bool {
        matches!(self, Self::Create | Self::Remove { .. } | Self::Rename { .. } | Self::Setattr { .. })
    }

    /// The bytes of data in its call and in its reply.
    #[must_use]
    pub fn data(&self) -> (Bytes, Bytes) {
        match *self {
            Self::Read { bytes, .. } => (Bytes::ZERO, bytes),
            Self::Write { bytes, .. } => (bytes, Bytes::ZERO),
            _ => (Bytes::ZERO, Bytes::ZERO),
        }
    }
}

/// The reply to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The number of the call.
    pub xid: u64,
    /// The time that its messages took, from when the client sent it.
    pub network: Nanos,
    /// The time for which the server had it.
    pub server: Nanos,
    /// How often others than the client have changed the file.
    pub change: u64,
    /// True if the client is told of changes by others from now on (a read delegation of version 4).
    pub delegates: bool,
}
