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
mod readahead;
mod sync;
mod tasks;
#[cfg(test)]
mod tests;
mod tick;
mod timers;
mod version;
mod vmscan;

use std::sync::Arc;

use self::block::Block;
use self::config::Config;
use self::driver::{begin, drive, run_ended};
use self::ext4::Ext4;
use self::filemap::read::read_at_once;
use self::fs_writeback::Flushers;
use self::fs_writeback::submission::device_of_tag;
use self::model::caps::Caps;
use self::model::clock::Clock;
use self::model::context::Context;
use self::model::settle::settle;
use self::model::told::Told;
pub use self::options::KernelOptions;
pub(in crate::policy) use self::options::limits_at_boot;
use self::page::PAGE;
use self::page_alloc::pages::Pages;
pub use self::page_alloc::reporting::{Backed, Fragments, fragments_of};
use self::page_writeback::WriteBack;
pub use self::page_writeback::law;
use self::readahead::readers::Readers;
use self::tasks::ids::MemcgId;
use self::tasks::shape::operation_of;
use self::tasks::table::Tasks;
use super::{Actions, FileId, FileView, ListedBlock, OperationId, Policy, Remote, Request, Setting};
use crate::flow::{Completion, Progress};
use crate::result::{CgroupLevels, FileLevels, KernelLevels, MemoryLevels};
use crate::units::{Bytes, Nanos};

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
        pages.set_backed(takes_back.then(|| options.backed(pages.free())));
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
}

impl Policy for Kernel {
    fn begin(&mut self, now: Nanos, request: &Request, out: &mut Actions) {
        self.catch_up(now);
        let cx = &mut self.context(now, out);
        settle(cx);
        begin(cx, request);
        drive(cx, request.operation);
        self.control(now, out);
        self.check();
    }

    fn charge_to(&mut self, operation: OperationId, cgroup: Option<usize>) {
        self.pages.charge_to(operation, cgroup.map_or(MemcgId::ROOT, MemcgId::of));
    }

    fn completed(&mut self, now: Nanos, done: &Completion, out: &mut Actions) {
        self.catch_up(now);
        match device_of_tag(done.tag) {
            Some(device) => self.unit_written(now, device, out),
            None => run_ended(&mut self.context(now, out), operation_of(done.tag), done),
        }
        self.control(now, out);
        self.check();
    }

    fn advance(&mut self, now: Nanos, progress: &[Progress], out: &mut Actions) {
        self.catch_up(now);
        for each in progress {
            let transfer = match device_of_tag(each.tag) {
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
        } else if self.caps.has_share_changed(&self.tasks) {
            self.control(now, out);
        }
        self.check();
    }

    fn next_call(&self) -> Option<Nanos> {
        self.schedule(self.clock.synced)
    }

    fn most_anonymous(&self) -> Option<Bytes> {
        Some(Bytes(self.pages.memory.most_anonymous()))
    }

    fn copied_at_once(&self, file: &FileView, at: u64, end: u64) -> Bytes {
        read_at_once(&self.pages, file, at, end)
    }

    fn remote(&self) -> Remote {
        Remote::Chunks(REMOTE_CHUNK)
    }

    fn bring_up_to(&mut self, now: Nanos) {
        self.catch_up(now);
    }

    fn retire(&mut self, keeps_blocks: bool) {
        self.pages.retire(keeps_blocks);
    }

    fn tell_rest(&mut self, now: Nanos, out: &mut Actions) {
        self.settle_for_good(now);
        self.told.states.tell_rest(now, out);
        self.write_back.sample_all_devices(&self.pages, out);
    }

    fn is_even(&self) -> bool {
        true
    }

    fn levels(&self) -> MemoryLevels {
        let pages = |count: u64| Bytes(count * PAGE);
        let (lists, dirty, limits) = (self.pages.lists(), self.pages.dirty(), self.write_back.limits());
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
        let lists = self.pages.lists();
        let [cached, dirty, active] =
            [lists.of_file(file), self.pages.dirty().of_file(file), lists.active_of_file(file)];
        FileLevels { cached: Bytes(cached), dirty: Bytes(dirty), active: Bytes(active) }
    }

    fn cgroups(&self) -> Vec<CgroupLevels> {
        (0..self.pages.memcgs.len()).map(|at| self.pages.levels_of_memcg(at)).collect()
    }

    fn block_count(&self) -> usize {
        self.pages.lists().extents()
    }

    fn blocks(&self) -> Vec<ListedBlock> {
        self.pages.blocks()
    }
}
