//! Describes NFS: the options of a mount and of an export, and the threads of a server.

use crate::keys::{FLAG, SIZE, TIME, Word, keys, whole, word};
use crate::units::{Bytes, Nanos};

keys! {
    /// The options of a mount of another host's directory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct NfsOptions: "nfs_options" {
        /// Most bytes of a READ
        ///
        /// The mount option of this name. Only `kernel` looks at the options.
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
        /// Version of NFS
        ///
        /// The mount option of this name. A close of version 4 tells the server, and waits for its answer.
        #[key(word::<NfsVersion>(), default = NfsVersion::V42)]
        pub vers: NfsVersion,
        /// Least time for which the attributes of a file are believed
        ///
        /// The mount option of this name. The time doubles while the file does not change.
        #[key(TIME, default = Nanos(3_000_000_000))]
        pub acregmin: Nanos,
        /// Longest such time
        #[key(TIME, default = Nanos(60_000_000_000))]
        pub acregmax: Nanos,
        /// Attributes are not believed, and each write waits for the server
        ///
        /// The mount option of this name.
        #[key(FLAG, default = false)]
        pub noac: bool,
        /// An open believes attributes, too
        ///
        /// The mount option of this name. Version 4 opens with a call nevertheless.
        #[key(FLAG, default = false)]
        pub nocto: bool,
    }
}

/// A version of NFS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NfsVersion {
    /// RFC 1813.
    V3,
    /// RFC 7530.
    V40,
    /// RFC 8881.
    V41,
    /// RFC 7862.
    #[default]
    V42,
}

impl Word for NfsVersion {
    const ALL: &'static [Self] = &[Self::V3, Self::V40, Self::V41, Self::V42];
    const WORDS: &'static [&'static str] = &["3", "4.0", "4.1", "4.2"];
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
        /// Time of a thread for a call, beside that for its data
        ///
        /// Finding the file and the session, checking rights, and what the kernel does with the messages.
        #[key(TIME, default = Nanos::ZERO)]
        pub call: Nanos,
        /// Time to pass one request in the receive buffer of a client
        ///
        /// A thread passes all requests of the client that wait, with its own one. With 0 finding a request takes the same time however many wait.
        #[key(TIME, default = Nanos::ZERO)]
        pub search: Nanos,
        /// Clients of version 4 that open a file may get a read delegation
        ///
        /// `/proc/sys/fs/leases-enable`.
        #[key(FLAG, default = true)]
        pub delegations: bool,
        /// Time at which its threads stop to take calls, as a server does that hangs
        ///
        /// Calls that they have begun go on.
        #[key(TIME, absent = "they do not stop")]
        pub stalls_at: Option<Nanos>,
        /// Time for which they stop
        #[key(TIME, default = Nanos::ZERO)]
        pub stalls_for: Nanos,
    }
}

impl Nfsd {
    /// True if its threads take no calls at an instant.
    #[must_use]
    pub fn is_stalled(&self, now: Nanos) -> bool {
        self.stalls_at.is_some_and(|at| at <= now && now < at + self.stalls_for)
    }
}
