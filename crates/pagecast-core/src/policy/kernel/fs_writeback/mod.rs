//! Decides when dirty inodes are written, and in which order.
//!
//! Source: `fs/fs-writeback.c`, Linux 6.16. The queue that takes their pages is in `block`.

pub mod flusher;
pub mod inode;
pub mod submission;
pub mod wake;

use std::sync::Arc;

use self::flusher::{Flusher, LEAST_UNIT};
use crate::policy::kernel::config::Config;
use crate::policy::kernel::discretisation::{FLUSHER_PART, MOST_FLUSHER_UNIT};
use crate::policy::kernel::tasks::ids::WbId;

/// The flusher of each `bdi_writeback`, made at its first write.
pub struct Flushers {
    each: Vec<Option<Flusher>>,
    /// The bytes that a flusher which is alone submits at once.
    unit: u64,
    pub(super) config: Arc<Config>,
}

impl Flushers {
    /// The flushers of a host with so much memory.
    pub fn new(config: &Arc<Config>, memory: u64) -> Self {
        let unit = (memory / FLUSHER_PART).clamp(LEAST_UNIT, MOST_FLUSHER_UNIT);
        Self { each: Vec::new(), unit, config: config.clone() }
    }

    /// The flusher of a wb, if it was ever written to.
    pub fn get(&self, at: usize) -> Option<&Flusher> {
        self.each.get(at)?.as_ref()
    }

    pub fn get_mut(&mut self, at: usize) -> Option<&mut Flusher> {
        self.each.get_mut(at)?.as_mut()
    }

    /// The flusher of a wb, made at first use.
    pub fn of(&mut self, wb: WbId) -> &mut Flusher {
        let at = wb.0 as usize;
        if self.each.len() <= at {
            self.each.resize_with(at + 1, || None);
        }
        self.each[at].get_or_insert_with(|| Flusher::new(self.unit))
    }

    /// All flushers.
    pub fn iter(&self) -> impl Iterator<Item = &Flusher> {
        self.each.iter().flatten()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Flusher> {
        self.each.iter_mut().flatten()
    }
}
