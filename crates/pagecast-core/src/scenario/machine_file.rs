//! Reads `from`: a machine file, or the file of a disk, below the keys that override it.
//!
//! A name is a shipped machine, `NAME.toml` in the folder of shipped machines, or a shipped disk in `disks` there. A text with a slash, or that
//! ends in `.toml`, is a path relative to the file that has it. A disk with `from` takes nothing over from a disk of the same name in the machine
//! below. This is the one place of the core that opens files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::document::{self, Entry, Node, Place, Table, Value, shorten};
use crate::error::ScenarioError;
use crate::nearest::hint;

/// One byte more than a file may have, so that a larger one is noticed without being read.
const READ_AT_MOST: u64 = (16 << 20) + 1;

/// What an override also takes away, because it says the same in another way: a new `read` rate without a curve of its own
/// must not be hidden by the old curve.
const SUPERSEDED: [(&str, &str); 6] = [
    ("read", "read_at"),
    ("write", "write_at"),
    ("disk", "nfs"),
    ("disk", "link"),
    ("nfs", "disk"),
    ("nfs", "write_mode"),
];

/// Keys whose tables are replaced as a whole: half a curve of one disk and half of another is a curve of none.
const REPLACED: [&str; 2] = ["read_at", "write_at"];

/// Where machine files are looked for.
#[derive(Clone, Copy)]
pub struct Folders<'a> {
    /// Relative paths start here: the folder of the file that is being read.
    pub base: &'a Path,
    /// The folder of shipped machines.
    pub shipped: &'a Path,
}

/// The folder of shipped disks in that of shipped machines.
const DISKS: &str = "disks";

/// What a file describes.
#[derive(Clone, Copy)]
enum What {
    Machine,
    Disk,
}

impl What {
    /// Its word in messages.
    fn word(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Disk => "disk",
        }
    }

    /// The folder of shipped files.
    fn shipped(self, folders: Folders<'_>) -> PathBuf {
        match self {
            Self::Machine => folders.shipped.to_owned(),
            Self::Disk => folders.shipped.join(DISKS),
        }
    }
}

/// Puts the machine file that `node` names with `from` below its own keys, and the file of each disk that names one.
///
/// # Errors
/// A file that is not there or wrong in itself, and machine files that go round in a circle.
pub fn resolve(node: &Node, folders: Folders<'_>) -> Result<Node, ScenarioError> {
    resolve_chain(node.clone(), folders, &mut Vec::new(), What::Machine)
}

/// Puts the files of disks below the keys of the disks that name them. Returns the names of these disks.
fn resolve_disks(machine: &mut Table, folders: Folders<'_>) -> Result<Vec<String>, ScenarioError> {
    let Some(Value::Table(disks)) = machine.get_mut("disk").map(|node| &mut node.value) else {
        return Ok(Vec::new());
    };
    let mut named = Vec::new();
    for Entry { key, node, .. } in &mut disks.entries {
        if matches!(&node.value, Value::Table(disk) if disk.get("from").is_some()) {
            *node = resolve_chain(node.clone(), folders, &mut Vec::new(), What::Disk)?;
            named.push(key.clone());
        }
    }
    Ok(named)
}

fn resolve_chain(
    mut node: Node,
    folders: Folders<'_>,
    chain: &mut Vec<PathBuf>,
    what: What,
) -> Result<Node, ScenarioError> {
    let Value::Table(table) = &mut node.value else { return Ok(node) };
    let anew = match what {
        What::Machine => resolve_disks(table, folders)?,
        What::Disk => Vec::new(),
    };
    let Some(from) = table.remove("from") else { return Ok(node) };
    let (path, bytes) = open(&from, folders, what)?;
    let identity = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    if chain.contains(&identity) {
        let circle: Vec<_> = chain.iter().chain([&identity]).map(|path| path.display().to_string()).collect();
        return Err(from
            .at
            .error(format!("`from` goes in a circle: {}", circle.join(" -> ")), "remove one `from`"));
    }
    chain.push(identity);
    let remedy = format!("write a {} into it", what.word());
    let base = document::parse(&bytes, &path.display().to_string(), &remedy)?;
    let base = if let What::Machine = what { body(base)? } else { base };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut base = resolve_chain(base, Folders { base: folder, ..folders }, chain, what)?;
    match &mut base.value {
        Value::Table(below) => {
            if let Some(Value::Table(disks)) = below.get_mut("disk").map(|node| &mut node.value) {
                anew.iter().for_each(|name| drop(disks.remove(name)));
            }
            merge(below, std::mem::take(table));
        }
        _ => return Ok(base),
    }
    Ok(Node { at: node.at, ..base })
}

/// Opens a file that a key names by its path, relative to a folder.
///
/// # Errors
/// If the key holds no text, or the file cannot be read.
pub fn open_beside(key: &str, from: &Node, folder: &Path) -> Result<(PathBuf, Vec<u8>), ScenarioError> {
    let Value::Text(name) = &from.value else {
        let what = format!("`{key}` is {}, but must be the path of a file", from.describe());
        return Err(from.at.error(what, format!("write for example {key} = \"cluster.xml\"")));
    };
    let path = without_dots(&folder.join(name));
    match read(&path) {
        Ok(bytes) => Ok((path, bytes)),
        Err(error) => Err(unreadable(from, key, &path, &error)),
    }
}

fn unreadable(from: &Node, word: &str, path: &Path, error: &io::Error) -> ScenarioError {
    let path = path.display().to_string();
    let error = format!("the {word} file \"{}\" cannot be read: {error}", shorten(&path));
    from.at.error(error, "correct the path, which is relative to the file that names it")
}

fn open(from: &Node, folders: Folders<'_>, what: What) -> Result<(PathBuf, Vec<u8>), ScenarioError> {
    let word = what.word();
    let Value::Text(name) = &from.value else {
        let found = from.describe();
        let error = format!("`from` is {found}, but must be the name or the path of a {word}");
        return Err(from.at.error(error, "write for example from = \"node.toml\""));
    };
    let is_path = name.ends_with(".toml") || name.contains('/');
    let path = if is_path {
        without_dots(&folders.base.join(name))
    } else {
        what.shipped(folders).join(format!("{name}.toml"))
    };
    match read(&path) {
        Ok(bytes) => Ok((path, bytes)),
        Err(error) if !is_path && error.kind() == io::ErrorKind::NotFound => {
            let shipped = shipped_machines(&what.shipped(folders));
            let remedy = hint(name, shipped.iter().map(String::as_str), &format!("shipped {word}s"));
            let error = format!("there is no shipped {word} `{}`", shorten(name));
            Err(from.at.error(error, format!("{remedy} (a path ends in .toml)")))
        }
        Err(error) => Err(unreadable(from, word, &path, &error)),
    }
}

/// The same path without its "." parts.
fn without_dots(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(READ_AT_MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The names of the machines in a folder, sorted.
pub fn shipped_machines(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".toml")?.to_owned()))
        .collect();
    names.sort_unstable();
    names
}

/// The keys of the one machine in a file, whether they stand below `[machine]` or at the top.
fn body(mut root: Node) -> Result<Node, ScenarioError> {
    let Value::Table(table) = &mut root.value else { return Ok(root) };
    if let Some(host) = table.get("host") {
        return Err(host
            .at
            .error("`from` takes one machine, and this file has hosts", "name a file with [machine]"));
    }
    let machine = table.remove("machine");
    match (machine, table.entries.first()) {
        (None, _) => Ok(root),
        (Some(machine), None) => Ok(machine),
        (Some(_), Some(other)) => {
            let what = format!("`{}` stands beside [machine] in a machine file", shorten(&other.key));
            Err(other.at.error(what, "move it into [machine]"))
        }
    }
}

/// True if the top of a machine file has the tables of a scenario rather than the keys of one machine.
pub fn has_machine_tables(root: &Table) -> bool {
    root.keys().any(|key| matches!(key, "machine" | "host" | "link"))
}

/// Puts the entries of `above` over those of `below`, table by table.
fn merge(below: &mut Table, above: Table) {
    for entry in &above.entries {
        for key in superseded_by(&entry.key).filter(|key| above.get(key).is_none()) {
            below.remove(key);
        }
    }
    for entry in above.entries {
        put(below, entry);
    }
}

fn put(table: &mut Table, entry: Entry) {
    let old = table.get_mut(&entry.key).filter(|_| !REPLACED.contains(&entry.key.as_str()));
    match (old.map(|node| (&mut node.value, &mut node.at)), entry.node.value) {
        (Some((Value::Table(below), at)), Value::Table(above)) => {
            *at = entry.node.at;
            merge(below, above);
        }
        (_, value) => table.put(Entry { node: Node { value, ..entry.node }, ..entry }),
    }
}

/// Sets one key as `--set` does: what says the same in another way goes.
pub fn set(table: &mut Table, key: &str, node: Node) {
    for other in superseded_by(key) {
        table.remove(other);
    }
    let at = node.at.clone();
    table.put(Entry { key: key.to_owned(), at, node });
}

fn superseded_by(key: &str) -> impl Iterator<Item = &'static str> {
    SUPERSEDED.iter().filter(move |(new, _)| *new == key).map(|(_, old)| *old)
}

/// An entry made here rather than written by somebody.
pub fn wrap(key: &str, node: Node, at: &Place) -> Node {
    let entry = Entry { key: key.to_owned(), at: node.at.clone(), node };
    Node { value: Value::Table(Table { entries: vec![entry] }), at: at.clone(), typed: None }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::machine::Machine;
    use crate::scenario::testing::PROCESS;
    use crate::scenario::{Scenario, load_machine};

    const NODE: &str = r#"
        cores = 4
        [memory]
        size = "16 GB"
        read = "8 GB/s"
        write = "5 GB/s"
        [disk.ssd]
        size = "100 GB"
        read = "500 MB/s"
        write = "400 MB/s"
        read_at = { "1" = "500 MB/s", "8" = "600 MB/s" }
        [mount."/data"]
        disk = "ssd"
    "#;

    /// A folder of its own for one test, with a shipped machine `node`; removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str, files: &[(&str, &str)]) -> Self {
            let folder = std::env::temp_dir().join(format!("pagecast-{}-{test}", std::process::id()));
            fs::create_dir_all(folder.join("shipped")).expect("the temporary folder can be written");
            for (name, text) in files.iter().chain(&[("shipped/node.toml", NODE)]) {
                fs::write(folder.join(name), text).expect("the temporary folder can be written");
            }
            Self(folder)
        }

        fn read(&self, machine: &str) -> Result<Machine, String> {
            let text = format!("{machine}\n{PROCESS}");
            let scenario =
                Scenario::from_toml(text.as_bytes(), "x.toml", &self.0, &self.0.join("shipped"), &[]);
            scenario.map(|scenario| scenario.machine).map_err(|error| self.without_path(&error))
        }

        fn without_path(&self, error: &ScenarioError) -> String {
            error
                .to_string()
                .replace(&fs::canonicalize(&self.0).unwrap().display().to_string(), "FOLDER")
                .replace(&self.0.display().to_string(), "FOLDER")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            // A folder that stays behind does no harm.
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_shipped_machine_goes_by_its_name() {
        let machine = Folder::new("name", &[]).read("machine = { from = 'node' }").unwrap();
        assert_eq!(machine.hosts[0].cores, 4);
        assert_eq!(machine.hosts[0].name, "machine");
    }

    const FAST: &str = "size = '1 TB'\nread = '3 GB/s'\nwrite = '2 GB/s'\nservice = '20 us'\n";

    fn with_disks(test: &str, files: &[(&str, &str)]) -> Folder {
        let folder = Folder::new(test, files);
        fs::create_dir_all(folder.0.join("shipped/disks")).expect("the temporary folder can be written");
        fs::write(folder.0.join("shipped/disks/fast.toml"), FAST)
            .expect("the temporary folder can be written");
        folder
    }

    #[test]
    fn a_disk_names_a_shipped_one_and_overrides_its_keys() {
        let machine = with_disks("disk", &[])
            .read("machine = { from = 'node', disk.nvme = { from = 'fast', size = '2 TB' } }")
            .unwrap();
        let [ssd, nvme] = &machine.hosts[0].disks[..] else { panic!("there are two") };
        assert_eq!((ssd.read.0, nvme.read.0, nvme.size.0), (500e6, 3e9, 2_000_000_000_000));
    }

    #[test]
    fn a_disk_with_from_has_nothing_of_the_machine_below() {
        let machine =
            with_disks("anew", &[]).read("machine = { from = 'node', disk.ssd.from = 'fast' }").unwrap();
        let disk = &machine.hosts[0].disks[0];
        assert_eq!((disk.read.0, disk.read_at.len(), disk.service.0), (3e9, 0, 20_000));
    }

    #[test]
    fn the_file_of_a_disk_may_name_another() {
        let files = [("own.toml", "from = 'fast'\nwrite = '1 GB/s'")];
        let machine = with_disks("chain", &files)
            .read("machine = { from = 'node', disk.ssd.from = 'own.toml' }")
            .unwrap();
        assert_eq!((machine.hosts[0].disks[0].read.0, machine.hosts[0].disks[0].write.0), (3e9, 1e9));
    }

    #[test]
    fn an_unknown_disk_names_those_there_are() {
        let folder = with_disks("unknown_disk", &[("round.toml", "from = 'round.toml'")]);
        let refusal = |name: &str| {
            folder.read(&format!("machine = {{ from = 'node', disk.ssd.from = '{name}' }}")).unwrap_err()
        };
        assert_snapshot!(refusal("fats"), @"x.toml:1: there is no shipped disk `fats`; did you mean `fast`? (a path ends in .toml)");
        assert_snapshot!(refusal("none.toml"), @r#"x.toml:1: the disk file "FOLDER/none.toml" cannot be read: No such file or directory (os error 2); correct the path, which is relative to the file that names it"#);
        assert_snapshot!(refusal("round.toml"), @"FOLDER/round.toml:1: `from` goes in a circle: FOLDER/round.toml -> FOLDER/round.toml; remove one `from`");
    }

    #[test]
    fn the_keys_beside_from_override_the_file_deeply() {
        let machine = Folder::new("deep", &[])
            .read("machine = { from = 'node', cores = 8, disk.ssd.write = '1 MB/s', disk.hdd = { size = '1 GB', read = '1 MB/s', write = '1 MB/s' } }")
            .unwrap();
        let host = &machine.hosts[0];
        assert_eq!((host.cores, host.disks.len()), (8, 2));
        assert_eq!((host.disks[0].read.0, host.disks[0].write.0), (500e6, 1e6));
        assert_eq!(host.disks[0].read_at.len(), 2);
    }

    #[test]
    fn a_new_rate_replaces_the_curve_and_a_new_curve_all_of_the_old() {
        let folder = Folder::new("curve", &[]);
        let rate = folder.read("machine = { from = 'node', disk.ssd.read = '1 MB/s' }").unwrap();
        assert_eq!(rate.hosts[0].disks[0].read_at, []);
        let curve =
            folder.read("machine = { from = 'node', disk.ssd.read_at = { '2' = '1 MB/s' } }").unwrap();
        assert_eq!(curve.hosts[0].disks[0].read_at.len(), 1);
    }

    #[test]
    fn a_disk_mount_becomes_an_nfs_mount() {
        let text = "host.a = { from = 'node', mount.'/data' = { nfs = 'b:/data' } }\nhost.b = { from = 'node' }\n\
                    link.l = { between = ['a', 'b'], rate = '1 GB/s' }";
        let machine = Folder::new("nfs", &[]).read(text).unwrap();
        assert_eq!(
            machine.hosts[0].mounts[0].source,
            crate::machine::MountSource::Nfs { server: 1, export: 0, link: Some(0) }
        );
    }

    #[test]
    fn a_path_is_relative_to_the_file_that_says_it() {
        let outer = "from = 'inner/b.toml'";
        let folder = Folder::new("path", &[]);
        fs::create_dir_all(folder.0.join("inner")).unwrap();
        fs::write(folder.0.join("a.toml"), outer).unwrap();
        fs::write(folder.0.join("inner/b.toml"), "[machine]\nfrom = './c.toml'\ncores = 3").unwrap();
        fs::write(folder.0.join("inner/c.toml"), NODE).unwrap();
        assert_eq!(folder.read("machine = { from = 'a.toml' }").unwrap().hosts[0].cores, 3);
    }

    #[test]
    fn an_error_in_a_machine_file_has_its_line() {
        let folder = Folder::new("line", &[("a.toml", "from = 'node'\n\n[vm]\ndirty = 1")]);
        assert_snapshot!(folder.read("machine = { from = 'a.toml' }").unwrap_err(), @"FOLDER/a.toml:4: unknown key `dirty` in [machine.vm]; known keys: `dirty_ratio`, `dirty_background_ratio`, `dirty_bytes`, `dirty_background_bytes`, `min_free_kbytes`, `watermark_scale_factor`, `dirty_expire_centisecs`, `dirty_writeback_centisecs`");
    }

    #[test]
    fn an_unknown_machine_names_those_there_are() {
        let folder = Folder::new("unknown", &[]);
        assert_snapshot!(folder.read("machine = { from = 'nod' }").unwrap_err(), @"x.toml:1: there is no shipped machine `nod`; did you mean `node`? (a path ends in .toml)");
        assert_snapshot!(folder.read("machine = { from = 'cluster' }").unwrap_err(), @"x.toml:1: there is no shipped machine `cluster`; shipped machines: `node` (a path ends in .toml)");
    }

    #[test]
    fn a_file_that_cannot_be_read_says_why() {
        let folder = Folder::new("unreadable", &[]);
        assert_snapshot!(folder.read("machine = { from = 'none.toml' }").unwrap_err(), @r#"x.toml:1: the machine file "FOLDER/none.toml" cannot be read: No such file or directory (os error 2); correct the path, which is relative to the file that names it"#);
        assert_snapshot!(folder.read("machine = { from = './shipped' }").unwrap_err(), @r#"x.toml:1: the machine file "FOLDER/shipped" cannot be read: it is not a file; correct the path, which is relative to the file that names it"#);
        assert_snapshot!(folder.read("machine = { from = 3 }").unwrap_err(), @r#"x.toml:1: `from` is the number 3, but must be the name or the path of a machine; write for example from = "node.toml""#);
    }

    #[test]
    fn a_circle_of_files_is_refused() {
        let folder = Folder::new("circle", &[("a.toml", "from = 'b.toml'"), ("b.toml", "from = 'a.toml'")]);
        assert_snapshot!(folder.read("machine = { from = 'a.toml' }").unwrap_err(), @"FOLDER/b.toml:1: `from` goes in a circle: FOLDER/a.toml -> FOLDER/b.toml -> FOLDER/a.toml; remove one `from`");
    }

    #[test]
    fn a_file_to_start_from_has_one_machine_and_nothing_else() {
        let several = "host.a = { cores = 1 }";
        let more = "models = []\n[machine]\ncores = 1";
        let folder = Folder::new("one", &[("a.toml", several), ("b.toml", more)]);
        assert_snapshot!(folder.read("machine = { from = 'a.toml' }").unwrap_err(), @"FOLDER/a.toml:1: `from` takes one machine, and this file has hosts; name a file with [machine]");
        assert_snapshot!(folder.read("machine = { from = 'b.toml' }").unwrap_err(), @"FOLDER/b.toml:1: `models` stands beside [machine] in a machine file; move it into [machine]");
    }

    #[test]
    fn a_machine_file_may_have_its_keys_at_the_top_or_below_machine() {
        let load = |text: &str| load_machine(text.as_bytes(), "node.toml", Path::new(""), Path::new(""));
        let below = NODE.replace("        cores", "[machine]\ncores").replace("        [", "[machine.");
        assert_eq!(load(NODE).unwrap(), load(&below).unwrap());
        assert_snapshot!(load("colour = 1").unwrap_err(), @"node.toml:1: unknown key `colour` in [machine]; known keys: `from`, `description`, `source`, `cores`, `memory`, `vm`, `kernel`, `nfsd`, `cgroup`, `disk`, `nic`, `mount` and 2 more");
        assert_snapshot!(load("").unwrap_err(), @"node.toml: the file is empty; write a machine into it, or name one of `pagecast machine list`");
    }

    #[test]
    fn only_toml_files_are_shipped_machines() {
        let folder =
            Folder::new("list", &[("shipped/b.toml", ""), ("shipped/a.toml", ""), ("shipped/notes.txt", "")]);
        assert_eq!(shipped_machines(&folder.0.join("shipped")), ["a", "b", "node"]);
        assert_eq!(shipped_machines(Path::new("no such folder")), [""; 0]);
    }
}
