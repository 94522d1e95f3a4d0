//! Reads the parameters of CAWL: from the scenario, else from the machine, else derived from the rest of the machine.

use crate::cawl::{DirectCost, PageCache, ParameterError, SyncCost, Throttling, Unit};
use crate::error::ScenarioError;
use crate::machine::{Disk, Host};
use crate::policy::Options;
use crate::policy::kernel::limits_at_boot;
use crate::units::{Bytes, BytesPerSecond, Nanos};

const PAGE: u64 = 4096;

/// `queue/logical_block_size` of most disks.
const LOGICAL_BLOCK: Bytes = Bytes(512);

/// The write costs of one disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Costs {
    pub cache: PageCache,
    pub direct: DirectCost,
    pub sync: SyncCost,
}

/// The keys of `[model.cawl]`.
const KEYS: [&str; 14] = [
    "bw_ramdisk",
    "bw_reduced",
    "bw_dev",
    "bw_rdev",
    "bw_sync",
    "bs",
    "sc_w",
    "sc_sw",
    "c_sk",
    "limit_bg",
    "limit_hard",
    "dirty_expire",
    "throttling",
    "partial",
];

/// Returns the write costs of each disk of a host.
///
/// # Errors
/// An unknown option, or a value that does not fit.
pub(super) fn costs_of_disks(options: &Options<'_>, host: &Host) -> Result<Vec<Costs>, ScenarioError> {
    options.only(&KEYS)?;
    host.disks.iter().map(|disk| costs(options, host, disk)).collect()
}

fn costs(options: &Options<'_>, host: &Host, disk: &Disk) -> Result<Costs, ScenarioError> {
    let rate = |key, known: Option<BytesPerSecond>, else_: f64| -> Result<f64, ScenarioError> {
        let given = options.quantity(key, BytesPerSecond::parse, |rate| rate.0 > 0.0)?;
        Ok(given.or(known).map_or(else_, |rate| rate.0))
    };
    let time = |key, known: Option<Nanos>, else_: Nanos| -> Result<f64, ScenarioError> {
        Ok(options.quantity(key, Nanos::parse, |_| true)?.or(known).unwrap_or(else_).as_seconds())
    };
    let size = |key, known: Option<Bytes>, else_: Bytes| -> Result<u64, ScenarioError> {
        Ok(options.quantity(key, Bytes::parse, |bytes| bytes.0 > 0)?.or(known).unwrap_or(else_).0)
    };
    let (cost, known) = (&host.memory.cost, &host.cawl);
    let limits = limits_at_boot(host);
    let bw_ramdisk = rate("bw_ramdisk", known.bw_ramdisk, copying(host))?;
    let bw_dev = rate("bw_dev", known.bw_dev, disk.write.0)?;
    let sc_sw = time("sc_sw", known.sc_sw, cost.call + disk.latency)?;
    let c_sk = time("c_sk", known.c_sk, Nanos::ZERO)?;
    let costs = Costs {
        cache: PageCache {
            bw_ramdisk,
            bw_reduced: rate(
                "bw_reduced",
                known.bw_reduced,
                bw_ramdisk * cost.flushing_factor.unwrap_or(1.0),
            )?,
            bw_dev,
            bw_sync: Some(rate("bw_sync", None, bw_dev)?),
            sc_w: time("sc_w", known.sc_w, cost.call)?,
            limit_bg: size("limit_bg", known.limit_bg, Bytes(limits.background * PAGE))?,
            limit_hard: size("limit_hard", known.limit_hard, Bytes(limits.limit * PAGE))?,
            dirty_expire: time("dirty_expire", known.dirty_expire, host.vm.dirty_expire)?,
            throttling: word(options, "throttling", Throttling::NAMES, Throttling::ALL)?,
        },
        direct: DirectCost { bw_dev, sc_sw, c_sk },
        sync: SyncCost {
            bw_ramdisk,
            bw_dev,
            bw_rdev: rate("bw_rdev", known.bw_rdev, disk.read.0)?,
            bs: size("bs", known.bs, LOGICAL_BLOCK)?,
            sc_sw,
            c_sk,
            unit: word(options, "partial", Unit::NAMES, Unit::ALL)?,
        },
    };
    costs.check().map_err(|ParameterError { name, value, rule }| {
        options.wrong(name, format!("{value} does not fit"), &format!("it {rule}"))
    })?;
    Ok(costs)
}

impl Costs {
    fn check(&self) -> Result<(), ParameterError> {
        self.cache.check()?;
        self.direct.check()?;
        self.sync.check()
    }
}

fn word<T: Copy + Default, const N: usize>(
    options: &Options<'_>,
    key: &str,
    names: [&str; N],
    all: [T; N],
) -> Result<T, ScenarioError> {
    Ok(options.word(key, &names)?.map_or_else(T::default, |at| all[at]))
}

/// Returns the rate at which one thread writes new pages of the page cache.
fn copying(host: &Host) -> f64 {
    let memory = &host.memory;
    let shared = memory.write_at.first().map_or(memory.write, |&(_, rate)| rate).0;
    let copy = memory.cost.copy_write.or(memory.per_thread).map_or(0.0, |rate| 1.0 / rate.0);
    let seconds = copy + memory.cost.page_insert.as_seconds() / PAGE as f64;
    (1.0 / seconds).min(shared)
}

#[cfg(test)]
mod tests {
    use crate::policy::{ModelOptions, OptionValue};
    use crate::scenario::load_machine;

    use super::*;

    const MACHINE: &str = r#"
        cores = 4
        memory = { size = "10 GiB", read = "4 GB/s", write = "4 GB/s", reserve = "0 B", cost = { call = "1 us", page_insert = "2048 ns", copy_write = "2 GB/s", flushing_factor = 0.8 } }
        disk.ssd = { size = "1 TB", read = "500 MB/s", write = "400 MB/s", latency = "100 us" }
        disk.hdd = { size = "1 TB", read = "100 MB/s", write = "90 MB/s" }
        mount."/data" = { disk = "ssd" }
    "#;

    fn read(set: &[(&str, &str)]) -> Result<Vec<Costs>, ScenarioError> {
        read_on(MACHINE, set)
    }

    fn read_on(machine: &str, set: &[(&str, &str)]) -> Result<Vec<Costs>, ScenarioError> {
        let machine = load_machine(machine.as_bytes(), "m.toml", "".as_ref(), "".as_ref()).unwrap();
        let value = |text: &str| OptionValue { text: text.to_owned(), at: "x.toml:3".to_owned() };
        let values: ModelOptions = set.iter().map(|(key, text)| ((*key).to_owned(), value(text))).collect();
        let options = Options { origin: "x.toml", model: "cawl", values: &values };
        costs_of_disks(&options, &machine.hosts[0])
    }

    #[test]
    fn parameters_follow_from_the_machine() {
        let [ssd, hdd] = read(&[]).unwrap().try_into().unwrap();
        // 0.5 ns of copying and 0.5 ns for the page, each byte.
        assert_eq!((ssd.cache.bw_ramdisk.round(), ssd.cache.bw_reduced.round()), (1e9, 0.8e9));
        assert_eq!((ssd.cache.bw_dev, ssd.cache.bw_sync, ssd.sync.bw_rdev), (4e8, Some(4e8), 5e8));
        assert_eq!((hdd.cache.bw_dev, hdd.direct.bw_dev, hdd.sync.bw_rdev), (9e7, 9e7, 1e8));
        assert_eq!((ssd.cache.sc_w, ssd.direct.sc_sw, hdd.sync.sc_sw), (1e-6, 101e-6, 1e-6));
        assert_eq!((ssd.sync.bs, ssd.direct.c_sk, ssd.cache.dirty_expire), (512, 0.0, 30.0));
        // 10 and 20 % of 10 GiB: 409 and 819 of 4096 parts.
        assert_eq!(ssd.cache.limit_bg, 409 * (10 << 30) / 4096);
        assert_eq!(ssd.cache.limit_hard, 819 * (10 << 30) / 4096);
    }

    #[test]
    fn a_machine_may_name_them_and_options_replace_those_too() {
        let named = format!(
            "{MACHINE}
        cawl = {{ bw_ramdisk = '2 GB/s', bw_dev = '300 MB/s', sc_sw = '90 us', limit_bg = '1 GB', bs = '4 KiB' }}"
        );
        let costs = read_on(&named, &[]).unwrap()[0];
        assert_eq!((costs.cache.bw_ramdisk, costs.cache.bw_reduced), (2e9, 1.6e9), "the rest follows");
        assert_eq!((costs.direct.bw_dev, costs.direct.sc_sw, costs.sync.bs), (3e8, 90e-6, 4096));
        assert_eq!(costs.cache.limit_bg, 1_000_000_000);
        let over = read_on(&named, &[("sc_sw", "70 us")]).unwrap()[0];
        assert_eq!((over.direct.sc_sw, over.direct.bw_dev), (70e-6, 3e8));
    }

    #[test]
    fn options_replace_them() {
        let set = [
            ("bw_ramdisk", "2 GB/s"),
            ("bw_reduced", "1 GB/s"),
            ("bw_dev", "300 MB/s"),
            ("bw_sync", "350 MB/s"),
            ("bs", "4 KiB"),
            ("c_sk", "5 ms"),
            ("limit_bg", "1 GB"),
            ("throttling", "harmonic"),
            ("partial", "page"),
        ];
        let costs = read(&set).unwrap()[1];
        assert_eq!((costs.cache.bw_ramdisk, costs.cache.bw_reduced), (2e9, 1e9));
        assert_eq!((costs.direct.bw_dev, costs.cache.bw_sync), (3e8, Some(3.5e8)));
        assert_eq!((costs.sync.bs, costs.direct.c_sk, costs.cache.limit_bg), (4096, 5e-3, 1_000_000_000));
        assert_eq!((costs.cache.throttling, costs.sync.unit), (Throttling::Harmonic, Unit::Page));
    }

    #[test]
    fn what_does_not_fit_is_refused_where_it_stands() {
        let wrong = |key, text| read(&[(key, text)]).unwrap_err().to_string();
        assert_eq!(
            wrong("limit_bg", "5 GB"),
            "x.toml:3: model.cawl.limit_bg: 5000000000 does not fit; it must be less than limit_hard=2146959360"
        );
        assert_eq!(
            wrong("bw_ramdisk", "0 B/s"),
            "x.toml:3: model.cawl.bw_ramdisk: `0 B/s` is zero; it must be more than zero"
        );
        assert!(wrong("bw_disk", "1 GB/s").starts_with("x.toml:3: model `cawl` has no option `bw_disk`"));
        assert!(
            wrong("throttling", "min").starts_with("x.toml:3: model.cawl.throttling: `min` is not known")
        );
    }
}
