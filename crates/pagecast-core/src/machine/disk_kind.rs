//! Derives the queue settings and latency of a disk from its kind.
//!
//! Source: the kernel's files and the data sheets that stand beside each value. A key of the machine file always counts more. Left out:
//! rates, which differ too much within a kind.

use crate::keys::{Held, Word};
use crate::units::Nanos;

/// The first version of Linux that has write-back throttling.
pub const WBT_SINCE: (u32, u32) = (4, 10);

/// The largest read-ahead (`VM_READAHEAD_PAGES`, `include/linux/pagemap.h`).
pub const READ_AHEAD_KB: u32 = 128;

/// The kinds of disks, by their words in a machine file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskKind {
    /// A disk that turns, at a SATA or SAS port.
    Hdd,
    /// Flash at a SATA port.
    SataSsd,
    /// Flash at PCI Express.
    Nvme,
    /// The disk that a hypervisor gives its guest.
    Virtio,
}

/// A value that follows from the kind of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implied {
    /// Its key.
    pub key: &'static str,
    /// The value, as a machine file has it.
    pub value: String,
    /// The source of the value.
    pub source: &'static str,
}

/// Linux since this version reads ahead of a disk that turns by the length of two of its requests.
const LONG_READ_AHEAD_SINCE: (u32, u32) = (6, 17);

impl Word for DiskKind {
    const ALL: &'static [Self] = &[Self::Hdd, Self::SataSsd, Self::Nvme, Self::Virtio];
    const WORDS: &'static [&'static str] = &["hdd", "sata-ssd", "nvme", "virtio"];
}

impl DiskKind {
    /// Returns the keys that it gives, with values and sources, on such a version with such requests.
    pub(crate) fn keys(
        self,
        version: (u32, u32),
        max_sectors_kb: u32,
    ) -> [(&'static str, Option<(Held, &'static str)>); 6] {
        let number = |(number, source)| (Held::Whole(number), source);
        let time = |(time, source)| (Held::Time(time), source);
        [
            ("nr_requests", Some(number(self.nr_requests()))),
            ("queue_depth", self.queue_depth().map(number)),
            ("wbt_lat_usec", self.wbt_lat_usec(version).map(number)),
            ("read_ahead_kb", self.read_ahead_kb(version, max_sectors_kb).map(number)),
            ("latency", self.latency().map(time)),
            ("seek", self.seek().map(time)),
        ]
    }

    /// Returns the requests in flight. A scheduler, which a disk with one hardware queue has, allows twice the tags of the disk, at
    /// most 256.
    fn nr_requests(self) -> (u32, &'static str) {
        match self {
            Self::Hdd | Self::SataSsd => (64, "block/blk-mq-sched.c: blk_mq_init_sched, twice queue_depth"),
            Self::Nvme => (1023, "drivers/nvme/host/pci.c: io_queue_depth 1024, less one; no scheduler"),
            Self::Virtio => {
                (256, "drivers/block/virtio_blk.c: the size of the virtqueue, 256 in QEMU since 5.0")
            }
        }
    }

    /// Returns the tags of the disk, if they are fewer than its requests.
    fn queue_depth(self) -> Option<(u32, &'static str)> {
        match self {
            Self::Hdd | Self::SataSsd => Some((32, "include/linux/libata.h: ATA_MAX_QUEUE")),
            Self::Nvme | Self::Virtio => None,
        }
    }

    /// Returns the aim of write-back throttling, which kernels before 4.10 do not have.
    fn wbt_lat_usec(self, version: (u32, u32)) -> Option<(u32, &'static str)> {
        let source = "block/blk-wbt.c: wbt_default_latency_nsec";
        let usec = if self.is_rotational() { 75_000 } else { 2000 };
        (version >= WBT_SINCE).then_some((usec, source))
    }

    /// Returns the largest read-ahead in KiB, for requests of so many.
    fn read_ahead_kb(self, version: (u32, u32), max_sectors_kb: u32) -> Option<(u32, &'static str)> {
        let is_long = self.is_rotational() && version >= LONG_READ_AHEAD_SINCE;
        let source = "block/blk-settings.c: blk_apply_bdi_limits, twice max_sectors_kb for a disk that turns";
        is_long.then_some((max_sectors_kb.saturating_mul(2).max(READ_AHEAD_KB), source))
    }

    /// Returns the latency of a lone read request of 4 KiB.
    fn latency(self) -> Option<(Nanos, &'static str)> {
        match self {
            Self::SataSsd => Some((
                Nanos(70_000),
                "Samsung 870 EVO, data sheet: 13,000 reads of 4 KiB in a second, one by one",
            )),
            Self::Nvme => Some((
                Nanos(45_000),
                "Samsung 980 PRO, data sheet: 22,000 reads of 4 KiB in a second, one by one",
            )),
            Self::Hdd | Self::Virtio => None,
        }
    }

    /// Returns the additional time of a request elsewhere.
    fn seek(self) -> Option<(Nanos, &'static str)> {
        let source =
            "Hitachi Deskstar 7K1000.C, specification 4.5.2: 8.5 ms of seeking, and half a turn at 7200 rpm";
        (self == Self::Hdd).then_some((Nanos(12_670_000), source))
    }

    /// True if the kernel takes it for a disk that turns: virtio-blk does not tell (`BLK_FEAT_ROTATIONAL`, Linux 6.11).
    fn is_rotational(self) -> bool {
        matches!(self, Self::Hdd | Self::Virtio)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::machine::Disk;
    use crate::scenario::testing::{PROCESS, read};
    use crate::units::Nanos;

    fn disk(keys: &str, kernel: &str) -> Result<Disk, String> {
        let machine = format!(
            "[machine]\ncores = 4\nmemory = {{ size = '16 GB', read = '8 GB/s', write = '5 GB/s' }}\n{kernel}\n\
             [machine.disk.ssd]\nsize = '1 TB'\nread = '500 MB/s'\nwrite = '450 MB/s'\n{keys}\n"
        );
        let scenario = read(&format!("{machine}{PROCESS}"), &[])?;
        Ok(scenario.machine.hosts[0].disks[0].clone())
    }

    /// Requests, tags, throttling, latency, seek and KiB of read-ahead.
    fn queue(keys: &str, kernel: &str) -> (u32, Option<u32>, u32, Nanos, Nanos, u64) {
        let disk = disk(keys, kernel).expect("it is right");
        let Disk { queue, queue_depth, wbt_lat_usec, latency, seek, read_ahead, .. } = disk;
        (queue.0, queue_depth, wbt_lat_usec, latency, seek, read_ahead.0 >> 10)
    }

    /// A machine that was written by hand had a queue of 16 requests and no write-back throttling, and said nothing of it; a SATA disk has
    /// 64, 32 of them its own, and is throttled.
    #[test]
    fn the_kind_of_a_disk_gives_its_queue() {
        let (none, us) = (Nanos::ZERO, |us: u64| Nanos(1000 * us));
        assert_eq!(queue("", ""), (16, None, 0, none, none, 128), "as ever without a kind");
        assert_eq!(queue("kind = 'sata-ssd'", ""), (64, Some(32), 2000, us(70), none, 128));
        assert_eq!(queue("kind = 'nvme'", ""), (1023, None, 2000, us(45), none, 128));
        assert_eq!(queue("kind = 'hdd'", ""), (64, Some(32), 75_000, none, us(12_670), 2560));
        assert_eq!(queue("kind = 'virtio'", ""), (256, None, 75_000, none, none, 2560));
        assert_snapshot!(disk("kind = 'ssd'", "").unwrap_err(), @r#"x.toml:9: `kind` cannot be "ssd"; known words: `hdd`, `sata-ssd`, `nvme`, `virtio`"#);
    }

    #[test]
    fn older_kernels_set_less_up() {
        assert_eq!(queue("kind = 'hdd'", "kernel.version = '6.16'").5, 128);
        assert_eq!(queue("kind = 'sata-ssd'", "kernel.version = '4.9'").2, 0, "no write-back throttling");
    }

    #[test]
    fn a_key_counts_more_than_the_kind() {
        let keys = "kind = 'hdd'\nnr_requests = 8\nqueue_depth = 4\nwbt_lat_usec = 0\nseek = '0 s'\nlatency = '1 ms'\nread_ahead_kb = 64";
        assert_eq!(queue(keys, ""), (8, Some(4), 0, Nanos(1_000_000), Nanos::ZERO, 64));
    }

    #[test]
    fn what_the_kind_gave_is_told_with_its_source_and_nothing_else() {
        let implied = |keys: &str| {
            let disk = disk(keys, "").expect("it is right");
            disk.implied.iter().map(|each| format!("{} = {}", each.key, each.value)).collect::<Vec<_>>()
        };
        assert_eq!(implied("nr_requests = 8"), [""; 0]);
        assert_eq!(
            implied("kind = 'nvme'"),
            ["nr_requests = 1023", "wbt_lat_usec = 2000", "latency = \"45 us\""]
        );
        assert_eq!(implied("kind = 'nvme'\nwbt_lat_usec = 0\nlatency = '0 s'"), ["nr_requests = 1023"]);
    }
}
