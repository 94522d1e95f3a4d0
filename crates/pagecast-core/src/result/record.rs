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
    /// Every one as long as there are no more than [`Record::MANY`]; of more, as under [`Record::Histogram`].
    Auto,
}

impl Record {
    /// How many of the slowest operations have rows in the end.
    pub const SLOWEST: usize = 100;

    /// How many operations have rows under [`Record::Auto`]. Of so many, a second goes into tables and figures.
    pub const MANY: usize = 200_000;

    /// True if operations are counted when they end, because some of them will have no row.
    #[must_use]
    pub fn counts(self) -> bool {
        matches!(self, Self::Slow(_) | Self::Histogram)
    }
}
