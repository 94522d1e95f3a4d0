//! Computes Algorithm 2, `Library_IO_Cost`: writes to a stream of the C library, whose buffer gathers small ones.

use super::parameters::{ParameterError, check_costs, check_rates, check_size};
use super::syscall::SyscallCost;

/// The one file of a stream.
const FILE: u32 = 0;

/// The parameters of the C library.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// Rate of copying in memory.
    pub bw_mem: f64,
    /// Bytes of the buffer.
    pub bf: u64,
    /// The additional cost of each call of the library: the released program has `lib_metacost`, the paper none.
    pub lib_metacost: f64,
    /// The write that sends off a full buffer.
    pub when_full: WhenFull,
}

/// The write that sends off a full buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// The write that has filled it: the paper's Figure 9, and our measurement.
    #[default]
    Now,
    /// The next one: the released program.
    Next,
}

impl WhenFull {
    /// The words of an argument, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["now", "next"];
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Now, Self::Next];
}

impl Stream {
    /// Refuses impossible values.
    ///
    /// # Errors
    /// The first parameter that is wrong.
    pub fn check(&self) -> Result<(), ParameterError> {
        check_rates(&[("bw_mem", self.bw_mem)])?;
        check_size("bf", self.bf)?;
        check_costs(&[("lib_metacost", self.lib_metacost)])
    }
}

/// A stream that is written from the beginning of its file on.
#[derive(Clone, Debug)]
pub struct LibraryCost {
    stream: Stream,
    calls: SyscallCost,
    /// The position of the next system call.
    position: u64,
    /// Bytes in the buffer, and the seconds since the last system call.
    pending: u64,
    pending_delay: f64,
}

impl LibraryCost {
    /// With an empty buffer, at time 0.
    ///
    /// # Errors
    /// A parameter that is wrong.
    pub fn new(stream: Stream, calls: SyscallCost) -> Result<Self, ParameterError> {
        stream.check()?;
        Ok(Self { stream, calls, position: 0, pending: 0, pending_delay: 0.0 })
    }

    /// Returns the seconds of a write of the next bytes, `pause` seconds after the one before.
    pub fn write(&mut self, bytes: u64, pause: f64) -> f64 {
        let Stream { bf, lib_metacost, when_full, .. } = self.stream;
        let room = bf - self.pending;
        let filling = bytes.min(room);
        let copying = lib_metacost + self.copy(filling);
        self.pending_delay += pause + copying;
        if bytes < room || (bytes == room && when_full == WhenFull::Next) {
            self.pending += bytes;
            return copying;
        }
        let (rest, delay) = (bytes - filling, std::mem::take(&mut self.pending_delay));
        let mut seconds = copying + self.call(bf, delay);
        // What is left and fills the buffer goes past it.
        let past = rest - rest % bf;
        if past > 0 {
            seconds += self.call(past, 0.0);
        }
        self.pending = rest - past;
        self.pending_delay = self.copy(self.pending);
        seconds + self.pending_delay
    }

    /// Returns the seconds until the buffer has been written (fflush, fclose). Not in the paper.
    pub fn flush(&mut self) -> f64 {
        let delay = std::mem::take(&mut self.pending_delay);
        match std::mem::take(&mut self.pending) {
            0 => {
                self.calls.pause(delay);
                0.0
            }
            pending => self.call(pending, delay),
        }
    }

    /// Bytes in the buffer.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// The page cache below, as the last system call left it.
    #[must_use]
    pub fn calls(&self) -> &SyscallCost {
        &self.calls
    }

    /// Seconds since the beginning: all pauses and writes.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.calls.time() + self.pending_delay
    }

    fn call(&mut self, bytes: u64, pause: f64) -> f64 {
        let written = self.calls.write(FILE, self.position, bytes, pause);
        self.position += bytes;
        written.seconds
    }

    fn copy(&self, bytes: u64) -> f64 {
        bytes as f64 / self.stream.bw_mem
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PageCache, Throttling};
    use super::*;

    fn stream() -> LibraryCost {
        let cache = PageCache {
            bw_ramdisk: 1e9,
            bw_reduced: 5e8,
            bw_dev: 1e8,
            bw_sync: None,
            sc_w: 1e-6,
            limit_bg: 1 << 30,
            limit_hard: 2 << 30,
            dirty_expire: 30.0,
            throttling: Throttling::Minimum,
        };
        let stream = Stream { bw_mem: 2e9, bf: 4096, lib_metacost: 0.0, when_full: WhenFull::Now };
        LibraryCost::new(stream, SyscallCost::new(cache).unwrap()).unwrap()
    }

    fn nanoseconds(seconds: f64) -> f64 {
        (seconds * 1e12).round() / 1e3
    }

    #[test]
    fn the_write_that_fills_the_buffer_has_it_written() {
        let mut stream = stream();
        // 512 B at 2 GB/s are 256 ns. The eighth write fills the buffer; it is written in 1 us and 4096 B at 1 GB/s.
        for _ in 0..7 {
            assert_eq!(nanoseconds(stream.write(512, 0.0)), 256.0);
        }
        assert_eq!((stream.pending(), stream.calls().dirty()), (3584, 0));
        assert_eq!(nanoseconds(stream.write(512, 0.0)), 1000.0 + 4096.0 + 256.0);
        assert_eq!((stream.pending(), stream.calls().dirty()), (0, 4096));
    }

    #[test]
    fn in_the_released_program_a_full_buffer_waits_for_the_next_write() {
        let mut stream = stream();
        stream.stream.when_full = WhenFull::Next;
        for _ in 0..8 {
            assert_eq!(nanoseconds(stream.write(512, 0.0)), 256.0);
        }
        assert_eq!((stream.pending(), stream.calls().dirty()), (4096, 0));
        assert_eq!(nanoseconds(stream.write(512, 0.0)), 1000.0 + 4096.0 + 256.0);
        assert_eq!((stream.pending(), stream.calls().dirty()), (512, 4096));
    }

    #[test]
    fn what_fills_the_buffer_goes_past_it() {
        let mut stream = stream();
        stream.write(96, 0.0);
        // 4000 B fill the buffer (2 us), which is written (1 + 4.096 us); 8192 of the other 10000 go past it (1 + 8.192 us);
        // the last 1808 are copied (904 ns).
        assert_eq!(nanoseconds(stream.write(14_000, 0.0)), 2000.0 + 5096.0 + 9192.0 + 904.0);
        assert_eq!((stream.pending(), stream.calls().dirty()), (1808, 12_288));
    }

    #[test]
    fn a_large_write_is_a_buffer_and_the_rest() {
        let mut stream = stream();
        let seconds = stream.write(1 << 20, 0.0);
        // The copy of the buffer, 2048 ns, two calls, and all bytes at 1 GB/s.
        assert_eq!(nanoseconds(seconds), 2048.0 + 2.0 * 1000.0 + f64::from(1 << 20));
        assert_eq!((stream.pending(), stream.calls().dirty()), (0, 1 << 20));
    }

    #[test]
    fn each_call_of_the_library_may_cost_something() {
        let mut costly = stream();
        costly.stream.lib_metacost = 1e-7;
        assert_eq!(nanoseconds(costly.write(512, 0.0)), 356.0);
    }

    #[test]
    fn flushing_writes_what_the_buffer_holds() {
        let mut stream = stream();
        stream.write(512, 1.0);
        assert_eq!(nanoseconds(stream.flush()), 1000.0 + 512.0);
        assert_eq!((stream.pending(), stream.calls().dirty()), (0, 512));
        assert_eq!(stream.flush(), 0.0);
    }

    #[test]
    fn pauses_reach_the_page_cache_with_the_next_call() {
        let mut stream = stream();
        let seconds = stream.write(512, 3.0);
        assert_eq!((stream.time(), stream.calls().time()), (3.0 + seconds, 0.0));
        let seconds = seconds + stream.write(4096, 2.0);
        assert!((stream.time() - (5.0 + seconds)).abs() < 1e-12);
        // What is still in the buffer was copied after the call.
        assert!((stream.calls().time() - (5.0 + seconds - stream.copy(512))).abs() < 1e-12);
    }
}
