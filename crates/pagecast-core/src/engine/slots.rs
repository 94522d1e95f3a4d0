//! Gives cores to processes that hold them: a list scheduler.
//!
//! Processes that are ready are a list, by falling priority and then in the order in which they became ready. Whenever cores are free, the
//! first of the list that fits on one of its hosts starts there, on the first such host. A process that needs more cores than are free keeps
//! nobody behind it waiting. Source: R. L. Graham, *Bounds on Multiprocessing Timing Anomalies*, 1969, with processes of several cores.
//! Left out: reservations and backfilling as batch schedulers have them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::run::Engine;
use super::running::State;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::policy::Outcome;
use crate::result::{Part, Parts};
use crate::scenario::Scenario;
use crate::workload::Slots;

/// A process that waits: its priority, its running number and its index; the greatest comes first.
type Waiting = (u32, Reverse<u64>, u32);

/// Processes that need as many cores on the same hosts.
struct Class {
    cores: u32,
    hosts: Arc<[usize]>,
    waiting: BinaryHeap<Waiting>,
    /// None of the hosts before this one has enough free cores.
    first_free: usize,
    /// Whether its first process may fit now and did not before.
    is_candidate: bool,
}

/// The free cores of all hosts, and who waits for some.
pub(super) struct Scheduler {
    free: Vec<u32>,
    classes: Vec<Class>,
    /// The class of each process with slots.
    class_of: FxHashMap<u32, u32>,
    /// The classes that may run on each host, and the place of the host among theirs.
    of_host: Vec<Vec<(u32, usize)>>,
    /// Classes to look at.
    candidates: Vec<u32>,
    number: u64,
}

impl Scheduler {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let hosts = &scenario.machine.hosts;
        let mut scheduler = Self {
            free: hosts.iter().map(|host| host.cores).collect(),
            classes: Vec::new(),
            class_of: FxHashMap::default(),
            of_host: vec![Vec::new(); hosts.len()],
            candidates: Vec::new(),
            number: 0,
        };
        let mut known = FxHashMap::default();
        for (at, process) in (0..).zip(&scenario.processes) {
            if let Some(slots) = &process.slots {
                let key = (slots.cores, Arc::clone(&slots.hosts));
                let class = *known.entry(key).or_insert_with(|| scheduler.add_class(slots));
                scheduler.class_of.insert(at, class);
            }
        }
        scheduler
    }

    fn add_class(&mut self, slots: &Slots) -> u32 {
        let class = self.classes.len() as u32;
        for (place, &host) in slots.hosts.iter().enumerate() {
            self.of_host[host].push((class, place));
        }
        self.classes.push(Class {
            cores: slots.cores,
            hosts: Arc::clone(&slots.hosts),
            waiting: BinaryHeap::new(),
            first_free: 0,
            is_candidate: false,
        });
        class
    }

    /// A process is ready.
    fn add(&mut self, process: u32, priority: u32) {
        let class = self.class_of[&process];
        self.number += 1;
        self.classes[class as usize].waiting.push((priority, Reverse(self.number), process));
        self.look_at(class);
    }

    fn look_at(&mut self, class: u32) {
        let state = &mut self.classes[class as usize];
        if !state.is_candidate && !state.waiting.is_empty() {
            state.is_candidate = true;
            self.candidates.push(class);
        }
    }

    /// A process has ended on a host.
    fn release(&mut self, process: u32, host: usize) {
        self.free[host] += self.classes[self.class_of[&process] as usize].cores;
        for at in 0..self.of_host[host].len() {
            let (class, place) = self.of_host[host][at];
            let state = &mut self.classes[class as usize];
            state.first_free = state.first_free.min(place);
            self.look_at(class);
        }
    }

    /// All that start now, in their order, and where.
    fn start(&mut self) -> Vec<(u32, u32)> {
        let mut started = Vec::new();
        let mut list: BinaryHeap<(Waiting, u32)> = BinaryHeap::new();
        for class in std::mem::take(&mut self.candidates) {
            let state = &mut self.classes[class as usize];
            state.is_candidate = false;
            list.extend(state.waiting.peek().map(|&first| (first, class)));
        }
        while let Some(((.., process), class)) = list.pop() {
            let Class { cores, hosts, waiting, first_free, .. } = &mut self.classes[class as usize];
            let has_room = |&host: &usize| self.free[host] >= *cores;
            *first_free +=
                hosts[*first_free..].iter().position(has_room).unwrap_or(hosts.len() - *first_free);
            let Some(&host) = hosts.get(*first_free) else { continue };
            self.free[host] -= *cores;
            waiting.pop();
            started.push((process, host as u32));
            list.extend(waiting.peek().map(|&first| (first, class)));
        }
        started
    }
}

impl<N: Network> Engine<'_, N> {
    /// A process may begin: at once, or when it has its cores.
    pub(super) fn become_ready(&mut self, at: u32) {
        let process = &self.scenario.processes[at as usize];
        let Some(slots) = &process.slots else { return self.ready.push_back(at) };
        let running = &mut self.processes[at as usize];
        running.state = State::Queued;
        running.started = self.now;
        self.active -= 1;
        self.scheduler.add(at, slots.priority);
    }

    /// Starts processes that wait for cores and have them now; says whether there were any.
    pub(super) fn start_queued(&mut self) -> Result<bool, SimulationError> {
        if self.scheduler.candidates.is_empty() {
            return Ok(false);
        }
        let started = self.scheduler.start();
        for &(at, host) in &started {
            let running = &mut self.processes[at as usize];
            let since = std::mem::replace(&mut running.started, self.now);
            running.host = host;
            running.state = State::Active;
            self.active += 1;
            let parts = Parts::of(Part::Wait, self.now - since);
            self.record_wait(at, since, &Outcome { parts, ..Outcome::default() });
            self.ready.push_back(at);
        }
        self.go_on()?;
        Ok(!started.is_empty())
    }

    /// A process has ended and gives its cores back.
    pub(super) fn give_slots_back(&mut self, at: u32) {
        if self.scenario.processes[at as usize].slots.is_some() {
            self.scheduler.release(at, self.processes[at as usize].host as usize);
        }
    }

    /// What a process in the queue waits for, in words.
    pub(super) fn wanted_slots(&self, slots: &Slots) -> String {
        let cores = |count: u32| if count == 1 { "core" } else { "cores" };
        let Slots { cores: wanted, hosts, .. } = slots;
        let free = |&host: &usize| self.scheduler.free[host];
        let where_ = match &**hosts {
            [host] => {
                let host = &self.scenario.machine.hosts[*host];
                format!("of host `{}`, where {} of {} are free", host.name, free(&hosts[0]), host.cores)
            }
            hosts => {
                let most = hosts.iter().map(free).max().unwrap_or(0);
                format!("of one of {} hosts, where at most {most} are free", hosts.len())
            }
        };
        format!("for {wanted} {} {where_}", cores(*wanted))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use insta::assert_snapshot;

    use crate::scenario::Scenario;
    use crate::{Settings, simulate};

    const HEAD: &str = "models = ['no-cache']
        host.a = { cores = 2, memory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' } }
        host.b = { cores = 4, memory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' } }\n";

    fn scenario(processes: &str) -> Scenario {
        let text = format!("{HEAD}{processes}");
        Scenario::from_toml(text.as_bytes(), "x.toml", Path::new(""), Path::new(""), &[]).unwrap()
    }

    fn process(name: &str, seconds: u32, rest: &str) -> String {
        format!("[[process]]\nname = '{name}'\ndo = [ {{ compute = '{seconds} s' }} ]\n{rest}\n")
    }

    /// Host, start and end in seconds of each process's computing, in the order of their starts.
    fn runs(processes: &str) -> Vec<String> {
        let result = simulate(&scenario(processes), "no-cache", Settings::default()).unwrap();
        let table = &result.operations;
        let mut rows: Vec<(u64, u32, String)> = (0..table.process.len())
            .filter(|&row| table.operation[row] == "compute")
            .map(|row| {
                let (process, host) = (table.process[row], table.host[row] as usize);
                let seconds = |time: crate::units::Nanos| time.as_seconds();
                let text = format!(
                    "{} {} {}-{}",
                    result.processes[process as usize],
                    result.hosts[host],
                    seconds(table.start[row]),
                    seconds(table.end[row])
                );
                (table.start[row].0, process, text)
            })
            .collect();
        rows.sort();
        rows.into_iter().map(|(.., text)| text).collect()
    }

    #[test]
    fn a_process_waits_until_its_cores_are_free() {
        let three = process("p{n}", 2, "count = 3\nslots = 1");
        assert_eq!(runs(&three), ["p1 a 0-2", "p2 a 0-2", "p3 a 2-4"]);
        let wide = process("p{n}", 2, "count = 2\nslots = 2");
        assert_eq!(runs(&wide), ["p1 a 0-2", "p2 a 2-4"]);
    }

    #[test]
    fn the_first_host_with_room_is_taken() {
        let four = process("p{n}", 1, "count = 4\nslots = 2\nhosts = ['a', 'b']");
        assert_eq!(runs(&four), ["p1 a 0-1", "p2 b 0-1", "p3 b 0-1", "p4 a 1-2"]);
        let other = process("p{n}", 1, "count = 2\nslots = 2\nhosts = ['b', 'a']");
        assert_eq!(runs(&other), ["p1 b 0-1", "p2 b 0-1"]);
    }

    #[test]
    fn a_process_that_does_not_fit_keeps_nobody_waiting() {
        let all = process("first", 2, "slots = 1")
            + &process("wide", 1, "slots = 2")
            + &process("last", 1, "slots = 1");
        assert_eq!(runs(&all), ["first a 0-2", "last a 0-1", "wide a 2-3"]);
    }

    #[test]
    fn a_higher_priority_comes_first() {
        let all = process("holder", 1, "slots = 2\npriority = 9")
            + &process("low", 1, "slots = 2")
            + &process("high", 1, "slots = 2\npriority = 7\nstart = '500 ms'");
        assert_eq!(runs(&all), ["holder a 0-1", "high a 1-2", "low a 2-3"]);
    }

    #[test]
    fn those_that_become_ready_at_one_instant_are_one_list() {
        let all = process("x", 1, "slots = 1")
            + &process("y", 1, "slots = 1")
            + &process("early", 1, "slots = 2\nafter = ['x']")
            + &process("late", 1, "slots = 2\nafter = ['y']\npriority = 1");
        assert_eq!(runs(&all), ["x a 0-1", "y a 0-1", "late a 1-2", "early a 2-3"]);
    }

    #[test]
    fn the_wait_is_the_first_row() {
        let scenario = scenario(&process("p{n}", 2, "count = 2\nslots = 2"));
        let result = simulate(&scenario, "no-cache", Settings::default()).unwrap();
        let table = &result.operations;
        let rows: Vec<_> = (0..4)
            .map(|row| {
                (
                    table.process[row],
                    table.index[row],
                    table.operation[row],
                    table.start[row].as_seconds(),
                    table.end[row].as_seconds(),
                )
            })
            .collect();
        let wait = |process, end| (process, 0, "wait", 0.0, end);
        let compute = |process, start| (process, 1, "compute", start, start + 2.0);
        assert_eq!(rows, [wait(0, 0.0), compute(0, 0.0), wait(1, 2.0), compute(1, 2.0)]);
    }

    #[test]
    fn a_deadlock_names_the_cores() {
        let all = "[[process]]\nname = 'holder'\nslots = 2\ndo = [ { wait = 'go' } ]\n\
                   [[process]]\nname = 'giver'\nslots = 1\ndo = [ { signal = 'go' } ]\n";
        let refused = simulate(&scenario(all), "no-cache", Settings::default()).unwrap_err();
        assert_snapshot!(refused, @"x.toml: deadlock at the start: process `holder` waits for event `go`, which `giver` would signal; process `giver` waits for 1 core of host `a`, where 0 of 2 are free; let one of them go first");
    }
}
