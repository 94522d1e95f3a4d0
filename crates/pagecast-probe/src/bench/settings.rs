//! Changes kernel settings for a while, and puts them back whatever happens.
//!
//! The old values are written to a record in /run before anything is changed. The record is locked (flock(2)) as long as its owner lives. A
//! record that nobody holds was left by a process that was killed, and the next one puts its values back. A record of an earlier boot means
//! nothing: the kernel began with its own values.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::error::BenchError;
use crate::error::ProbeError;

/// The settings that may be changed: the files of /proc/sys/vm that decide when dirty pages are written.
pub const NAMES: [&str; 6] = [
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_expire_centisecs",
    "dirty_ratio",
    "dirty_writeback_centisecs",
];
/// Of each pair the kernel makes one 0 when the other is written, and takes no 0 bytes (`dirty_bytes_handler`, mm/page-writeback.c).
const PAIRS: [(&str, &str); 2] =
    [("dirty_background_bytes", "dirty_background_ratio"), ("dirty_bytes", "dirty_ratio")];

/// A setting and its value.
pub type Setting = (&'static str, u64);

/// The paths of the settings and the record.
#[derive(Clone, Debug)]
pub struct Kernel {
    settings: PathBuf,
    record: PathBuf,
    boot: PathBuf,
}

impl Default for Kernel {
    fn default() -> Self {
        Self {
            settings: "/proc/sys/vm".into(),
            record: "/run/pagecast-vm-settings".into(),
            boot: "/proc/sys/kernel/random/boot_id".into(),
        }
    }
}

impl Kernel {
    /// All settings as they are, in the order of [`NAMES`].
    ///
    /// # Errors
    /// [`ProbeError::System`] if one cannot be read.
    pub fn read(&self) -> Result<Vec<Setting>, ProbeError> {
        let all = NAMES.into_iter().map(|name| {
            let path = self.settings.join(name);
            let text = crate::counters::read(&path)?;
            let value = text.trim().parse().map_err(|_| io::ErrorKind::InvalidData.into());
            let value =
                value.map_err(|source| ProbeError::System { path: path.clone(), doing: "read", source })?;
            Ok((name, value))
        });
        all.collect()
    }

    /// Changes settings until the answer is dropped.
    ///
    /// # Errors
    /// [`BenchError`]: not root, a value that the kernel does not take, or somebody else who has changed settings. Then all is as
    /// it was.
    pub fn change(&self, wanted: &[Setting]) -> Result<Changed, BenchError> {
        let record = self.lock()?;
        let mut changed = Changed { kernel: self.clone(), before: Vec::new(), record: Some(record) };
        let before = self.read()?;
        changed.note(&before).map_err(|error| self.no_record(error))?;
        changed.before = before;
        for &(name, value) in wanted {
            self.write(name, value).map_err(|source| self.refused(name, value, source))?;
        }
        Ok(changed)
    }

    /// Puts back what a process that was killed has left changed; gives what was put back.
    ///
    /// # Errors
    /// [`BenchError`] if there is something to put back and this process may not.
    pub fn put_back_left_over(&self) -> Result<Vec<Setting>, BenchError> {
        if !self.record.exists() {
            return Ok(vec![]);
        }
        match self.open_locked(false) {
            Ok((record, left)) => {
                self.remove(record);
                Ok(left)
            }
            // Somebody lives and will do it himself, or has just done it.
            Err(BenchError::SettingsInUse) => Ok(vec![]),
            Err(_) if !self.record.exists() => Ok(vec![]),
            Err(error) => Err(error),
        }
    }

    /// The record, ours now and empty; what it held was put back.
    fn lock(&self) -> Result<File, BenchError> {
        Ok(self.open_locked(true)?.0)
    }

    fn open_locked(&self, create: bool) -> Result<(File, Vec<Setting>), BenchError> {
        loop {
            let file =
                File::options().read(true).write(true).create(create).truncate(false).open(&self.record);
            let mut file = file.map_err(|error| self.no_record(error))?;
            flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
                Errno::WOULDBLOCK => BenchError::SettingsInUse,
                _ => self.no_record(error.into()),
            })?;
            // The one before may have removed it between our opening and our locking.
            let inode = |found: io::Result<fs::Metadata>| found.map(|found| (found.dev(), found.ino())).ok();
            if inode(file.metadata()) != inode(fs::metadata(&self.record)) {
                continue;
            }
            let mut text = String::new();
            file.read_to_string(&mut text).map_err(|error| self.no_record(error))?;
            let before = self.of_this_boot(&text);
            let now = self.read()?;
            self.put_back(&before);
            let changed = before.into_iter().filter(|setting| !now.contains(setting)).collect();
            return Ok((file, changed));
        }
    }

    /// The settings of a record, if it is of this boot.
    fn of_this_boot(&self, text: &str) -> Vec<Setting> {
        let mut lines = text.lines();
        if lines.next() != Some(self.boot().trim()) {
            return vec![];
        }
        let setting = |line: &str| {
            let (name, value) = line.split_once(" = ")?;
            Some((NAMES.into_iter().find(|known| *known == name)?, value.parse().ok()?))
        };
        lines.filter_map(setting).collect()
    }

    fn boot(&self) -> String {
        fs::read_to_string(&self.boot).unwrap_or_default()
    }

    /// Writes values that were there before: of a pair the one that counts.
    fn put_back(&self, before: &[Setting]) {
        let value = |name| before.iter().find(|setting| setting.0 == name).map_or(0, |setting| setting.1);
        for &(name, old) in before {
            let is_idle = PAIRS.into_iter().any(|(bytes, ratio)| match name {
                _ if name == bytes => old == 0,
                _ if name == ratio => value(bytes) > 0,
                _ => false,
            });
            if !is_idle {
                // It was the kernel's own value, so the kernel takes it.
                let _ = self.write(name, old);
            }
        }
    }

    fn write(&self, name: &str, value: u64) -> io::Result<()> {
        // What is there already is left alone.
        if fs::read_to_string(self.settings.join(name))?.trim().parse() == Ok(value) {
            return Ok(());
        }
        fs::write(self.settings.join(name), value.to_string())
    }

    fn remove(&self, record: File) {
        // With the lock, so that nobody writes to it meanwhile.
        let _ = fs::remove_file(&self.record);
        drop(record);
    }

    fn refused(&self, name: &str, value: u64, source: io::Error) -> BenchError {
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                self.needs_root(&self.settings.join(name), &source)
            }
            _ => BenchError::Setting { name: format!("vm.{name}"), value, source },
        }
    }

    fn no_record(&self, source: io::Error) -> BenchError {
        match source.kind() {
            io::ErrorKind::PermissionDenied => self.needs_root(&self.record, &source),
            _ => ProbeError::System { path: self.record.clone(), doing: "written", source }.into(),
        }
    }

    fn needs_root(&self, path: &Path, source: &io::Error) -> BenchError {
        ProbeError::NeedsRoot {
            what: "changing kernel settings, or putting back what a killed pagecast has changed,",
            missing: format!("{}: {source}", path.display()),
            remedy: "run it with sudo, or leave --set out",
        }
        .into()
    }
}

/// Settings that are changed as long as this is there.
#[derive(Debug)]
pub struct Changed {
    kernel: Kernel,
    before: Vec<Setting>,
    record: Option<File>,
}

impl Changed {
    fn note(&mut self, before: &[Setting]) -> io::Result<()> {
        let record = self.record.as_mut().expect("it is there until this is dropped");
        let lines: String = before.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
        record.set_len(0)?;
        record.rewind()?;
        record.write_all(format!("{}\n{lines}", self.kernel.boot().trim()).as_bytes())
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        self.kernel.put_back(&self.before);
        if let Some(record) = self.record.take() {
            self.kernel.remove(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const VALUES: [u64; 6] = [0, 10, 0, 3000, 20, 500];

    /// A folder with files instead of a kernel; it does not know that of a pair one becomes 0.
    fn kernel() -> (TempDir, Kernel) {
        let place = TempDir::new().unwrap();
        for (name, value) in NAMES.into_iter().zip(VALUES) {
            fs::write(place.path().join(name), format!("{value}\n")).unwrap();
        }
        fs::write(place.path().join("boot"), "one\n").unwrap();
        let path = |name| place.path().join(name);
        let kernel = Kernel { settings: path(""), record: path("record"), boot: path("boot") };
        (place, kernel)
    }

    fn values(kernel: &Kernel) -> Vec<u64> {
        kernel.read().unwrap().into_iter().map(|setting| setting.1).collect()
    }

    #[test]
    fn what_was_changed_is_put_back_and_nothing_is_left() {
        let (_place, kernel) = kernel();
        let changed = kernel.change(&[("dirty_ratio", 40), ("dirty_expire_centisecs", 100)]).unwrap();
        assert_eq!(values(&kernel), [0, 10, 0, 100, 40, 500]);
        assert!(kernel.record.exists());
        drop(changed);
        assert_eq!(values(&kernel), VALUES);
        assert!(!kernel.record.exists());
    }

    #[test]
    fn what_a_killed_process_has_left_is_put_back_by_the_next() {
        let (_place, kernel) = kernel();
        let mut changed = kernel.change(&[("dirty_ratio", 40)]).unwrap();
        // As SIGKILL does it: the lock is gone, and nothing was put back.
        drop(changed.record.take());
        std::mem::forget(changed);
        assert_eq!(kernel.put_back_left_over().unwrap(), [("dirty_ratio", 20)]);
        assert_eq!((values(&kernel), kernel.record.exists()), (VALUES.to_vec(), false));
        assert_eq!(kernel.put_back_left_over().unwrap(), []);
    }

    #[test]
    fn who_changes_settings_begins_with_those_that_were_before_the_killed_one() {
        let (_place, kernel) = kernel();
        let mut killed = kernel.change(&[("dirty_ratio", 40)]).unwrap();
        drop(killed.record.take());
        std::mem::forget(killed);
        let changed = kernel.change(&[("dirty_writeback_centisecs", 7)]).unwrap();
        assert_eq!(values(&kernel), [0, 10, 0, 3000, 20, 7]);
        drop(changed);
        assert_eq!(values(&kernel), VALUES);
    }

    #[test]
    fn a_record_of_another_boot_means_nothing() {
        let (_place, kernel) = kernel();
        fs::write(&kernel.record, "other\ndirty_ratio = 77\n").unwrap();
        assert_eq!(kernel.put_back_left_over().unwrap(), []);
        assert_eq!((values(&kernel), kernel.record.exists()), (VALUES.to_vec(), false));
    }

    #[test]
    fn two_do_not_change_settings_at_the_same_time() {
        let (_place, kernel) = kernel();
        let changed = kernel.change(&[("dirty_ratio", 40)]).unwrap();
        assert!(matches!(kernel.change(&[("dirty_ratio", 50)]), Err(BenchError::SettingsInUse)));
        assert_eq!(kernel.put_back_left_over().unwrap(), [], "its owner does that");
        assert_eq!(values(&kernel)[4], 40);
        drop(changed);
        assert_eq!(values(&kernel), VALUES);
    }

    #[test]
    fn of_a_pair_the_one_that_counts_is_put_back() {
        let (place, kernel) = kernel();
        let set = |name: &str, value: &str| fs::write(place.path().join(name), value).unwrap();
        set("dirty_bytes", "1000000");
        set("dirty_ratio", "0");
        let changed = kernel.change(&[]).unwrap();
        // What the kernel does when the ratio is written.
        set("dirty_bytes", "0");
        set("dirty_ratio", "40");
        drop(changed);
        assert_eq!(values(&kernel)[2], 1_000_000);
        assert_eq!(values(&kernel)[4], 40, "the kernel itself makes it 0 when the bytes are written");
        assert_eq!(values(&kernel)[0], 0, "it takes no 0 bytes, and gets none");
    }
}
