//! Models what a local file system adds to moving bytes: commits of its journal, and freeing blocks.
//!
//! Source: `fs/ext4`, `fs/jbd2`, Linux 6.16. Left out: the place of a file's blocks on the disk.

pub mod commit;
pub mod journal;
pub mod written_back;

use std::sync::Arc;

use self::journal::Journal;
use self::written_back::WrittenBack;
use crate::policy::kernel::config::Config;
use crate::units::Nanos;

/// The file systems of a host.
pub struct Ext4 {
    pub(super) journal: Journal,
    pub(super) written_back: WrittenBack,
    pub(super) config: Arc<Config>,
}

impl Ext4 {
    /// Starts with files that were written in `prepared` before time 0, or long ago.
    pub fn new(config: &Arc<Config>, prepared: Option<Nanos>) -> Self {
        Self {
            journal: Journal::default(),
            written_back: WrittenBack::of(&config.host, prepared),
            config: config.clone(),
        }
    }
}
