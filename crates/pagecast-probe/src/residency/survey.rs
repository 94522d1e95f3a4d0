//! Measures many files at once.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use pagecast_core::units::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Method, OpenFile, Prober, Residency};
use crate::error::{ProbeError, Problem, Trouble};
use crate::filesystem::{FileSystem, MountTable};
use crate::walk::FileId;
use crate::watch::{Pace, Watcher, for_each};

/// One file and what is cached of it.
#[derive(Clone, Debug)]
pub struct FileResidency {
    /// The first of the names under which it was found.
    pub path: PathBuf,
    /// Device and inode.
    pub id: FileId,
    /// Its length.
    pub size: Bytes,
    /// Its room on its device; less than the size if it has holes.
    pub allocated: Bytes,
    /// Its pages in memory.
    pub residency: Residency,
    /// The method of measuring.
    pub method: Method,
    /// Its file system.
    pub file_system: Arc<FileSystem>,
    /// How much of each of some equal pieces is cached; empty if no picture was asked for.
    pub cells: Vec<f64>,
}

/// The measured files.
#[derive(Debug, Default)]
pub struct Survey {
    /// Each file once, also if it has several names.
    pub files: Vec<FileResidency>,
    /// Files that could not be measured, or not well.
    pub problems: Vec<Problem>,
    /// Files that were gone before they could be measured.
    pub vanished: u64,
    /// Names of files that were counted under another name.
    pub other_names: u64,
}

/// The file systems that files are on, each once, in the order of the files.
#[must_use]
pub fn file_systems<'a>(files: impl Iterator<Item = &'a FileResidency>) -> Vec<Arc<FileSystem>> {
    let mut found: Vec<Arc<FileSystem>> = Vec::new();
    for file in files {
        if !found.iter().any(|known| Arc::ptr_eq(known, &file.file_system)) {
            found.push(Arc::clone(&file.file_system));
        }
    }
    found
}

/// File systems by device, found out once for each.
#[derive(Debug)]
pub(crate) struct FileSystems {
    mounts: MountTable,
    known: RwLock<FxHashMap<u64, Arc<FileSystem>>>,
}

impl FileSystems {
    pub fn new() -> Self {
        Self { mounts: MountTable::read(), known: RwLock::default() }
    }

    pub fn of(&self, file: &OpenFile) -> Arc<FileSystem> {
        let promise = "no thread panics while it holds the lock";
        if let Some(found) = self.known.read().expect(promise).get(&file.id.0) {
            return Arc::clone(found);
        }
        let found = self.mounts.file_system(file.as_fd(), file.id.0);
        Arc::clone(self.known.write().expect(promise).entry(file.id.0).or_insert_with(|| Arc::new(found)))
    }
}

/// Measures files; with `cells` above 0, also in so many pieces of each.
///
/// # Errors
/// [`ProbeError::Interrupted`].
pub fn survey(
    files: &[PathBuf],
    prober: &Prober,
    cells: u64,
    watch: &mut Watcher<'_>,
) -> Result<Survey, ProbeError> {
    let systems = FileSystems::new();
    let measured = for_each("measuring", files.len() as u64, files, watch, |path, pace| {
        pace.advance(1)?;
        Ok(one(path, prober, &systems, cells, pace))
    })?;
    let mut survey = Survey::default();
    let mut seen = FxHashSet::default();
    for (path, answer) in files.iter().zip(measured) {
        match answer {
            Ok((file, trouble)) => {
                if !seen.insert(file.id) {
                    survey.other_names += 1;
                    continue;
                }
                survey.files.push(file);
                survey.problems.extend(trouble.map(|trouble| Problem { path: path.clone(), trouble }));
            }
            Err(Trouble::Missing) => survey.vanished += 1,
            Err(trouble) => survey.problems.push(Problem { path: path.clone(), trouble }),
        }
    }
    Ok(survey)
}

type Measured = Result<(FileResidency, Option<Trouble>), Trouble>;

fn one(path: &Path, prober: &Prober, systems: &FileSystems, cells: u64, pace: &Pace) -> Measured {
    let file = OpenFile::open(path)?;
    let file_system = systems.of(&file);
    let kind = file_system.kind;
    let residency = prober.whole(&file, kind, pace)?;
    let cells = if cells > 0 { prober.cells(&file, kind, cells, pace)? } else { vec![] };
    let now = file.size_now();
    let truncated = (now < file.size).then_some(Trouble::Truncated { from: file.size, to: now });
    let found = FileResidency {
        path: path.to_owned(),
        id: file.id,
        size: file.size,
        allocated: file.allocated,
        residency,
        method: prober.method(kind),
        file_system,
        cells,
    };
    Ok((found, truncated))
}
