//! Reads what strace has recorded of programs: `strace -f -ttt -T -y -s 256 -o FILE COMMAND`.
//!
//! Source: strace(1) 6.1; the calls of Linux 6.12 that C programs of glibc make on files.
//!
//! - Each thread is a process of the workload. All share one table of descriptors, in which every open file has a number of its own, so that
//!   dup, fork and close-on-exec need no operations; reads and writes have the bytes that were returned, at the place where they were.
//! - Time between calls, and calls on anything but files, are time in which the program does something else. What strace itself takes is
//!   estimated from the recording and taken out ([`overhead`]).
//! - A child begins when its parent has made it, and `wait4` waits for the end of a child. All other waiting takes the recorded time.
//! - Files of system directories (programs, libraries, /etc) are taken as cached and left out, as are files of /proc, /sys and /dev,
//!   pipes and sockets; a note counts their bytes.
//!
//! Left out: pages of mapped files; io_uring and libaio, which cannot be seen; symbolic links.

mod arguments;
mod calls;
mod files;
mod line;
mod order;
mod overhead;
mod processes;
#[cfg(test)]
mod tests;

use self::line::line;
use self::overhead::Overhead;
use self::processes::Recording;
use super::error::ReadError;
use super::input::Input;
use super::lenient::Passed;
use super::lines::Lines;
use super::options::Options;
use crate::trace::Writer;

/// From so many lines is it estimated what strace takes.
const SAMPLE: usize = 4096;

/// True if a file can only be this: one of its first lines has a time and a call, or a call that strace begins with.
pub fn matches(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().filter(|text| !text.starts_with("strace: ")).take(3);
    lines.any(|text| {
        text.len() < head.len()
            && line(text).is_some_and(|line| match line.told {
                line::Told::Call(call) => line.time.is_some() || call.name == "execve",
                line::Told::Unfinished(..) | line::Told::Resumed(..) => line.time.is_some(),
                _ => false,
            })
    })
}

/// Reads it.
///
/// # Errors
/// A line that is not of strace, with its number.
pub fn read(input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    let mut passed = Passed::new(options.lenient);
    let mut lines = Lines::new(input);
    let origin = lines.origin().to_owned();
    let mut first: Vec<String> = Vec::new();
    while first.len() < SAMPLE
        && let Some(text) = lines.next()?
    {
        first.push(text.to_owned());
    }
    let overhead = Overhead::of(first.iter().map(String::as_str));
    let mut recording = Recording::new(trace, overhead);
    for (at, text) in (1..).zip(&first) {
        let error = || ReadError::new(format!("{origin}:{at}"), NOT_STRACE, REMEDY);
        one(&mut recording, text, Some(at), &mut passed, error)?;
    }
    drop(first);
    loop {
        let number = lines.following();
        let Some(text) = lines.next()? else { break };
        let text = text.to_owned();
        one(&mut recording, &text, number, &mut passed, || lines.error(NOT_STRACE, REMEDY))?;
    }
    recording.end(&origin);
    passed.note(&origin, trace);
    Ok(())
}

const NOT_STRACE: &str = "this is no line of strace";
const REMEDY: &str = "record with strace -f -ttt -T -y -o FILE COMMAND, or pass over such lines with --lenient (lenient = true)";

fn one(
    recording: &mut Recording<'_>,
    text: &str,
    number: Option<u32>,
    passed: &mut Passed,
    error: impl FnOnce() -> ReadError,
) -> Result<(), ReadError> {
    if text.is_empty() {
        return Ok(());
    }
    match line(text) {
        Some(line) => {
            recording.line(&line, number).map_err(|error| ReadError::of_trace("the recording", &error))
        }
        None => passed.over("lines", error()),
    }
}
