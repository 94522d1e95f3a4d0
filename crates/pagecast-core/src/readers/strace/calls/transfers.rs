//! Reads and writes bytes of files and pipes.

use std::sync::Arc;

use super::super::files::Kind;
use super::{Done, Meaning, On, Through};
use crate::trace::TraceError;
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Buffer, CopyBy, MOST_PLACES};

/// A read or write of a pipe takes no more than this and a nanosecond for each two bytes; the rest of its time it waits for the other end.
const PIPE: Nanos = Nanos(10_000);

impl On<'_, '_, '_, '_> {
    /// Reads or writes through the descriptor that is the first argument.
    pub(super) fn transfer(&mut self, offset: Option<u64>, is_write: bool) -> Done {
        let bytes = self.returned;
        match self.through(0)? {
            Ok(through) => {
                let start = offset.unwrap_or(through.position);
                if offset.is_none() {
                    self.move_to(0, start.saturating_add(bytes));
                }
                Ok(self.piece(&through, start, bytes, is_write))
            }
            Err(kind) => Ok(self.elsewhere(0, kind, is_write)),
        }
    }

    pub(super) fn move_to(&mut self, at: usize, position: u64) {
        let fd = self.arguments.fd(at).map(|number| number.fd);
        if let Some((_, open)) = fd.and_then(|fd| self.recording.files.get(self.table, fd)) {
            open.position = position;
        }
    }

    /// Bytes of something else than a file of a disk. What is read from a pipe must have been written, and what was full must have been
    /// read from.
    fn elsewhere(&mut self, at: usize, kind: Kind, is_write: bool) -> Meaning {
        self.recording.noted.moved_elsewhere(kind, is_write, self.returned);
        let fd = self.arguments.fd(at).map(|number| number.fd);
        let open = fd.and_then(|fd| self.recording.files.get(self.table, fd));
        let Some(key) = open.filter(|(_, open)| open.kind == Kind::Pipe).map(|(_, open)| open.key) else {
            return Meaning::Recorded;
        };
        let order = &mut self.recording.order;
        let most = PIPE + Nanos(self.returned / 2);
        let others_matter = match is_write {
            true => {
                let has_waited = self.call.duration.is_some_and(|duration| duration > most);
                order.change(key, self.pid);
                has_waited && order.need_room(key, self.pid)
            }
            false => order.need(key, self.pid),
        };
        if others_matter { Meaning::Partly(most) } else { Meaning::Recorded }
    }

    /// Reads or writes bytes of a file; nothing is read at its end.
    fn piece(&mut self, through: &Through, start: u64, bytes: u64, is_write: bool) -> Meaning {
        if is_write {
            self.recording.order.change(through.key, self.pid);
        } else {
            self.recording.order.need(through.key, self.pid);
        }
        if bytes == 0 {
            if !is_write {
                self.recording.noted.read_at_end();
            }
            return Meaning::Recorded;
        }
        let path = Arc::clone(&through.path);
        let vector = match self.call.name.ends_with('v') || self.call.name.ends_with("v2") {
            true => self.arguments.number(2).map_or(1, |places| places.clamp(1, MOST_PLACES.into()) as u32),
            false => 1,
        };
        let action = match is_write {
            true => {
                // The end of a file is where the forecast has it.
                let offset = (!through.appends).then_some(start);
                Action::Write { path, offset, bytes: Bytes(bytes), call: None, vector }
            }
            false => {
                let buffer = Buffer::Reused;
                Action::Read {
                    path,
                    offset: Some(start),
                    bytes: Some(Bytes(bytes)),
                    call: None,
                    vector,
                    buffer,
                }
            }
        };
        self.push(action, Some(through.number));
        Meaning::Forecast
    }

    /// Bytes go from a descriptor to another one; each is given with the place of its offset.
    pub(super) fn copy(&mut self, from: (usize, usize), to: (usize, usize), by: Option<CopyBy>) -> Done {
        let bytes = self.returned;
        let source = self.end_of_copy(from)?;
        let target = self.end_of_copy(to)?;
        if bytes == 0 {
            return Ok(Meaning::Recorded);
        }
        let (source, target) = match (source, target) {
            (Ok((source, start)), Ok((target, place))) => {
                let is_plain = !source.is_renamed && !target.is_renamed && !target.appends;
                if let Some(by) = by.filter(|_| is_plain && start == place && source.path != target.path) {
                    self.recording.order.need(source.key, self.pid);
                    self.recording.order.change(target.key, self.pid);
                    let (path, to, bytes) = (source.path, target.path, Some(Bytes(bytes)));
                    self.push(Action::Copy { path, to, by, offset: start, bytes, call: None }, None);
                    return Ok(Meaning::Forecast);
                }
                (Ok((source, start)), Ok((target, place)))
            }
            ends => ends,
        };
        let is_file = source.is_ok() || target.is_ok();
        let mut meaning = match source {
            Ok((source, start)) => self.piece(&source, start, bytes, false),
            Err(kind) => self.elsewhere(from.0, kind, false),
        };
        let written = match target {
            Ok((target, place)) => self.piece(&target, place, bytes, true),
            Err(kind) => self.elsewhere(to.0, kind, true),
        };
        if !matches!(written, Meaning::Recorded) {
            meaning = written;
        }
        Ok(if is_file { Meaning::Forecast } else { meaning })
    }

    /// An end of a copy, and the place in the file.
    fn end_of_copy(
        &mut self,
        (at, offset_at): (usize, usize),
    ) -> Result<Result<(Through, u64), Kind>, TraceError> {
        let through = match self.through(at)? {
            Ok(through) => through,
            Err(kind) => return Ok(Err(kind)),
        };
        let given = self.arguments.pointed(offset_at);
        let start = given.unwrap_or(through.position);
        if given.is_none() {
            self.move_to(at, start.saturating_add(self.returned));
        }
        Ok(Ok((through, start)))
    }
}
