//! The header of a file.

use super::block::crc;
use super::error::TraceError;

/// The first bytes of a file. As those of PNG, they do not survive a transfer as text.
pub const MAGIC: [u8; 8] = *b"\x89PCT\r\n\x1a\n";

/// The version of the format that is written and read.
pub const VERSION: u16 = 1;

/// The place of the level in the header.
pub const LEVEL_AT: usize = 12;

/// What the requests of a workload are made to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Files, by their names: it can be run for real.
    #[default]
    Files,
    /// Sectors of a device.
    Blocks,
    /// Objects by number.
    Objects,
}

impl Level {
    /// All of them, in the order of their numbers in a file.
    pub const ALL: [Self; 3] = [Self::Files, Self::Blocks, Self::Objects];
}

/// The bytes of the header of a file.
pub const HEADER: usize = 64;

/// 1 and 2 as a little-endian machine writes them; another one would have to turn every number.
const BYTE_ORDER: u16 = 0x0201;

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the requests are made to.
    pub level: Level,
    /// The place of the tables, which are the end of the file.
    pub tables_at: u64,
    /// Their length.
    pub tables_bytes: u64,
    /// The number of records.
    pub records: u64,
    /// Of the tables.
    pub tables_crc: u32,
}

impl Header {
    /// Its bytes.
    pub fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10..12].copy_from_slice(&BYTE_ORDER.to_le_bytes());
        bytes[LEVEL_AT] = self.level as u8;
        bytes[16..24].copy_from_slice(&self.tables_at.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.tables_bytes.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.records.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.tables_crc.to_le_bytes());
        let sum = crc(&bytes[..60]);
        bytes[60..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header of these bytes.
    pub fn of(bytes: &[u8; HEADER]) -> Result<Self, TraceError> {
        let damaged = |what| TraceError::Damaged { at: 0, what };
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let small = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        let large = |at: usize| u64::from(small(at)) | u64::from(small(at + 4)) << 32;
        if bytes[..8] != MAGIC {
            return Err(damaged("a recording of pagecast does not begin like this"));
        }
        if short(10) != BYTE_ORDER {
            let what = "was written in another byte order than that of little-endian machines";
            return Err(TraceError::Foreign(what.to_owned()));
        }
        if short(8) != VERSION {
            let what =
                format!("has version {} of its format, and this pagecast reads version {VERSION}", short(8));
            return Err(TraceError::Foreign(what));
        }
        if small(60) != crc(&bytes[..60]) {
            return Err(damaged("the header is not as it was written"));
        }
        Ok(Self {
            level: *Level::ALL.get(usize::from(bytes[LEVEL_AT])).ok_or(damaged("the header has no level"))?,
            tables_at: large(16),
            tables_bytes: large(24),
            records: large(32),
            tables_crc: small(40),
        })
    }
}
