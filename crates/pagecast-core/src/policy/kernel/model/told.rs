//! Reports when states of the page cache begin and end: of a process, of a device or of the whole host.
//!
//! Ours. Levels hover around their thresholds, and a writer is throttled call by call. A state is over only when its reasons have been gone
//! for a second. Its end is reported then, with the time at which it was. Left out: states that took no time.

use std::collections::BTreeMap;

use crate::policy::kernel::block::Block;
use crate::policy::kernel::config::Config;
use crate::policy::kernel::discretisation::AT_CAP;
use crate::policy::kernel::page_alloc::pages::Pages;
use crate::policy::kernel::page_writeback::write_back::WriteBack;
use crate::policy::kernel::tasks::ids::WbId;
use crate::policy::kernel::tasks::shape::Transfer;
use crate::policy::kernel::tasks::task::Task;
use crate::policy::kernel::vmscan::refaults::{Refaults, WINDOW};
use crate::policy::{Actions, DeviceId, Event, OperationId};
use crate::result::Part;
use crate::units::{Bytes, Nanos};

/// A state that comes back earlier has not ended.
const QUIET: Nanos = Nanos(1_000_000_000);

/// No device.
const NOWHERE: DeviceId = DeviceId(u32::MAX);

/// The states that begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A flusher writes because its device is over its background threshold.
    Background,
    /// The law lets a process write less than it could.
    Throttling,
    /// No clean page is left: a process that wants memory waits for one.
    DirectReclaim,
    /// A large part of the devices' reads was in memory not long ago.
    Thrashing,
}

impl What {
    /// The names of its events.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Background => ["background_begins", "background_ends"],
            Self::Throttling => ["throttling_begins", "throttling_ends"],
            Self::DirectReclaim => ["direct_reclaim_begins", "direct_reclaim_ends"],
            Self::Thrashing => ["refault_storm_begins", "refault_storm_ends"],
        }
    }
}

/// A state with its process and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    what: What,
    operation: OperationId,
    device: DeviceId,
}

/// A state that has begun.
#[derive(Clone, Copy, Debug)]
struct State {
    since: Nanos,
    bytes: u64,
    is_told: bool,
    /// The number of its reasons.
    reasons: u32,
    /// The time at which the last reason went, and the bytes then.
    over: Option<(Nanos, u64)>,
}

/// The states of a host; see the module.
#[derive(Default)]
pub struct States {
    all: BTreeMap<Key, State>,
    /// Nothing is to be reported before this time.
    due: Option<Nanos>,
}

impl States {
    /// Adds a reason for a state, with so many bytes.
    pub fn begin(&mut self, now: Nanos, key: Key, bytes: u64) {
        let new = State { since: now, bytes, is_told: false, reasons: 0, over: None };
        let state = self.all.entry(key).or_insert(new);
        state.reasons += 1;
        state.over = None;
        if !state.is_told {
            self.look_at(now + Nanos(1));
        }
    }

    /// Removes a reason for a state.
    pub fn end(&mut self, now: Nanos, key: Key, bytes: u64) {
        let state = self.all.get_mut(&key).expect("what ends has begun");
        state.reasons -= 1;
        if state.reasons > 0 {
            return;
        }
        if state.since == now {
            self.all.remove(&key);
        } else {
            state.over = Some((now, bytes));
            self.look_at(now + QUIET);
        }
    }

    /// Begins a state with a single reason, or ends it.
    pub fn turn(&mut self, now: Nanos, key: Key, is_on: bool, bytes: u64) {
        match is_on {
            true => self.begin(now, key, bytes),
            false => self.end(now, key, bytes),
        }
    }

    fn look_at(&mut self, time: Nanos) {
        self.due = Some(self.due.map_or(time, |due| due.min(time)));
    }

    /// The time before which nothing is to be reported.
    pub fn due(&self) -> Option<Nanos> {
        self.due
    }

    /// True if something may have to be reported by now.
    pub fn is_due(&self, now: Nanos) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// Reports states that have begun, and those that have been over for a while.
    pub fn tell(&mut self, now: Nanos, out: &mut Actions) {
        if self.is_due(now) {
            self.tell_each(now, QUIET, out);
        }
    }

    /// Reports all states that are over.
    pub fn tell_rest(&mut self, now: Nanos, out: &mut Actions) {
        self.tell_each(now, Nanos::ZERO, out);
    }

    fn tell_each(&mut self, now: Nanos, quiet: Nanos, out: &mut Actions) {
        self.due = None;
        let mut due: Option<Nanos> = None;
        self.all.retain(|key, state| {
            if !state.is_told && state.since < now {
                state.is_told = true;
                out.tell_all(key.event(0, state.since, state.bytes));
            }
            let next = match state.over {
                Some((over, bytes)) if over + quiet <= now => {
                    out.tell_all(key.event(1, over, bytes));
                    return false;
                }
                Some((over, _)) => over + quiet,
                None if state.is_told => return true,
                None => now + Nanos(1),
            };
            due = Some(due.map_or(next, |due| due.min(next)));
            true
        });
        self.due = due;
    }
}

impl Key {
    /// The thrashing of the host.
    const THRASHING: Self = Self { what: What::Thrashing, operation: OperationId::NOBODY, device: NOWHERE };

    /// The event of its beginning (0) or end (1).
    fn event(self, which: usize, time: Nanos, bytes: u64) -> Event {
        Event {
            name: self.what.names()[which],
            time: Some(time),
            operation: Some(self.operation),
            device: (self.device != NOWHERE).then_some(self.device),
            file: None,
            bytes: Bytes(bytes),
        }
    }
}

/// Returns the state of a task that waits for this part.
fn what_of(part: Part) -> Option<What> {
    match part {
        Part::Throttled => Some(What::Throttling),
        Part::Reclaim => Some(What::DirectReclaim),
        _ => None,
    }
}

/// Returns the part that holds a transfer back, if it is to be reported. A task's charge per millisecond may exceed its own speed.
fn holder(transfer: &Transfer) -> Option<Part> {
    let (cap, part) = transfer.cap?;
    let is_reached = part != Part::Reclaim || transfer.rate >= AT_CAP * cap;
    (what_of(part).is_some() && is_reached).then_some(part)
}

/// The refault counters at the last look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thrashing {
    seen: Refaults,
    at: Nanos,
    is_on: bool,
}

/// Everything that is reported of the page cache beside levels.
#[derive(Default)]
pub struct Told {
    pub states: States,
    pub(super) thrashing: Thrashing,
    /// The last time at which reclaim waking the flushers was reported.
    flushers_woken: Nanos,
}

impl Told {
    /// Reports that reclaim woke the flushers, once a second at most. While memory is full it happens with every unit written.
    pub fn flushers_woken(&mut self, now: Nanos, dirty: u64, out: &mut Actions) {
        if self.flushers_woken + QUIET <= now {
            self.flushers_woken = now;
            out.tell("flushers_woken_by_reclaim", None, Bytes(dirty));
        }
    }

    /// Notes that a task may be held back by something else now.
    pub fn note_cap(
        &mut self,
        pages: &Pages,
        write_back: &WriteBack,
        block: &mut Block,
        now: Nanos,
        operation: OperationId,
        task: &mut Task,
    ) {
        // Nobody waits for what is read ahead.
        let part = task.transfer.as_ref().filter(|_| !task.reads_ahead()).and_then(holder);
        if part == task.held_by {
            return;
        }
        block.note_sleep(now, task.wb, task.held_by);
        let bytes = write_back.dirty_told(pages, task.wb);
        if let Some(key) = key_of(&pages.config, task.held_by, operation, task.wb) {
            self.states.end(now, key, bytes);
        }
        if let Some(key) = key_of(&pages.config, part, operation, task.wb) {
            self.states.begin(now, key, bytes);
        }
        task.held_by = part;
    }

    /// Ends the state of a task that ends a run with so many dirty bytes.
    pub fn end_run(
        &mut self,
        config: &Config,
        now: Nanos,
        (operation, wb): (OperationId, WbId),
        held_by: Option<Part>,
        dirty: u64,
    ) {
        if let Some(key) = key_of(config, held_by, operation, wb) {
            self.states.end(now, key, dirty);
        }
    }

    /// Notes that the flusher of a wb may have begun or ended background work.
    pub fn note_background(
        &mut self,
        pages: &Pages,
        write_back: &mut WriteBack,
        now: Nanos,
        at: WbId,
        is_over: bool,
    ) {
        let key = Key {
            what: What::Background,
            operation: OperationId::NOBODY,
            device: pages.config.device_of(at),
        };
        // The thresholds are compared with pages that nobody writes yet.
        let dirty = pages.dirty();
        let is_of_memcg = pages.config.memcg_of_wb(at.0 as usize).is_some();
        let bytes = if is_of_memcg { dirty.of_wb(at).reclaimable } else { dirty.dirty() };
        let wb = write_back.wbs[at.0 as usize].as_mut().expect("its flusher has looked");
        wb.in_background = is_over;
        self.states.turn(now, key, is_over, bytes);
    }

    /// The next time at which thrashing may begin or end.
    pub fn next_look_at_refaults(&self) -> Nanos {
        self.thrashing.at + WINDOW
    }

    /// Begins or ends thrashing, when all reads have been put into pages.
    pub fn look_at_refaults(&mut self, pages: &Pages, now: Nanos) {
        if now < self.next_look_at_refaults() {
            return;
        }
        let (before, counts) = (self.thrashing, pages.refaults());
        let is_on = counts.is_thrashing(&before.seen, (now - before.at).as_seconds());
        if is_on != before.is_on {
            self.states.turn(before.at, Key::THRASHING, is_on, before.seen.refaulted);
        }
        self.thrashing = Thrashing { seen: counts, at: now, is_on };
    }
}

fn key_of(config: &Config, held_by: Option<Part>, operation: OperationId, wb: WbId) -> Option<Key> {
    let what = what_of(held_by?)?;
    let operation = if operation.process().is_some() { operation } else { OperationId::NOBODY };
    let device = if what == What::Throttling { config.device_of(wb) } else { NOWHERE };
    Some(Key { what, operation, device })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Command;
    use crate::policy::kernel::page::PAGE;
    use crate::policy::kernel::tests::{MIB, kernel, transfer};

    const MS: u64 = 1_000_000;

    /// The events of a state with these changes (in ms: the number of reasons added), looked at every 100 ms for 5 s.
    fn told(changes: &[(u64, bool)]) -> Vec<(&'static str, u64)> {
        let (mut states, mut out) = (States::default(), Actions::default());
        for at in (0..5000).step_by(100) {
            let now = Nanos(at * MS);
            states.tell(now, &mut out);
            for &(_, begins) in changes.iter().filter(|change| change.0 == at) {
                states.turn(now, Key::THRASHING, begins, at);
            }
        }
        states.tell_rest(Nanos(5000 * MS), &mut out);
        let events = out.drain().map(|command| match command {
            Command::Tell(event) => {
                let time = event.time.expect("it has a time of its own").0 / MS;
                assert_eq!(event.bytes.0, time, "those of then");
                (event.name.strip_prefix("refault_storm_").expect("it is one"), time)
            }
            other => panic!("only events are told, not {other:?}"),
        });
        events.collect()
    }

    #[test]
    fn a_state_ends_when_it_has_been_over_for_a_second() {
        assert_eq!(told(&[(100, true), (500, false)]), [("begins", 100), ("ends", 500)]);
        let back_soon = [(100, true), (500, false), (1400, true), (2000, false)];
        assert_eq!(told(&back_soon), [("begins", 100), ("ends", 2000)]);
        let back_late = [(100, true), (500, false), (1500, true), (2000, false)];
        assert_eq!(told(&back_late), [("begins", 100), ("ends", 500), ("begins", 1500), ("ends", 2000)]);
    }

    #[test]
    fn a_state_that_takes_no_time_is_not_told() {
        assert_eq!(told(&[(100, true), (100, false)]), []);
        assert_eq!(told(&[(100, true), (100, false), (100, true)]), [("begins", 100)]);
    }

    #[test]
    fn a_state_with_two_reasons_ends_with_the_last_of_them() {
        let both = [(100, true), (200, true), (300, false), (900, false)];
        assert_eq!(told(&both), [("begins", 100), ("ends", 900)]);
    }

    #[test]
    fn states_over_at_the_end_are_told_then() {
        assert_eq!(told(&[(100, true), (4900, false)]), [("begins", 100), ("ends", 4900)]);
    }

    #[test]
    fn a_state_is_told_at_the_next_instant_whatever_else_ends() {
        let host =
            |device| Key { what: What::Background, operation: OperationId::NOBODY, device: DeviceId(device) };
        let told = |states: &mut States, now: Nanos, is_last: bool| {
            let mut out = Actions::default();
            if is_last {
                states.tell_rest(now, &mut out)
            } else {
                states.tell(now, &mut out)
            }
            let events = out.drain().map(|command| match command {
                Command::Tell(event) => event.bytes.0,
                other => panic!("only events are told, not {other:?}"),
            });
            events.collect::<Vec<_>>()
        };
        let (mut states, over) = (States::default(), Nanos(2) + QUIET);
        states.begin(Nanos(0), host(0), 1);
        assert_eq!(told(&mut states, Nanos(1), false), [1]);
        states.end(Nanos(2), host(0), 2);
        states.begin(over, host(1), 3);
        assert_eq!(told(&mut states, over, false), [2]);
        assert_eq!(told(&mut states, over + Nanos(1), false), [3]);
        states.begin(over + Nanos(2), host(2), 4);
        assert!(told(&mut states, over + Nanos(2), true).is_empty(), "what begins at the end takes no time");
    }

    #[test]
    fn a_cap_that_is_not_reached_holds_back_no_task_that_takes_memory() {
        let held = |part, rate| {
            let mut transfer = transfer(rate);
            transfer.cap = Some((100.0, part));
            holder(&transfer)
        };
        assert_eq!((held(Part::Reclaim, 98.9), held(Part::Reclaim, 99.0)), (None, Some(Part::Reclaim)));
        assert_eq!(held(Part::Throttled, 0.0), Some(Part::Throttled));
        assert_eq!(held(Part::CpuCopy, 100.0), None);
        assert_eq!(holder(&transfer(100.0)), None);
    }

    #[test]
    fn in_free_run_of_the_host_it_is_the_group_whose_dirty_pages_are_told() {
        let mut kernel = kernel("cgroup.batch.memory.max = '512 MiB'");
        let of_group = WbId(kernel.config.devices() as u32);
        kernel.pages.memcgs[0].busy = 10 * MIB;
        let freerun = kernel.write_back.limits().freerun * PAGE;
        kernel.pages.dirty_mut().run_ahead(WbId(0), freerun);
        assert_eq!(
            (
                kernel.write_back.dirty_told(&kernel.pages, of_group),
                kernel.write_back.dirty_told(&kernel.pages, WbId(0))
            ),
            (10 * MIB, freerun)
        );
        kernel.pages.dirty_mut().run_ahead(WbId(0), PAGE);
        assert_eq!(kernel.write_back.dirty_told(&kernel.pages, of_group), freerun + PAGE);
    }

    #[test]
    fn thrashing_begins_when_a_second_is_over() {
        let mut kernel = kernel("");
        kernel.pages.forget_reads(Refaults { read: 32 << 20, refaulted: 32 << 20 });
        let is_on = [WINDOW.0 - 1, WINDOW.0].map(|now| {
            kernel.told.look_at_refaults(&kernel.pages, Nanos(now));
            kernel.told.thrashing.is_on
        });
        assert_eq!(is_on, [false, true]);
    }
}
