//! Describes the work of a library call: bytes that it copies, and system calls.

/// Which way bytes go between file and program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// read(2).
    Read,
    /// write(2).
    Write,
}

/// System calls that move bytes, each where the one before has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Which way.
    pub direction: Direction,
    /// Where the first begins.
    pub offset: u64,
    /// What all of them move.
    pub bytes: u64,
    /// How many they are.
    pub calls: u64,
    /// The largest power of two that divides the size of each.
    grain: u64,
}

impl Transfer {
    fn one(direction: Direction, offset: u64, bytes: u64) -> Self {
        Self { direction, offset, bytes, calls: 1, grain: grain(bytes) }
    }

    /// The size of a call: of each if all are alike, otherwise the mean, and whole pages if all are.
    #[must_use]
    pub fn piece(&self) -> u64 {
        self.bytes.div_ceil(self.calls.max(1)).next_multiple_of(self.grain)
    }

    fn is_followed_by(&self, direction: Direction, offset: u64) -> bool {
        self.direction == direction && self.offset + self.bytes == offset
    }
}

/// The largest power of two that divides a size, of what matters: pages.
fn grain(bytes: u64) -> u64 {
    1 << bytes.trailing_zeros().min(12)
}

/// What one call of a library comes to, or many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes copied between the program and the stream's buffer.
    pub copied: u64,
    /// How often lseek(2) is called.
    pub seeks: u64,
    /// What else the kernel is asked, in this order.
    pub transfers: Vec<Transfer>,
}

impl Work {
    /// Adds `times` system calls of `bytes` each.
    pub(super) fn add(&mut self, direction: Direction, offset: u64, bytes: u64, times: u64) {
        self.append(&Transfer::one(direction, offset, bytes), times);
    }

    /// Adds the same calls `times` times, one after the other.
    pub(super) fn append(&mut self, one: &Transfer, times: u64) {
        let Transfer { direction, offset, grain, .. } = *one;
        let (bytes, calls) = (one.bytes * times, one.calls * times);
        match self.transfers.last_mut() {
            _ if times == 0 => {}
            Some(last) if last.is_followed_by(direction, offset) => {
                last.bytes += bytes;
                last.calls += calls;
                last.grain = last.grain.min(grain);
            }
            _ => self.transfers.push(Transfer { direction, offset, bytes, calls, grain }),
        }
    }

    /// Where a file ends after that which has ended at `end`.
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
