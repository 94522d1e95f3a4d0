//! Opens a file to measure it.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use pagecast_core::units::Bytes;
use rustix::fs::{
    Access, AtFlags, CWD, FileType, Mode, OFlags, SeekFrom, Statx, StatxFlags, accessat, makedev, openat,
    seek, statx,
};
use rustix::io::Errno;
use rustix::thread::CapabilitySet;

use crate::error::Trouble;
use crate::walk::FileId;

/// A file or a block device, open for reading, or for writing if only that is allowed.
#[derive(Debug)]
pub struct OpenFile {
    descriptor: OwnedFd,
    /// Its owner.
    owner: u32,
    /// Device and inode: the same for all names of a file.
    pub id: FileId,
    /// Its length when it was opened.
    pub size: Bytes,
    /// Its room on its device; less than the size if it has holes.
    pub allocated: Bytes,
    /// True for a block device.
    pub is_device: bool,
}

impl OpenFile {
    /// Opens a file without waiting for anybody and without a trace on it.
    ///
    /// # Errors
    /// [`Trouble`] if it cannot be opened or is no file.
    pub fn open(path: &Path) -> Result<Self, Trouble> {
        // A pipe that was put in the file's place must not block us.
        let flags = OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let descriptor = openat(CWD, path, flags | OFlags::RDONLY, Mode::empty())
            .or_else(|error| match error {
                // To ask and to drop, any right to the file is enough.
                Errno::ACCESS => {
                    openat(CWD, path, flags | OFlags::WRONLY, Mode::empty()).map_err(|_| Errno::ACCESS)
                }
                _ => Err(error),
            })
            .map_err(|error| Trouble::new("open", error.into()))?;
        let found = status(&descriptor).map_err(|error| Trouble::new("stat", error.into()))?;
        let (size, is_device) = match FileType::from_raw_mode(found.stx_mode.into()) {
            FileType::RegularFile => (found.stx_size, false),
            FileType::BlockDevice => (
                seek(&descriptor, SeekFrom::End(0)).map_err(|error| Trouble::new("seek", error.into()))?,
                true,
            ),
            _ => return Err(Trouble::NotAFile("special file")),
        };
        Ok(Self {
            owner: found.stx_uid,
            id: if is_device {
                (0, makedev(found.stx_rdev_major, found.stx_rdev_minor))
            } else {
                (makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino)
            },
            size: Bytes(size),
            allocated: Bytes(if is_device { size } else { found.stx_blocks * 512 }),
            is_device,
            descriptor,
        })
    }

    /// The device that the file is on; of a block device itself.
    #[must_use]
    pub fn device(&self) -> u64 {
        if self.is_device { self.id.1 } else { self.id.0 }
    }

    /// True if `mincore` would say the truth to this process: the rule of `can_do_mincore` (mm/mincore.c, since Linux 5.2) is that
    /// it tells the owner, who has the capability of one, and who may write.
    #[must_use]
    pub fn is_told(&self) -> bool {
        let open = format!("/proc/self/fd/{}", self.descriptor.as_raw_fd());
        self.owner == rustix::process::geteuid().as_raw()
            || has_capability(CapabilitySet::FOWNER)
            || accessat(CWD, open, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }

    /// Its length now.
    #[must_use]
    pub fn size_now(&self) -> Bytes {
        match self.is_device {
            true => self.size,
            false => status(&self.descriptor).map_or(self.size, |found| Bytes(found.stx_size)),
        }
    }

    /// The parts of the file that are no holes, as (offset, length) in whole pages, except at the end of the file.
    #[must_use]
    pub fn data(&self) -> Vec<(u64, u64)> {
        let (size, page) = (self.size.0, super::page_size());
        let has_holes = !self.is_device && self.allocated < self.size;
        let mut parts: Vec<(u64, u64)> = Vec::new();
        let mut from = 0;
        while has_holes && from < size {
            let Ok(begin) = seek(&self.descriptor, SeekFrom::Data(from)) else { return parts };
            let Ok(end) = seek(&self.descriptor, SeekFrom::Hole(begin)) else { break };
            let begin = begin - begin % page;
            let end = end.next_multiple_of(page).min(size);
            match parts.last_mut() {
                Some((first, length)) if *first + *length >= begin => *length = end - *first,
                _ => parts.push((begin, end - begin)),
            }
            from = end;
        }
        match from {
            // Holes are not known of here, or there are none.
            0 if size > 0 => vec![(0, size)],
            _ => parts,
        }
    }
}

impl AsFd for OpenFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The status of a file as this host knows it: fstat(2) would have a client of NFS write the file's dirty pages back first (fs/nfs/inode.c:
/// nfs_getattr).
fn status(descriptor: &OwnedFd) -> Result<Statx, Errno> {
    statx(descriptor, "", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, StatxFlags::BASIC_STATS)
}

/// True if this thread has a capability now.
pub(crate) fn has_capability(wanted: CapabilitySet) -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(wanted))
}
