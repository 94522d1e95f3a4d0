//! Describes one option of fio, and what becomes of it.

use crate::readers::fio::job::Job;
use crate::readers::fio::values::Text;
use crate::readers::fio::wrong::Wrong;

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

/// An option that is done.
pub const fn done(
    name: &'static str,
    aliases: &'static [&'static str],
    text: &'static str,
    set: fn(&mut Job, Text<'_>) -> Result<(), Wrong>,
) -> Known {
    Known { name, aliases, standing: Standing::Done(set), text }
}

/// An option without effect here.
pub const fn no_effect(name: &'static str, aliases: &'static [&'static str], text: &'static str) -> Known {
    Known { name, aliases, standing: Standing::NoEffect, text }
}

/// An option that is refused, but with the values in `off`.
pub const fn refused(name: &'static str, off: &'static [&'static str], text: &'static str) -> Known {
    Known { name, aliases: &[], standing: Standing::Refused(off), text }
}
