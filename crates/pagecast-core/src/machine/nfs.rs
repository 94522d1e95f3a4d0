//! Describes NFS: the options of a mount and of an export, and the threads of a server.

use crate::keys::{SIZE, Word, keys, whole};
use crate::units::Bytes;

keys! {
    /// The options of a mount of another host's directory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct NfsOptions: "nfs_options" {
        /// Most bytes of a READ
        ///
        /// The mount option of this name. Only `kernel` looks at it and the next two.
        #[key(SIZE, default = Bytes(1 << 20))]
        pub rsize: Bytes,
        /// Most bytes of a WRITE
        #[key(SIZE, default = Bytes(1 << 20))]
        pub wsize: Bytes,
        /// Calls that the client has on their way at once
        ///
        /// `max_session_slots` of version 4.1, `tcp_max_slot_table_entries` before.
        #[key(whole(1, 65_536), default = 64)]
        pub slots: u32,
    }
}

/// The reply of a server to calls that must be durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Export {
    /// When the disk has them.
    #[default]
    Sync,
    /// At once.
    Async,
}

impl Word for Export {
    const ALL: &'static [Self] = &[Self::Sync, Self::Async];
    const WORDS: &'static [&'static str] = &["sync", "async"];
}

keys! {
    /// The NFS server of a host.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Nfsd: "nfsd" {
        /// Its threads
        ///
        /// `/proc/fs/nfsd/threads`. Each does one call at a time.
        #[key(whole(1, 65_536), default = 8)]
        pub threads: u32,
    }
}
