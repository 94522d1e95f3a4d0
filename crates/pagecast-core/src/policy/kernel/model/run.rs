//! Operations, run by run: what of a read or write is served alike is one flow.

use crate::flow::Completion;
use crate::flow::FlowSpec;
use crate::flow::Path;
use crate::policy::Actions;
use crate::policy::FileId;
use crate::policy::FileView;
use crate::policy::OperationId;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::page::{PAGE, whole_pages};
use crate::policy::kernel::page_alloc::pages::{Pages, Written};
use crate::policy::kernel::page_writeback::balance_dirty_pages::{rate_of, task_rate};
use crate::policy::kernel::page_writeback::wb::Wb;
use crate::policy::kernel::task::cost::{Distance, PerByte, Run, Step, Touched};
use crate::policy::kernel::task::credit::{check, resume};
use crate::policy::kernel::task::ids::Taker;
use crate::policy::kernel::task::kind::Kind;
use crate::policy::kernel::task::shape::{Transfer, tag};
use crate::policy::kernel::task::task::Task;
use crate::policy::kernel::task::tasks::Place;
use crate::policy::kernel::vmscan::PageState;
use crate::result::Part;
use crate::stop;
use crate::units::Nanos;

/// What is found in the cache is looked at anew after so many bytes, since it may have been cleaned meanwhile.
const LOOK_AHEAD: u64 = 256 << 20;

/// Bytes of a task have moved: levels change at once, pages later. If it makes pages dirty it does so at this rate.
pub fn count(task: &mut Task, bytes: u64, pages: &mut Pages, rate: Option<f64>, now: Nanos) {
    if task.run.dirties() {
        count_dirtied(task, bytes, pages, rate, now);
    } else if bytes > 0 {
        count_others(task, bytes, pages);
    }
}

/// The same of a task that makes pages dirty; whether it has credit left.
// Of every such task with every event.
#[inline(always)]
pub fn count_dirtied(task: &mut Task, bytes: u64, pages: &mut Pages, rate: Option<f64>, now: Nanos) -> bool {
    let runs_ahead = check(&mut task.credit, rate, bytes, now);
    if bytes == 0 {
        return runs_ahead;
    }
    pages.dirty.run_ahead(task.wb, bytes);
    if let Some(memcg) = pages.memcg(task.memcg) {
        memcg.run_ahead(task, bytes);
    }
    // Who writes has his buffer already.
    if task.run.fills() {
        pages.ahead_cached += bytes;
    }
    task.pending += bytes;
    pages.pending += bytes;
    runs_ahead
}

/// The same of one that does not.
#[inline(always)]
pub fn count_others(task: &mut Task, bytes: u64, pages: &mut Pages) {
    if let Some(memcg) = pages.memcg(task.memcg) {
        memcg.run_ahead(task, bytes);
    }
    if task.run.fills() {
        pages.ahead_cached += bytes;
    }
    if task.takes_anonymous() {
        pages.ahead_anonymous += task.asked_of(bytes);
    }
    task.pending += bytes;
    pages.pending += bytes;
}

/// The bytes that a task had pending no more count as such: it is going to be told where they are, or nobody keeps them.
pub fn uncount(task: &Task, bytes: u64, pages: &mut Pages) {
    pages.pending -= bytes;
    if task.run.fills() {
        pages.ahead_cached -= bytes;
    }
    if task.takes_anonymous() {
        pages.ahead_anonymous -= task.asked_of(bytes);
    }
    if task.run.dirties() {
        pages.dirty.fall_back(task.wb, bytes);
    }
    if let Some(memcg) = pages.memcg(task.memcg) {
        memcg.fall_back(task, bytes);
    }
}

/// Two windows of read-ahead, the one that is being read and the next (`read_ahead_kb`, 128 KiB).
const LOCKED: u64 = 256 << 10;

/// Bytes behind a reader are looked at in runs of this size at least, or two that write there would go byte by byte, and so would a
/// faster reader.
pub const LEAST_RUN: u64 = 64 << 10;

/// What is written over on a disk that wants stable pages is looked at anew after so many bytes.
const STABLE_RUN: u64 = 1 << 20;

/// The steps of beginning or ending a part of a run, see `stop`.
const RUN: u64 = 32;

/// A follower goes on when so many bytes have come.
const STRIDE: u64 = 16 << 20;

impl Kernel {
    /// Begins the next run of a task, or ends it.
    pub fn next_run(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        stop::spend(RUN);
        let Some(task) = self.tasks.get(operation) else { return };
        match task.kind {
            Kind::Direct { .. } => return self.next_calls(now, operation, out),
            Kind::WriteSync { .. } if task.position >= task.end => {
                return self.write_step(now, operation, out);
            }
            _ if task.position >= task.end => return self.end_task(now, operation, out),
            _ => {}
        }
        if task.kind == Kind::Write && task.mapped.is_some() {
            self.fault_in(operation, out);
        }
        let task = &self.tasks[operation];
        let (run, mut end) = self.classify(task, operation);
        if task.mapped.is_some() {
            end = self.touch_mapped(operation, run, end);
        }
        let task = &self.tasks[operation];
        if run == Run::New && task.read_until.is_some() {
            let Some(prepared) = self.prepare_blocks(now, operation, end, out) else { return };
            end = prepared;
        }
        let task = self.tasks.get_mut(operation).expect("it is there");
        task.run = run;
        let shape = self.shape_run(operation, end, out);
        let task = self.tasks.get_mut(operation).expect("it is there");
        task.shape = shape;
        if run == Run::Follow {
            task.since = now;
            self.tasks.has_followers = true;
            return;
        }
        if run == Run::Wait {
            task.since = now;
            return self.wait_for_stable_pages(operation, end);
        }
        resume(task, task_rate(&self.write_back.wbs, task), now);
        let bytes = end - task.position;
        let moved = shape.bytes;
        task.count_served(bytes, |served, bytes| *served += bytes);
        let cost = self.cost(&self.tasks[operation], operation);
        let pace = shape.thread_rate(&cost).unwrap_or(f64::INFINITY);
        let dirty = &self.pages.dirty;
        let task = self.tasks.get_mut(operation).expect("it is there");
        task.turnover = task.file.as_ref().map_or(0, |file| self.pages.lists.turnover(file.id));
        task.pace = pace;
        task.is_first = run.dirties() && dirty.dirtied_when(task.file().id).is_none();
        let task = &self.tasks[operation];
        let cap = self.cap(task, operation, self.pages.is_exhausted());
        // More than there is comes as it is cleaned.
        if cap.is_none() && run == Run::Touch && bytes <= self.pages.available() {
            self.apply(now, self.tasks.place_of(operation), bytes);
            self.look_at_backed(now);
            let task = self.tasks.get_mut(operation).expect("it is there");
            task.position = end;
            return self.next_run(now, operation, out);
        }
        let spec =
            FlowSpec { cap, watched: true, ..FlowSpec::new(self.path(task), moved, tag(operation, task)) };
        let flow = out.start(spec);
        let task = self.tasks.get_mut(operation).expect("it is there");
        task.transfer = Some(Transfer::new(flow, moved, cap, now));
    }

    pub fn end_task(&mut self, now: Nanos, operation: OperationId, out: &mut Actions) {
        let task = self.tasks.remove(operation).expect("a task ends once");
        self.pages.placement.leave(task.kind.owner(operation));
        if let Some(credit) = task.credit {
            self.tasks.credits.insert(operation, credit);
        }
        if let (Some(key), Some(file)) = (task.stream, &task.file) {
            self.leave_stream(key, task.end, file, task.mapped.is_some());
        }
        match (task.kind, task.file) {
            (Kind::Remove { cut: Some(cut) }, Some(file)) => {
                self.wait_for_writeback(now, operation, (file, cut), task.outcome, out);
            }
            (Kind::ReadAhead { .. }, _) => {}
            (Kind::Beside { of, way }, _) => self.moved_beside(now, of, way, out),
            _ => out.done(operation, task.outcome),
        }
    }

    /// How the next bytes of a task are served, and up to where.
    fn classify(&self, task: &Task, operation: OperationId) -> (Run, u64) {
        let (at, end) = (task.position, task.end);
        match task.kind {
            Kind::Allocate { .. } => {
                let end = end.min(at.saturating_add(self.until_reported_to(task)));
                return (Run::Touch, self.end_of_spare(at, end));
            }
            Kind::Remove { .. } => return (Run::Remove, end),
            Kind::WriteThrough => return (Run::Through, end),
            Kind::Insert { .. } => return (Run::Insert, end),
            Kind::ReadAhead { .. } => return (Run::Miss, end),
            Kind::Read { .. } | Kind::Write | Kind::WriteSync { .. } => {}
            Kind::Wait { .. }
            | Kind::Free
            | Kind::Sync { .. }
            | Kind::SyncRange { .. }
            | Kind::Direct { .. }
            | Kind::Beside { .. } => {
                unreachable!("what waits or goes past the cache has no runs in it")
            }
        }
        let file = task.file().id;
        let least = end.min(at.saturating_add(LEAST_RUN));
        let (is_cached, run_end) = self.pages.lists.run(file, at, end);
        match (task.kind, is_cached) {
            (Kind::Read { .. }, _) if self.followed_by(task).is_some() => (Run::Follow, run_end),
            (Kind::Read { .. }, true) => (Run::Hit, self.near_end(file, at, run_end)),
            (Kind::Read { .. }, false) if task.drops_behind => (Run::Pass, run_end),
            (Kind::Read { .. }, false) => (Run::Miss, run_end),
            (_, false) if task.mapped.is_some() && self.reader_of(file, at).is_some() => {
                (Run::Follow, run_end)
            }
            (_, false) if self.is_being_read(file, at) => (Run::Follow, run_end),
            (_, false) => (Run::New, self.new_end(operation, at, run_end).max(least)),
            // It has to wait where no page can be had.
            (_, true) if run_end < least && self.pages.is_memcg_exhausted(task.memcg) => (Run::New, least),
            (Kind::Write, true) if self.has_stable_pages(task) => {
                match self.pages.dirty.stable_run(file, at, run_end.min(at.saturating_add(STABLE_RUN))) {
                    (PageState::Writeback, to) => (Run::Wait, to),
                    (PageState::Dirty, to) => (Run::Dirty, to),
                    (PageState::Clean, to) => (Run::Clean, to),
                }
            }
            (_, true) => {
                let (is_dirty, to) = self.pages.dirty.dirty_run(file, at, run_end);
                let run = if is_dirty { Run::Dirty } else { Run::Clean };
                (run, self.near_end(file, at, to).max(least))
            }
        }
    }

    /// Whether who writes over pages of its file waits while they are under writeback (`mm/page-writeback.c: folio_wait_stable`).
    fn has_stable_pages(&self, task: &Task) -> bool {
        self.config.host.disks.get(task.file().device.0 as usize).is_some_and(|disk| disk.bdi.stable_writes)
    }

    /// A writer waits until what is before him is on the device.
    fn wait_for_stable_pages(&mut self, operation: OperationId, end: u64) {
        let task = &self.tasks[operation];
        let (file, range) = (*task.file(), whole_pages((task.position, end)));
        let must_wait = self.queue(&file).wait_within(file.id, range, operation);
        debug_assert!(must_wait, "what is under writeback is in the queue");
    }

    /// Who is reading these bytes from the device right now: pages under way are locked, and read once.
    pub fn reader_of(&self, file: FileId, at: u64) -> Option<&Task> {
        let reads = |task: &&Task| {
            let is_under_way = (task.reads_from()..task.reads_until()).contains(&at);
            task.run == Run::Miss && task.file().id == file && is_under_way
        };
        self.tasks.values().find(reads)
    }

    /// Whether a page is locked by read-ahead. Who writes there waits for it; what is farther ahead he can write before.
    fn is_being_read(&self, file: FileId, at: u64) -> bool {
        let ahead = |reader: &Task| at.saturating_sub(reader.position + reader.pending);
        self.reader_of(file, at).is_some_and(|reader| ahead(reader) < LOCKED)
    }

    /// Who is reading the next bytes of a task from the device right now. For a reader these are also the bytes behind a cached run that
    /// is shorter than the least.
    pub fn followed_by(&self, task: &Task) -> Option<&Task> {
        let (file, at) = (task.file().id, task.position);
        let is_read = matches!(task.kind, Kind::Read { .. });
        match self.pages.lists.run(file, at, task.end) {
            (false, _) => self.reader_of(file, at),
            // The pages of a request arrive together: the cached run in front of them does not grow bit by bit.
            (true, to) if is_read && to < task.end && to - at < LEAST_RUN => {
                self.reader_of(file, to).filter(|reader| !reader.reads_ahead())
            }
            _ => None,
        }
    }

    /// When the bytes that a follower waits for will be there, so many that it is worth going on.
    pub fn until_followed(&self, task: &Task) -> Option<f64> {
        let reader = self.followed_by(task)?;
        if reader.reads_ahead() {
            // Its pages arrive together, and it tells when.
            return None;
        }
        let rate = reader.transfer.as_ref()?.rate;
        let wanted = task.position + STRIDE.min(task.end - task.position) - reader.position;
        (rate > 0.0).then(|| wanted as f64 / rate)
    }

    /// Followers go on whose bytes have come, or who have nobody to follow any more.
    pub fn release_followers(&mut self, now: Nanos, out: &mut Actions) {
        let follows = |task: &Task| task.run == Run::Follow && !matches!(task.kind, Kind::Wait { .. });
        if !self.tasks.has_followers {
            debug_assert!(!self.tasks.values().any(follows), "a follower has been noted");
            return;
        }
        let has_followers = self.tasks.values().any(follows);
        self.tasks.has_followers = has_followers;
        let goes_on = |task: &Task| {
            let (is_cached, end) = self.pages.lists.run(task.file().id, task.position, task.end);
            let has_come = is_cached && end - task.position >= STRIDE.min(task.end - task.position);
            has_come || self.followed_by(task).is_none()
        };
        let followers = self.tasks.iter().filter(|(_, task)| follows(task));
        let released: Vec<OperationId> =
            followers.filter(|(_, task)| goes_on(task)).map(|(operation, _)| operation).collect();
        for operation in released {
            let task = self.tasks.get_mut(operation).expect("it is there");
            task.outcome.parts.add(Part::DeviceRead, now - task.since);
            self.next_run(now, operation, out);
        }
    }

    /// Up to where new memory comes without others having to leave, if that has a price.
    fn end_of_spare(&self, at: u64, end: u64) -> u64 {
        match self.pages.spare() {
            spare if spare > 0 && self.config.prices.has_reclaim() => end.min(at.saturating_add(spare)),
            _ => end,
        }
    }

    /// Up to where cached bytes are looked at in one go: they are of one node.
    fn near_end(&self, file: FileId, at: u64, end: u64) -> u64 {
        let end = end.min(at.saturating_add(LOOK_AHEAD));
        if self.pages.nodes() == 1 {
            return end;
        }
        self.pages.lists.place(file, at, end).map_or(end, |(_, to)| to)
    }

    /// Up to where new pages are looked at in one go: as many as the own node has room for, or so few that the share of other
    /// nodes is known soon.
    fn new_end(&self, operation: OperationId, at: u64, end: u64) -> u64 {
        if self.pages.nodes() == 1 {
            return end;
        }
        end.min(at.saturating_add(self.own_room(operation).max(LOOK_AHEAD)))
    }

    /// How many pages the node of a writer can give it, in bytes.
    fn own_room(&self, operation: OperationId) -> u64 {
        let home = self.pages.placement.node(operation);
        self.pages.target(home, true).filter(|&(node, _)| node == home).map_or(0, |(_, room)| room)
    }

    /// How much of what is written to new pages goes to other nodes. At a node's limit of dirty pages its own share is what is
    /// cleaned meanwhile, so it is taken from what was written last.
    fn new_far(&self, operation: OperationId) -> f64 {
        let room = self.own_room(operation);
        if room >= LOOK_AHEAD {
            return 0.0;
        }
        self.pages.placement.written_far(operation).unwrap_or(if room > 0 { 0.0 } else { 1.0 })
    }

    pub fn path(&self, task: &Task) -> Path {
        match task.run {
            Run::Hit => self.config.memory_read,
            Run::Miss if task.reads_ahead() => task.file().read,
            Run::Miss | Run::Pass => task.file().read_and_copy,
            Run::Through => task.file().write,
            Run::Direct if task.writes_past() => task.file().write,
            Run::Direct => task.file().read,
            _ => self.config.memory_write,
        }
    }

    /// What the bytes of a task cost its thread.
    pub fn cost(&self, task: &Task, operation: OperationId) -> PerByte {
        let page_insert = task.page_insert();
        if task.reads_ahead() || (task.mapped.is_none() && self.config.prices.are_nothing(page_insert)) {
            return PerByte::default();
        }
        let operation = task.kind.owner(operation);
        // Only who adds pages to a file notices.
        let is_being_written =
            task.run == Run::New && task.file.as_ref().is_some_and(|file| self.is_being_written(file));
        let distance =
            if self.pages.nodes() > 1 { self.distance(task, operation) } else { Distance::default() };
        let touched = self.touched(task, operation);
        let (reclaimed, reported) = (self.reclaimed(task), self.reported(task));
        self.config.prices.per_byte(&Step {
            run: task.run,
            piece: task.piece,
            touched,
            distance,
            is_being_written,
            reclaimed,
            reported,
            page_insert,
            folio: task.folio,
            access: task.access,
        })
    }

    /// How many pages leave memory for each page that a task moves, if that has a price.
    fn reclaimed(&self, task: &Task) -> f64 {
        let is_short = || {
            let is_cgroup_short = task.memcg.index().is_some_and(|at| self.pages.is_memcg_full(at));
            self.pages.is_short() || is_cgroup_short
        };
        if self.config.prices.has_reclaim() && is_short() { task.pages_taken() } else { 0.0 }
    }

    /// What pages the new anonymous memory of a task comes in. Huge ones are only taken from the node of the thread, while it
    /// has free blocks: what comes from another node is small, and what reclaim has freed is in pieces.
    ///
    /// `mm/mempolicy.c: alloc_pages_vma` (`__GFP_THISNODE`), `mm/huge_memory.c: alloc_hugepage_direct_gfpmask` (no reclaim for
    /// it with the default of `transparent_hugepage/defrag`), Linux 4.18.
    fn touched(&self, task: &Task, operation: OperationId) -> Touched {
        if !task.takes_anonymous() {
            return Touched::Nothing;
        }
        let has_blocks = || self.pages.above_high(self.pages.placement.node(operation)) > 0;
        if self.config.prices.has_huge() && has_blocks() { Touched::Huge } else { Touched::Small }
    }

    /// How much of both ends of a copy is on another node than its thread.
    fn distance(&self, task: &Task, operation: OperationId) -> Distance {
        let home = self.pages.placement.node(operation);
        let new_page = || {
            let target = self.pages.target(home, false).map_or(home, |(node, _)| node);
            f64::from(u8::from(target != home))
        };
        let present_page = || {
            let place = self.pages.lists.place(task.file().id, task.position, task.end);
            f64::from(u8::from(place.is_some_and(|(lruvec, _)| self.pages.node_of(lruvec) != home)))
        };
        let buffer = || self.pages.placement.far_share(operation);
        let (from, to) = match task.run {
            Run::Touch => (0.0, new_page()),
            Run::Hit if task.is_fresh() => (present_page(), new_page()),
            Run::Hit => (present_page(), 0.0),
            Run::Miss | Run::Pass => (new_page(), new_page()),
            Run::New => (buffer(), self.new_far(operation)),
            Run::Clean | Run::Dirty => (buffer(), present_page()),
            Run::Insert if task.is_fresh() => (0.0, new_page()),
            Run::Through | Run::Insert | Run::Remove | Run::Follow | Run::Direct | Run::Wait => (0.0, 0.0),
        };
        Distance { from, to }
    }

    /// Finds out where the bytes of all tasks are that have moved so far.
    pub fn settle(&mut self, now: Nanos) {
        self.settle_each(now, self.pending(|_| true));
        self.clock.settled = now;
        self.look_at_refaults(now);
    }

    /// The same at the end of a run, also of requests that are on their way: their pages are in the cache before their bytes are there.
    pub fn settle_for_good(&mut self, now: Nanos) {
        self.sync(now);
        self.tasks.values_mut().filter(|task| task.is_in_flight()).for_each(|task| task.transfer = None);
        self.settle(now);
        self.check_books();
    }

    /// The same for those who write to files that the flusher of a device is going to look at.
    pub fn settle_visited(&mut self, now: Nanos, device: usize) {
        let Some(Wb { flusher, .. }) = &self.write_back.wbs[device] else { return };
        self.settle_each(now, self.pending(|task| task.run.dirties() && flusher.may_visit(task.file().id)));
    }

    /// The same for all tasks on the file of one that is going to look where its next bytes are.
    fn settle_others(&mut self, now: Nanos, operation: OperationId) {
        let of = |task: &Task| task.file.as_ref().map(|file| file.id);
        let Some(file) = self.tasks.get(operation).and_then(of) else { return };
        self.settle_each(now, self.pending(|task| of(task) == Some(file)));
    }

    /// The tasks of a kind whose bytes have moved and are nowhere yet.
    pub fn pending(&self, is_wanted: impl Fn(&Task) -> bool) -> Vec<Place> {
        if self.pages.pending == 0 {
            return Vec::new();
        }
        self.tasks.places(|task| task.pending > 0 && is_wanted(task))
    }

    /// Pages that came at the same time lie between each other in the lists.
    pub fn settle_each(&mut self, now: Nanos, places: Vec<Place>) {
        let coming = || places.iter().map(|&place| self.tasks.at(place)).filter(|task| task.run.fills());
        let bytes: u64 = coming().map(|task| task.pending).sum();
        let slices = if coming().nth(1).is_some() { bytes.div_ceil(self.pages.most_ahead()) } else { 1 };
        for left in (1..=slices.max(1)).rev() {
            for &place in &places {
                self.settle_slice(now, place, left);
            }
        }
    }

    fn settle_task(&mut self, now: Nanos, operation: OperationId) {
        self.settle_slice(now, self.tasks.place_of(operation), 1);
    }

    /// The first of as many equal slices of what is pending of a task, in whole pages unless it is the last one.
    fn settle_slice(&mut self, now: Nanos, place: Place, slices: u64) {
        let (_, task) = self.tasks.at_moving(place);
        if task.is_in_flight() {
            return;
        }
        let all = std::mem::take(&mut task.pending);
        let bytes = if slices > 1 { all / slices / PAGE * PAGE } else { all };
        if bytes > 0 {
            let was_first = std::mem::take(&mut task.is_first);
            uncount(task, bytes, &mut self.pages);
            // Pages of the file and of the buffer were taken in turn.
            let step =
                if task.run.fills() && task.takes_anonymous() { self.pages.most_ahead() } else { bytes };
            let mut left = bytes;
            while left > 0 {
                self.apply(now, place, left.min(step));
                left = left.saturating_sub(step);
            }
            if was_first {
                self.tasks.note_change();
            }
        }
        self.tasks.at_moving(place).1.pending = all - bytes;
    }

    /// Bytes of a task have moved: pages change.
    fn apply(&mut self, now: Nanos, place: Place, bytes: u64) {
        stop::spend(RUN);
        let (operation, task) = self.tasks.at_moving(place);
        let start = task.reads_from();
        let end = task.position + bytes;
        let asked = if task.reads_ahead() { 0 } else { task.asked_of(bytes) };
        task.position = end;
        let (run, file, takes_anonymous) = (task.run, task.file, task.takes_anonymous());
        let (drops_behind, is_mapped, folio) = (task.drops_behind, task.mapped.is_some(), task.folio);
        let (owner, memcg) = (task.kind.owner(operation), task.memcg);
        let by = Taker { home: self.pages.placement.node(task.thread(operation)), memcg };
        if takes_anonymous {
            self.pages.take_anonymous(by, asked, owner);
        }
        let Some(file) = file else { return };
        match run {
            Run::Hit => {}
            Run::Miss => {
                self.pages.read_in(file.id, start, end, by);
                self.pages.lists.mark_accessed(file.id, start, start + asked);
            }
            Run::Through | Run::Insert => {
                self.pages.put(file.id, start, end, by);
                self.note_folios(&file, (start, end), folio);
            }
            Run::New | Run::Clean | Run::Dirty => {
                if drops_behind || !self.pages.dropbehind.is_empty() {
                    let leaves = drops_behind && run == Run::New;
                    self.pages.mark_dropbehind(file.id, (start, end), leaves);
                }
                if run == Run::New {
                    self.note_folios(&file, (start, end), folio);
                }
                let written = self.make_dirty(now, &file, (start, end), by);
                self.pages.placement.has_written(operation, written.new, written.far);
                // Whoever unmaps a page that was touched marks it (`mm/memory.c: zap_present_folio_ptes`).
                if self.config.rules.writes_are_accesses || is_mapped {
                    self.pages.lists.mark_accessed(file.id, start, end);
                }
            }
            Run::Pass | Run::Touch | Run::Remove | Run::Follow | Run::Direct | Run::Wait => {}
        }
    }

    /// New bytes of a file are in folios of so many pages.
    pub fn note_folios(&mut self, file: &FileView, range: (u64, u64), folio: u64) {
        if self.config.rules.largest_folio > 1 {
            self.pages.folios.set(file.id, range, folio);
        }
    }

    /// Pages become dirty, and their inode with the first.
    pub fn make_dirty(&mut self, now: Nanos, file: &FileView, range: (u64, u64), by: Taker) -> Written {
        let written = self.pages.write(file.id, self.wb_of(file), range, by, now);
        if written.dirtied_inode {
            let (interval, timers) = (self.config.host.vm.dirty_writeback, self.config.timers());
            self.wb(file).flusher.inode_dirtied(file.id, now, interval, timers);
        }
        written
    }

    /// A run has moved all its bytes.
    pub fn run_ended(&mut self, now: Nanos, operation: OperationId, done: &Completion, out: &mut Actions) {
        // Nobody wants what was read ahead of a file that has been cut.
        let Some(task) = self.tasks.get_mut(operation) else { return };
        let mut transfer = task.transfer.take().expect("a run has a transfer");
        let (_, rest) = transfer.take_rest();
        let (held_by, read_from) = (task.held_by.take(), task.device_read());
        let rate = rate_of(&self.write_back.wbs, task);
        count(task, rest, &mut self.pages, rate, now);
        self.settle_task(now, operation);
        self.let_go(now, operation, held_by);
        self.note_read(now, read_from);
        let task = &self.tasks[operation];
        if task.run == Run::Hit {
            // All at once: marking every stretch between two events would cut the extents into as many.
            let (file, start, end) = (task.file().id, task.position - transfer.bytes, task.position);
            self.pages.lists.mark_accessed(file, start, end);
            if !self.pages.dropbehind.is_empty() && !self.tasks[operation].drops_behind {
                self.pages.mark_dropbehind(file, (start, end), false);
            }
        }
        let cost = self.cost(&self.tasks[operation], operation);
        // A writer that ends has looked once more whether the flusher should run.
        self.wake_flushers(now);
        let task = self.tasks.get_mut(operation).expect("it is there");
        task.charge(done.parts, &cost);
        self.settle_others(now, operation);
        self.leave_ahead(now, operation, out);
        self.next_run(now, operation, out);
    }
}

#[cfg(test)]
mod tests;
