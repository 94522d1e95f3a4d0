//! Monitors: what is measured, written, or stops a run, without a change of the net. The kinds are those of CPN Tools.
//!
//! **Source.** The help pages of CPN Tools 4.0 on monitors, their functions and their activation.

mod compile;
mod statistics;
mod watching;

use crate::ml::code::Code;

pub use compile::compile;
pub use statistics::Statistics;
pub use watching::{Seen, Watching};

/// A monitor that can run.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// Its name.
    pub name: String,
    /// Its kind, with the nodes or functions that it needs.
    pub kind: Kind,
    /// True if a value of it weighs as long as it lasts.
    pub is_timed: bool,
    /// Transitions after which it looks.
    pub after: Vec<u32>,
}

/// A kind of monitors.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Measures the number of tokens of a place.
    MarkingSize(u32),
    /// Measures the length of the lists of a place.
    ListLength(u32),
    /// Counts occurrences.
    Count,
    /// Measures what a function says.
    Data(Functions),
    /// Writes what a function says.
    Write(Functions),
    /// Ends the run when a function is true.
    Breakpoint(Functions),
    /// Ends the run when a place is empty, or when it is not.
    Contents(u32, bool),
    /// Ends the run when a transition is enabled.
    Enabled(u32),
}

impl Kind {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MarkingSize(_) => "marking size",
            Self::ListLength(_) => "list length",
            Self::Count => "count",
            Self::Data(_) => "data",
            Self::Write(_) => "write in file",
            Self::Breakpoint(_) => "breakpoint",
            Self::Contents(..) => "place contents",
            Self::Enabled(_) => "transition enabled",
        }
    }

    /// True if it measures.
    pub fn measures(&self) -> bool {
        matches!(self, Self::MarkingSize(_) | Self::ListLength(_) | Self::Count | Self::Data(_))
    }
}

/// The functions of a monitor in CPN ML.
#[derive(Clone, Debug)]
pub struct Functions {
    /// The places whose markings they are given.
    pub places: Vec<u32>,
    /// Gives a value or a text before the first occurrence.
    pub init: Option<Call>,
    /// Gives one more at the end.
    pub stop: Option<Call>,
    /// The predicate and the observer, for each of the transitions after which it looks.
    pub after: Vec<(Call, Option<Call>)>,
}

/// A call of a function, in a frame that begins with the variables of a transition and the markings of places.
#[derive(Clone, Debug)]
pub struct Call {
    /// The call.
    pub code: Code,
    /// How many slots its frame has.
    pub slots: usize,
}
