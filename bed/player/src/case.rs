//! The language of cases, as `python/pagecast/studies/live_kernel/README.md` describes it, and `exec`. Left out: the steps of stdio, `fwrite`
//! and `fread`, which say nothing of the kernel that `write` and `read` do not.

use std::time::Duration;

/// One step of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `open H PATH FLAGS`
    Open { handle: usize, path: String, flags: Flags },
    /// `write H OFFSET LENGTH CALL` and `read H OFFSET LENGTH CALL`
    Transfer { kind: Kind, handle: usize, offset: Option<u64>, length: u64, call: usize },
    /// `fsync H`
    Fsync { handle: usize },
    /// `fdatasync H`
    Fdatasync { handle: usize },
    /// `close H`
    Close { handle: usize },
    /// `unlink PATH`
    Unlink { path: String },
    /// `rename PATH TO`
    Rename { path: String, to: String },
    /// `mkdir PATH`
    Mkdir { path: String },
    /// `owrite H LENGTH CALL AROUND US`: writes with a pause after each call; they begin anew after AROUND bytes.
    WriteAtIntervals { handle: usize, length: u64, call: u64, around: u64, pause: Duration },
    /// `sync`
    Sync,
    /// `drop`: what is clean leaves the caches.
    Drop,
    /// `dontneed H`
    Dontneed { handle: usize },
    /// `sleep MS`
    Sleep(Duration),
    /// `spin MS`: computation.
    Spin(Duration),
    /// `stat LABEL PATH`: what is cached of a file.
    Stat { label: String, path: String },
    /// `mark LABEL`: a phase begins.
    Mark { label: String },
    /// `proc NAME` ... `endproc`: a concurrent process.
    Process { name: String, steps: Vec<Step> },
    /// `wait` for all processes.
    Wait,
    /// `sh COMMAND`: runs a command of the shell, and waits for it.
    Shell { command: String },
    /// `exec PROGRAM WORDS`: runs a program below the mount point and waits for it.
    Exec { words: Vec<String> },
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Into the file.
    Write,
    /// Out of the file.
    Read,
}

impl Kind {
    /// What recordings call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
        }
    }
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `r`
    pub read: bool,
    /// `w`
    pub write: bool,
    /// `c`
    pub create: bool,
    /// `t`
    pub truncate: bool,
    /// `d`: `O_DIRECT`
    pub direct: bool,
    /// `s`: `O_SYNC`
    pub sync: bool,
    /// `S`: `O_DSYNC`
    pub dsync: bool,
}

/// Reads a case; a message names the line.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    let words = |line: &str| -> Vec<String> {
        line.split('#').next().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    let mut lines = text.lines().map(words).enumerate().filter(|(_, words)| !words.is_empty());
    steps(&mut lines, None)
}

/// Reads steps up to the end, or to the `endproc` of the `proc` in line `inside`.
fn steps(
    lines: &mut dyn Iterator<Item = (usize, Vec<String>)>,
    inside: Option<usize>,
) -> Result<Vec<Step>, String> {
    let mut found = Vec::new();
    while let Some((index, words)) = lines.next() {
        let line = index + 1;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["endproc"] if inside.is_some() => return Ok(found),
            ["endproc"] => return Err(format!("line {line}: `endproc` without a `proc` above it")),
            ["proc", _] if inside.is_some() => {
                return Err(format!("line {line}: `proc` inside a `proc`; write `endproc` first"));
            }
            ["proc", name] => {
                let name = (*name).to_owned();
                found.push(Step::Process { name, steps: steps(lines, Some(line))? });
            }
            words => found.push(step(words).map_err(|problem| format!("line {line}: {problem}"))?),
        }
    }
    match inside {
        Some(line) => Err(format!("line {line}: `proc` without an `endproc` below it")),
        None => Ok(found),
    }
}

fn step(words: &[&str]) -> Result<Step, String> {
    Ok(match *words {
        ["open", h, path, flags] => {
            Step::Open { handle: handle(h)?, path: path.to_owned(), flags: open_flags(flags)? }
        }
        [name @ ("write" | "read"), h, offset, length, call] => Step::Transfer {
            kind: if name == "write" { Kind::Write } else { Kind::Read },
            handle: handle(h)?,
            offset: if offset == "-1" { None } else { Some(size(offset)?) },
            length: size(length)?,
            call: usize::try_from(size(call)?)
                .ok()
                .filter(|&call| call > 0)
                .ok_or("a call moves 1 byte or more")?,
        },
        ["fsync", h] => Step::Fsync { handle: handle(h)? },
        ["fdatasync", h] => Step::Fdatasync { handle: handle(h)? },
        ["close", h] => Step::Close { handle: handle(h)? },
        ["unlink", path] => Step::Unlink { path: path.to_owned() },
        ["rename", path, to] => Step::Rename { path: path.to_owned(), to: to.to_owned() },
        ["mkdir", path] => Step::Mkdir { path: path.to_owned() },
        ["owrite", h, length, call, around, us] => Step::WriteAtIntervals {
            handle: handle(h)?,
            length: size(length)?,
            call: size(call)?,
            around: size(around)?,
            pause: Duration::from_micros(size(us)?),
        },
        ["sync"] => Step::Sync,
        ["drop"] => Step::Drop,
        ["dontneed", h] => Step::Dontneed { handle: handle(h)? },
        ["sleep", ms] => Step::Sleep(milliseconds(ms)?),
        ["spin", ms] => Step::Spin(milliseconds(ms)?),
        ["stat", label, path] => Step::Stat { label: label.to_owned(), path: path.to_owned() },
        ["mark", label] => Step::Mark { label: label.to_owned() },
        ["wait"] => Step::Wait,
        ["sh", ..] if words.len() > 1 => Step::Shell { command: words[1..].join(" ") },
        ["exec", ..] if words.len() > 1 => {
            Step::Exec { words: words[1..].iter().map(|&word| word.to_owned()).collect() }
        }
        _ => return Err(format!("`{}` is no step that can be played", words.join(" "))),
    })
}

fn handle(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no handle; write a number"))
}

fn size(text: &str) -> Result<u64, String> {
    let shift = match text.chars().last() {
        Some('k' | 'K') => 10,
        Some('m' | 'M') => 20,
        Some('g' | 'G') => 30,
        _ => 0,
    };
    let digits = if shift > 0 { &text[..text.len() - 1] } else { text };
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("`{text}` is no size; write bytes, or a number with k, m or g"))?;
    Ok(number << shift)
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text.parse().unwrap_or(-1.0);
    Duration::try_from_secs_f64(value / 1e3).map_err(|_| format!("`{text}` is no time; write milliseconds"))
}

fn open_flags(text: &str) -> Result<Flags, String> {
    let mut flags = Flags::default();
    for letter in text.chars() {
        *match letter {
            'r' => &mut flags.read,
            'w' => &mut flags.write,
            'c' => &mut flags.create,
            't' => &mut flags.truncate,
            'd' => &mut flags.direct,
            's' => &mut flags.sync,
            'S' => &mut flags.dsync,
            _ => return Err(format!("there is no flag `{letter}`; flags are r, w, c, t, d, s, S")),
        } = true;
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary_and_comments_are_no_steps() {
        let case = "# a case\nopen 0 MNT/f wctd\nwrite 0 -1 2m 64k # new\nread 0 4096 1g 1\n";
        let flags = Flags { write: true, create: true, truncate: true, direct: true, ..Flags::default() };
        let transfer = |kind, offset, length, call| Step::Transfer { kind, handle: 0, offset, length, call };
        assert_eq!(
            parse(case).unwrap(),
            [
                Step::Open { handle: 0, path: "MNT/f".into(), flags },
                transfer(Kind::Write, None, 2 << 20, 64 << 10),
                transfer(Kind::Read, Some(4096), 1 << 30, 1),
            ]
        );
    }

    #[test]
    fn a_process_has_its_own_steps() {
        let steps = parse("proc one\n  sleep 1.5\nendproc\nwait\n").unwrap();
        let inner = vec![Step::Sleep(Duration::from_micros(1500))];
        assert_eq!(steps, [Step::Process { name: "one".into(), steps: inner }, Step::Wait]);
    }

    #[test]
    fn a_message_names_the_line_and_what_would_be_right() {
        for (text, problem) in [
            ("sync\n\nfwrite 0 1m 4k 4k\n", "line 3: `fwrite 0 1m 4k 4k` is no step that can be played"),
            ("open 0 MNT/f x\n", "line 1: there is no flag `x`; flags are r, w, c, t, d, s, S"),
            ("write 0 0 1q 4k\n", "line 1: `1q` is no size; write bytes, or a number with k, m or g"),
            ("write 0 0 1m 0\n", "line 1: a call moves 1 byte or more"),
            ("sleep -1\n", "line 1: `-1` is no time; write milliseconds"),
            ("write 0 0 1é 4k\n", "line 1: `1é` is no size; write bytes, or a number with k, m or g"),
            ("proc one\nproc two\n", "line 2: `proc` inside a `proc`; write `endproc` first"),
            ("sync\nproc one\nsync\n", "line 2: `proc` without an `endproc` below it"),
            ("exec\n", "line 1: `exec` is no step that can be played"),
            ("sh\n", "line 1: `sh` is no step that can be played"),
            ("endproc\n", "line 1: `endproc` without a `proc` above it"),
        ] {
            assert_eq!(parse(text).unwrap_err(), problem);
        }
    }
}
