//! The code of a record: numbers of actions, bits of its second byte, and what the next record is told relative to.
//!
//! A record is a byte for the action (one of the constants here), a byte of bits that say what follows, and then as many of: path, time,
//! duration, line, not_before, depth and interface, descriptor, fields of the action. A field that may be missing has a byte 0 or 1 before it; reads and
//! writes have a third byte for that, as they are most of every recording.

/// The most bytes of a record: that of a pattern, with room to spare.
pub const MOST_BYTES: usize = 192;

/// What a record is told relative to: the one before it of its process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// Its path.
    pub path: u32,
    /// Its time, 0 before the first.
    pub time: u64,
    /// Its line.
    pub line: u32,
    /// The last `not_before`.
    pub not_before: u64,
    /// The end of the last read or write.
    pub end: u64,
    /// The size of the last read or write.
    pub bytes: u64,
}

/// Bits of the second byte: what follows.
pub mod has {
    /// Its path is that of the record before.
    pub const SAME_PATH: u8 = 1;
    /// When it began.
    pub const TIME: u8 = 2;
    /// How long it took.
    pub const DURATION: u8 = 4;
    /// Its line.
    pub const LINE: u8 = 8;
    /// When it begins at the earliest.
    pub const NOT_BEFORE: u8 = 16;
    /// With how many others.
    pub const DEPTH: u8 = 32;
    /// Through which descriptor.
    pub const FD: u8 = 64;
}

/// Bits of the third byte of a read or write.
pub mod part {
    /// It has an offset.
    pub const OFFSET: u8 = 1;
    /// That is the end of the one before.
    pub const GOES_ON: u8 = 2;
    /// It has a size.
    pub const BYTES: u8 = 4;
    /// That is the one of the one before.
    pub const SAME_BYTES: u8 = 8;
    /// It has a size of one call.
    pub const CALL: u8 = 16;
    /// It has more than one place in memory.
    pub const VECTOR: u8 = 32;
    /// It goes into new memory.
    pub const FRESH: u8 = 64;
}

/// Numbers of actions.
pub mod action {
    macro_rules! numbered {
        ($($name:ident)*) => { numbered!(@ 0_u8; $($name)*); };
        (@ $at:expr; $name:ident $($rest:ident)*) => {
            pub const $name: u8 = $at;
            numbered!(@ $at + 1; $($rest)*);
        };
        (@ $at:expr;) => {};
    }
    // The order is that of the format: new ones come last.
    numbered! {
        READ WRITE OPEN CLOSE COPY FSYNC FDATASYNC SYNC SYNC_FS SYNC_FILE_RANGE READAHEAD TRUNCATE UNLINK PATTERN SEEK DUPLICATE RENAME
        LINK MKDIR RMDIR STAT FALLOCATE DRAIN DROP_CACHES FADVISE STREAM MAPPED COMPUTE SLEEP ALLOCATE FREE WAIT SIGNAL EXIT
        SLEEP_AT_RANDOM
    }
}

/// Numbers of a stream's calls.
pub mod stream {
    pub const OPEN: u8 = 0;
    pub const SET_BUFFER: u8 = 1;
    pub const WRITE: u8 = 2;
    pub const READ: u8 = 3;
    pub const SEEK: u8 = 4;
    pub const FLUSH: u8 = 5;
    pub const CLOSE: u8 = 6;
}

/// Numbers of calls on a mapping.
pub mod mapped {
    pub const MAP: u8 = 0;
    pub const UNMAP: u8 = 1;
    pub const READ: u8 = 2;
    pub const WRITE: u8 = 3;
    pub const SYNC: u8 = 4;
}

/// Numbers of orders of a pattern.
pub mod order {
    pub const SEQUENTIAL: u8 = 0;
    pub const BACKWARDS: u8 = 1;
    pub const STRIDED: u8 = 2;
    pub const UNIFORM: u8 = 3;
    pub const ZIPF: u8 = 4;
    pub const PARETO: u8 = 5;
    pub const NORMAL: u8 = 6;
}
