//! Keeps the calls of one mount: those on their way, those that wait for a slot, and what each is for.

use rustc_hash::FxHashMap;

use crate::block::RequestId;
use crate::machine::{NfsOptions, NfsVersion};
use crate::policy::kernel::block::queue::{Queue, Unit};
use crate::policy::kernel::nfs::asked::{call, returns_delegation};
use crate::policy::kernel::nfs::inode::{Inode, Written, bytes_of};
use crate::policy::kernel::nfs::replies::Replies;
use crate::policy::kernel::nfs::slots::{Owner, Slots};
use crate::policy::kernel::tasks::kind::Asked;
use crate::policy::kernel::version::Rules;
use crate::policy::{Actions, DeviceId, Event, FileId, OperationId, Procedure, Reply, Rpc};
use crate::result::Parts;
use crate::units::{Bytes, Nanos};

/// The purpose of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Bytes that an operation reads.
    Read(OperationId),
    /// Bytes that an operation writes past the cache.
    Direct(OperationId),
    /// A unit of write-back, with the number of its pass.
    Write { id: RequestId, pass: u64, is_stable: bool },
    /// Pages that are to be durable.
    Commit(Vec<Written>),
    /// Attributes or a name of a file, for an operation.
    Ask(OperationId, Procedure),
}

/// The end of a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The operation has all bytes that it has asked for.
    Operation(OperationId),
    /// More calls of the operation are on their way.
    Part,
    /// A unit of write-back has been written, and is durable or not.
    Written { id: RequestId, file: FileId, is_stable: bool },
    /// These pages are durable; the operations go on.
    Committed { file: FileId, pages: Vec<Written>, waiters: Vec<OperationId> },
    /// The attributes of a file have come for an operation. True if others have changed it.
    Attributes { operation: OperationId, file: FileId, is_changed: bool },
}

/// The client of a mount; see the module.
pub struct Client {
    mount: u32,
    device: DeviceId,
    pub options: NfsOptions,
    calls: FxHashMap<u64, (FileId, Purpose)>,
    slots: Slots,
    /// True if a flusher commits at the end of its pass over a file.
    commits_passes: bool,
    /// How many calls of each operation have no reply.
    left: FxHashMap<OperationId, u32>,
    inodes: FxHashMap<FileId, Inode>,
    /// The number of the last call.
    xid: u64,
    replies: Replies,
}

impl Client {
    /// The client of a mount without a call, by the rules of a version of Linux.
    pub fn new(mount: u32, device: DeviceId, options: NfsOptions, rules: &Rules) -> Self {
        let slots = Slots::new(options.slots, rules.nfs_slots_alternate);
        Self {
            mount,
            device,
            options,
            calls: FxHashMap::default(),
            slots,
            commits_passes: rules.nfs_commits_passes,
            left: FxHashMap::default(),
            inodes: FxHashMap::default(),
            xid: u64::from(mount) << 48,
            replies: Replies::new(),
        }
    }

    /// True if a call of this number has no reply.
    pub fn has_sent(&self, xid: u64) -> bool {
        self.calls.contains_key(&xid)
    }

    /// True if no call is under way.
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty()
    }

    /// Divides a wait that ends now.
    pub fn parts_of(&self, now: Nanos, wait: Nanos) -> Parts {
        self.replies.divide(now, wait)
    }

    /// Reads bytes of a file for an operation.
    pub fn read(
        &mut self,
        operation: OperationId,
        file: FileId,
        (offset, bytes): (u64, Bytes),
        out: &mut Actions,
    ) {
        for (offset, bytes) in pieces(offset, bytes, self.options.rsize) {
            *self.left.entry(operation).or_default() += 1;
            let procedure = Procedure::Read { offset, bytes };
            self.call((Owner::Task(operation), file), procedure, Purpose::Read(operation), out);
        }
    }

    /// Writes bytes of a file past the cache for an operation: durable at once if one call has all of them.
    pub fn write_direct(
        &mut self,
        operation: OperationId,
        file: FileId,
        (offset, bytes): (u64, Bytes),
        out: &mut Actions,
    ) {
        let stable = bytes <= self.options.wsize;
        for (offset, bytes) in pieces(offset, bytes, self.options.wsize) {
            *self.left.entry(operation).or_default() += 1;
            let procedure = Procedure::Write { offset, bytes, stable };
            self.call((Owner::Task(operation), file), procedure, Purpose::Direct(operation), out);
        }
    }

    /// Commits what an operation has written past the cache; false if that is durable.
    pub fn commit_direct(
        &mut self,
        operation: OperationId,
        file: FileId,
        bytes: Bytes,
        out: &mut Actions,
    ) -> bool {
        let is_stable = bytes <= self.options.wsize;
        if !is_stable {
            *self.left.entry(operation).or_default() += 1;
            self.call((Owner::Task(operation), file), Procedure::Commit, Purpose::Direct(operation), out);
        }
        !is_stable
    }

    /// Asks for the attributes of a file for an operation, or changes them, or a name.
    pub fn ask(&mut self, operation: OperationId, file: FileId, procedure: Procedure, out: &mut Actions) {
        self.call((Owner::Task(operation), file), procedure, Purpose::Ask(operation, procedure), out);
    }

    /// True if the attributes of a file need not be asked for.
    pub fn believes(&self, now: Nanos, file: FileId) -> bool {
        self.inodes.get(&file).is_some_and(|inode| inode.believes(now, &self.options))
    }

    /// The call that an operation on names or attributes makes after so many others; none after the last. A client that believes what it knows,
    /// or has a delegation, makes none.
    pub fn next_call(&mut self, now: Nanos, file: FileId, asked: Asked, sent: u8) -> Option<Procedure> {
        let NfsOptions { vers, nocto, .. } = self.options;
        let believes = self.believes(now, file);
        let inode = self.inodes.entry(file).or_default();
        if returns_delegation(asked) && inode.is_delegated() {
            inode.return_delegation();
            return Some(Procedure::Delegreturn);
        }
        let is_known = match asked {
            Asked::Stat => sent == 0 && believes,
            Asked::Open => inode.is_delegated() || (nocto && believes && vers == NfsVersion::V3),
            Asked::Close => sent == 0 && !inode.close(),
            _ => false,
        };
        call(asked, vers, sent).filter(|_| !is_known)
    }

    /// A delegation ends: the server takes it back, or the client writes to the file.
    pub fn return_delegation(&mut self, file: FileId) {
        if let Some(inode) = self.inodes.get_mut(&file) {
            inode.return_delegation();
        }
    }

    /// Sends the units of the mount's queue that have not been sent.
    ///
    /// A pass over a file that somebody waits for and that is one WRITE is durable at once, unless other pages of the file are to be committed
    /// (`fs/nfs/pagelist.c: nfs_generic_pg_pgios`, FLUSH_COND_STABLE).
    pub fn send_units(&mut self, now: Nanos, queue: &mut Queue, out: &mut Actions) {
        while let Some((id, unit)) = queue.send(now) {
            let file = unit.file.expect("an NFS client has no log");
            let (offset, bytes) = (unit.start, Bytes(unit.end - unit.start));
            let (ends_pass, is_of_flusher) = (unit.ends_pass, unit.is_of_flusher);
            let inode = self.inodes.entry(file).or_default();
            let is_stable = ends_pass && !is_of_flusher && inode.may_be_stable();
            let pass = inode.send();
            if ends_pass {
                inode.end_pass();
            }
            let procedure = Procedure::Write { offset, bytes, stable: is_stable };
            let purpose = Purpose::Write { id, pass, is_stable };
            let owner = if is_of_flusher { Owner::Flusher } else { Owner::WritersOf(file) };
            self.call((owner, file), procedure, purpose, out);
        }
        for file in queue.take_ended_passes() {
            if self.inodes.get_mut(&file).is_some_and(Inode::end_pass) && self.commits_passes {
                self.commit(Owner::Flusher, file, out);
            }
        }
    }

    /// Dirty bytes of a folio begin or end to make way for a write that does not join them.
    pub fn make_way(&mut self, file: FileId, makes_way: bool) {
        self.inodes.entry(file).or_default().make_way(makes_way);
    }

    /// Lets an operation wait until nothing of a file is to be committed; false if nothing is.
    pub fn wait_for_commit(&mut self, file: FileId, operation: OperationId, out: &mut Actions) -> bool {
        self.commit(Owner::WritersOf(file), file, out);
        let Some(inode) = self.inodes.get_mut(&file) else { return false };
        inode.wait(operation)
    }

    /// Lets an operation wait until nothing of any file is to be committed. Returns for how many files it waits.
    pub fn wait_for_all_commits(&mut self, operation: OperationId, out: &mut Actions) -> u32 {
        let mut files: Vec<FileId> =
            self.inodes.iter().filter(|(_, inode)| !inode.is_clean()).map(|(file, _)| *file).collect();
        files.sort_unstable();
        let waits = files.into_iter().filter(|&file| self.wait_for_commit(file, operation, out));
        waits.count() as u32
    }

    /// Sends a COMMIT of a file if pages of it are unstable.
    ///
    /// One at the end of a pass is sent by the worker that has taken the last reply (`nfs_io_completion_commit`), which is one of the pool that the
    /// flusher is of, and mostly the flusher's own: it waits for a slot behind the WRITEs of later passes.
    fn commit(&mut self, owner: Owner, file: FileId, out: &mut Actions) {
        let Some(pages) = self.inodes.get_mut(&file).and_then(Inode::take_unstable) else { return };
        self.call((owner, file), Procedure::Commit, Purpose::Commit(pages), out);
    }

    /// Sends a call, or lets it wait for a slot.
    fn call(
        &mut self,
        (owner, file): (Owner, FileId),
        procedure: Procedure,
        purpose: Purpose,
        out: &mut Actions,
    ) {
        self.xid += 1;
        out.tell_all(Event { device: Some(self.device), file: Some(file), ..told(&procedure) });
        let operation = owner.operation();
        let rpc = Rpc { xid: self.xid, mount: self.mount, operation, file, procedure };
        self.calls.insert(self.xid, (file, purpose));
        if let Some(rpc) = self.slots.take(owner, rpc) {
            out.send(rpc);
        }
    }

    /// Takes a reply. `written` gives the unit of write-back that a WRITE was, `of_file` how many bytes of a file are dirty or under writeback.
    pub fn replied<'a>(
        &mut self,
        now: Nanos,
        reply: &Reply,
        written: impl FnOnce(RequestId) -> &'a Unit,
        of_file: impl FnOnce(FileId) -> u64,
        out: &mut Actions,
    ) -> Ended {
        let (file, purpose) = self.calls.remove(&reply.xid).expect("a reply answers a call");
        self.replies.add(now, reply.network, reply.server);
        if let Some(next) = self.slots.give_back() {
            out.send(next);
        }
        match purpose {
            Purpose::Read(operation) | Purpose::Direct(operation) => {
                let left = self.left.get_mut(&operation).expect("it has calls on their way");
                *left -= 1;
                if *left > 0 {
                    return Ended::Part;
                }
                self.left.remove(&operation);
                Ended::Operation(operation)
            }
            Purpose::Write { id, pass, is_stable } => {
                let unit = written(id);
                let &Unit { wb, start, end, .. } = unit;
                let inode = self.inodes.get_mut(&file).expect("a WRITE is of an inode");
                let pages = (!is_stable).then(|| Written { wb, start, end, surplus: unit.surplus() });
                inode.refresh(now);
                let pass_is_over = inode.written(pass, pages);
                let commits = match self.commits_passes {
                    true => pass_is_over,
                    false => inode.is_mostly_unstable(of_file(file)),
                };
                if commits {
                    self.commit(Owner::Flusher, file, out);
                }
                Ended::Written { id, file, is_stable }
            }
            Purpose::Commit(pages) => {
                let inode = self.inodes.get_mut(&file).expect("a COMMIT is of an inode");
                let waiters = inode.committed();
                // What has become unstable meanwhile may be more than half of the rest: the flusher finds the inode dirty.
                let rest = of_file(file).saturating_sub(bytes_of(&pages));
                if !self.commits_passes && inode.is_mostly_unstable(rest) {
                    self.commit(Owner::Flusher, file, out);
                }
                Ended::Committed { file, pages, waiters }
            }
            Purpose::Ask(operation, procedure) => {
                let inode = self.inodes.entry(file).or_default();
                let is_changed = match procedure {
                    Procedure::Close
                    | Procedure::Delegreturn
                    | Procedure::Remove { .. }
                    | Procedure::Lookup => false,
                    _ => inode.update(now, reply.change, &self.options),
                };
                if matches!(procedure, Procedure::Open | Procedure::Create) {
                    inode.open(reply.delegates);
                }
                Ended::Attributes { operation, file, is_changed }
            }
        }
    }
}

/// The event of a call.
fn told(procedure: &Procedure) -> Event {
    let (name, bytes) = match *procedure {
        Procedure::Read { bytes, .. } => ("nfs read", bytes),
        Procedure::Write { bytes, .. } => ("nfs write", bytes),
        Procedure::Commit => ("nfs commit", Bytes::ZERO),
        Procedure::Getattr => ("nfs getattr", Bytes::ZERO),
        Procedure::Lookup => ("nfs lookup", Bytes::ZERO),
        Procedure::Open => ("nfs open", Bytes::ZERO),
        Procedure::Close => ("nfs close", Bytes::ZERO),
        Procedure::Delegreturn => ("nfs delegreturn", Bytes::ZERO),
        Procedure::Create => ("nfs create", Bytes::ZERO),
        Procedure::Remove { .. } => ("nfs remove", Bytes::ZERO),
        Procedure::Rename { .. } => ("nfs rename", Bytes::ZERO),
        Procedure::Setattr { .. } => ("nfs setattr", Bytes::ZERO),
    };
    Event { name, bytes, ..Event::default() }
}

/// The parts of a range of so many bytes at most, each but the first beginning at a multiple of `most`.
fn pieces(offset: u64, bytes: Bytes, most: Bytes) -> impl Iterator<Item = (u64, Bytes)> {
    let end = offset + bytes.0;
    let next = move |&(at, len): &(u64, Bytes)| {
        let at = at + len.0;
        (at < end).then(|| (at, Bytes(most.0.min(end - at))))
    };
    let first = (bytes > Bytes::ZERO).then(|| (offset, Bytes(most.0.min(bytes.0))));
    std::iter::successors(first, next)
}
