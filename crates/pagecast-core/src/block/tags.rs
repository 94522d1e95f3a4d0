//! Counts the tags that requests need: those of the scheduler (`nr_requests`), or without a scheduler those of the disk.
//!
//! Source: `block/blk-mq-tag.c`, Linux 6.12. The single queue has `nr_requests` for reads and as many for writes (`block/blk-core.c:
//! get_request`, Linux 4.20).

use super::request::Request;
use crate::machine::Scheduler;

/// The tags of a disk; see the module.
#[derive(Debug)]
pub struct Tags {
    /// Those of a direction, and all.
    depth: u32,
    all: u32,
    /// Those that reads and writes have.
    used: [u32; 2],
}

impl Tags {
    /// Those of a scheduler, or of a disk of such a depth.
    pub fn new(scheduler: Scheduler, nr_requests: u32, depth: u32) -> Self {
        let is_single_queue =
            matches!(scheduler, Scheduler::Deadline | Scheduler::Anticipatory | Scheduler::Cfq);
        let depth = if scheduler == Scheduler::None { depth } else { nr_requests };
        Self { depth, all: if is_single_queue { 2 * depth } else { depth }, used: [0; 2] }
    }

    /// Those of a direction.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// True if there is one for a request whose direction may have so many.
    pub fn has(&self, request: &Request, most: u32) -> bool {
        self.used.iter().sum::<u32>() < self.all && self.used[request.direction as usize] < most
    }

    pub fn take(&mut self, request: &Request) {
        self.used[request.direction as usize] += 1;
    }

    pub fn give_back(&mut self, request: &Request) {
        self.used[request.direction as usize] -= 1;
    }
}
