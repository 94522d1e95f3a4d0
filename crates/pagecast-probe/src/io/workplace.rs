//! Makes a folder for files that are gone afterwards.
//!
//! It lies in a directory that the user names, and holds a marker file that is locked (flock(2)) as long as its owner lives. The kernel
//! releases the lock however a process ends, SIGKILL too. So the next workplace in the same directory finds leftovers, and removes those
//! and nothing else.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, flock};

use super::Folder;
use crate::error::{ProbeError, Trouble};

/// The names of workplaces: this, what for, the number of the process that made it, and a running number.
const PREFIX: &str = "pagecast-";
/// Its presence says that a folder is ours, and its lock that somebody still works there.
const MARKER: &str = ".pagecast-removes-this-folder";
/// The marker before it is locked.
const UNLOCKED: &str = ".pagecast-new";

/// Counts the workplaces that this process has made, for their names.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub struct Workplace {
    directory: Folder,
    name: String,
    folder: Folder,
    is_kept: bool,
    /// Holds the lock.
    _marker: File,
}

impl Workplace {
    /// Removes what processes that were killed have left in `directory`, and makes an empty folder there. `purpose` becomes a part
    /// of its name.
    ///
    /// # Errors
    /// [`ProbeError::Path`] if it cannot be made.
    pub fn create(directory: &Path, purpose: &str) -> Result<Self, ProbeError> {
        let trouble = |error: io::Error| {
            let trouble = match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Trouble::NotWritable(error)
                }
                _ => Trouble::new("mkdir", error),
            };
            ProbeError::Path { path: directory.to_owned(), trouble }
        };
        let directory = Folder::open(directory)?;
        remove_left_over(&directory.sure_path());
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{purpose}-{}-{number}", std::process::id());
        let path = directory.sure_path().join(&name);
        fs::create_dir(&path).map_err(trouble)?;
        let made = mark(&path).and_then(|marker| Ok((marker, directory.sub_folder(&name)?)));
        let (marker, folder) = made.map_err(|error| {
            let _ = fs::remove_dir_all(&path);
            trouble(error)
        })?;
        Ok(Self { directory, name, folder, is_kept: false, _marker: marker })
    }

    /// The folder in which files are made.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// It stays, and is the user's from now on.
    pub fn keep(&mut self) {
        self.is_kept = true;
        let _ = fs::remove_file(self.folder.sure_path().join(MARKER));
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = remove(&self.directory.sure_path().join(&self.name));
        }
    }
}

/// Puts a marker into a folder. It gets its name when it is locked: nobody finds one that is not.
fn mark(path: &Path) -> io::Result<File> {
    let marker = File::create_new(path.join(UNLOCKED))?;
    flock(&marker, FlockOperation::NonBlockingLockExclusive)?;
    fs::rename(path.join(UNLOCKED), path.join(MARKER))?;
    Ok(marker)
}

/// Removes a workplace, its marker last: if we are killed on the way, the next one goes on.
fn remove(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == MARKER {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    fs::remove_dir_all(path)
}

/// Removes workplaces whose owners are gone.
fn remove_left_over(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        // A link is no directory here.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let maker = entry.file_name().to_str().and_then(maker).filter(|_| is_folder);
        if let Some(maker) = maker {
            remove_if_left(&entry.path(), maker);
        }
    }
}

/// The process that made a workplace of this name.
fn maker(name: &str) -> Option<u32> {
    let mut numbers = name.strip_prefix(PREFIX)?.rsplit('-');
    numbers.next()?.parse::<u32>().ok()?;
    numbers.next()?.parse().ok()
}

fn remove_if_left(path: &Path, maker: u32) {
    // For writing, as a lock on NFS needs it.
    match File::options().write(true).open(path.join(MARKER)) {
        Ok(marker) => {
            if flock(&marker, FlockOperation::NonBlockingLockExclusive).is_ok() {
                let _ = remove(path);
            }
        }
        // Killed before the marker had its name, or after it was removed: then there is nothing else in it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if !Path::new("/proc").join(maker.to_string()).exists() {
                let _ = fs::remove_file(path.join(UNLOCKED));
                let _ = fs::remove_dir(path);
            }
        }
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn names(place: &TempDir) -> usize {
        fs::read_dir(place.path()).unwrap().count()
    }

    #[test]
    fn it_is_gone_afterwards_unless_it_is_kept() {
        let place = TempDir::new().unwrap();
        let mut kept = Workplace::create(place.path(), "test").unwrap();
        let other = Workplace::create(place.path(), "test").unwrap();
        fs::create_dir_all(other.path().join("a/b")).unwrap();
        assert_eq!(names(&place), 2, "those that are worked in are left alone");
        drop(other);
        kept.keep();
        let path = kept.path().to_owned();
        drop(kept);
        drop(Workplace::create(place.path(), "test").unwrap());
        assert_eq!((names(&place), names_in(&path)), (1, 0), "no marker is left in it");
    }

    fn names_in(path: &Path) -> usize {
        fs::read_dir(path).unwrap().count()
    }

    #[test]
    fn what_was_left_behind_is_removed_and_nothing_else() {
        let place = TempDir::new().unwrap();
        let left = place.path().join("pagecast-run-1-0");
        fs::create_dir_all(left.join("data")).unwrap();
        fs::write(left.join("data/f"), "x").unwrap();
        fs::write(left.join(MARKER), "").unwrap();
        let unfinished = place.path().join("pagecast-run-4294967295-0");
        fs::create_dir(&unfinished).unwrap();
        fs::write(unfinished.join(UNLOCKED), "").unwrap();
        let users = place.path().join("pagecast-run-notes");
        fs::create_dir(&users).unwrap();
        std::os::unix::fs::symlink(&users, place.path().join("pagecast-link")).unwrap();
        let made = Workplace::create(place.path(), "run").unwrap();
        assert!(!left.exists() && !unfinished.exists() && users.exists());
        assert_eq!(names(&place), 3);
        drop(made);
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let error = Workplace::create(Path::new("/no/such"), "run").unwrap_err().to_string();
        assert_eq!(error, "/no/such: there is no such file or directory; check the name");
    }
}
