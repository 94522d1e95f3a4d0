//! Resolves a path to a file, with its size and its device.

use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::Path;
use crate::machine::{Machine, Mount, MountSource, WriteMode};
use crate::policy::{DeviceId, FileId, FileView};
use crate::units::Bytes;

/// A file as one host names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    /// The file.
    pub file: FileId,
    /// Index of the mount of that host through which it is seen.
    pub mount: u32,
}

/// The paths of flows for files under a mount.
#[derive(Clone, Copy)]
pub(crate) struct Paths {
    pub read: Path,
    pub write: Path,
    pub read_and_copy: Path,
}

/// A path that no mount of the host covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMount;

/// A file where it is kept.
struct File {
    path: Arc<str>,
    host: u32,
    mount: u32,
    disk: u32,
    size: Bytes,
    /// The end of the written bytes; a hole follows.
    filled: Bytes,
    /// Space taken on the disk: the size, or more while a write is under way.
    taken: Bytes,
    /// True if it has a size: not while it is being written for the first time.
    exists: bool,
    /// True if a write to it has begun.
    is_made: bool,
}

/// All files of a machine, which is borrowed or shared.
pub(crate) struct Namespace<M> {
    machine: M,
    files: Vec<File>,
    by_home: FxHashMap<(u32, Arc<str>), FileId>,
    by_view: Vec<FxHashMap<Arc<str>, Located>>,
    /// Bytes in use on each disk of each host.
    used: Vec<Vec<Bytes>>,
}

impl<M: Deref<Target = Machine>> Namespace<M> {
    pub(crate) fn new(machine: M) -> Self {
        Self {
            files: Vec::new(),
            by_home: FxHashMap::default(),
            by_view: machine.hosts.iter().map(|_| FxHashMap::default()).collect(),
            used: machine.hosts.iter().map(|host| vec![Bytes::ZERO; host.disks.len()]).collect(),
            machine,
        }
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// A file as the policy of a host sees it; `paths` are those of its mount there.
    pub(crate) fn view(&self, host: usize, located: Located, paths: &Paths) -> FileView {
        let host = &self.machine.hosts[host];
        let mount = &host.mounts[located.mount as usize];
        let device = match mount.source {
            MountSource::Disk(disk) => disk,
            MountSource::Nfs { .. } => host.disks.len() + located.mount as usize,
        };
        FileView {
            id: located.file,
            size: self.size(located.file),
            filled: self.filled(located.file),
            device: DeviceId(device as u32),
            read: paths.read,
            write: paths.write,
            read_and_copy: paths.read_and_copy,
            page_insert: mount.page_insert.unwrap_or(host.memory.cost.page_insert),
            cost: mount.cost,
        }
    }

    /// Resolves a path on a host, whether or not there is such a file yet.
    pub(crate) fn locate(&mut self, host: usize, path: &Arc<str>) -> Result<Located, NoMount> {
        if let Some(&known) = self.by_view[host].get(path) {
            return Ok(known);
        }
        let mount = covering(&self.machine.hosts[host].mounts, path).ok_or(NoMount)?;
        let seen = &self.machine.hosts[host].mounts[mount];
        let (home, home_mount, home_path) = match seen.source {
            MountSource::Disk(_) => (host, mount, path.clone()),
            MountSource::Nfs { server, export, .. } => {
                let exported = &self.machine.hosts[server].mounts[export];
                (server, export, rebased(path, &seen.path, &exported.path))
            }
        };
        let file = self.file_at(home, home_mount, home_path);
        let located = Located { file, mount: mount as u32 };
        self.by_view[host].insert(path.clone(), located);
        Ok(located)
    }

    fn file_at(&mut self, host: usize, mount: usize, path: Arc<str>) -> FileId {
        let next = FileId(self.files.len() as u32);
        let file = *self.by_home.entry((host as u32, path.clone())).or_insert(next);
        if file == next {
            let MountSource::Disk(disk) = self.machine.hosts[host].mounts[mount].source else {
                unreachable!("only mounts of a disk are exported")
            };
            let (host, mount, disk) = (host as u32, mount as u32, disk as u32);
            let (size, filled, taken, exists) = (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO, false);
            let is_made = false;
            self.files.push(File { path, host, mount, disk, size, filled, taken, exists, is_made });
        }
        file
    }

    /// The path of a file on the host that keeps it.
    pub(crate) fn path(&self, file: FileId) -> &Arc<str> {
        &self.files[file.0 as usize].path
    }

    /// True if there is a file with a size: not while it is being written for the first time.
    pub(crate) fn has_size(&self, file: FileId) -> bool {
        self.files[file.0 as usize].exists
    }

    /// True if there is such a file, be it one that is being written for the first time.
    pub(crate) fn exists(&self, file: FileId) -> bool {
        let file = &self.files[file.0 as usize];
        file.exists || file.is_made
    }

    pub(crate) fn size(&self, file: FileId) -> Bytes {
        self.files[file.0 as usize].size
    }

    /// The end of the written bytes of a file.
    pub(crate) fn filled(&self, file: FileId) -> Bytes {
        self.files[file.0 as usize].filled
    }

    /// The end of a file after all writes under way.
    pub(crate) fn taken(&self, file: FileId) -> Bytes {
        self.files[file.0 as usize].taken
    }

    /// The host and the disk that keep a file.
    pub(crate) fn home(&self, file: FileId) -> (usize, usize) {
        let file = &self.files[file.0 as usize];
        (file.host as usize, file.disk as usize)
    }

    /// The host and the mount that keep a file.
    pub(crate) fn home_mount(&self, file: FileId) -> (usize, u32) {
        let file = &self.files[file.0 as usize];
        (file.host as usize, file.mount)
    }

    /// True if writes to a file reach its disk before they return.
    pub(crate) fn writes_through(&self, file: FileId) -> bool {
        let file = &self.files[file.0 as usize];
        self.machine.hosts[file.host as usize].mounts[file.mount as usize].write_mode == WriteMode::Through
    }

    /// The free bytes on a file's disk.
    pub(crate) fn free(&self, file: FileId) -> Bytes {
        let (host, disk) = self.home(file);
        self.machine.hosts[host].disks[disk].size.saturating_sub(self.used[host][disk])
    }

    /// Bytes in use on the disk of a file.
    pub(crate) fn used(&self, file: FileId) -> Bytes {
        let (host, disk) = self.home(file);
        self.used[host][disk]
    }

    /// Begins a write that ends at this size. The file exists from now on; its space is taken, its size is as it was.
    pub(crate) fn begin_write(&mut self, file: FileId, size: Bytes) {
        self.take_space(file, size);
        self.files[file.0 as usize].is_made = true;
    }

    fn take_space(&mut self, file: FileId, size: Bytes) {
        let taken = self.files[file.0 as usize].taken.max(size);
        self.set_taken(file, taken);
    }

    /// Makes the file exist from now on, with at least this size: it was written up to there.
    pub(crate) fn grow(&mut self, file: FileId, size: Bytes) {
        self.extend(file, size);
        let entry = &mut self.files[file.0 as usize];
        entry.filled = entry.filled.max(size);
    }

    /// Makes the file exist from now on, with at least this size and a hole at its end.
    pub(crate) fn extend(&mut self, file: FileId, size: Bytes) {
        self.take_space(file, size);
        let entry = &mut self.files[file.0 as usize];
        (entry.size, entry.exists) = (entry.size.max(size), true);
    }

    /// Makes the file exist from now on with this size.
    pub(crate) fn resize(&mut self, file: FileId, size: Bytes) {
        self.set_taken(file, size);
        let entry = &mut self.files[file.0 as usize];
        (entry.size, entry.filled, entry.exists) = (size, entry.filled.min(size), true);
    }

    fn set_taken(&mut self, file: FileId, taken: Bytes) {
        let (host, disk) = self.home(file);
        let entry = &mut self.files[file.0 as usize];
        let used = &mut self.used[host][disk];
        *used = *used - entry.taken + taken;
        entry.taken = taken;
    }

    /// Removes the file.
    pub(crate) fn remove(&mut self, file: FileId) {
        self.resize(file, Bytes::ZERO);
        let entry = &mut self.files[file.0 as usize];
        (entry.exists, entry.is_made) = (false, false);
    }

    /// Lists the files that a host keeps, by their path there, and the files of other hosts that it has named, by the first of its
    /// paths. Removed files and files not yet written are included. Each is listed once.
    pub(crate) fn seen_by(&self, host: usize) -> Vec<(Arc<str>, FileId)> {
        let is_kept = |file: &File| file.host as usize == host;
        let own = (0..).zip(&self.files).filter(|(_, file)| is_kept(file));
        let own = own.map(|(number, file)| (file.path.clone(), FileId(number)));
        let named = self.by_view[host].iter().map(|(path, located)| (path.clone(), located.file));
        let others = named.filter(|(_, file)| !is_kept(&self.files[file.0 as usize]));
        let mut files: Vec<(Arc<str>, FileId)> = own.chain(others).collect();
        files.sort_unstable();
        let mut told = FxHashSet::default();
        files.retain(|&(_, file)| told.insert(file));
        files
    }
}

/// The mount with the longest path that covers `path`.
fn covering(mounts: &[Mount], path: &str) -> Option<usize> {
    let covers = |mount: &Mount| {
        mount.path == "/"
            || path
                .strip_prefix(mount.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    (0..mounts.len()).filter(|&at| covers(&mounts[at])).max_by_key(|&at| mounts[at].path.len())
}

/// Returns `path` under `to` instead of under `from`.
fn rebased(path: &str, from: &str, to: &str) -> Arc<str> {
    let rest = path.strip_prefix(from.trim_end_matches('/')).unwrap_or(path);
    format!("{}{rest}", to.trim_end_matches('/')).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{FileSystem, MountCost};
    use crate::scenario::Scenario;

    fn mount(path: &str) -> Mount {
        Mount {
            path: path.into(),
            source: MountSource::Disk(0),
            write_mode: WriteMode::Back,
            file_system: FileSystem::default(),
            page_insert: None,
            cost: MountCost::default(),
        }
    }

    #[test]
    fn the_longest_mount_covers_a_path() {
        let mounts = [mount("/"), mount("/data"), mount("/data/fast")];
        let paths = ["/x", "/data", "/data/x", "/data/fast/x", "/database"];
        assert_eq!(paths.map(|path| covering(&mounts, path)), [0, 1, 1, 2, 0].map(Some));
        assert_eq!(covering(&mounts[1..], "/x"), None);
    }

    #[test]
    fn what_was_never_written_at_the_end_of_a_file_is_a_hole() {
        let text = r#"machine = { cores = 1, memory = { size = "1 GB", read = "1 GB/s", write = "1 GB/s" }, disk.ssd = { size = "1 GB", read = "1 GB/s", write = "1 GB/s" }, mount."/data".disk = "ssd" }
[[process]]
name = "p"
do = [ { sleep = "1 s" } ]"#;
        let nowhere = std::path::Path::new("no such folder");
        let scenario =
            Scenario::from_toml(text.as_bytes(), "x.toml", nowhere, nowhere, &[]).expect("it is right");
        let mut namespace = Namespace::new(&scenario.machine);
        let file = namespace.locate(0, &"/data/f".into()).expect("it has a mount").file;
        let mut after = |change: fn(&mut Namespace<&Machine>, FileId)| {
            change(&mut namespace, file);
            (namespace.size(file).0, namespace.filled(file).0)
        };
        assert_eq!(after(|names, file| names.grow(file, Bytes(10))), (10, 10));
        assert_eq!(after(|names, file| names.extend(file, Bytes(30))), (30, 10));
        assert_eq!(after(|names, file| names.grow(file, Bytes(20))), (30, 20));
        assert_eq!(after(|names, file| names.resize(file, Bytes(5))), (5, 5));
        assert_eq!(after(|names, file| names.remove(file)), (0, 0));
        assert_eq!(after(|names, file| names.begin_write(file, Bytes(40))), (0, 0));
        assert_eq!(
            (namespace.exists(file), namespace.taken(file), namespace.has_size(file)),
            (true, Bytes(40), false)
        );
        namespace.remove(file);
        assert!(!namespace.exists(file));
    }

    #[test]
    fn a_remote_path_moves_under_the_export() {
        assert_eq!(&*rebased("/data/app/f", "/data", "/export"), "/export/app/f");
        assert_eq!(&*rebased("/app/f", "/", "/export"), "/export/app/f");
        assert_eq!(&*rebased("/data/f", "/data", "/"), "/f");
    }
}
