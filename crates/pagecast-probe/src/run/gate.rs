//! Lets processes wait for each other: starts after ends, events, and the case that nobody can go on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use pagecast_core::units::Nanos;
use rustc_hash::FxHashSet;

use super::plan::Plan;

/// The most processes that a deadlock names.
const MOST_NAMED: usize = 8;

/// Somebody else has stopped the run, or nobody could go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

/// The wait of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Waits {
    /// All ends before its own start.
    Ends,
    Event(Arc<str>),
}

struct State {
    /// Time 0, once that is known.
    zero: Option<Nanos>,
    signalled: FxHashSet<Arc<str>>,
    ended: Vec<bool>,
    waiting: Vec<Option<Waits>>,
    blocked: usize,
    alive: usize,
    /// Who waits for what, when nobody could go on.
    deadlock: Option<String>,
}

/// See the module.
pub(super) struct Gate<'a> {
    plan: &'a Plan,
    /// Looked at before every system call of every process.
    pub stop: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

impl<'a> Gate<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let processes = plan.processes.len();
        let state = State {
            zero: None,
            signalled: FxHashSet::default(),
            ended: vec![false; processes],
            waiting: vec![None; processes],
            blocked: 0,
            alive: processes,
            deadlock: None,
        };
        Self { plan, stop: AtomicBool::new(false), state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no process panics while it holds the lock")
    }

    /// Lets all processes begin; time 0 is then.
    pub fn open(&self, zero: Nanos) {
        self.state().zero = Some(zero);
        self.changed.notify_all();
    }

    /// Ends everybody's waiting.
    pub fn halt(&self) {
        // With the lock, so that nobody is just about to wait.
        let _state = self.state();
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits until everything is ready, and then for the processes that come before; gives time 0.
    pub fn pass(&self, process: usize) -> Result<Nanos, Stopped> {
        let mut state = self.state();
        while state.zero.is_none() && !self.is_stopped() {
            state = self.changed.wait(state).expect("no process panics while it holds the lock");
        }
        let zero = state.zero;
        self.wait(state, process, &Waits::Ends)?;
        zero.ok_or(Stopped)
    }

    /// Waits until an event has been signalled.
    pub fn wait_for(&self, process: usize, event: &Arc<str>) -> Result<(), Stopped> {
        self.wait(self.state(), process, &Waits::Event(event.clone()))
    }

    fn wait(&self, mut state: MutexGuard<'_, State>, process: usize, what: &Waits) -> Result<(), Stopped> {
        if !self.has_come(&state, process, what) {
            state.waiting[process] = Some(what.clone());
            state.blocked += 1;
            self.check_alive(&mut state);
            while !self.is_stopped() && !self.has_come(&state, process, what) {
                state = self.changed.wait(state).expect("no process panics while it holds the lock");
            }
            state.waiting[process] = None;
            state.blocked -= 1;
        }
        if self.is_stopped() { Err(Stopped) } else { Ok(()) }
    }

    fn has_come(&self, state: &State, process: usize, what: &Waits) -> bool {
        match what {
            Waits::Event(event) => state.signalled.contains(event),
            Waits::Ends => self.plan.processes[process].after.iter().all(|&one| state.ended[one as usize]),
        }
    }

    /// An event has happened, once and for all.
    pub fn signal(&self, event: &Arc<str>) {
        self.state().signalled.insert(event.clone());
        self.changed.notify_all();
    }

    /// A process has ended.
    pub fn end(&self, process: usize) {
        let mut state = self.state();
        state.ended[process] = true;
        state.alive -= 1;
        self.check_alive(&mut state);
        self.changed.notify_all();
    }

    /// Stops everything if everybody waits for what does not come. Who has just been let go may not have noticed yet.
    fn check_alive(&self, state: &mut State) {
        if state.alive == 0 || state.blocked < state.alive || self.is_stopped() {
            return;
        }
        let mut waiting =
            state.waiting.iter().enumerate().filter_map(|(at, what)| Some((at, what.as_ref()?)));
        if !waiting.any(|(at, what)| self.has_come(state, at, what)) {
            state.deadlock = Some(self.who_waits(state));
            self.stop.store(true, Ordering::Relaxed);
            self.changed.notify_all();
        }
    }

    /// Who waits for what, if nobody could go on.
    pub fn deadlock(&self) -> Option<String> {
        self.state().deadlock.clone()
    }

    fn who_waits(&self, state: &State) -> String {
        let waiting = state.waiting.iter().zip(&self.plan.processes);
        let lines = waiting.filter_map(|(what, process)| {
            let what = match what.as_ref()? {
                Waits::Event(event) => {
                    format!("event `{event}`, which no process signals any more")
                }
                Waits::Ends => {
                    let before = process.after.iter().map(|&one| &*self.plan.processes[one as usize].name);
                    format!("the end of `{}`", before.collect::<Vec<_>>().join("`, `"))
                }
            };
            Some(format!("process `{}` waits for {what}", process.name))
        });
        let lines: Vec<String> = lines.take(MOST_NAMED).collect();
        lines.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{plan, process};
    use super::*;
    use pagecast_core::workload::Action;
    use std::thread;

    #[test]
    fn who_waits_for_what_never_comes_is_a_deadlock() {
        let wait = Action::Wait { event: "go".into() };
        let plan = plan(&[], &[process("a", &[], &[wait]), process("b", &["a"], &[])]);
        let gate = Gate::new(&plan);
        gate.open(Nanos::ZERO);
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(gate.pass(0).and_then(|_| gate.wait_for(0, &"go".into())), Err(Stopped))
            });
            scope.spawn(|| assert_eq!(gate.pass(1), Err(Stopped)));
        });
        let text = gate.deadlock().unwrap();
        assert_eq!(
            text,
            "process `a` waits for event `go`, which no process signals any more; process `b` waits for the end of `a`"
        );
    }

    #[test]
    fn one_goes_on_after_events_and_ends() {
        let plan = plan(
            &[],
            &[
                process("a", &[], &[Action::Wait { event: "go".into() }]),
                process("b", &["c"], &[]),
                process("c", &[], &[Action::Signal { event: "go".into() }]),
            ],
        );
        for _ in 0..200 {
            let gate = Gate::new(&plan);
            thread::scope(|scope| {
                scope.spawn(|| {
                    gate.pass(0).and_then(|_| gate.wait_for(0, &"go".into())).unwrap();
                    gate.end(0);
                });
                scope.spawn(|| {
                    assert_eq!(gate.pass(1), Ok(Nanos(7)));
                    gate.end(1);
                });
                scope.spawn(|| {
                    gate.pass(2).unwrap();
                    gate.signal(&"go".into());
                    gate.end(2);
                });
                gate.open(Nanos(7));
            });
            assert_eq!(gate.deadlock(), None);
        }
    }
}
