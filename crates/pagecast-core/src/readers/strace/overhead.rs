//! Estimates what strace adds to each call, from the first lines of a recording.
//!
//! strace stops a thread before and after each call. What the stops take inside of the time of `-T` shows in calls that do next to
//! nothing, and what they take outside of it in the shortest times between two calls of a thread.

use rustc_hash::FxHashMap;

use super::line::{Time, Told, line};
use crate::units::Nanos;

/// Calls that do next to nothing.
const TRIVIAL: [&str; 14] = [
    "close",
    "lseek",
    "fcntl",
    "getpid",
    "gettid",
    "getuid",
    "rt_sigaction",
    "rt_sigprocmask",
    "fstat",
    "umask",
    "set_robust_list",
    "set_tid_address",
    "prlimit64",
    "fadvise64",
];

/// What a trivial call takes without strace.
const TRIVIAL_COST: Nanos = Nanos(150);

/// What strace adds to a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// To its duration.
    pub inside: Nanos,
    /// To the time between it and the next one.
    pub between: Nanos,
}

impl Overhead {
    /// Estimates it from lines of a recording; nothing is added if they do not say how long calls took.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut durations = Vec::new();
        let mut gaps = Vec::new();
        let mut ends: FxHashMap<Option<u32>, Nanos> = FxHashMap::default();
        for text in lines {
            let Some(line) = line(text) else { continue };
            let (Told::Call(call), Some(Time::At(time))) = (line.told, line.time) else {
                ends.remove(&line.pid);
                continue;
            };
            let Some(duration) = call.duration else { continue };
            if let Some(end) = ends.insert(line.pid, time + duration) {
                gaps.push(time.saturating_sub(end));
            }
            if TRIVIAL.contains(&call.name) {
                durations.push(duration);
            }
        }
        Self { inside: low(durations, 4).saturating_sub(TRIVIAL_COST), between: low(gaps, 8) }
    }
}

/// A low quantile: so many parts of the values are above it.
fn low(mut values: Vec<Nanos>, parts: usize) -> Nanos {
    values.sort_unstable();
    values.get(values.len() / parts).copied().unwrap_or(Nanos::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_in_calls_that_do_nothing() {
        let lines: Vec<String> = (0..20)
            .map(|at| format!("1700000000.{:06} lseek(3, 0, SEEK_SET) = 0 <0.000020>", at * 70))
            .collect();
        let overhead = Overhead::of(lines.iter().map(String::as_str));
        assert_eq!(overhead, Overhead { inside: Nanos(19_850), between: Nanos(50_000) });
        assert_eq!(Overhead::of(["read(3, 5) = 5"]), Overhead::default());
    }
}
