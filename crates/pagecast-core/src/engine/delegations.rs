//! Keeps which clients of NFS have read delegations of files that they have opened, and who loses them when others change those.
//!
//! Source: `fs/nfsd/nfs4state.c: nfs4_set_delegation, nfsd4_check_conflicting_opens, block_delegations, nfsd_break_deleg_cb`, Linux 6.16.
//!
//! Left out: that whoever changes a file waits until its delegations have been returned; write delegations; programs of the server that have
//! a file open for writing and do not write; the number of delegations that a server's memory allows.

use rustc_hash::FxHashMap;

use crate::policy::FileId;
use crate::units::Nanos;

/// For so long nobody gets a delegation of a file after one has been taken back (`delegation_blocked`: 30 s at least).
const BLOCKED: Nanos = Nanos(30_000_000_000);

/// A client, and its mount that has a file.
type Holder = (u32, u32);

/// The delegations of a file, and what speaks against giving more.
#[derive(Debug, Default)]
struct OfFile {
    holders: Vec<Holder>,
    /// Clients that have written to it and not closed it since.
    writers: Vec<u32>,
    /// When a delegation was taken back last.
    recalled: Option<Nanos>,
}

/// The delegations of all files; see the module.
#[derive(Debug, Default)]
pub(super) struct Delegations(FxHashMap<FileId, OfFile>);

impl Delegations {
    /// A client opens a file; true if it gets a delegation.
    pub(super) fn open(&mut self, now: Nanos, file: FileId, holder: Holder) -> bool {
        let of = self.0.entry(file).or_default();
        let is_blocked = of.recalled.is_some_and(|at| now < at + BLOCKED);
        let is_written = of.writers.iter().any(|&writer| writer != holder.0);
        if !is_blocked && !is_written && !of.holders.contains(&holder) {
            of.holders.push(holder);
        }
        of.holders.contains(&holder)
    }

    /// A client has written to a file, or has closed it.
    pub(super) fn note_writer(&mut self, file: FileId, client: u32, writes: bool) {
        let of = self.0.entry(file).or_default();
        of.writers.retain(|&writer| writer != client);
        if writes {
            of.writers.push(client);
            self.give_back(file, client);
        }
    }

    /// A client returns its delegation of a file.
    pub(super) fn give_back(&mut self, file: FileId, client: u32) {
        self.0.entry(file).or_default().holders.retain(|&(holder, _)| holder != client);
    }

    /// A file is changed, by a client or by its own host. Returns those that lose their delegation.
    pub(super) fn recall(&mut self, now: Nanos, file: FileId, by: Option<u32>) -> Vec<Holder> {
        let Some(of) = self.0.get_mut(&file) else { return Vec::new() };
        let (kept, lost) = of.holders.drain(..).partition(|&(holder, _)| Some(holder) == by);
        of.holders = kept;
        if !lost.is_empty() {
            of.recalled = Some(now);
        }
        lost
    }
}
