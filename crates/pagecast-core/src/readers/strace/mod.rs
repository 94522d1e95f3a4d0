//! Reads what strace has recorded of programs: `strace -f -ttt -T -y -o FILE COMMAND`.
//!
//! Source: strace(1) 6.1; the calls of Linux 6.12 that C programs of glibc make on files.
//!
//! - Each thread is a process of the workload. All share one table of descriptors, in which every open file has a number of its own, so that
//!   dup, fork and close-on-exec need no operations; reads and writes have the bytes that were returned, at the place where they were.
//! - Time between calls, and calls on anything but files, are time in which the program does something else. What strace itself takes is
//!   estimated from the recording and taken out ([`overhead`]).
//! - A child begins when its parent has made it; `wait4`, `pthread_join`, reads of pipes, and opening a file that another process has written
//!   wait for what that process does ([`order`]). All other waiting takes the recorded time.
//! - Files of system directories (programs, libraries, /etc) are taken as cached and left out, if nothing else is asked for, as are files of
//!   /proc, /sys and /dev, pipes and sockets. Their calls take the recorded time; a note counts their bytes.
//!
//! Left out: pages of mapped files; io_uring and libaio, which cannot be seen; symbolic links.

mod arguments;
mod calls;
mod clock;
mod directories;
mod files;
mod line;
mod noted;
mod order;
mod overhead;
mod recording;
#[cfg(test)]
mod tests;
mod threads;

use self::line::{Line, Told, Unusable, line};
use self::overhead::Overhead;
use self::recording::{Recording, Times};
use super::error::ReadError;
use super::input::Input;
use super::lenient::Passed;
use super::lines::Lines;
use super::options::Options;
use crate::trace::Writer;

/// From so many lines is it estimated what strace takes, and found which times they have.
const SAMPLE: usize = 4096;

/// True if a file can only be this: one of its first lines has a time and a call, or a call that strace begins with.
pub fn matches(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().filter(|text| !text.starts_with("strace: ")).take(3);
    lines.any(|text| {
        text.len() < head.len()
            && line(text).is_ok_and(|line| match line.told {
                Told::Call(call) => line.stamp.is_some() || call.name == "execve",
                Told::Unfinished(..) | Told::Resumed(..) => line.stamp.is_some(),
                _ => false,
            })
    })
}

/// Reads it.
///
/// # Errors
/// A line that is not of strace, with its number.
pub fn read(input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let origin = lines.origin().to_owned();
    let mut first: Vec<String> = Vec::new();
    while first.len() < SAMPLE
        && let Some(text) = lines.next()?
    {
        first.push(text.to_owned());
    }
    let sample = || first.iter().map(String::as_str);
    let overhead = Overhead::of(sample(), options.strace.overhead);
    let recording = Recording::new(trace, overhead, times(sample()), options.strace.system_files);
    let mut reading = Reading { recording, passed: Passed::new(options.lenient), origin: &origin };
    for (at, text) in (1..).zip(&first) {
        // The last line of all may be cut.
        let is_cut = at as usize == first.len() && lines.is_cut();
        reading.line(text, at, is_cut)?;
    }
    drop(first);
    let mut at = SAMPLE as u64;
    loop {
        at += 1;
        let Some(text) = lines.next()? else { break };
        match line(text) {
            Ok(line) => reading.take(&line, at)?,
            Err(unusable) => reading.pass(unusable, at, lines.is_cut())?,
        }
    }
    let Reading { mut recording, passed, .. } = reading;
    recording.end(&origin).map_err(|error| ReadError::of_trace(&origin, &error))?;
    passed.note(&origin, trace);
    Ok(())
}

/// The times that lines of a recording have.
fn times<'a>(texts: impl Iterator<Item = &'a str>) -> Times {
    let mut times = Times::None;
    for text in texts {
        match line(text) {
            Ok(Line { stamp: Some(_), told: Told::Call(call), .. }) if call.duration.is_some() => {
                return Times::Durations;
            }
            Ok(Line { stamp: Some(_), .. }) => times = Times::Starts,
            _ => {}
        }
    }
    times
}

/// A recording that is being read, and what was passed over.
struct Reading<'t, 'o> {
    recording: Recording<'t>,
    passed: Passed,
    origin: &'o str,
}

impl Reading<'_, '_> {
    fn line(&mut self, text: &str, at: u64, is_cut: bool) -> Result<(), ReadError> {
        match line(text) {
            Ok(line) => self.take(&line, at),
            Err(unusable) => self.pass(unusable, at, is_cut),
        }
    }

    fn take(&mut self, line: &Line<'_>, at: u64) -> Result<(), ReadError> {
        self.recording
            .line(line, at.try_into().ok())
            .map_err(|error| ReadError::of_trace(self.origin, &error))
    }

    fn pass(&mut self, unusable: Unusable, at: u64, is_cut: bool) -> Result<(), ReadError> {
        let (kind, what, remedy) = match unusable {
            _ if is_cut => (
                "cut lines",
                "the recording ends in the middle of this line",
                "record all of it, or read it as it is with --lenient (lenient = true)",
            ),
            Unusable::WholeSeconds => {
                ("lines", "this time is in whole seconds", "record with strace -f -ttt -T -y -o FILE COMMAND")
            }
            Unusable::Foreign => (
                "lines",
                "this is no line of strace",
                "record with strace -f -ttt -T -y -o FILE COMMAND, or pass over such lines with --lenient (lenient = true)",
            ),
        };
        self.passed.over(kind, ReadError::new(format!("{}:{at}", self.origin), what, remedy))
    }
}
