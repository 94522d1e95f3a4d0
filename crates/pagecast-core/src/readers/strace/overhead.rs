//! Estimates what strace adds to each call, from the first lines of a recording.
//!
//! strace stops a thread before and after each call. What the stops take inside of the time of `-T` shows in calls that do next to
//! nothing, and what they take outside of it in the time that passes behind such calls while a program is being loaded.

use rustc_hash::FxHashMap;

use super::line::{Call, Stamp, Told, line};
use crate::trace::Writer;
use crate::units::Nanos;

/// Calls that do next to nothing.
const TRIVIAL: [&str; 16] = [
    "close",
    "lseek",
    "fcntl",
    "getpid",
    "gettid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "rt_sigaction",
    "rt_sigprocmask",
    "umask",
    "set_robust_list",
    "set_tid_address",
    "prlimit64",
    "fadvise64",
];

/// What a trivial call takes without strace: entry, exit and little between.
const TRIVIAL_COST: Nanos = Nanos(150);

/// What strace adds to a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// To its duration.
    pub inside: Nanos,
    /// To the time between it and the next one.
    pub between: Nanos,
    /// True if it was given.
    is_given: bool,
}

impl Overhead {
    /// Estimates it from lines of a recording; nothing is added if they do not say how long calls took. `given` is the sum, if that is known.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a str>, given: Option<Nanos>) -> Self {
        let mut seen = Seen::default();
        for text in lines {
            seen.line(text);
        }
        let inside = middle(seen.durations).saturating_sub(TRIVIAL_COST);
        match given {
            None => Self { inside, between: middle(seen.gaps), is_given: false },
            Some(sum) => {
                let inside = inside.min(sum);
                Self { inside, between: sum.saturating_sub(inside), is_given: true }
            }
        }
    }

    /// Says what was taken out.
    pub fn note(self, origin: &str, trace: &mut Writer) {
        let Self { inside, between, is_given } = self;
        if inside + between == Nanos::ZERO {
            return;
        }
        let text = match is_given {
            true => format!("strace_overhead is taken out: {inside} of each call, {between} between calls"),
            false => format!(
                "strace adds {inside} to each call and {between} between calls, which is estimated and taken out"
            ),
        };
        trace.note(origin, text);
    }
}

/// Durations of trivial calls, and times behind them.
#[derive(Default)]
struct Seen {
    durations: Vec<Nanos>,
    gaps: Vec<Nanos>,
    /// When the last call of a thread ended, if that was trivial.
    ends: FxHashMap<Option<u32>, Nanos>,
}

impl Seen {
    fn line(&mut self, text: &str) {
        let Ok(line) = line(text) else { return };
        let end = self.ends.remove(&line.pid);
        let (Told::Call(call), Some(Stamp::Epoch(time) | Stamp::Day(time))) = (line.told, line.stamp) else {
            return;
        };
        if let Some(end) = end.filter(|&end| end <= time) {
            self.gaps.push(time.saturating_sub(end));
        }
        if let Call { name, duration: Some(duration), .. } = call
            && TRIVIAL.contains(&name)
        {
            self.durations.push(duration);
            self.ends.insert(line.pid, time + duration);
        }
    }
}

/// The median.
fn middle(mut values: Vec<Nanos>) -> Nanos {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(Nanos::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_in_calls_that_do_nothing() {
        let lines: Vec<String> = (0..20)
            .map(|at| format!("1700000000.{:06} lseek(3, 0, SEEK_SET) = 0 <0.000020>", at * 70))
            .collect();
        let lines = || lines.iter().map(String::as_str);
        let found = |given| {
            let Overhead { inside, between, .. } = Overhead::of(lines(), given);
            (inside.0, between.0)
        };
        assert_eq!(found(None), (19_850, 50_000));
        assert_eq!(found(Some(Nanos(30_000))), (19_850, 10_150));
        assert_eq!(found(Some(Nanos(9_000))), (9_000, 0));
        assert_eq!(Overhead::of(["read(3, 5) = 5"], None), Overhead::default());
    }
}
