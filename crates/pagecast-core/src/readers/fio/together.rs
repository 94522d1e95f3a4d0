//! What the threads of one run know of each other: `exitall`, `flow`, `steadystate`.
//!
//! Sources: fio 3.33, `backend.c: fio_terminate_threads`, `flow.c`, `steadystate.c`.

use std::sync::{Arc, Mutex, MutexGuard};

use rustc_hash::FxHashMap;

use super::job::ExitWhat;
use super::plan::Thread;
use super::steady::Window;
use crate::units::Nanos;

/// How often fio looks whether jobs are steady.
const LOOKS_EVERY: Nanos = Nanos(1_000_000_000);

/// All threads of a job file.
pub struct Threads {
    /// In the order of their numbers.
    pub all: Vec<Arc<Thread>>,
    /// A thread that ends may end others: any of them has `exitall`.
    pub exit_all: bool,
}

impl Threads {
    /// Those of a job file.
    pub fn new(all: Vec<Arc<Thread>>) -> Self {
        Self { exit_all: all.iter().any(|thread| thread.job.exit_all), all }
    }

    /// Whether a thread minds the others.
    pub fn are_minded_by(&self, thread: &Thread) -> bool {
        self.exit_all || thread.job.flow.weight > 0 || thread.job.steady.is_some()
    }
}

/// The state that they share in one run.
pub struct Together {
    threads: Arc<Threads>,
    state: Mutex<State>,
}

struct State {
    members: Vec<Member>,
    flows: FxHashMap<u32, Flow>,
    /// The groups, or threads without group_reporting, that end when they are steady.
    watched: Vec<Watched>,
    /// Which of them each thread belongs to.
    watched_of: Vec<Option<usize>>,
}

#[derive(Clone, Default)]
struct Member {
    has_begun: bool,
    has_ended: bool,
    is_terminated: bool,
    /// How often its flow has let it go on.
    turns: u64,
    requests: u64,
    bytes: u64,
    /// The same at the last look, and when that was.
    before: (u64, u64),
    looked: Option<Nanos>,
    /// When its time began, and whether its `steadystate_ramp_time` is over.
    epoch: Nanos,
    is_ramp_over: bool,
}

struct Flow {
    turns: u64,
    weight: u64,
}

struct Watched {
    members: Vec<usize>,
    window: Window,
    ramp: Nanos,
    next_look: Option<Nanos>,
    is_steady: bool,
}

impl Together {
    /// Before any thread begins.
    pub fn new(threads: &Arc<Threads>) -> Self {
        let mut flows: FxHashMap<u32, Flow> = FxHashMap::default();
        let mut watched: Vec<Watched> = Vec::new();
        let mut watched_of = vec![None; threads.all.len()];
        let mut group_at: FxHashMap<u32, usize> = FxHashMap::default();
        for (at, thread) in threads.all.iter().enumerate() {
            let flow = thread.job.flow;
            if flow.weight > 0 {
                flows.entry(flow.id).or_insert(Flow { turns: 1, weight: 0 }).weight += u64::from(flow.weight);
            }
            let Some(steady) = thread.job.steady else { continue };
            let known = group_at.get(&thread.group).filter(|_| thread.job.reporting.by_group);
            let place = known.copied().unwrap_or_else(|| {
                let window = Window::new(steady.criterion, steady.seconds);
                let ramp = steady.ramp;
                watched.push(Watched { members: vec![], window, ramp, next_look: None, is_steady: false });
                watched.len() - 1
            });
            group_at.insert(thread.group, place);
            watched[place].members.push(at);
            watched_of[at] = Some(place);
        }
        let members = vec![Member::default(); threads.all.len()];
        Self {
            threads: Arc::clone(threads),
            state: Mutex::new(State { members, flows, watched, watched_of }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while he holds it")
    }

    /// Whether any thread's end may end others.
    pub fn may_end_others(&self) -> bool {
        self.threads.exit_all
    }

    /// Whether another thread, or its own steadiness, has ended a thread.
    pub fn is_terminated(&self, at: usize) -> bool {
        self.state().members[at].is_terminated
    }

    /// The time of a thread begins.
    pub fn began(&self, at: usize, now: Nanos) {
        let mut state = self.state();
        let member = &mut state.members[at];
        (member.has_begun, member.epoch) = (true, now);
    }

    /// Whether the flow of a thread lets it go on; if so, that counts (`flow_threshold_exceeded`).
    pub fn goes_on(&self, at: usize) -> bool {
        let own = self.threads.all[at].job.flow;
        let mut state = self.state();
        let State { members, flows, .. } = &mut *state;
        let Some(flow) = flows.get_mut(&own.id).filter(|_| own.weight > 0) else { return true };
        let member = &mut members[at];
        // turns / all turns > weight / all weights
        if u128::from(member.turns) * u128::from(flow.weight)
            > u128::from(own.weight) * u128::from(flow.turns)
        {
            return false;
        }
        flow.turns += 1;
        member.turns += 1;
        true
    }

    /// A thread has moved so many bytes with a request that ended now.
    pub fn moved(&self, at: usize, bytes: u64, now: Nanos) {
        let mut state = self.state();
        state.look(at, now);
        let member = &mut state.members[at];
        member.requests += 1;
        member.bytes += bytes;
    }

    /// A thread has ended; it may end others (`fio_terminate_threads`).
    pub fn ended(&self, at: usize) {
        let thread = &self.threads.all[at];
        let mut state = self.state();
        let State { members, flows, .. } = &mut *state;
        if std::mem::replace(&mut members[at].has_ended, true) {
            return;
        }
        if let Some(flow) = flows.get_mut(&thread.job.flow.id).filter(|_| thread.job.flow.weight > 0) {
            flow.turns -= members[at].turns;
            flow.weight -= u64::from(thread.job.flow.weight);
        }
        if !self.threads.exit_all {
            return;
        }
        for (other, member) in self.threads.all.iter().zip(members) {
            member.is_terminated |= match thread.job.exit_what {
                ExitWhat::Group => other.group == thread.group,
                ExitWhat::Stonewall => member.has_begun,
                ExitWhat::All => true,
            };
        }
    }
}

impl State {
    /// Looks whether the group of a thread is steady, for each second that is over.
    fn look(&mut self, at: usize, now: Nanos) {
        let Some(place) = self.watched_of[at] else { return };
        let first = Nanos((self.members[at].epoch.0 / LOOKS_EVERY.0 + 1) * LOOKS_EVERY.0);
        while !self.watched[place].is_steady {
            let next = *self.watched[place].next_look.get_or_insert(first);
            if next > now {
                return;
            }
            self.watched[place].next_look = Some(next + LOOKS_EVERY);
            self.look_at(place, next);
        }
    }

    /// The look of a second (`steadystate_check`).
    fn look_at(&mut self, place: usize, now: Nanos) {
        let Self { members, watched, .. } = self;
        let group = &mut watched[place];
        let (mut iops, mut bytes_per_s, mut is_any_over, mut is_last_there) = (0, 0, false, false);
        for &at in &group.members {
            let member = &mut members[at];
            is_last_there = member.has_begun && !member.has_ended;
            if !is_last_there {
                continue;
            }
            // Data counts from a second after the ramp.
            member.is_ramp_over |=
                group.ramp == Nanos::ZERO || now.saturating_sub(member.epoch) >= group.ramp + LOOKS_EVERY;
            let millis = member.looked.map(|looked| ((now - looked).0 / 1_000_000).max(1));
            if member.is_ramp_over {
                // fio's first look is one after the start of the machine: its rates are about 0.
                let rate = |now: u64, before: u64| millis.map_or(0, |millis| 1000 * (now - before) / millis);
                iops += rate(member.requests, member.before.0);
                bytes_per_s += rate(member.bytes, member.before.1);
                is_any_over = true;
            }
            (member.before, member.looked) = ((member.requests, member.bytes), Some(now));
        }
        if is_last_there && is_any_over && group.window.is_steady_with(iops, bytes_per_s) {
            group.is_steady = true;
            group.members.iter().for_each(|&at| members[at].is_terminated = true);
        }
    }
}
