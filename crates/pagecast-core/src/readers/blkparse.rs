//! Reads the text of blkparse(1), in its default format.
//!
//! A request stands there several times: queued (Q), issued (D), completed (C). Those that are queued are taken; if there are none, those
//! that are issued. Sizes are sectors of 512 B. The summary at the end ends the trace.
//!
//! Source: blktrace, blkparse_fmt.c (`HEADER`, `process_default`), seen with blktrace 1.2.
//!
//! Left out: formats of `blkparse -f`; the processes and CPUs behind requests; which request was merged or split into which.

use super::decimal::seconds;
use super::error::ReadError;
use super::input::Input;
use super::lenient::Passed;
use super::lines::Lines;
use super::options::Options;
use super::requests::{Request, Requests, SECTOR};
use crate::trace::{TraceError, Writer};
use crate::units::Nanos;

/// So many issued requests without one that was queued, and there are none of these.
const MOST_HELD: usize = 10_000;

/// A line about a request.
#[derive(Debug)]
struct Event {
    device: String,
    time: Nanos,
    action: u8,
    kind: String,
    sector: u64,
    sectors: u64,
    line: Option<u32>,
}

/// True if a file can only be this: "8,0 3 1 0.000000000 697 G W ...".
pub fn matches(head: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(&head[..head.len().min(400)]) else { return false };
    let mut words = text.lines().next().unwrap_or("").split_whitespace();
    let is_device = words.next().is_some_and(is_device);
    let mut is_number = || words.next().is_some_and(|word| word.parse::<u64>().is_ok());
    is_device
        && is_number()
        && is_number()
        && words.next().is_some_and(|word| word.contains('.') && seconds(word).is_some())
}

fn is_device(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once(',').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

/// Reads it.
///
/// # Errors
/// A line that means nothing, with its number.
pub fn read(input: Input, options: &Options, trace: &mut Writer) -> Result<(), ReadError> {
    let origin = input.origin.clone();
    let kept = |result: Result<(), TraceError>| result.map_err(|error| ReadError::of_trace(&origin, &error));
    let mut passed = Passed::new(options.lenient);
    let mut lines = Lines::new(input);
    let mut taking = Taking::default();
    loop {
        let line = lines.following();
        let Some(text) = lines.next()? else { break };
        if is_summary(text) {
            break;
        }
        match event(text, line) {
            Ok(None) => {}
            Ok(Some(event)) => kept(taking.take(event, trace))?,
            Err(what) => {
                passed.over("lines", lines.error(what, "write it with `blkparse` in its default format"))?;
            }
        }
    }
    kept(taking.give_held(trace))?;
    passed.note(&origin, trace);
    if taking.mode == Mode::Issued {
        trace.note(&*origin, "no request was queued (Q); those that were issued (D) are taken");
    }
    taking.requests.finish(&origin, trace)
}

/// Which events are taken.
#[derive(Debug, Default, PartialEq)]
enum Mode {
    #[default]
    Unknown,
    Queued,
    Issued,
}

/// Takes one event of each request.
#[derive(Debug, Default)]
struct Taking {
    mode: Mode,
    /// Issued ones, as long as none is queued.
    held: Vec<Event>,
    requests: Requests,
}

impl Taking {
    fn take(&mut self, event: Event, trace: &mut Writer) -> Result<(), TraceError> {
        match (&self.mode, event.action) {
            (Mode::Unknown | Mode::Queued, b'Q') => {
                self.mode = Mode::Queued;
                self.held = Vec::new();
                self.add(&event, trace)
            }
            (Mode::Unknown, b'D') => {
                self.held.push(event);
                if self.held.len() < MOST_HELD { Ok(()) } else { self.give_held(trace) }
            }
            (Mode::Issued, b'D') => self.add(&event, trace),
            _ => Ok(()),
        }
    }

    fn give_held(&mut self, trace: &mut Writer) -> Result<(), TraceError> {
        if self.mode == Mode::Unknown && !self.held.is_empty() {
            self.mode = Mode::Issued;
        }
        std::mem::take(&mut self.held).iter().try_for_each(|event| self.add(event, trace))
    }

    fn add(&mut self, event: &Event, trace: &mut Writer) -> Result<(), TraceError> {
        // The direction stands behind an F for a flush before it; D is a discard, N none of these.
        let direction = event.kind.trim_start_matches('F').chars().next();
        let writes = match direction {
            Some('R') => false,
            Some('W') => true,
            _ => {
                self.requests.pass_over();
                return Ok(());
            }
        };
        let request = Request {
            device: &event.device,
            time: Some(event.time),
            duration: None,
            writes,
            offset: event.sector.saturating_mul(SECTOR),
            bytes: event.sectors.saturating_mul(SECTOR),
            line: event.line,
        };
        self.requests.add(&request, trace)
    }
}

/// True for the first line behind the events.
fn is_summary(text: &str) -> bool {
    ["CPU", "Total ("].iter().any(|start| text.starts_with(start))
}

/// The event of a line, if it is about a request with a place.
fn event(text: &str, line: Option<u32>) -> Result<Option<Event>, String> {
    let mut words = text.split_whitespace();
    let Some(device) = words.next() else { return Ok(None) };
    if !is_device(device) {
        return Err("this line does not begin with a device such as `8,0`".to_owned());
    }
    let (_cpu, _sequence) = (words.next(), words.next());
    let time = words.next().and_then(seconds).ok_or("the fourth word of this line is no time in seconds")?;
    let (_process, action, kind) = (words.next(), words.next(), words.next());
    let action = action.ok_or("this line ends before its action")?;
    if !matches!(action, "Q" | "D") {
        return Ok(None);
    }
    let kind = kind.ok_or("this line ends before R or W")?;
    let sector = words.next().and_then(|word| word.parse().ok());
    let (plus, sectors) = (words.next(), words.next().and_then(|word| word.parse().ok()));
    let (sector, sectors) = match (sector, plus, sectors) {
        (Some(sector), Some("+"), Some(sectors)) => (sector, sectors),
        // A flush has no place.
        (None, _, _) if kind.starts_with('F') || kind.starts_with('N') => (0, 0),
        _ => return Err("this line has no `SECTOR + COUNT`".to_owned()),
    };
    let action = action.as_bytes()[0];
    let (device, kind) = (device.replace(',', "_"), kind.to_owned());
    Ok(Some(Event { device, time, action, kind, sector, sectors, line }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::readers::testing::{read_text, rows};

    const TEXT: &str = "\
  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  P   R [kjournald]
  8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]
  8,0    3        4     0.000005533   697  M   W 223498 + 8 [kjournald]
  8,0    1        5     0.000060000   697  Q RAS 1000 + 256 [cat]
  8,0    1        6     0.000070000   697  Q FWS [kjournald]
  8,0    1        7     0.000075000   697  Q  DS 64 + 8 [fstrim]
  8,0    3        8     0.000009090   697  D   W 223490 + 8 [kjournald]
  8,0    3        9     0.000119090   697  C   W 223490 + 8 [0]
CPU3 (8,0):
 Reads Queued:           1,      128KiB
";

    #[test]
    fn a_request_is_taken_once_as_it_is_queued() {
        let trace = read_text(read, TEXT, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        time_s,process,op,file,offset_bytes,bytes,depth,by,flags
        0.000002197,8_0,open,8_0,,,,,O_DIRECT
        0.000002197,8_0,write,8_0,114426880,4096,128,libaio,
        0.00006,8_0,read,8_0,512000,131072,128,libaio,
        8_0: 114.43 MB
        x: the size of a device is not told; the device is as large as the last request needs
        x: 1 requests that are neither reads nor writes were passed over
        x: 1 requests without bytes were passed over
        "#);
    }

    #[test]
    fn without_queued_ones_those_that_are_issued_are_taken() {
        let issued: String =
            TEXT.lines().filter(|line| !line.contains(" Q ")).map(|line| format!("{line}\n")).collect();
        let trace = read_text(read, &issued, &Options::default()).unwrap();
        insta::assert_snapshot!(rows(&trace), @r#"
        time_s,process,op,file,offset_bytes,bytes,depth,by,flags
        0.00000909,8_0,open,8_0,,,,,O_DIRECT
        0.00000909,8_0,write,8_0,114426880,4096,128,libaio,
        8_0: 114.43 MB
        x: no request was queued (Q); those that were issued (D) are taken
        x: the size of a device is not told; the device is as large as the last request needs
        "#);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let lines = [
            "",
            "8,0 1 2 x 1 Q R 1 + 2",
            "8,0 1 2 0.1",
            "8,0 1 2 0.1 7 Q R 1 x 2",
            "sda 1",
            "8,0 1 2 0.1 7 Q",
        ];
        let errors = lines.map(|text| read_text(read, text, &Options::default()).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"), @r#"
        x: has no read or write of a device; name the right --format
        x:1: the fourth word of this line is no time in seconds; write it with `blkparse` in its default format
        x:1: this line ends before its action; write it with `blkparse` in its default format
        x:1: this line has no `SECTOR + COUNT`; write it with `blkparse` in its default format
        x:1: this line does not begin with a device such as `8,0`; write it with `blkparse` in its default format
        x:1: this line ends before R or W; write it with `blkparse` in its default format
        "#);
    }

    #[test]
    fn it_is_told_by_its_first_line() {
        assert!(matches(TEXT.as_bytes()) && !matches(b"8,0 1") && !matches(b"1,2,3\n") && !matches(b""));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "( *8,0 +1 +2 +(0\\.1|x) +7 +[QDCR] +(R|W|FN|D) +[0-9]{0,22} +\\+? *[0-9]{0,22}.{0,9}\n){0,9}") {
            let _ = read_text(read, &text, &Options { lenient: true, ..Options::default() });
            let _ = read_text(read, &text, &Options::default());
        }
    }
}
