//! The header of a block of records.

/// The header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Whose records they are.
    pub process: u32,
    /// The bytes behind this header.
    pub bytes: u32,
    /// The number of records.
    pub records: u32,
    /// Of the bytes behind this header.
    pub crc: u32,
    /// The place of the next block of the process, 0 if this is the last one. It is filled in when that is written.
    pub next: u64,
}

/// The bytes of a header.
pub const BLOCK_HEADER: usize = 24;

/// Where `next` is in a header.
pub const NEXT_AT: u64 = 16;

/// A block has at most so many bytes, beside one record.
pub const MOST_IN_BLOCK: usize = 64 << 10;

impl BlockHeader {
    /// Its bytes.
    pub fn to_bytes(self) -> [u8; BLOCK_HEADER] {
        let mut bytes = [0; BLOCK_HEADER];
        bytes[..4].copy_from_slice(&self.process.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.records.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.crc.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.next.to_le_bytes());
        bytes
    }

    /// The header of these bytes, or what is wrong with them.
    pub fn of(bytes: &[u8; BLOCK_HEADER]) -> Result<Self, &'static str> {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("it has four bytes"));
        let next = u64::from(number(16)) | u64::from(number(20)) << 32;
        let header = Self { process: number(0), bytes: number(4), records: number(8), crc: number(12), next };
        if header.bytes == 0 || header.records == 0 {
            return Err("this is no header of a block");
        }
        Ok(header)
    }
}

/// The CRC-32 of some bytes.
pub fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
