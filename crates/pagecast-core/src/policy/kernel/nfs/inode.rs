//! Keeps the pages of a file that a server has and its disk perhaps not, and who waits for them; and for how long its attributes are believed.
//!
//! Source: `fs/nfs/inode.c: nfs_update_inode, nfs_attribute_timeout`, `fs/nfs/write.c: nfs_writepages, nfs_io_completion_commit, nfs_commit_inode, wait_on_commit`, Linux 6.16. A pass of a flusher over a file ends with one
//! COMMIT, sent when all its WRITEs have been answered; it commits whatever of the file has been written until then. Before 4.13 a flusher commits when more than
//! half of the file's pages that are dirty, under writeback or unstable are unstable (`nfs_commit_unstable_pages`, later `nfs_write_inode`).

use std::collections::VecDeque;

use crate::machine::NfsOptions;
use crate::policy::OperationId;
use crate::policy::kernel::tasks::ids::WbId;
use crate::units::Nanos;

/// Pages that a server has in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub wb: WbId,
    pub start: u64,
    pub end: u64,
    /// `Unit::surplus`
    pub surplus: u64,
}

/// How many bytes some pages have.
pub fn bytes_of(pages: &[Written]) -> u64 {
    pages.iter().map(|pages| pages.end - pages.start).sum()
}

/// A pass over the pages of a file.
#[derive(Debug, Default)]
struct Pass {
    /// How many of its WRITEs have no reply.
    left: u32,
    /// True if it sends no more.
    has_ended: bool,
}

/// A file; see the module.
#[derive(Debug, Default)]
pub struct Inode {
    passes: VecDeque<Pass>,
    /// The number of the first of these.
    first: u64,
    unstable: Vec<Written>,
    /// How many COMMITs have no reply.
    commits: u32,
    waiters: Vec<OperationId>,
    /// True while a writer has a folio written whose dirty bytes it does not join.
    makes_way: bool,
    attributes: Option<Attributes>,
    /// How many opens the server knows of (version 4).
    opens: u32,
    /// True if the server will tell of changes by others.
    is_delegated: bool,
}

/// The attributes of a file as a client knows them.
#[derive(Clone, Copy, Debug)]
struct Attributes {
    /// The change attribute.
    change: u64,
    /// When they came,
    read_at: Nanos,
    /// how long they are believed from then on (`attrtimeo`), and since when that is so.
    timeout: Nanos,
    timeout_since: Nanos,
}

impl Inode {
    /// True if no WRITE is on its way and nothing is to be committed.
    pub fn is_clean(&self) -> bool {
        self.passes.is_empty() && self.unstable.is_empty() && self.commits == 0
    }

    /// True if a pass that is one WRITE may have it durable at once. Not where a folio makes way for a write: `nfs_writepage_locked` asks without
    /// FLUSH_COND_STABLE, and a COMMIT follows.
    pub fn may_be_stable(&self) -> bool {
        self.is_clean() && !self.makes_way
    }

    /// Dirty bytes of a folio begin or end to make way for a write that does not join them.
    pub fn make_way(&mut self, makes_way: bool) {
        self.makes_way = makes_way;
    }

    /// True if the attributes of the file need not be asked for.
    pub fn believes(&self, now: Nanos, options: &NfsOptions) -> bool {
        let is_young = |of: &Attributes| now < of.read_at + of.timeout;
        self.is_delegated || (!options.noac && self.attributes.as_ref().is_some_and(is_young))
    }

    /// Attributes have come; true if others have changed the file since the last time. The time for which they are believed doubles whenever it has
    /// passed without a change.
    pub fn update(&mut self, now: Nanos, change: u64, options: &NfsOptions) -> bool {
        let new = Attributes { change, read_at: now, timeout: options.acregmin, timeout_since: now };
        let Some(old) = self.attributes.replace(new) else { return change > 0 };
        if old.change != change {
            return true;
        }
        let is_over = now > old.timeout_since + old.timeout;
        let doubled = Nanos(old.timeout.0.saturating_mul(2)).min(options.acregmax);
        let (timeout, timeout_since) =
            if is_over { (doubled, now) } else { (old.timeout, old.timeout_since) };
        self.attributes = Some(Attributes { timeout, timeout_since, ..new });
        false
    }

    /// The reply to a WRITE has brought attributes, which are those of the client's own change.
    pub fn refresh(&mut self, now: Nanos) {
        if let Some(attributes) = &mut self.attributes {
            attributes.read_at = now;
        }
    }

    /// The server knows of one more open, and may tell of changes by others.
    pub fn open(&mut self, delegates: bool) {
        self.opens += 1;
        self.is_delegated |= delegates;
    }

    /// A file is closed; true if the server knows of an open.
    pub fn close(&mut self) -> bool {
        let is_known = self.opens > 0;
        self.opens -= u32::from(is_known);
        is_known
    }

    /// True if an open needs no call.
    pub fn is_delegated(&self) -> bool {
        self.is_delegated
    }

    /// The server has taken a delegation back, or the client has returned it.
    pub fn return_delegation(&mut self) {
        self.is_delegated = false;
    }

    /// Sends a WRITE of the pass that goes on. Returns the number of the pass.
    pub fn send(&mut self) -> u64 {
        if self.passes.back().is_none_or(|pass| pass.has_ended) {
            self.passes.push_back(Pass::default());
        }
        self.passes.back_mut().expect("there is one").left += 1;
        self.first + self.passes.len() as u64 - 1
    }

    /// Ends the pass that goes on; true if all of it has been written.
    pub fn end_pass(&mut self) -> bool {
        let Some(pass) = self.passes.back_mut().filter(|pass| !pass.has_ended) else { return false };
        pass.has_ended = true;
        let is_over = pass.left == 0;
        self.forget_passes();
        is_over
    }

    /// A WRITE of a pass has been answered, after which pages may be unstable; true if that was the last one of the pass.
    pub fn written(&mut self, pass: u64, pages: Option<Written>) -> bool {
        self.unstable.extend(pages);
        let pass = &mut self.passes[(pass - self.first) as usize];
        pass.left -= 1;
        let is_over = pass.has_ended && pass.left == 0;
        self.forget_passes();
        is_over
    }

    fn forget_passes(&mut self) {
        while self.passes.front().is_some_and(|pass| pass.has_ended && pass.left == 0) {
            self.passes.pop_front();
            self.first += 1;
        }
    }

    /// True if more than half of so many bytes, those of the file that are dirty, under writeback or unstable, are unstable.
    pub fn is_mostly_unstable(&self, bytes: u64) -> bool {
        bytes_of(&self.unstable) > bytes / 2
    }

    /// Takes the unstable pages for a COMMIT, if there are any.
    pub fn take_unstable(&mut self) -> Option<Vec<Written>> {
        let pages = std::mem::take(&mut self.unstable);
        self.commits += u32::from(!pages.is_empty());
        (!pages.is_empty()).then_some(pages)
    }

    /// A COMMIT has been answered. Returns who waited for the last one.
    pub fn committed(&mut self) -> Vec<OperationId> {
        self.commits -= 1;
        if self.commits == 0 { std::mem::take(&mut self.waiters) } else { Vec::new() }
    }

    /// Lets an operation wait for the COMMITs on their way; false if there are none.
    pub fn wait(&mut self, operation: OperationId) -> bool {
        if self.commits > 0 {
            self.waiters.push(operation);
        }
        self.commits > 0
    }
}
