//! Gives each path of a host the file that has it now: files are linked, renamed and removed while they are open.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::known::Known;
use crate::policy::FileId;

/// A path on the host that keeps its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameId(u32);

/// A directory on the host that keeps its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct DirectoryId(pub u32);

/// The place of a name.
#[derive(Clone)]
pub(super) struct Home {
    pub host: u32,
    pub mount: u32,
    pub disk: u32,
    pub path: Arc<str>,
}

/// A name and the file that has it. A name without a file has one that does not exist.
struct Name {
    home: Home,
    file: FileId,
    directory: DirectoryId,
}

/// All names that have been used.
pub(super) struct Names {
    all: Vec<Name>,
    by_home: FxHashMap<(u32, Arc<str>), NameId>,
    directories: FxHashMap<(u32, Arc<str>), DirectoryId>,
    /// For each directory, how many of its names have files that exist.
    entries: Vec<u32>,
    /// For each host, the names as it sees them, and the mount through which it does.
    by_view: Vec<FxHashMap<Arc<str>, (NameId, u32)>>,
    /// Names that were looked up, and by which host.
    known: Known<(usize, NameId, u32)>,
}

impl Names {
    pub(super) fn new(hosts: usize) -> Self {
        let by_view = (0..hosts).map(|_| FxHashMap::default()).collect();
        Self {
            all: Vec::new(),
            by_home: FxHashMap::default(),
            directories: FxHashMap::default(),
            entries: Vec::new(),
            by_view,
            known: Known::default(),
        }
    }

    /// The name that a host sees at a path, and its mount there.
    pub(super) fn seen(&mut self, host: usize, path: &Arc<str>) -> Option<(NameId, u32)> {
        if let Some((by, name, mount)) = self.known.get(path)
            && by == host
        {
            return Some((name, mount));
        }
        let (name, mount) = self.by_view[host].get(path).copied()?;
        self.known.set(path, (host, name, mount));
        Some((name, mount))
    }

    /// Forgets what only makes looking up quicker.
    pub(super) fn retire(&mut self) {
        self.known.forget();
    }

    /// A host sees a name at this path.
    pub(super) fn see(&mut self, host: usize, path: &Arc<str>, name: NameId, mount: u32) {
        self.by_view[host].insert(path.clone(), (name, mount));
    }

    /// All paths that a host has named, with their files.
    pub(super) fn all_seen(&self, host: usize) -> impl Iterator<Item = (&Arc<str>, FileId)> {
        self.by_view[host].iter().map(|(path, &(name, _))| (path, self.file(name)))
    }

    /// The name at a place; `new_file` makes the file of one that is new.
    pub(super) fn at(&mut self, home: Home, new_file: impl FnOnce(&Home, DirectoryId) -> FileId) -> NameId {
        if let Some(&known) = self.by_home.get(&(home.host, home.path.clone())) {
            return known;
        }
        let name = NameId(self.all.len() as u32);
        self.by_home.insert((home.host, home.path.clone()), name);
        let directory = self.directory_of(&home);
        self.all.push(Name { file: new_file(&home, directory), home, directory });
        name
    }

    /// The directory of a place.
    fn directory_of(&mut self, home: &Home) -> DirectoryId {
        let path = home.path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let next = DirectoryId(self.entries.len() as u32);
        let found = *self.directories.entry((home.host, path.into())).or_insert(next);
        if found == next {
            self.entries.push(0);
        }
        found
    }

    pub(super) fn directory(&self, name: NameId) -> DirectoryId {
        self.all[name.0 as usize].directory
    }

    /// How many names a directory has.
    pub(super) fn in_directory(&self, directory: DirectoryId) -> u32 {
        self.entries[directory.0 as usize]
    }

    pub(super) fn add_to(&mut self, directory: DirectoryId) {
        self.entries[directory.0 as usize] += 1;
    }

    pub(super) fn remove_from(&mut self, directory: DirectoryId) {
        let entries = &mut self.entries[directory.0 as usize];
        *entries = entries.saturating_sub(1);
    }

    pub(super) fn file(&self, name: NameId) -> FileId {
        self.all[name.0 as usize].file
    }

    pub(super) fn home(&self, name: NameId) -> &Home {
        &self.all[name.0 as usize].home
    }

    pub(super) fn give(&mut self, name: NameId, file: FileId) {
        self.all[name.0 as usize].file = file;
    }

    /// The names below a directory, by their number.
    pub(super) fn below(&self, directory: NameId) -> Vec<NameId> {
        let Home { host, path, .. } = self.home(directory);
        let is_below = |home: &Home| {
            home.host == *host && home.path.strip_prefix(&**path).is_some_and(|rest| rest.starts_with('/'))
        };
        (0..).zip(&self.all).filter(|(_, name)| is_below(&name.home)).map(|(at, _)| NameId(at)).collect()
    }
}
