//! Places each process and its anonymous memory on a node.
//!
//! Source: `kernel/sched/fair.c`, Linux 6.16. The scheduler is one rule here: a process starts on the node with the fewest, and stays.

use rustc_hash::FxHashMap;

use crate::policy::OperationId;

#[derive(Debug)]
struct Process {
    node: usize,
    /// Its anonymous memory by node, in bytes; empty before it has any.
    anonymous: Vec<u64>,
}

impl Process {
    fn of_node(&self, node: usize) -> u64 {
        self.anonymous.get(node).copied().unwrap_or(0)
    }
}

/// The places of all processes of a host.
#[derive(Debug)]
pub struct Placement {
    processes: FxHashMap<OperationId, Process>,
    /// The part of each process's last new pages that went to other nodes: 0 to 1.
    written_far: FxHashMap<OperationId, f64>,
    /// The number of processes on each node.
    running: Vec<u32>,
}

impl Placement {
    pub fn new(nodes: usize) -> Self {
        Self { processes: FxHashMap::default(), written_far: FxHashMap::default(), running: vec![0; nodes] }
    }

    /// Returns the node of a process, which it gets when it is first seen.
    pub fn home(&mut self, process: OperationId) -> usize {
        let Self { processes, running, .. } = self;
        let process = processes.entry(process).or_insert_with(|| {
            let node = (0..running.len()).min_by_key(|&node| running[node]).unwrap_or(0);
            running[node] += 1;
            Process { node, anonymous: Vec::new() }
        });
        process.node
    }

    /// Returns the node of a process that has one.
    pub fn node(&self, process: OperationId) -> usize {
        if self.running.len() == 1 {
            return 0;
        }
        self.processes.get(&process).map_or(0, |process| process.node)
    }

    /// The part of a process's memory that is on nodes other than its own.
    pub fn far_share(&self, process: OperationId) -> f64 {
        let Some(process) = self.processes.get(&process) else { return 0.0 };
        let all: u64 = process.anonymous.iter().sum();
        if all == 0 { 0.0 } else { (all - process.of_node(process.node)) as f64 / all as f64 }
    }

    /// The anonymous memory of all processes, by node.
    pub fn held(&self, nodes: usize) -> Vec<u64> {
        (0..nodes).map(|node| self.processes.values().map(|process| process.of_node(node)).sum()).collect()
    }

    /// The anonymous memory of some processes, on all nodes.
    pub fn held_of(&self, is_meant: impl Fn(OperationId) -> bool) -> u64 {
        let processes = self.processes.iter().filter(|&(&process, _)| is_meant(process));
        processes.flat_map(|(_, process)| &process.anonymous).sum()
    }

    /// The part of a process's last new pages that went to other nodes, if it has written any.
    pub fn written_far(&self, process: OperationId) -> Option<f64> {
        self.written_far.get(&process).copied()
    }

    /// Notes the new pages that a process has written, and how many of them are on other nodes.
    pub fn has_written(&mut self, process: OperationId, new: u64, far: u64) {
        if new > 0 && self.running.len() > 1 {
            self.written_far.insert(process, far as f64 / new as f64);
        }
    }

    pub fn take(&mut self, process: OperationId, node: usize, bytes: u64) {
        let nodes = self.running.len();
        if let Some(process) = self.processes.get_mut(&process) {
            process.anonymous.resize(nodes, 0);
            process.anonymous[node] += bytes;
        }
    }

    /// Frees memory of a process: returns how much on each node.
    pub fn give_back(&mut self, process: OperationId, bytes: u64) -> Vec<u64> {
        let mut left = bytes;
        let Some(held) = self.processes.get_mut(&process) else { return Vec::new() };
        let given = held.anonymous.iter_mut().map(|held| {
            let given = left.min(*held);
            left -= given;
            *held -= given;
            given
        });
        let given = given.collect();
        self.leave(process);
        given
    }

    /// Forgets a process that holds no memory and may have ended.
    pub fn leave(&mut self, process: OperationId) {
        if let Some(held) = self.processes.get(&process)
            && held.anonymous.iter().all(|&bytes| bytes == 0)
        {
            self.running[held.node] -= 1;
            self.processes.remove(&process);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_its_memory_that_is_far_is_that_on_other_nodes() {
        let (process, other) = (OperationId(1), OperationId(2));
        let mut placement = Placement::new(2);
        assert_eq!([process, other].map(|process| placement.home(process)), [0, 1]);
        assert_eq!(placement.far_share(process), 0.0);
        placement.take(process, 0, 300);
        placement.take(process, 1, 100);
        assert_eq!(placement.far_share(process), 0.25);
        placement.take(other, 0, 7);
        assert_eq!((placement.far_share(other), placement.held(2)), (1.0, vec![307, 100]));
        assert_eq!(placement.give_back(process, 350), [300, 50]);
        assert_eq!(placement.far_share(process), 1.0);
    }

    #[test]
    fn the_last_write_tells_how_much_goes_to_other_nodes() {
        let process = OperationId(1);
        let mut placement = Placement::new(2);
        placement.has_written(process, 400, 100);
        placement.has_written(process, 0, 0);
        assert_eq!(placement.written_far(process), Some(0.25), "nothing was new since");
    }
}
