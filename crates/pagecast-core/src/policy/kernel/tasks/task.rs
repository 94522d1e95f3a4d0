//! An operation under way, and how far it has come.

use crate::policy::kernel::tasks::cost::{Access, PerByte, Run};
use crate::policy::kernel::tasks::credit::{Credit, has_credit};
use crate::policy::kernel::tasks::ids::{MemcgId, WbId};
use crate::policy::kernel::tasks::kind::{Kind, Mode, Past, Stage, Way};
use crate::policy::kernel::tasks::shape::{RunShape, StreamKey, Transfer};
use crate::policy::{DeviceId, FileView, OperationId, Outcome};
use crate::result::Part;
use crate::units::{Bytes, Nanos};

/// An operation under way.
#[derive(Debug)]
pub struct Task {
    pub kind: Kind,
    /// Allocations have none.
    pub file: Option<FileView>,
    /// To whom its pages are charged, and the wb that its inode belongs to.
    pub memcg: MemcgId,
    pub wb: WbId,
    /// Where the run under way begins, and where the operation ends.
    pub position: u64,
    pub end: u64,
    /// Where the operation began.
    pub origin: u64,
    /// The open file that it reads.
    pub stream: Option<StreamKey>,
    /// Bytes of one system call.
    pub piece: Bytes,
    /// How many pages it makes dirty before it is checked.
    pub folio: u64,
    /// How the bytes under way are served.
    pub run: Run,
    pub shape: RunShape,
    /// How many bytes of its file had come into memory or left it when it was last looked where its bytes are.
    pub turnover: u64,
    /// What its thread could do when the run began, in bytes per second.
    pub pace: f64,
    pub transfer: Option<Transfer>,
    /// What is told to hold it back, if it does not do what it could.
    pub held_by: Option<Part>,
    /// Whether its next page is the one that makes its inode dirty, which ages from then on.
    pub is_first: bool,
    /// Bytes that have moved, and are counted, but are in no list and no file yet.
    pub pending: u64,
    /// Whether pages leave the cache when they have served it.
    pub drops_behind: bool,
    /// How pages are read that are missed, if it touches those of a mapping.
    pub mapped: Option<Mode>,
    pub access: Access,
    /// Up to where blocks have been read that it fills in part; nothing if there are none.
    pub read_until: Option<u64>,
    /// What a process that is throttled may write without a pause; nothing before its first check.
    pub credit: Option<Credit>,
    pub outcome: Outcome,
    /// When it began to wait, if it does.
    pub since: Nanos,
    /// How far it is, if it waits for a device.
    pub stage: Stage,
    /// Until when its processor is busy before the device gets its next request.
    pub busy_until: Option<Nanos>,
}

impl Task {
    /// An operation on bytes of a file, or of anonymous memory: first byte, how many, and in calls of how many.
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
            piece,
            folio: 1,
            run: Run::Wait,
            shape: RunShape::default(),
            turnover: 0,
            pace: 0.0,
            transfer: None,
            held_by: None,
            is_first: false,
            pending: 0,
            drops_behind: false,
            mapped: None,
            access: Access::Calls,
            read_until: None,
            credit: None,
            outcome: Outcome::default(),
            since: now,
            stage: Stage::Start,
            busy_until: None,
        }
    }

    pub fn file(&self) -> &FileView {
        self.file.as_ref().expect("an operation that moves bytes of a file has one")
    }

    /// What it costs to get a page of its file into the cache.
    pub fn page_insert(&self) -> Nanos {
        self.file.as_ref().map_or(Nanos::ZERO, |file| file.page_insert)
    }

    pub fn is_fresh(&self) -> bool {
        matches!(
            self.kind,
            Kind::Read { fresh: true }
                | Kind::Insert { fresh: true, .. }
                | Kind::Direct { past: Past::Read { fresh: true }, .. }
        )
    }

    /// Whether what it does past the cache is a write.
    pub fn writes_past(&self) -> bool {
        match self.kind {
            Kind::Direct { past, .. } => past.is_write(),
            Kind::Beside { way, .. } => way == Way::Write,
            _ => false,
        }
    }

    /// Whether each of its bytes is one of new anonymous memory.
    pub fn takes_anonymous(&self) -> bool {
        self.is_fresh() || self.run == Run::Touch
    }

    /// Whether it takes free pages while it goes on.
    pub fn takes_memory(&self) -> bool {
        self.run.fills() || self.takes_anonymous()
    }

    /// How many pages of memory it takes for each that it moves.
    pub fn pages_taken(&self) -> f64 {
        f64::from(u8::from(self.run.fills()) + u8::from(self.takes_anonymous()))
    }

    /// Whether it may write faster than the law of its device lets it, as long as its credit lasts.
    #[inline]
    pub fn runs_ahead(&self) -> bool {
        self.run.dirties() && has_credit(self)
    }

    /// Changes by so many bytes of the run how many the operation has from where.
    pub fn count_served(&mut self, bytes: u64, change: impl FnOnce(&mut Bytes, Bytes)) {
        let served = match self.run {
            Run::New | Run::Clean | Run::Dirty
                if matches!(self.kind, Kind::WriteSync { .. }) && !self.drops_behind =>
            {
                &mut self.outcome.from_device
            }
            Run::Hit | Run::New | Run::Clean | Run::Dirty | Run::Insert => &mut self.outcome.from_cache,
            Run::Miss | Run::Pass | Run::Through => &mut self.outcome.from_device,
            Run::Touch | Run::Remove | Run::Follow | Run::Direct | Run::Wait => return,
        };
        change(served, Bytes(bytes));
    }

    /// Notes how the run that has ended was spent.
    pub fn charge(&mut self, mut parts: crate::result::Parts, cost: &PerByte) {
        // What it copied while it had nothing to wait for is no time of the device.
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

    /// The first byte of what a task reads just now.
    pub fn reads_from(&self) -> u64 {
        if self.reads_ahead() { self.origin } else { self.position }
    }

    /// The byte up to which a task that reads will have come.
    pub fn reads_until(&self) -> u64 {
        let of_run = self.position + self.pending + self.transfer.as_ref().map_or(0, Transfer::left);
        let behind = self.shape.ahead.filter(|_| self.reads_ahead());
        behind.map_or(of_run, |ahead| ahead.end)
    }

    /// Of so many bytes that have moved next, those that the task has asked for.
    pub fn asked_of(&self, bytes: u64) -> u64 {
        bytes.min(self.end.saturating_sub(self.position + self.pending))
    }

    pub fn reads_ahead(&self) -> bool {
        matches!(self.kind, Kind::ReadAhead { .. })
    }

    /// Whether its pages are on their way: those of a request arrive together.
    pub fn is_in_flight(&self) -> bool {
        self.reads_ahead() && self.transfer.is_some()
    }

    /// Whose node its pages come from.
    pub fn thread(&self, operation: OperationId) -> OperationId {
        match self.kind {
            Kind::ReadAhead { thread } => thread,
            kind => kind.owner(operation),
        }
    }

    /// The device that its run reads from.
    pub fn device_read(&self) -> Option<DeviceId> {
        let reads =
            matches!(self.run, Run::Miss | Run::Pass) || (self.run == Run::Direct && !self.writes_past());
        reads.then(|| self.file().device)
    }

    /// Whether its run is what it is because pages are in memory, or are not. What is read from a device comes in any case: its
    /// requests are on their way.
    pub fn goes_by_pages(&self) -> bool {
        matches!(self.run, Run::Hit | Run::New | Run::Clean | Run::Dirty)
    }
}
