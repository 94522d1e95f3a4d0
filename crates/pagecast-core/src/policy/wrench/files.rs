//! Numbers the files of a host, and keeps the devices they are on.

use rustc_hash::FxHashMap;

use crate::flow::Path;
use crate::policy::{DeviceId, FileId, FileView};

/// A file as the host knows it. Files are counted from 0 as they are named, so that values by file are a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HostFile(pub u32);

impl HostFile {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The files of a host; see the module.
#[derive(Default)]
pub(super) struct Files {
    numbers: FxHashMap<FileId, HostFile>,
    known: Vec<(FileId, DeviceId)>,
    /// The path of each device's write-back, as learned from the files on it.
    write_paths: FxHashMap<DeviceId, Path>,
}

impl Files {
    pub(super) fn learn(&mut self, file: &FileView) -> HostFile {
        self.write_paths.entry(file.device).or_insert(file.write);
        let next = HostFile(self.known.len() as u32);
        let number = *self.numbers.entry(file.id).or_insert(next);
        if number == next {
            self.known.push((file.id, file.device));
        }
        self.known[number.index()].1 = file.device;
        number
    }

    /// The number of a file, if it has been named.
    pub(super) fn number(&self, file: FileId) -> Option<HostFile> {
        self.numbers.get(&file).copied()
    }

    pub(super) fn id(&self, file: HostFile) -> FileId {
        self.known[file.index()].0
    }

    pub(super) fn device(&self, file: HostFile) -> DeviceId {
        self.known[file.index()].1
    }

    pub(super) fn write_path(&self, device: DeviceId) -> Path {
        self.write_paths[&device]
    }
}
