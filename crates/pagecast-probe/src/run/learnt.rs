//! Reads the kernel's estimates for the disk below a folder, before a run: `bdi_debug_stats_show` of mm/backing-dev.c.
//!
//! Needs root and debugfs where it is usually mounted. Left out: the base rate of writers, which only the trace tells.

use std::fs;
use std::path::{Path, PathBuf};

use pagecast_core::units::Bytes;

use crate::counters::device_path;
use crate::io::Folder;

const PLACE: &str = "/sys/kernel/debug/bdi";

/// The estimates of the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// The kernel's name of its write-back: the numbers of the whole disk, "254:0".
    pub bdi: String,
    /// Its estimated write bandwidth.
    pub write_bandwidth: Option<Bytes>,
    /// Its own part of the dirty limit.
    pub dirty_limit: Option<Bytes>,
    /// The dirty limit of all disks together.
    pub whole_limit: Option<Bytes>,
}

impl Learnt {
    /// Asks about the disk of a folder; nothing if there is no block device below.
    pub(super) fn of(folder: &Folder) -> Option<Self> {
        let device = folder.file_system().ok().and_then(|system| system.block_device());
        let device = device.or_else(|| rustix::fs::fstat(folder).ok().map(|found| found.st_dev))?;
        let bdi = bdi_of(Path::new(&device_path(device)))?;
        let stats = fs::read_to_string(Path::new(PLACE).join(&bdi).join("stats")).unwrap_or_default();
        Some(Self { bdi, ..Self::parse(&stats) })
    }

    fn parse(stats: &str) -> Self {
        // BdiDirtyThresh:         158564 kB
        let line = |name: &str| {
            let value = stats.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
            let kib: u64 = value?.split_whitespace().next()?.parse().ok()?;
            Some(Bytes(kib * 1024))
        };
        Self {
            bdi: String::new(),
            write_bandwidth: line("BdiWriteBandwidth"),
            dirty_limit: line("BdiDirtyThresh"),
            whole_limit: line("DirtyThresh"),
        }
    }
}

/// The numbers of a block device, or of the disk that it is a partition of.
fn bdi_of(device: &Path) -> Option<String> {
    let place: PathBuf = device.canonicalize().ok()?;
    let disk = if place.join("partition").exists() { place.parent()? } else { &place };
    Some(fs::read_to_string(disk.join("dev")).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stats_are_in_kib() {
        // Linux 6.18.
        let stats = "BdiWriteback:                0 kB\nBdiReclaimable:              8 kB\n\
                     BdiDirtyThresh:         158564 kB\nDirtyThresh:            354756 kB\n\
                     BackgroundThresh:       177160 kB\nBdiWritten:               1364 kB\n\
                     BdiWriteBandwidth:      102400 kBps\nb_dirty:                     1\n";
        let learnt = Learnt::parse(stats);
        assert_eq!(learnt.write_bandwidth, Some(Bytes(102_400 << 10)));
        assert_eq!(learnt.dirty_limit, Some(Bytes(158_564 << 10)));
        assert_eq!(learnt.whole_limit, Some(Bytes(354_756 << 10)));
        assert_eq!(Learnt::parse(""), Learnt::default());
    }

    #[test]
    fn a_partition_is_part_of_its_disk() {
        let folder = std::env::temp_dir().join(format!("pagecast-bdi-{}", std::process::id()));
        let partition = folder.join("vda/vda1");
        fs::create_dir_all(&partition).unwrap();
        fs::write(folder.join("vda/dev"), "254:0\n").unwrap();
        fs::write(partition.join("dev"), "254:1\n").unwrap();
        assert_eq!(bdi_of(&partition).as_deref(), Some("254:1"));
        fs::write(partition.join("partition"), "1\n").unwrap();
        assert_eq!(bdi_of(&partition).as_deref(), Some("254:0"));
        assert_eq!(bdi_of(&folder), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
