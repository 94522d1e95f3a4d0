//! Takes a line of strace apart: who, when, which call, what it returned, how long it took.

use crate::units::Nanos;

/// A line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<'a> {
    /// The thread, if the line names it.
    pub pid: Option<u32>,
    /// The time at which the call began.
    pub time: Option<Time>,
    /// What it tells.
    pub told: Told<'a>,
}

/// A time as strace writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Since 1970 (`-ttt`), or since midnight (`-tt`).
    At(Nanos),
    /// Since the line before (`-r`), of whichever thread.
    Since(Nanos),
}

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Told<'a> {
    /// A call that has returned.
    Call(Call<'a>),
    /// A call that goes on; its name, and its arguments so far.
    Unfinished(&'a str, &'a str),
    /// The rest of a call that went on: its name, the rest of its arguments, and its return.
    Resumed(&'a str, &'a str),
    /// The thread has ended.
    Ended,
    /// A signal, or a notice of strace.
    Other,
}

/// A call that has returned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call<'a> {
    /// Its name.
    pub name: &'a str,
    /// The text between its parentheses.
    pub arguments: &'a str,
    /// What it returned, as it is written: "3", "-1 ENOENT (No such file or directory)", "?".
    pub returned: &'a str,
    /// How long it took, with `-T`.
    pub duration: Option<Nanos>,
}

impl Call<'_> {
    /// The number that it returned; none if it failed or never returned.
    pub fn number(&self) -> Option<u64> {
        let end = self.returned.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.returned.len());
        let number = &self.returned[..end];
        match number.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        }
    }
}

/// Takes a line apart; none if it is not of strace.
pub fn line(text: &str) -> Option<Line<'_>> {
    let text = text.trim_end();
    if text.starts_with("strace: ") {
        return Some(Line { pid: None, time: None, told: Told::Other });
    }
    let (pid, rest) = pid(text);
    let (time, rest) = time(rest);
    Some(Line { pid, time, told: told(rest)? })
}

/// The thread at the start of a line: "1234 " of a file, "[pid 1234] " of a terminal.
fn pid(text: &str) -> (Option<u32>, &str) {
    let inner = text.strip_prefix("[pid").and_then(|rest| rest.split_once(']'));
    if let Some((number, rest)) = inner {
        return (number.trim().parse().ok(), rest.trim_start());
    }
    match text.split_once(' ') {
        Some((number, rest)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            (number.parse().ok(), rest.trim_start())
        }
        _ => (None, text),
    }
}

fn time(text: &str) -> (Option<Time>, &str) {
    let text = text.trim_start();
    let Some((first, rest)) = text.split_once(' ') else { return (None, text) };
    match stamp(first) {
        Some(time) => (Some(time), rest.trim_start()),
        None => (None, text),
    }
}

/// "1700000000.123456" or "12:34:56.123456" or "0.000123".
fn stamp(text: &str) -> Option<Time> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some((hours, rest)) = text.split_once(':') {
        let (minutes, seconds) = rest.split_once(':')?;
        let whole = hours.parse::<u64>().ok()? * 3600 + minutes.parse::<u64>().ok()? * 60;
        let seconds = nanos(seconds)?;
        return Some(Time::At(Nanos(whole.checked_mul(1_000_000_000)?.checked_add(seconds.0)?)));
    }
    let time = nanos(text)?;
    // Nothing that is traced goes on for three years between two lines.
    if time.0 > 100_000_000 * 1_000_000_000 { Some(Time::At(time)) } else { Some(Time::Since(time)) }
}

/// Decimal seconds with a point.
fn nanos(text: &str) -> Option<Nanos> {
    let (whole, fraction) = text.split_once('.')?;
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let fraction = fraction.parse::<u64>().ok()? * 10_u64.pow(9 - fraction.len() as u32);
    Some(Nanos(whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)?))
}

fn told(text: &str) -> Option<Told<'_>> {
    if let Some(rest) = text.strip_prefix("+++ ") {
        let ended = rest.starts_with("exited") || rest.starts_with("killed");
        return Some(if ended { Told::Ended } else { Told::Other });
    }
    if text.starts_with("--- ") {
        return Some(Told::Other);
    }
    if let Some(rest) = text.strip_prefix("<... ") {
        let (name, rest) = rest.split_once(" resumed>")?;
        return Some(Told::Resumed(name, rest));
    }
    let (name, rest) = text.split_once('(')?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    if let Some(at) = rest.rfind("<unfinished ...>") {
        return Some(Told::Unfinished(name, &rest[..at]));
    }
    returned(name, rest).map(Told::Call)
}

/// A call, from behind its first parenthesis.
pub fn returned<'a>(name: &'a str, rest: &'a str) -> Option<Call<'a>> {
    let at = rest.rfind(" = ")?;
    let arguments = rest[..at].trim_end().strip_suffix(')')?;
    let after = &rest[at + 3..];
    let (value, duration) =
        match after.rsplit_once(" <").and_then(|(value, time)| Some((value, time.strip_suffix('>')?))) {
            Some((value, time)) => match nanos(time) {
                Some(time) => (value, Some(time)),
                None => (after, None),
            },
            None => (after, None),
        };
    Some(Call { name, arguments, returned: value.trim(), duration })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> (Option<u32>, Option<Time>, Call<'_>) {
        match line(text) {
            Some(Line { pid, time, told: Told::Call(call) }) => (pid, time, call),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_says_who_when_what_and_how_long() {
        let (pid, time, read) = call(r#"1234 1700000000.250000 read(3, "a) = 1, <b", 4096) = 9 <0.000012>"#);
        assert_eq!((pid, time), (Some(1234), Some(Time::At(Nanos(1_700_000_000_250_000_000)))));
        assert_eq!((read.name, read.arguments), ("read", r#"3, "a) = 1, <b", 4096"#));
        assert_eq!((read.number(), read.duration), (Some(9), Some(Nanos(12_000))));
    }

    #[test]
    fn every_form_of_thread_and_time_is_known() {
        let close = "close(3)                = 0";
        assert_eq!(call(close).0, None);
        assert_eq!(call(&format!("[pid   77] {close}")).0, Some(77));
        assert_eq!(call(&format!("00:00:01.5 {close}")).1, Some(Time::At(Nanos(1_500_000_000))));
        assert_eq!(call(&format!("     0.000100 {close}")).1, Some(Time::Since(Nanos(100_000))));
        assert_eq!(call(&format!("12 {close}")).0, Some(12));
    }

    #[test]
    fn failures_and_addresses_are_told_apart() {
        assert_eq!(call("open(\"x\", O_RDONLY) = -1 ENOENT (No such file or directory)").2.number(), None);
        assert_eq!(call("exit_group(0) = ?").2.number(), None);
        assert_eq!(call("mmap(NULL, 1) = 0x7f00").2.number(), Some(0x7f00));
        assert_eq!(call("openat(AT_FDCWD</x>, \"f\", O_RDONLY) = 3</x/f> <0.1>").2.number(), Some(3));
    }

    #[test]
    fn what_is_no_call_is_known_too() {
        assert_eq!(line("5 1.5 +++ exited with 0 +++").map(|line| line.told), Some(Told::Ended));
        assert_eq!(line("--- SIGCHLD {si_signo=SIGCHLD} ---").map(|line| line.told), Some(Told::Other));
        assert_eq!(line("strace: Process 5 attached").map(|line| line.told), Some(Told::Other));
        let unfinished = line("7 read(3,  <unfinished ...>").map(|line| line.told);
        assert_eq!(unfinished, Some(Told::Unfinished("read", "3,  ")));
        let resumed = line("7 <... read resumed>\"x\", 5) = 1").map(|line| line.told);
        assert_eq!(resumed, Some(Told::Resumed("read", "\"x\", 5) = 1")));
        assert_eq!(line("total 12"), None);
        assert_eq!(line(""), None);
    }
}
