//! Drives the kernel model: brings it up to an instant, steps system calls, and decides what follows.
//!
//! Only the driver calls a step of a system call; no step calls a step of another call.

use crate::block::{Device, RequestId};
use crate::flow::Completion;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::block::queue::is_of_queue;
use crate::policy::kernel::discretisation::{FOLLOW_STRIDE, LEAST_STEP, MANY_TASKS, RUN_STEPS, SETTLE_AFTER};
use crate::policy::kernel::filemap::begin::begin_task;
use crate::policy::kernel::filemap::direct::{begin_direct, step_direct};
use crate::policy::kernel::filemap::fadvise::{end_dont_need, generic_fadvise, step_dont_need};
use crate::policy::kernel::filemap::names::{change_name, open_file, step_name};
use crate::policy::kernel::filemap::partial_blocks::step_beside;
use crate::policy::kernel::filemap::read::step_read;
use crate::policy::kernel::filemap::readahead::{leave_ahead, pass_mark_of_later_calls, send_ahead};
use crate::policy::kernel::filemap::shmem::{begin_shmem, is_of_tmpfs, step_shmem};
use crate::policy::kernel::filemap::truncate::{end_removal, step_cut, truncate};
use crate::policy::kernel::filemap::write::step_write;
use crate::policy::kernel::fs_writeback::flusher::WHOLE;
use crate::policy::kernel::jbd2::commit::{begin_commits, end_commit, step_commit};
use crate::policy::kernel::model::caps::{let_go, set_caps};
use crate::policy::kernel::model::checks::check_books;
use crate::policy::kernel::model::context::Context;
use crate::policy::kernel::model::cut::cut_runs;
use crate::policy::kernel::model::follow::followed_by;
use crate::policy::kernel::model::next_call::{
    Slopes, look_after, next_look_at_memory, next_update, until_background, until_memcgs_change,
    until_throttling,
};
use crate::policy::kernel::model::plain::step_plain;
use crate::policy::kernel::model::run::{NO_FLOW, begin_run, copy_read};
use crate::policy::kernel::model::settle::{
    apply_written, count_moved, end_writeback, keep_memcgs_within_limits, settle, settle_others, settle_task,
    settle_visited,
};
use crate::policy::kernel::nfs::client::Ended;
use crate::policy::kernel::nfs::inode::Written;
use crate::policy::kernel::page::{PAGE, whole_pages};
use crate::policy::kernel::page_writeback::rates::rate_of;
use crate::policy::kernel::sync::fsync::{ksys_sync, make_durable, step_sync};
use crate::policy::kernel::sync::nfs::{ask, ask_after_cut, invalidate_mapping, nfs_file_flush, step_ask};
use crate::policy::kernel::sync::o_sync::{begin_synchronous, step_write_sync};
use crate::policy::kernel::sync::sync_file_range::{step_sync_range, sync_range};
use crate::policy::kernel::tasks::cost::Run;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::kind::{Asked, Kind, Next, Past, Phase, Stage, Way};
use crate::policy::kernel::tasks::shape::AHEAD;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::{Actions, Behind, Call, DeviceId, Integrity, OperationId, Outcome, Reply, Request};
use crate::result::{Part, Parts};
use crate::stop;
use crate::units::{Bytes, Nanos, earlier};
use crate::workload::Advice;

impl Kernel {
    /// Brings all levels up to `now`. Bytes that have moved since are put into pages later, when the pages matter.
    pub fn catch_up(&mut self, now: Nanos) {
        if now == self.clock.caught_up {
            return;
        }
        for device in 0..self.block.queues.len() {
            let transfer = self.block.queues[device].transfer.as_mut();
            if let Some((from, bytes)) =
                transfer.map(|transfer| transfer.take(now)).filter(|taken| taken.1 > 0)
            {
                apply_written(&mut self.context(now, &mut Actions::default()), device, from, bytes);
            }
        }
        let has_first = count_moved(&mut self.pages, &self.write_back, &mut self.tasks, now);
        if has_first || self.pages.is_far_ahead() || self.clock.settled + SETTLE_AFTER < now {
            settle(&mut self.context(now, &mut Actions::default()));
        }
        keep_memcgs_within_limits(&mut self.context(now, &mut Actions::default()));
        self.pages.note_peaks();
        self.write_back.flush_memcg_stats(&self.pages, now);
        self.write_back.tick(now);
        self.clock.caught_up = now;
    }

    /// Decides what follows from the state as it is now.
    ///
    /// Each step stands behind those whose result it needs; `tests/golden/changes.toml` swaps steps whose order matters.
    pub fn control(&mut self, now: Nanos, out: &mut Actions) {
        // States end as they were before this instant changes them.
        self.told.states.tell(now, out);
        // Transactions end before anybody looks at what is dirty.
        self.ext4.btrfs.commit_due(now, self.pages.dirty_mut(), &mut self.block.queues);
        // Pages find their place first, and evict others: all that follows looks at what is in memory.
        keep_memcgs_within_limits(&mut self.context(now, &mut Actions::default()));
        self.pages.look_at_backed(&self.tasks, now);
        // Runs end in front of pages that have come or left, before anybody counts how many bytes are still to come.
        cut_runs(&mut self.context(now, out));
        self.pages.look_at_memcgs(&self.tasks, now, out);
        // Reclaim that found nothing clean wakes flushers, which then submit at this instant.
        self.heed_reclaim(now, out);
        // Limits are those of the memory as it is: of all of it, then of cgroups within it, then of strict devices within both.
        self.write_back.global_dirty_limits(self.pages.dirtyable() / PAGE);
        self.write_back.limit_domains(&self.pages);
        self.write_back.limit_strict(&self.pages);
        // Flushers are woken by the new limits, and submit before anybody is told to go on.
        self.flushers.wake_flushers(&self.pages, &self.write_back, &self.tasks, now);
        for device in 0..self.block.queues.len() {
            self.write_back_device(now, device, out);
        }
        self.clock.is_put_off = self.tasks.len() > MANY_TASKS && self.clock.decided == Some(now);
        if !self.clock.is_put_off {
            // Each of them is looked at.
            stop::spend(self.tasks.len() as u64);
            self.clock.decided = Some(now);
            release_followers(&mut self.context(now, out));
        }
        go_on_with_due(&mut self.context(now, out));
        commit_due(&mut self.context(now, out));
        // What a journal has sent meanwhile goes to its disk at this instant.
        while let Some(device) = self.ext4.has_sent.pop() {
            self.write_back_device(now, device.0 as usize, out);
            commit_due(&mut self.context(now, out));
        }
        // Rates need the dirty level after submission and the writers that have begun; caps need the rates.
        self.write_back.balance_dirty_pages(&self.pages, &self.block, &self.tasks, now);
        self.write_back.check_tasks(&mut self.tasks, self.pages.dirty().total() / PAGE, now);
        if !self.clock.is_put_off {
            set_caps(&mut self.context(now, out));
        }
        self.write_back.sample_devices(&self.pages, out);
    }

    /// Decides what was put off, when nothing else happens at this instant.
    pub fn control_at_last(&mut self, now: Nanos, out: &mut Actions) {
        self.clock.decided = None;
        self.control(now, out);
    }

    /// Wakes the flushers after reclaim that met only dirty pages.
    fn heed_reclaim(&mut self, now: Nanos, out: &mut Actions) {
        let mut found = self.pages.take_found_only_dirty() && self.config.rules.dirty_tail_wakes_flushers;
        // A task that waits for pages reclaims by itself, and finds as little.
        found |= self.pages.is_exhausted() && self.tasks.values().any(Task::takes_memory);
        found |= self.pages.is_memcg_short();
        if found && self.pages.dirty().dirty() > 0 {
            let dirty = self.pages.dirty().dirty();
            if self.flushers.wakeup_flusher_threads(&self.pages, now) {
                self.told.flushers_woken(now, dirty, out);
            }
        }
    }

    /// Returns the next instant at which this policy is to be called.
    pub fn schedule(&self, now: Nanos) -> Option<Nanos> {
        if self.clock.is_put_off {
            return Some(now);
        }
        let survey = self.caps.survey(&self.pages, &self.write_back, &self.tasks);
        let slopes = Slopes { written: self.block.write_rate(), ..survey.slopes };
        let mut next = earlier(survey.busy_until, next_update(&self.write_back, now));
        next = earlier(next, self.caps.turns.next());
        next = earlier(next, survey.check.map(|seconds| look_after(now, seconds, 0.0)));
        next = earlier(earlier(next, self.ext4.next_commit()), self.block.next_completion());
        next = earlier(next, self.ext4.btrfs.next_commit());
        next = earlier(next, self.write_back.next_stats_flush(&self.block, &self.tasks));
        for wb in self.write_back.wbs.iter().flatten() {
            next = earlier(next, wb.measure_at);
        }
        for flusher in self.flushers.iter() {
            // A queue without room may have kept it from submitting at this instant: then the end of a request calls.
            let is_still_to_come = |&at: &Nanos| at > now || self.clock.decided != Some(now);
            next = earlier(next, flusher.until_small_piece().filter(is_still_to_come));
            next = earlier(next, flusher.timer);
        }
        let levels = [
            until_background(&self.pages, &self.write_back, &slopes),
            until_throttling(&self.pages, &self.write_back, &slopes),
            self.write_back.until_strict_throttling(&self.pages, &self.block, &self.tasks),
            survey.soonest,
            until_memcgs_change(&self.pages, &self.write_back, &self.block, &self.tasks),
        ];
        next = earlier(next, next_look_at_memory(&self.pages, &self.tasks, &slopes, now));
        levels
            .into_iter()
            .flatten()
            .fold(next, |next, seconds| earlier(next, Some(look_after(now, seconds, LEAST_STEP))))
    }

    /// Puts all bytes into pages at the end of a run. Requests in flight are included: their pages are in the cache before their
    /// bytes.
    pub fn settle_for_good(&mut self, now: Nanos) {
        self.catch_up(now);
        self.tasks.values_mut().filter(|task| task.is_in_flight()).for_each(|task| task.transfer = None);
        settle(&mut self.context(now, &mut Actions::default()));
        self.check();
    }

    /// Checks in debug builds that counters are the sums of what they count.
    pub fn check(&self) {
        check_books(&self.pages, &self.write_back, &self.block, &self.tasks);
    }

    /// Ends the first unit of a device's queue, whose bytes have moved.
    pub fn unit_written(&mut self, now: Nanos, device: usize, out: &mut Actions) {
        let mut transfer =
            self.block.queues[device].transfer.take().expect("a unit on its way has a transfer");
        let (from, rest) = transfer.take_rest();
        apply_written(&mut self.context(now, &mut Actions::default()), device, from, rest);
        let extent = self.block.queues[device].front().filter(|unit| unit.file.is_some());
        if let Some((wb, bytes)) = extent.map(|unit| (unit.wb, unit.end - unit.start))
            && self.ext4.btrfs.has_trees(device)
        {
            self.write_back.make_root_wb(wb);
            let (dirty, queue) = (self.pages.dirty_mut(), &mut self.block.queues[device]);
            self.ext4.btrfs.extent_written(now, device, bytes, dirty, queue);
        }
        let nobody_waits = self.block.unit_moved(device, now);
        nobody_waits.iter().for_each(|unit| self.ext4.note_written_back(now, device, unit));
        self.end_requests(now, device, out);
    }

    /// Goes on with direct I/O whose requests the device has completed, then with threads that wait for it.
    fn end_direct(&mut self, now: Nanos, at: usize, out: &mut Actions) {
        let is_due = |device: &&mut Device| device.next_event().is_some_and(|next| next <= now);
        while let Some(device) = self.block.devices.get_mut(at).filter(is_due) {
            for id in device.advance(now, &mut self.ext4.cpus) {
                self.end_request(now, at, id, out);
            }
            let device = self.block.devices.get_mut(at).expect("it was just there");
            device.resume(now, &mut self.ext4.cpus);
        }
    }

    /// Goes on with whoever waits for a request: of write-back, of a run that misses pages, or of direct I/O.
    fn end_request(&mut self, now: Nanos, at: usize, id: RequestId, out: &mut Actions) {
        if is_of_queue(id) {
            return self.unit_served(now, at, id, out);
        }
        let operation = OperationId(id.0 as u32);
        self.note_request(now, at, operation, out);
        let cx = &mut self.context(now, out);
        match cx.tasks.get(operation) {
            Some(task) if task.is_at_device && task.reads_ahead() => {
                let bytes = task.shape.bytes;
                cx.tasks.get_mut(operation).expect("it is there").is_at_device = false;
                let done = Completion { flow: NO_FLOW, tag: 0, bytes, parts: Parts::default() };
                run_ended(cx, operation, &done);
            }
            Some(task) if task.is_at_device => {
                pass_mark_of_later_calls(cx, operation);
                copy_read(cx, operation);
            }
            _ => drive(cx, operation),
        }
    }

    /// Ends a unit of a device's queue whose request is complete.
    fn unit_served(&mut self, now: Nanos, device: usize, id: RequestId, out: &mut Actions) {
        let unit = self.block.unit_served(device, now, id);
        let of = (unit.wb, unit.file);
        end_writeback(&mut self.context(now, &mut Actions::default()), device, of, (unit.start, unit.end));
        self.ext4.note_written_back(now, device, &unit);
        for waiter in unit.waiters {
            end_wait(&mut self.context(now, out), waiter);
        }
    }

    /// Takes the reply to a call of a client of NFS.
    pub fn call_ended(&mut self, now: Nanos, reply: &Reply, out: &mut Actions) {
        let Some((device, client)) = self.nfs.of_call(reply.xid) else {
            unreachable!("a reply answers a call")
        };
        let at = device.0 as usize;
        let (queue, dirty) = (&self.block.queues[at], self.pages.dirty());
        match client.replied(now, reply, |id| queue.sent(id), |file| dirty.of_file(file), out) {
            Ended::Part => {}
            Ended::Operation(operation) => self.end_request(now, at, RequestId(operation.0.into()), out),
            Ended::Written { id, is_stable: true, .. } => self.unit_served(now, at, id, out),
            Ended::Written { id, is_stable: false, .. } => self.unit_unstable(now, at, id, out),
            Ended::Committed { file, pages, waiters } => {
                for Written { wb, start, end, surplus } in pages {
                    self.pages.dirty_mut().uncount_written(wb, end - start, surplus);
                    self.pages.written(file, wb, start, end);
                }
                for waiter in waiters {
                    end_wait(&mut self.context(now, out), waiter);
                }
            }
            Ended::Attributes { operation, file, is_changed } => {
                let cx = &mut self.context(now, out);
                if is_changed {
                    invalidate_mapping(cx, file);
                }
                drive(cx, operation);
            }
        }
    }

    /// Ends a unit that the server has in its memory: its pages count as under writeback until they are committed.
    fn unit_unstable(&mut self, now: Nanos, device: usize, id: RequestId, out: &mut Actions) {
        let unit = self.block.unit_served(device, now, id);
        self.pages.dirty_mut().count_written(unit.wb, unit.end - unit.start, unit.surplus());
        self.write_back.wb_domain_writeout_add(now, unit.wb.0 as usize, (unit.end - unit.start) / PAGE);
        for waiter in unit.waiters {
            end_wait(&mut self.context(now, out), waiter);
        }
    }

    /// Notes that the requests of a direct operation are complete: whom they waited behind before they were served, and who waited for them.
    fn note_request(&mut self, now: Nanos, at: usize, operation: OperationId, out: &mut Actions) {
        let Some(task) = self.tasks.get(operation) else { return };
        let (file, since) = (task.file().id, task.since);
        let part = if task.writes_past() { Part::DeviceWrite } else { Part::DeviceRead };
        let service = self.config.host.disks.get(at).map_or(Nanos::ZERO, |disk| disk.service);
        let served = Nanos(now.0.saturating_sub(service.0));
        // Nobody waits for what is read ahead.
        let by = task.thread(operation);
        let behind = self.block.turns.behind(at, (since, served.max(since)), by, None);
        for behind in behind.into_iter().filter(|_| operation.0 & AHEAD == 0) {
            out.waited(operation, part, behind);
        }
        self.block.turns.serve(at, (since, now), by, file);
    }

    /// Wakes the tasks whose requests the device has completed.
    fn end_requests(&mut self, now: Nanos, device: usize, out: &mut Actions) {
        while let Some(unit) = self.block.queues[device].take_completed(now) {
            self.ext4.note_written_back(now, device, &unit);
            for waiter in unit.waiters {
                end_wait(&mut self.context(now, out), waiter);
            }
        }
    }

    /// Lets the flushers of a device submit, and starts the next unit of its queue.
    pub fn write_back_device(&mut self, now: Nanos, device: usize, out: &mut Actions) {
        self.block.look_at_wbt(&self.tasks, now, device);
        self.end_requests(now, device, out);
        self.end_direct(now, device, out);
        for at in self.write_back.wbs_at(device) {
            if self.flushers.is_about_to_look(&self.pages, &self.block, now, at) {
                settle_visited(&mut self.context(now, &mut Actions::default()), at);
            }
            self.flushers.ring(now, at);
        }
        let ready =
            self.flushers.submit_in_turn(&mut self.pages, &mut self.write_back, &mut self.block, now, device);
        for at in self.write_back.wbs_at(device) {
            if let Some(is_over) =
                self.flushers.look_after_submission(&self.pages, &mut self.write_back, now, at)
            {
                self.told.note_background(&self.pages, &mut self.write_back, now, WbId(at as u32), is_over);
            }
        }
        if let Some(client) = self.nfs.get_mut(DeviceId(device as u32)) {
            client.send_units(now, &mut self.block.queues[device], out);
        } else {
            let by = (&mut self.ext4.cpus, &mut *out);
            self.flushers.start_units(&self.write_back, &mut self.block, now, device, by);
        }
        for waiter in ready {
            end_wait(&mut self.context(now, out), waiter);
        }
    }
}

/// Begins a system call: makes it a task, or does it at once.
pub fn begin(cx: &mut Context<'_>, request: &Request) {
    if is_of_tmpfs(cx, &request.call) {
        return begin_shmem(cx, request);
    }
    match request.call {
        Call::Read { file, offset, bytes, fresh, piece, .. } => {
            begin_task(cx, request, Kind::Read { fresh }, Some(file), (offset, bytes, piece));
        }
        Call::Serve { file, offset, bytes } => {
            let kind = Kind::Read { fresh: false };
            begin_task(cx, request, kind, Some(file), (offset, bytes, bytes));
        }
        Call::Write { file, offset, bytes, through: false, dontcache: true, piece } => {
            cx.block.turns.note_writer(file.id, request.operation);
            let at = (offset, bytes, piece);
            begin_synchronous(cx, request, file, at, Integrity::Data);
        }
        Call::Write { file, offset, bytes, through, piece, .. } => {
            cx.block.turns.note_writer(file.id, request.operation);
            cx.nfs.return_delegation(&file);
            let update_time = cx.ext4.note_write(cx.now, &file, offset + bytes.0);
            let kind = if through { Kind::WriteThrough } else { Kind::Write };
            begin_task(cx, request, kind, Some(file), (offset, bytes, piece));
            cx.tasks.get_mut(request.operation).expect("it has begun").update_time = update_time;
        }
        Call::WriteSync { file, offset, bytes, piece, durable } => {
            cx.block.turns.note_writer(file.id, request.operation);
            cx.nfs.return_delegation(&file);
            begin_synchronous(cx, request, file, (offset, bytes, piece), durable);
        }
        Call::ReadDirect { file, offset, bytes, fresh, piece } => {
            begin_direct(cx, request, Past::Read { fresh }, file, (offset, bytes, piece));
        }
        Call::WriteDirect { file, offset, bytes, durable, piece } => {
            let past = Past::Write { durable };
            cx.nfs.return_delegation(&file);
            begin_direct(cx, request, past, file, (offset, bytes, piece));
        }
        Call::Sync => ksys_sync(cx, request.operation, None),
        Call::SyncFs { device } => ksys_sync(cx, request.operation, Some(device)),
        Call::SyncRange { file, offset, bytes, flags } => {
            let range = (offset, offset.saturating_add(bytes.0));
            sync_range(cx, request.operation, file, range, flags);
        }
        Call::Insert { file, offset, bytes, reader, fresh } => {
            let kind = Kind::Insert { reader, fresh };
            begin_task(cx, request, kind, Some(file), (offset, bytes, bytes));
        }
        Call::Allocate { bytes, owner } => {
            begin_task(cx, request, Kind::Allocate { owner }, None, (0, bytes, bytes));
        }
        Call::Fsync { file, durable } => {
            make_durable(cx, request.operation, (file, WHOLE), durable);
        }
        Call::FsyncRange { file, offset, bytes } => {
            // As by fdatasync (`mm/msync.c`).
            let range = whole_pages((offset, offset.saturating_add(bytes.0)));
            make_durable(cx, request.operation, (file, range), Integrity::Data);
        }
        Call::Mapped { file, offset, bytes, writes, .. } => {
            let kind = if writes { Kind::Write } else { Kind::Read { fresh: false } };
            if writes {
                cx.block.turns.note_writer(file.id, request.operation);
            }
            begin_task(cx, request, kind, Some(file), (offset, bytes, bytes));
        }
        Call::Truncate { file, size, opens } => truncate(cx, request, (file, size), (false, opens)),
        Call::Unlink { file } => truncate(cx, request, (file, Bytes::ZERO), (true, false)),
        Call::Name { file, change } if cx.config.nfs_options_of(&file).is_some() => {
            ask(cx, request.operation, file, Asked::Name(change));
        }
        Call::Name { file, change } => change_name(cx, request.operation, file, change),
        Call::Open { file, is_stat } if cx.config.nfs_options_of(&file).is_some() => {
            ask(cx, request.operation, file, if is_stat { Asked::Stat } else { Asked::Open });
        }
        Call::Open { file, is_stat } => open_file(cx, request.operation, file, is_stat),
        Call::Close { file } => nfs_file_flush(cx, request.operation, file),
        Call::Advise { file, advice: Advice::DontNeed, offset, bytes } => {
            let end = offset.saturating_add(bytes.0);
            // The last page of a file need not be a whole one.
            let end = if end >= file.size.0 { u64::MAX } else { end };
            begin_task(cx, request, Kind::DontNeed, Some(file), (offset, Bytes(end - offset), Bytes::ZERO));
        }
        Call::Advise { file, advice, offset, bytes } => {
            generic_fadvise(cx, request.operation, &file, advice, (offset, offset.saturating_add(bytes.0)));
            cx.out.done(request.operation, Outcome::default());
        }
        Call::DropCaches => {
            let before = cx.pages.cached();
            cx.pages.drop_clean();
            cx.ext4.drop_inodes();
            end_removal(cx, request, before);
        }
        Call::Preload { file, bytes, dirty } => {
            cx.flushers.preload(cx.pages, cx.write_back, cx.now, &file, bytes, dirty);
            cx.ext4.inodes.keep(&file);
            cx.out.done(request.operation, Outcome::default());
        }
        Call::Free { bytes, owner } => {
            cx.pages.free_anonymous(owner, bytes);
            cx.out.done(request.operation, Outcome::default());
        }
    }
}

/// Steps an operation until it has a flow or waits.
pub fn drive(cx: &mut Context<'_>, operation: OperationId) {
    let mut next = Some(operation);
    while let Some(operation) = next {
        stop::spend(RUN_STEPS);
        if cx.tasks.get(operation).is_none() {
            return;
        }
        match step(cx, operation) {
            Next::Run(end) => {
                if !begin_run(cx, operation, end) {
                    send_ahead(cx, operation);
                    return;
                }
                // Its bytes were there at once.
            }
            Next::Wait => return,
            Next::Step => {}
            Next::Done => next = end_task(cx, operation),
        }
    }
}

/// Returns the next step of an operation.
pub fn step(cx: &mut Context<'_>, operation: OperationId) -> Next {
    let task = &cx.tasks[operation];
    match task.kind {
        Kind::Read { .. } => step_read(cx, operation),
        Kind::Write => step_write(cx, operation),
        Kind::Shmem { .. } => step_shmem(cx, operation),
        Kind::WriteSync { .. } if task.stage == Stage::Start && task.position < task.end => {
            step_write(cx, operation)
        }
        Kind::WriteSync { .. } => step_write_sync(cx, operation),
        Kind::Direct { .. } => step_direct(cx, operation),
        Kind::Beside { .. } => step_beside(cx, operation),
        Kind::Sync { .. } => step_sync(cx, operation),
        Kind::SyncRange { .. } => step_sync_range(cx, operation),
        Kind::Commit { .. } => step_commit(cx, operation),
        Kind::DontNeed => step_dont_need(cx, operation),
        Kind::Cut { .. } => step_cut(cx, operation),
        Kind::Name { .. } => step_name(cx, operation),
        Kind::Ask { .. } => step_ask(cx, operation),
        Kind::ReadAhead { .. } => Next::Done,
        Kind::WriteThrough | Kind::Insert { .. } | Kind::Allocate { .. } | Kind::Remove { .. } => {
            step_plain(cx, operation)
        }
    }
}

/// Ends an operation. Returns the operation that goes on then: the same one as another kind of task, or the one it was a part of.
fn end_task(cx: &mut Context<'_>, operation: OperationId) -> Option<OperationId> {
    let task = cx.tasks.remove(operation).expect("a task ends once");
    let next = follow_task(cx, operation, &task);
    cx.tasks.reuse(task);
    next
}

/// Does what follows the end of a task, and returns the operation that goes on then.
pub fn follow_task(cx: &mut Context<'_>, operation: OperationId, task: &Task) -> Option<OperationId> {
    cx.pages.placement.leave(task.kind.owner(operation));
    if let Some(credit) = task.credit {
        cx.tasks.credits.insert(operation, credit);
    }
    if let (Some(key), Some(file)) = (task.stream, &task.file) {
        cx.readers.leave_stream(key, task.end, file, task.mapped.is_some());
    }
    match task.kind {
        Kind::Remove { cut: Some(cut) } => {
            let wait = Task::new(Kind::Cut { cut }, task.file, (0, Bytes::ZERO, Bytes::ZERO), cx.now);
            cx.tasks.insert(operation, Task { outcome: task.outcome, ..wait });
            Some(operation)
        }
        Kind::Cut { cut }
            if operation != OperationId::NOBODY && cx.config.nfs_options_of(task.file()).is_some() =>
        {
            ask_after_cut(cx, operation, task, cut);
            Some(operation)
        }
        Kind::DontNeed => end_dont_need(cx, operation, *task),
        Kind::ReadAhead { .. } => None,
        Kind::Commit { device, .. } => {
            end_commit(cx, device).into_iter().for_each(|waiter| end_wait(cx, waiter));
            None
        }
        Kind::Beside { of, way } => {
            let parent = cx.tasks.get_mut(of).expect("who waits is under way");
            let part = if way == Way::Write { Part::DeviceWrite } else { Part::DeviceRead };
            parent.outcome.parts.add(part, cx.now - parent.since);
            Some(of)
        }
        _ => {
            cx.out.done(operation, task.outcome);
            None
        }
    }
}

/// Ends a wait of an operation, or one of several.
fn end_wait(cx: &mut Context<'_>, operation: OperationId) {
    let task = cx.tasks.get_mut(operation).expect("who waits is under way");
    if let Kind::Sync { files, .. } | Kind::Commit { phase: Phase::Written { files }, .. } = &mut task.kind
        && *files > 1
    {
        *files -= 1;
        return;
    }
    let part = if matches!(task.stage, Stage::Commit | Stage::Barrier | Stage::Room) {
        Part::Journal
    } else {
        Part::DeviceWrite
    };
    if task.stage == Stage::Room {
        task.stage = Stage::Start;
    }
    let since = task.since;
    let waited = cx.nfs.parts_of_wait(cx.now, task.file.as_ref(), part, cx.now - since);
    task.outcome.parts.add_all(&waited);
    tell_waited(cx, operation, (part, since));
    drive(cx, operation);
}

/// Says whom an operation of a process has waited behind from an instant to now.
fn tell_waited(cx: &mut Context<'_>, operation: OperationId, (part, since): (Part, Nanos)) {
    let task = &cx.tasks[operation];
    let device = match (&task.file, task.stage) {
        (Some(file), Stage::Commit | Stage::Barrier) if operation.0 & AHEAD == 0 => {
            cx.config.journal_device(file.device)
        }
        (Some(file), _) if operation.0 & AHEAD == 0 => file.device,
        _ => return,
    };
    for behind in cx.block.behind(device, (since, cx.now), operation) {
        cx.out.waited(operation, part, behind);
    }
}

/// Ends a run that has moved all its bytes.
pub fn run_ended(cx: &mut Context<'_>, operation: OperationId, done: &Completion) {
    // Nobody wants what was read ahead of a file that has been cut.
    let Some(task) = cx.tasks.get_mut(operation) else { return };
    let mut transfer = task.transfer.take().expect("a run has a transfer");
    let (_, rest) = transfer.take_rest();
    let (held_by, read_from) = (task.held_by.take(), task.device_read());
    let rate = rate_of(&cx.write_back.wbs, task);
    cx.pages.count(task, rest, rate, cx.now);
    settle_task(cx, operation);
    let_go(cx, operation, held_by);
    cx.block.note_read(cx.now, read_from);
    let task = &cx.tasks[operation];
    if task.run == Run::Hit {
        // All at once: marking every stretch between two events would cut the extents into as many.
        let (file, start, end) = (task.file().id, task.position - transfer.bytes, task.position);
        cx.pages.mark_accessed(file, start, end);
        if cx.pages.has_dropbehind() && !cx.tasks[operation].drops_behind {
            cx.pages.mark_dropbehind(file, (start, end), false);
        }
    }
    let cost = cx.caps.cost(cx.pages, cx.block, &cx.tasks[operation], operation);
    // A writer that ends has looked once more whether the flusher should run.
    cx.flushers.wake_flushers(cx.pages, cx.write_back, cx.tasks, cx.now);
    let task = cx.tasks.get_mut(operation).expect("it is there");
    task.charge(done.parts, &cost);
    tell_throttled(cx, operation, done);
    settle_others(cx, operation);
    leave_ahead(cx, operation);
    drive(cx, operation);
}

/// Says for whom a device wrote while it held a writer back, in proportion to the time of the run that this took.
fn tell_throttled(cx: &mut Context<'_>, operation: OperationId, done: &Completion) {
    let (held, all) = (done.parts.get(Part::Throttled), done.parts.total());
    if held == Nanos::ZERO || operation.0 & AHEAD != 0 {
        return;
    }
    let device = cx.config.device_of(cx.tasks[operation].wb);
    let share = |time: Nanos| Nanos((u128::from(time.0) * u128::from(held.0) / u128::from(all.0)) as u64);
    for behind in cx.block.behind(device, (cx.now - all, cx.now), operation) {
        cx.out.waited(operation, Part::Throttled, Behind { time: share(behind.time), ..behind });
    }
}

/// Steps followers whose bytes have come, or that have no task to follow any more.
fn release_followers(cx: &mut Context<'_>) {
    let follows = |task: &Task| task.run == Run::Follow && !matches!(task.kind, Kind::Cut { .. });
    if !cx.tasks.has_followers {
        debug_assert!(!cx.tasks.values().any(follows), "a follower has been noted");
        return;
    }
    let has_followers = cx.tasks.values().any(follows);
    cx.tasks.has_followers = has_followers;
    let goes_on = |task: &Task| {
        let (is_cached, end) = cx.pages.lists().run(task.file().id, task.position, task.end);
        let has_come = is_cached && end - task.position >= FOLLOW_STRIDE.min(task.end - task.position);
        has_come || followed_by(cx.pages, cx.tasks, task).is_none()
    };
    let followers = cx.tasks.iter().filter(|(_, task)| follows(task));
    let released: Vec<OperationId> =
        followers.filter(|(_, task)| goes_on(task)).map(|(operation, _)| operation).collect();
    for operation in released {
        let task = cx.tasks.get_mut(operation).expect("it is there");
        let waited = cx.nfs.parts_of_wait(cx.now, task.file.as_ref(), Part::DeviceRead, cx.now - task.since);
        task.outcome.parts.add_all(&waited);
        drive(cx, operation);
    }
}

/// Begins the commits that are due.
fn commit_due(cx: &mut Context<'_>) {
    for operation in begin_commits(cx) {
        let is_writer = !matches!(cx.tasks[operation].kind, Kind::Commit { .. });
        if is_writer { end_wait(cx, operation) } else { drive(cx, operation) }
    }
}

/// Steps operations whose processor has prepared the next request, or whose device has flushed its cache.
fn go_on_with_due(cx: &mut Context<'_>) {
    if !cx.tasks.has_busy {
        debug_assert!(cx.tasks.values().all(|task| task.busy_until.is_none()), "who is busy has been noted");
        return;
    }
    let is_due = |task: &Task| task.busy_until.is_some_and(|until| until <= cx.now);
    let due: Vec<OperationId> =
        cx.tasks.iter().filter(|(_, task)| is_due(task)).map(|(operation, _)| operation).collect();
    let has_busy = cx.tasks.values().any(|task| task.busy_until.is_some());
    cx.tasks.has_busy = has_busy;
    for operation in due {
        drive(cx, operation);
    }
}
