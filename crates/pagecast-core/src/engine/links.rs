//! Tells the links what flows move over them.
//!
//! A message is a flow over a path of the network, and so is a transfer of a model that reads another host's disk at once. Its bytes count
//! on each direction that it crosses when it ends.

use crate::flow::{FlowId, FlowSpec, Path};
use crate::net::{Net, Segments, Used};
use crate::result::LinkTable;
use crate::units::Nanos;

/// The links of all hosts; see the module.
#[derive(Debug, Default)]
pub(super) struct Links {
    each: Vec<Used>,
    /// The path of each flow over a link, by its slot.
    paths: Vec<Option<(FlowId, Path)>>,
}

impl Links {
    /// A flow begins.
    pub(super) fn begin(&mut self, now: Nanos, flow: FlowId, path: Path, net: &Net<'_>) {
        if net.crossed(path).is_empty() {
            return;
        }
        let slot = flow.slot as usize;
        if self.paths.len() <= slot {
            self.paths.resize(slot + 1, None);
        }
        self.paths[slot] = Some((flow, path));
        self.enter(now, path, net);
    }

    fn enter(&mut self, now: Nanos, path: Path, net: &Net<'_>) {
        for &(direction, _) in net.crossed(path) {
            let at = direction as usize;
            self.used(at).enter(now);
        }
    }

    /// A flow has ended that has moved so many bytes.
    pub(super) fn end(&mut self, now: Nanos, flow: FlowId, bytes: u64, net: &Net<'_>) {
        if let Some((_, path)) = self.paths.get_mut(flow.slot as usize).and_then(Option::take) {
            self.count(now, path, bytes, net);
        }
    }

    /// The use of a direction so far.
    fn used(&mut self, direction: usize) -> &mut Used {
        if self.each.len() <= direction {
            self.each.resize(direction + 1, Used::default());
        }
        &mut self.each[direction]
    }

    fn count(&mut self, now: Nanos, path: Path, bytes: u64, net: &Net<'_>) {
        for &(direction, cost) in net.crossed(path) {
            self.each[direction as usize].leave(now, 1, bytes, bytes as f64 * cost);
        }
    }

    /// A flow has been served at once, from one instant to another.
    pub(super) fn served(&mut self, spec: &FlowSpec, (start, end): (Nanos, Nanos), net: &Net<'_>) {
        self.enter(start, spec.path, net);
        self.count(end, spec.path, spec.bytes, net);
    }

    /// The time for which a direction had a message on it.
    pub(super) fn busy(&self, direction: u32) -> Nanos {
        self.each.get(direction as usize).map_or(Nanos::ZERO, |used| used.busy)
    }

    /// A row for each direction that was used, with flows that have not ended and the bytes that they have moved.
    pub(super) fn rows(
        mut self,
        now: Nanos,
        net: &Net<'_>,
        segments: Option<&Segments>,
        done: impl Fn(FlowId) -> u64,
    ) -> LinkTable {
        for slot in 0..self.paths.len() {
            if let Some((flow, path)) = self.paths[slot].take() {
                self.count(now, path, done(flow), net);
            }
        }
        for (at, used) in segments.into_iter().flat_map(Segments::used).enumerate() {
            self.used(at).add(used);
        }
        let mut table = LinkTable::default();
        for ((direction, [link, from, to]), used) in net.directions().zip(&self.each) {
            if used.messages > 0 || used.bytes > 0 {
                table.link.push(link);
                table.from.push(from);
                table.to.push(to);
                table.rate.push(direction.rate);
                table.messages.push(used.messages);
                table.bytes.push(used.bytes);
                table.on_link.push(used.on_link.round() as u64);
                table.busy.push(used.busy);
            }
        }
        table
    }
}
