//! Serves an operation up to its end when nothing else happens until then, without the network of flows and the agenda.
//!
//! The policy does all that it does otherwise, at the same instants; results are the same, bit by bit.

use std::cell::Cell;

use super::disks::Disks;
use super::recorder::Recorder;
use super::run::Engine;
use super::uneven::Weights;
use crate::error::SimulationError;
use crate::flow::{FlowSpec, Network};
use crate::policy::{Alone, DiskLoad, Request, Served, Undisturbed};
use crate::result::MemoryLevels;
use crate::stop;
use crate::units::{Nanos, earlier};

/// The engine as a policy sees it that serves an operation.
struct Lull<'a, N> {
    network: &'a N,
    recorder: &'a mut Recorder,
    disks: &'a mut Disks,
    host: usize,
    now: Nanos,
    /// The next event of all others.
    next: Nanos,
    weights: &'a Weights,
    /// The process that waits for the operation, and its name.
    process: Option<(u32, &'a str)>,
    /// The transfer that was asked about last.
    asked: Cell<Option<FlowSpec>>,
}

impl<N: Network> Lull<'_, N> {
    /// How unequally a device serves the process behind a flow.
    fn stream_weight(&self, spec: &FlowSpec) -> f64 {
        let Some((process, name)) = self.process.filter(|_| !self.weights.are_one()) else { return 1.0 };
        self.weights.of(self.network.route(spec.path), process, || name)
    }
}

impl<N: Network> Undisturbed for Lull<'_, N> {
    fn alone(&self, spec: &FlowSpec) -> Option<Alone> {
        let weight = spec.weight * self.stream_weight(spec);
        let (rate, end, part) = self.network.alone(self.now, &FlowSpec { weight, ..*spec })?;
        self.asked.set(Some(*spec));
        (end > self.now && end < self.next).then_some(Alone { rate, end, part })
    }

    fn record(&mut self, time: Nanos, levels: MemoryLevels) {
        self.recorder.levels(time, self.host, levels);
    }

    fn record_held(&mut self, span: (Nanos, Nanos), levels: MemoryLevels) {
        self.recorder.levels_held(span, self.host, levels);
    }

    fn record_load(&mut self, time: Nanos, disk: usize, load: DiskLoad) {
        self.disks.load(time, self.host, disk, load);
    }
}

impl<N: Network> Engine<'_, N> {
    /// The next event, if nothing more happens at this instant than an operation of a process on a host.
    pub(super) fn next_after_lull(&mut self, at: u32, host: u32) -> Option<Nanos> {
        let is_last = self.completions_left == 0
            && self.ready.iter().all(|&ready| ready == at)
            && self.called.iter().all(|&called| called == host)
            && self.processes[at as usize].of == at;
        let next = earlier(self.network.next_event(), self.agenda.next()).unwrap_or(Nanos::LAST);
        (is_last && next > self.now).then_some(next.min(Nanos::LAST))
    }

    /// Asks the policy of a host for an operation that may be served up to its end.
    pub(super) fn serve(&mut self, host: u32, request: &Request, next: Nanos) -> Result<(), SimulationError> {
        self.begin_calls(host);
        let process = self.process_behind(request.operation);
        let Self { hosts, network, recorder, actions, now, weights, processes, disks, links, net, .. } = self;
        let process = process.map(|process| (process, &*processes[process as usize].name));
        let (network, weights, at) = (&*network, &*weights, host as usize);
        let asked = Cell::new(None);
        let mut lull = Lull { network, recorder, disks, host: at, now: *now, next, weights, process, asked };
        let served = hosts[at].policy.serve(*now, request, &mut lull, actions);
        if let Some(Served { end, outcome }) = served {
            if let Some(spec) = lull.asked.get() {
                lull.disks.served(&spec, *now, end);
                links.served(&spec, (*now, end), net);
            }
            self.now = end;
            stop::come_to(end);
            stop::spend(stop::EVENT);
            if let Some(outcome) = outcome {
                return self.end_operation(request.operation.0, outcome);
            }
        }
        self.carry_out_all(host)
    }
}

#[cfg(test)]
mod tests;
