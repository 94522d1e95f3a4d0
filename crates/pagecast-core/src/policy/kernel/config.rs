//! What does not change while a kernel runs: its host, the rules of its version, its settings, what a copy costs.

use crate::flow::Path;
use crate::machine::Disk;
use crate::machine::Host;
use crate::policy::DeviceId;
use crate::policy::FileView;
use crate::policy::Setting;
use crate::policy::kernel::task::cost::Prices;
use crate::policy::kernel::tick::Hz;
use crate::policy::kernel::timers::Timers;
use crate::policy::kernel::version::Rules;
use crate::units::Nanos;

/// See the module. Owners share one.
#[derive(Clone, Debug)]
pub struct Config {
    pub host: Host,
    pub rules: Rules,
    pub prices: Prices,
    /// The resources that a copy out of the page cache crosses, and a copy into it.
    pub memory_read: Path,
    pub memory_write: Path,
}

impl Config {
    pub fn new(setting: &Setting<'_>) -> Self {
        let mut host = setting.host.clone();
        let per_thread = host.memory.per_thread;
        host.memory.cost.copy_read = host.memory.cost.copy_read.or(per_thread);
        host.memory.cost.copy_write = host.memory.cost.copy_write.or(per_thread);
        Self {
            rules: Rules::of(host.kernel.version),
            prices: Prices::of(&host.memory.cost),
            memory_read: setting.memory_read,
            memory_write: setting.memory_write,
            host,
        }
    }

    /// The number of disks and network mounts.
    pub fn devices(&self) -> usize {
        self.host.disks.len() + self.host.mounts.len()
    }

    /// The disk of a file; none if the file is on another host.
    pub fn disk_of(&self, file: &FileView) -> Option<&Disk> {
        self.host.disks.get(file.device.0 as usize)
    }

    /// A tick of the clock, by which files have their times.
    pub fn tick(&self) -> Nanos {
        Nanos(1_000_000_000 / u64::from(self.host.kernel.hz))
    }

    /// How its timers fire.
    pub fn timers(&self) -> Timers {
        Timers { hz: Hz(self.host.kernel.hz.into()), has_wheel: self.rules.has_timer_wheel }
    }

    /// Whether a device is a disk of this host.
    pub fn is_local(&self, device: DeviceId) -> bool {
        (device.0 as usize) < self.host.disks.len()
    }
}
