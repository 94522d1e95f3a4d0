//! Runs CAWL, the analytic model of writes (`crate::cawl`), under the engine.
//!
//! Source: Gholami, Schintke, *CAWL: A Cache-aware Write Performance Model of Linux Systems*, 2023. A write of the one process that writes
//! is computed when it begins, system call by system call, and ends that much later. Nothing is shared: there are no transfers. Requests
//! that the model does not cover are refused.
//!
//! Ours, as the paper has no such thing: writes in several ways to one file (a synchronous write makes bytes clean), `truncate` and
//! `unlink` (dirty bytes are gone). `drop_caches`, advice and anonymous memory change nothing, as only dirty bytes are known.

mod options;

use std::ops::Range;

use self::options::{Costs, costs_of_disks};
use super::{
    Actions, Call, DeviceId, FileId, FileView, OperationId, Options, Outcome, Policy, Refusal, Request,
};
use crate::cawl::SyscallCost;
use crate::error::ScenarioError;
use crate::flow::{Completion, Progress};
use crate::machine::Host;
use crate::result::{FileLevels, MemoryLevels, Part, Parts};
use crate::stop;
use crate::units::{Bytes, Nanos};

const ASK_KERNEL: &str = "ask model `kernel`";

const NO_READS: Refusal =
    Refusal { what: "knows writes only", remedy: "ask model `kernel`, or leave the read out" };
const NO_FLUSHING: Refusal = Refusal {
    what: "knows no write-back that a process asks for",
    remedy: "ask model `kernel`, or open the file with O_SYNC",
};
const NO_DONTCACHE: Refusal =
    Refusal { what: "knows no RWF_DONTCACHE", remedy: "ask model `kernel`, or open the file without it" };
const NO_MAPPINGS: Refusal =
    Refusal { what: "knows no mapped files", remedy: "ask model `kernel`, or write with `write`" };
const ONE_PROCESS: Refusal = Refusal { what: "knows one process that writes", remedy: ASK_KERNEL };
const ONE_DEVICE: Refusal = Refusal { what: "knows one device that is written to", remedy: ASK_KERNEL };
const NO_PAST: Refusal =
    Refusal { what: "begins with nothing dirty", remedy: "ask model `kernel`, or let the file be clean" };
const TOO_MANY_CALLS: Refusal = Refusal {
    what: "computes each of its more than 100 million calls",
    remedy: "ask model `kernel`, or write less in larger calls",
};
const NO_ASYNCHRONOUS: Refusal =
    Refusal { what: "knows no asynchronous operations", remedy: "ask model `kernel`, or leave `depth` out" };
const NO_REMOTE: Refusal = Refusal { what: "knows no files of other hosts", remedy: ASK_KERNEL };

/// The most calls of a write: each takes about a microsecond to compute.
const MOST_CALLS: u64 = 100_000_000;

/// The page cache of a host; see the module.
pub struct Cawl {
    memory: Bytes,
    anonymous: Bytes,
    /// The write costs of each disk of the host.
    costs: Vec<Costs>,
    writer: Option<Writer>,
    under_way: Option<UnderWay>,
    /// The numbers of asynchronous operations.
    asynchronous: Vec<OperationId>,
    /// The dirty bytes at the last instant at which something began or ended.
    dirty: u64,
}

/// The one process that writes, to one device.
struct Writer {
    process: OperationId,
    device: DeviceId,
    costs: Costs,
    calls: SyscallCost,
    /// The time up to which the page cache has been computed.
    clock: Nanos,
    /// The end of the last write past the cache or through it: the next one seeks unless it begins there.
    ended_at: Option<(FileId, u64)>,
}

/// A write whose end is known.
struct UnderWay {
    operation: OperationId,
    ends: Nanos,
    outcome: Outcome,
}

/// The way of a write.
#[derive(Clone, Copy)]
enum Way {
    Buffered,
    Synchronous,
    Direct,
}

/// The cost of a write, in seconds.
#[derive(Default)]
struct Spent {
    all: f64,
    /// The device's part of it, or the time held back.
    device: f64,
    throttled: f64,
}

impl Cawl {
    /// An empty page cache.
    ///
    /// # Errors
    /// An unknown option, or a value that does not fit.
    pub fn new(host: &Host, options: &Options<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            memory: host.memory.size,
            anonymous: Bytes::ZERO,
            costs: costs_of_disks(options, host)?,
            writer: None,
            under_way: None,
            asynchronous: Vec::new(),
            dirty: 0,
        })
    }

    /// Returns the page cache above a device; both belong to the first process that writes.
    fn writer(&mut self, process: OperationId, device: DeviceId) -> Result<&mut Writer, Refusal> {
        let Some(costs) = self.costs.get(device.0 as usize) else { return Err(NO_REMOTE) };
        let writer = self.writer.get_or_insert_with(|| Writer::new(process, device, *costs));
        if writer.process != process {
            return Err(ONE_PROCESS);
        }
        if writer.device == device { Ok(writer) } else { Err(ONE_DEVICE) }
    }

    fn write(
        &mut self,
        now: Nanos,
        operation: OperationId,
        way: Way,
        file: &FileView,
        (offset, bytes, piece): (u64, Bytes, Bytes),
        out: &mut Actions,
    ) {
        if bytes.0 / MOST_CALLS > piece.0 {
            return out.refuse(operation, TOO_MANY_CALLS);
        }
        let writer = match self.writer(operation, file.device) {
            Ok(writer) => writer,
            Err(refusal) => return out.refuse(operation, refusal),
        };
        writer.go_on(now);
        let before = writer.calls.dirty();
        let spent = writer.write(way, file.id, offset..offset + bytes.0, piece);
        let ends = now + Nanos::from_seconds(spent.all);
        if matches!(way, Way::Buffered) {
            writer.clock = ends;
        }
        self.dirty = before;
        let outcome = spent.outcome(ends - now, way, bytes);
        self.under_way = Some(UnderWay { operation, ends, outcome });
        self.end_write(now, out);
    }

    /// Ends the write under way if it is over.
    fn end_write(&mut self, now: Nanos, out: &mut Actions) {
        if let Some(UnderWay { operation, outcome, .. }) = self.under_way.take_if(|write| write.ends <= now) {
            self.dirty = self.writer.as_ref().map_or(0, |writer| writer.calls.dirty());
            out.done(operation, outcome);
        }
    }

    fn discard(&mut self, now: Nanos, file: FileId, range: &Range<u64>) {
        if let Some(writer) = &mut self.writer {
            writer.go_on(now);
            writer.calls.discard(file.0, range);
            self.dirty = writer.calls.dirty();
        }
    }
}

impl Writer {
    fn new(process: OperationId, device: DeviceId, costs: Costs) -> Self {
        let calls = SyscallCost::new(costs.cache).expect("the parameters were checked");
        Self { process, device, costs, calls, clock: Nanos::ZERO, ended_at: None }
    }

    /// Brings the page cache up to now. A write that is under way has been computed already.
    fn go_on(&mut self, now: Nanos) {
        if now > self.clock {
            self.calls.pause((now - self.clock).as_seconds());
            self.clock = now;
        }
    }

    /// Writes bytes of a file, in calls of `piece`.
    fn write(&mut self, way: Way, file: FileId, range: Range<u64>, piece: Bytes) -> Spent {
        let mut spent = Spent::default();
        let mut at = range.start;
        loop {
            stop::spend(stop::EVENT);
            let bytes = piece.0.min(range.end - at);
            spent.add(&match way {
                Way::Buffered => self.write_buffered(file, at, bytes),
                Way::Synchronous | Way::Direct => self.write_past(way, file, at, bytes),
            });
            at += bytes;
            if at >= range.end {
                return spent;
            }
        }
    }

    fn write_buffered(&mut self, file: FileId, offset: u64, bytes: u64) -> Spent {
        let written = self.calls.write(file.0, offset, bytes, 0.0);
        Spent { all: written.seconds, device: 0.0, throttled: written.throttled }
    }

    fn write_past(&mut self, way: Way, file: FileId, offset: u64, bytes: u64) -> Spent {
        let seeks = self.ended_at.is_some_and(|end| end != (file, offset));
        self.ended_at = Some((file, offset + bytes));
        self.calls.discard(file.0, &(offset..offset + bytes));
        let Costs { direct, sync, .. } = &self.costs;
        match way {
            Way::Direct => {
                let all = direct.cost(bytes, seeks);
                Spent { all, device: all, throttled: 0.0 }
            }
            _ => {
                let all = sync.cost(bytes, seeks);
                Spent { all, device: all - sync.copying(bytes), throttled: 0.0 }
            }
        }
    }
}

impl Spent {
    fn add(&mut self, other: &Self) {
        self.all += other.all;
        self.device += other.device;
        self.throttled += other.throttled;
    }

    /// Returns the outcome of a write that took so long.
    fn outcome(&self, time: Nanos, way: Way, bytes: Bytes) -> Outcome {
        let mut parts = Parts::of(Part::CpuCopy, time);
        for (part, seconds) in [(Part::DeviceWrite, self.device), (Part::Throttled, self.throttled)] {
            let left = parts.get(Part::CpuCopy);
            parts.shift(Part::CpuCopy, part, Nanos::from_seconds(seconds).min(left));
        }
        match way {
            Way::Buffered => Outcome { parts, from_cache: bytes, ..Outcome::default() },
            Way::Synchronous | Way::Direct => Outcome { parts, from_device: bytes, ..Outcome::default() },
        }
    }
}

impl Policy for Cawl {
    fn begin(&mut self, now: Nanos, request: &Request, out: &mut Actions) {
        let operation = request.operation;
        if self.asynchronous.contains(&operation) {
            return out.refuse(operation, NO_ASYNCHRONOUS);
        }
        match request.call {
            Call::Write { dontcache: true, .. } => return out.refuse(operation, NO_DONTCACHE),
            Call::Write { file, offset, bytes, through, piece, .. } => {
                let way = if through { Way::Synchronous } else { Way::Buffered };
                return self.write(now, operation, way, &file, (offset, bytes, piece), out);
            }
            Call::WriteSync { file, offset, bytes, piece, .. } => {
                return self.write(now, operation, Way::Synchronous, &file, (offset, bytes, piece), out);
            }
            Call::WriteDirect { file, offset, bytes, piece, .. } => {
                return self.write(now, operation, Way::Direct, &file, (offset, bytes, piece), out);
            }
            Call::Mapped { .. } => return out.refuse(operation, NO_MAPPINGS),
            Call::Read { .. } | Call::ReadDirect { .. } => return out.refuse(operation, NO_READS),
            Call::Fsync { .. }
            | Call::FsyncRange { .. }
            | Call::Sync
            | Call::SyncFs { .. }
            | Call::SyncRange { .. } => {
                return out.refuse(operation, NO_FLUSHING);
            }
            Call::Serve { .. } | Call::Insert { .. } => {
                unreachable!("files of other hosts are one flow for this policy")
            }
            Call::Preload { dirty, .. } if dirty > Bytes::ZERO => return out.refuse(operation, NO_PAST),
            Call::Truncate { file, size, .. } => self.discard(now, file.id, &(size.0..u64::MAX)),
            Call::Unlink { file } => self.discard(now, file.id, &(0..u64::MAX)),
            Call::Preload { .. }
            | Call::Advise { .. }
            | Call::Name { .. }
            | Call::Open { .. }
            | Call::Close { .. }
            | Call::DropCaches => {}
            Call::Allocate { bytes, .. } => self.anonymous += bytes,
            Call::Free { bytes, .. } => self.anonymous -= bytes,
        }
        out.done(operation, Outcome::default());
    }

    fn share_files(&mut self, operation: OperationId, _process: OperationId) {
        self.asynchronous.push(operation);
    }

    fn completed(&mut self, _now: Nanos, _done: &Completion, _out: &mut Actions) {
        unreachable!("this policy starts no transfers");
    }

    fn advance(&mut self, now: Nanos, _progress: &[Progress], out: &mut Actions) {
        self.end_write(now, out);
    }

    fn next_call(&self) -> Option<Nanos> {
        self.under_way.as_ref().map(|write| write.ends)
    }

    fn levels(&self) -> MemoryLevels {
        let dirty = Bytes(self.dirty);
        MemoryLevels { total: self.memory, anonymous: self.anonymous, cached: dirty, dirty, kernel: None }
    }

    fn residency(&self, file: FileId) -> FileLevels {
        let (dirty, active) = self.writer.as_ref().map_or((0, 0), |writer| writer.calls.of_file(file.0));
        FileLevels { cached: Bytes(dirty), dirty: Bytes(dirty), active: Bytes(active) }
    }
}
