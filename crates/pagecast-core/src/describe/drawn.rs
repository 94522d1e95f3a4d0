//! Records what programs would do, without any time.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::readers::ReadError;
use crate::stop;
use crate::trace::{Level, Trace, TraceError, Writer};
use crate::units::{Bytes, Nanos};
use crate::workload::{
    Action, Buffer, Calls, Fd, Operation, PatternCall, Program, ProgramError, Workload, WorkloadProcess,
};

/// A process that has not ended.
struct Running<'a> {
    process: &'a WorkloadProcess,
    number: u32,
    program: Option<Box<dyn Program>>,
    /// The calls that are left of a pattern, and how many of them are wanted.
    calls: Option<(Calls, Arc<str>, Option<Fd>, u64)>,
}

impl Running<'_> {
    /// The next call of the process; `size_of` tells the size of a file.
    fn next(
        &mut self,
        mut size_of: impl FnMut(&Arc<str>) -> Result<Bytes, TraceError>,
    ) -> Result<Option<Operation>, ProgramError> {
        loop {
            if let Some((calls, path, fd, left)) = &mut self.calls {
                match calls.next().filter(|_| *left > 0) {
                    Some(call) => {
                        *left -= 1;
                        return Ok(Some(Operation { fd: *fd, ..operation(path, &call) }));
                    }
                    None => self.calls = None,
                }
            }
            let program = match &mut self.program {
                Some(program) => program,
                empty => empty.insert(self.process.program.start()?),
            };
            match program.next(Nanos::ZERO)? {
                Some(Operation { action: Action::Pattern(pattern), fd, .. }) => {
                    let size = size_of(&pattern.path).map_err(|error| ProgramError(error.into()))?;
                    let most = pattern.most_calls(size);
                    self.calls = Some((Calls::new(&pattern, size, 0), pattern.path.clone(), fd, most));
                }
                other => return Ok(other.filter(|operation| !matches!(operation.action, Action::Exit))),
            }
        }
    }
}

fn operation(path: &Arc<str>, call: &PatternCall) -> Operation {
    let (path, offset, bytes) = (path.clone(), Some(call.offset), call.bytes);
    match call.is_write {
        true => Action::Write { path, offset, bytes, call: None, vector: 1 }.into(),
        false => {
            let bytes = Some(bytes);
            Action::Read { path, offset, bytes, call: None, vector: 1, buffer: Buffer::Reused }.into()
        }
    }
}

/// Records the calls of programs as if each took as long as every other: one of each process in turn, at most so many in all. A pattern
/// that ends with its time alone makes as many calls as its part has.
///
/// # Errors
/// If a program fails, or there is no room for the recording.
pub fn drawn(origin: &str, workload: &Workload, most: u64) -> Result<Trace, ReadError> {
    let of_trace = |error| ReadError::of_trace(origin, &error);
    let mut writer = Writer::new(origin, Level::Files);
    for file in &workload.files {
        writer.file(&file.path, file.size).map_err(of_trace)?;
    }
    for note in &workload.notes {
        writer.note(&*note.place, &*note.text);
    }
    let mut numbers: FxHashMap<Arc<str>, bool> = FxHashMap::default();
    let mut running = Vec::new();
    for process in &workload.processes {
        let number = writer.process(&process.name).map_err(of_trace)?;
        if let Some(table) = process.descriptors {
            writer.set_descriptors(number, table);
        }
        numbers.insert(process.name.clone(), false);
        running.push(Running { process, number, program: None, calls: None });
    }
    let failed = |process: &WorkloadProcess, error: ProgramError| {
        ReadError::new(origin, format!("process {}: {}", process.name, error.0), "correct it")
    };
    let mut left = most;
    while left > 0 && !running.is_empty() {
        let before = (left, running.len());
        let mut ended = Vec::new();
        for each in &mut running {
            if left == 0 || !each.process.after.iter().all(|after| numbers.get(after).is_none_or(|&is| is)) {
                continue;
            }
            stop::spend(1);
            match each.next(|path| writer.size(path)).map_err(|error| failed(each.process, error))? {
                Some(operation) => {
                    writer.record(each.number, None, None, &operation).map_err(of_trace)?;
                    left -= 1;
                }
                None => ended.push(each.number),
            }
        }
        running.retain(|each| {
            let is_over = ended.contains(&each.number);
            if is_over {
                numbers.insert(each.process.name.clone(), true);
            }
            !is_over
        });
        if (left, running.len()) == before {
            break;
        }
    }
    if left == 0 {
        writer.note(origin, format!("its programs have more than the {most} operations that are described"));
    }
    writer.finish().map_err(of_trace)
}
