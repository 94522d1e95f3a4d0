//! A folder on a disk, and short names for what the tests do with files in it.

use std::fs::{self, File};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use pagecast_core::units::Bytes;
use pagecast_probe::filesystem::{Kind, MountTable};
use pagecast_probe::residency::{FileResidency, Method, Prober, Survey, survey};
use pagecast_probe::watch::Progress;
use tempfile::TempDir;

/// A new folder, on a disk if there is one.
pub fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A new folder on a disk; nothing, and a word about it, if the target directory is in memory.
pub fn disk() -> Option<TempDir> {
    let folder = folder();
    let open = File::open(folder.path()).unwrap();
    let kind = MountTable::default().file_system(open.as_fd(), 0).kind;
    if kind == Kind::Memory {
        eprintln!("not tested: {} is in memory", folder.path().display());
        return None;
    }
    Some(folder)
}

/// A file with `size` bytes on the disk: nothing of it is dirty.
pub fn file(folder: &Path, name: &str, size: usize) -> PathBuf {
    let path = dirty_file(folder, name, size);
    File::open(&path).unwrap().sync_all().unwrap();
    path
}

/// A file that was just written.
pub fn dirty_file(folder: &Path, name: &str, size: usize) -> PathBuf {
    let path = folder.join(name);
    File::create(&path).unwrap().write_all(&vec![7; size]).unwrap();
    path
}

/// Lets everything go on.
pub fn on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Asks in the best way there is.
pub fn best() -> Prober {
    Prober::new(None).unwrap()
}

/// Asks with mincore.
pub fn by_mincore() -> Prober {
    Prober::new(Some(Method::Mincore)).unwrap()
}

pub fn look(files: &[PathBuf], prober: &Prober) -> Survey {
    survey(files, prober, 0, &mut on).unwrap()
}

pub fn look_at(path: &Path, prober: &Prober) -> FileResidency {
    let found = look(&[path.to_owned()], prober);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    found.files[0].clone()
}

pub fn cached(path: &Path) -> Bytes {
    look_at(path, &best()).residency.cached
}

pub fn size(path: &Path) -> Bytes {
    Bytes(fs::metadata(path).unwrap().len())
}
