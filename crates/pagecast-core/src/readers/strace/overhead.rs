//! Estimates what strace adds to each call, from the first lines of a recording.
//!
//! strace stops a thread before and after each call. What the stops take inside of the time of `-T` shows in calls that do next to
//! nothing. What they take outside of it depends on what strace has to look up and print: the path of a descriptor (`-y`) is a readlink
//! in /proc, a structure and a text are copied out of the thread's memory. The cost of each shows in the times behind calls: it is the
//! lower quartile of these, given what was printed ([`quantile`]), since a program that computes between calls makes them only longer. All
//! kinds of calls weigh alike, as a program computes behind few kinds, and its loader makes many.

mod quantile;

use rustc_hash::FxHashMap;

use self::quantile::{Sample, fit};
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

/// Calls behind which a thread does much else: it begins anew, or another one runs.
const NOT_PLAIN: [&str; 7] = ["execve", "execveat", "fork", "vfork", "clone", "clone3", "wait4"];

/// What a trivial call takes without strace: entry, exit and little between.
const TRIVIAL_COST: Nanos = Nanos(150);

/// What strace has printed of a call: a stop, paths of descriptors, structures, texts.
type Printed = [f64; 4];

/// More of one kind than this is not counted.
const MOST_PRINTED: usize = 4;

/// What strace adds to a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overhead {
    /// To its duration.
    pub inside: Nanos,
    /// To the time between it and the next one, in nanoseconds for each of what it has printed.
    between: Printed,
    /// The median of that.
    typical: Nanos,
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
        let inside = middle(std::mem::take(&mut seen.durations)).saturating_sub(TRIVIAL_COST);
        if let Some(sum) = given {
            let inside = inside.min(sum);
            let typical = sum.saturating_sub(inside);
            let between = [typical.0 as f64, 0.0, 0.0, 0.0];
            return Self { inside, between, typical, is_given: true };
        }
        let between = fit(seen.weighed());
        let typical = seen.samples.iter().map(|sample| rounded(cost(between, sample.printed))).collect();
        Self { inside, between, typical: middle(typical), is_given: false }
    }

    /// What it adds behind a call.
    pub fn behind(&self, call: &Call<'_>) -> Nanos {
        rounded(cost(self.between, printed(call)))
    }

    /// Says what was taken out.
    pub fn note(self, origin: &str, trace: &mut Writer) {
        let Self { inside, typical: between, is_given, .. } = self;
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

/// Counts what strace has printed of a call.
fn printed(call: &Call<'_>) -> Printed {
    let count = |what: u8| {
        let of = |text: &str| memchr::memchr_iter(what, text.as_bytes()).take(2 * MOST_PRINTED).count();
        of(call.arguments) + of(call.returned)
    };
    let [paths, structures, quotes] = [b'<', b'{', b'"'].map(count);
    let bounded = |number: usize| number.min(MOST_PRINTED) as f64;
    [1.0, bounded(paths), bounded(structures), bounded(quotes / 2)]
}

fn cost(between: Printed, printed: Printed) -> f64 {
    between.iter().zip(printed).map(|(cost, number)| cost * number).sum()
}

fn rounded(nanos: f64) -> Nanos {
    Nanos(nanos.max(0.0).round() as u64)
}

/// Durations of trivial calls, and times behind calls.
#[derive(Default)]
struct Seen {
    durations: Vec<Nanos>,
    samples: Vec<Sample>,
    /// The kind of each sample, and how many there are of each kind.
    kinds: Vec<usize>,
    counts: Vec<f64>,
    /// The numbers of kinds.
    names: FxHashMap<String, usize>,
    /// When the last call of a thread ended, its kind, and what was printed of it.
    ends: FxHashMap<Option<u32>, (Nanos, usize, Printed)>,
}

impl Seen {
    fn line(&mut self, text: &str) {
        let Ok(line) = line(text) else { return };
        let end = self.ends.remove(&line.pid);
        let (Told::Call(call), Some(Stamp::Epoch(time) | Stamp::Day(time))) = (line.told, line.stamp) else {
            return;
        };
        if let Some((end, kind, printed)) = end.filter(|(end, ..)| *end <= time) {
            self.samples.push(Sample { printed, time: time.saturating_sub(end).0 as f64, weight: 1.0 });
            self.kinds.push(kind);
            self.counts[kind] += 1.0;
        }
        let Some(duration) = call.duration else { return };
        if TRIVIAL.contains(&call.name) {
            self.durations.push(duration);
        }
        if !NOT_PLAIN.contains(&call.name) {
            let kind = self.kind(call.name);
            self.ends.insert(line.pid, (time + duration, kind, printed(&call)));
        }
    }

    fn kind(&mut self, name: &str) -> usize {
        if let Some(&kind) = self.names.get(name) {
            return kind;
        }
        self.counts.push(0.0);
        self.names.insert(name.to_owned(), self.counts.len() - 1);
        self.counts.len() - 1
    }

    /// Returns the times behind calls, weighed.
    fn weighed(&mut self) -> &[Sample] {
        for (sample, kind) in self.samples.iter_mut().zip(&self.kinds) {
            sample.weight = 1.0 / self.counts[*kind];
        }
        &self.samples
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

    fn call(text: &str) -> Call<'_> {
        let Ok(super::super::line::Line { told: Told::Call(call), .. }) = line(text) else {
            panic!("`{text}` is a call");
        };
        call
    }

    fn given(lines: &[String], sum: Option<u64>) -> Overhead {
        Overhead::of(lines.iter().map(String::as_str), sum.map(Nanos))
    }

    #[test]
    fn it_shows_in_calls_that_do_nothing() {
        let lines: Vec<String> = (0..20)
            .map(|at| format!("1700000000.{:06} lseek(3, 0, SEEK_SET) = 0 <0.000020>", at * 70))
            .collect();
        let found = |sum| {
            let overhead = given(&lines, sum);
            (overhead.inside.0, overhead.behind(&call("lseek(3, 0, SEEK_SET) = 0")).0)
        };
        assert_eq!(found(None), (19_850, 50_000));
        assert_eq!(found(Some(30_000)), (19_850, 10_150));
        assert_eq!(found(Some(9_000)), (9_000, 0));
        assert_eq!(Overhead::of(["read(3, 5) = 5"], None), Overhead::default());
    }

    /// A copy of many small files was forecast to take 1.6 times as long: strace takes 40 us behind a call without a path, and 66 us behind
    /// one that opens a file.
    #[test]
    fn what_is_printed_takes_time_of_its_own() {
        let kinds = [
            ("umask(000) = 022", 40),
            ("close(3</data/in>) = 0", 52),
            ("openat(AT_FDCWD</data>, \"in\", O_RDONLY) = 3</data/in>", 66),
            ("rt_sigaction(SIGINT, {sa_handler=SIG_DFL}, NULL, 8) = 0", 50),
        ];
        let mut at = 0;
        let mut lines = Vec::new();
        for round in 0..100 {
            for (text, micros) in kinds {
                lines.push(format!("7 1700000000.{at:06} {text} <0.000010>"));
                // Behind every third call, the program computes.
                at += 10 + micros + if round % 3 == 0 { 500 } else { 0 };
            }
        }
        let overhead = given(&lines, None);
        for (text, micros) in kinds {
            let behind = overhead.behind(&call(text)).0;
            assert!(behind.abs_diff(micros * 1000) < 1000, "{text}: {behind} ns");
        }
    }
}
