//! Takes a line of strace apart: who, when, which call, what it returned, how long it took.
//!
//! Source: strace 6.1, `src/strace.c: printleader` and `src/syscall.c: syscall_exiting_trace`.

use memchr::memrchr;

use crate::units::Nanos;

/// A line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<'a> {
    /// The thread, if the line names it.
    pub pid: Option<u32>,
    /// When the call began; of a call that goes on, when the line was written.
    pub stamp: Option<Stamp>,
    /// What it tells.
    pub told: Told<'a>,
}

/// A time as strace writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// Since 1970 (`-ttt`).
    Epoch(Nanos),
    /// Since midnight (`-tt`).
    Day(Nanos),
    /// Since the line before, of whichever thread (`-r`).
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
    /// Another thread of its process, of this number, has executed a program, and goes on under this one's number.
    Superseded(u32),
    /// strace follows a thread of this number from now on.
    Attached(u32),
    /// A signal, or another notice.
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

/// A line that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It is none of strace.
    Foreign,
    /// Its time is in whole seconds (`-t`).
    WholeSeconds,
}

impl Call<'_> {
    /// The number that it returned; none if it failed or never returned.
    pub fn number(&self) -> Option<u64> {
        let text = self.returned.as_bytes();
        let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
        let number = &self.returned[..end];
        match number.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        }
    }
}

/// Takes a line apart.
///
/// # Errors
/// If it cannot be used.
pub fn line(text: &str) -> Result<Line<'_>, Unusable> {
    if let Some(notice) = text.strip_prefix("strace: ") {
        let attached = notice.strip_prefix("Process ").and_then(|rest| rest.strip_suffix(" attached"));
        let pid = attached.and_then(leading_number);
        return Ok(Line { pid: None, stamp: None, told: pid.map_or(Told::Other, Told::Attached) });
    }
    let (pid, rest) = pid(text);
    let (stamp, rest) = stamp(rest.trim_start())?;
    let told = told(rest.trim_end()).ok_or(Unusable::Foreign)?;
    Ok(Line { pid, stamp, told })
}

/// The thread at the start of a line: "1234 " in a file, "[pid 1234] " on a terminal; `--decode-pids` adds "<its name>".
fn pid(text: &str) -> (Option<u32>, &str) {
    if let Some((number, rest)) = text.strip_prefix("[pid").and_then(|rest| rest.split_once("] ")) {
        return (leading_number(number.trim_start()), rest);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.as_bytes().get(digits) {
        Some(b' ') if digits > 0 => (text[..digits].parse().ok(), &text[digits + 1..]),
        Some(b'<') if digits > 0 => match text.split_once("> ") {
            Some((_, rest)) => (text[..digits].parse().ok(), rest),
            None => (None, text),
        },
        _ => (None, text),
    }
}

fn leading_number(text: &str) -> Option<u32> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

/// The time at the start of a text, and the rest of it.
fn stamp(text: &str) -> Result<(Option<Stamp>, &str), Unusable> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok((None, text));
    }
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim_start();
    let stamp = match (first.split_once(':'), nanos(first)) {
        (Some(clock), _) => Stamp::Day(of_day(clock).ok_or(Unusable::WholeSeconds)?),
        (None, None) if first.bytes().all(|byte| byte.is_ascii_digit()) => {
            return Err(Unusable::WholeSeconds);
        }
        (None, None) => return Err(Unusable::Foreign),
        // Nothing that is traced goes on for three years between two lines.
        (None, Some(time)) if time.0 > 100_000_000 * 1_000_000_000 => Stamp::Epoch(time),
        (None, Some(time)) => Stamp::Since(time),
    };
    // With both -r and -ttt: "1700000000.123456 (+     0.000012) ".
    match rest.strip_prefix("(+").and_then(|rest| rest.split_once(')')) {
        Some((_, rest)) => Ok((Some(stamp), rest.trim_start())),
        None => Ok((Some(stamp), rest)),
    }
}

/// "12" and "34:56.123456".
fn of_day((hours, rest): (&str, &str)) -> Option<Nanos> {
    let (minutes, seconds) = rest.split_once(':')?;
    let whole = hours.parse::<u16>().ok()? as u64 * 3600 + minutes.parse::<u16>().ok()? as u64 * 60;
    Some(Nanos(whole * 1_000_000_000) + nanos(seconds)?)
}

/// Decimal seconds with a point and at most nine digits behind it.
fn nanos(text: &str) -> Option<Nanos> {
    let mut value = 0_u64;
    let mut behind = None;
    for byte in text.bytes() {
        match (byte, &mut behind) {
            (b'0'..=b'9', digits) => {
                value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                if let Some(digits) = digits {
                    *digits += 1;
                }
            }
            (b'.', None) => behind = Some(0_u32),
            _ => return None,
        }
    }
    let digits = behind.filter(|digits| (1..=9).contains(digits))?;
    value.checked_mul(10_u64.pow(9 - digits)).map(Nanos)
}

fn told(text: &str) -> Option<Told<'_>> {
    match text.as_bytes().first()? {
        b'+' => return Some(ended(text.strip_prefix("+++ ")?)),
        b'-' => return text.starts_with("--- ").then_some(Told::Other),
        b'<' => {
            let (name, rest) = text.strip_prefix("<... ")?.split_once(" resumed>")?;
            return Some(Told::Resumed(name, rest));
        }
        _ => {}
    }
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = (&text[..length], text[length..].strip_prefix('(')?);
    if name.is_empty() {
        return None;
    }
    match rest.strip_suffix("<unfinished ...>").or_else(|| rest.strip_suffix("<unfinished ...>) = ?")) {
        Some(arguments) => Some(Told::Unfinished(name, arguments)),
        None => returned(name, rest).map(Told::Call),
    }
}

fn ended(text: &str) -> Told<'_> {
    match text.strip_prefix("superseded by execve in pid ").and_then(leading_number) {
        Some(pid) => Told::Superseded(pid),
        None if text.starts_with("exited") || text.starts_with("killed") => Told::Ended,
        None => Told::Other,
    }
}

/// A call, from behind its first parenthesis.
pub fn returned<'a>(name: &'a str, rest: &'a str) -> Option<Call<'a>> {
    let (rest, duration) = match duration(rest) {
        Some((rest, duration)) => (rest, Some(duration)),
        None => (rest, None),
    };
    // The last ") = " that a number follows: strings and paths may have others.
    let bytes = rest.as_bytes();
    let mut end = bytes.len();
    loop {
        end = memrchr(b'=', &bytes[..end])?;
        if end == 0 || bytes[end - 1] != b' ' || !is_return(&bytes[end + 1..]) {
            continue;
        }
        if let Some(arguments) = rest[..end].trim_end().strip_suffix(')') {
            return Some(Call { name, arguments, returned: rest[end + 1..].trim(), duration });
        }
    }
}

fn is_return(text: &[u8]) -> bool {
    matches!(text, [b' ', b'0'..=b'9' | b'-' | b'?', ..])
}

/// The time at the end of a call: " <0.000012>".
fn duration(text: &str) -> Option<(&str, Nanos)> {
    let inner = text.strip_suffix('>')?;
    let at = memrchr(b'<', inner.as_bytes())?;
    Some((text[..at].strip_suffix(' ')?, nanos(&inner[at + 1..])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> (Option<u32>, Option<Stamp>, Call<'_>) {
        match line(text) {
            Ok(Line { pid, stamp, told: Told::Call(call) }) => (pid, stamp, call),
            other => panic!("{other:?}"),
        }
    }

    fn told(text: &str) -> Result<Told<'_>, Unusable> {
        line(text).map(|line| line.told)
    }

    #[test]
    fn a_line_says_who_when_what_and_how_long() {
        let (pid, time, read) = call(r#"1234 1700000000.250000 read(3, "a) = 1, <b", 4096) = 9 <0.000012>"#);
        assert_eq!((pid, time), (Some(1234), Some(Stamp::Epoch(Nanos(1_700_000_000_250_000_000)))));
        assert_eq!((read.name, read.arguments), ("read", r#"3, "a) = 1, <b", 4096"#));
        assert_eq!((read.number(), read.duration), (Some(9), Some(Nanos(12_000))));
    }

    #[test]
    fn every_form_of_thread_and_time_is_known() {
        let close = "close(3)                = 0";
        for (before, pid, stamp) in [
            ("", None, None),
            ("[pid   77] ", Some(77), None),
            ("[pid 77<cat>] ", Some(77), None),
            ("77<a b> ", Some(77), None),
            ("12 ", Some(12), None),
            ("00:00:01.5 ", None, Some(Stamp::Day(Nanos(1_500_000_000)))),
            ("     0.000100 ", None, Some(Stamp::Since(Nanos(100_000)))),
            (
                "5     1700000000.000000001 (+     0.000012) ",
                Some(5),
                Some(Stamp::Epoch(Nanos(1_700_000_000_000_000_001))),
            ),
        ] {
            let text = format!("{before}{close}");
            let (found, time, call) = call(&text);
            assert_eq!((found, time, call.number()), (pid, stamp, Some(0)), "{before}");
        }
    }

    #[test]
    fn whole_seconds_are_told_apart() {
        assert_eq!(line("12:34:56 close(3) = 0"), Err(Unusable::WholeSeconds));
        assert_eq!(line("9 1700000000 close(3) = 0"), Err(Unusable::WholeSeconds));
        assert_eq!(line("9 1.2.3 close(3) = 0"), Err(Unusable::Foreign));
    }

    #[test]
    fn failures_and_addresses_are_told_apart() {
        assert_eq!(call("open(\"x\", O_RDONLY) = -1 ENOENT (No such file or directory)").2.number(), None);
        assert_eq!(
            call("read(0, 0x7f, 1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)").2.number(),
            None
        );
        assert_eq!(call("exit_group(0) = ?").2.number(), None);
        assert_eq!(call("mmap(NULL, 1) = 0x7f00").2.number(), Some(0x7f00));
        assert_eq!(call("openat(AT_FDCWD</x>, \"f\", O_RDONLY) = 3</x/f> <0.1>").2.number(), Some(3));
    }

    #[test]
    fn texts_that_look_like_a_return_are_none() {
        let (_, _, write) = call(r#"write(1, "<unfinished ...>) = 7", 21) = 21"#);
        assert_eq!((write.arguments, write.number()), (r#"1, "<unfinished ...>) = 7", 21"#, Some(21)));
        let (_, _, open) = call("openat(AT_FDCWD, \"a) = b\", O_RDONLY) = 3</x/a) = b> <0.5>");
        assert_eq!((open.number(), open.returned), (Some(3), "3</x/a) = b>"));
    }

    #[test]
    fn what_is_no_call_is_known_too() {
        assert_eq!(told("5 1.5 +++ exited with 0 +++"), Ok(Told::Ended));
        assert_eq!(told("5 1.5 +++ superseded by execve in pid 7 +++"), Ok(Told::Superseded(7)));
        assert_eq!(told("--- SIGCHLD {si_signo=SIGCHLD} ---"), Ok(Told::Other));
        assert_eq!(told("strace: Process 5 attached"), Ok(Told::Attached(5)));
        assert_eq!(told("7 read(3,  <unfinished ...>"), Ok(Told::Unfinished("read", "3,  ")));
        assert_eq!(told("7 read(3,  <unfinished ...>) = ?"), Ok(Told::Unfinished("read", "3,  ")));
        assert_eq!(told("7 <... read resumed>\"x\", 5) = 1"), Ok(Told::Resumed("read", "\"x\", 5) = 1")));
        for text in ["total 12", "", "+", "-", "<", "(", "1", "[pid", "[pid ] ", "5<"] {
            assert!(line(text).is_err(), "{text}");
        }
    }
}
