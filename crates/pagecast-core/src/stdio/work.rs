//! Describes the work of a library call: bytes that it copies, and system calls.

/// The direction of bytes between file and program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// read(2).
    Read,
    /// write(2).
    Write,
}

/// System calls that move bytes, each from the end of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The direction.
    pub direction: Direction,
    /// The start of the first.
    pub offset: u64,
    /// The bytes of all of them.
    pub bytes: u64,
    /// The number of calls.
    pub calls: u64,
    /// The largest power of two that divides the size of each.
    alignment: u64,
}

impl Transfer {
    fn one(direction: Direction, offset: u64, bytes: u64) -> Self {
        Self { direction, offset, bytes, calls: 1, alignment: alignment(bytes) }
    }

    /// The size of each call if all are alike, otherwise the mean; whole pages if all are.
    #[must_use]
    pub fn piece(&self) -> u64 {
        self.bytes.div_ceil(self.calls.max(1)).next_multiple_of(self.alignment)
    }

    fn is_followed_by(&self, direction: Direction, offset: u64) -> bool {
        self.direction == direction && self.offset + self.bytes == offset
    }
}

/// Returns the largest power of two, up to a page, that divides a size.
fn alignment(bytes: u64) -> u64 {
    1 << bytes.trailing_zeros().min(12)
}

/// The work of one call of a library, or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes copied between the program and the stream's buffer.
    pub copied: u64,
    /// The number of calls of lseek(2).
    pub seeks: u64,
    /// All other system calls, in this order.
    pub transfers: Vec<Transfer>,
}

impl Work {
    /// Adds `times` system calls of `bytes` each.
    pub(super) fn add(&mut self, direction: Direction, offset: u64, bytes: u64, times: u64) {
        self.append(&Transfer::one(direction, offset, bytes), times);
    }

    /// Adds the same calls `times` times, one after the other.
    pub(super) fn append(&mut self, one: &Transfer, times: u64) {
        let Transfer { direction, offset, alignment, .. } = *one;
        let (bytes, calls) = (one.bytes * times, one.calls * times);
        match self.transfers.last_mut() {
            _ if times == 0 => {}
            Some(last) if last.is_followed_by(direction, offset) => {
                last.bytes += bytes;
                last.calls += calls;
                last.alignment = last.alignment.min(alignment);
            }
            _ => self.transfers.push(Transfer { direction, offset, bytes, calls, alignment }),
        }
    }

    /// Returns the end of a file that ended at `end` before.
    #[must_use]
    pub fn end_of_file(&self, end: u64) -> u64 {
        let writes = self.transfers.iter().filter(|each| each.direction == Direction::Write);
        writes.map(|each| each.offset + each.bytes).fold(end, u64::max)
    }

    /// Bytes and calls of all transfers of one direction.
    #[must_use]
    pub fn total(&self, direction: Direction) -> (u64, u64) {
        let of_it = self.transfers.iter().filter(|each| each.direction == direction);
        of_it.fold((0, 0), |(bytes, calls), each| (bytes + each.bytes, calls + each.calls))
    }
}
