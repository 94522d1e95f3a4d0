//! Knows each option of fio's manual (3.33): done, without effect here, or refused.
//!
//! The tables stand in the order of the manual. `docs/reference/fio.md` is made of them.

mod device;
mod engines;
mod kinds;
mod known;
mod rest;
mod sizes;
mod words;

pub use self::known::{Known, Standing};
use super::wrong::Wrong;
use crate::nearest::{hint, shorten};

/// A chapter of the manual.
pub struct Chapter {
    /// Its head.
    pub title: &'static str,
    /// Its options.
    pub options: &'static [Known],
}

/// All chapters.
pub const CHAPTERS: [Chapter; 14] = [
    Chapter { title: "Units", options: device::UNITS },
    Chapter { title: "Job description", options: device::DESCRIPTION },
    Chapter { title: "Time", options: device::TIME },
    Chapter { title: "Target file or device", options: device::TARGET },
    Chapter { title: "I/O type", options: kinds::KINDS },
    Chapter { title: "Block size", options: sizes::BLOCKS },
    Chapter { title: "Buffers and memory", options: sizes::BUFFERS },
    Chapter { title: "I/O size", options: sizes::SIZES },
    Chapter { title: "I/O engine", options: engines::ENGINE },
    Chapter { title: "I/O depth", options: engines::DEPTH },
    Chapter { title: "I/O rate, latency and replay", options: engines::RATE },
    Chapter { title: "Threads, processes and their order", options: rest::THREADS },
    Chapter { title: "Verification and steady state", options: rest::VERIFICATION },
    Chapter { title: "Measurements, reports and errors", options: rest::REPORTS },
];

/// The option of that name.
///
/// # Errors
/// A name that fio does not know.
pub fn find(name: &str) -> Result<&'static Known, Wrong> {
    let all = || CHAPTERS.iter().flat_map(|chapter| chapter.options);
    if let Some(known) = all().find(|known| known.name == name || known.aliases.contains(&name)) {
        return Ok(known);
    }
    let names = all().flat_map(|known| known.aliases.iter().copied().chain([known.name]));
    let what = format!("fio has no option `{}`", shorten(name));
    Err(Wrong::new(what, hint(name, names, "options")))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let mut seen = HashSet::new();
        for known in CHAPTERS.iter().flat_map(|chapter| chapter.options) {
            for name in known.aliases.iter().chain([&known.name]) {
                assert!(seen.insert(*name), "{name} stands twice");
            }
        }
    }

    #[test]
    fn what_is_not_done_says_why() {
        for known in CHAPTERS.iter().flat_map(|chapter| chapter.options) {
            let is_done = matches!(known.standing, Standing::Done(_));
            assert!(is_done || !known.text.is_empty(), "{} says nothing", known.name);
        }
    }

    #[test]
    fn the_nearest_option_is_named() {
        assert_eq!(find("iodeph").err().unwrap().remedy, "did you mean `iodepth`?");
    }
}
