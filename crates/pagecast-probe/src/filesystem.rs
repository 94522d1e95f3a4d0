//! Finds the file system of a file, and what it means for the file's pages.
//!
//! Source: `statfs(2)` for the kind, `/proc/self/mountinfo` for the name. Left out: file systems that bring a cache of their own beside the
//! page cache are known by name only (zfs).

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags, statx};

use crate::mountinfo::{self, Mounted};

/// A kind of file system, by its treatment of the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Files on a device: pages can be dropped and read again.
    Disk,
    /// tmpfs, ramfs, hugetlbfs: memory is the only place where the files are.
    Memory,
    /// overlay: the pages belong to the files below.
    Overlay,
    /// NFS, CIFS, 9P, Ceph: this machine's cache in front of another's.
    Network,
    /// FUSE: a program in user space decides what is cached.
    Fuse,
    /// zfs keeps file data in a cache of its own.
    Zfs,
    /// proc, sysfs, cgroups: files are made up when they are read.
    MadeUp,
}

impl Kind {
    /// What somebody who measures or changes the cache here should know; nothing for a disk.
    #[must_use]
    pub fn caution(self) -> Option<&'static str> {
        match self {
            Self::Disk => None,
            Self::Memory => {
                Some("keeps its files in memory only: they are always cached and cannot be evicted")
            }
            Self::Overlay => Some(
                "lies over other file systems: measured with mincore, because cachestat sees nothing there",
            ),
            Self::Network => Some(
                "is on another machine: this is the cache of this machine only, that of the server is as it was",
            ),
            Self::Fuse => Some(
                "is served by a program, which may have a cache of its own that is not seen here, and may drop this one \
                     whenever a file is opened, also by us",
            ),
            Self::Zfs => Some("has a cache of its own (ARC), which is not seen here and is not evicted"),
            Self::MadeUp => Some("has no files that could be cached"),
        }
    }
}

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// Its treatment of the page cache.
    pub kind: Kind,
    /// Its type as in /proc/self/mountinfo: "ext4", "fuse.sshfs".
    pub type_name: String,
    /// Its mount point, if known.
    pub mount_point: Option<PathBuf>,
    /// What is mounted: "/dev/vda", "server:/export".
    pub source: Option<PathBuf>,
}

/// Kinds and names by the magic number of `statfs(2)` (include/uapi/linux/magic.h and the file systems' own headers).
const MAGIC: [(u32, Kind, &str); 29] = [
    (0xef53, Kind::Disk, "ext4"),
    (0x5846_5342, Kind::Disk, "xfs"),
    (0x9123_683e, Kind::Disk, "btrfs"),
    (0x0102_1994, Kind::Memory, "tmpfs"),
    (0x8584_58f6, Kind::Memory, "ramfs"),
    (0x9584_58f6, Kind::Memory, "hugetlbfs"),
    (0x794c_7630, Kind::Overlay, "overlay"),
    (0x6969, Kind::Network, "nfs"),
    (0xff53_4d42, Kind::Network, "cifs"),
    (0xfe53_4d42, Kind::Network, "smb2"),
    (0x517b, Kind::Network, "smb"),
    (0x0102_1997, Kind::Network, "9p"),
    (0x00c3_6400, Kind::Network, "ceph"),
    (0x5346_414f, Kind::Network, "afs"),
    (0x0bd0_0bd0, Kind::Network, "lustre"),
    (0x6573_5546, Kind::Fuse, "fuse"),
    (0x2fc1_2fc1, Kind::Zfs, "zfs"),
    (0x9fa0, Kind::MadeUp, "proc"),
    (0x6265_6572, Kind::MadeUp, "sysfs"),
    (0x6462_6720, Kind::MadeUp, "debugfs"),
    (0x7472_6163, Kind::MadeUp, "tracefs"),
    (0x0027_e0eb, Kind::MadeUp, "cgroup"),
    (0x6367_7270, Kind::MadeUp, "cgroup2"),
    (0xcafe_4a11, Kind::MadeUp, "bpf"),
    (0x7363_6673, Kind::MadeUp, "securityfs"),
    (0xf97c_ff8c, Kind::MadeUp, "selinuxfs"),
    (0x1cd1, Kind::MadeUp, "devpts"),
    (0x6165_676c, Kind::MadeUp, "pstore"),
    (0x6573_5543, Kind::MadeUp, "fusectl"),
];

/// All mounts of this process.
#[derive(Clone, Debug, Default)]
pub struct MountTable {
    by_id: HashMap<u64, Mounted>,
    /// For kernels that do not tell the mount of a file (before Linux 5.8). Files of btrfs have other device numbers.
    by_device: HashMap<u64, Mounted>,
}

impl MountTable {
    /// Reads /proc/self/mountinfo; without it, names come from `statfs(2)` alone.
    #[must_use]
    pub fn read() -> Self {
        Self::of(mountinfo::read())
    }

    fn of(mounts: Vec<Mounted>) -> Self {
        let mut table = Self::default();
        for mount in mounts {
            // The first mount of a device is the one that others are bound from.
            table.by_device.entry(mount.device).or_insert_with(|| mount.clone());
            table.by_id.insert(mount.id, mount);
        }
        table
    }

    /// Returns the file system of an open file, which is on `device`.
    #[must_use]
    pub fn file_system(&self, file: BorrowedFd<'_>, device: u64) -> FileSystem {
        let magic = rustix::fs::fstatfs(file).map_or(0, |statfs| statfs.f_type as u32);
        let known = MAGIC.iter().find(|(number, _, _)| *number == magic);
        let (kind, name) = known.map_or((Kind::Disk, "unknown"), |&(_, kind, name)| (kind, name));
        let mount = mount_id(file).and_then(|id| self.by_id.get(&id)).or_else(|| self.by_device.get(&device));
        FileSystem {
            kind,
            type_name: mount.map_or_else(|| name.to_owned(), |mount| mount.type_name.clone()),
            mount_point: mount.map(|mount| mount.point.clone()),
            source: mount.map(|mount| mount.source.clone()),
        }
    }
}

/// The number of the mount that an open file is reached through.
fn mount_id(file: BorrowedFd<'_>) -> Option<u64> {
    let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id)
}

impl FileSystem {
    /// "ext4 at /data", or the type alone.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.mount_point {
            Some(point) => format!("{} at {}", self.type_name, crate::error::shown(point)),
            None => self.type_name.clone(),
        }
    }

    /// What somebody who measures or changes the cache here should know; nothing for a plain disk.
    #[must_use]
    pub fn caution(&self) -> Option<String> {
        match (self.kind.caution(), self.loop_file()) {
            (Some(caution), _) => Some(caution.to_owned()),
            (None, Some(file)) => {
                let file = crate::error::shown(&file);
                Some(format!(
                    "is on a loop device: the file below it, {file}, has pages of its own in the cache"
                ))
            }
            (None, None) => None,
        }
    }

    /// The file below a loop device.
    fn loop_file(&self) -> Option<PathBuf> {
        let name = self.source.as_deref()?.strip_prefix("/dev").ok()?.to_str()?;
        let backing = fs::read(format!("/sys/block/{name}/loop/backing_file")).ok()?;
        Some(PathBuf::from(OsString::from_vec(backing.trim_ascii_end().to_vec())))
    }

    /// The block device below, if there is one: its number, also where files have one of their own (btrfs).
    #[must_use]
    pub fn block_device(&self) -> Option<u64> {
        let source: &Path = self.source.as_deref()?;
        let found = rustix::fs::stat(source).ok()?;
        let is_block =
            rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::BlockDevice;
        is_block.then_some(found.st_rdev)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn mounts_are_known_by_number_and_by_device() {
        let mounts = MountTable::of(mountinfo::parse(
            b"36 35 98:0 / /first rw - ext3 /dev/root rw\n37 35 98:0 / /again rw - ext3 /dev/root rw\n",
        ));
        assert_eq!(mounts.by_device[&rustix::fs::makedev(98, 0)].point, Path::new("/first"));
        assert_eq!(mounts.by_id[&37].point, Path::new("/again"));
    }

    #[test]
    fn proc_is_made_up() {
        let file = fs::File::open("/proc/self/status").unwrap();
        let device = rustix::fs::fstat(&file).unwrap().st_dev;
        let found = MountTable::read().file_system(file.as_fd(), device);
        assert_eq!((found.kind, found.type_name.as_str()), (Kind::MadeUp, "proc"));
        assert_eq!(found.block_device(), None);
    }

    #[test]
    fn shared_memory_is_memory() {
        let Ok(file) = fs::File::open("/dev/shm") else { return };
        let device = rustix::fs::fstat(&file).unwrap().st_dev;
        assert_eq!(MountTable::default().file_system(file.as_fd(), device).kind, Kind::Memory);
    }
}
