//! Holds all that is constant while a kernel runs: its host, the rules of its version, its settings, copy costs.

use crate::flow::Path;
use crate::machine::{Disk, Host, Mount, MountCost, MountSource, NfsOptions};
use crate::policy::kernel::tasks::cost::{Prices, Run};
use crate::policy::kernel::tasks::ids::{MemcgId, WbId};
use crate::policy::kernel::tasks::task::Task;
use crate::policy::kernel::tick::Hz;
use crate::policy::kernel::timers::Timers;
use crate::policy::kernel::version::Rules;
use crate::policy::{DeviceId, FileView, OperationId, Setting};
use crate::units::{Bytes, Nanos};

/// The configuration of a kernel, shared by all owners of state.
#[derive(Clone, Debug)]
pub struct Config {
    pub host: Host,
    pub rules: Rules,
    pub prices: Prices,
    /// The resources that a copy out of the page cache crosses, and a copy into it.
    pub memory_read: Path,
    pub memory_write: Path,
    /// The longest folio that a write to each device fills, in pages.
    largest_folios: Vec<u64>,
    /// The disk of the journal of each disk's file system, and the path of a write to it, if that is another one.
    journals: Vec<Option<(DeviceId, Path)>>,
    /// True if there is a tmpfs.
    pub has_tmpfs: bool,
    /// Of all that is drawn.
    pub seed: u64,
}

impl Config {
    pub fn new(setting: &Setting<'_>) -> Self {
        let mut host = setting.host.clone();
        let per_thread = host.memory.per_thread;
        host.memory.cost.copy_read = host.memory.cost.copy_read.or(per_thread);
        host.memory.cost.copy_write = host.memory.cost.copy_write.or(per_thread);
        for disk in &mut host.disks {
            let round_trip = disk.san.map_or(Nanos::ZERO, |san| san.round_trip);
            disk.latency += round_trip;
            disk.write_latency += round_trip;
            disk.flush += if disk.flush > Nanos::ZERO { round_trip } else { Nanos::ZERO };
        }
        let rules = Rules::of(host.kernel.version);
        let largest = |disk| {
            let on_disk = host.mounts.iter().filter(|mount| mount.source == MountSource::Disk(disk));
            let of =
                |mount: &Mount| mount.file_system.largest_folio(host.kernel.version, rules.largest_folio);
            on_disk.map(of).max().unwrap_or(rules.largest_folio)
        };
        let of_mount = |mount: &Mount| match mount.source {
            MountSource::Nfs { .. } => rules.nfs_largest_folio,
            _ => rules.largest_folio,
        };
        let on_mounts = host.mounts.iter().map(of_mount);
        Self {
            journals: (0..host.disks.len()).map(|disk| journal_of(&host, disk, &setting.journals)).collect(),
            largest_folios: (0..host.disks.len()).map(largest).chain(on_mounts).collect(),
            rules,
            prices: Prices::of(&host.memory.cost, host.memory.l2),
            memory_read: setting.memory_read,
            memory_write: setting.memory_write,
            seed: setting.seed,
            has_tmpfs: host.mounts.iter().any(|mount| mount.source == MountSource::Tmpfs),
            host,
        }
    }

    /// The number of disks and network mounts.
    pub fn devices(&self) -> usize {
        self.host.disks.len() + self.host.mounts.len()
    }

    /// The options of a mount, if it is one of another host's directory.
    pub fn nfs_options(&self, mount: usize) -> Option<NfsOptions> {
        let mount = &self.host.mounts[mount];
        matches!(mount.source, MountSource::Nfs { .. }).then(|| mount.options.unwrap_or_default())
    }

    /// The options of the mount of a file, if that is another host's.
    pub fn nfs_options_of(&self, file: &FileView) -> Option<NfsOptions> {
        let mount = (file.device.0 as usize).checked_sub(self.host.disks.len())?;
        self.nfs_options(mount)
    }

    /// The disk of a file; none if the file is on another host.
    pub fn disk_of(&self, file: &FileView) -> Option<&Disk> {
        self.host.disks.get(file.device.0 as usize)
    }

    /// The log of the journal of a file's file system, as a file on its disk.
    pub fn log_of(&self, file: &FileView) -> FileView {
        match self.journals.get(file.device.0 as usize) {
            Some(&Some((device, write))) => FileView { device, write, ..*file },
            _ => *file,
        }
    }

    /// The disk of the journal of a disk's file system.
    pub fn journal_device(&self, device: DeviceId) -> DeviceId {
        self.log_of(&FileView { device, ..FileView::default() }).device
    }

    /// The longest folio that a write to a file fills, in pages.
    pub fn largest_folio(&self, file: &FileView) -> u64 {
        self.largest_folios.get(file.device.0 as usize).copied().unwrap_or(self.rules.largest_folio)
    }

    /// The times of the file system of a file.
    pub fn cost_of(&self, file: &FileView) -> MountCost {
        let cost = self.host.mounts.get(file.mount as usize).map(|mount| mount.cost).unwrap_or_default();
        if file.is_timed { without_names(cost) } else { cost }
    }

    /// A tick of the clock, the precision of file times.
    pub fn tick(&self) -> Nanos {
        Nanos(1_000_000_000 / u64::from(self.host.kernel.hz))
    }

    /// True if opening files takes time.
    pub fn minds_opens(&self) -> bool {
        let minds = |mount: &Mount| {
            let is_remote = matches!(mount.source, MountSource::Nfs { .. });
            is_remote || mount.cost.open > Nanos::ZERO || mount.cost.iget > Nanos::ZERO
        };
        self.host.mounts.iter().any(minds)
    }

    /// The kernel's timers.
    pub fn timers(&self) -> Timers {
        Timers { hz: Hz(self.host.kernel.hz.into()), has_wheel: self.rules.has_timer_wheel }
    }

    /// True if a file is on a tmpfs.
    pub fn is_tmpfs(&self, file: &FileView) -> bool {
        let mount = (file.device.0 as usize).checked_sub(self.host.disks.len());
        mount.is_some_and(|mount| self.host.mounts[mount].source == MountSource::Tmpfs)
    }

    /// True if a device is a disk of this host.
    pub fn is_local(&self, device: DeviceId) -> bool {
        (device.0 as usize) < self.host.disks.len()
    }

    pub fn path(&self, task: &Task) -> Path {
        match task.run {
            Run::Hit => self.memory_read,
            Run::Miss if task.reads_ahead() => task.file().read,
            Run::Miss | Run::Pass => task.file().read_and_copy,
            Run::Through => task.file().write,
            Run::Direct if task.writes_past() => task.file().write,
            Run::Direct => task.file().read,
            _ => self.memory_write,
        }
    }

    /// The device that a wb writes to.
    pub fn device_of(&self, wb: WbId) -> DeviceId {
        DeviceId(wb.0 % self.devices() as u32)
    }

    /// True if removing so many bytes of pages takes time. If another host has truncated the file, nobody here waits.
    pub fn is_paid_for(&self, operation: OperationId, removed: Bytes) -> bool {
        operation != OperationId::NOBODY
            && removed > Bytes::ZERO
            && self.host.memory.cost.page_remove > Nanos::ZERO
    }

    /// True if a task waits for pages under writeback before it writes to them (`mm/page-writeback.c: folio_wait_stable`).
    pub fn has_stable_pages(&self, task: &Task) -> bool {
        self.host.disks.get(task.file().device.0 as usize).is_some_and(|disk| disk.bdi.stable_writes)
    }

    /// The cgroup of a wb; none for the root's.
    pub fn memcg_of_wb(&self, at: usize) -> Option<usize> {
        match self.host.cgroups.is_empty() {
            true => None,
            false => MemcgId((at / self.devices()) as u16).index(),
        }
    }

    /// The wbs of a cgroup.
    pub fn wbs_of(&self, memcg: usize) -> impl Iterator<Item = WbId> + use<> {
        let devices = self.devices();
        (0..devices).map(move |device| WbId(((memcg + 1) * devices + device) as u32))
    }
}

/// The costs of a mount but for calls on names.
fn without_names(cost: MountCost) -> MountCost {
    const NO: Nanos = Nanos::ZERO;
    MountCost { open: NO, iget: NO, create: NO, rename: NO, unlink: NO, name_scan: NO, ..cost }
}

/// The disk of the journal of a disk's file system, if that is another one, and the path of a write to it.
fn journal_of(host: &Host, disk: usize, journals: &[Option<Path>]) -> Option<(DeviceId, Path)> {
    let has_journal = |mount: &Mount| mount.source == MountSource::Disk(disk) && mount.journal.is_some();
    let at = host.mounts.iter().position(has_journal)?;
    let device = DeviceId(host.mounts[at].journal_device? as u32);
    Some((device, (*journals.get(at)?)?))
}
