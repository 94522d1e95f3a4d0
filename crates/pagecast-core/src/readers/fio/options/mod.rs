//! Knows each option of fio's manual (3.33): done, without effect here, or refused.
//!
//! The tables stand in the order of the manual. `docs/reference/fio.md` is made of them.

mod device;
mod engines;
mod kinds;
mod rest;
mod sizes;
mod words;

use super::job::Job;
use super::values::Text;
use super::wrong::Wrong;
use crate::nearest::{hint, shorten};

/// One option.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What becomes of it.
    pub standing: Standing,
    /// What differs from fio, why it has no effect, or why it is refused; may be empty.
    pub text: &'static str,
}

/// What becomes of an option.
#[derive(Clone, Copy)]
pub enum Standing {
    /// It does what it does in fio, but for the text.
    Done(fn(&mut Job, Text<'_>) -> Result<(), Wrong>),
    /// It changes nothing that is simulated.
    NoEffect,
    /// A job that has it cannot be simulated, unless its value is one of these, which turn it off.
    Refused(&'static [&'static str]),
}

impl Standing {
    /// Its words in the table of the documentation.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::NoEffect => "without effect here",
            Self::Refused(_) => "refused",
        }
    }
}

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

const fn done(
    name: &'static str,
    aliases: &'static [&'static str],
    text: &'static str,
    set: fn(&mut Job, Text<'_>) -> Result<(), Wrong>,
) -> Known {
    Known { name, aliases, standing: Standing::Done(set), text }
}

const fn no_effect(name: &'static str, aliases: &'static [&'static str], text: &'static str) -> Known {
    Known { name, aliases, standing: Standing::NoEffect, text }
}

const fn refused(name: &'static str, off: &'static [&'static str], text: &'static str) -> Known {
    Known { name, aliases: &[], standing: Standing::Refused(off), text }
}

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
