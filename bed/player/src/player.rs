//! Does the steps of a case and notes when each system call began and how long it took.
//!
//! A process of a case is a thread: the kernel throttles, counts and reads ahead per task and per open file, and so sees no
//! difference. Positions in files are the player's own, so that each process has its own.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pagecast_probe::residency::{OpenFile, Prober};
use pagecast_probe::watch::Pace;
use rustix::fs::{Advice, OFlags, fadvise};

use crate::case::{Flags, Kind, Step};
use crate::program::run;
use crate::rows::{COUNTER_FILES, Call, Counted, Look, Played};

/// Rows of calls that are smaller than this are summed up to it.
const ROW_BYTES: u64 = 1 << 20;
/// Buffers begin on a page, as `O_DIRECT` wants.
const ALIGNMENT: usize = 4096;

#[derive(Clone)]
struct Handle {
    file: Arc<File>,
    name: String,
    position: u64,
}

/// Memory that calls read into or write from.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    /// Gives `length` bytes. A buffer that is too small is replaced by a new one, whose pages nobody has touched yet unless `touch`.
    fn get(&mut self, length: usize, touch: bool) -> &mut [u8] {
        if self.bytes.len() < length + ALIGNMENT {
            self.bytes = vec![0; length + ALIGNMENT];
            if touch {
                self.bytes.fill(1);
            }
        }
        let start = self.bytes.as_ptr().align_offset(ALIGNMENT);
        &mut self.bytes[start..start + length]
    }
}

/// One process of a case.
pub struct Player {
    mount: PathBuf,
    server: Option<PathBuf>,
    start: Instant,
    played: Played,
    handles: BTreeMap<usize, Handle>,
    read_buffer: Buffer,
    write_buffer: Buffer,
    children: Vec<JoinHandle<Result<Vec<Played>, String>>>,
    ended: Vec<Played>,
}

impl Player {
    /// Makes the process that runs a case; `mount` is what MNT in paths stands for.
    pub fn new(mount: &Path, start: Instant) -> Self {
        Self::named("p0", mount, start, BTreeMap::new())
    }

    /// Says that the mount is one of NFS, and what SRV in paths stands for: the folder that its server exports.
    pub fn of_server(self, folder: &Path) -> Self {
        Self { server: Some(folder.to_owned()), ..self }
    }

    fn named(name: &str, mount: &Path, start: Instant, handles: BTreeMap<usize, Handle>) -> Self {
        let played = Played {
            name: name.to_owned(),
            calls: Vec::with_capacity(1 << 14),
            looks: Vec::new(),
            runs: Vec::new(),
            counted: Vec::new(),
        };
        Self {
            mount: mount.to_owned(),
            server: None,
            start,
            played,
            handles,
            read_buffer: Buffer::default(),
            write_buffer: Buffer::default(),
            children: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Does all steps; gives what this process and those that it started did.
    ///
    /// # Errors
    /// What could not be done, and why.
    pub fn play(mut self, steps: &[Step]) -> Result<Vec<Played>, String> {
        self.count("begin")?;
        for step in steps {
            self.step(step)?;
        }
        self.wait()?;
        self.count("end")?;
        let mut all = vec![self.played];
        all.append(&mut self.ended);
        Ok(all)
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Open { handle, path, flags } => self.open(*handle, path, *flags),
            Step::Transfer { kind, handle, offset, length, call } => {
                self.transfer(*kind, *handle, *offset, *length, *call)
            }
            Step::Fsync { handle } => self.on_handle("fsync", *handle, File::sync_all),
            Step::Fdatasync { handle } => self.on_handle("fdatasync", *handle, File::sync_data),
            Step::Dontneed { handle } => {
                self.on_handle("dontneed", *handle, |file| Ok(fadvise(file, 0, None, Advice::DontNeed)?))
            }
            Step::Close { handle } => {
                let closed = self.handles.remove(handle).ok_or_else(|| not_open(*handle))?;
                let name = closed.name.clone();
                self.timed("close", &name, || {
                    drop(closed);
                    Ok(())
                })
            }
            Step::Unlink { path } => {
                let (name, path) = self.path(path)?;
                self.timed("unlink", &name, || std::fs::remove_file(path))
            }
            Step::Rename { path, to } => {
                let ((name, path), (_, to)) = (self.path(path)?, self.path(to)?);
                self.timed("rename", &name, || std::fs::rename(path, to))
            }
            Step::Mkdir { path } => {
                let (name, path) = self.path(path)?;
                self.timed("mkdir", &name, || std::fs::create_dir(path))
            }
            Step::WriteAtIntervals { handle, length, call, around, pause } => {
                self.write_at_intervals(*handle, (*length, *call, *around), *pause)
            }
            Step::Sync => self.timed("sync", "", || {
                rustix::fs::sync();
                Ok(())
            }),
            Step::Drop => self.timed("drop", "", || std::fs::write("/proc/sys/vm/drop_caches", "3")),
            Step::Sleep(time) => self.timed("sleep", "", || {
                thread::sleep(*time);
                Ok(())
            }),
            Step::Spin(time) => self.timed("spin", "", || {
                let begun = Instant::now();
                while begun.elapsed() < *time {}
                Ok(())
            }),
            Step::Stat { label, path } => self.look(label, path),
            Step::Mark { label } => {
                self.count(label)?;
                let start_s = self.now_s();
                self.note("mark", label, start_s, 0.0);
                Ok(())
            }
            Step::Process { name, steps } => {
                let child = Self::named(name, &self.mount, self.start, self.handles.clone());
                let steps = steps.clone();
                self.children.push(thread::spawn(move || child.play(&steps)));
                Ok(())
            }
            Step::Wait => {
                let start_s = self.now_s();
                self.wait()?;
                let duration_s = self.now_s() - start_s;
                self.note("wait", "", start_s, duration_s);
                Ok(())
            }
            Step::Shell { command } => {
                let command = self.placed(command);
                self.timed("sh", "", || shell(&command))
            }
            Step::Exec { words } => {
                let done = run(words, &self.mount, self.start)?;
                self.note("exec", &words[0], done.start_s, done.duration_s);
                self.played.runs.push(done);
                Ok(())
            }
        }
    }

    fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn note(&mut self, op: &'static str, file: &str, start_s: f64, duration_s: f64) {
        let file = file.to_owned();
        self.played.calls.push(Call {
            start_s,
            op,
            file,
            offset: 0,
            bytes: 0,
            duration_s,
            result: 0,
            calls: 1,
        });
    }

    fn timed(
        &mut self,
        op: &'static str,
        file: &str,
        act: impl FnOnce() -> io::Result<()>,
    ) -> Result<(), String> {
        let start_s = self.now_s();
        let begun = Instant::now();
        act().map_err(|error| format!("{op} {file}: {error}"))?;
        let duration_s = begun.elapsed().as_secs_f64();
        self.note(op, file, start_s, duration_s);
        Ok(())
    }

    fn on_handle(
        &mut self,
        op: &'static str,
        handle: usize,
        act: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(), String> {
        let Handle { file, name, .. } = self.handles.get(&handle).ok_or_else(|| not_open(handle))?.clone();
        self.timed(op, &name, || act(&file))
    }

    /// Gives a file's name below the mount point or the server's folder, and its path.
    fn path(&self, path: &str) -> Result<(String, PathBuf), String> {
        if let (Some(server), Some(name)) = (&self.server, path.strip_prefix("SRV/")) {
            return Ok((name.to_owned(), server.join(name)));
        }
        let name = path.strip_prefix("MNT/").ok_or_else(|| format!("{path}: files are below MNT/"))?;
        Ok((name.to_owned(), self.mount.join(name)))
    }

    /// Puts the folders into a command of the shell.
    fn placed(&self, command: &str) -> String {
        let server = self.server.as_deref().unwrap_or(&self.mount);
        command
            .replace("MNT/", &format!("{}/", self.mount.display()))
            .replace("SRV/", &format!("{}/", server.display()))
    }

    /// Notes what the kernel has counted of NFS, if the mount is one of it.
    fn count(&mut self, label: &str) -> Result<(), String> {
        if self.server.is_none() {
            return Ok(());
        }
        let mut text = String::new();
        for path in COUNTER_FILES {
            match std::fs::read_to_string(path) {
                Ok(counted) => text += &counted,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(format!("{path}: {error}")),
            }
        }
        self.played.counted.push(Counted { time_s: self.now_s(), label: label.to_owned(), text });
        Ok(())
    }

    fn open(&mut self, handle: usize, path: &str, flags: Flags) -> Result<(), String> {
        let (name, path) = self.path(path)?;
        let given =
            [(flags.direct, OFlags::DIRECT), (flags.sync, OFlags::SYNC), (flags.dsync, OFlags::DSYNC)];
        let custom: OFlags = given.iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| *flag).collect();
        let mut options = OpenOptions::new();
        options
            .read(flags.read || !flags.write)
            .write(flags.write)
            .create(flags.create)
            .truncate(flags.truncate);
        options.custom_flags(custom.bits() as i32);
        let mut opened = None;
        self.timed("open", &name, || {
            opened = Some(Arc::new(options.open(path)?));
            Ok(())
        })?;
        if let Some(file) = opened {
            self.handles.insert(handle, Handle { file, name, position: 0 });
        }
        Ok(())
    }

    /// Writes call by call, each followed by a pause that is in no table; begins anew after `around` bytes.
    fn write_at_intervals(
        &mut self,
        handle: usize,
        (length, call, around): (u64, u64, u64),
        pause: Duration,
    ) -> Result<(), String> {
        let (mut done, mut at) = (0, 0);
        while done < length {
            let piece = call.min(length - done).max(1);
            if at + piece > around {
                at = 0;
            }
            self.transfer(Kind::Write, handle, Some(at), piece, piece as usize)?;
            thread::sleep(pause);
            (done, at) = (done + piece, at + piece);
        }
        Ok(())
    }

    fn transfer(
        &mut self,
        kind: Kind,
        handle: usize,
        offset: Option<u64>,
        length: u64,
        call: usize,
    ) -> Result<(), String> {
        let Handle { file, name, position } =
            self.handles.get(&handle).ok_or_else(|| not_open(handle))?.clone();
        let buffer = match kind {
            Kind::Write => self.write_buffer.get(call, true),
            Kind::Read => self.read_buffer.get(call, false),
        };
        let first = offset.unwrap_or(position);
        let mut at = first;
        let mut row: Option<Call> = None;
        while at < first + length {
            let here = (first + length - at).min(call as u64) as usize;
            let start_s = self.start.elapsed().as_secs_f64();
            let begun = Instant::now();
            let moved = match kind {
                Kind::Write => file.write_at(&buffer[..here], at),
                Kind::Read => file.read_at(&mut buffer[..here], at),
            };
            let duration_s = begun.elapsed().as_secs_f64();
            let moved = moved.map_err(|error| format!("{} {name}: {error}", kind.name()))?;
            let row_now = row.get_or_insert_with(|| Call {
                start_s,
                op: kind.name(),
                file: name.clone(),
                offset: at,
                bytes: 0,
                duration_s: 0.0,
                result: 0,
                calls: 0,
            });
            row_now.bytes += moved as u64;
            row_now.duration_s += duration_s;
            row_now.result = moved as i64;
            row_now.calls += 1;
            at += moved as u64;
            if row_now.bytes >= ROW_BYTES || moved == 0 {
                self.played.calls.extend(row.take());
            }
            if moved == 0 {
                break;
            }
        }
        self.played.calls.extend(row);
        if let (None, Some(open)) = (offset, self.handles.get_mut(&handle)) {
            open.position = at;
        }
        Ok(())
    }

    fn look(&mut self, label: &str, path: &str) -> Result<(), String> {
        let (name, path) = self.path(path)?;
        let failed = |error: &dyn std::fmt::Debug| format!("stat {name}: {error:?}");
        let file = OpenFile::open(&path).map_err(|error| failed(&error))?;
        let prober = Prober::new(None).map_err(|error| failed(&error))?;
        let kind = pagecast_probe::filesystem::Kind::Disk;
        let found = prober.whole(&file, kind, &Pace::default()).map_err(|error| failed(&error))?;
        let state = found.state.unwrap_or_default();
        let bytes = [file.size.0, found.cached.0, state.dirty.0, state.writeback.0];
        let (time_s, label) = (self.now_s(), label.to_owned());
        self.played.looks.push(Look { time_s, label, file: name, bytes });
        Ok(())
    }

    fn wait(&mut self) -> Result<(), String> {
        for child in self.children.drain(..) {
            let ended = child.join().map_err(|_| "a process of the case stopped halfway".to_owned())?;
            self.ended.append(&mut ended?);
        }
        Ok(())
    }
}

/// Runs a command of the shell.
fn shell(command: &str) -> io::Result<()> {
    let status = Command::new("/bin/sh").args(["-c", command]).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("`{command}`: {status}"))) }
}

fn not_open(handle: usize) -> String {
    format!("handle {handle} is not open")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::parse;

    fn play(mount: &Path, case: &str) -> Result<Vec<Played>, String> {
        Player::new(mount, Instant::now()).play(&parse(case).unwrap())
    }

    fn rows(played: &Played) -> Vec<(&'static str, u64, u64, u64)> {
        played.calls.iter().map(|call| (call.op, call.offset, call.bytes, call.calls)).collect()
    }

    #[test]
    fn small_calls_are_summed_to_a_mebibyte_and_reading_stops_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let case = "open 0 MNT/f wct\nwrite 0 0 1536k 512k\nclose 0\nopen 0 MNT/f r\nread 0 0 8m 1m\n";
        let played = play(folder.path(), case).unwrap();
        let mib = 1 << 20;
        assert_eq!(
            rows(&played[0]),
            [
                ("open", 0, 0, 1),
                ("write", 0, mib, 2),
                ("write", mib, mib / 2, 1),
                ("close", 0, 0, 1),
                ("open", 0, 0, 1),
                ("read", 0, mib, 1),
                // The rest of the file, and the call that found its end.
                ("read", mib, mib / 2, 2),
            ]
        );
    }

    #[test]
    fn calls_at_the_current_position_go_on_where_the_last_one_ended() {
        let folder = tempfile::tempdir().unwrap();
        play(folder.path(), "open 0 MNT/f wct\nwrite 0 -1 3k 1k\nwrite 0 0 1k 1k\nwrite 0 -1 1k 1k\n")
            .unwrap();
        assert_eq!(std::fs::metadata(folder.path().join("f")).unwrap().len(), 4096);
    }

    #[test]
    fn a_process_has_the_open_files_of_the_one_that_starts_it_and_wait_is_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let case =
            "open 3 MNT/f wct\nproc one\nwrite 3 -1 4k 4k\nclose 3\nendproc\nwait\nfsync 3\nmark end\n";
        let played = play(folder.path(), case).unwrap();
        assert_eq!(played.iter().map(|each| each.name.as_str()).collect::<Vec<_>>(), ["p0", "one"]);
        assert_eq!(rows(&played[1]), [("write", 0, 4096, 1), ("close", 0, 0, 1)]);
        assert_eq!(
            rows(&played[0]).iter().map(|row| row.0).collect::<Vec<_>>(),
            ["open", "wait", "fsync", "mark"]
        );
    }

    #[test]
    fn a_command_and_a_look_find_the_folders_of_client_and_server() {
        let (client, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let case = "sh printf Z > SRV/f\nsh cp SRV/f MNT/g\nstat srv_end SRV/f\nmark one\n";
        let player = Player::new(client.path(), Instant::now()).of_server(server.path());
        let played = player.play(&parse(case).unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(client.path().join("g")).unwrap(), "Z");
        assert_eq!((played[0].looks[0].file.as_str(), played[0].looks[0].bytes[0]), ("f", 1));
        let labels: Vec<&str> = played[0].counted.iter().map(|each| each.label.as_str()).collect();
        assert_eq!(labels, ["begin", "one", "end"]);
        assert!(play(client.path(), "sh false\n").unwrap_err().starts_with("sh : `false`: exit status"));
    }

    #[test]
    fn what_goes_wrong_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let message = |case| play(folder.path(), case).unwrap_err();
        assert_eq!(message("fsync 1\n"), "handle 1 is not open");
        assert!(message("open 0 MNT/none r\n").starts_with("open none: No such file"));
        assert_eq!(message("unlink /etc/passwd\n"), "/etc/passwd: files are below MNT/");
        assert!(message("proc one\nread 5 0 1 1\nendproc\n").starts_with("handle 5"));
    }

    #[test]
    fn buffers_begin_on_a_page_and_only_those_to_write_from_are_touched() {
        let mut buffer = Buffer::default();
        assert_eq!(buffer.get(10, true).as_ptr().align_offset(ALIGNMENT), 0);
        assert_eq!(buffer.get(10, true), [1; 10]);
        assert_eq!(Buffer::default().get(3, false), [0; 3]);
    }
}
