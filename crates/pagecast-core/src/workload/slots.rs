//! Describes processes that hold cores for themselves and wait for them: tasks under a list scheduler.

use std::sync::Arc;

/// Cores that a process holds from its start to its end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slots {
    /// How many, at least 1.
    pub cores: u32,
    /// Of processes that wait at the same time, those with more come first; among equals, the one that was ready first.
    pub priority: u32,
    /// Indices of the hosts that it may run on, at least one: it starts on the first of them that has so many cores free.
    pub hosts: Arc<[usize]>,
}

/// Cores that a process of a [`Workload`](super::Workload) holds, as [`Slots`]. Hosts are chosen when the machine is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorkloadSlots {
    /// How many, at least 1.
    pub cores: u32,
    /// As that of [`Slots`].
    pub priority: u32,
    /// The index of the machine that it was recorded on, if it is to run there again.
    pub machine: Option<usize>,
}
