//! Linux's own rules, at the granularity of extents and rates.
//!
//! Source: Linux 6.16, and what other versions do differently (`version`). Rooms are named as the kernel's files, and import only what
//! stands below them in this table; the lowest is last.
//!
//! | kernel file | room | owner |
//! |---|---|---|
//! | `fs/sync.c` | `sync` | |
//! | `mm/filemap.c`, `mm/truncate.c`, `mm/fadvise.c`, `mm/memory.c`, `mm/shmem.c`, `fs/buffer.c` | `filemap` | |
//! | `fs/jbd2/commit.c`, `fs/jbd2/checkpoint.c` | `jbd2` | |
//! | ours: runs, caps, settling, what is told | `model` | `Caps`, `Told`, `Clock` |
//! | `fs/ext4`, `fs/jbd2/transaction.c` | `ext4` | `Ext4` |
//! | `fs/btrfs` | `btrfs` | `Btrfs` |
//! | `fs/fs-writeback.c` | `fs_writeback` | `Flushers` |
//! | `mm/page-writeback.c`, `lib/flex_proportions.c` | `page_writeback` | `WriteBack` |
//! | `mm/readahead.c` | `readahead` | `Readers` |
//! | `mm/page_alloc.c`, `mm/page_reporting.c` | `page_alloc` | `Pages` |
//! | `mm/vmscan.c`, `mm/swap.c`, `mm/workingset.c` | `vmscan` | |
//! | `mm/memcontrol.c` | `memcontrol` | |
//! | `fs/nfs`, `net/sunrpc/xprt.c` | `nfs` | `Nfs` |
//! | `block/blk-mq.c`, `block/blk-flush.c`, `block/blk-wbt.c` | `block` | `Block` |
//! | `include/linux/fs.h: struct address_space` | `address_space` | |
//! | ours: operations under way, as data | `tasks` | `Tasks` |
//!
//! Where a function of the kernel is:
//!
//! | kernel function | file | here |
//! |---|---|---|
//! | `balance_dirty_pages` | `page_writeback/balance_dirty_pages.rs` | `balance_dirty_pages` |
//! | `global_dirty_limits` | `page_writeback/write_back.rs` | `global_dirty_limits` |
//! | `domain_dirty_limits` | `page_writeback/law/thresholds.rs` | `of` |
//! | `wb_position_ratio` | `page_writeback/law/position.rs` | `ratio` |
//! | `pos_ratio_polynom` | `page_writeback/law/position.rs` | `cubic` |
//! | `wb_update_dirty_ratelimit` | `page_writeback/law/base_rate.rs` | `update` |
//! | `wb_update_write_bandwidth` | `page_writeback/law/bandwidth.rs` | `update` |
//! | `update_dirty_limit` | `page_writeback/law/hard_limit.rs` | `update` |
//! | `__wb_calc_thresh` | `page_writeback/law/device_share.rs` | `part` |
//! | `dirty_poll_interval` | `page_writeback/law/pause.rs` | `poll_interval` |
//! | `wb_over_bg_thresh` | `page_writeback/domains.rs` | `wb_over_bg_thresh` |
//! | `wb_domain_writeout_add` | `page_writeback/domains.rs` | `wb_domain_writeout_add` |
//! | `__wb_update_bandwidth` | `page_writeback/wb.rs` | `update` |
//! | `folio_account_dirtied` | `address_space/dirty.rs` | `make_dirty` |
//! | `__mark_inode_dirty` | `fs_writeback/inode.rs` | `make_dirty` |
//! | `wb_writeback` | `fs_writeback/flusher.rs` | `next_visit` |
//! | `writeback_chunk_size` | `fs_writeback/flusher.rs` | `writeback_chunk_size` |
//! | `wb_check_old_data_flush` | `fs_writeback/flusher.rs` | `is_old_flush_due` |
//! | `do_writepages` | `fs_writeback/submission.rs` | `submit_in_turn` |
//! | `queue_io`, `move_expired_inodes` | `fs_writeback/flusher/inodes.rs` | `next` |
//! | `requeue_inode` | `fs_writeback/flusher.rs` | `leave_or_stay` |
//! | `redirty_tail` | `fs_writeback/flusher/inodes.rs` | `redirty_tail` |
//! | `tag_pages_for_writeback` | `fs_writeback/flusher.rs` | `write_range` |
//! | `wakeup_flusher_threads` | `fs_writeback/wake.rs` | `wakeup_flusher_threads` |
//! | `folio_mark_accessed` | `vmscan/accessed.rs` | `folio_mark_accessed` |
//! | `workingset_refault` | `vmscan/accessed.rs` | `workingset_refault` |
//! | `shrink_lruvec` | `vmscan/reclaim.rs` | `shrink_lruvec` |
//! | `shrink_inactive_list` | `vmscan/reclaim.rs` | `shrink_inactive_list` |
//! | `shrink_active_list` | `vmscan/reclaim.rs` | `shrink_active_list` |
//! | `inactive_is_low` | `vmscan/reclaim.rs` | `inactive_is_low` |
//! | `lru_gen_refault` | `vmscan/lru_gen.rs` | `lru_gen_refault` |
//! | `lru_gen_shrink_lruvec` | `vmscan/generations/shrink.rs` | `lru_gen_shrink_lruvec` |
//! | `get_page_from_freelist` | `page_alloc/allocation.rs` | `get_page_from_freelist` |
//! | `balance_pgdat` | `page_alloc/allocation.rs` | `balance_pgdat` |
//! | `node_dirty_ok` | `page_alloc/allocation.rs` | `node_dirty_room` |
//! | `shrink_node_memcgs` | `page_alloc/allocation.rs` | `reclaim` |
//! | `calculate_min_free_kbytes` | `page_alloc/watermarks.rs` | `min_free` |
//! | `page_reporting_cycle` | `page_alloc/reporting.rs` | `report` |
//! | `try_charge_memcg` | `page_alloc/charge.rs` | `charge` |
//! | `mem_cgroup_wb_stats` | `page_writeback/memcg_stats.rs` | `mem_cgroup_wb_stats` |
//! | `flush_memcg_stats_dwork` | `page_writeback/memcg_stats.rs` | `flush_memcg_stats` |
//! | `page_cache_ra_unbounded`, `page_cache_async_ra` | `readahead/window.rs` | `read` |
//! | `filemap_read` (`generic_file_buffered_read` before 5.10) | `filemap/read.rs` | `step_read` |
//! | `generic_perform_write` | `filemap/write.rs` | `step_write` |
//! | `filemap_get_pages` | `filemap/readahead.rs` | `shape_miss` |
//! | `folio_wait_stable` | `filemap/write.rs` | `folio_wait_stable` |
//! | `filemap_fault` | `filemap/mapped.rs` | `filemap_fault` |
//! | `shmem_file_read_iter`, `shmem_write_begin` | `filemap/shmem.rs` | `step_shmem` |
//! | `do_fault_around` | `filemap/mapped.rs` | `do_fault_around` |
//! | `generic_file_direct_write` | `filemap/direct.rs` | `step_direct` |
//! | `invalidate_inode_pages2_range` | `page_alloc/pages.rs` | `invalidate_inode_pages2_range` |
//! | `truncate_inode_pages_range` | `page_alloc/pages.rs` | `truncate` |
//! | `generic_fadvise` | `filemap/fadvise.rs` | `generic_fadvise` |
//! | `filemap_write_and_wait_range` | `filemap/fdatawrite.rs` | `filemap_write_and_wait_range` |
//! | `__block_write_begin_int` | `filemap/partial_blocks.rs` | `prepare_blocks` |
//! | `vfs_fsync_range` | `sync/fsync.rs` | `step_sync` |
//! | `ksys_sync` | `sync/fsync.rs` | `ksys_sync` |
//! | `generic_write_sync` | `sync/o_sync.rs` | `step_write_sync` |
//! | `sync_file_range` | `sync/sync_file_range.rs` | `step_sync_range` |
//! | `nfs_try_to_update_request` | `nfs/requests.rs` | `incompatible` |
//! | `nfs_wb_folio` | `filemap/write.rs` | `flush_incompatible` |
//! | `nfs_revalidate_mapping` | `filemap/read.rs` | `nfs_revalidate_mapping` |
//! | `nfs_attribute_timeout` | `nfs/inode.rs` | `believes` |
//! | `nfs_file_flush` | `sync/nfs.rs` | `nfs_file_flush` |
//! | `ext4_fsync_journal` | `ext4/journal.rs` | `tid_of` |
//! | `jbd2_journal_commit_transaction` | `jbd2/commit.rs` | `step_commit` |
//! | `jbd2_log_do_checkpoint` | `jbd2/checkpoint.rs` | `jbd2_log_do_checkpoint` |
//! | `add_transaction_credits` | `jbd2/checkpoint.rs` | `journal_data` |
//! | `ext4_iget` | `ext4/iget.rs` | `iget` |
//! | `ext4_free_blocks` | `ext4/written_back.rs` | `give_blocks_back` |
//! | `ext4_mb_group_or_file` | `ext4/block_maps.rs` | `extend` |
//! | `ext4_ind_map_blocks` | `ext4/block_maps.rs` | `indirect` |
//! | `btree_writepages` | `btrfs/mod.rs` | `extent_written` |
//! | `transaction_kthread` | `btrfs/mod.rs` | `commit_due` |
//! | `blk_kick_flush` | `block/flush.rs` | `flush` |
//! | `wbt_wait`, `get_limit` | `block/wbt.rs` | `limit` |
//! | `calc_wheel_index` | `timers.rs` | `end_of_step` |
//!
//! Pages change state only by bytes that a flow has reported as moved. Each call brings all levels up to now (`catch_up`), then
//! something happens, then `control` decides what follows from it: flushers to be woken, rates to be changed, and when to look again.
//! Left out: swap, memory of the kernel itself; each file says what more it leaves out.

mod address_space;
mod block;
mod btrfs;
mod config;
mod discretisation;
mod driver;
mod ext4;
mod filemap;
mod fs_writeback;
mod jbd2;
mod memcontrol;
mod model;
mod nfs;
mod options;
mod page;
mod page_alloc;
mod page_writeback;
mod readahead;
mod serve;
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
use self::nfs::Nfs;
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
use super::{
    Actions, DeviceId, DiskLoad, FileId, FileView, ListedBlock, OperationId, Policy, Remote, Reply, Request,
    Served, Setting, Undisturbed,
};
use crate::flow::{Completion, Progress};
use crate::result::{AtRisk, CgroupLevels, FileLevels, KernelLevels, MemoryLevels};
use crate::units::{Bytes, Nanos};
use crate::workload::IoPriority;

/// The page cache of a host; see the module.
pub struct Kernel {
    config: Arc<Config>,
    pages: Pages,
    write_back: WriteBack,
    flushers: Flushers,
    block: Block,
    nfs: Nfs,
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
            nfs: Nfs::new(&config),
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
            nfs: &mut self.nfs,
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
        self.clock.calm_until = None;
        self.catch_up(now);
        let cx = &mut self.context(now, out);
        settle(cx);
        begin(cx, request);
        drive(cx, request.operation);
        self.control(now, out);
        self.check();
    }

    fn serve(
        &mut self,
        now: Nanos,
        request: &Request,
        by: &mut dyn Undisturbed,
        out: &mut Actions,
    ) -> Option<Served> {
        self.serve_run(now, request, by, out)
    }

    fn set_ioprio(&mut self, process: OperationId, priority: IoPriority) {
        self.block.devices.set_priority(process, priority);
    }

    fn charge_to(&mut self, operation: OperationId, cgroup: Option<usize>) {
        self.pages.charge_to(operation, cgroup.map_or(MemcgId::ROOT, MemcgId::of));
    }

    fn share_files(&mut self, operation: OperationId, process: OperationId) {
        self.tasks.credits.remove(&operation);
        self.readers.share(operation, process);
    }

    fn submission(&self) -> Nanos {
        self.config.host.memory.cost.call
    }

    fn is_cached(&self, file: FileId, offset: u64, bytes: Bytes) -> bool {
        let end = offset.saturating_add(bytes.0);
        self.pages.lists().run(file, offset, end) == (true, end)
            || self.pages.shmem().run(file, offset, end) == (true, end)
    }

    fn completed(&mut self, now: Nanos, done: &Completion, out: &mut Actions) {
        self.clock.calm_until = None;
        self.catch_up(now);
        match device_of_tag(done.tag) {
            Some(device) => self.unit_written(now, device, out),
            None => run_ended(&mut self.context(now, out), operation_of(done.tag), done),
        }
        self.control(now, out);
        self.check();
    }

    fn replied(&mut self, now: Nanos, reply: &Reply, out: &mut Actions) {
        self.clock.calm_until = None;
        self.catch_up(now);
        self.call_ended(now, reply, out);
        self.control(now, out);
        self.check();
    }

    fn recall(&mut self, file: FileId) {
        self.nfs.recall(file);
    }

    fn advance(&mut self, now: Nanos, progress: &[Progress], out: &mut Actions) {
        self.clock.calm_until = None;
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
        // New rates change no level. They change the time of the next threshold, and the tasks' need of processors. They put the next look off,
        // too: what a task was given of its cgroup's memory until then must be chosen anew.
        if progress.is_empty() {
            self.control_at_last(now, out);
        } else if self.caps.has_share_changed(&mut self.tasks, now)
            || (!self.pages.memcgs.is_empty() && self.tasks.is_one_charged())
        {
            self.control(now, out);
        }
        self.check();
    }

    fn next_call(&self) -> Option<Nanos> {
        self.schedule(self.clock.caught_up)
    }

    fn most_anonymous(&self) -> Option<Bytes> {
        Some(Bytes(self.pages.memory.most_anonymous()))
    }

    fn copied_at_once(&self, file: &FileView, at: u64, end: u64) -> Bytes {
        read_at_once(&self.pages, file, at, end)
    }

    fn minds_names(&self) -> bool {
        self.ext4.minds_names()
    }

    fn minds_opens(&self) -> bool {
        self.config.minds_opens()
    }

    fn remote(&self) -> Remote {
        Remote::Calls
    }

    fn bring_up_to(&mut self, now: Nanos) {
        self.catch_up(now);
    }

    fn retire(&mut self, keeps_blocks: bool) {
        self.pages.retire(keeps_blocks);
        self.readers = Readers::default();
        self.tasks.retire();
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
        let shmem = self.pages.shmem().total();
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
            anonymous: Bytes(self.pages.anonymous() - shmem),
            cached: Bytes(cached + shmem),
            dirty: Bytes(dirty_once),
            kernel: Some(kernel),
        }
    }

    fn residency(&self, file: FileId) -> FileLevels {
        let lists = self.pages.lists();
        let [cached, dirty, active] =
            [lists.of_file(file), self.pages.dirty().of_file(file), lists.active_of_file(file)];
        let cached = cached + self.pages.shmem().of_file(file);
        FileLevels { cached: Bytes(cached), dirty: Bytes(dirty), active: Bytes(active) }
    }

    fn disk_load(&self, disk: usize) -> DiskLoad {
        DiskLoad { flushes: self.ext4.flushes[disk], ..self.block.load(disk) }
    }

    fn watch_risk(&mut self) {
        self.ext4.watch_risk();
    }

    fn at_risk(&mut self, now: Nanos, disk: usize) -> Option<AtRisk> {
        Some(self.ext4.at_risk(&self.pages, now, DeviceId(disk as u32)))
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
