//! Values that are known to a range only, and the same host with other values in these ranges.

use super::Host;
use super::scale::{NotScaled, scale};
use crate::units::Fraction;

/// A key of a host and the range of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertain {
    /// As in the table of the host: "memory.write", "disk.ssd.latency".
    pub key: String,
    /// In 90 of 100 cases the value is at most 1 + this times too small, or too large.
    pub spread: Fraction,
}

impl Host {
    /// Multiplies the value of a key of its memory, `vm`, `kernel`, `nfsd`, `nic`, `cawl`, of a disk or a mount. The rates of a disk by number of
    /// streams go with the rate of one. A key without a value has none afterwards either.
    ///
    /// # Errors
    /// A key that is none, or whose value is no amount.
    pub fn scale(&mut self, key: &str, factor: f64) -> Result<(), NotScaled> {
        let (table, path) = key.split_once('.').ok_or(NotScaled::Unknown)?;
        match table {
            "memory" => scale(&mut self.memory, path, factor),
            "vm" => scale(&mut self.vm, path, factor),
            "kernel" => scale(&mut self.kernel, path, factor),
            "nfsd" => scale(&mut self.nfsd, path, factor),
            "cawl" => scale(&mut self.cawl, path, factor),
            "nic" => self.nic.as_mut().map_or(Err(NotScaled::Unknown), |nic| scale(nic, path, factor)),
            "disk" => {
                let mut disks = self.disks.iter_mut();
                let found = disks.find_map(|disk| Some((inside(path, &disk.name)?, disk)));
                let (path, disk) = found.ok_or(NotScaled::Unknown)?;
                if let "read" | "write" = path {
                    scale(disk, &format!("{path}_at"), factor)?;
                }
                scale(disk, path, factor)
            }
            "mount" => {
                let mut mounts = self.mounts.iter_mut();
                let found = mounts.find_map(|mount| Some((inside(path, &mount.path)?, mount)));
                let (path, mount) = found.ok_or(NotScaled::Unknown)?;
                scale(mount, path, factor)
            }
            _ => Err(NotScaled::Unknown),
        }
    }
}

/// The rest of a path behind a name and a dot; the name may have dots, too.
fn inside<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    path.strip_prefix(name)?.strip_prefix('.')
}
