//! Reads the keys of several operations: the part of a file, and the size of calls.

use crate::keys::{Key, Kind, may};

pub const OFFSET: Key = may("offset", Kind::SizeOrZero, "First byte; default \"0 B\"");
pub const PART: Key = may("size", Kind::Size, "Of how much; default up to the end of the file");
pub const CALL: Key = may("call", Kind::Size, "Bytes of one call; default all at once");
