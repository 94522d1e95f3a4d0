//! Reads the records of one process, with a small buffer that grows as long as all of them together stay small.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::block::{BLOCK_HEADER, BlockHeader};
use super::code::{self, Before};
use super::decode::{Names, decode};
use super::error::TraceError;
use super::inner::Inner;
use super::record::Record;
use super::varint::Bits;

/// The first buffer of a cursor.
const FIRST_BUFFER: usize = 256;

/// The largest one.
const LARGEST_BUFFER: usize = 64 << 10;

/// What the buffers of all cursors of a recording have together, beside the first one of each.
const ALL_BUFFERS: usize = 64 << 20;

/// A place between two records of a process.
#[derive(Debug)]
pub struct Cursor {
    trace: Arc<Inner>,
    buffer: Vec<u8>,
    /// What of the buffer was read.
    done: usize,
    /// The place behind the buffer.
    at: u64,
    /// The bytes of the block behind the buffer.
    left: usize,
    /// The place of the next block; 0 behind the last one.
    next: u64,
    before: Before,
    /// The size that the buffer may have.
    room: usize,
}

impl Cursor {
    /// Before the first record of a process.
    pub fn new(trace: Arc<Inner>, process: u32) -> Self {
        let next = trace.tables.processes[process as usize].first;
        Self {
            trace,
            buffer: Vec::new(),
            done: 0,
            at: 0,
            left: 0,
            next,
            before: Before::default(),
            room: FIRST_BUFFER,
        }
    }

    /// The next record, with names from these tables.
    #[inline]
    pub fn next(&mut self, names: Names<'_>) -> Result<Option<Record>, TraceError> {
        if self.buffer.len() - self.done < code::MOST_BYTES && !self.fill()? {
            return Ok(None);
        }
        let mut bits = Bits { rest: &self.buffer[self.done..] };
        match decode(&mut bits, &mut self.before, names) {
            Some(record) => {
                self.done = self.buffer.len() - bits.rest.len();
                Ok(Some(record))
            }
            None => Err(self.damaged()),
        }
    }

    #[cold]
    fn damaged(&self) -> TraceError {
        let at = self.at - (self.buffer.len() - self.done) as u64;
        TraceError::Damaged { at, what: "this is no record" }
    }

    /// Has a whole record in the buffer; false if there is none.
    fn fill(&mut self) -> Result<bool, TraceError> {
        if self.left == 0 {
            if self.done < self.buffer.len() {
                return Ok(true);
            }
            if self.next == 0 {
                self.give_back();
                return Ok(false);
            }
            self.begin_block()?;
            return Ok(true);
        }
        self.grow();
        let kept = self.buffer.len() - self.done;
        self.buffer.copy_within(self.done.., 0);
        self.done = 0;
        let more = self.left.min(self.room - kept);
        self.buffer.resize(kept + more, 0);
        self.trace.store.read(&mut self.buffer[kept..], self.at)?;
        self.at += more as u64;
        self.left -= more;
        Ok(true)
    }

    /// Reads the header of the next block, and as many of its bytes as have room.
    fn begin_block(&mut self) -> Result<(), TraceError> {
        let at = self.next;
        let damaged = |what| TraceError::Damaged { at, what };
        let there = self.trace.header.tables_at.saturating_sub(at);
        let asked = (BLOCK_HEADER + self.room).min(usize::try_from(there).unwrap_or(usize::MAX));
        self.buffer.clear();
        self.buffer.resize(asked, 0);
        self.trace.store.read(&mut self.buffer, at)?;
        let header = self.buffer.first_chunk().ok_or(damaged("there is no block"))?;
        let header = BlockHeader::of(header).map_err(damaged)?;
        if header.next != 0 && header.next <= at {
            return Err(damaged("the chain of blocks runs backwards"));
        }
        let has = (asked - BLOCK_HEADER).min(header.bytes as usize);
        self.buffer.truncate(BLOCK_HEADER + has);
        self.done = BLOCK_HEADER;
        self.at = at + (BLOCK_HEADER + has) as u64;
        self.left = header.bytes as usize - has;
        self.next = header.next;
        Ok(())
    }

    /// Takes a buffer twice as large, if there is room.
    fn grow(&mut self) {
        let more = self.room;
        if self.room < LARGEST_BUFFER && self.trace.lent.0.fetch_add(more, Relaxed) + more <= ALL_BUFFERS {
            self.room += more;
        } else if self.room < LARGEST_BUFFER {
            self.trace.lent.0.fetch_sub(more, Relaxed);
        }
    }

    fn give_back(&mut self) {
        self.trace.lent.0.fetch_sub(self.room - FIRST_BUFFER, Relaxed);
        self.room = FIRST_BUFFER;
        self.buffer = Vec::new();
        self.done = 0;
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        self.give_back();
    }
}

const _: () = assert!(FIRST_BUFFER > code::MOST_BYTES);
