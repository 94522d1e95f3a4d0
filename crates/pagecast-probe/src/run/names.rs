//! Gives each path of a run a number and a place in the folder.
//!
//! Most paths are known before the run. Programs that look at the clock may name others on their way.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use pagecast_core::units::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};

/// A file before time 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Initial {
    pub size: Bytes,
    /// The bytes of it in memory, from its start.
    pub cached: Bytes,
    /// The dirty bytes of those, from its start.
    pub dirty: Bytes,
}

/// A path of the scenario: of a file, or of a directory that is made or removed.
#[derive(Debug)]
pub(super) struct NamedFile {
    pub number: u32,
    /// The host that named it first.
    pub host: usize,
    /// As that host calls it.
    pub path: Arc<str>,
    /// Its path in the folder.
    pub within: PathBuf,
    /// Its state before time 0, if it is there.
    pub initial: Option<Initial>,
    /// Counts how often the name was given to another file, or removed.
    generation: AtomicU32,
}

impl NamedFile {
    /// Differs from before if the path may stand for another file by now.
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Acquire)
    }

    /// Its length before time 0.
    pub fn initial_size(&self) -> u64 {
        self.initial.map_or(0, |there| there.size.0)
    }

    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }
}

/// All paths, by their number.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: RwLock<Known>,
    /// Directories, within the folder, that are there because a path is below them, and not because a program made them.
    implied: Mutex<FxHashSet<PathBuf>>,
}

#[derive(Debug, Default)]
struct Known {
    /// By their paths in the folder: hosts may have several names for a file.
    numbers: FxHashMap<PathBuf, u32>,
    files: Vec<Arc<NamedFile>>,
    /// Paths within the folder that others are below, or that are made or removed as directories.
    directories: FxHashSet<PathBuf>,
}

impl Names {
    /// The file of a path of a host, which is at `within` in the folder; `initial` counts if the file is new.
    pub fn file(
        &self,
        (host, path): (usize, &Arc<str>),
        within: PathBuf,
        initial: Option<Initial>,
    ) -> Arc<NamedFile> {
        let mut known = self.known.write().expect("nobody panics while he holds the lock");
        if let Some(&number) = known.numbers.get(&within) {
            return known.files[number as usize].clone();
        }
        let number = known.files.len() as u32;
        for above in within.ancestors().skip(1).filter(|above| *above != Path::new("")) {
            if !known.directories.insert(above.to_owned()) {
                break;
            }
        }
        known.numbers.insert(within.clone(), number);
        let (path, generation) = (path.clone(), AtomicU32::new(0));
        let file = Arc::new(NamedFile { number, host, path, within, initial, generation });
        known.files.push(file.clone());
        file
    }

    /// The path is a directory's.
    pub fn is_directory(&self, file: &NamedFile) {
        let mut known = self.known.write().expect("nobody panics while he holds the lock");
        if !known.directories.contains(&file.within) {
            known.directories.insert(file.within.clone());
        }
    }

    /// All paths that were named so far, directories with them, by their number.
    pub fn all(&self) -> Vec<Arc<NamedFile>> {
        self.known.read().expect("nobody panics while he holds the lock").files.clone()
    }

    /// Those that are files.
    pub fn files(&self) -> Vec<Arc<NamedFile>> {
        let known = self.known.read().expect("nobody panics while he holds the lock");
        known.files.iter().filter(|file| !known.directories.contains(&file.within)).cloned().collect()
    }

    /// The paths that stand for another file when this one has been renamed or removed: it, and all below it.
    pub fn at_and_below(&self, file: &Arc<NamedFile>) -> Vec<Arc<NamedFile>> {
        let known = self.known.read().expect("nobody panics while he holds the lock");
        if !known.directories.contains(&file.within) {
            return vec![file.clone()];
        }
        known.files.iter().filter(|other| other.within.starts_with(&file.within)).cloned().collect()
    }

    /// These paths stand for other files from now on.
    pub fn changed(files: &[Arc<NamedFile>]) {
        files.iter().for_each(|file| file.changed());
    }

    /// Directories are there though no program has made them.
    pub fn imply(&self, directory: &Path) {
        let mut implied = self.implied.lock().expect("nobody panics while he holds the lock");
        implied.extend(directory.ancestors().map(Path::to_owned));
    }

    /// Whether a directory was there though no program had made it; from now on one has.
    pub fn was_implied(&self, directory: &Path) -> bool {
        self.implied.lock().expect("nobody panics while he holds the lock").remove(directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_directory_takes_the_paths_below_it_along() {
        let names = Names::default();
        let file = |path: &str| names.file((0, &path.into()), path.trim_start_matches('/').into(), None);
        let [f, g, other] = ["/data/d/f", "/data/d/e/g", "/data/do"].map(file);
        let directory = file("/data/d");
        let numbers = |files: Vec<Arc<NamedFile>>| files.iter().map(|file| file.number).collect::<Vec<_>>();
        assert_eq!(numbers(names.at_and_below(&directory)), [f.number, g.number, directory.number]);
        assert_eq!(numbers(names.at_and_below(&other)), [other.number]);
        assert_eq!(numbers(names.files()), [f.number, g.number, other.number]);
        Names::changed(&names.at_and_below(&directory));
        assert_eq!([&f, &other].map(|file| file.generation()), [1, 0]);
    }

    #[test]
    fn an_implied_directory_is_made_once() {
        let names = Names::default();
        names.imply(Path::new("data/d"));
        assert!(names.was_implied(Path::new("data/d")) && !names.was_implied(Path::new("data/d")));
        assert!(names.was_implied(Path::new("data")));
    }
}
