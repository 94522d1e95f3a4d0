//! Writes dirty blocks to their devices, and evicts clean ones: Algorithm 1 and forced flushes.

use super::files::HostFile;
use super::{Stage, Ticket, Wrench};
use crate::flow::FlowSpec;
use crate::policy::{Actions, DeviceId};
use crate::units::{Bytes, Nanos};

/// The tag of the periodic flush's transfers; operations use their own numbers, which are smaller.
pub(super) const FLUSHER: u64 = u64::MAX;

/// A forced flush of an operation.
#[derive(Clone, Copy)]
pub(super) struct Flush {
    /// The file not to be flushed, or (fsync, O_DIRECT) the only one to be.
    pub(super) file: Option<HostFile>,
    /// The bytes still to be flushed when the transfers under way have ended.
    pub(super) amount: u64,
    /// True if anything has been flushed so far.
    pub(super) flushed: bool,
    /// The bytes being written, and the number of transfers.
    pub(super) sum: u64,
    pub(super) transfers: u32,
    /// True if the list is the active one already.
    pub(super) active: bool,
    /// The next step of the operation.
    pub(super) then: Then,
}

#[derive(Clone, Copy)]
pub(super) enum Then {
    /// Read a chunk of which so much comes from the device.
    Read { missing: u64 },
    /// Write so much of the chunk.
    Write { rest: u64 },
    /// Move so much past the cache.
    Bypass { chunk: u64 },
    /// Nothing more.
    End,
}

/// The periodic flush (Algorithm 1), concurrent with the operations.
pub(super) struct Flusher {
    pub(super) pass_began: Nanos,
    pub(super) active: bool,
    /// True while a block is being written; otherwise it sleeps.
    pub(super) is_writing: bool,
    pub(super) wakes: Nanos,
}

impl Flusher {
    /// Lets it sleep on at the times that have passed since the last call: nothing was dirty then.
    pub(super) fn pass_over(&mut self, now: Nanos, period: Nanos) {
        if !self.is_writing && self.wakes < now && period > Nanos::ZERO {
            let passed = (now - self.wakes).0.div_ceil(period.0);
            self.wakes += Nanos(passed * period.0);
        }
    }
}

impl Wrench {
    pub(super) fn evict(&mut self, amount: u64, except: Option<HostFile>, out: &mut Actions) -> u64 {
        let evicted = self.cache.evict(amount, except);
        if evicted > 0 {
            out.tell("evict", except.map(|file| self.files.id(file)), Bytes(evicted));
        }
        evicted
    }

    /// Begins a forced flush of `amount`; goes on with `then` at once if there is nothing to do.
    pub(super) fn flush(
        &mut self,
        now: Nanos,
        operation: Ticket,
        file: Option<HostFile>,
        amount: u64,
        then: Then,
        out: &mut Actions,
    ) {
        let flush = Flush { file, amount, flushed: false, sum: 0, transfers: 0, active: false, then };
        match amount {
            0 => self.after_flush(now, operation, flush, out),
            _ => self.flush_list(now, operation, flush, out),
        }
    }

    /// Flushes from the inactive list, then from the active one; blocks are clean from the start of the transfers on.
    pub(super) fn flush_list(&mut self, now: Nanos, operation: Ticket, mut flush: Flush, out: &mut Actions) {
        let only = matches!(flush.then, Then::End | Then::Bypass { .. });
        loop {
            let mut by_device = std::mem::take(&mut self.by_device);
            let files = &self.files;
            self.cache.flush(flush.active, flush.amount, flush.file, only, |file, bytes| {
                add_to(&mut by_device, files.device(file), bytes);
            });
            flush.sum = by_device.iter().map(|&(_, bytes)| bytes).sum();
            flush.amount -= flush.sum;
            if flush.sum > 0 {
                flush.flushed = true;
                flush.transfers = by_device.len() as u32;
                let only_file = flush.file.filter(|_| only).map(|file| self.files.id(file));
                out.tell("forced_flush", only_file, Bytes(flush.sum));
                self.running(operation).stage = Stage::Flush(flush);
                for (device, bytes) in by_device.drain(..) {
                    out.start(FlowSpec::new(self.files.write_path(device), bytes, operation.tag()));
                }
            }
            self.by_device = by_device;
            if flush.sum > 0 {
                return;
            }
            if flush.active || flush.amount == 0 {
                return self.after_flush(now, operation, flush, out);
            }
            flush.active = true;
        }
    }

    pub(super) fn after_flush(&mut self, now: Nanos, operation: Ticket, flush: Flush, out: &mut Actions) {
        match flush.then {
            Then::Read { missing } => self.read_from_device(now, operation, missing, out),
            Then::Write { rest } => {
                let file = self.running(operation).file;
                let room = self.cache.lacking(rest);
                let evicted = self.evict(room, self.never_evicted(file), out);
                if !flush.flushed && evicted == 0 && self.room_for(rest) == 0 {
                    return self.write_past(now, operation, rest, out);
                }
                self.write_to_cache(now, operation, rest, out);
            }
            Then::Bypass { chunk } => self.bypass(operation, chunk, out),
            Then::End => {
                self.running(operation).left = 0;
                self.next_chunk(now, operation, out);
            }
        }
    }

    /// Continues the search of the periodic flush: the inactive list until nothing is expired, then the active one.
    pub(super) fn flush_expired(&mut self, now: Nanos, out: &mut Actions) {
        let limit = now.0.checked_sub(self.options.expiry.0).map(Nanos);
        loop {
            let expired = limit.and_then(|limit| self.cache.clean_expired(self.flusher.active, limit));
            if let Some((file, bytes)) = expired {
                self.flusher.is_writing = true;
                out.tell("periodic_flush", Some(self.files.id(file)), Bytes(bytes));
                out.start(FlowSpec::new(self.files.write_path(self.files.device(file)), bytes, FLUSHER));
                return;
            }
            if !self.flusher.active {
                self.flusher.active = true;
                continue;
            }
            self.flusher.active = false;
            let next = self.flusher.pass_began + self.options.period;
            if next > now {
                self.flusher.wakes = next;
                return;
            }
            self.flusher.pass_began = now;
        }
    }
}

/// Adds to the sum of a device; sums stay in the order of devices.
fn add_to(sums: &mut Vec<(DeviceId, u64)>, device: DeviceId, bytes: u64) {
    match sums.binary_search_by_key(&device, |&(other, _)| other) {
        Ok(at) => sums[at].1 += bytes,
        Err(at) => sums.insert(at, (device, bytes)),
    }
}
