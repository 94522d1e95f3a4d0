//! Reads the logs that fio writes with `write_iolog`, versions 2 and 3, as fio 3.33 replays them.
//!
//! A line of version 3 is `TIME FILE ACTION [OFFSET LENGTH]`, with microseconds since the start; fio's manual names no unit. Version 2 has
//! no TIME; its `wait` says in OFFSET when the next operation begins, in milliseconds since the start: fio replays it so, while its
//! manual has microseconds since the wait before. A log tells neither how many operations are under way at once nor whether files
//! are open with O_DIRECT: the operations follow one another, through the page cache.
//!
//! Source: fio 3.33, iolog.c (`read_iolog`, `log_io_u`, `log_file`).
//!
//! Left out: binary logs of blktrace, which fio also replays (`blkparse` makes text of them); names with spaces.

use std::sync::Arc;

use super::decimal::whole;
use super::error::ReadError;
use super::input::Input;
use super::lenient::Passed;
use super::lines::Lines;
use super::options::Options;
use crate::nearest::{hint, shorten};
use crate::trace::{TraceError, Writer};
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, AllocateMode, Buffer, OpenFlags, Operation};

/// What fio does with a file.
const ACTIONS: [&str; 9] = ["add", "open", "close", "read", "write", "sync", "datasync", "trim", "wait"];

/// True if a file can only be this.
pub fn matches(head: &[u8]) -> bool {
    head.starts_with(b"fio version ")
}

/// Reads it.
///
/// # Errors
/// A line that means nothing, with its number.
pub fn read(input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    let origin = input.origin.clone();
    let failed = |error| ReadError::of_trace(&origin, &error);
    let mut lines = Lines::new(input);
    let first = lines.next()?.unwrap_or("").to_owned();
    let has_times = match first.trim_end() {
        "fio version 2 iolog" => false,
        "fio version 3 iolog" => true,
        other => {
            let what = format!("begins with `{}`", shorten(other));
            return Err(
                lines.error(what, "a log of fio begins with `fio version 2 iolog` or `fio version 3 iolog`")
            );
        }
    };
    let mut passed = Passed::new(options.lenient);
    let mut log = Log { process: trace.process("fio").map_err(failed)?, waits: None };
    trace.set_start(log.process, Nanos::ZERO);
    loop {
        let line = lines.following();
        let Some(text) = lines.next()? else { break };
        if text.trim().is_empty() {
            continue;
        }
        match entry(text, has_times) {
            Ok(entry) => log.record(&entry, line, trace).map_err(failed)?,
            Err((what, remedy)) => passed.over("lines", lines.error(what, remedy))?,
        }
    }
    passed.note(&origin, trace);
    trace.note(
        &*origin,
        "a log of fio tells neither its iodepth nor direct=1; its operations follow one another, through the page cache",
    );
    Ok(())
}

/// A line.
struct Entry<'a> {
    time: Option<Nanos>,
    file: &'a str,
    action: &'a str,
    offset: u64,
    bytes: u64,
}

fn entry(text: &str, has_times: bool) -> Result<Entry<'_>, (String, String)> {
    let wrong = |what: String, remedy: &str| Err((what, remedy.to_owned()));
    let form = if has_times { "TIME FILE ACTION [OFFSET LENGTH]" } else { "FILE ACTION [OFFSET LENGTH]" };
    let mut words = text.split_whitespace();
    let mut time = None;
    if has_times {
        let micros = words.next().and_then(whole).and_then(|micros| micros.checked_mul(1000));
        match micros {
            Some(nanos) => time = Some(Nanos(nanos)),
            None => {
                return wrong(
                    "this line does not begin with microseconds".to_owned(),
                    &format!("write {form}"),
                );
            }
        }
    }
    let (Some(file), Some(action)) = (words.next(), words.next()) else {
        return wrong("this line is too short".to_owned(), &format!("write {form}"));
    };
    if !ACTIONS.contains(&action) {
        return Err((format!("there is no action `{}`", shorten(action)), hint(action, ACTIONS, "actions")));
    }
    let has_range = !matches!(action, "add" | "open" | "close");
    let (mut offset, mut bytes) = (0, 0);
    if has_range {
        let (first, second) = (words.next(), words.next());
        // A sync has a range that means nothing, or none.
        let is_needed = matches!(action, "read" | "write" | "trim" | "wait");
        match (first.and_then(whole), second.and_then(whole)) {
            (Some(first), Some(second)) => (offset, bytes) = (first, second),
            (Some(first), None) if action == "wait" && second.is_none() => offset = first,
            (None, None) if !is_needed && first.is_none() => {}
            _ => {
                return wrong(
                    format!("a {action} has no offset and length in bytes"),
                    &format!("write {form}"),
                );
            }
        }
    }
    if words.next().is_some() {
        return wrong(
            "this line has too many words".to_owned(),
            &format!("write {form}, names without spaces"),
        );
    }
    Ok(Entry { time, file, action, offset, bytes })
}

/// What was read so far.
struct Log {
    process: u32,
    /// When the next operation of version 2 begins.
    waits: Option<Nanos>,
}

impl Log {
    fn record(&mut self, entry: &Entry<'_>, line: Option<u32>, trace: &mut Writer) -> Result<(), TraceError> {
        let &Entry { time, file, action, offset, bytes } = entry;
        if action == "wait" && time.is_none() {
            self.waits = Some(Nanos(offset.saturating_mul(1_000_000)));
            return Ok(());
        }
        let path = trace.path(file)?;
        let Some(action) = made(action, path, offset, Bytes(bytes)) else { return Ok(()) };
        let time = time.or_else(|| self.waits.take());
        trace.record(self.process, time, None, &Operation { line, ..Operation::from(action) })
    }
}

fn made(action: &str, path: Arc<str>, offset: u64, bytes: Bytes) -> Option<Action> {
    let (first, call, vector) = (Some(offset), None, 1);
    Some(match action {
        "open" => Action::Open { path, create: true, truncate: false, flags: OpenFlags::default() },
        "close" => Action::Close { path },
        "read" => {
            Action::Read { path, offset: first, bytes: Some(bytes), call, vector, buffer: Buffer::Reused }
        }
        "write" => Action::Write { path, offset: first, bytes, call, vector },
        "sync" => Action::Fsync { path },
        "datasync" => Action::Fdatasync { path },
        "trim" => Action::Fallocate { path, mode: AllocateMode::PunchHole, offset, bytes },
        // `add` names a file, and a `wait` of version 3 says what the times of the others say, too.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::readers::testing::{read_text, rows};

    #[test]
    fn version_3_has_microseconds() {
        let text = "fio version 3 iolog\n0 /d/a.0.0 add\n3 /d/a.0.0 open\n10 /d/a.0.0 read 8192 4096\n\
                    250 /d/a.0.0 write 0 4096\n300 /d/a.0.0 sync 4096 4096\n301 /d/a.0.0 datasync 0 0\n310 /d/a.0.0 close\n";
        let trace = read_text(read, text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        time_s,process,op,file,offset_bytes,bytes,flags
        0.000003,fio,open,/d/a.0.0,,,O_CREAT
        0.00001,fio,read,/d/a.0.0,8192,4096,
        0.00025,fio,write,/d/a.0.0,0,4096,
        0.0003,fio,fsync,/d/a.0.0,,,
        0.000301,fio,fdatasync,/d/a.0.0,,,
        0.00031,fio,close,/d/a.0.0,,,
        /d/a.0.0: 12.29 kB, inferred
        x: a log of fio tells neither its iodepth nor direct=1; its operations follow one another, through the page cache
        x: it does not tell the size of 1 file, which is that of what is read before it is written
        "#);
    }

    #[test]
    fn version_2_waits_for_milliseconds_since_the_start() {
        let text = "fio version 2 iolog\n/d/a add\n/d/a open\n/d/a wait 20 0\n/d/a read 0 4096\n/d/a read 4096 4096\n\
                    /d/a trim 0 4096\n/d/a sync\n";
        let trace = read_text(read, text, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        time_s,process,op,file,offset_bytes,bytes,flags
        ,fio,open,/d/a,,,O_CREAT
        0.02,fio,read,/d/a,0,4096,
        ,fio,read,/d/a,4096,4096,
        ,fio,fallocate,/d/a,0,4096,punch_hole
        ,fio,fsync,/d/a,,,
        /d/a: 8.19 kB, inferred
        x: a log of fio tells neither its iodepth nor direct=1; its operations follow one another, through the page cache
        x: it does not tell the size of 1 file, which is that of what is read before it is written
        "#);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let texts = [
            "",
            "fio version 4 iolog\n",
            "fio version 2 iolog\n/d/a\n",
            "fio version 2 iolog\n/d/a raed 0 1\n",
            "fio version 2 iolog\n/d/a read 0\n",
            "fio version 2 iolog\n/d/a b read 0 1\n",
            "fio version 2 iolog\n/d/a read 0 1 2\n",
            "fio version 3 iolog\n/d/a read 0 1\n",
        ];
        let errors = texts.map(|text| read_text(read, text, &Options::default()).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"), @r#"
        x:1: begins with ``; a log of fio begins with `fio version 2 iolog` or `fio version 3 iolog`
        x:1: begins with `fio version 4 iolog`; a log of fio begins with `fio version 2 iolog` or `fio version 3 iolog`
        x:2: this line is too short; write FILE ACTION [OFFSET LENGTH]
        x:2: there is no action `raed`; did you mean `read`?
        x:2: a read has no offset and length in bytes; write FILE ACTION [OFFSET LENGTH]
        x:2: there is no action `b`; actions: `add`, `open`, `close`, `read`, `write`, `sync`, `datasync`, `trim`, `wait`
        x:2: this line has too many words; write FILE ACTION [OFFSET LENGTH], names without spaces
        x:2: this line does not begin with microseconds; write TIME FILE ACTION [OFFSET LENGTH]
        "#);
    }

    proptest! {
        #[test]
        fn no_text_panics(version in 2..4_u8, text in "(([0-9]{0,20} )?/d/a (add|open|read|write|wait|trim|x)( [0-9]{0,20}){0,3}\n){0,9}") {
            let text = format!("fio version {version} iolog\n{text}");
            let _ = read_text(read, &text, &Options { lenient: true, ..Options::default() });
            let _ = read_text(read, &text, &Options::default());
        }
    }
}
