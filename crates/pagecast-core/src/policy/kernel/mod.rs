//! Linux's own rules, at the granularity of extents and rates.
//!
//! Source: `mm/page-writeback.c`, `fs/fs-writeback.c`, `mm/vmscan.c`, `mm/workingset.c`, `mm/filemap.c`, Linux 6.16, and what
//! older versions do otherwise (`rules`). Pages change state only by bytes that a flow has reported as moved. Each call
//! brings all levels up to now (`sync`), then something happens, then `control` decides what follows from it: flushers to be
//! woken, rates to be changed, and when to look again. Where the pages are whose number is known is found out when it
//! matters (`settle`). Left out: swap, folios larger than a page, memory of the kernel itself; each file says what
//! more it leaves out.


mod address_space;
mod block;
mod ext4;
mod filemap;
mod fs_writeback;
mod memcontrol;
mod model;
mod page_alloc;
mod page_writeback;
mod sync;
mod task;
mod version;
mod vmscan;
#[cfg(test)]
mod tests;

pub use self::page_writeback::law;
use std::cell::Cell;

use rustc_hash::FxHashMap;

use self::model::cost::Prices;
use self::filemap::direct::Past;
use self::address_space::dirty::DirtyPages;
use self::page_writeback::domains::Domain;
use self::fs_writeback::flusher::{Flusher, Timers, WHOLE};
use self::address_space::folios::Folios;
use self::ext4::journal::Journal;
use self::page_writeback::law::{DeviceShare, DirtySettings, Fractions, HardLimit, Hz, Thresholds, setpoint};
use self::vmscan::Replacement;
use self::filemap::mapped::Mapping;
use self::memcontrol::memcg::{MemcgId, Taker};
use self::memcontrol::stats::Stats;
pub use self::model::options::KernelOptions;
pub(in crate::policy) use self::model::options::limits_at_boot;
use self::page_alloc::pages::Pages;
use self::page_alloc::placement::Placement;
use self::block::queue::Queue;
use self::filemap::readahead::Stream;
use self::filemap::read::{StreamKey, operation_of};
use self::vmscan::refaults::Storm;
pub use self::page_alloc::reporting::{Backed, Fragments, fragments_of};
use self::version::Rules;
use self::model::next_call::Survey;
use self::block::seeks::Heads;
use self::model::told::Spells;
use self::task::tasks::{Credit, Kind, Task, Tasks};
use self::page_writeback::balance_dirty_pages::folio_of;
use self::model::unchanged::CapsOf;
use self::page_writeback::wb::{Wb, WbId};
use self::block::wbt::{Recent, Wbt};
use self::ext4::written_back::WrittenBack;
use super::{
    Actions, Call, DeviceId, FileId, FileView, Integrity, ListedBlock, OperationId, Outcome, Policy, Remote,
    Request, Setting,
};
use crate::flow::{Completion, Path, Progress};
use crate::machine::{Disk, Host, Lru};
use crate::result::{CgroupLevels, FileLevels, KernelLevels, MemoryLevels};
use crate::units::{Bytes, Nanos};

/// The kernel counts memory in pages of 4 KiB.
const PAGE: u64 = 4096;

/// A range of bytes, with the rest of the pages that it touches.
fn whole_pages((start, end): (u64, u64)) -> (u64, u64) {
    (start / PAGE * PAGE, end.div_ceil(PAGE).saturating_mul(PAGE))
}

/// What other hosts read and write goes through both page caches in pieces of this size.
const REMOTE_CHUNK: Bytes = Bytes(8 << 20);

/// See the module.
pub struct Kernel {
    host: Host,
    prices: Prices,
    rules: Rules,
    settings: DirtySettings,
    options: KernelOptions,
    memory_read: Path,
    memory_write: Path,
    pages: Pages,
    journal: Journal,
    placement: Placement,
    wbs: Vec<Option<Wb>>,
    /// Of each device.
    queues: Vec<Queue>,
    recent: Vec<Recent>,
    fractions: Fractions,
    /// By which part of the limits each wb is measured, and whether any of them is strict.
    shares: Vec<DeviceShare>,
    has_strict: bool,
    hard_limit: HardLimit,
    /// Of each memory cgroup that has dirty limits of its own.
    domains: Vec<Option<Domain>>,
    /// When their counters are added up next, where that is done now and then only.
    stats_due: Option<Nanos>,
    /// The memory cgroup that each operation's pages are charged to, and each inode that was ever dirty belongs to; only kept where
    /// there are cgroups.
    memcg_of: FxHashMap<OperationId, MemcgId>,
    owners: FxHashMap<FileId, MemcgId>,
    tasks: Tasks,
    /// Whether any of them may follow another one, or wait for its own processor.
    has_followers: bool,
    has_busy: bool,
    /// Whether any of them ran ahead of its rate at `synced`.
    runs_ahead: bool,
    /// For what their caps hold, and when they were last surveyed and what that told: see `unchanged`.
    caps_of: Option<CapsOf>,
    /// When it was last decided for all tasks who goes on and how fast, and whether that is put off to the end of this instant.
    decided: Option<Nanos>,
    is_put_off: bool,
    surveyed: Cell<Option<(u64, Survey)>>,
    credits: FxHashMap<OperationId, Credit>,
    streams: FxHashMap<StreamKey, Stream>,
    /// The mappings of each process that stay.
    mappings: FxHashMap<StreamKey, Mapping>,
    /// Only kept where there are longer ones than pages.
    folios: Folios,
    /// The number of the last operation that reads ahead.
    ahead_number: u32,
    written_back: WrittenBack,
    heads: Heads,
    /// Free memory that the host has not taken back, if it takes any.
    backed: Option<Backed>,
    /// Which part of a processor's time a task gets that could use all of it.
    processor_share: f64,
    /// The instant for which all levels hold.
    synced: Nanos,
    /// When it was last told where the bytes of tasks under way are.
    settled: Nanos,
    /// What had come into memory or left it when runs were last cut.
    turnover: u64,
    /// When it was last told that reclaim woke the flushers.
    told: Nanos,
    /// Limits at that instant, in pages.
    limits: Limits,
    /// What is to be told.
    spells: Spells,
    storm: Storm,
}

/// What the dirty level is compared with, in pages.
#[derive(Clone, Copy, Debug)]
struct Limits {
    thresholds: Thresholds,
    freerun: u64,
    hard: u64,
    setpoint: u64,
}

impl Limits {
    /// The limits with the memory as it is.
    fn of(pages: &Pages, settings: &DirtySettings, hard_limit: &HardLimit) -> Self {
        Self::with(Thresholds::of(settings, pages.dirtyable() / PAGE), hard_limit)
    }

    /// The limits with these thresholds.
    fn with(thresholds: Thresholds, hard_limit: &HardLimit) -> Self {
        let (freerun, hard) = (thresholds.freerun(), hard_limit.value(thresholds.limit));
        Self { thresholds, freerun, hard, setpoint: setpoint(freerun, hard) }
    }
}

impl Kernel {
    /// An empty page cache.
    #[must_use]
    pub fn new(setting: &Setting<'_>, options: KernelOptions) -> Self {
        let mut host = setting.host.clone();
        let per_thread = host.memory.per_thread;
        host.memory.cost.copy_read = host.memory.cost.copy_read.or(per_thread);
        host.memory.cost.copy_write = host.memory.cost.copy_write.or(per_thread);
        let rules = Rules::of(host.kernel.version);
        let settings = model::options::dirty_settings(&host.vm, rules.rounding);
        let replacement = match host.kernel.lru {
            Lru::TwoList => Replacement::TwoLists(rules.two_lists),
            Lru::Mglru => Replacement::Generations(rules.lru_gen),
        };
        let devices = host.disks.len() + host.mounts.len();
        let has_domain = host.cgroups.iter().map(memcontrol::memcg::has_domain);
        let flushed = rules.memcg_stats_are_late.then(Stats::default);
        let domain = || Domain { flushed, ..Domain::new(devices, host.cores) };
        let domains = has_domain.map(|has| has.then(domain)).collect();
        let wbs_at_most = devices * (host.cgroups.len() + 1);
        let shares = page_writeback::shares::of(&host, rules.share_has_floor);
        let pages = Pages::new(&host, replacement);
        let at_boot = Thresholds::of(&settings, pages.dirtyable() / PAGE);
        let hard_limit = options.hard_limit(at_boot.limit);
        let takes_back = host.memory.cost.page_reported.is_some();
        let backed = takes_back.then(|| options.backed(pages.free()));
        let written_back = WrittenBack::of(&host, options.prepared());
        let mut kernel = Self {
            prices: Prices::of(&host.memory.cost),
            limits: Limits::of(&pages, &settings, &hard_limit),
            settings,
            rules,
            fractions: options.fractions(wbs_at_most, host.cores),
            has_strict: shares.iter().any(|share| share.strict_limit),
            shares,
            options,
            memory_read: setting.memory_read,
            memory_write: setting.memory_write,
            placement: Placement::new(pages.nodes()),
            pages,
            wbs: Vec::new(),
            queues: (0..devices).map(|at| queue_of(&host, at)).collect(),
            recent: vec![Recent::default(); devices],
            hard_limit,
            domains,
            stats_due: None,
            memcg_of: FxHashMap::default(),
            owners: FxHashMap::default(),
            tasks: Tasks::default(),
            has_followers: false,
            has_busy: false,
            runs_ahead: false,
            caps_of: None,
            decided: None,
            is_put_off: false,
            surveyed: Cell::new(None),
            credits: FxHashMap::default(),
            streams: FxHashMap::default(),
            mappings: FxHashMap::default(),
            folios: Folios::default(),
            ahead_number: 0,
            written_back,
            heads: Heads::of(host.disks.len()),
            backed,
            processor_share: 1.0,
            synced: Nanos::ZERO,
            journal: Journal::default(),
            settled: Nanos::ZERO,
            turnover: 0,
            told: Nanos::ZERO,
            spells: Spells::default(),
            storm: Storm::default(),
            host,
        };
        kernel.stats_due = kernel.first_stats_flush();
        kernel
    }

    fn begin_task(
        &mut self,
        now: Nanos,
        request: &Request,
        kind: Kind,
        file: Option<FileView>,
        at: (u64, Bytes, Bytes),
        out: &mut Actions,
    ) {
        self.placement.home(kind.owner(request.operation));
        let credit = self.credits.get(&request.operation).copied();
        let memcg = self.memcg_of(request.operation);
        if let (Kind::Write | Kind::WriteSync { .. }, Some(file)) = (kind, &file) {
            self.attach(file, memcg);
        }
        let wb = file.as_ref().map_or_else(WbId::default, |file| self.wb_of(file));
        let stream = filemap::read::stream_of(request, kind, file.as_ref());
        let folio = folio_of(at.2, self.rules.largest_folio);
        let drops_behind = matches!(
            request.call,
            Call::Read { dontcache: true, .. } | Call::Write { through: false, dontcache: true, .. }
        );
        let task = Task { credit, stream, memcg, wb, folio, ..Task::new(kind, file, at, now) };
        let mut task = Task { drops_behind, ..task };
        if let Call::Mapped { advice, mapping, .. } = request.call {
            self.map(&mut task, advice, mapping);
        } else if matches!(kind, Kind::Write | Kind::WriteSync { .. }) {
            task.read_until = filemap::partial_blocks::read_until(&task);
        }
        self.tasks.insert(request.operation, task);
        self.next_run(now, request.operation, out);
    }

    /// An operation writes the dirty pages of a range of a file, waits for them, and has what the file system and the device keep of
    /// the file made durable.
    fn make_durable(
        &mut self,
        now: Nanos,
        operation: OperationId,
        (file, range): (FileView, (u64, u64)),
        what: Integrity,
        out: &mut Actions,
    ) {
        let waits = self.write_range(now, operation, &file, range, out);
        let then = self.waits_after(&file, what);
        self.wait_for_files(now, operation, (Some(file), waits.into()), then, out);
    }

    /// The first bytes of a file are cached, and the first of them dirty, before anything happens.
    fn preload(&mut self, now: Nanos, file: &FileView, bytes: Bytes, dirty: Bytes) {
        let nobody = Taker { home: 0, memcg: MemcgId::ROOT };
        let refaults = self.pages.refaults;
        self.pages.read_in(file.id, 0, bytes.0, nobody);
        self.pages.refaults = refaults; // nothing was read
        if dirty > Bytes::ZERO {
            self.attach(file, MemcgId::ROOT);
            self.make_dirty(now, file, (0, dirty.0), nobody);
        }
    }

    /// A process gives anonymous memory back.
    fn free(&mut self, owner: OperationId, bytes: Bytes) {
        let memcg = self.memcg_of(owner);
        for (node, given) in self.placement.give_back(owner, bytes.0).into_iter().enumerate() {
            self.pages.give_back_anonymous(memcg, node, given);
        }
    }

    /// The disk of a file; none if it is on another host.
    fn disk_of(&self, file: &FileView) -> Option<&Disk> {
        self.host.disks.get(file.device.0 as usize)
    }

    /// How its timers fire.
    fn timers(&self) -> Timers {
        Timers { hz: Hz(self.host.kernel.hz.into()), has_wheel: self.rules.has_timer_wheel }
    }

    /// What the kernel knows of writing a file to its device; made when it is first heard of.
    fn wb(&mut self, file: &FileView) -> &mut Wb {
        let at = self.wb_of(file).0 as usize;
        if self.wbs.len() <= at {
            self.wbs.resize_with(at + 1, || None);
        }
        let unit = (self.pages.memory.total / fs_writeback::flusher::UNITS).clamp(fs_writeback::flusher::LEAST_UNIT, fs_writeback::flusher::MOST_UNIT);
        let (host, options) = (&self.host, &self.options);
        self.wbs[at].get_or_insert_with(|| {
            let (base_rate, bandwidth) = (options.base_rate(), options.bandwidth());
            Wb::new(file.write, Flusher::new(unit), base_rate, bandwidth, host.kernel.hz)
        })
    }

    /// The queue of the device of a file.
    fn queue(&mut self, file: &FileView) -> &mut Queue {
        &mut self.queues[file.device.0 as usize]
    }
}

/// The queue of a device of a host.
fn queue_of(host: &Host, device: usize) -> Queue {
    let requests = host.disks.get(device).map_or(model::options::REMOTE_QUEUE, |disk| disk.queue);
    Queue::new(requests, Wbt::of(host, DeviceId(device as u32)))
}

impl Policy for Kernel {
    fn begin(&mut self, now: Nanos, request: &Request, out: &mut Actions) {
        self.sync(now);
        self.settle(now);
        match request.call {
            Call::Read { file, offset, bytes, fresh, piece, .. } => {
                self.begin_task(now, request, Kind::Read { fresh }, Some(file), (offset, bytes, piece), out);
            }
            Call::Serve { file, offset, bytes } => {
                let kind = Kind::Read { fresh: false };
                self.begin_task(now, request, kind, Some(file), (offset, bytes, bytes), out);
            }
            Call::Write { file, offset, bytes, through: false, dontcache: true, piece } => {
                let at = (offset, bytes, piece);
                self.begin_synchronous(now, request, file, at, Integrity::Data, out);
            }
            Call::Write { file, offset, bytes, through, piece, .. } => {
                self.note_write(now, &file, offset + bytes.0);
                let kind = if through { Kind::WriteThrough } else { Kind::Write };
                self.begin_task(now, request, kind, Some(file), (offset, bytes, piece), out);
            }
            Call::WriteSync { file, offset, bytes, piece, durable } => {
                self.begin_synchronous(now, request, file, (offset, bytes, piece), durable, out);
            }
            Call::ReadDirect { file, offset, bytes, fresh, piece } => {
                self.begin_direct(now, request, Past::Read { fresh }, file, (offset, bytes, piece), out);
            }
            Call::WriteDirect { file, offset, bytes, durable, piece } => {
                let past = Past::Write { durable };
                self.begin_direct(now, request, past, file, (offset, bytes, piece), out);
            }
            Call::Sync => self.write_everything(now, request.operation, None, out),
            Call::SyncFs { device } => self.write_everything(now, request.operation, Some(device), out),
            Call::SyncRange { file, offset, bytes, flags } => {
                let range = (offset, offset.saturating_add(bytes.0));
                self.sync_range(now, request.operation, file, range, flags, out);
            }
            Call::Insert { file, offset, bytes, reader, fresh } => {
                let kind = Kind::Insert { reader, fresh };
                self.begin_task(now, request, kind, Some(file), (offset, bytes, bytes), out);
            }
            Call::Allocate { bytes, owner } => {
                self.begin_task(now, request, Kind::Allocate { owner }, None, (0, bytes, bytes), out);
            }
            Call::Fsync { file, durable } => {
                self.make_durable(now, request.operation, (file, WHOLE), durable, out);
            }
            Call::FsyncRange { file, offset, bytes } => {
                // As by fdatasync (`mm/msync.c`).
                let range = whole_pages((offset, offset.saturating_add(bytes.0)));
                self.make_durable(now, request.operation, (file, range), Integrity::Data, out);
            }
            Call::Mapped { file, offset, bytes, writes, .. } => {
                let kind = if writes { Kind::Write } else { Kind::Read { fresh: false } };
                self.begin_task(now, request, kind, Some(file), (offset, bytes, bytes), out);
            }
            Call::Truncate { file, size } => self.truncate(now, request, file, size, out),
            Call::Advise { file, advice, offset, bytes } => {
                let before = self.pages.cached();
                self.advise(request.operation, &file, advice, (offset, offset.saturating_add(bytes.0)), out);
                self.end_removal(now, request, before, out);
            }
            Call::DropCaches => {
                let before = self.pages.cached();
                self.pages.drop_clean();
                self.end_removal(now, request, before, out);
            }
            Call::Preload { file, bytes, dirty } => {
                self.preload(now, &file, bytes, dirty);
                out.done(request.operation, Outcome::default());
            }
            Call::Free { bytes, owner } => {
                self.free(owner, bytes);
                out.done(request.operation, Outcome::default());
            }
        }
        self.control(now, out);
        self.check_books();
    }

    fn charge_to(&mut self, operation: OperationId, cgroup: Option<usize>) {
        self.memcg_of.insert(operation, cgroup.map_or(MemcgId::ROOT, MemcgId::of));
    }

    fn completed(&mut self, now: Nanos, done: &Completion, out: &mut Actions) {
        self.sync(now);
        match fs_writeback::submission::device_of_tag(done.tag) {
            Some(device) => self.unit_written(now, device, out),
            None => self.run_ended(now, operation_of(done.tag), done, out),
        }
        self.control(now, out);
        self.check_books();
    }

    fn advance(&mut self, now: Nanos, progress: &[Progress], out: &mut Actions) {
        self.sync(now);
        for each in progress {
            let transfer = match fs_writeback::submission::device_of_tag(each.tag) {
                Some(device) => self.queues[device].transfer.as_mut(),
                None => self.tasks.get_mut(operation_of(each.tag)).and_then(|task| task.transfer.as_mut()),
            };
            if let Some(transfer) = transfer.filter(|transfer| transfer.flow == each.flow) {
                transfer.heard(now, each);
            }
        }
        // New rates change no level, only when the next threshold is crossed, and who needs how much of a processor.
        if progress.is_empty() {
            self.control_at_last(now, out);
        } else if self.has_share_changed() {
            self.control(now, out);
        }
        self.check_books();
    }

    fn next_call(&self) -> Option<Nanos> {
        self.schedule(self.synced)
    }

    fn most_anonymous(&self) -> Option<Bytes> {
        Some(Bytes(self.pages.memory.most_anonymous()))
    }

    fn copied_at_once(&self, file: &FileView, at: u64, end: u64) -> Bytes {
        self.read_at_once(file, at, end)
    }

    fn remote(&self) -> Remote {
        Remote::Chunks(REMOTE_CHUNK)
    }

    fn bring_up_to(&mut self, now: Nanos) {
        self.sync(now);
    }

    fn retire(&mut self, keeps_blocks: bool) {
        self.pages.lists.retire(keeps_blocks);
    }

    fn tell_rest(&mut self, now: Nanos, out: &mut Actions) {
        self.settle_for_good(now);
        self.spells.tell_rest(now, out);
        self.sample_all_devices(out);
    }

    fn is_even(&self) -> bool {
        true
    }

    fn levels(&self) -> MemoryLevels {
        let pages = |count: u64| Bytes(count * PAGE);
        let (lists, dirty, limits) = (&self.pages.lists, &self.pages.dirty, &self.limits);
        let throttling = self.wbs.iter().flatten().filter(|wb| wb.is_throttling);
        let (cached, dirty_once) = self.pages.told();
        let kernel = KernelLevels {
            active: Bytes(lists.all_active()),
            writeback: Bytes(dirty.writeback()),
            dirtied: Bytes(dirty.dirtied()),
            background: pages(limits.thresholds.background),
            limit: pages(limits.thresholds.limit),
            hard_limit: pages(limits.hard),
            setpoint: pages(limits.setpoint),
            task_rate: throttling
                .filter_map(|wb| wb.task_rate.map(|rate| rate.usual()))
                .reduce(f64::min)
                .map(|rate| Bytes(rate as u64)),
        };
        MemoryLevels {
            total: Bytes(self.pages.memory.total),
            anonymous: Bytes(self.pages.anonymous()),
            cached: Bytes(cached),
            dirty: Bytes(dirty_once),
            kernel: Some(kernel),
        }
    }

    fn residency(&self, file: FileId) -> FileLevels {
        let lists = &self.pages.lists;
        let [cached, dirty, active] =
            [lists.of_file(file), self.pages.dirty.of_file(file), lists.active_of_file(file)];
        FileLevels { cached: Bytes(cached), dirty: Bytes(dirty), active: Bytes(active) }
    }

    fn cgroups(&self) -> Vec<CgroupLevels> {
        (0..self.pages.memcgs.len()).map(|at| self.pages.levels_of_memcg(at)).collect()
    }

    fn block_count(&self) -> usize {
        self.pages.lists.extents()
    }

    fn blocks(&self) -> Vec<ListedBlock> {
        self.pages.blocks()
    }
}
