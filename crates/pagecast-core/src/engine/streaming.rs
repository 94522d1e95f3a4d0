//! Keeps the open streams of a process, and the progress of an operation on one.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::policy::{FileId, Outcome};
use crate::stdio::{Direction, Refusal, Stream, Transfer, Work};
use crate::units::{Bytes, Nanos};

/// A stream that a process has open.
pub(super) struct OpenStream {
    pub path: Arc<str>,
    pub file: FileId,
    pub stream: Stream,
}

/// The operation on a stream that a process is in.
pub(super) struct Streaming {
    /// The direction, the bytes left, and the bytes of one call.
    pub direction: Direction,
    pub left: u64,
    pub call: u64,
    /// The outcome so far, and the step it is in, if any.
    pub outcome: Outcome,
    pub under_way: Option<Step>,
    pub steps: VecDeque<Step>,
    /// Where it began, and what it was to move.
    pub offset: u64,
    pub bytes: Bytes,
}

/// A step that a stream waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A processor, for so long.
    Processor(Nanos),
    /// System calls.
    Transfer(Transfer),
    /// The close of a file of another host, which waits for the server.
    Close,
}

impl Streaming {
    /// Bytes that a stream is to move, and what it does to go where they are.
    pub(super) fn of(
        stream: &mut Stream,
        direction: Direction,
        offset: Option<u64>,
        bytes: Option<Bytes>,
        call: Option<Bytes>,
        end: u64,
    ) -> Result<(Self, Work), Refusal> {
        let work = offset.map_or(Ok(Work::default()), |offset| stream.seek(offset, end))?;
        let end = work.end_of_file(end);
        stream.turn_to(direction, end)?;
        let offset = stream.tell(direction, end);
        let bytes = bytes.unwrap_or(Bytes(end.saturating_sub(offset)));
        Ok((Self::of_bytes(direction, offset, bytes, call), work))
    }

    pub(super) fn of_bytes(direction: Direction, offset: u64, bytes: Bytes, call: Option<Bytes>) -> Self {
        Self {
            direction,
            left: bytes.0,
            call: call.unwrap_or(bytes).0.clamp(1, bytes.0.max(1)),
            outcome: Outcome::default(),
            under_way: None,
            steps: VecDeque::new(),
            offset,
            bytes,
        }
    }

    /// Whether it waits for nothing, so that its process can go on with it.
    pub(super) fn is_between_steps(&self) -> bool {
        self.under_way.is_none()
    }
}
