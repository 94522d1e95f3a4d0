//! Reads counters of the kernel: of memory, of a process, of a block device.

use std::fs;
use std::io;
use std::path::Path;

use pagecast_core::units::Bytes;

use crate::error::ProbeError;

/// Reads a file of /proc or /sys.
pub(crate) fn read(path: &Path) -> Result<String, ProbeError> {
    let failed = |source| ProbeError::System { path: path.to_owned(), doing: "read", source };
    fs::read_to_string(path).map_err(failed)
}

/// Lines of /proc/meminfo that say what can be dropped or must be written first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounters {
    /// `MemTotal`.
    pub total: Bytes,
    /// `MemFree`.
    pub free: Bytes,
    /// `MemAvailable`: what could be given to programs without swapping.
    pub available: Bytes,
    /// `Cached`: the page cache of files, with shared memory, without `buffers`.
    pub cached: Bytes,
    /// `Buffers`: the page cache of block devices.
    pub buffers: Bytes,
    /// `Shmem`: tmpfs and shared memory; part of `cached` and cannot be dropped.
    pub shared: Bytes,
    /// `Dirty`.
    pub dirty: Bytes,
    /// `Writeback`.
    pub writeback: Bytes,
    /// `SReclaimable`: dentries, inodes and other slabs that can be dropped.
    pub reclaimable_slab: Bytes,
}

impl MemoryCounters {
    /// Reads /proc/meminfo.
    ///
    /// # Errors
    /// [`ProbeError::System`] if it cannot be read.
    pub fn read() -> Result<Self, ProbeError> {
        Ok(Self::parse(&read(Path::new("/proc/meminfo"))?))
    }

    fn parse(meminfo: &str) -> Self {
        let line = |name: &str| {
            let value = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let kib = value.and_then(|text| text.trim().trim_end_matches("kB").trim().parse().ok());
            Bytes(kib.unwrap_or(0_u64) * 1024)
        };
        Self {
            total: line("MemTotal"),
            free: line("MemFree"),
            available: line("MemAvailable"),
            cached: line("Cached"),
            buffers: line("Buffers"),
            shared: line("Shmem"),
            dirty: line("Dirty"),
            writeback: line("Writeback"),
            reclaimable_slab: line("SReclaimable"),
        }
    }
}

/// What a process, and those of its children that it waited for, asked for and got (/proc/PID/io).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessCounters {
    /// `rchar`: bytes given out by read(2) and its kin, from whatever: files, pipes, terminals. Not what was read by mapping.
    pub read_calls: Bytes,
    /// `read_bytes`: bytes that were fetched from block devices or from a server on its behalf, with read-ahead.
    pub device_read: Bytes,
    /// `wchar`: bytes given to write(2) and its kin.
    pub write_calls: Bytes,
    /// `write_bytes`: bytes of pages that it made dirty.
    pub dirtied: Bytes,
}

impl ProcessCounters {
    /// Reads the counters of a process; one that has ended has them until it is waited for.
    ///
    /// # Errors
    /// What the kernel said: another user's process does not show them.
    pub fn of(pid: u32) -> io::Result<Self> {
        fs::read_to_string(format!("/proc/{pid}/io")).map(|text| Self::parse(&text))
    }

    /// The counters of this process, with those of the children that it has waited for.
    pub(crate) fn own() -> Option<Self> {
        let text = fs::read_to_string("/proc/self/io").ok()?;
        Some(Self::parse(&text))
    }

    /// Returns the difference to an earlier look.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            read_calls: self.read_calls.saturating_sub(before.read_calls),
            device_read: self.device_read.saturating_sub(before.device_read),
            write_calls: self.write_calls.saturating_sub(before.write_calls),
            dirtied: self.dirtied.saturating_sub(before.dirtied),
        }
    }

    fn parse(text: &str) -> Self {
        let line = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            Bytes(value.and_then(|number| number.trim().parse().ok()).unwrap_or(0))
        };
        Self {
            read_calls: line("rchar"),
            device_read: line("read_bytes"),
            write_calls: line("wchar"),
            dirtied: line("write_bytes"),
        }
    }
}

/// The work of a block device since boot, for everybody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
}

/// The unit of /sys/dev/block/*/stat, whatever the device (Documentation/block/stat.rst).
pub(crate) const SECTOR: u64 = 512;

/// The folder of a block device in /sys.
pub(crate) fn device_path(device: u64) -> String {
    format!("/sys/dev/block/{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
}

/// The file of the device's counters.
pub(crate) fn stat_path(device: u64) -> String {
    format!("{}/stat", device_path(device))
}

impl DeviceCounters {
    /// Reads the counters of a block device; nothing if it has none, as a network file system.
    #[must_use]
    pub fn of(device: u64) -> Option<Self> {
        Self::parse(&fs::read_to_string(stat_path(device)).ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        // read I/Os, read merges, read sectors, read ticks, write I/Os, write merges, write sectors, ...
        let fields: Vec<u64> = stat.split_whitespace().map_while(|field| field.parse().ok()).collect();
        Some(Self { read: Bytes(fields.get(2)? * SECTOR), written: Bytes(fields.get(6)? * SECTOR) })
    }
}

/// The kernel's name of a block device: "vda1".
#[must_use]
pub fn device_name(device: u64) -> Option<String> {
    let link = fs::read_link(device_path(device)).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_in_kib_and_names_are_whole() {
        let counters =
            MemoryCounters::parse("MemTotal:  100 kB\nSwapCached: 7 kB\nCached:   3 kB\nDirty: 1 kB\n");
        assert_eq!((counters.total, counters.cached), (Bytes(102_400), Bytes(3072)));
        assert_eq!((counters.dirty, counters.shared), (Bytes(1024), Bytes::ZERO));
    }

    #[test]
    fn a_process_counts_calls_and_devices_apart() {
        let text = "rchar: 5\nwchar: 6\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8192\n\
                    cancelled_write_bytes: 1\n";
        let counters = ProcessCounters::parse(text);
        assert_eq!((counters.read_calls, counters.device_read), (Bytes(5), Bytes(4096)));
        assert_eq!((counters.write_calls, counters.dirtied), (Bytes(6), Bytes(8192)));
    }

    #[test]
    fn a_device_counts_sectors_of_512_bytes() {
        let counters = DeviceCounters::parse("  10 2 16 5  20 3 32 6 0 1 2 0 0 0 0").unwrap();
        assert_eq!(counters, DeviceCounters { read: Bytes(8192), written: Bytes(16_384) });
        assert_eq!(DeviceCounters::parse("1 2"), None);
    }

    #[test]
    fn this_machine_has_memory() {
        let counters = MemoryCounters::read().unwrap();
        assert!(counters.available <= counters.total && counters.total > Bytes::ZERO);
    }
}
