//! Says which operations of a run have rows.

use crate::units::Nanos;

/// Which operations have rows in the result. All are counted in its summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// Every one.
    #[default]
    All,
    /// Those that take this long, or longer.
    Slow(Nanos),
    /// The slowest, at most [`Record::SLOWEST`]: memory does not grow with the number of operations.
    Histogram,
}

impl Record {
    /// How many of the slowest operations have rows in the end.
    pub const SLOWEST: usize = 100;
}
