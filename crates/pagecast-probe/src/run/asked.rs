//! Asks a program for one operation after the other, and closes its streams at its end, as exit(3) does.

use std::sync::Arc;

use pagecast_core::stdio::LibraryCall;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Beside, Operation, Program, ProgramError, ProgramSource};

/// A program on its way.
pub(super) struct Asked {
    program: Option<Box<dyn Program>>,
    /// Its streams that are open, the last one at the end.
    streams: Vec<Arc<str>>,
}

impl Asked {
    /// Starts it, beside those of the same run.
    ///
    /// # Errors
    /// Why it cannot start.
    pub fn start(source: &dyn ProgramSource, others: &Beside) -> Result<Self, ProgramError> {
        Ok(Self { program: Some(source.start_beside(others)?), streams: Vec::new() })
    }

    /// Whether it waits for another program of the run.
    pub fn is_held(&self) -> bool {
        self.program.as_ref().is_some_and(|program| program.is_held())
    }

    /// Tells it of an operation that has ended; times are since its process has begun.
    pub fn ended(&mut self, action: &Action, bytes: Bytes, (began, now): (Nanos, Nanos)) {
        if let Some(program) = self.program.as_mut().filter(|program| program.watches()) {
            program.ended(action, bytes, began, now);
        }
    }

    /// The next operation; `now` is the time since its process has begun.
    ///
    /// # Errors
    /// Why it cannot go on.
    pub fn next(&mut self, now: Nanos) -> Result<Option<Operation>, ProgramError> {
        if let Some(program) = &mut self.program {
            match program.next(now)?.filter(|next| !matches!(next.action, Action::Exit)) {
                Some(operation) => {
                    self.note(&operation.action);
                    return Ok(Some(operation));
                }
                None if self.is_held() => return Ok(None),
                None => self.program = None,
            }
        }
        let closed = self.streams.pop();
        Ok(closed.map(|path| Action::Stream { path, call: LibraryCall::Close }.into()))
    }

    fn note(&mut self, action: &Action) {
        match action {
            Action::Stream { path, call: LibraryCall::Open { .. } } => self.streams.push(path.clone()),
            Action::Stream { path, call: LibraryCall::Close } | Action::Unlink { path } => {
                self.streams.retain(|open| open != path);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagecast_core::stdio::{Library, Mode};

    fn operations(actions: Vec<Action>) -> Vec<Operation> {
        let source: Vec<Operation> = actions.into_iter().map(Operation::from).collect();
        let mut asked = Asked::start(&source, &Beside::default()).unwrap();
        std::iter::from_fn(|| asked.next(Nanos::ZERO).unwrap()).collect()
    }

    fn open(path: &str) -> Action {
        let call = LibraryCall::Open { mode: Mode::Write, library: Library::C, buffer: None };
        Action::Stream { path: path.into(), call }
    }

    #[test]
    fn streams_that_are_open_at_the_end_are_closed_the_last_one_first() {
        let all = operations(vec![open("/data/g"), open("/data/f"), Action::Exit, Action::Sync]);
        let closed = |at: usize| (all[at].action.name(), &**all[at].action.path().unwrap());
        assert_eq!((all.len(), closed(2), closed(3)), (4, ("fclose", "/data/f"), ("fclose", "/data/g")));
    }

    #[test]
    fn nothing_is_done_after_an_exit() {
        let all = operations(vec![Action::Sync, Action::Exit, Action::DropCaches]);
        assert_eq!(all.len(), 1);
    }
}
