//! Reads the scripts (`.pct`) that the test bed plays: the steps of a case, one command a line.
//!
//! Their language stands in `python/pagecast/studies/live_kernel/README.md`. `MNT/` in paths is the directory that relative paths go
//! below. A script has no times: its processes do one step after the other, `sleep` and `spin` included. `stat` becomes an
//! advice that changes nothing: the residency of files is noted after it. `mark` and `snap` are of
//! recordings alone and do nothing here.
//!
//! Left out: a process that is started goes on with copies of the positions of the one that starts it, where fork(2) shares them.

mod stream;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::stream::{read_call, written_call};
use super::decimal::scaled;
use super::error::ReadError;
use super::input::Input;
use super::lines::Lines;
use super::options::Options;
use crate::nearest::{hint, shorten};
use crate::trace::{TraceError, Writer};
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Advice, Buffer, Fd, OpenFlag, Operation};

/// The commands, and how many arguments each has.
const COMMANDS: [(&str, usize); 23] = [
    ("open", 3),
    ("write", 4),
    ("read", 4),
    ("fwrite", 4),
    ("fread", 4),
    ("fsync", 1),
    ("fdatasync", 1),
    ("close", 1),
    ("unlink", 1),
    ("rename", 2),
    ("mkdir", 1),
    ("owrite", 5),
    ("snap", 1),
    ("sync", 0),
    ("drop", 0),
    ("dontneed", 1),
    ("sleep", 1),
    ("spin", 1),
    ("stat", 2),
    ("mark", 1),
    ("proc", 1),
    ("endproc", 0),
    ("wait", 0),
];

/// O_DIRECT takes whole blocks.
const BLOCK: u64 = 512;

/// Reads it.
///
/// # Errors
/// A command that means nothing, with its line. `--lenient` makes no difference, as later commands stand on earlier ones.
pub fn read(input: Input, _: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    let origin = input.origin.clone();
    let mut lines = Lines::new(input);
    let mut script = Script::new(trace).map_err(|error| ReadError::of_trace(&origin, &error))?;
    loop {
        let line = lines.following();
        let Some(text) = lines.next()? else { break };
        let words: Vec<&str> = text.split('#').next().unwrap_or("").split_whitespace().collect();
        let done = match words.split_first() {
            None => Ok(()),
            Some((command, arguments)) => script.step(command, arguments, line, trace),
        };
        match done {
            Ok(()) => {}
            Err(Wrong::Step(what, remedy)) => return Err(lines.error(what, remedy)),
            Err(Wrong::Trace(error)) => return Err(ReadError::of_trace(&origin, &error)),
        }
    }
    if script.around.is_some() {
        return Err(lines.error("the script ends within a `proc`", "write `endproc` behind its steps"));
    }
    Ok(())
}

/// What is wrong with a step.
enum Wrong {
    /// It means nothing: what, and the remedy.
    Step(String, String),
    /// It cannot be kept.
    Trace(TraceError),
}

impl From<TraceError> for Wrong {
    fn from(error: TraceError) -> Self {
        Self::Trace(error)
    }
}

fn wrong<T>(what: impl Into<String>, remedy: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::Step(what.into(), remedy.into()))
}

/// A file: its path, and how large it is, if the script has made it.
struct File {
    path: Arc<str>,
    size: Option<u64>,
}

/// An open file of a process.
#[derive(Clone)]
struct Handle {
    file: usize,
    fd: Fd,
    is_direct: bool,
    position: u64,
}

/// A process whose steps come.
struct Running {
    process: u32,
    name: String,
    handles: FxHashMap<String, Handle>,
}

/// What was read so far.
struct Script {
    files: Vec<File>,
    /// The file of each path that has one.
    names: FxHashMap<String, usize>,
    /// How many handles each descriptor has.
    descriptors: Vec<u32>,
    running: Running,
    /// The process that has started the one that runs.
    around: Option<Running>,
    /// Processes that were started, and not waited for.
    started: Vec<String>,
    /// How many processes there are.
    processes: u32,
}

impl Script {
    fn new(trace: &mut Writer) -> Result<Self, TraceError> {
        let (name, handles) = ("p0".to_owned(), FxHashMap::default());
        let process = trace.process(&name)?;
        trace.set_descriptors(process, 0);
        let running = Running { process, name, handles };
        Ok(Self {
            files: Vec::new(),
            names: FxHashMap::default(),
            descriptors: Vec::new(),
            running,
            around: None,
            started: Vec::new(),
            processes: 1,
        })
    }

    fn step(
        &mut self,
        command: &str,
        words: &[&str],
        line: Option<u32>,
        trace: &mut Writer,
    ) -> Result<(), Wrong> {
        let Some(&(_, count)) = COMMANDS.iter().find(|(name, _)| *name == command) else {
            let remedy = hint(command, COMMANDS.map(|(name, _)| name), "commands");
            return wrong(format!("there is no command `{}`", shorten(command)), remedy);
        };
        if words.len() != count {
            return wrong(format!("`{command}` has {} arguments", words.len()), format!("write {count}"));
        }
        let mut add = |operation: Operation| trace.record(self.running.process, None, None, &operation);
        let plain = |action: Action| Operation { line, ..Operation::from(action) };
        match command {
            "open" => return self.open(words, line, trace),
            "write" => {
                let (offset, size, call) = (offset(words[1])?, size(words[2])?, size(words[3])?);
                return self.transfer(words[0], true, (offset, size, call), line, trace);
            }
            "read" => {
                let (offset, size, call) = (offset(words[1])?, size(words[2])?, size(words[3])?);
                return self.transfer(words[0], false, (offset, size, call), line, trace);
            }
            "fwrite" => {
                let (size, piece, buffer) = (size(words[1])?, size(words[2])?, size(words[3])?);
                let call = written_call(size, piece, buffer);
                return self.transfer(words[0], true, (None, size, call), line, trace);
            }
            "fread" => {
                let (size, piece, buffer) = (size(words[1])?, size(words[2])?, size(words[3])?);
                let call = read_call(size, piece, buffer);
                return self.transfer(words[0], false, (None, size, call), line, trace);
            }
            "fsync" | "fdatasync" | "dontneed" => {
                let handle = self.handle(words[0])?;
                let (path, fd) = (self.files[handle.file].path.clone(), Some(handle.fd));
                let action = match command {
                    "fsync" => Action::Fsync { path },
                    "fdatasync" => Action::Fdatasync { path },
                    _ => Action::Fadvise { path, advice: Advice::DontNeed, offset: 0, bytes: None },
                };
                add(Operation { fd, ..plain(action) })?;
            }
            "close" => {
                let handle = self.handle(words[0])?.clone();
                self.running.handles.remove(words[0]);
                self.release(&handle, line, trace)?;
            }
            "unlink" => {
                let path = below_mount(words[0])?;
                if self.names.remove(path).is_some() {
                    let path = trace.path(path)?;
                    trace.record(self.running.process, None, None, &plain(Action::Unlink { path }))?;
                }
            }
            "rename" => {
                let (from, to) = (below_mount(words[0])?, below_mount(words[1])?);
                let Some(file) = self.names.remove(from) else {
                    return wrong(format!("there is no file `{}`", shorten(from)), "make it before");
                };
                let (path, to_path) = (trace.path(from)?, trace.path(to)?);
                self.files[file].path = to_path.clone();
                self.names.insert(to.to_owned(), file);
                let rename = Action::Rename { path, to: to_path };
                trace.record(self.running.process, None, None, &plain(rename))?;
            }
            "mkdir" => {
                let path = trace.path(below_mount(words[0])?)?;
                trace.record(self.running.process, None, None, &plain(Action::Mkdir { path }))?;
            }
            "owrite" => return self.write_at_intervals(words, line, trace),
            "stat" => {
                let path = below_mount(words[1])?;
                if self.names.contains_key(path) {
                    let path = trace.path(path)?;
                    let look = Action::Fadvise { path, advice: Advice::Normal, offset: 0, bytes: None };
                    trace.record(self.running.process, None, None, &plain(look))?;
                }
            }
            "sync" => add(plain(Action::Sync))?,
            "drop" => add(plain(Action::DropCaches))?,
            "sleep" => add(plain(Action::Sleep { time: milliseconds(words[0])?, random: None }))?,
            "spin" => add(plain(Action::Compute { time: milliseconds(words[0])? }))?,
            "proc" => return self.start(words[0], line, trace),
            "endproc" => return self.end(line, trace),
            "wait" => {
                for name in std::mem::take(&mut self.started) {
                    add(plain(Action::Wait { event: format!("end {name}").into() }))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, words: &[&str], line: Option<u32>, trace: &mut Writer) -> Result<(), Wrong> {
        let (path, letters) = (below_mount(words[1])?, words[2]);
        if let Some(letter) = letters.chars().find(|letter| !"rwctdsS".contains(*letter)) {
            return wrong(
                format!("there is no flag `{}`", shorten(&letter.to_string())),
                "flags are r, w, c, t, d, s, S",
            );
        }
        let (create, truncate) = (letters.contains('c'), letters.contains('t'));
        let file = match self.names.get(path) {
            Some(&file) => file,
            None => {
                self.names.insert(path.to_owned(), self.files.len());
                self.files.push(File { path: trace.path(path)?, size: create.then_some(0) });
                self.files.len() - 1
            }
        };
        if truncate {
            self.files[file].size = Some(0);
        }
        let flags = [('d', OpenFlag::Direct), ('s', OpenFlag::Sync), ('S', OpenFlag::Dsync)];
        let flags =
            flags.into_iter().filter(|(letter, _)| letters.contains(*letter)).map(|(_, flag)| flag).collect();
        let fd = Fd(self.descriptors.len() as u32);
        self.descriptors.push(1);
        let handle = Handle { file, fd, is_direct: letters.contains('d'), position: 0 };
        if let Some(old) = self.running.handles.insert(words[0].to_owned(), handle) {
            self.release(&old, line, trace)?;
        }
        let action = Action::Open { path: self.files[file].path.clone(), create, truncate, flags };
        let operation = Operation { line, fd: Some(fd), ..Operation::from(action) };
        Ok(trace.record(self.running.process, None, None, &operation)?)
    }

    /// Reads or writes through a handle; without an offset from its position, which moves.
    fn transfer(
        &mut self,
        name: &str,
        writes: bool,
        (offset, size, call): (Option<u64>, u64, u64),
        line: Option<u32>,
        trace: &mut Writer,
    ) -> Result<(), Wrong> {
        let handle = self.handle(name)?.clone();
        let file = &mut self.files[handle.file];
        let start = offset.unwrap_or(handle.position);
        let size = match file.size {
            // The kernel stops at the end of a file.
            Some(end)
                if !writes
                    && start.saturating_add(size) > end
                    && accepted(&handle, start, call, call) == call =>
            {
                end.saturating_sub(start)
            }
            _ => accepted(&handle, start, size, call),
        };
        if size == 0 {
            return Ok(());
        }
        let end = start.saturating_add(size);
        if writes {
            file.size = file.size.map(|old| old.max(end));
        }
        let path = file.path.clone();
        if offset.is_none() {
            self.running.handles.get_mut(name).expect("it was just found").position = end;
        }
        let (offset, bytes) = (Some(start), Bytes(size));
        let call = Some(Bytes(call.min(size))).filter(|call| *call > Bytes::ZERO);
        let action = match writes {
            true => Action::Write { path, offset, bytes, call, vector: 1 },
            false => {
                Action::Read { path, offset, bytes: Some(bytes), call, vector: 1, buffer: Buffer::Reused }
            }
        };
        let operation = Operation { line, fd: Some(handle.fd), ..Operation::from(action) };
        Ok(trace.record(self.running.process, None, None, &operation)?)
    }

    /// Writes call by call, each followed by a pause: bytes, bytes of a call, bytes after which it begins anew, microseconds.
    fn write_at_intervals(
        &mut self,
        words: &[&str],
        line: Option<u32>,
        trace: &mut Writer,
    ) -> Result<(), Wrong> {
        let (bytes, call, around) = (size(words[1])?, size(words[2])?, size(words[3])?);
        let Some(pause) = scaled(words[4], 3).map(Nanos) else {
            return wrong(format!("`{}` is no time", shorten(words[4])), "write microseconds");
        };
        if call == 0 || around < call {
            return wrong(
                "`owrite` moves nothing",
                "write a call of at least a byte, and no less until it begins anew",
            );
        }
        let (mut done, mut at) = (0, 0);
        while done < bytes {
            let piece = call.min(bytes - done);
            if at + piece > around {
                at = 0;
            }
            self.transfer(words[0], true, (Some(at), piece, piece), line, trace)?;
            let sleep = Operation { line, ..Operation::from(Action::Sleep { time: pause, random: None }) };
            trace.record(self.running.process, None, None, &sleep)?;
            (done, at) = (done + piece, at + piece);
        }
        Ok(())
    }

    fn handle(&self, name: &str) -> Result<&Handle, Wrong> {
        match self.running.handles.get(name) {
            Some(handle) => Ok(handle),
            None => wrong(format!("handle `{}` is not open", shorten(name)), "open it before"),
        }
    }

    /// A handle is given up; the last one of a descriptor closes it.
    fn release(&mut self, handle: &Handle, line: Option<u32>, trace: &mut Writer) -> Result<(), TraceError> {
        let count = &mut self.descriptors[handle.fd.0 as usize];
        *count -= 1;
        if *count > 0 {
            return Ok(());
        }
        let action = Action::Close { path: self.files[handle.file].path.clone() };
        let operation = Operation { line, fd: Some(handle.fd), ..Operation::from(action) };
        trace.record(self.running.process, None, None, &operation)
    }

    fn start(&mut self, label: &str, line: Option<u32>, trace: &mut Writer) -> Result<(), Wrong> {
        if self.around.is_some() {
            return wrong("a `proc` stands within another one", "write `endproc` first");
        }
        self.processes += 1;
        let name = format!("{label}-{}", self.processes - 1);
        let event: Arc<str> = format!("start {name}").into();
        let signal = Operation { line, ..Operation::from(Action::Signal { event: event.clone() }) };
        trace.record(self.running.process, None, None, &signal)?;
        let process = trace.process(&name)?;
        trace.set_descriptors(process, 0);
        let wait = Operation { line, ..Operation::from(Action::Wait { event }) };
        trace.record(process, None, None, &wait)?;
        let handles = self.running.handles.clone();
        for handle in handles.values() {
            self.descriptors[handle.fd.0 as usize] += 1;
        }
        self.started.push(name.clone());
        let around = std::mem::replace(&mut self.running, Running { process, name, handles });
        self.around = Some(around);
        Ok(())
    }

    fn end(&mut self, line: Option<u32>, trace: &mut Writer) -> Result<(), Wrong> {
        let Some(around) = self.around.take() else {
            return wrong("`endproc` stands behind no `proc`", "remove it");
        };
        let mut handles: Vec<Handle> = self.running.handles.drain().map(|(_, handle)| handle).collect();
        handles.sort_by_key(|handle| handle.fd);
        handles.iter().try_for_each(|handle| self.release(handle, line, trace))?;
        let event = format!("end {}", self.running.name).into();
        let signal = Operation { line, ..Operation::from(Action::Signal { event }) };
        trace.record(self.running.process, None, None, &signal)?;
        self.running = around;
        Ok(())
    }
}

/// How many bytes the kernel moves before it refuses a call as EINVAL, which moves nothing.
fn accepted(handle: &Handle, start: u64, size: u64, call: u64) -> u64 {
    if !handle.is_direct {
        return size;
    }
    let call = if call.min(size) == 0 { size } else { call.min(size) };
    match (start % BLOCK, call % BLOCK) {
        _ if size == 0 => 0,
        (0, 0) if size.is_multiple_of(BLOCK) => size,
        (0, 0) => size - size % call,
        _ => 0,
    }
}

fn below_mount(path: &str) -> Result<&str, Wrong> {
    match path.strip_prefix("MNT/") {
        Some(path) => Ok(path),
        None => wrong(format!("`{}` is not below MNT", shorten(path)), "write MNT/NAME"),
    }
}

/// An offset; none is the current position.
fn offset(text: &str) -> Result<Option<u64>, Wrong> {
    if text == "-1" { Ok(None) } else { size(text).map(Some) }
}

/// A number of bytes, with k, m or g for powers of 1024.
fn size(text: &str) -> Result<u64, Wrong> {
    let power = match text.bytes().last().map(|letter| letter.to_ascii_lowercase()) {
        Some(b'k') => 10,
        Some(b'm') => 20,
        Some(b'g') => 30,
        _ => 0,
    };
    let digits = if power > 0 { &text[..text.len() - 1] } else { text };
    let number = scaled(digits, 0).filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match number.and_then(|number| number.checked_mul(1 << power)) {
        Some(number) => Ok(number),
        None => wrong(format!("`{}` is no size", shorten(text)), "write bytes, or a number with k, m or g"),
    }
}

fn milliseconds(text: &str) -> Result<Nanos, Wrong> {
    match scaled(text, 6) {
        Some(time) => Ok(Nanos(time)),
        None => wrong(format!("`{}` is no time", shorten(text)), "write milliseconds"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::readers::testing::{read_text, rows};

    #[test]
    fn a_script_becomes_processes() {
        let text = "\
# a case
mark set-up
open 3 MNT/f wc
write 3 -1 1m 64k
write 3 0 4k 4k
stat one MNT/f
proc other
  read 3 0 2m 1m   # stops at the end
  open 4 MNT/g wctd
  write 4 100 4096 4096   # moves nothing
  write 4 0 4096 4096
endproc
sleep 1.5
unlink MNT/f
wait
fsync 3
close 3
drop
";
        let trace = read_text(read, text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        duration_s,process,op,file,offset_bytes,bytes,call_bytes,fd,flags
        ,p0,open,f,,,,0,O_CREAT
        ,p0,write,f,0,1048576,65536,0,
        ,p0,write,f,0,4096,4096,0,
        ,p0,fadvise,f,0,,,,normal
        ,p0,signal,start other-1,,,,,
        0.0015,p0,sleep,,,,,,
        ,p0,unlink,f,,,,,
        ,p0,wait,end other-1,,,,,
        ,p0,fsync,f,,,,0,
        ,p0,close,f,,,,0,
        ,p0,drop_caches,,,,,,
        ,other-1,wait,start other-1,,,,,
        ,other-1,read,f,0,1048576,1048576,0,
        ,other-1,open,g,,,,1,O_CREAT O_TRUNC O_DIRECT
        ,other-1,write,g,0,4096,4096,1,
        ,other-1,close,g,,,,1,
        ,other-1,signal,end other-1,,,,,
        "#);
    }

    #[test]
    fn a_stream_has_calls_of_the_mean_size() {
        let text = "open 3 MNT/f wct\nfwrite 3 1m 100 4096\nopen 4 MNT/f r\nfread 4 1m 8k 4096\n";
        let trace = read_text(read, text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        process,op,file,offset_bytes,bytes,call_bytes,fd,flags
        p0,open,f,,,,0,O_CREAT O_TRUNC
        p0,write,f,0,1048576,4096,0,
        p0,open,f,,,,1,
        p0,read,f,0,1048576,8192,1,
        "#);
    }

    /// The rows behind those that make a file of 10,000 bytes.
    fn moved(step: &str) -> String {
        let text = format!("open 0 MNT/a wct\nwrite 0 0 10000 4k\nclose 0\nopen 1 MNT/a rwd\n{step}\n");
        let trace = read_text(read, &text, &Options::default()).unwrap();
        rows(&trace).lines().skip(5).collect()
    }

    #[test]
    fn what_is_not_whole_blocks_is_refused_with_o_direct() {
        assert_eq!(moved("write 1 0 1m 4k"), "p0,write,a,0,1048576,4096,1,");
        assert_eq!(moved("write 1 0 10000 4k"), "p0,write,a,0,8192,4096,1,", "the last call is refused");
        assert_eq!(moved("read 1 0 100m 4k"), "p0,read,a,0,10000,4096,1,", "it ends at the end of the file");
        assert_eq!(moved("read 1 0 9000 4k"), "p0,read,a,0,8192,4096,1,");
        for nothing in ["write 1 0 1000 4k", "write 1 100 1m 4k", "write 1 0 1m 1000", "read 1 100 9000 4k"] {
            assert_eq!(moved(nothing), "", "{nothing}");
        }
    }

    #[test]
    fn positions_move_without_an_offset_alone() {
        let text = "open 0 MNT/a wct\nwrite 0 -1 1m 1m\nwrite 0 0 3m 1m\nwrite 0 -1 1m 1m\nread 0 2m 5m 1m\n\
                    read 0 3m 1m 1m\nopen 1 MNT/a r\nread 1 -1 1m 16m\nopen 2 MNT/a rwt\nread 2 0 1m 1m\n";
        let trace = read_text(read, text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        process,op,file,offset_bytes,bytes,call_bytes,fd,flags
        p0,open,a,,,,0,O_CREAT O_TRUNC
        p0,write,a,0,1048576,1048576,0,
        p0,write,a,0,3145728,1048576,0,
        p0,write,a,1048576,1048576,1048576,0,
        p0,read,a,2097152,1048576,1048576,0,
        p0,open,a,,,,1,
        p0,read,a,0,1048576,1048576,1,
        p0,open,a,,,,2,O_TRUNC
        "#);
    }

    #[test]
    fn an_unlinked_file_lives_until_it_is_closed() {
        let text =
            "open 0 MNT/a wct\nproc p\nclose 0\nendproc\nunlink MNT/a\nopen 1 MNT/a wct\nwait\nclose 0\n";
        let trace = read_text(read, text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        process,op,file,fd,flags
        p0,open,a,0,O_CREAT O_TRUNC
        p0,signal,start p-1,,
        p0,unlink,a,,
        p0,open,a,1,O_CREAT O_TRUNC
        p0,wait,end p-1,,
        p0,close,a,0,
        p-1,wait,start p-1,,
        p-1,signal,end p-1,,
        "#);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let texts = [
            "opne 3 MNT/f r\n",
            "open 3 MNT/f\n",
            "open 3 /f r\n",
            "open 3 MNT/f x\n",
            "\nfsync 3\n",
            "open 3 MNT/f wc\nwrite 3 0 1x 1\n",
            "sleep soon\n",
            "proc a\nproc b\n",
            "endproc\n",
            "proc a\n",
        ];
        let errors = texts.map(|text| read_text(read, text, &Options::default()).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"), @r#"
        x:1: there is no command `opne`; did you mean `open`?
        x:1: `open` has 2 arguments; write 3
        x:1: `/f` is not below MNT; write MNT/NAME
        x:1: there is no flag `x`; flags are r, w, c, t, d, s, S
        x:2: handle `3` is not open; open it before
        x:2: `1x` is no size; write bytes, or a number with k, m or g
        x:1: `soon` is no time; write milliseconds
        x:2: a `proc` stands within another one; write `endproc` first
        x:1: `endproc` stands behind no `proc`; remove it
        x:1: the script ends within a `proc`; write `endproc` behind its steps
        "#);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "((open 3 MNT/f (r|wct|wd)|(read|write|fread|fwrite) 3 (-1|[0-9]{1,20}[kmg]?) [0-9]{1,20}[kmg]? [0-9]{1,20}|close 3|unlink MNT/f|proc a|endproc|wait|.{0,20})\n){0,12}") {
            let _ = read_text(read, &text, &Options::default());
        }
    }
}
