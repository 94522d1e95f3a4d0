//! Resolves a path to a file, with its size and its device.

use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::names::{DirectoryId, Home, NameId, Names};
use super::striped::{Striping, kept_at, striped};
use crate::flow::Path;
use crate::machine::{Host, Machine, Mount, MountSource, StripeServer, WriteMode};
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
    directory: DirectoryId,
    host: u32,
    /// Its number among the files of its host.
    inode: u32,
    mount: u32,
    disk: u32,
    size: Bytes,
    /// The end of the written bytes; a hole follows.
    filled: Bytes,
    /// The end of it after all writes under way.
    taken: Bytes,
    /// Space on the disk that fallocate(2) keeps for it beyond its size.
    reserved: Bytes,
    /// How many names and descriptors it has.
    links: u32,
    descriptors: u32,
    /// True if it has a size: not while it is being written for the first time.
    exists: bool,
    /// True if a write to it has begun.
    is_made: bool,
    /// Its change attribute: how often its bytes have changed.
    change: u64,
    /// Its datafiles, if it is a striped one: those take space, and not the file.
    striping: Option<Box<Striping>>,
}

/// The end of a name or a descriptor of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// The file has others, or there was none.
    Kept,
    /// It was the last one: the file must be removed.
    Last(FileId),
}

/// All files of a machine, which is borrowed or shared.
pub(crate) struct Namespace<M> {
    machine: M,
    files: Vec<File>,
    /// How many files each host has made.
    inodes: Vec<u32>,
    names: Names,
    /// Bytes in use on each device of each host.
    used: Vec<Vec<Bytes>>,
    /// Those of all tmpfs of each host.
    in_memory: Vec<Bytes>,
}

impl<M: Deref<Target = Machine>> Namespace<M> {
    pub(crate) fn new(machine: M) -> Self {
        Self {
            files: Vec::new(),
            inodes: vec![0; machine.hosts.len()],
            names: Names::new(machine.hosts.len()),
            used: machine.hosts.iter().map(no_bytes).collect(),
            in_memory: vec![Bytes::ZERO; machine.hosts.len()],
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
        FileView {
            id: located.file,
            inode: self.files[located.file.0 as usize].inode,
            size: self.size(located.file),
            filled: self.filled(located.file),
            device: DeviceId(host.device_of(located.mount as usize) as u32),
            read: paths.read,
            write: paths.write,
            read_and_copy: paths.read_and_copy,
            page_insert: mount.page_insert.unwrap_or(host.memory.cost.page_insert),
            mount: located.mount,
            directory: self.files[located.file.0 as usize].directory.0,
            names: self.names.in_directory(self.files[located.file.0 as usize].directory),
            is_timed: false,
        }
    }

    /// Resolves a path on a host, whether or not there is such a file yet.
    pub(crate) fn locate(&mut self, host: usize, path: &Arc<str>) -> Result<Located, NoMount> {
        let (name, mount) = self.name(host, path)?;
        Ok(Located { file: self.names.file(name), mount })
    }

    /// Forgets what only makes looking paths up quicker.
    pub(crate) fn retire(&mut self) {
        self.names.retire();
    }

    /// Resolves a path on a host to its name, and the mount there through which it is seen.
    pub(crate) fn name(&mut self, host: usize, path: &Arc<str>) -> Result<(NameId, u32), NoMount> {
        if let Some(known) = self.names.seen(host, path) {
            return Ok(known);
        }
        let mount = covering(&self.machine.hosts[host].mounts, path).ok_or(NoMount)?;
        let seen = &self.machine.hosts[host].mounts[mount];
        let (home, home_mount, home_path) = match seen.source {
            MountSource::Disk(_) | MountSource::Tmpfs => (host, mount, path.clone()),
            MountSource::Nfs { server, export, .. } => {
                let exported = &self.machine.hosts[server].mounts[export];
                (server, export, rebased(path, &seen.path, &exported.path))
            }
            MountSource::Striped(ref striped) => {
                let StripeServer { host, mount, .. } = striped.metadata;
                let kept = &self.machine.hosts[host].mounts[mount];
                (host, mount, kept_at(&kept.path, path, &seen.path))
            }
        };
        let name = self.name_at(home, home_mount, home_path);
        self.divide(self.names.file(name), (host, mount), path);
        self.names.see(host, path, name, mount as u32);
        Ok((name, mount as u32))
    }

    fn name_at(&mut self, host: usize, mount: usize, path: Arc<str>) -> NameId {
        let disk = self.machine.hosts[host].device_of(mount);
        let home = Home { host: host as u32, mount: mount as u32, disk: disk as u32, path };
        self.names.at(home, |home, directory| new_file(&mut self.files, &mut self.inodes, home, directory))
    }

    /// A name gets a file that does not exist.
    fn clear_name(&mut self, name: NameId) {
        let (home, directory) = (self.names.home(name), self.names.directory(name));
        let through = self.striping(self.names.file(name)).map(|striping| striping.through);
        let file = new_file(&mut self.files, &mut self.inodes, home, directory);
        self.names.give(name, file);
        if let Some(through) = through {
            let path: Arc<str> = format!("/{}", file.0).into();
            self.divide(file, through, &path);
        }
    }

    /// Gives a file its datafiles, named after `path`, if it is seen through a striped mount and has none.
    fn divide(&mut self, file: FileId, through: (usize, usize), path: &Arc<str>) {
        let mount = &self.machine.hosts[through.0].mounts[through.1];
        let Some(striped) = striped(&self.machine.hosts, through) else { return };
        if self.striping(file).is_some() {
            return;
        }
        let layout = mount.layout.unwrap_or_default();
        let mut striping = Striping::new(layout, striped, through, self.path(file));
        let place = |(part, &server): (usize, &u32)| {
            let StripeServer { host, mount: at, .. } = striped.servers[server as usize];
            let kept = kept_at(&self.machine.hosts[host].mounts[at].path, path, &mount.path);
            (host, at, format!("{kept}.{part}").into())
        };
        let places: Vec<(usize, usize, Arc<str>)> = striping.servers.iter().enumerate().map(place).collect();
        for (host, mount, path) in places {
            let name = self.name_at(host, mount, path);
            striping.parts.push(self.names.file(name));
        }
        self.files[file.0 as usize].striping = Some(Box::new(striping));
    }

    /// The datafiles of a file, if it is striped.
    pub(crate) fn striping(&self, file: FileId) -> Option<&Striping> {
        self.files[file.0 as usize].striping.as_deref()
    }

    /// The datafiles of a striped file, each with what it has of the first `size` bytes; none for another file.
    pub(crate) fn shares(&self, file: FileId, size: Bytes) -> impl Iterator<Item = (FileId, Bytes)> {
        let striping = self.striping(file).into_iter();
        striping.flat_map(move |striping| {
            (0..).zip(&striping.parts).map(move |(part, &file)| (file, striping.stripes.share(part, size)))
        })
    }

    /// Does the same to each datafile of a striped file as to the file, with what it has of `size` bytes.
    fn each_part(&mut self, file: FileId, size: Bytes, mut change: impl FnMut(&mut Self, FileId, Bytes)) {
        let Some(striping) = self.files[file.0 as usize].striping.take() else { return };
        for (part, &of) in (0..).zip(&striping.parts) {
            change(self, of, striping.stripes.share(part, size));
        }
        self.files[file.0 as usize].striping = Some(striping);
    }

    /// Takes a name from its file. Without descriptors the last name stays with the file, which is to be removed.
    pub(crate) fn unlink(&mut self, name: NameId) -> Release {
        let file = self.names.file(name);
        let entry = &mut self.files[file.0 as usize];
        if entry.links == 1 && entry.descriptors == 0 {
            return Release::Last(file);
        }
        entry.links -= 1;
        self.names.remove_from(self.names.directory(name));
        self.clear_name(name);
        Release::Kept
    }

    /// Gives a file another name as well. What had that name loses it.
    pub(crate) fn link(&mut self, file: FileId, name: NameId) -> Release {
        let old = self.names.file(name);
        if old == file {
            return Release::Kept;
        }
        self.files[file.0 as usize].links += 1;
        if !self.exists(old) {
            self.names.add_to(self.names.directory(name));
        }
        self.names.give(name, file);
        let entry = &mut self.files[old.0 as usize];
        entry.links -= 1;
        let is_last = entry.links == 0 && entry.descriptors == 0 && (entry.exists || entry.is_made);
        if is_last { Release::Last(old) } else { Release::Kept }
    }

    /// Gives a file another name instead; what had that loses it. A directory takes all that is below it along.
    pub(crate) fn rename(&mut self, from: NameId, to: NameId) -> Release {
        let file = self.names.file(from);
        if !self.exists(file) {
            self.rename_below(from, to);
            return Release::Kept;
        }
        if file == self.names.file(to) {
            return Release::Kept;
        }
        let release = self.link(file, to);
        self.names.remove_from(self.names.directory(from));
        let entry = &mut self.files[file.0 as usize];
        entry.path = self.names.home(to).path.clone();
        entry.directory = self.names.directory(to);
        entry.links -= 1;
        self.clear_name(from);
        release
    }

    fn rename_below(&mut self, from: NameId, to: NameId) {
        let (old, new) = (self.names.home(from).clone(), self.names.home(to).clone());
        for name in self.names.below(from) {
            let path = rebased(&self.names.home(name).path, &old.path, &new.path);
            if self.exists(self.names.file(name)) {
                let renamed = self.name_at(new.host as usize, new.mount as usize, path);
                self.rename(name, renamed);
            }
        }
    }

    /// A descriptor of the file is opened.
    pub(crate) fn hold(&mut self, file: FileId) {
        self.files[file.0 as usize].descriptors += 1;
    }

    /// A descriptor of the file is closed.
    pub(crate) fn let_go(&mut self, file: FileId) -> Release {
        let entry = &mut self.files[file.0 as usize];
        entry.descriptors -= 1;
        if entry.links == 0 && entry.descriptors == 0 { Release::Last(file) } else { Release::Kept }
    }

    /// True if two names are on one mount of the host that keeps them.
    pub(crate) fn are_together(&self, one: NameId, other: NameId) -> bool {
        let place = |name| (self.names.home(name).host, self.names.home(name).mount);
        place(one) == place(other)
    }

    /// True if there is a file of this name, or below it if it is a directory's.
    pub(crate) fn is_there(&self, name: NameId) -> bool {
        let exists = |name| self.exists(self.names.file(name));
        exists(name) || self.names.below(name).into_iter().any(exists)
    }

    /// The file that has a name.
    pub(crate) fn file(&self, name: NameId) -> FileId {
        self.names.file(name)
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

    /// The change attribute of a file.
    pub(crate) fn change(&self, file: FileId) -> u64 {
        self.files[file.0 as usize].change
    }

    /// The bytes of a file change on the host that keeps it.
    pub(crate) fn changed(&mut self, file: FileId) {
        self.files[file.0 as usize].change += 1;
    }

    /// The space that fallocate(2) keeps for a file.
    pub(crate) fn reserved(&self, file: FileId) -> Bytes {
        self.files[file.0 as usize].reserved
    }

    /// The host and the device that keep a file.
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
        self.machine.hosts[host].room_of(disk).1.saturating_sub(self.used[host][disk])
    }

    /// True if a file is on a tmpfs.
    pub(crate) fn is_in_memory(&self, file: FileId) -> bool {
        let (host, disk) = self.home(file);
        disk >= self.machine.hosts[host].disks.len()
    }

    /// The bytes of all tmpfs of a host.
    pub(crate) fn in_memory(&self, host: usize) -> Bytes {
        self.in_memory[host]
    }

    /// Bytes in use on the disk of a file.
    pub(crate) fn used(&self, file: FileId) -> Bytes {
        let (host, disk) = self.home(file);
        self.used[host][disk]
    }

    /// Counts the name of a file that is about to exist.
    fn count_new(&mut self, file: FileId) {
        let entry = &self.files[file.0 as usize];
        if !entry.exists && !entry.is_made && entry.links > 0 {
            self.names.add_to(entry.directory);
        }
    }

    /// Begins a write that ends at this size. The file exists from now on; its space is taken, its size is as it was.
    pub(crate) fn begin_write(&mut self, file: FileId, size: Bytes) {
        self.each_part(file, size, Self::begin_write);
        self.count_new(file);
        self.take_space(file, size);
        self.files[file.0 as usize].is_made = true;
    }

    /// Takes space on the disk up to this size, which stays taken until the file is cut or removed.
    pub(crate) fn reserve(&mut self, file: FileId, size: Bytes) {
        self.each_part(file, size, Self::reserve);
        let reserved = self.files[file.0 as usize].reserved.max(size);
        self.set_space(file, self.files[file.0 as usize].taken, reserved);
    }

    fn take_space(&mut self, file: FileId, size: Bytes) {
        let File { taken, reserved, .. } = self.files[file.0 as usize];
        self.set_space(file, taken.max(size), reserved);
    }

    /// Makes the file exist from now on, with at least this size: it was written up to there.
    pub(crate) fn grow(&mut self, file: FileId, size: Bytes) {
        self.each_part(file, size, Self::grow);
        self.extend_itself(file, size);
        let entry = &mut self.files[file.0 as usize];
        entry.filled = entry.filled.max(size);
    }

    /// Makes the file exist from now on, with at least this size and a hole at its end.
    pub(crate) fn extend(&mut self, file: FileId, size: Bytes) {
        self.each_part(file, size, Self::extend);
        self.extend_itself(file, size);
    }

    fn extend_itself(&mut self, file: FileId, size: Bytes) {
        self.count_new(file);
        self.take_space(file, size);
        let entry = &mut self.files[file.0 as usize];
        (entry.size, entry.exists) = (entry.size.max(size), true);
    }

    /// Makes the file exist from now on with this size.
    pub(crate) fn resize(&mut self, file: FileId, size: Bytes) {
        self.each_part(file, size, Self::resize);
        self.count_new(file);
        self.set_space(file, size, Bytes::ZERO);
        let entry = &mut self.files[file.0 as usize];
        (entry.size, entry.filled, entry.exists) = (size, entry.filled.min(size), true);
    }

    fn set_space(&mut self, file: FileId, taken: Bytes, reserved: Bytes) {
        let (host, disk) = self.home(file);
        let is_in_memory = self.is_in_memory(file);
        let entry = &mut self.files[file.0 as usize];
        let (before, after) = (entry.space(), taken.max(reserved));
        if entry.striping.is_none() {
            let used = &mut self.used[host][disk];
            *used = *used - before + after;
        }
        if is_in_memory {
            self.in_memory[host] = self.in_memory[host] - before + after;
        }
        (entry.taken, entry.reserved) = (taken, reserved);
    }

    /// Removes the file.
    pub(crate) fn remove(&mut self, file: FileId) {
        self.resize(file, Bytes::ZERO);
        self.each_part(file, Bytes::ZERO, |files, part, _| files.remove(part));
        let entry = &mut self.files[file.0 as usize];
        (entry.exists, entry.is_made) = (false, false);
        if entry.links > 0 {
            self.names.remove_from(entry.directory);
        }
    }

    /// True if a file has a name.
    pub(crate) fn has_name(&self, file: FileId) -> bool {
        self.exists(file) && self.files[file.0 as usize].links > 0
    }

    /// The path of a file where a host has mounted it.
    pub(crate) fn path_on(&self, host: usize, located: Located) -> Arc<str> {
        let path = self.path(located.file);
        let hosts = &self.machine().hosts;
        let mount = &hosts[host].mounts[located.mount as usize];
        match mount.source {
            MountSource::Nfs { server, export, .. } => {
                rebased(path, &hosts[server].mounts[export].path, &mount.path)
            }
            MountSource::Striped(ref striped) => {
                let StripeServer { host, mount: at, .. } = striped.metadata;
                rebased(path, &kept_at(&hosts[host].mounts[at].path, "", ""), &mount.path)
            }
            MountSource::Disk(_) | MountSource::Tmpfs => path.clone(),
        }
    }

    /// Lists the files that a host keeps, by their path there, and the files of other hosts that it has named, by the first of its
    /// paths. Removed files and files not yet written are included. Each is listed once.
    pub(crate) fn seen_by(&self, host: usize) -> Vec<(Arc<str>, FileId)> {
        let is_kept = |file: &File| file.host as usize == host;
        // The server of metadata has no byte of a striped file.
        let own = (0..).zip(&self.files).filter(|(_, file)| is_kept(file) && file.striping.is_none());
        let own = own.map(|(number, file)| (file.path.clone(), FileId(number)));
        let named = self.names.all_seen(host).map(|(path, file)| (path.clone(), file));
        let others = named.filter(|(_, file)| !is_kept(&self.files[file.0 as usize]));
        let mut files: Vec<(Arc<str>, FileId)> = own.chain(others).collect();
        files.sort_unstable();
        let mut told = FxHashSet::default();
        files.retain(|&(_, file)| told.insert(file));
        files
    }
}

impl File {
    /// The space that it takes on its disk.
    fn space(&self) -> Bytes {
        self.taken.max(self.reserved)
    }
}

/// No bytes on any device of a host.
fn no_bytes(host: &Host) -> Vec<Bytes> {
    vec![Bytes::ZERO; host.disks.len() + host.mounts.len()]
}

/// Makes the file of a name, which does not exist yet.
fn new_file(files: &mut Vec<File>, inodes: &mut [u32], home: &Home, directory: DirectoryId) -> FileId {
    let file = FileId(files.len() as u32);
    let Home { host, mount, disk, ref path } = *home;
    let next = &mut inodes[host as usize];
    let inode = *next;
    *next += 1;
    files.push(File {
        path: path.clone(),
        directory,
        host,
        inode,
        mount,
        disk,
        size: Bytes::ZERO,
        filled: Bytes::ZERO,
        taken: Bytes::ZERO,
        reserved: Bytes::ZERO,
        links: 1,
        descriptors: 0,
        exists: false,
        is_made: false,
        change: 0,
        striping: None,
    });
    file
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
    use crate::machine::{Export, FileSystem, MountCost};
    use crate::scenario::Scenario;

    fn mount(path: &str) -> Mount {
        Mount {
            path: path.into(),
            source: MountSource::Disk(0),
            write_mode: WriteMode::Back,
            file_system: FileSystem::default(),
            page_insert: None,
            size: None,
            journal: None,
            journal_device: None,
            delalloc: true,
            options: None,
            layout: None,
            export: Export::Sync,
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
