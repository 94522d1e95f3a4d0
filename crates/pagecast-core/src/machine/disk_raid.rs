//! Describes a disk that is made of several: RAID and JBOD.

use crate::keys::{SIZE, Word, keys, whole, word};
use crate::units::Bytes;

keys! {
    /// An array of equal disks.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Raid: "raid" {
        /// How bytes are spread over the disks
        ///
        /// "jbod" one disk behind the other; "0" in chunks by turns; "1" on all; "10" on pairs by turns; "5" and "6" by turns with one or two
        /// chunks of parity in each stripe.
        #[key(word::<Level>(), required)]
        pub level: Level,
        /// The number of disks
        ///
        /// At least 2; 3 for "5", 4 for "6"; an even number for "10".
        #[key(whole(2, 1024), required)]
        pub disks: u32,
        /// Bytes on a disk before the next one's turn
        ///
        /// `md/chunk_size` in `/sys/block/md*`.
        #[key(SIZE, default = Bytes(512 << 10))]
        pub chunk: Bytes,
        /// Pages of each disk that md keeps of stripes with parity
        ///
        /// `md/stripe_cache_size` in `/sys/block/md*`. Writes go through it under `kernel`, where they go request by request. 0 without such a
        /// cache: each write reads what it needs for its parity.
        #[key(whole(0, 32768), default = 256)]
        pub stripe_cache: u32,
    }
}

/// How bytes are spread over the disks of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// One behind the other.
    #[default]
    Jbod,
    /// By turns.
    Raid0,
    /// All of them on each.
    Raid1,
    /// By turns with a chunk of parity.
    Raid5,
    /// By turns with two chunks of parity.
    Raid6,
    /// By turns on pairs.
    Raid10,
}

impl Word for Level {
    const ALL: &'static [Self] =
        &[Self::Jbod, Self::Raid0, Self::Raid1, Self::Raid5, Self::Raid6, Self::Raid10];
    const WORDS: &'static [&'static str] = &["jbod", "0", "1", "5", "6", "10"];
}

impl Raid {
    /// Chunks of parity in a stripe.
    #[must_use]
    pub fn parity(&self) -> u32 {
        match self.level {
            Level::Raid5 => 1,
            Level::Raid6 => 2,
            _ => 0,
        }
    }

    /// Disks on which each byte is.
    #[must_use]
    pub fn copies(&self) -> u32 {
        match self.level {
            Level::Raid1 => self.disks,
            Level::Raid10 => 2,
            _ => 1,
        }
    }

    /// Chunks of data in a stripe; the number of disks that hold different bytes.
    #[must_use]
    pub fn data_disks(&self) -> u32 {
        (self.disks - self.parity()) / self.copies()
    }

    /// Disks that read, and that write different bytes, of one long stream.
    #[must_use]
    pub fn streaming(&self) -> (u32, u32) {
        match self.level {
            // A stream of reads stays on one disk (`drivers/md/raid1.c: read_balance`).
            Level::Jbod | Level::Raid1 => (1, 1),
            Level::Raid0 | Level::Raid5 | Level::Raid6 | Level::Raid10 => {
                (self.data_disks(), self.data_disks())
            }
        }
    }

    /// True if there are enough disks for the level.
    #[must_use]
    pub fn has_enough_disks(&self) -> bool {
        self.disks > self.parity() + 1
            && self.disks.is_multiple_of(if self.level == Level::Raid10 { 2 } else { 1 })
    }
}
