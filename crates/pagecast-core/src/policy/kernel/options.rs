//! Reads the options of `[model.kernel]`: the history of the kernel before time 0.

use crate::error::ScenarioError;
use crate::machine::{Host, MountSource};
use crate::nearest::hint;
use crate::policy::Options;
use crate::policy::kernel::page::PAGE;
use crate::policy::kernel::page_alloc::reporting::{Backed, Fragments, fragments_of};
use crate::policy::kernel::page_alloc::watermarks::Memory;
use crate::policy::kernel::page_writeback::law::{
    Bandwidth, BaseRate, Fractions, INIT_BANDWIDTH, Thresholds,
};
use crate::policy::kernel::page_writeback::write_back::{Learnt, dirty_settings};
use crate::policy::kernel::version::Rules;
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// The completions of a device that has been writing for long, just after everything was halved: those of one period of 3 s
/// (`law::Fractions`), in seconds.
const COMPLETED: u64 = 3;

/// The history of a kernel before time 0; that of a kernel which has just booted, unless a scenario says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelOptions {
    /// `dirty_ratelimit` of each device, pages per second.
    dirty_ratelimit: u64,
    /// `avg_write_bandwidth` of each device, pages per second.
    write_bandwidth: u64,
    /// `dirty_limit`: the initial hard limit of all memory, in pages.
    dirty_limit: Option<u64>,
    /// The pages completed by each device of the host, and by devices that are not there.
    completed: Vec<(usize, u64)>,
    completed_elsewhere: u64,
    /// Free memory that the host of the machine has not taken back, in bytes.
    backed: u64,
    fragments: Fragments,
    /// The time just before 0 over which the files of time 0 were written.
    prepared: Option<Nanos>,
}

impl KernelOptions {
    /// Reads the options of `[model.kernel]`, for one host.
    ///
    /// # Errors
    /// An unknown option, a value that is no rate, size or percentage, or a device that the host does not have.
    pub fn read(options: &Options<'_>, host: &Host) -> Result<Self, ScenarioError> {
        options.only(&[
            "dirty_ratelimit",
            "write_bandwidth",
            "dirty_limit",
            "writeout_fraction",
            "completions",
            "backed",
            "free_blocks",
            "prepared",
        ])?;
        let rate = |key| {
            let rate = options.quantity(key, BytesPerSecond::parse, |rate| rate.0 >= PAGE as f64)?;
            Ok::<_, ScenarioError>(rate.map_or(INIT_BANDWIDTH, |rate| (rate.0 / PAGE as f64) as u64))
        };
        let write_bandwidth = rate("write_bandwidth")?;
        let dirty_limit = options.quantity("dirty_limit", Bytes::parse, |limit| limit.0 >= PAGE)?;
        let completions = options.quantity("completions", Bytes::parse, |bytes| bytes.0 >= PAGE)?;
        let pages = completions.map_or(COMPLETED * write_bandwidth, |bytes| bytes.0 / PAGE);
        let free_blocks =
            options.counts("free_blocks", "as /proc/buddyinfo tells of each order, \"48011 35322 23474\"")?;
        let completed = |(device, share): (usize, f64)| (device, (share * pages as f64).round() as u64);
        let completed: Vec<(usize, u64)> = shares(options, host)?.into_iter().map(completed).collect();
        let here: u64 = completed.iter().map(|&(_, pages)| pages).sum();
        Ok(Self {
            dirty_ratelimit: rate("dirty_ratelimit")?,
            write_bandwidth,
            dirty_limit: dirty_limit.map(|limit| limit.0 / PAGE),
            backed: options.quantity("backed", Bytes::parse, |_| true)?.map_or(0, |bytes| bytes.0),
            fragments: fragments_of(free_blocks.unwrap_or_default().into_iter().map(u64::from)),
            prepared: options.quantity("prepared", Nanos::parse, |time| time > Nanos::ZERO)?,
            completed_elsewhere: if completed.is_empty() { 0 } else { pages.saturating_sub(here) },
            completed,
        })
    }

    /// Returns how much of so much free memory the host of the machine has not taken back.
    pub fn backed(&self, free: u64) -> Backed {
        Backed::new(self.backed, self.fragments, free)
    }

    /// The time just before 0 over which the files of time 0 were written; nothing: long ago.
    pub fn prepared(&self) -> Option<Nanos> {
        self.prepared
    }

    /// Returns the completions of so many devices, on a host with so many processors.
    pub fn fractions(&self, devices: usize, cores: u32) -> Fractions {
        let mut fractions = Fractions::new(devices, cores);
        for &(device, pages) in &self.completed {
            fractions.wb_domain_writeout_add(Nanos::ZERO, device, pages);
        }
        fractions.add_elsewhere(Nanos::ZERO, self.completed_elsewhere);
        fractions
    }

    fn base_rate(&self) -> BaseRate {
        BaseRate::with(self.dirty_ratelimit)
    }

    fn bandwidth(&self) -> Bandwidth {
        Bandwidth::with(self.write_bandwidth)
    }

    /// Returns the initial estimates and limits.
    pub fn learnt(&self, host: &Host) -> Learnt {
        let devices = host.disks.len() + host.mounts.len();
        Learnt {
            estimates: (self.base_rate(), self.bandwidth()),
            fractions: self.fractions(devices * (host.cgroups.len() + 1), host.cores),
            hard_limit: self.dirty_limit,
        }
    }
}

/// `writeout_fraction` of the devices of a host. A device of another host is written "HOST:DEVICE".
fn shares(options: &Options<'_>, host: &Host) -> Result<Vec<(usize, f64)>, ScenarioError> {
    const KEY: &str = "writeout_fraction";
    let remote = |source: &MountSource| matches!(source, MountSource::Nfs { .. });
    let mounts = host.mounts.iter().map(|mount| if remote(&mount.source) { &*mount.path } else { "" });
    let names: Vec<&str> = host.disks.iter().map(|disk| &*disk.name).chain(mounts).collect();
    let mut found = Vec::new();
    for (name, share) in options.shares(KEY)?.unwrap_or_default() {
        let here = match name.split_once(':') {
            Some((other, _)) if other != host.name => continue,
            Some((_, device)) => device,
            None => name,
        };
        let Some(device) = names.iter().position(|known| !known.is_empty() && *known == here) else {
            let known = names.iter().copied().filter(|name| !name.is_empty());
            let what = format!("host `{}` has no device `{here}`", host.name);
            return Err(options.wrong(KEY, what, &hint(here, known, "devices of it")));
        };
        found.push((device, share));
    }
    Ok(found)
}

/// Returns the dirty limits of a host whose memory is all free.
pub(in crate::policy) fn limits_at_boot(host: &Host) -> Thresholds {
    let settings = dirty_settings(&host.vm, Rules::of(host.kernel.version).rounding);
    Thresholds::of(&settings, Memory::of(host).dirtyable(0, 0) / PAGE)
}

#[cfg(test)]
mod tests {
    use crate::policy::kernel::page_writeback::law::Fraction;
    use crate::policy::kernel::tests::options;

    #[test]
    fn a_new_kernel_has_written_nothing_and_expects_100_mib_per_s() {
        let new = options(&[]);
        assert_eq!((new.bandwidth().average, new.base_rate().rate), (25_600, 25_600));
        assert_eq!(new.fractions(2, 4).fraction(0), Fraction { numerator: 0, denominator: 1 });
    }

    #[test]
    fn devices_have_completed_3_s_of_writing_in_their_shares() {
        let set = [("write_bandwidth", "40.96 MB/s"), ("writeout_fraction", "ssd 75 %, hdd 25 %")];
        let before = options(&set);
        assert_eq!((before.bandwidth().average, before.base_rate().rate), (10_000, 25_600));
        // 30,000 pages, and the one that is always there.
        let fractions = before.fractions(2, 4);
        let fraction = |numerator| Fraction { numerator, denominator: 30_001 };
        assert_eq!([0, 1].map(|device| fractions.fraction(device)), [22_500, 7_500].map(fraction));
    }

    #[test]
    fn completions_say_how_much_they_have_completed() {
        let shares =
            |shares| options(&[("completions", "4.096 MB"), ("writeout_fraction", shares)]).completed;
        assert_eq!(shares("ssd 75 %, hdd 25 %"), [(0, 750), (1, 250)]);
        assert_eq!(shares("machine:hdd 25 %, other:ssd 75 %"), [(1, 250)], "this host is `machine`");
    }
}
