//! The operations of a process, shared by all its copies, and how a copy runs through them.
//!
//! Only paths and event names differ between the copies, and they are made when an operation is asked for, so that a
//! hundred thousand copies cost little more than one.

use std::sync::Arc;

use super::braces::Pattern;
use crate::workload::{Action, Operation, Program, ProgramError, ProgramEvents, ProgramSource};

/// What a script does next. Loops are flat, so that a run needs no more than a position and a few counters.
#[derive(Debug)]
pub enum Step {
    /// An operation.
    Do {
        /// The operation, of the copy for which the script was read.
        operation: Operation,
        /// Makes its path or event for another copy; none if all have the same.
        pattern: Option<Pattern>,
    },
    /// A loop begins.
    Begin {
        /// How many rounds it has, at least one.
        times: u32,
    },
    /// A loop ends.
    End {
        /// Where it goes on if rounds are left.
        begin: usize,
    },
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
        Ok(Box::new(Run { steps, copy: self.n, next: 0, rounds_left: Vec::new() }))
    }

    fn events(&self) -> Option<ProgramEvents> {
        let mut events = ProgramEvents::default();
        for step in self.steps.iter() {
            if let Step::Do { operation, pattern } = step
                && operation.action.has_event()
            {
                events.note(&for_copy(operation, pattern.as_ref(), self.n).action);
            }
        }
        Some(events)
    }
}

/// A copy on its way.
struct Run {
    steps: Arc<[Step]>,
    copy: u32,
    next: usize,
    rounds_left: Vec<u32>,
}

impl Iterator for Run {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        loop {
            let step = self.steps.get(self.next)?;
            self.next += 1;
            match step {
                Step::Do { operation, pattern } => {
                    return Some(for_copy(operation, pattern.as_ref(), self.copy));
                }
                Step::Begin { times } => self.rounds_left.push(*times),
                Step::End { begin } => {
                    let left = self.rounds_left.last_mut().expect("a loop that ends has begun");
                    *left -= 1;
                    if *left > 0 {
                        self.next = *begin;
                    } else {
                        self.rounds_left.pop();
                    }
                }
            }
        }
    }
}

/// The operation as a copy does it.
fn for_copy(operation: &Operation, pattern: Option<&Pattern>, copy: u32) -> Operation {
    match pattern {
        None => operation.clone(),
        Some(pattern) => with_text(operation.clone(), pattern.render(copy)),
    }
}

/// The operation about another path or event.
fn with_text(mut operation: Operation, text: String) -> Operation {
    match &mut operation.action {
        Action::Open { path, .. }
        | Action::Read { path, .. }
        | Action::Write { path, .. }
        | Action::Fsync { path }
        | Action::Close { path }
        | Action::Truncate { path, .. }
        | Action::Unlink { path }
        | Action::Fadvise { path, .. }
        | Action::Wait { event: path }
        | Action::Signal { event: path } => *path = text.into(),
        action => panic!("`{}` has neither path nor event, so it has no pattern", action.name()),
    }
    operation
}
