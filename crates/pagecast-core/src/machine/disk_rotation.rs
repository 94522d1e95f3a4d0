//! Describes the moving parts of a disk that turns, as its data sheet gives them.

use crate::keys::{SIZE, TIME, keys, number, whole};
use crate::units::{Bytes, Nanos};

keys! {
    /// The platters and the head of a disk.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Rotation: "rotation" {
        /// Turns in a minute
        #[key(whole(1, 1_000_000), required)]
        pub rpm: u32,
        /// Time of the head to the next track
        #[key(TIME, required)]
        pub track_seek: Nanos,
        /// Mean time of the head from one random track to another
        ///
        /// That of writes, where a data sheet has two.
        #[key(TIME, required)]
        pub average_seek: Nanos,
        /// Time of the head from the first track to the last
        ///
        /// Between 1.9 and 3 times `average_seek`, if `track_seek` is short: so the curve of a root and a line has.
        #[key(TIME, absent = "twice `average_seek`")]
        pub full_seek: Option<Nanos>,
        /// The rate of the last track as a part of `read` and `write`, which are those of the first
        ///
        /// The first track is the outer one. In between the rate falls in a line. Write-back and direct I/O see it.
        #[key(number(0.01, 1.0), default = 1.0)]
        pub inner: f64,
        /// Its own memory, in which a write is complete
        ///
        /// The head brings what it holds to the platter in the order of places, and writes that adjoin go together. It loses its bytes without power:
        /// a flush waits until the head has written all of them.
        #[key(SIZE, absent = "none")]
        pub cache: Option<Bytes>,
    }
}

impl Rotation {
    /// The time of the head from the first track to the last: of the data sheets of Savvio 10K (8.1 ms for 4.0 ms) and Ultrastar DDRS-39130
    /// (15.0 ms for 7.5 ms) about twice the average.
    #[must_use]
    pub fn full_seek(&self) -> Nanos {
        self.full_seek.unwrap_or(Nanos(2 * self.average_seek.0))
    }
}
