//! Knows fio's engines: which of them do file or block I/O and can be simulated, and how.

use super::wrong::Wrong;
use crate::nearest::{hint, shorten};
use crate::workload::AsyncBy;

/// An engine that can be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// lseek(2), read(2), write(2).
    Sync,
    /// pread(2), pwrite(2): fio's default.
    Psync,
    /// readv(2), writev(2). fio joins adjacent requests of its queue; that is left out.
    Vsync,
    /// preadv(2), pwritev(2).
    Pvsync,
    /// preadv2(2), pwritev2(2).
    Pvsync2,
    /// io_submit(2): asynchronous with `direct=1` alone.
    Libaio,
    /// io_uring(7).
    IoUring,
    /// aio_read(3) as glibc has it: a thread for each descriptor works through its requests one by one.
    Posixaio,
    /// memcpy(3) from and to a mapping.
    Mmap,
}

/// The engines that can be simulated, under fio's names.
pub const DONE: [(&str, Engine); 11] = [
    ("psync", Engine::Psync),
    ("sync", Engine::Sync),
    ("vsync", Engine::Vsync),
    ("pvsync", Engine::Pvsync),
    ("pvsync2", Engine::Pvsync2),
    ("libaio", Engine::Libaio),
    ("linuxaio", Engine::Libaio),
    ("aio", Engine::Libaio),
    ("io_uring", Engine::IoUring),
    ("posixaio", Engine::Posixaio),
    ("mmap", Engine::Mmap),
];

/// Engines that are refused, and why.
pub const REFUSED: [(&str, &str); 47] = [
    ("splice", "splice(2) and vmsplice(2) move pages instead of copying them, which is not modelled"),
    ("null", "it moves no data"),
    ("cpp_null", "it moves no data"),
    ("cpuio", "it burns processor time and does no I/O"),
    ("exec", "it runs other programs"),
    ("external", "it is code of its own"),
    ("filecreate", "it measures the creation of files and moves no data"),
    ("filestat", "it measures stat(2) and moves no data"),
    ("filedelete", "it measures unlink(2) and moves no data"),
    ("ftruncate", "it measures ftruncate(2) and moves no data"),
    ("falloc", "it measures fallocate(2) and moves no data"),
    ("e4defrag", "it moves extents with an ioctl of ext4, which is not modelled"),
    ("sg", "it sends SCSI commands past the block layer"),
    ("libzbc", "it sends commands to zoned devices"),
    ("io_uring_cmd", "it sends NVMe commands past the block layer"),
    ("xnvme", "it sends NVMe commands past the block layer"),
    ("mtd", "it drives flash devices"),
    ("dev-dax", "it maps persistent memory"),
    ("libpmem", "it maps persistent memory"),
    ("pmemblk", "it maps persistent memory"),
    ("net", "it moves data over a network"),
    ("netsplice", "it moves data over a network"),
    ("rdma", "it moves data over a network"),
    ("librpma_apm_client", "it moves data over a network"),
    ("librpma_apm_server", "it moves data over a network"),
    ("librpma_gpspm_client", "it moves data over a network"),
    ("librpma_gpspm_server", "it moves data over a network"),
    ("nbd", "its data is on another host's block device"),
    ("libiscsi", "its data is on another host's block device"),
    ("rados", "its data is in an object store"),
    ("rbd", "its data is in an object store"),
    ("http", "its data is in an object store"),
    ("gfapi", "its data is in a distributed file system that it reaches past the kernel"),
    ("gfapi_async", "its data is in a distributed file system that it reaches past the kernel"),
    ("libhdfs", "its data is in a distributed file system that it reaches past the kernel"),
    ("dfs", "its data is in a distributed file system that it reaches past the kernel"),
    ("nfs", "its data is on an NFS server that it reaches past the kernel"),
    ("ime_psync", "its data is in a distributed file system that it reaches past the kernel"),
    ("ime_psyncv", "its data is in a distributed file system that it reaches past the kernel"),
    ("ime_aio", "its data is in a distributed file system that it reaches past the kernel"),
    ("libcufile", "it moves data to and from a graphics processor"),
    ("guasi", "fio has no such engine any more"),
    ("syslet-rw", "fio has no such engine any more"),
    ("binject", "fio has no such engine any more"),
    ("raw", "fio has no such engine any more"),
    ("solarisaio", "it is one of another operating system"),
    ("windowsaio", "it is one of another operating system"),
];

impl Engine {
    /// The engine of that name.
    pub fn named(name: &str) -> Result<Self, Wrong> {
        if let Some(&(_, engine)) = DONE.iter().find(|(known, _)| *known == name) {
            return Ok(engine);
        }
        let family = if name.starts_with("external:") { "external" } else { name };
        let shown = shorten(name);
        if let Some((_, because)) = REFUSED.iter().find(|(known, _)| *known == family) {
            let remedy = format!("engines that are: {}", listed());
            return Err(Wrong::new(format!("the engine `{shown}` is not simulated: {because}"), remedy));
        }
        let known = DONE.iter().map(|&(name, _)| name).chain(REFUSED.iter().map(|&(name, _)| name));
        Err(Wrong::new(format!("fio has no engine `{shown}`"), hint(name, known, "engines")))
    }

    /// Its name in fio.
    pub fn name(self) -> &'static str {
        DONE.iter().find(|(_, engine)| *engine == self).expect("each has a name").0
    }

    /// True if fio waits for the end of each request before it makes the next one.
    pub fn is_synchronous(self) -> bool {
        self.interface().is_none()
    }

    /// The kernel's interface, if it is asynchronous.
    pub fn interface(self) -> Option<AsyncBy> {
        match self {
            Self::Libaio => Some(AsyncBy::Libaio),
            Self::IoUring => Some(AsyncBy::IoUring),
            Self::Posixaio => Some(AsyncBy::PosixAio),
            _ => None,
        }
    }
}

/// The engines that can be simulated, for messages and the documentation.
fn listed() -> String {
    let names: Vec<&str> = DONE
        .iter()
        .map(|&(name, engine)| (name, engine.name()))
        .filter(|(name, first)| name == first)
        .map(|(name, _)| name)
        .collect();
    names.join(", ")
}
