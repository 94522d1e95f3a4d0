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
mod config;
mod discretisation;
mod driver;
mod ext4;
mod filemap;
mod fs_writeback;
mod memcontrol;
mod model;
mod options;
mod page;
mod page_alloc;
mod page_writeback;
mod sync;
mod task;
mod tick;
mod timers;
mod version;
mod vmscan;
#[cfg(test)]
mod tests;

use crate::policy::kernel::block::{Block};
use crate::policy::kernel::block::queue::{Queue};
use crate::policy::kernel::config::{Config};
use crate::policy::kernel::ext4::{Ext4};
use crate::policy::kernel::filemap::readers::{Readers};
use crate::policy::kernel::fs_writeback::flusher::{Flusher, WHOLE};
use crate::policy::kernel::model::caps::{Caps};
use crate::policy::kernel::model::clock::{Clock};
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::told::{Told};
use crate::policy::kernel::page::{PAGE, whole_pages};
use crate::policy::kernel::page_alloc::pages::{Pages};
use crate::policy::kernel::page_writeback::{WriteBack};
use crate::policy::kernel::page_writeback::balance_dirty_pages::{folio_of};
use crate::policy::kernel::page_writeback::wb::{Wb};
use crate::policy::kernel::task::ids::{MemcgId, Taker, WbId};
use crate::policy::kernel::task::kind::{Kind, Past};
use crate::policy::kernel::task::shape::{operation_of};
use crate::policy::kernel::task::task::{Task};
use crate::policy::kernel::task::tasks::{Tasks};
use crate::policy::kernel::tick::{Hz};
use crate::policy::kernel::timers::{Timers};
use crate::flow::Completion;
use crate::flow::Progress;
use crate::policy::Actions;
use crate::policy::Call;
use crate::policy::FileId;
use crate::policy::FileView;
use crate::policy::Integrity;
use crate::policy::ListedBlock;
use crate::policy::OperationId;
use crate::policy::Outcome;
use crate::policy::Request;
use crate::policy::Setting;
use crate::result::CgroupLevels;
use crate::result::FileLevels;
use crate::result::KernelLevels;
use crate::result::MemoryLevels;
use crate::units::Bytes;
use crate::units::Nanos;
use std::sync::Arc;

pub(in crate::policy) use self::options::limits_at_boot;
pub use self::options::KernelOptions;
pub use self::page_alloc::reporting::{Backed, Fragments, fragments_of};
pub use self::page_writeback::law;

use self::fs_writeback::Flushers;
use crate::policy::{Policy, Remote};

/// What other hosts read and write goes through both page caches in pieces of this size.
const REMOTE_CHUNK: Bytes = Bytes(8 << 20);

/// See the module.
pub struct Kernel {
    config: Arc<Config>,
    pages: Pages,
    write_back: WriteBack,
    flushers: Flushers,
    block: Block,
    ext4: Ext4,
    tasks: Tasks,
    readers: Readers,
    caps: Caps,
    clock: Clock,
    told: Told,
}

impl Kernel {
    /// An empty page cache.
    #[must_use]
    pub fn new(setting: &Setting<'_>, options: &KernelOptions) -> Self {
        let config = Arc::new(Config::new(setting));
        let mut pages = Pages::new(&config);
        let takes_back = config.host.memory.cost.page_reported.is_some();
        pages.backed = takes_back.then(|| options.backed(pages.free()));
        Self {
            write_back: WriteBack::new(&config, pages.dirtyable() / PAGE, options.learnt(&config.host)),
            flushers: Flushers::new(&config, pages.memory.total),
            pages,
            block: Block::new(&config),
            ext4: Ext4::new(&config, options.prepared()),
            tasks: Tasks::default(),
            readers: Readers::default(),
            caps: Caps::new(&config),
            clock: Clock::default(),
            told: Told::default(),
            config,
        }
    }

    /// The state at an instant, for a step that may change it.
    pub fn context<'a>(&'a mut self, now: Nanos, out: &'a mut Actions) -> Context<'a> {
        Context {
            now,
            config: &self.config,
            pages: &mut self.pages,
            write_back: &mut self.write_back,
            flushers: &mut self.flushers,
            block: &mut self.block,
            ext4: &mut self.ext4,
            tasks: &mut self.tasks,
            readers: &mut self.readers,
            told: &mut self.told,
            caps: &mut self.caps,
            clock: &mut self.clock,
            out,
        }
    }

    pub fn begin_task(
        &mut self,
        now: Nanos,
        request: &Request,
        kind: Kind,
        file: Option<FileView>,
        at: (u64, Bytes, Bytes),
    ) {
        self.pages.placement.home(kind.owner(request.operation));
        let credit = self.tasks.credits.get(&request.operation).copied();
        let memcg = self.memcg_of(request.operation);
        if let (Kind::Write | Kind::WriteSync { .. }, Some(file)) = (kind, &file) {
            self.attach(file, memcg);
        }
        let wb = file.as_ref().map_or_else(WbId::default, |file| self.write_back.wb_of(file));
        let stream = filemap::read::stream_of(request, kind, file.as_ref());
        let folio = folio_of(at.2, self.config.rules.largest_folio);
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
    }

    /// An operation writes the dirty pages of a range of a file, waits for them, and has what the file system and the device keep of
    /// the file made durable.
    pub fn make_durable(
        &mut self,
        now: Nanos,
        operation: OperationId,
        (file, range): (FileView, (u64, u64)),
        what: Integrity,
        out: &mut Actions,
    ) {
        let waits = self.write_range(now, operation, &file, range, out);
        let then = self.waits_after(&file, what);
        self.wait_for_files(now, operation, (Some(file), waits.into()), then);
    }

    /// The first bytes of a file are cached, and the first of them dirty, before anything happens.
    pub fn preload(&mut self, now: Nanos, file: &FileView, bytes: Bytes, dirty: Bytes) {
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
    pub fn free(&mut self, owner: OperationId, bytes: Bytes) {
        let memcg = self.memcg_of(owner);
        for (node, given) in self.pages.placement.give_back(owner, bytes.0).into_iter().enumerate() {
            self.pages.give_back_anonymous(memcg, node, given);
        }
    }

    /// The flusher of a file's wb; both are made when they are first heard of.
    pub fn flusher_of(&mut self, file: &FileView) -> &mut Flusher {
        self.write_back.wb(file);
        let wb = self.write_back.wb_of(file);
        self.flushers.of(wb)
    }
}

impl Policy for Kernel {
    fn begin(&mut self, now: Nanos, request: &Request, out: &mut Actions) {
        self.sync(now);
        self.settle(now);
        match request.call {
            Call::Read { file, offset, bytes, fresh, piece, .. } => {
                self.begin_task(now, request, Kind::Read { fresh }, Some(file), (offset, bytes, piece));
            }
            Call::Serve { file, offset, bytes } => {
                let kind = Kind::Read { fresh: false };
                self.begin_task(now, request, kind, Some(file), (offset, bytes, bytes));
            }
            Call::Write { file, offset, bytes, through: false, dontcache: true, piece } => {
                let at = (offset, bytes, piece);
                self.begin_synchronous(now, request, file, at, Integrity::Data);
            }
            Call::Write { file, offset, bytes, through, piece, .. } => {
                self.note_write(now, &file, offset + bytes.0);
                let kind = if through { Kind::WriteThrough } else { Kind::Write };
                self.begin_task(now, request, kind, Some(file), (offset, bytes, piece));
            }
            Call::WriteSync { file, offset, bytes, piece, durable } => {
                self.begin_synchronous(now, request, file, (offset, bytes, piece), durable);
            }
            Call::ReadDirect { file, offset, bytes, fresh, piece } => {
                self.begin_direct(now, request, Past::Read { fresh }, file, (offset, bytes, piece));
            }
            Call::WriteDirect { file, offset, bytes, durable, piece } => {
                let past = Past::Write { durable };
                self.begin_direct(now, request, past, file, (offset, bytes, piece));
            }
            Call::Sync => self.write_everything(now, request.operation, None, out),
            Call::SyncFs { device } => self.write_everything(now, request.operation, Some(device), out),
            Call::SyncRange { file, offset, bytes, flags } => {
                let range = (offset, offset.saturating_add(bytes.0));
                self.sync_range(now, request.operation, file, range, flags);
            }
            Call::Insert { file, offset, bytes, reader, fresh } => {
                let kind = Kind::Insert { reader, fresh };
                self.begin_task(now, request, kind, Some(file), (offset, bytes, bytes));
            }
            Call::Allocate { bytes, owner } => {
                self.begin_task(now, request, Kind::Allocate { owner }, None, (0, bytes, bytes));
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
                self.begin_task(now, request, kind, Some(file), (offset, bytes, bytes));
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
        self.drive(now, request.operation, out);
        self.control(now, out);
        self.check_books();
    }

    fn charge_to(&mut self, operation: OperationId, cgroup: Option<usize>) {
        self.pages.memcg_of.insert(operation, cgroup.map_or(MemcgId::ROOT, MemcgId::of));
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
                Some(device) => self.block.queues[device].transfer.as_mut(),
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
        self.schedule(self.clock.synced)
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
        self.told.spells.tell_rest(now, out);
        self.sample_all_devices(out);
    }

    fn is_even(&self) -> bool {
        true
    }

    fn levels(&self) -> MemoryLevels {
        let pages = |count: u64| Bytes(count * PAGE);
        let (lists, dirty, limits) = (&self.pages.lists, &self.pages.dirty, &self.write_back.limits);
        let throttling = self.write_back.wbs.iter().flatten().filter(|wb| wb.is_throttling);
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
