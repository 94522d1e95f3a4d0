//! Runs a program of a step `exec`, and reads what the kernel counted of it.
//!
//! `/proc/PID/io` is read when the program has ended and nobody has waited for it: then its children are in the figures. Words are
//! split at spaces; there is no shell.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::rows::{COUNTERS, Run};

/// Runs a program in the folder `mount` and waits for it.
///
/// # Errors
/// It cannot be started, or does not end with 0.
pub fn run(words: &[String], mount: &Path, start: Instant) -> Result<Run, String> {
    let command = words.join(" ");
    let failed = |error: &dyn std::fmt::Display| format!("exec {command}: {error}");
    let mut program = Command::new(&words[0]);
    program.args(&words[1..]).current_dir(mount).process_group(0);
    let start_s = start.elapsed().as_secs_f64();
    let begun = Instant::now();
    let mut child = program.spawn().map_err(|error| failed(&error))?;
    let pid = Pid::from_child(&child);
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        .map_err(|error| failed(&error))?;
    let duration_s = begun.elapsed().as_secs_f64();
    let text =
        fs::read_to_string(format!("/proc/{}/io", pid.as_raw_nonzero())).map_err(|error| failed(&error))?;
    let status = child.wait().map_err(|error| failed(&error))?;
    if !status.success() {
        return Err(failed(&status));
    }
    Ok(Run { start_s, duration_s, counters: counters(&text), command })
}

/// Reads the text of `/proc/PID/io`.
fn counters(text: &str) -> [u64; 6] {
    let value = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.parse().ok()).unwrap_or(0)
    };
    COUNTERS.map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_words(words: &[&str]) -> Result<Run, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        run(&words, &std::env::temp_dir(), Instant::now())
    }

    #[test]
    fn what_children_moved_is_counted() {
        let moved = "head -c 100000 /dev/zero > /dev/null; true";
        let done = run_words(&["sh", "-c", moved]).unwrap();
        let [rchar, wchar, syscr, syscw, ..] = done.counters;
        assert!(rchar >= 100_000 && wchar >= 100_000 && syscr > 0 && syscw > 0, "{:?}", done.counters);
        assert!(done.command.starts_with("sh -c head"));
    }

    #[test]
    fn a_program_that_fails_or_is_not_there_is_an_error() {
        assert_eq!(run_words(&["false"]).unwrap_err(), "exec false: exit status: 1");
        assert!(run_words(&["no-such-program"]).unwrap_err().starts_with("exec no-such-program: No such"));
    }

    #[test]
    fn counters_are_read_by_name() {
        assert_eq!(counters("rchar: 5\nwchar: 6\nsyscr: 7\nread_bytes: 9\n"), [5, 6, 7, 0, 9, 0]);
    }
}
