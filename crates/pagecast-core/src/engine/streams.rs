//! Performs the work of a library's stream: copies, and system calls under the host's policy.
//!
//! An operation on a stream is a row of steps: it copies between the program and the buffer on one processor, then it reads or writes. A
//! long one goes in portions, so that the copies lie between the system calls as they do in reality; none of its library calls is an event.

use super::run::{Engine, Owner};
use super::running::Current;
use super::streaming::{OpenStream, Step, Streaming};
use crate::calls::CallError;
use crate::error::SimulationError;
use crate::flow::{FlowSpec, Network};
use crate::fs::{Located, Span};
use crate::policy::{FileId, Outcome};
use crate::result::{Part, Parts};
use crate::stdio::{Direction, LibraryCall, Mode, Refusal, Stream, Transfer, Work};
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, OpenFlags, Operation};

/// So much is copied before it is written, and read before it is copied: some milliseconds, of which a writer's pauses (up to 200 ms) and
/// estimates (every 200 ms) see nothing.
const PORTION: u64 = 16 << 20;

impl<N: Network> Engine<'_, N> {
    /// Begins an operation on a stream.
    pub(super) fn begin_on_stream(
        &mut self,
        at: u32,
        operation: Operation,
        call: LibraryCall,
    ) -> Result<(), SimulationError> {
        let located = self.caller(at).file_of(&operation.action);
        let located = self.blamed(at, operation.line, located)?;
        if let LibraryCall::Open { mode, library, buffer } = call {
            return match Stream::new(library, mode, buffer) {
                Ok(stream) => self.open_stream(at, operation, located, stream, mode),
                Err(why) => Err(self.stream_refused(at, &operation, why)),
            };
        }
        let end = self.namespace.size(located.file).0;
        let begun = self.ask_stream(at, located, call, end);
        let (streaming, work) = begun.map_err(|why| self.stream_refused(at, &operation, why))?;
        // What a seek writes first is there when it is read.
        let end = work.end_of_file(end);
        if streaming.direction == Direction::Read && streaming.offset.saturating_add(streaming.left) > end {
            let span = Span { offset: streaming.offset, bytes: streaming.bytes, piece: streaming.bytes };
            let path = operation.action.path().expect("a stream has a path").clone();
            let error = CallError::BeyondEnd { path, span, size: Bytes(end) };
            return Err(self.call_failed(at, operation.line, error));
        }
        self.enter(at, operation, Some(located), streaming.offset, streaming.bytes);
        self.processes[at as usize].current.as_mut().expect("it has begun").stream =
            Some(Box::new(streaming));
        self.plan_steps(at, &work);
        if call == LibraryCall::Close {
            self.forget_stream(at, located.file);
            if self.caller(at).asks_server(located) {
                self.streaming(at).steps.push_back(Step::Close);
            }
        }
        self.go_on_with_stream(at)
    }

    fn open_stream(
        &mut self,
        at: u32,
        operation: Operation,
        located: Located,
        stream: Stream,
        mode: Mode,
    ) -> Result<(), SimulationError> {
        let file = located.file;
        let path = operation.action.path().expect("a stream has a path").clone();
        let streams = &mut self.processes[at as usize].streams;
        if streams.iter().any(|each| each.file == file) {
            return Err(self.stream_refused(at, &operation, Refusal::IsOpen));
        }
        streams.push(OpenStream { path, file, stream });
        let size = if mode.truncates() { Bytes::ZERO } else { self.namespace.size(file) };
        let begun = self.caller(at).resize(located, size);
        let begun = self.blamed(at, operation.line, begun)?;
        self.enter_begun(at, operation, begun)
    }

    /// What an open stream says to a call: what there is to do, and what of it at once.
    fn ask_stream(
        &mut self,
        at: u32,
        located: Located,
        call: LibraryCall,
        end: u64,
    ) -> Result<(Streaming, Work), Refusal> {
        let streams = &mut self.processes[at as usize].streams;
        let open = streams.iter_mut().find(|each| each.file == located.file);
        let stream = &mut open.ok_or(Refusal::NotOpen)?.stream;
        let work = match call {
            LibraryCall::Open { .. } => unreachable!("it has been opened instead"),
            LibraryCall::Write { offset, bytes, call } => {
                return Streaming::of(stream, Direction::Write, offset, Some(bytes), call, end);
            }
            LibraryCall::Read { offset, bytes, call } => {
                return Streaming::of(stream, Direction::Read, offset, bytes, call, end);
            }
            LibraryCall::SetBuffer { buffer } => stream.set_buffer(buffer).map(|()| Work::default())?,
            LibraryCall::Seek { offset } => stream.seek(offset, end)?,
            LibraryCall::Flush => stream.flush(end),
            LibraryCall::Close => stream.close(end),
        };
        Ok((Streaming::of_bytes(Direction::Write, 0, Bytes::ZERO, None), work))
    }

    fn stream_refused(&self, at: u32, operation: &Operation, why: Refusal) -> SimulationError {
        SimulationError::Stream {
            at: self.blame(at, operation.line),
            operation: operation.action.name(),
            path: operation.action.path().expect("a stream has a path").clone(),
            why,
        }
    }

    fn streaming(&mut self, at: u32) -> &mut Streaming {
        let current: Option<&mut Current> = self.processes[at as usize].current.as_mut();
        current.and_then(|current| current.stream.as_deref_mut()).expect("it is in an operation on a stream")
    }

    /// Turns what the library does into steps; it copies before it writes, and after it reads.
    fn plan_steps(&mut self, at: u32, work: &Work) {
        let host = self.processes[at as usize].host as usize;
        let memory = &self.scenario.machine.hosts[host].memory;
        let reads = work.transfers.first().is_some_and(|each| each.direction == Direction::Read);
        let (own, all) = match reads {
            true => (memory.cost.copy_read, memory.read),
            false => (memory.cost.copy_write, memory.write),
        };
        let rate = own.or(memory.per_thread).unwrap_or(all);
        let copying = Nanos((work.copied as f64 / rate.0 * 1e9).round() as u64);
        let calls = Nanos(memory.cost.call.0 * work.seeks);
        let processor = Step::Processor(copying + calls);
        let steps = &mut self.streaming(at).steps;
        steps.extend(work.transfers.iter().copied().map(Step::Transfer));
        match reads {
            true => steps.push_back(processor),
            false => steps.push_front(processor),
        }
    }

    /// Begins the next step of a process's operation on a stream, if one is left that takes time or asks the kernel for something.
    pub(super) fn go_on_with_stream(&mut self, at: u32) -> Result<(), SimulationError> {
        loop {
            match self.streaming(at).steps.pop_front() {
                Some(Step::Processor(Nanos::ZERO)) => {}
                Some(step) => {
                    self.streaming(at).under_way = Some(step);
                    return self.begin_step(at, step);
                }
                None if self.streaming(at).left > 0 => self.next_portion(at)?,
                None => return self.end_stream(at),
            }
        }
    }

    /// Lets the library make some calls more.
    fn next_portion(&mut self, at: u32) -> Result<(), SimulationError> {
        let located = self.processes[at as usize].current.as_ref().and_then(|current| current.file);
        let file = located.expect("a stream has a file").file;
        let end = self.namespace.size(file).0;
        let streaming = self.streaming(at);
        let (direction, call) = (streaming.direction, streaming.call);
        let bytes = (PORTION / call * call).max(call).min(streaming.left);
        streaming.left -= bytes;
        let streams = &mut self.processes[at as usize].streams;
        let open = streams.iter_mut().find(|each| each.file == file).expect("it is open");
        let work = match direction {
            Direction::Write => open.stream.write(bytes, call, end),
            Direction::Read => open.stream.read(bytes, call, end),
        };
        self.plan_steps(at, &work.expect("it was asked whether it may"));
        Ok(())
    }

    fn begin_step(&mut self, at: u32, step: Step) -> Result<(), SimulationError> {
        match step {
            Step::Processor(time) => {
                let path = self.hosts[self.processes[at as usize].host as usize].processors;
                self.actions.start(FlowSpec::new(path, time.0, u64::from(at)));
                self.start_own_flows(Owner::Process(at));
                Ok(())
            }
            Step::Transfer(transfer) => self.begin_system_calls(at, &transfer),
            Step::Close => {
                let current = self.processes[at as usize].current.as_ref();
                let located = current.and_then(|current| current.file).expect("a stream has a file");
                let flush = self.caller(at).flush_at_close(located);
                self.ask(at, flush)
            }
        }
    }

    fn begin_system_calls(&mut self, at: u32, transfer: &Transfer) -> Result<(), SimulationError> {
        let current = self.processes[at as usize].current.as_ref().expect("it is in an operation");
        let (action, line) = (current.operation.action.clone(), current.operation.line);
        let (located, flags) = (current.file.expect("a stream has a file"), OpenFlags::default());
        let (bytes, piece) = (Bytes(transfer.bytes), Bytes(transfer.piece().min(transfer.bytes)));
        let span = Span { offset: transfer.offset, bytes, piece };
        let mut caller = self.caller(at);
        let wants = match transfer.direction {
            // Somebody else may have cut it meanwhile.
            Direction::Read => caller
                .check_within(located, &action, &span)
                .and_then(|()| caller.check_room(bytes, Bytes::ZERO))
                .map(|()| caller.read(located, &span, flags, false)),
            Direction::Write => {
                caller.take_room(located, &span, flags).map(|()| caller.write(located, &span, flags))
            }
        };
        let wants = self.blamed(at, line, wants)?;
        self.ask(at, wants)
    }

    /// A step of an operation on a stream has ended; the process goes on when its turn comes.
    pub(super) fn stream_step_ended(&mut self, at: u32, outcome: &Outcome) {
        let streaming = self.streaming(at);
        let step = streaming.under_way.take().expect("only a step that is under way ends");
        let outcome = match step {
            // A computing flow calls it computing.
            Step::Processor(_) => {
                Outcome { parts: Parts::of(Part::CpuCopy, outcome.parts.total()), ..*outcome }
            }
            Step::Transfer(_) | Step::Close => *outcome,
        };
        streaming.outcome.parts.add_all(&outcome.parts);
        streaming.outcome.from_cache += outcome.from_cache;
        streaming.outcome.from_device += outcome.from_device;
        if let Step::Transfer(Transfer { direction: Direction::Write, offset, bytes, .. }) = step {
            let current = self.processes[at as usize].current.as_ref().expect("it is in an operation");
            let file = current.file.expect("a stream has a file").file;
            self.namespace.grow(file, Bytes(offset + bytes));
        }
        self.let_go_on(at);
    }

    fn end_stream(&mut self, at: u32) -> Result<(), SimulationError> {
        let current = self.processes[at as usize].current.as_mut().expect("it is in an operation");
        let streaming = current.stream.take().expect("it is one on a stream");
        self.end_operation(at, streaming.outcome)
    }

    /// A file was removed: what its stream has not written is gone with it.
    pub(super) fn forget_stream(&mut self, at: u32, file: FileId) {
        self.processes[at as usize].streams.retain(|each| each.file != file);
    }

    /// Closes the stream that was opened last, as exit(3) does, then the files of other hosts that nobody else has open; none if all are closed.
    pub(super) fn close_at_exit(&mut self, at: u32) -> Option<Operation> {
        let process = &self.processes[at as usize];
        if let Some(open) = process.streams.last() {
            return Some(Action::Stream { path: open.path.clone(), call: LibraryCall::Close }.into());
        }
        let is_last = self.tables[process.table as usize].users == 1 && process.under_way == 0;
        is_last.then(|| self.caller(at).close_at_exit())?.map(Into::into)
    }
}
