//! Reads `[[file]]`: the files before time 0, and whether they fit.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::braces::{Copies, Scope};
use super::document::{Node, Place, shorten};
use super::hosts::{Hosts, host_of};
use super::paths::{Home, Mounts, normalise};
use super::schema::FILE;
use super::table::Fields;
use crate::error::ScenarioError;
use crate::fs::striped::{Striping, striped};
use crate::machine::{Machine, StripeServer, Striped};
use crate::stop;
use crate::units::Bytes;
use crate::workload::InitialFile;

/// Reads all files and their copies.
///
/// # Errors
/// Whatever is wrong in one of them, and what [`Files::add`] refuses.
pub fn read_files<'a>(
    list: &[Node],
    hosts: &Hosts<'_>,
    mut files: Files<'a>,
) -> Result<Files<'a>, ScenarioError> {
    for node in list {
        let fields = Fields::open(node, &FILE, "[[file]]")?;
        let count = fields.get("count")?;
        for n in 1..=count.unwrap_or(1) {
            stop::spend(stop::EVENT);
            let fields = fields.clone().within(Scope::of(Copies::of("file", count, n)));
            let file = InitialFile {
                host: host_of(&fields, hosts)?,
                path: fields.need::<String>("path")?.into(),
                size: fields.need("size")?,
                cached: fields.get("cached")?.unwrap_or(Bytes::ZERO),
                dirty: fields.get("dirty")?.unwrap_or(Bytes::ZERO),
            };
            files.add(file, count > Some(1), &|key| fields.place(key))?;
        }
    }
    Ok(files)
}

/// The files so far, and the room that they take.
pub struct Files<'a> {
    machine: &'a Machine,
    mounts: &'a Mounts<'a>,
    /// Host and path on that host, where the file is in truth.
    seen: FxHashSet<(usize, Arc<str>)>,
    /// Bytes on a disk of a host.
    on_disk: FxHashMap<(usize, usize), u64>,
    /// Bytes in the page cache of each host.
    in_memory: Vec<u64>,
    /// All that were added.
    pub files: Vec<InitialFile>,
}

impl<'a> Files<'a> {
    /// No files yet.
    pub fn new(machine: &'a Machine, mounts: &'a Mounts<'a>) -> Self {
        Self {
            machine,
            mounts,
            seen: FxHashSet::default(),
            on_disk: FxHashMap::default(),
            in_memory: vec![0; machine.hosts.len()],
            files: Vec::new(),
        }
    }

    /// Adds a file, whose path becomes normal; `at` gives the place of each of its keys.
    ///
    /// # Errors
    /// A path that is wrong or under no mount, a file that is there twice, more cached than it has or dirty than cached, and more than a disk
    /// or the memory holds.
    pub fn add<'p>(
        &mut self,
        mut file: InitialFile,
        is_copy: bool,
        at: &dyn Fn(&'static str) -> &'p Place,
    ) -> Result<(), ScenarioError> {
        file.path = normalise(&file.path, at("path"))?.into();
        let home = self.mounts.home(file.host, &file.path, at("path"))?;
        if !self.seen.insert((home.host, Arc::clone(&home.path))) {
            let what = format!("the file \"{}\" is there twice", shorten(&file.path));
            let of_copy = "put {n}, the number of the copy, into the path";
            return Err(at("path").error(what, if is_copy { of_copy } else { "remove one of them" }));
        }
        if let Some((striping, striped)) = self.striping(&file, &home.path, at("path"))? {
            check_cached(&file, at)?;
            for (part, &server) in (0..).zip(&striping.servers) {
                let StripeServer { host, mount, .. } = striped.servers[server as usize];
                let disk = self.machine.hosts[host].device_of(mount);
                let share = |bytes| striping.stripes.share(part, bytes);
                let (size, cached) = (share(file.size), share(file.cached));
                let datafile = InitialFile { host, size, cached, ..file.clone() };
                self.add_to_disk(host, disk, &datafile, at("size"))?;
                self.add_to_memory(&datafile, at("cached"))?;
            }
            self.files.push(file);
            return Ok(());
        }
        self.add_to_disk(home.host, home.disk, &file, at("size"))?;
        if home.disk >= self.machine.hosts[home.host].disks.len() {
            // Nowhere else is a file of a tmpfs.
            (file.cached, file.dirty) = (file.size, Bytes::ZERO);
        }
        check_cached(&file, at)?;
        self.add_to_memory(&file, at("cached"))?;
        self.files.push(file);
        Ok(())
    }

    /// Adds a file of a workload, unless the scenario has it by itself.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn add_unless_there(&mut self, file: InitialFile, at: &Place) -> Result<(), ScenarioError> {
        let is_there = self.mounts.home(file.host, &file.path, at).is_ok_and(|home| self.has(&home));
        if is_there { Ok(()) } else { self.add(file, false, &|_| at) }
    }

    /// Whether there is a file where the bytes of it are.
    pub fn has(&self, home: &Home) -> bool {
        self.seen.contains(&(home.host, Arc::clone(&home.path)))
    }

    /// The striping of the next file and its servers, if it is on a striped mount.
    fn striping(
        &self,
        file: &InitialFile,
        kept: &str,
        at: &Place,
    ) -> Result<Option<(Striping, &'a Striped)>, ScenarioError> {
        let through = (file.host, self.mounts.need(file.host, &file.path, at)?);
        let Some(striped) = striped(&self.machine.hosts, through) else { return Ok(None) };
        let layout = self.machine.hosts[through.0].mounts[through.1].layout.unwrap_or_default();
        Ok(Some((Striping::new(layout, striped, through, kept), striped)))
    }

    fn add_to_disk(
        &mut self,
        host: usize,
        disk: usize,
        file: &InitialFile,
        at: &Place,
    ) -> Result<(), ScenarioError> {
        let used = self.on_disk.entry((host, disk)).or_default();
        let host = &self.machine.hosts[host];
        let (name, size) = host.room_of(disk);
        if used.saturating_add(file.size.0) > size.0 {
            let others =
                if *used > 0 { format!(" and other files of {}", Bytes(*used)) } else { String::new() };
            let what = format!(
                "the file \"{}\" with {} does not fit on disk `{}` of host `{}`, which has {}{others}",
                shorten(&file.path),
                file.size,
                shorten(name),
                shorten(&host.name),
                size
            );
            return Err(at.error(what, "make the disk larger or the files smaller"));
        }
        *used += file.size.0;
        Ok(())
    }

    fn add_to_memory(&mut self, file: &InitialFile, at: &Place) -> Result<(), ScenarioError> {
        let InitialFile { path, cached, .. } = file;
        let path = shorten(path);
        let used = &mut self.in_memory[file.host];
        let host = &self.machine.hosts[file.host];
        if used.saturating_add(cached.0) > host.memory.size.0 {
            let what = format!(
                "{cached} of \"{path}\" do not fit into the memory of host `{}`, where other files take {} of {}",
                shorten(&host.name),
                Bytes(*used),
                host.memory.size
            );
            return Err(at.error(what, "cache less, or give the host more memory"));
        }
        *used += cached.0;
        Ok(())
    }
}

/// Refuses more cached than there is, and more dirty than cached.
fn check_cached<'p>(file: &InitialFile, at: &dyn Fn(&'static str) -> &'p Place) -> Result<(), ScenarioError> {
    let InitialFile { path, size, cached, dirty, .. } = file;
    let path = shorten(path);
    if cached > size {
        let what = format!("{cached} of \"{path}\" are cached, which has only {size}");
        return Err(at("cached").error(what, "cache less, or make the file larger"));
    }
    if dirty > cached {
        let what = format!("{dirty} of \"{path}\" are dirty, of which only {cached} are cached");
        return Err(at("dirty").error(what, "dirty pages are cached pages: make `cached` as large, at least"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::scenario::testing::{HOSTS, MACHINE, PROCESS, error, read, refusal};

    fn file(rest: &str) -> String {
        format!("[[file]]\n{rest}")
    }

    fn on_hosts(files: &str) -> String {
        format!("{HOSTS}\n{files}\n{PROCESS}")
    }

    #[test]
    fn copies_of_a_file_have_their_numbers() {
        let text = file("path = '/data/{n}//f/'\nsize = '{n} GB'\ncached = '1 GB'\ncount = '2'");
        let files = read(&format!("{MACHINE}\n{text}\n{PROCESS}"), &[]).unwrap().files;
        let expected = |path: &str, size| InitialFile {
            host: 0,
            path: path.into(),
            size,
            cached: Bytes(1_000_000_000),
            dirty: Bytes::ZERO,
        };
        assert_eq!(
            files,
            [expected("/data/1/f", Bytes(1_000_000_000)), expected("/data/2/f", Bytes(2_000_000_000))]
        );
    }

    #[test]
    fn a_file_on_nfs_takes_room_of_the_server() {
        let text = on_hosts("[[file]]\npath = '/remote/f'\nsize = '11 GB'");
        assert_snapshot!(refusal(&text), @r#"x.toml:5: the file "/remote/f" with 11 GB does not fit on disk `hdd` of host `server`, which has 10 GB; make the disk larger or the files smaller"#);
    }

    #[test]
    fn the_same_file_by_two_ways_is_one() {
        let by_server = file("path = '/export/f'\nsize = '1 GB'\nhost = 'server'");
        let by_client = file("path = '/remote/f'\nsize = '1 GB'");
        assert_snapshot!(refusal(&on_hosts(&format!("{by_server}\n{by_client}"))), @r#"x.toml:8: the file "/remote/f" is there twice; remove one of them"#);
    }

    #[test]
    fn a_file_given_twice_is_refused() {
        let one = file("path = '/data/f'\nsize = '1 GB'");
        assert_snapshot!(error(&format!("{one}\n{}", one.replace("/data", "/data/"))), @r#"x.toml:6: the file "/data/f" is there twice; remove one of them"#);
    }

    #[test]
    fn copies_of_a_file_need_a_number_in_the_path() {
        assert_snapshot!(error(&file("path = '/data/f'\nsize = '1 GB'\ncount = 2")), @r#"x.toml:3: the file "/data/f" is there twice; put {n}, the number of the copy, into the path"#);
    }

    #[test]
    fn files_larger_than_their_disk_are_refused() {
        assert_snapshot!(error(&file("path = '/data/f'\nsize = '101 GB'")), @r#"x.toml:4: the file "/data/f" with 101 GB does not fit on disk `ssd` of host `machine`, which has 100 GB; make the disk larger or the files smaller"#);
        assert_snapshot!(error(&file("path = '/data/f{n}'\nsize = '30 GB'\ncount = 4")), @r#"x.toml:4: the file "/data/f4" with 30 GB does not fit on disk `ssd` of host `machine`, which has 100 GB and other files of 90 GB; make the disk larger or the files smaller"#);
    }

    #[test]
    fn more_cached_than_there_is_is_refused() {
        assert_snapshot!(error(&file("path = '/data/f'\nsize = '1 GB'\ncached = '2 GB'")), @r#"x.toml:5: 2 GB of "/data/f" are cached, which has only 1 GB; cache less, or make the file larger"#);
    }

    #[test]
    fn more_cached_than_memory_holds_is_refused() {
        assert_snapshot!(error(&file("path = '/data/f'\nsize = '20 GB'\ncached = '20 GB'")), @r#"x.toml:5: 20 GB of "/data/f" do not fit into the memory of host `machine`, where other files take 0 B of 16 GB; cache less, or give the host more memory"#);
    }

    #[test]
    fn a_path_under_no_mount_is_refused() {
        assert_snapshot!(error(&file("path = '/dta/f'\nsize = '1 GB'")), @r#"x.toml:3: the path "/dta/f" is under no mount of host `machine`; correct it or add a mount (there are: `/data`)"#);
        assert_snapshot!(error(&file("path = '/data'\nsize = '1 GB'")), @r#"x.toml:3: the path "/data" is under no mount of host `machine`; correct it or add a mount (there are: `/data`)"#);
    }

    #[test]
    fn the_number_of_a_copy_needs_a_count() {
        assert_snapshot!(error(&file("path = '/data/f{n}'\nsize = '1 GB'")), @r#"x.toml:3: `{n}` in "/data/f{n}" is the number of a copy, but this file has no `count`; add for example count = 8"#);
    }

    #[test]
    fn an_unknown_host_is_refused() {
        assert_snapshot!(error(&file("path = '/data/f'\nsize = '1 GB'\nhost = 'machin'")), @"x.toml:5: there is no host `machin`; did you mean `machine`?");
    }

    #[test]
    fn counts_have_bounds() {
        assert_snapshot!(error(&file("path = '/data/f{n}'\nsize = '1 GB'\ncount = 0")), @"x.toml:5: `count` is the number 0, but must be a whole number from 1 to 1000000; write for example count = 1");
        assert_snapshot!(error(&file("path = '/data/f{n}'\nsize = '1 GB'\ncount = 1000001")), @"x.toml:5: `count` is the number 1000001, but must be a whole number from 1 to 1000000; write for example count = 1");
        assert_snapshot!(error(&file("path = '/data/f{n}'\nsize = '1 GB'\ncount = 'many'")), @r#"x.toml:5: `count` is the string "many", but must be a whole number from 1 to 1000000; write for example count = 1"#);
    }

    #[test]
    fn a_file_is_written_with_two_brackets() {
        assert_snapshot!(error("[file]\npath = '/data/f'\nsize = '1 GB'"), @"x.toml:2: `file` is a table, but must be a list; write [[file]]");
    }

    #[test]
    fn an_empty_file_exists() {
        let text = format!("{MACHINE}\n{}\n{PROCESS}", file("path = '/data/f'\nsize = '0 B'"));
        assert_eq!(read(&text, &[]).unwrap().files[0].size, Bytes::ZERO);
    }
}
