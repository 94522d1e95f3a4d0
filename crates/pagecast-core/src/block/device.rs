//! Takes calls through the block layer to a disk, and ends them.
//!
//! Source: `block/blk-mq.c: blk_mq_submit_bio`, Linux 6.12. A call passes the limits of its cgroup, is cut into requests, and its thread submits
//! one after the other: each is merged, or paid for by its cgroup, and then needs a tag.

use super::calls::Calls;
use super::cgroups::Cgroups;
use super::dispatch::Dispatch;
use super::iocost::Controller;
use super::request::{Direction, Request, RequestId};
use super::service::Service;
use super::settings::Settings;
use super::submitters::Submitters;
use super::tags::Tags;
use super::throttle::{Bio, Throttle};
use crate::run_queue::RunQueue;
use crate::units::{Bytes, Nanos, earlier};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// The thread that sends bios which `io.max` has held back (`kthrotld_workqueue`).
const KTHROTLD: u32 = 1 << 31;

/// A disk with its queue; see the module.
pub struct Device {
    settings: Settings,
    calls: Calls,
    cgroups: Cgroups,
    submitters: Submitters,
    tags: Tags,
    dispatch: Dispatch,
    /// Requests that the disk has served, and their bytes: reads, then writes.
    moved: [(u64, Bytes); 2],
    /// The time up to which it has been brought.
    now: Nanos,
}

impl Device {
    /// An idle disk.
    #[must_use]
    pub fn new(settings: Settings, service: Service) -> Self {
        Self {
            calls: Calls::default(),
            cgroups: Cgroups::default(),
            submitters: Submitters::default(),
            tags: Tags::new(settings.scheduler, settings.nr_requests, service.depth()),
            dispatch: Dispatch::new(&settings, service),
            moved: [(0, Bytes::ZERO); 2],
            now: Nanos::ZERO,
            settings,
        }
    }

    /// The same disk, with limits of cgroups and their parts of it.
    #[must_use]
    pub fn shared(self, throttle: Option<Throttle>, iocost: Option<Controller>) -> Self {
        Self { cgroups: Cgroups::new(throttle, iocost), ..self }
    }

    /// True if nothing waits and nothing is served.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty()
    }

    /// Requests that wait for the disk, and those that it serves.
    #[must_use]
    pub fn depth(&self) -> (u64, u64) {
        let served = self.dispatch.served();
        (self.calls.incomplete().saturating_sub(served), served)
    }

    /// Requests that the disk has served so far, and their bytes: reads, then writes.
    #[must_use]
    pub fn moved(&self) -> [(u64, Bytes); 2] {
        self.moved
    }

    /// Submits a call of a thread, which takes time of a processor for each request.
    pub fn submit(&mut self, now: Nanos, call: Request, processors: &mut RunQueue) {
        self.now = self.now.max(now);
        let parts = call.bytes.0.div_ceil(self.settings.max_sectors.0.max(1));
        if parts == 0 {
            return;
        }
        self.calls.add(call.id, parts);
        let bio = Bio { request: call, is_counted: false };
        if let Some(bio) = self.cgroups.pass(now, bio) {
            self.send(now, bio, processors);
        }
    }

    /// Cuts a bio into requests of its thread (`bio_split_rw`). Each part of it but the first passes the limits of its cgroup once more.
    fn send(&mut self, now: Nanos, bio: Bio, processors: &mut RunQueue) {
        let (most, thread) = (self.settings.max_sectors.0.max(1), bio.request.thread);
        let mut rest = Some(bio);
        while let Some(bio) = rest {
            let Request { position, bytes, .. } = bio.request;
            let cut = most.min(bytes.0);
            let part = Request { bytes: Bytes(cut), part: self.calls.next_part(), ..bio.request };
            self.submitters.push(thread, part);
            let request = Request { position: position + cut, bytes: Bytes(bytes.0 - cut), ..bio.request };
            rest = (bytes.0 > cut)
                .then_some(Bio { request, ..bio })
                .and_then(|rest| self.cgroups.pass(now, rest));
        }
        if self.submitters.is_free(thread) {
            self.submit_of(now, thread, processors);
        }
    }

    /// Submits a request that passes the scheduler and all that wait there (`block/blk-flush.c`).
    pub fn submit_at_head(&mut self, now: Nanos, request: Request, processors: &mut RunQueue) {
        self.now = self.now.max(now);
        self.calls.add(request.id, 1);
        self.dispatch.insert_at_head(Request { part: self.calls.next_part(), ..request });
        self.dispatch.fill(now, processors);
        self.unplug(now);
    }

    /// Submits the next requests of a thread, and ends its plug when it has sent all of them or sleeps.
    fn submit_of(&mut self, now: Nanos, thread: u32, processors: &mut RunQueue) {
        self.submit_prepared(now, thread, processors);
        self.unplug(now);
    }

    fn unplug(&mut self, now: Nanos) {
        let submitters = &self.submitters;
        self.dispatch.unplug(now, |thread| submitters.is_preparing(thread));
    }

    /// Submits the next requests of a thread, each when it has prepared it; it waits in line where there is no tag.
    fn submit_prepared(&mut self, now: Nanos, thread: u32, processors: &mut RunQueue) {
        loop {
            let held = || self.dispatch.holds(now, thread, processors);
            let Some((next, is_paid)) = self.submitters.next(now, thread, held) else { return };
            let most = self.settings.max_sectors;
            if let Some(into) = (!is_paid).then(|| self.dispatch.merge(&next, most)).flatten() {
                self.calls.merged(into, next.id);
                self.cgroups.merged(now, &next);
            } else {
                if !is_paid {
                    let pays = self.cgroups.pays(now, &next);
                    self.submitters.set_paid(thread, pays);
                    if !pays {
                        return;
                    }
                }
                if !has_tag(&self.tags, &self.dispatch, &next) {
                    return self.submitters.wait_for_tag(thread);
                }
                self.tags.take(&next);
                self.cgroups.has_tag(now, &next);
                self.dispatch.insert(now, next);
            }
            let ready = processors.run(now, self.preparation(&next));
            self.submitters.sent(thread, ready);
            self.dispatch.fill(now, processors);
        }
    }

    /// The time of a processor that a thread takes for a request.
    fn preparation(&self, request: &Request) -> Nanos {
        match request.direction {
            _ if request.is_direct => self.settings.submission,
            Direction::Read => self.settings.page_read,
            Direction::Write => Nanos(self.settings.page_writeback.0 * request.bytes.0.div_ceil(PAGE)),
        }
    }

    /// The time at which the disk has served its next request, or serves again, or at which a thread goes on.
    #[must_use]
    pub fn next_event(&self) -> Option<Nanos> {
        let waits = self.calls.incomplete() > self.dispatch.served();
        let own = earlier(self.dispatch.next_event(self.now, waits), self.submitters.next_event());
        earlier(own, self.cgroups.next_event())
    }

    /// Brings it up to an instant. Returns the calls that are complete then.
    pub fn advance(&mut self, now: Nanos, processors: &mut RunQueue) -> Vec<RequestId> {
        // A scheduler may have waited for a moment at which the disk was busy.
        let now = now.max(self.now);
        self.now = now;
        let mut complete = Vec::new();
        for request in &self.dispatch.advance(now) {
            // Those behind a flush have no tag.
            if self.dispatch.completed(now, request) {
                self.tags.give_back(request);
                self.cgroups.done(now, request);
            }
            let (count, bytes) = &mut self.moved[usize::from(request.direction == Direction::Write)];
            (*count, *bytes) = (*count + 1, *bytes + request.bytes);
            self.calls.ended(request, &mut complete);
        }
        self.dispatch.fill(now, processors);
        self.unplug(now);
        complete
    }

    /// Lets threads go on that waited for tags, or have prepared their next requests. Called after `advance`, when those have had a processor
    /// whose calls are complete: the kernel's scheduler prefers who sleeps much.
    pub fn resume(&mut self, now: Nanos, processors: &mut RunQueue) {
        while let Some(thread) =
            self.submitters.next_in_line(|next| has_tag(&self.tags, &self.dispatch, next))
        {
            self.submit_of(now, thread, processors);
        }
        while let Some(thread) = self.submitters.next_prepared(now) {
            self.submit_of(now, thread, processors);
        }
        // Those that cgroups have held back.
        for thread in self.cgroups.paid(now) {
            self.submitters.set_paid(thread, true);
            self.submit_of(now, thread, processors);
        }
        for bio in self.cgroups.passed(now) {
            let request = Request { thread: KTHROTLD, ..bio.request };
            self.send(now, Bio { request, ..bio }, processors);
        }
    }
}

/// True if there is a tag for a request.
fn has_tag(tags: &Tags, dispatch: &Dispatch, request: &Request) -> bool {
    tags.has(request, dispatch.limit_depth(request, tags.depth()))
}
