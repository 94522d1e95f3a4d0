//! Describes an operation under way, and its progress.

use crate::policy::kernel::tasks::checks::Checks;
use crate::policy::kernel::tasks::cost::{Access, PerByte, Run};
use crate::policy::kernel::tasks::credit::{Credit, has_credit};
use crate::policy::kernel::tasks::ids::{MemcgId, WbId};
use crate::policy::kernel::tasks::kind::{Kind, Mode, Past, Stage, Way};
use crate::policy::kernel::tasks::shape::{RunShape, StreamKey, Transfer};
use crate::policy::{DeviceId, FileView, OperationId, Outcome};
use crate::result::Part;
use crate::units::{Bytes, Nanos};

/// An operation under way.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub kind: Kind,
    /// Allocations have none.
    pub file: Option<FileView>,
    /// The cgroup to which its pages are charged, and the wb of its inode.
    pub memcg: MemcgId,
    pub wb: WbId,
    /// The start of the current run, and the end of the operation.
    pub position: u64,
    pub end: u64,
    /// The start of the operation.
    pub origin: u64,
    /// The open file that it reads.
    pub stream: Option<StreamKey>,
    /// The pages that are read ahead for it in tasks of their own.
    pub ahead: (u64, u64),
    /// Bytes of one system call.
    pub piece: Bytes,
    /// The pages that it makes dirty before each check.
    pub folio: u64,
    /// The way in which the current bytes are served.
    pub run: Run,
    pub shape: RunShape,
    /// The turnover of its file at the last lookup of its bytes.
    pub turnover: u64,
    /// The rate that its thread could reach when the run began, in bytes per second.
    pub pace: f64,
    pub transfer: Option<Transfer>,
    /// False if it waits for its turn of a processor.
    pub has_processor: bool,
    /// The reported part that holds it back, if it is slower than it could be.
    pub held_by: Option<Part>,
    /// True if its next page makes its inode dirty, which ages from then on.
    pub is_first: bool,
    /// Bytes that have moved, and are counted, but are in no list and no file yet.
    pub pending: u64,
    /// True if pages leave the cache when they have served it.
    pub drops_behind: bool,
    /// The mode in which missed pages are read, if it touches a mapping.
    pub mapped: Option<Mode>,
    pub access: Access,
    /// The end of the blocks that it fills in part and has read; nothing if there are none.
    pub read_until: Option<u64>,
    /// The byte up to which it joins the dirty pages of its folios, if its file is another host's.
    pub joins_until: u64,
    /// The time to give its file new times, which it has not spent yet.
    pub update_time: Nanos,
    /// The credit of a throttled process; nothing before its first check.
    pub credit: Option<Credit>,
    pub outcome: Outcome,
    /// The time at which it began to wait, if it waits.
    pub since: Nanos,
    /// Its progress, if it waits for a device.
    pub stage: Stage,
    /// True if the pages of its run are those of requests that its device has: nothing moves until these are complete.
    pub is_at_device: bool,
    /// The time at which its processor has prepared the next request of the device.
    pub busy_until: Option<Nanos>,
}

impl Task {
    /// A new operation on bytes of a file, or of anonymous memory: first byte, length, and length of a call.
    pub fn new(kind: Kind, file: Option<FileView>, at: (u64, Bytes, Bytes), now: Nanos) -> Self {
        let (offset, bytes, piece) = at;
        Self {
            kind,
            file,
            memcg: MemcgId::ROOT,
            wb: WbId::default(),
            position: offset,
            end: offset + bytes.0,
            origin: offset,
            stream: None,
            ahead: (0, 0),
            piece,
            folio: 1,
            run: Run::Wait,
            shape: RunShape::default(),
            turnover: 0,
            pace: 0.0,
            transfer: None,
            has_processor: true,
            held_by: None,
            is_first: false,
            pending: 0,
            drops_behind: false,
            mapped: None,
            access: Access::Calls,
            read_until: None,
            joins_until: 0,
            update_time: Nanos::ZERO,
            credit: None,
            outcome: Outcome::default(),
            since: now,
            stage: Stage::Start,
            is_at_device: false,
            busy_until: None,
        }
    }

    pub fn file(&self) -> &FileView {
        self.file.as_ref().expect("an operation that moves bytes of a file has one")
    }

    /// Returns the cost of putting a page of its file into the cache.
    pub fn page_insert(&self) -> Nanos {
        self.file.as_ref().map_or(Nanos::ZERO, |file| file.page_insert)
    }

    /// Returns the end of the call that a byte is in.
    pub fn end_of_call(&self, at: u64) -> u64 {
        let piece = self.piece.0.max(1);
        self.origin + ((at - self.origin) / piece + 1) * piece
    }

    pub fn is_fresh(&self) -> bool {
        matches!(
            self.kind,
            Kind::Read { fresh: true }
                | Kind::Shmem { fresh: true, .. }
                | Kind::Insert { fresh: true, .. }
                | Kind::Direct { past: Past::Read { fresh: true }, .. }
        )
    }

    /// True if it writes past the cache.
    pub fn writes_past(&self) -> bool {
        match self.kind {
            Kind::Direct { past, .. } => past.is_write(),
            Kind::Beside { way, .. } => way == Way::Write,
            _ => false,
        }
    }

    /// True if each of its bytes takes new anonymous memory.
    pub fn takes_anonymous(&self) -> bool {
        self.is_fresh() || matches!(self.run, Run::Touch | Run::Fill)
    }

    /// True if it takes free pages while it goes on.
    pub fn takes_memory(&self) -> bool {
        self.run.fills() || self.takes_anonymous()
    }

    /// Returns how many pages of memory it takes for each that it moves.
    pub fn pages_taken(&self) -> f64 {
        f64::from(u8::from(self.run.fills()) + u8::from(self.takes_anonymous()))
    }

    /// True if it may write faster than the law of its device allows, as long as its credit lasts.
    #[inline]
    pub fn runs_ahead(&self) -> bool {
        self.run.dirties() && has_credit(self)
    }

    /// Returns the counters of a task that makes pages dirty and takes its pauses one by one.
    #[inline]
    pub fn checks(&self) -> Option<&Checks> {
        self.credit.as_ref().filter(|_| self.run.dirties())?.checks.as_ref()
    }

    /// Notes pages that are read ahead for it.
    pub fn note_ahead(&mut self, (start, end): (u64, u64)) {
        let first = if start == self.ahead.1 { self.ahead.0 } else { start };
        self.ahead = (first, end);
    }

    /// Adds bytes of the run to the operation's counts, by their origin.
    pub fn count_served(&mut self, (start, end): (u64, u64), change: impl Fn(&mut Bytes, Bytes)) {
        let mut bytes = end - start;
        if self.run == Run::Hit {
            let ahead = end.min(self.ahead.1).saturating_sub(start.max(self.ahead.0));
            change(&mut self.outcome.from_device, Bytes(ahead));
            bytes -= ahead;
        }
        let served = match self.run {
            Run::New | Run::Clean | Run::Dirty
                if matches!(self.kind, Kind::WriteSync { .. }) && !self.drops_behind =>
            {
                &mut self.outcome.from_device
            }
            Run::Hit | Run::New | Run::Clean | Run::Dirty | Run::Fill | Run::Over | Run::Insert => {
                &mut self.outcome.from_cache
            }
            Run::Miss | Run::Pass | Run::Through => &mut self.outcome.from_device,
            Run::Touch | Run::Remove | Run::Follow | Run::Direct | Run::Wait => return,
        };
        change(served, Bytes(bytes));
    }

    /// Adds the time of the run that has ended to the parts of the operation.
    pub fn charge(&mut self, mut parts: crate::result::Parts, cost: &PerByte) {
        // The copying while it had nothing to wait for is no time of the device.
        let copying = Nanos::from_seconds(self.shape.copying).min(parts.get(Part::DeviceRead));
        parts.shift(Part::DeviceRead, Part::CpuCopy, copying);
        if cost.seconds > 0.0 {
            // First touch has no copy.
            let own = if self.run == Run::Touch { Part::PageAllocation } else { Part::CpuCopy };
            let all = parts.get(own);
            let share = |part: f64| Nanos((all.0 as f64 * part / cost.seconds) as u64);
            parts.shift(own, Part::Reclaim, share(cost.reclaim));
            parts.shift(own, Part::PageAllocation, share(cost.allocation));
        }
        self.outcome.parts.add_all(&parts);
    }

    /// Returns the first byte of the run that a task is reading.
    pub fn reads_from(&self) -> u64 {
        if self.reads_ahead() { self.origin } else { self.position }
    }

    /// Returns the byte up to which a task that reads will have come.
    pub fn reads_until(&self) -> u64 {
        let of_run = self.position + self.pending + self.transfer.as_ref().map_or(0, Transfer::left);
        let behind = self.shape.ahead.filter(|_| self.reads_ahead());
        behind.map_or(of_run, |ahead| ahead.end)
    }

    /// Returns how many of the next `bytes` moved bytes the task has asked for.
    pub fn asked_of(&self, bytes: u64) -> u64 {
        bytes.min(self.end.saturating_sub(self.position + self.pending))
    }

    pub fn reads_ahead(&self) -> bool {
        matches!(self.kind, Kind::ReadAhead { .. })
    }

    /// True if its pages are in flight: those of a request arrive together.
    pub fn is_in_flight(&self) -> bool {
        self.reads_ahead() && self.transfer.is_some()
    }

    /// Returns the process whose node its pages come from.
    pub fn thread(&self, operation: OperationId) -> OperationId {
        match self.kind {
            Kind::ReadAhead { thread } => thread,
            kind => kind.owner(operation),
        }
    }

    /// Returns the device that its run reads from.
    pub fn device_read(&self) -> Option<DeviceId> {
        let reads =
            matches!(self.run, Run::Miss | Run::Pass) || (self.run == Run::Direct && !self.writes_past());
        reads.then(|| self.file().device)
    }

    /// True if its run depends on pages being in memory, or not. A read from a device does not: its requests are in flight, and its
    /// pages come in any case.
    pub fn goes_by_pages(&self) -> bool {
        matches!(self.run, Run::Hit | Run::New | Run::Clean | Run::Dirty)
    }
}
