//! Describes hardware and kernel settings: hosts, memory, disks, mounts and links.
//!
//! Plain data without behaviour; `device` and `net` turn it into resources that flows share. A field with `#[key]` is a key of a machine
//! file: `keys` makes its reading, printing, checks and reference of that.

mod cawl;
mod disk;
mod disk_kind;
mod disk_raid;
mod disk_rotation;
mod disk_service;
mod io;
mod journal;
mod kernel;
mod link;
mod memory;
mod mount;
mod nfs;
mod scale;
mod striped;
mod topology;
mod transport;
mod uncertainty;

use crate::units::Bytes;

pub use cawl::CawlParameters;
pub use disk::{Bdi, Disk, Scheduler, WriteCache};
pub use disk_kind::{DiskKind, Implied, READ_AHEAD_KB, WBT_SINCE};
pub use disk_raid::{Level, Raid};
pub use disk_rotation::Rotation;
pub use disk_service::{Iops, Quantiles, San};
pub use io::{IoCost, IoMax};
pub use journal::{DataMode, Journal};
pub use kernel::{Kernel, Lru, VmSettings, version_name};
pub use link::{Link, LinkParameters, LinkSharing, Route, Switch};
pub use memory::{CopyCost, Memory, Sharing};
pub use mount::{FileSystem, Mount, MountCost, MountSource, WriteMode};
pub use nfs::{Export, NfsOptions, NfsVersion, Nfsd};
pub use scale::NotScaled;
pub use striped::{Layout, Protocol, StripeServer, Striped};
pub use topology::{NetworkLevel, Shape, TOPOLOGIES, Topology};
pub use transport::Transport;
pub use uncertainty::Uncertain;

/// The name of the only host.
pub const ONLY_HOST: &str = "machine";

/// All hosts of a scenario and the network between them. A scenario with one `[machine]` has one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// At least one; the first is where processes run that name no host.
    pub hosts: Vec<Host>,
    /// Switches by hand.
    pub switches: Vec<Switch>,
    /// Connections between hosts and switches.
    pub links: Vec<Link>,
    /// Ways by hand.
    pub routes: Vec<Route>,
    /// The network of one shape, or how messages move over ways by hand.
    pub network: Option<Topology>,
}

impl Machine {
    /// The shape of its network, if it has one.
    #[must_use]
    pub(crate) fn shape(&self) -> Option<&Shape> {
        self.network.as_ref()?.shape.as_ref()
    }

    /// The buffers of devices, if messages move segment by segment.
    #[must_use]
    pub(crate) fn device_buffer(&self) -> Option<Bytes> {
        let network = self.network.as_ref().filter(|network| network.level == NetworkLevel::Segment)?;
        Some(network.device_buffer)
    }

    /// True if hosts may be connected by more than links between two of them: by switches, a network of one shape or routes by hand.
    pub(crate) fn has_switches(&self) -> bool {
        self.shape().is_some() || !self.switches.is_empty() || !self.routes.is_empty()
    }
}

/// One computer.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// "machine" if the scenario has just one.
    pub name: String,
    /// Number of processors that `compute` runs on, and copies of the policy `kernel`.
    pub cores: u32,
    /// Main memory.
    pub memory: Memory,
    /// The kernel's `vm.*` settings.
    pub vm: VmSettings,
    /// Which kernel it runs.
    pub kernel: Kernel,
    /// Memory cgroups; processes refer to them by index.
    pub cgroups: Vec<Cgroup>,
    /// Disks; mounts refer to them by index.
    pub disks: Vec<Disk>,
    /// Its network interface, if that has a limit of its own.
    pub nic: Option<LinkParameters>,
    /// Its place in the network of one shape, if it has one there.
    pub place: Option<u32>,
    /// Mount points, none of them twice.
    pub mounts: Vec<Mount>,
    /// Its NFS server.
    pub nfsd: Nfsd,
    /// What the model CAWL was calibrated to here.
    pub cawl: CawlParameters,
    /// Values that are known to a range only. No forecast but one with a range looks at them.
    pub uncertainty: Vec<Uncertain>,
}

impl Host {
    /// The number of the device under a mount: that of a disk, or one of its own behind all disks.
    #[must_use]
    pub fn device_of(&self, mount: usize) -> usize {
        match self.mounts[mount].source {
            MountSource::Disk(disk) => disk,
            MountSource::Nfs { .. } | MountSource::Striped(_) | MountSource::Tmpfs => {
                self.disks.len() + mount
            }
        }
    }

    /// The name and the room of a device that keeps files: a disk, or a tmpfs by the path of its mount.
    #[must_use]
    pub fn room_of(&self, device: usize) -> (&str, Bytes) {
        match device.checked_sub(self.disks.len()) {
            None => (&self.disks[device].name, self.disks[device].size),
            Some(mount) => {
                let mount = &self.mounts[mount];
                (&mount.path, mount.size.unwrap_or(Bytes(self.memory.size.0 / 2)))
            }
        }
    }
}

/// A cgroup: processes whose memory has a limit of its own, and their I/O limits or a weight. None is inside another.
#[derive(Clone, Debug, PartialEq)]
pub struct Cgroup {
    /// The key of its table.
    pub name: String,
    /// How much page cache and anonymous memory its processes may have.
    pub limit: MemoryLimit,
    /// `io.max`: indices of disks, and what its processes may move on each in a second.
    pub io_max: Vec<(usize, IoMax)>,
    /// `io.weight`: its part of disks with `iocost`.
    pub io_weight: u32,
}

impl Cgroup {
    /// `CGROUP_WEIGHT_DFL`: the weight of a cgroup that is given none.
    pub const IO_WEIGHT: u32 = 100;

    /// A cgroup with a limit of its memory alone.
    #[must_use]
    pub fn with_memory(name: String, limit: MemoryLimit) -> Self {
        Self { name, limit, io_max: Vec::new(), io_weight: Self::IO_WEIGHT }
    }

    /// Its limits on a disk, if it has some there.
    #[must_use]
    pub fn io_max_of(&self, disk: usize) -> Option<&IoMax> {
        self.io_max.iter().find(|(at, _)| *at == disk).map(|(_, limits)| limits)
    }
}

/// The limit of a memory cgroup, by the file in which it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLimit {
    /// `memory.max` of cgroup v2, whose groups have dirty limits of their own.
    Max(Bytes),
    /// `memory.high` of cgroup v2: what is beyond is taken back as with `memory.max`, and anonymous memory beyond is refused.
    High(Bytes),
    /// `memory.limit_in_bytes` of cgroup v1, whose groups do not.
    LimitInBytes(Bytes),
}

impl MemoryLimit {
    /// The number of bytes.
    #[must_use]
    pub fn bytes(self) -> Bytes {
        match self {
            Self::Max(bytes) | Self::High(bytes) | Self::LimitInBytes(bytes) => bytes,
        }
    }

    /// The name of the file in which it is set.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Max(_) => "memory.max",
            Self::High(_) => "memory.high",
            Self::LimitInBytes(_) => "memory.limit_in_bytes",
        }
    }
}
