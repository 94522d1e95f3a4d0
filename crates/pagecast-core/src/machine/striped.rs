//! Describes a striped mount: the servers that keep the parts of its files, and how files are divided among them.

use crate::keys::{SIZE, SIZE_OR_ZERO, Word, keys, whole, word};
use crate::units::Bytes;

/// How the bytes of a read or write move between a client and a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// In flow buffers, as in PVFS2.
    #[default]
    Flow,
    /// With the request, as in the dissertation's model: the server puts a write together first, and releases a read piece by piece.
    Request,
}

impl Word for Protocol {
    const ALL: &'static [Self] = &[Self::Flow, Self::Request];
    const WORDS: &'static [&'static str] = &["flow", "request"];
}

keys! {
    /// How a striped mount divides its files, and moves their bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Layout: "layout" {
        /// Bytes on one server before the next one has its turn
        ///
        /// `strip_size` of PVFS2's `simple_stripe`, `stripe_size` of Lustre, chunk size of BeeGFS.
        #[key(SIZE, default = Bytes(64 << 10))]
        pub strip_size: Bytes,
        /// Servers that have a part of each file
        ///
        /// The number of datafiles of PVFS2, `stripe_count` of Lustre, targets of BeeGFS. The path of a file chooses the first.
        #[key(whole(1, 65_536), absent = "all")]
        pub stripe_count: Option<u32>,
        /// How the bytes of a read or write move
        ///
        /// "flow": in flow buffers, after the answer to the request of a write. "request": with the request; the server puts a write together before it
        /// writes it, and reads in pieces that take turns with those of other clients.
        #[key(word::<Protocol>(), default = Protocol::Flow)]
        pub protocol: Protocol,
        /// Most bytes of a request that move together
        ///
        /// Those of a client for a server go in buffers of this size (`FlowBufferSizeBytes`, 256 KiB).
        #[key(SIZE, default = Bytes(256 << 10))]
        pub flow_buffer: Bytes,
        /// Buffers of a request that are on their way at once
        ///
        /// `FlowBuffersPerFlow`.
        #[key(whole(1, 65_536), default = 8)]
        pub flow_buffers: u32,
        /// Most bytes for a server that are written with the request itself
        ///
        /// More wait until the server has answered the request (`PINT_SMALL_IO_MAXSIZE`).
        #[key(SIZE_OR_ZERO, default = Bytes(16 << 10))]
        pub small_io: Bytes,
        /// Bytes of a file that a client reads or writes at once where a program's calls are shorter
        ///
        /// `tuneFileCacheBufSize` of BeeGFS. Of one operation: what is left at its end is sent. 0 is none.
        #[key(SIZE_OR_ZERO, default = Bytes::ZERO)]
        pub file_buffer: Bytes,
        /// Dirty bytes that a client keeps for each server
        ///
        /// `osc.*.max_dirty_mb` of Lustre. With 0 a write ends when its servers have it.
        #[key(SIZE_OR_ZERO, default = Bytes::ZERO)]
        pub write_cache: Bytes,
    }
}

/// The servers of a striped mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Striped {
    /// Those that keep parts of files, in the order in which files are dealt to them.
    pub servers: Vec<StripeServer>,
    /// The one that keeps names and attributes.
    pub metadata: StripeServer,
}

/// A server of a striped mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeServer {
    /// Index of its host.
    pub host: usize,
    /// Index of the mount there that keeps its files.
    pub mount: usize,
    /// Index of the link between it and the client, if one joins them.
    pub link: Option<usize>,
}

impl Striped {
    /// All servers: those with parts of files, then the one of metadata.
    pub fn all(&self) -> impl Iterator<Item = &StripeServer> {
        self.servers.iter().chain([&self.metadata])
    }
}
