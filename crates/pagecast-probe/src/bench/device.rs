//! Takes a block device that may be overwritten, and that nobody else has.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use pagecast_core::units::Bytes;
use rustix::fs::{CWD, FileType, Mode, OFlags, SeekFrom, fstat, openat, seek};
use rustix::io::Errno;

use super::error::{BenchError, trouble};
use crate::error::{ProbeError, Trouble};

/// A block device, open for this process alone: the kernel refuses that for one that is mounted, swapped to, or part of
/// another (O_EXCL of open(2), `bd_prepare_to_claim` in block/bdev.c), and others while we have it.
#[derive(Debug)]
pub struct Device {
    /// As it was given.
    pub path: PathBuf,
    /// Its number.
    pub number: u64,
    /// Its size.
    pub size: Bytes,
    pub(super) buffered: OwnedFd,
    pub(super) direct: OwnedFd,
}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// [`BenchError`]: it is none, in use, too small, or may not be written to.
    pub fn open(path: &Path, needed: Bytes) -> Result<Self, BenchError> {
        let failed = |error: Errno| match error {
            Errno::BUSY => BenchError::DeviceInUse(path.to_owned()),
            Errno::ACCESS | Errno::ROFS | Errno::PERM => {
                ProbeError::Path { path: path.to_owned(), trouble: Trouble::NotWritable(error.into()) }.into()
            }
            _ => trouble(path, "open", error.into()),
        };
        // Without O_CREAT, O_EXCL has a meaning for block devices alone; so first look what it is, and wait for nobody.
        let look = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let found = fstat(&look).map_err(failed)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::BlockDevice {
            return Err(BenchError::NoDevice(path.to_owned()));
        }
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let buffered = openat(CWD, path, flags | OFlags::EXCL, Mode::empty()).map_err(failed)?;
        let direct = openat(CWD, path, flags | OFlags::DIRECT, Mode::empty()).map_err(failed)?;
        let size = Bytes(seek(&buffered, SeekFrom::End(0)).map_err(failed)?);
        if size < needed {
            return Err(BenchError::DeviceTooSmall { path: path.to_owned(), has: size, needed });
        }
        Ok(Self { path: path.to_owned(), number: found.st_rdev, size, buffered, direct })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_device_is_refused() {
        let error = |path: &str| Device::open(Path::new(path), Bytes(1)).unwrap_err().to_string();
        assert_eq!(error("/dev/null"), "/dev/null: is no block device; name one whose data you can lose");
        assert_eq!(error("/no/such"), "/no/such: there is no such file or directory; check the name");
    }
}
