//! Sends what clients of striped mounts keep dirty, and lets those go on that wait for it ([`super::client_cache`]).

use super::client_cache::{Range, Sent, Way};
use super::run::Engine;
use super::services::UnderWay;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::machine::Layout;
use crate::policy::{OperationId, Procedure, Rpc};
use crate::units::{Bytes, Nanos};

impl<N: Network> Engine<'_, N> {
    /// Keeps as many bytes of a payload as there is room for; the payload waits for the rest of it. Gives how many those are.
    pub(super) fn keep_dirty(&mut self, payload: u32, way: Way, range: Range, layout: &Layout) -> Bytes {
        let Range { file, of, offset, bytes } = range;
        let kept = self.client_caches.kept.entry(way).or_default();
        let taken = bytes.min(layout.write_cache.saturating_sub(kept.dirty));
        if taken < bytes {
            kept.waiting.push_back(payload);
        }
        if taken == Bytes::ZERO {
            return taken;
        }
        kept.dirty += taken;
        match kept.ranges.back_mut() {
            Some(last) if last.file == file && last.offset + last.bytes.0 == offset => last.bytes += taken,
            _ => kept.ranges.push_back(Range { bytes: taken, ..range }),
        }
        self.client_caches.of_files.entry(of).or_default().0 += taken;
        self.send_dirty(way, layout);
        taken
    }

    /// Sends dirty bytes until enough buffers are on their way.
    fn send_dirty(&mut self, way: Way, layout: &Layout) {
        let (client, mount, server) = way;
        loop {
            let kept = self.client_caches.kept.get_mut(&way).expect("it keeps some");
            let Some(first) = kept.ranges.front_mut().filter(|_| kept.under_way < layout.flow_buffers) else {
                return;
            };
            let Range { file, of, offset, bytes } = *first;
            let bytes = bytes.min(layout.flow_buffer);
            (first.offset, first.bytes) = (offset + bytes.0, first.bytes - bytes);
            if first.bytes == Bytes::ZERO {
                kept.ranges.pop_front();
            }
            kept.under_way += 1;
            let sent = self.client_caches.sent.add(Sent { way, of, bytes });
            let procedure = Procedure::Write { offset, bytes, stable: false };
            let rpc = Rpc { xid: 0, mount, operation: OperationId::NOBODY, file, procedure };
            self.send_to_server(UnderWay::of_cache(client, rpc, (server, sent), self.now));
        }
    }

    /// A server has a buffer: others have room, and operations on the file may go on.
    pub(super) fn dirty_sent(&mut self, sent: u32) -> Result<(), SimulationError> {
        let Sent { way, of, bytes } = self.client_caches.sent.remove(sent);
        let kept = self.client_caches.kept.get_mut(&way).expect("it keeps some");
        kept.dirty -= bytes;
        kept.under_way -= 1;
        let waiting = std::mem::take(&mut kept.waiting);
        let file = self.client_caches.of_files.get_mut(&of).expect("it has dirty bytes");
        file.0 -= bytes;
        for payload in waiting {
            self.keep_payload(payload)?;
        }
        let layout = self.namespace.striping(of).expect("the file is striped").layout;
        self.send_dirty(way, &layout);
        let all_sent = self.client_caches.of_files.get(&of).is_some_and(|file| file.0 == Bytes::ZERO);
        let (_, joined) =
            all_sent.then(|| self.client_caches.of_files.remove(&of)).flatten().unwrap_or_default();
        for joined in joined {
            self.dirty_bytes_gone(joined)?;
        }
        Ok(())
    }

    /// Time of a client's processor to copy bytes into its cache.
    pub(super) fn copy_into_cache(&self, client: u32, bytes: Bytes) -> Nanos {
        let rate = self.scenario.machine.hosts[client as usize].memory.cost.copy_write;
        rate.map_or(Nanos::ZERO, |rate| Nanos((bytes.0 as f64 / rate.0 * 1e9) as u64))
    }
}
