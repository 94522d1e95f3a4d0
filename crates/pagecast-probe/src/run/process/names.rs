//! Changes names: rename, link, unlink, mkdir, rmdir, stat.
//!
//! As in a simulation a directory is there as soon as a path names it: one that is not is made when a name in it is, in the time of that
//! operation, and a mkdir of one that was made so has nothing left to do.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use pagecast_core::error::SimulationError;
use pagecast_core::workload::Action;

use super::{Done, Halt, Runner};
use crate::io::Streams;
use crate::run::names::{NamedFile, Names};
use crate::run::plan::Step;

/// The paths that stand for other files after an operation, by their numbers.
pub(super) fn changed_by(names: &Names, step: &Step) -> Vec<Arc<NamedFile>> {
    let file = || step.file.as_ref().expect("the operation is on a name");
    let mut changed = match step.operation.action {
        Action::Unlink { .. } => vec![file().clone()],
        Action::Rename { .. } => {
            let mut all = names.at_and_below(file());
            all.extend(step.target.clone());
            all
        }
        _ => Vec::new(),
    };
    changed.sort_unstable_by_key(|file| file.number);
    changed.dedup_by_key(|file| file.number);
    changed
}

impl<I: Streams> Runner<'_, I> {
    /// Does an operation on a name.
    pub(super) fn on_name(&mut self, step: &Step, file: &Arc<NamedFile>) -> Result<Done, Halt> {
        let io = self.shared.io;
        let within = &*file.within;
        let done = match &step.operation.action {
            Action::Unlink { .. } => {
                self.handles.remove(&file.number);
                self.mappings.remove(&file.number);
                self.streams.forget(file.number);
                io.remove(within)
            }
            Action::Rename { .. } => return self.rename(step, file),
            Action::Link { .. } => return self.link(step, within),
            Action::Mkdir { .. } => self.in_directory(within, || io.mkdir(within)).or_else(|error| {
                let is_implied =
                    error.kind() == ErrorKind::AlreadyExists && self.shared.plan.names.was_implied(within);
                if is_implied { Ok(()) } else { Err(error) }
            }),
            Action::Rmdir { .. } => io.rmdir(within).inspect(|()| {
                self.shared.plan.names.was_implied(within);
            }),
            Action::Stat { .. } => match io.stat(within) {
                // Not to find a name takes as long as to find it.
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                answer => answer,
            },
            _ => unreachable!("it is none of names"),
        };
        done.map_err(|error| self.failed(step, error))?;
        Ok(Done::default())
    }

    fn rename(&mut self, step: &Step, file: &Arc<NamedFile>) -> Result<Done, Halt> {
        let to = step.target.as_ref().expect("it has a new name");
        let renamed = self.in_directory(&to.within, || self.shared.io.rename(&file.within, &to.within));
        renamed.map_err(|error| self.failed(step, error))?;
        // What is open without a descriptor goes by its name.
        self.handles.remove(&to.number);
        self.mappings.remove(&to.number);
        if let Some((_, handle)) = self.handles.remove(&file.number) {
            // It counts from the change on, which is told after this.
            self.handles.insert(to.number, (to.generation().wrapping_add(1), handle));
        }
        if let Some(mapping) = self.mappings.remove(&file.number) {
            self.mappings.insert(to.number, mapping);
        }
        Ok(Done::default())
    }

    fn link(&self, step: &Step, within: &Path) -> Result<Done, Halt> {
        let to = step.target.as_ref().expect("it has a second name");
        match self.in_directory(&to.within, || self.shared.io.link(within, &to.within)) {
            Ok(()) => Ok(Done::default()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let (at, operation, path) = (self.blame(step), step.operation.action.name(), to.path.clone());
                Err(self.workload(SimulationError::Exists { at, operation, path }))
            }
            Err(error) => Err(self.failed(step, error)),
        }
    }

    /// Makes a call that makes a name; if there is no directory for it, makes that and tries again.
    pub(super) fn in_directory<T>(&self, name: &Path, call: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match call() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.shared.io.make_above(name)?;
                self.shared.plan.names.imply(name.parent().unwrap_or(Path::new("")));
                call()
            }
            answer => answer,
        }
    }
}
