//! Operations, run by run: what of a read or write is served alike is one flow.

use crate::flow::FlowSpec;
use crate::flow::Path;
use crate::policy::Actions;
use crate::policy::FileId;
use crate::policy::FileView;
use crate::policy::OperationId;
use crate::policy::kernel::Kernel;
use crate::policy::kernel::discretisation::{FOLLOW_STRIDE, LEAST_RUN, MOST_RUN, RUN_STEPS};
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::pages::{Pages, Written};
use crate::policy::kernel::page_writeback::balance_dirty_pages::task_rate;
use crate::policy::kernel::task::cost::{Distance, PerByte, Run, Step, Touched};
use crate::policy::kernel::task::credit::{check, resume};
use crate::policy::kernel::task::ids::Taker;
use crate::policy::kernel::task::kind::Kind;
use crate::policy::kernel::task::shape::{Transfer, tag};
use crate::policy::kernel::task::task::Task;
use crate::policy::kernel::task::tasks::Place;
use crate::result::Part;
use crate::stop;
use crate::units::Nanos;

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

impl Kernel {
    /// Begins the run that a step has chosen, up to `end`; true if it takes no time.
    pub fn begin_run(&mut self, now: Nanos, operation: OperationId, end: u64, out: &mut Actions) -> bool {
        let task = self.tasks.get_mut(operation).expect("it is there");
        resume(task, task_rate(&self.write_back.wbs, task), now);
        let (run, bytes, moved) = (task.run, end - task.position, task.shape.bytes);
        task.count_served(bytes, |served, bytes| *served += bytes);
        let cost = self.cost(&self.tasks[operation], operation);
        let dirty = &self.pages.dirty;
        let task = self.tasks.get_mut(operation).expect("it is there");
        task.turnover = task.file.as_ref().map_or(0, |file| self.pages.lists.turnover(file.id));
        task.pace = task.shape.thread_rate(&cost).unwrap_or(f64::INFINITY);
        task.is_first = run.dirties() && dirty.dirtied_when(task.file().id).is_none();
        let task = &self.tasks[operation];
        let cap = self.cap(task, operation, self.pages.is_exhausted());
        // More than there is comes as it is cleaned.
        if cap.is_none() && run == Run::Touch && bytes <= self.pages.available() {
            self.apply(now, self.tasks.place_of(operation), bytes);
            self.look_at_backed(now);
            self.tasks.get_mut(operation).expect("it is there").position = end;
            return true;
        }
        self.start_flow(now, operation, (moved, cap), out);
        false
    }

    /// Starts the flow of a run.
    pub fn start_flow(
        &mut self,
        now: Nanos,
        operation: OperationId,
        (bytes, cap): (u64, Option<(f64, Part)>),
        out: &mut Actions,
    ) {
        let task = &self.tasks[operation];
        let path = self.path(task);
        let spec = FlowSpec { cap, watched: true, ..FlowSpec::new(path, bytes, tag(operation, task)) };
        let transfer = Transfer::new(out.start(spec), bytes, cap, now);
        self.tasks.get_mut(operation).expect("it is there").transfer = Some(transfer);
    }

    /// Who is reading these bytes from the device right now: pages under way are locked, and read once.
    pub fn reader_of(&self, file: FileId, at: u64) -> Option<&Task> {
        let reads = |task: &&Task| {
            let is_under_way = (task.reads_from()..task.reads_until()).contains(&at);
            task.run == Run::Miss && task.file().id == file && is_under_way
        };
        self.tasks.values().find(reads)
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
        let wanted = task.position + FOLLOW_STRIDE.min(task.end - task.position) - reader.position;
        (rate > 0.0).then(|| wanted as f64 / rate)
    }

    /// Up to where cached bytes are looked at in one go: they are of one node.
    pub fn near_end(&self, file: FileId, at: u64, end: u64) -> u64 {
        let end = end.min(at.saturating_add(MOST_RUN));
        if self.pages.nodes() == 1 {
            return end;
        }
        self.pages.lists.place(file, at, end).map_or(end, |(_, to)| to)
    }

    /// How many pages the node of a writer can give it, in bytes.
    pub fn own_room(&self, operation: OperationId) -> u64 {
        let home = self.pages.placement.node(operation);
        self.pages.target(home, true).filter(|&(node, _)| node == home).map_or(0, |(_, room)| room)
    }

    /// How much of what is written to new pages goes to other nodes. At a node's limit of dirty pages its own share is what is
    /// cleaned meanwhile, so it is taken from what was written last.
    pub fn new_far(&self, operation: OperationId) -> f64 {
        let room = self.own_room(operation);
        if room >= MOST_RUN {
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
    pub fn reclaimed(&self, task: &Task) -> f64 {
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
    pub fn touched(&self, task: &Task, operation: OperationId) -> Touched {
        if !task.takes_anonymous() {
            return Touched::Nothing;
        }
        let has_blocks = || self.pages.above_high(self.pages.placement.node(operation)) > 0;
        if self.config.prices.has_huge() && has_blocks() { Touched::Huge } else { Touched::Small }
    }

    /// How much of both ends of a copy is on another node than its thread.
    pub fn distance(&self, task: &Task, operation: OperationId) -> Distance {
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
        let Some(flusher) = self.flushers.get(device) else { return };
        self.settle_each(now, self.pending(|task| task.run.dirties() && flusher.may_visit(task.file().id)));
    }

    /// The same for all tasks on the file of one that is going to look where its next bytes are.
    pub fn settle_others(&mut self, now: Nanos, operation: OperationId) {
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

    pub fn settle_task(&mut self, now: Nanos, operation: OperationId) {
        self.settle_slice(now, self.tasks.place_of(operation), 1);
    }

    /// The first of as many equal slices of what is pending of a task, in whole pages unless it is the last one.
    pub fn settle_slice(&mut self, now: Nanos, place: Place, slices: u64) {
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
    pub fn apply(&mut self, now: Nanos, place: Place, bytes: u64) {
        stop::spend(RUN_STEPS);
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
        let written = self.pages.write(file.id, self.write_back.wb_of(file), range, by, now);
        if written.dirtied_inode {
            let (interval, timers) = (self.config.host.vm.dirty_writeback, self.config.timers());
            self.flusher_of(file).inode_dirtied(file.id, now, interval, timers);
        }
        written
    }
}

#[cfg(test)]
mod tests;
