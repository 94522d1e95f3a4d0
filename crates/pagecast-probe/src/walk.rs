//! Finds the files below some paths: recursive, without loops, with names of any bytes.
//!
//! Links are followed as `du` does: a path that is named is followed if it is a symbolic link, links inside a directory only if asked for.
//! Sockets, pipes and devices inside a directory are counted and left out, and so is everything on proc, sysfs and the like.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustc_hash::FxHashSet;
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, stat};

use crate::error::{ProbeError, Problem, Trouble};
use crate::filesystem::{Kind, MountTable};
use crate::watch::{LOOK_PERIOD, Progress, Watcher};

/// The identity of a file, whatever its names.
pub type FileId = (u64, u64);

/// The settings of a walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Follow symbolic links inside directories.
    pub follow: bool,
    /// Stay on the file system of each path that is named.
    pub one_file_system: bool,
}

/// The files found.
#[derive(Debug, Default)]
pub struct Selection {
    /// Files and, where they are named, block devices; in the order of the paths, directories sorted by name.
    pub files: Vec<PathBuf>,
    /// Paths that could not be looked at.
    pub problems: Vec<Problem>,
    /// Symbolic links that were not followed.
    pub links_left_out: u64,
    /// Symbolic links that lead to a directory that was looked at already.
    pub links_back: u64,
    /// Sockets, pipes, devices.
    pub special_left_out: u64,
    /// Directories of made-up file systems, or of other file systems where one was asked for.
    pub mounts_left_out: Vec<PathBuf>,
}

/// Finds the files below `paths`.
///
/// # Errors
/// [`ProbeError::Path`] if a path that is named cannot be used at all, [`ProbeError::NoFiles`] if there is nothing, and
/// [`ProbeError::Interrupted`].
pub fn select(paths: &[PathBuf], options: Options, watch: &mut Watcher<'_>) -> Result<Selection, ProbeError> {
    let mut walk = Walk {
        found: Selection::default(),
        options,
        mounts: MountTable::read(),
        entered: FxHashSet::default(),
        watch,
        looked: Instant::now(),
    };
    for path in paths {
        let wrong = |trouble| ProbeError::Path { path: path.clone(), trouble };
        let found = stat(path).map_err(|error| wrong(Trouble::new("stat", error.into())))?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile | FileType::BlockDevice => {
                walk.refuse_made_up(path, &found).map_err(wrong)?;
                walk.found.files.push(path.clone());
            }
            FileType::Directory => walk.tree(path, &found)?,
            other => return Err(wrong(Trouble::NotAFile(kind_of(other)))),
        }
    }
    match walk.found.files.is_empty() && walk.found.problems.is_empty() {
        true => Err(ProbeError::NoFiles(paths.first().cloned().unwrap_or_default())),
        false => Ok(walk.found),
    }
}

fn kind_of(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice => "character device",
        _ => "special file",
    }
}

struct Walk<'a, 'w> {
    found: Selection,
    options: Options,
    mounts: MountTable,
    /// Directories that were entered: none is entered twice, so that every walk has an end.
    entered: FxHashSet<FileId>,
    watch: &'a mut Watcher<'w>,
    looked: Instant,
}

impl Walk<'_, '_> {
    /// Refuses a file of proc, sysfs and the like that was named.
    fn refuse_made_up(&self, path: &Path, found: &Stat) -> Result<(), Trouble> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let file =
            openat(CWD, path, flags, Mode::empty()).map_err(|error| Trouble::new("open", error.into()))?;
        let file_system = self.mounts.file_system(file.as_fd(), found.st_dev);
        match file_system.kind {
            Kind::MadeUp => Err(Trouble::MadeUp(file_system.type_name)),
            _ => Ok(()),
        }
    }

    /// Goes through the tree below a directory that was named.
    fn tree(&mut self, top: &Path, found: &Stat) -> Result<(), ProbeError> {
        let wrong = |trouble| ProbeError::Path { path: top.to_owned(), trouble };
        self.refuse_made_up(top, found).map_err(wrong)?;
        let mut open = vec![(top.to_owned(), found.st_dev)];
        while let Some((path, above)) = open.pop() {
            self.look()?;
            match self.directory(&path, above) {
                // The last is taken first: put them the other way round.
                Ok(below) => open.extend(below.into_iter().rev()),
                Err(trouble) if path == top => return Err(wrong(trouble)),
                // It was removed after its directory was read.
                Err(Trouble::Missing) => {}
                Err(trouble) => self.found.problems.push(Problem { path, trouble }),
            }
        }
        Ok(())
    }

    /// Notes the files of one directory and gives the directories in it. `above` is the device that its parent is on.
    fn directory(&mut self, path: &Path, above: u64) -> Result<Vec<(PathBuf, u64)>, Trouble> {
        let failed = |doing| move |error: rustix::io::Errno| Trouble::new(doing, error.into());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, path, flags, Mode::empty()).map_err(failed("open"))?;
        let own = fstat(&directory).map_err(failed("stat"))?;
        if !self.entered.insert((own.st_dev, own.st_ino)) {
            self.found.links_back += 1;
            return Ok(vec![]);
        }
        let is_other = own.st_dev != above;
        let is_made_up = || self.mounts.file_system(directory.as_fd(), own.st_dev).kind == Kind::MadeUp;
        if is_other && (self.options.one_file_system || is_made_up()) {
            self.found.mounts_left_out.push(path.to_owned());
            return Ok(vec![]);
        }
        let mut entries = Vec::new();
        let mut reader = Dir::new(directory).map_err(failed("read"))?;
        while let Some(entry) = reader.read() {
            let entry = entry.map_err(failed("read"))?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                entries.push((name.to_vec(), entry.file_type()));
            }
        }
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let mut below = Vec::new();
        for (name, file_type) in entries {
            let path = path.join(OsStr::from_bytes(&name));
            match self.resolved(&path, file_type) {
                Ok(FileType::RegularFile) => self.found.files.push(path),
                Ok(FileType::Directory) => below.push((path, own.st_dev)),
                Ok(FileType::Symlink) => self.found.links_left_out += 1,
                Ok(_) => self.found.special_left_out += 1,
                Err(trouble) => self.found.problems.push(Problem { path, trouble }),
            }
        }
        Ok(below)
    }

    /// What an entry is; where links are followed, what it leads to.
    fn resolved(&self, path: &Path, listed: FileType) -> Result<FileType, Trouble> {
        let follow = self.options.follow;
        let found = match listed {
            FileType::Unknown if !follow => rustix::fs::lstat(path),
            FileType::Unknown => stat(path),
            FileType::Symlink if follow => stat(path),
            known => return Ok(known),
        };
        let found = found.map_err(|error| Trouble::new("stat", io::Error::from(error)))?;
        Ok(FileType::from_raw_mode(found.st_mode))
    }

    fn look(&mut self) -> Result<(), ProbeError> {
        if self.looked.elapsed() < LOOK_PERIOD {
            return Ok(());
        }
        self.looked = Instant::now();
        let done = self.found.files.len() as u64;
        match (self.watch)(Progress { stage: "listing files", done, total: None }).is_break() {
            true => Err(ProbeError::Interrupted),
            false => Ok(()),
        }
    }
}
