//! Keeps the journal of a file system: which inodes have changed in which transaction, and who waits for a commit.
//!
//! Source: `fs/ext4/fsync.c: ext4_fsync_journal`, `fs/ext4/inode.c: ext4_mark_inode_dirty` (`i_sync_tid`, `i_datasync_tid`),
//! `fs/jbd2/journal.c`, `fs/inode.c: inode_needs_update_time`, Linux 6.16.
//!
//! - A file that has grown has blocks and a size that only the journal knows: fsync and fdatasync commit the running transaction. With delayed
//!   allocation that is so from its write-back on.
//! - A write also changes the file's times, once for each tick of the clock. `fsync` and O_SYNC commit them, `fdatasync` and O_DSYNC do not
//!   wait for them.
//! - One transaction runs while another one is committed. Who comes meanwhile changes the running one, and waits for the next commit.
//!
//! Left out: times finer than a tick (Linux 6.13); that XFS knows the last change of each inode by its place in the log.

use rustc_hash::FxHashMap;

use crate::policy::kernel::ext4::block_maps::{BlockMap, indirect};
use crate::policy::kernel::ext4::log::Log;
use crate::policy::kernel::ext4::rules::JournalRules;
use crate::policy::kernel::ext4::transaction::Transaction;
use crate::policy::kernel::page::PAGE;
use crate::policy::ranges::Ranges;
use crate::policy::{FileId, FileView, Integrity, OperationId};
use crate::units::Nanos;

/// The number of a transaction, from 1.
pub type Tid = u64;

/// A file, and the last transaction in which its inode got blocks or a size, and in which its times changed; 0 is none.
#[derive(Clone, Copy, Debug, Default)]
struct Inode {
    file: FileView,
    grown: Tid,
    stamped: Tid,
    /// The tick of its times.
    tick: Option<u64>,
    /// The end of its blocks; of those that the transaction under way commits; and of those that are committed.
    allocated: u64,
    committing: u64,
    committed: u64,
    /// The map of its blocks.
    map: BlockMap,
}

/// A transaction that is being committed.
#[derive(Debug)]
pub struct Committing {
    pub since: Nanos,
    pub transaction: Transaction,
    /// True if a flush of the disk of its files would come too late for others (`T_COMMIT_DFLUSH`).
    pub is_past_data_flush: bool,
}

/// The journal of a disk.
#[derive(Debug)]
pub struct Journal {
    pub rules: JournalRules,
    inodes: FxHashMap<FileId, Inode>,
    /// The file that was the last one to get blocks.
    last_allocated: Option<FileId>,
    /// The number of the running transaction.
    running_tid: Tid,
    running: Transaction,
    pub committing: Option<Committing>,
    /// The newest transaction that somebody wants committed (`j_commit_request`).
    requested: Tid,
    waiters: Vec<(Tid, OperationId)>,
    /// Writers that wait until a transaction or the log has room for their data.
    stalled: Vec<OperationId>,
    pub log: Log,
}

impl Journal {
    /// An empty one.
    pub fn new(rules: JournalRules) -> Self {
        Self {
            rules,
            inodes: FxHashMap::default(),
            last_allocated: None,
            running_tid: 1,
            running: Transaction::default(),
            committing: None,
            requested: 0,
            waiters: Vec::new(),
            stalled: Vec::new(),
            log: Log::default(),
        }
    }

    fn inode(&mut self, file: &FileView) -> &mut Inode {
        let size = file.size.0;
        let new =
            || Inode { file: *file, allocated: size, committing: size, committed: size, ..Inode::default() };
        self.inodes.entry(file.id).or_insert_with(new)
    }

    /// Notes that a file is written up to a byte, at a tick of the clock; true if that gives it new times.
    pub fn write(&mut self, now: Nanos, file: &FileView, end: u64, tick: u64) -> bool {
        let running = self.running_tid;
        let grows_at_once = self.rules.requests.is_none_or(|requests| !requests.allocates_late);
        let inode = self.inode(file);
        let is_new_tick = inode.tick != Some(tick);
        if is_new_tick {
            (inode.tick, inode.stamped) = (Some(tick), running);
        }
        let grows = grows_at_once && end > inode.allocated;
        if grows {
            self.give_blocks(now, file, end);
        } else if self.orders_all_data() {
            self.running.order(now, file, 0);
        } else if is_new_tick {
            self.running.change(now, file);
        }
        is_new_tick
    }

    /// Notes that the blocks of a file are allocated up to a byte, as its data is written back.
    pub fn allocate(&mut self, now: Nanos, file: FileId, end: u64) {
        if let Some(inode) = self.inodes.get(&file).filter(|inode| inode.allocated < end) {
            let file = inode.file;
            self.give_blocks(now, &file, end);
        }
    }

    /// Gives a file blocks up to a byte.
    fn give_blocks(&mut self, now: Nanos, file: &FileView, end: u64) {
        let others_since = self.last_allocated.replace(file.id) != Some(file.id);
        let (running, requests) =
            (self.running_tid, self.rules.requests.filter(|requests| !requests.is_one_write));
        let inode = self.inode(file);
        let from = std::mem::replace(&mut inode.allocated, end);
        inode.grown = running;
        inode.map.extend((from, end), others_since);
        let leaf = inode.map.leaf(file.id).filter(|_| requests.is_some_and(|requests| requests.has_extents));
        let end = if requests.is_some_and(|requests| !requests.has_extents) { end } else { 0 };
        self.running.allocate(now, file, from, leaf.chain(indirect(file.id, from, end)));
    }

    /// True if a commit writes all dirty data of the files that were written.
    fn orders_all_data(&self) -> bool {
        self.rules.requests.is_some_and(|requests| requests.writes_data_first() && requests.orders_all_data)
    }

    /// Notes that a write goes on at a byte while another transaction has begun. `grows` if it makes its file longer.
    pub fn goes_on(&mut self, now: Nanos, file: &FileView, at: u64, grows: bool) {
        let running = self.running_tid;
        if !grows {
            if self.orders_all_data() {
                self.running.order(now, file, 0);
            }
            return;
        }
        if self.rules.requests.is_some_and(|requests| requests.writes_data_first()) {
            self.inode(file).grown = running;
            self.running.allocate(now, file, at, std::iter::empty());
        }
    }

    /// Notes that a file is cut off at a byte.
    pub fn cut(&mut self, now: Nanos, file: &FileView, size: u64) {
        let running = self.running_tid;
        let inode = self.inode(file);
        inode.allocated = inode.allocated.min(size);
        (inode.grown, inode.stamped) = (running, running);
        self.running.allocate(now, file, size, std::iter::empty());
        self.running.forget(file.id, size);
    }

    /// The number of the running transaction.
    pub fn running_tid(&self) -> Tid {
        self.running_tid
    }

    /// Notes that a file was made at a tick of the clock, which its times are of.
    pub fn create(&mut self, file: &FileView, tick: u64) {
        self.inode(file).tick = Some(tick);
    }

    /// Notes that a name of a file was made, changed or removed.
    pub fn name(&mut self, now: Nanos, file: &FileView) {
        let running = self.running_tid;
        let inode = self.inode(file);
        (inode.grown, inode.stamped) = (running, running);
        self.running.name(now, file);
    }

    /// Adds data that goes into the log.
    pub fn journal(&mut self, now: Nanos, file: &FileView, range: (u64, u64)) {
        let running = self.running_tid;
        let inode = self.inode(file);
        (inode.grown, inode.stamped) = (running, running);
        self.running.journal(now, file, range);
    }

    /// Returns how many bytes of data the running transaction takes until it is full.
    pub fn room(&self) -> u64 {
        let most = self.rules.requests.map_or(u64::MAX, |requests| requests.most);
        most.saturating_sub(self.running.logged()).saturating_mul(PAGE)
    }

    /// True if the log has room for a whole transaction beside those that are in it.
    pub fn has_space(&self) -> bool {
        let committing = self.committing.as_ref().map_or(0, |committing| committing.transaction.logged() + 1);
        self.rules.requests.is_none_or(|requests| self.log.left(requests.blocks, committing) >= requests.most)
    }

    /// Returns the transaction that has to be committed to make a file durable.
    pub fn tid_of(&self, file: FileId, what: Integrity) -> Option<Tid> {
        let inode = self.inodes.get(&file)?;
        let tid = if what == Integrity::File { inode.grown.max(inode.stamped) } else { inode.grown };
        self.is_uncommitted(tid).then_some(tid)
    }

    /// Returns the transaction that holds the last change of the file system, unless all are committed.
    pub fn last_tid(&self) -> Option<Tid> {
        let last = if self.running.is_empty() { self.running_tid - 1 } else { self.running_tid };
        self.is_uncommitted(last).then_some(last)
    }

    /// The end of the blocks of a file that are committed.
    pub fn committed(&self, file: FileId) -> u64 {
        self.inodes.get(&file).map_or(u64::MAX, |inode| inode.committed)
    }

    fn uncommitted(&self) -> impl Iterator<Item = &Transaction> {
        let committing = self.committing.as_ref().map(|committing| &committing.transaction);
        std::iter::once(&self.running).chain(committing)
    }

    /// How many changes of names are in no committed transaction.
    pub fn names_at_risk(&self) -> u64 {
        self.uncommitted().map(|transaction| transaction.names).sum()
    }

    /// The files with journaled data that is in no committed transaction, and its bytes.
    pub fn data_at_risk(&self) -> Vec<(FileId, u64)> {
        let mut files: FxHashMap<FileId, u64> = FxHashMap::default();
        for (file, ranges) in self.uncommitted().flat_map(|transaction| &transaction.data) {
            *files.entry(*file).or_default() += ranges.total();
        }
        files.into_iter().collect()
    }

    /// Lets a writer wait until the commit that is under way has ended.
    pub fn wait_for_end(&mut self, waiter: OperationId) {
        self.stalled.push(waiter);
    }

    fn is_uncommitted(&self, tid: Tid) -> bool {
        let oldest = self.running_tid - u64::from(self.committing.is_some());
        tid >= oldest
    }

    /// True if whoever waits for a transaction need not flush the disk of its files (`fs/jbd2/journal.c: jbd2_trans_will_send_data_barrier`).
    /// Before Linux 6.15 the running transaction only promised a flush where the log is on another disk.
    pub fn will_send_data_barrier(&mut self, tid: Tid) -> bool {
        let Some(requests) = self.rules.requests.filter(|requests| requests.is_external) else { return true };
        if tid == self.running_tid {
            self.running.promises_data_flush |= requests.flushes_data_if_asked;
            return true;
        }
        let flushes = |committing: &Committing| {
            !committing.is_past_data_flush && committing.transaction.needs_data_flush(&requests)
        };
        self.committing.as_ref().is_some_and(flushes)
    }

    /// Returns whether the commit that is under way flushes the disk of its files before its commit block, as the log is on another one.
    pub fn flushes_data(&mut self) -> bool {
        let Some(requests) = self.rules.requests.filter(|requests| requests.is_external) else {
            return false;
        };
        let Some(committing) = &mut self.committing else { return false };
        committing.is_past_data_flush = true;
        requests.is_one_write || committing.transaction.needs_data_flush(&requests)
    }

    /// Lets an operation wait for the commit of a transaction (`jbd2_log_wait_commit`).
    pub fn wait_for(&mut self, tid: Tid, waiter: OperationId) {
        self.requested = self.requested.max(tid);
        self.waiters.push((tid, waiter));
    }

    /// How many wait for a commit.
    pub fn waiting(&self) -> usize {
        self.waiters.len()
    }

    /// Lets a writer wait for room: the running transaction is full, or the log is.
    pub fn wait_for_room(&mut self, waiter: OperationId) {
        self.requested = self.requested.max(self.running_tid);
        self.stalled.push(waiter);
    }

    /// Returns a file of the running transaction, if a commit is asked for or due and none is under way.
    pub fn due(&self, now: Nanos) -> Option<FileView> {
        let is_due =
            self.requested >= self.running_tid || self.expires().is_some_and(|expires| expires <= now);
        self.running.file.filter(|_| is_due && self.committing.is_none())
    }

    /// The time at which the running transaction is committed by itself.
    fn expires(&self) -> Option<Nanos> {
        Some(self.running.since? + self.rules.requests?.interval)
    }

    /// The time at which the next commit begins by itself.
    pub fn next_commit(&self) -> Option<Nanos> {
        self.expires().filter(|_| self.committing.is_none())
    }

    /// Begins to commit the running transaction; the next one runs. Returns the writers that waited for that.
    pub fn begin(&mut self, now: Nanos) -> Vec<OperationId> {
        let transaction = std::mem::take(&mut self.running);
        for file in transaction.ordered.keys() {
            if let Some(inode) = self.inodes.get_mut(file) {
                inode.committing = inode.allocated;
            }
        }
        self.committing = Some(Committing { since: now, transaction, is_past_data_flush: false });
        self.running_tid += 1;
        std::mem::take(&mut self.stalled)
    }

    /// Commits the running transaction at once, unless somebody waits for a commit, who has to be woken.
    pub fn commit_at_once(&mut self, now: Nanos) {
        if self.committing.is_none() && self.waiters.is_empty() && self.stalled.is_empty() {
            self.begin(now);
            self.end();
        }
    }

    /// Ends the commit. Returns its beginning, its blocks in the log, and the operations that waited for it.
    pub fn end(&mut self) -> (Nanos, u64, Vec<OperationId>) {
        let Committing { since, transaction, .. } = self.committing.take().expect("what ends has begun");
        for file in transaction.ordered.keys() {
            if let Some(inode) = self.inodes.get_mut(file) {
                inode.committed = inode.committing;
            }
        }
        let blocks = transaction.logged() + 1;
        let mut data: Vec<(FileId, Ranges)> = transaction.data.into_iter().collect();
        data.sort_unstable_by_key(|(file, _)| *file);
        self.log.add(blocks, data);
        let committed = self.running_tid - 1;
        let mut ended: Vec<OperationId> = Vec::new();
        self.waiters.retain(|&(tid, waiter)| {
            let waits = tid > committed;
            if !waits {
                ended.push(waiter);
            }
            waits
        });
        ended.append(&mut self.stalled);
        (since, blocks, ended)
    }
}
