//! Keeps blocks in three queues by age. All changes are at the ends of a queue or beside a known block, so none is searched for.
//!
//! A block is as old as the write it comes from; blocks of one write are in the order of their places. New blocks are the youngest. Always
//! the oldest active block becomes inactive. Those that did are in order, too, in a queue of their own.

use super::{Block, State};

/// A block's index, which stays as long as the block.
pub(super) type Index = u32;

/// No block.
const NONE: Index = Index::MAX;

#[derive(Clone, Debug)]
struct Node {
    block: Block,
    older: Index,
    younger: Index,
}

/// The ends of a queue, and its bytes.
#[derive(Clone, Copy, Debug)]
struct Queue {
    oldest: Index,
    youngest: Index,
    bytes: u64,
}

/// The memory of a host by node.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    nodes: Vec<Node>,
    /// Nodes without a block.
    free: Vec<Index>,
    queues: [Queue; 3],
}

impl Default for Queues {
    fn default() -> Self {
        let queue = Queue { oldest: NONE, youngest: NONE, bytes: 0 };
        Self { nodes: Vec::new(), free: Vec::new(), queues: [queue; 3] }
    }
}

impl Queues {
    /// The bytes of blocks in this state.
    pub(super) fn bytes(&self, state: State) -> u64 {
        self.queues[state as usize].bytes
    }

    /// The oldest block in one of these states.
    pub(super) fn oldest(&self, states: &[State]) -> Option<Index> {
        let oldest = states.iter().map(|&state| self.queues[state as usize].oldest);
        oldest.filter(|&at| at != NONE).min_by_key(|&at| (self.block(at).number, self.block(at).start))
    }

    pub(super) fn block(&self, at: Index) -> &Block {
        &self.nodes[at as usize].block
    }

    /// Adds a new block, the youngest in its state.
    pub(super) fn push(&mut self, block: Block) -> Index {
        let at = self.store(block);
        self.link(at, self.queues[block.state as usize].youngest);
        at
    }

    /// Makes the oldest block in a state the youngest in another.
    pub(super) fn move_oldest(&mut self, from: State, to: State) {
        let at = self.queues[from as usize].oldest;
        self.unlink(at);
        self.nodes[at as usize].block.state = to;
        self.link(at, self.queues[to as usize].youngest);
    }

    /// Removes a block.
    pub(super) fn remove(&mut self, at: Index) {
        self.unlink(at);
        self.free.push(at);
    }

    /// Gives a block another first byte and end, within the old ones.
    pub(super) fn shrink(&mut self, at: Index, start: u64, end: u64) {
        let block = &mut self.nodes[at as usize].block;
        let gone = block.bytes() - (end - start);
        (block.start, block.end) = (start, end);
        self.queues[block.state as usize].bytes -= gone;
    }

    /// Takes the bytes from `start` to `end` out of the middle of a block. Returns the new block behind them.
    pub(super) fn split(&mut self, at: Index, start: u64, end: u64) -> Index {
        let block = *self.block(at);
        self.shrink(at, block.start, start);
        let rest = self.store(Block { start: end, ..block });
        self.link(rest, at);
        rest
    }

    fn store(&mut self, block: Block) -> Index {
        let node = Node { block, older: NONE, younger: NONE };
        if let Some(at) = self.free.pop() {
            self.nodes[at as usize] = node;
            return at;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as Index
    }

    /// Puts a block into the queue of its state, behind the next older one.
    fn link(&mut self, at: Index, older: Index) {
        let Block { state, .. } = *self.block(at);
        let bytes = self.block(at).bytes();
        let queue = &mut self.queues[state as usize];
        queue.bytes += bytes;
        let younger = match older {
            NONE => std::mem::replace(&mut queue.oldest, at),
            older => std::mem::replace(&mut self.nodes[older as usize].younger, at),
        };
        match younger {
            NONE => queue.youngest = at,
            younger => self.nodes[younger as usize].older = at,
        }
        let node = &mut self.nodes[at as usize];
        (node.older, node.younger) = (older, younger);
    }

    fn unlink(&mut self, at: Index) {
        let Node { block, older, younger } = self.nodes[at as usize].clone();
        let queue = &mut self.queues[block.state as usize];
        queue.bytes -= block.bytes();
        match older {
            NONE => queue.oldest = younger,
            older => self.nodes[older as usize].younger = younger,
        }
        match younger {
            NONE => queue.youngest = older,
            younger => self.nodes[younger as usize].older = older,
        }
    }
}
