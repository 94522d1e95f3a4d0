//! Keeps the operations of a process, shared by all its copies, and runs each copy through them.
//!
//! Only paths and event names differ between the copies and the rounds of a loop, and they are made when an operation is asked for, so that
//! a hundred thousand copies or a million rounds cost little more than one.

use std::sync::Arc;

use super::braces::Pattern;
use crate::units::Nanos;
use crate::workload::{Action, Operation, Program, ProgramError, ProgramEvents, ProgramSource, SameProgram};

/// How many names of events a process may have for them to be listed before it runs.
const MOST_EVENTS: usize = 100_000;

/// How many rounds of a loop over a time may take none: so many operations may be under way at once.
const MOST_IDLE: u32 = 1_000_000;

/// What a script does next. Loops are flat, so that a run needs no more than a position and a few counters.
#[derive(Debug)]
pub enum Step {
    /// An operation.
    Do {
        /// The operation, of the copy for which the script was read, in the first round.
        operation: Box<Operation>,
        /// Makes its path or event for another copy or round; none if all have the same.
        pattern: Option<Pattern>,
        /// The same of its other path, if it has two.
        target: Option<Pattern>,
    },
    /// A loop begins.
    Begin {
        /// How many rounds it has.
        rounds: Rounds,
    },
    /// A loop ends.
    End {
        /// Where it goes on if rounds are left.
        begin: usize,
        /// How many rounds it has.
        rounds: Rounds,
    },
}

/// The number of rounds of a loop.
#[derive(Clone, Copy, Debug)]
pub enum Rounds {
    /// So many, at least one.
    Times(u32),
    /// One more as long as this time is not over.
    For(Nanos),
}

impl Rounds {
    /// How many there are at least.
    fn known(self) -> u32 {
        match self {
            Self::Times(times) => times,
            Self::For(_) => 1,
        }
    }
}

/// How many operations that take no time a run of the steps has at most.
pub fn empty_operations(steps: &[Step]) -> u64 {
    // Of the program, and of one round of each loop that has begun.
    let mut sums = vec![0_u64];
    for step in steps {
        let sum = match step {
            Step::Begin { .. } => {
                sums.push(0);
                continue;
            }
            Step::Do { operation, .. } if operation.action == Action::Exit => break,
            Step::Do { operation, .. } => u64::from(operation.action.takes_no_time()),
            Step::End { rounds, .. } => {
                sums.pop().expect("a loop that ends has begun").saturating_mul(u64::from(rounds.known()))
            }
        };
        let around = sums.last_mut().expect("the program is around all loops");
        *around = around.saturating_add(sum);
    }
    sums.into_iter().fold(0, u64::saturating_add)
}

/// A copy's program, before it runs.
pub struct CopyProgram {
    /// What it shares with the other copies.
    pub steps: Arc<[Step]>,
    /// Its number.
    pub n: u32,
}

impl ProgramSource for CopyProgram {
    fn start(&self) -> Result<Box<dyn Program>, ProgramError> {
        let steps = Arc::clone(&self.steps);
        Ok(Box::new(Run { steps, numbers: vec![self.n], began: Vec::new(), next: 0 }))
    }

    fn events(&self) -> Option<ProgramEvents> {
        let (mut events, mut rounds) = (ProgramEvents::default(), Vec::new());
        for step in self.steps.iter() {
            match step {
                Step::Begin { rounds: of_loop } => rounds.push(of_loop.known()),
                Step::End { .. } => drop(rounds.pop()),
                Step::Do { operation, pattern: None, .. } => events.note(&operation.action),
                Step::Do { operation, pattern: Some(pattern), .. } if operation.action.has_event() => {
                    for numbers in every_round(pattern, self.n, &rounds)? {
                        events.note(&with_text((**operation).clone(), pattern.render(&numbers)).action);
                    }
                }
                Step::Do { .. } => {}
            }
        }
        Some(events)
    }

    fn same(&self) -> Option<SameProgram> {
        // In the place of the copy's number; those behind it are of rounds.
        let has_number = |step: &Step| match step {
            Step::Do { pattern, target, .. } => pattern.iter().chain(target).any(|each| each.has(0)),
            _ => false,
        };
        // Random orders and times differ by the names of processes.
        let is_random = |step: &Step| match step {
            Step::Do { operation, .. } => match &operation.action {
                Action::Pattern(pattern) => pattern.is_random(),
                Action::Sleep { random, .. } => random.is_some(),
                _ => false,
            },
            _ => false,
        };
        let copy = self.steps.iter().any(|step| has_number(step) || is_random(step)).then_some(self.n);
        Some(SameProgram { shared: self.steps.as_ptr().addr(), copy })
    }
}

/// The numbers for which the pattern has different texts; none if there are too many.
fn every_round(pattern: &Pattern, copy: u32, rounds: &[u32]) -> Option<Vec<Vec<u32>>> {
    let mut all = vec![vec![copy]];
    for (outer, &times) in rounds.iter().enumerate() {
        let times = if pattern.has(outer + 1) { times } else { 1 };
        if all.len() * times as usize > MOST_EVENTS {
            return None;
        }
        let with_round = |numbers: Vec<u32>| (1..=times).map(move |round| [&numbers[..], &[round]].concat());
        all = all.into_iter().flat_map(with_round).collect();
    }
    Some(all)
}

/// A copy on its way.
struct Run {
    steps: Arc<[Step]>,
    next: usize,
    /// Of the copy, and of the round of each loop that has begun.
    numbers: Vec<u32>,
    /// When each loop over a time began, when its round did, and how many rounds ago time has passed.
    began: Vec<(Nanos, Nanos, u32)>,
}

impl Program for Run {
    fn next(&mut self, now: Nanos) -> Result<Option<Operation>, ProgramError> {
        loop {
            let Some(step) = self.steps.get(self.next) else { return Ok(None) };
            self.next += 1;
            match *step {
                Step::Do { ref operation, ref pattern, ref target } => {
                    let mut operation = match pattern {
                        None => (**operation).clone(),
                        Some(pattern) => with_text((**operation).clone(), pattern.render(&self.numbers)),
                    };
                    if let (Some(target), Some(to)) = (target, operation.action.target_mut()) {
                        *to = target.render(&self.numbers).into();
                    }
                    return Ok(Some(operation));
                }
                Step::Begin { rounds } => {
                    self.numbers.push(1);
                    if let Rounds::For(_) = rounds {
                        self.began.push((now, now, 0));
                    }
                }
                Step::End { begin, rounds } => {
                    if self.has_next_round(rounds, now)? {
                        self.next = begin;
                    } else {
                        self.numbers.pop();
                    }
                }
            }
        }
    }
}

impl Run {
    /// Begins the next round of the innermost loop, if there is one.
    fn has_next_round(&mut self, rounds: Rounds, now: Nanos) -> Result<bool, ProgramError> {
        let round = self.numbers.last_mut().expect("a loop that ends has begun");
        match rounds {
            Rounds::Times(times) => {
                let has_next = *round < times;
                *round += u32::from(has_next);
                Ok(has_next)
            }
            Rounds::For(time) => {
                let (start, last, idle) = self.began.last_mut().expect("a loop that ends has begun");
                *idle = if *last == now { *idle + 1 } else { 0 };
                *last = now;
                if *idle > MOST_IDLE {
                    let text = format!(
                        "a `repeat_for` of {time} has {MOST_IDLE} rounds that take no time; use `repeat`, or add a sleep"
                    );
                    return Err(ProgramError(text.into()));
                }
                let has_next = now - *start < time;
                if !has_next {
                    self.began.pop();
                }
                Ok(has_next)
            }
        }
    }
}

/// The operation about another path or event.
fn with_text(mut operation: Operation, text: String) -> Operation {
    match &mut operation.action {
        Action::Open { path, .. }
        | Action::Read { path, .. }
        | Action::Write { path, .. }
        | Action::Copy { path, .. }
        | Action::Fsync { path }
        | Action::Fdatasync { path }
        | Action::Close { path }
        | Action::Truncate { path, .. }
        | Action::Unlink { path }
        | Action::Seek { path, .. }
        | Action::Duplicate { path, .. }
        | Action::Rename { path, .. }
        | Action::Link { path, .. }
        | Action::Mkdir { path }
        | Action::Rmdir { path }
        | Action::Stat { path }
        | Action::Fallocate { path, .. }
        | Action::Fadvise { path, .. }
        | Action::Stream { path, .. }
        | Action::Mapped { path, .. }
        | Action::SyncFs { path }
        | Action::SyncFileRange { path, .. }
        | Action::Readahead { path, .. }
        | Action::Wait { event: path }
        | Action::Signal { event: path } => *path = text.into(),
        Action::Pattern(pattern) => pattern.path = text.into(),
        action => panic!("`{}` has neither path nor event, so it has no pattern", action.name()),
    }
    operation
}
