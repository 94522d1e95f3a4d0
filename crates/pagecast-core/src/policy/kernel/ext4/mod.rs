//! Models what a local file system adds to moving bytes: commits of its journal, and freeing blocks.
//!
//! Source: `fs/ext4`, `fs/jbd2`, Linux 6.16. Left out: the place of a file's blocks on the disk.

pub mod at_risk;
pub mod block_maps;
pub mod commit;
pub mod iget;
pub mod inodes;
pub mod journal;
pub mod log;
pub mod rules;
pub mod transaction;
pub mod written_back;

use std::sync::Arc;

use self::at_risk::Watched;
use self::inodes::Inodes;
use self::journal::Journal;
use self::rules::JournalRules;
use self::written_back::WrittenBack;
use crate::machine::MountCost;
use crate::policy::DeviceId;
use crate::policy::kernel::btrfs::Btrfs;
use crate::policy::kernel::config::Config;
use crate::run_queue::RunQueue;
use crate::units::Nanos;

/// The time for which a thread is not preempted by others like it (`kernel/sched/fair.c: sysctl_sched_base_slice`, Linux 6.12).
const SLICE: Nanos = Nanos(700_000);

/// The file systems of a host.
pub struct Ext4 {
    /// Those of disks; none where commits take no time.
    pub(super) journals: Vec<Option<Journal>>,
    /// The processors, for what file systems compute.
    pub(super) cpus: RunQueue,
    /// The devices to which journals have sent requests that are not submitted yet.
    pub(super) has_sent: Vec<DeviceId>,
    /// The flushes of each disk's cache so far.
    pub(super) flushes: Vec<u64>,
    pub(super) written_back: WrittenBack,
    /// The inodes and the blocks with names that are cached.
    pub inodes: Inodes,
    /// The bytes at risk on disks, if somebody asks for them.
    pub(super) watched: Option<Watched>,
    /// The trees of those that are btrfs.
    pub btrfs: Btrfs,
    pub(super) config: Arc<Config>,
}

impl Ext4 {
    /// Starts with files that were written in `prepared` before time 0, or long ago.
    pub fn new(config: &Arc<Config>, prepared: Option<Nanos>) -> Self {
        let rules = (0..config.host.disks.len()).map(|disk| JournalRules::of(&config.host, disk));
        Self {
            journals: rules.map(|rules| rules.map(Journal::new)).collect(),
            cpus: RunQueue::new(config.host.cores),
            has_sent: Vec::new(),
            flushes: vec![0; config.host.disks.len()],
            watched: None,
            inodes: Inodes::of(config),
            written_back: WrittenBack::of(&config.host, prepared),
            btrfs: Btrfs::of(&config.host),
            config: config.clone(),
        }
    }

    /// The journal of a device, if it has one.
    pub fn journal(&mut self, device: DeviceId) -> Option<&mut Journal> {
        self.journals.get_mut(device.0 as usize)?.as_mut()
    }

    /// Notes that a thread begins to copy for a time, at once: it has the processor already. Nothing where commits are no requests, and of
    /// copies that are longer than a slice, which share the processors as flows.
    pub fn copies(&mut self, now: Nanos, device: DeviceId, time: Nanos) {
        if time <= SLICE && self.requests(device).is_some() {
            let _ = self.cpus.run(now, time);
        }
    }

    /// True if changes of names take time, or change a journal.
    pub fn minds_names(&self) -> bool {
        let takes_time = |cost: &MountCost| [cost.create, cost.rename, cost.unlink] != [Nanos::ZERO; 3];
        let has_requests = |journal: &Journal| journal.rules.requests.is_some();
        self.config.host.mounts.iter().any(|mount| takes_time(&mount.cost))
            || self.journals.iter().flatten().any(has_requests)
    }

    /// The time at which the next commit begins by itself.
    pub fn next_commit(&self) -> Option<Nanos> {
        self.journals.iter().flatten().filter_map(Journal::next_commit).min()
    }
}
