//! Finds the holders of a file's pages in memory: processes that map or lock them, swap, loop devices.
//!
//! Source: /proc/PID/maps and smaps (of the processes that we may look into), /proc/swaps, /sys/block/loop*. Left out: pages that are
//! pinned for device transfers, and processes of other users, unless we are root.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::walk::FileId;

/// A holder of a file's pages in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A process has the file mapped.
    Process {
        /// Its number.
        pid: u32,
        /// Its name, as in /proc/PID/comm.
        name: String,
        /// Some of it is locked with mlock(2).
        is_locked: bool,
    },
    /// The kernel swaps to it.
    Swap,
    /// A loop device stands on it: "loop0".
    Loop(String),
}

/// Finds the holders of some files.
#[must_use]
pub fn find(files: &[FileId]) -> FxHashMap<FileId, Vec<Holder>> {
    let mut found: FxHashMap<FileId, Vec<Holder>> = files.iter().map(|&id| (id, vec![])).collect();
    if found.is_empty() {
        return found;
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
            note_process(pid, &mut found);
        }
    }
    for line in fs::read_to_string("/proc/swaps").unwrap_or_default().lines().skip(1) {
        note(line.split_whitespace().next().map(Path::new), Holder::Swap, &mut found);
    }
    for entry in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        if let Ok(backing) = fs::read(entry.path().join("loop/backing_file")) {
            let path = Path::new(std::ffi::OsStr::from_bytes(backing.trim_ascii_end()));
            note(Some(path), Holder::Loop(entry.file_name().to_string_lossy().into_owned()), &mut found);
        }
    }
    found
}

fn note(path: Option<&Path>, holder: Holder, found: &mut FxHashMap<FileId, Vec<Holder>>) {
    let Some(Ok(file)) = path.map(fs::metadata) else { return };
    if let Some(holders) = found.get_mut(&(file.dev(), file.ino())) {
        holders.push(holder);
    }
}

fn note_process(pid: u32, found: &mut FxHashMap<FileId, Vec<Holder>>) {
    let Ok(maps) = fs::read(format!("/proc/{pid}/maps")) else { return };
    let mut mapped: Vec<FileId> =
        lines(&maps).filter_map(mapped_file).filter(|id| found.contains_key(id)).collect();
    mapped.sort_unstable();
    mapped.dedup();
    if mapped.is_empty() {
        return;
    }
    let smaps = fs::read(format!("/proc/{pid}/smaps")).unwrap_or_default();
    let locked = locked_files(&smaps);
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned();
    for id in mapped {
        let holder = Holder::Process { pid, name: name.clone(), is_locked: locked.contains(&id) };
        found.get_mut(&id).expect("it was looked up above").push(holder);
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
}

/// The file of a line of /proc/PID/maps: `55e4-55e6 r--p 00000000 fe:00 1234 /usr/bin/cat`.
fn mapped_file(line: &[u8]) -> Option<FileId> {
    let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    let range = fields.next()?;
    if !range.contains(&b'-') {
        return None; // a line of smaps about the mapping
    }
    let device = std::str::from_utf8(fields.nth(2)?).ok()?;
    let inode = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let (major, minor) = device.split_once(':')?;
    let hexadecimal = |digits| u32::from_str_radix(digits, 16).ok();
    (inode != 0).then_some((rustix::fs::makedev(hexadecimal(major)?, hexadecimal(minor)?), inode))
}

/// The files of which something is locked: mappings of /proc/PID/smaps whose flags have `lo`.
fn locked_files(smaps: &[u8]) -> Vec<FileId> {
    let (mut current, mut locked) = (None, Vec::new());
    for line in lines(smaps) {
        if let Some(flags) = line.strip_prefix(b"VmFlags:") {
            let is_locked = flags.split(|&byte| byte == b' ').any(|flag| flag == b"lo");
            locked.extend(current.take().filter(|_| is_locked));
        } else if line.first().is_some_and(|first| first.is_ascii_digit() || (b'a'..=b'f').contains(first)) {
            current = mapped_file(line);
        }
    }
    locked
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &[u8] =
        b"7f00-7f10 r--s 00000000 fe:00 1234                       /data/a b\nSize: 4 kB\nLocked: 4 kB\n\
        VmFlags: rd sh mr mw me ms lo sd\n7f10-7f20 r--s 00000000 08:01 99 /data/c\nVmFlags: rd sh mr\n\
        7f20-7f30 rw-p 00000000 00:00 0 [heap]\nVmFlags: rd lo\n";

    #[test]
    fn mapped_and_locked_files_are_found() {
        let files: Vec<FileId> = lines(SMAPS).filter_map(mapped_file).collect();
        let first = (rustix::fs::makedev(0xfe, 0), 1234);
        assert_eq!(files, [first, (rustix::fs::makedev(8, 1), 99)]);
        assert_eq!(locked_files(SMAPS), [first]);
    }

    #[test]
    fn this_process_maps_its_own_program() {
        let program = fs::metadata("/proc/self/exe").unwrap();
        let id = (program.dev(), program.ino());
        let own = std::process::id();
        let is_us =
            |holder: &Holder| matches!(holder, Holder::Process { pid, is_locked: false, .. } if *pid == own);
        assert!(find(&[id])[&id].iter().any(is_us));
    }
}
