//! Passes over what is not understood, if that is wanted, and says so.

use std::collections::BTreeMap;

use super::error::ReadError;
use crate::trace::Writer;

/// How many kinds of mistakes are told apart.
const MOST_KINDS: usize = 20;

/// What was passed over.
#[derive(Debug, Default)]
pub struct Passed {
    is_lenient: bool,
    /// The number of each kind, with the first one.
    kinds: BTreeMap<&'static str, (u64, ReadError)>,
    /// Of the kinds beyond.
    more: u64,
}

impl Passed {
    /// Nothing yet.
    pub fn new(is_lenient: bool) -> Self {
        Self { is_lenient, ..Self::default() }
    }

    /// Passes over a mistake; `kind` is what the others of its kind have in common, as a noun in the plural.
    ///
    /// # Errors
    /// The mistake itself, if nothing is to be passed over.
    pub fn over(&mut self, kind: &'static str, error: ReadError) -> Result<(), ReadError> {
        if !self.is_lenient {
            return Err(error);
        }
        if self.kinds.len() < MOST_KINDS || self.kinds.contains_key(kind) {
            self.kinds.entry(kind).or_insert((0, error)).0 += 1;
        } else {
            self.more += 1;
        }
        Ok(())
    }

    /// Adds a note for each kind.
    pub fn note(self, origin: &str, trace: &mut Writer) {
        for (kind, (count, first)) in self.kinds {
            trace.note(first.place, format!("{count} {kind} were passed over; here: {}", first.what));
        }
        if self.more > 0 {
            trace.note(origin, format!("{} other lines were passed over", self.more));
        }
    }
}
