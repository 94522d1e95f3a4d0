//! Flushes the cache of a device, for several threads at once.
//!
//! Source: `block/blk-flush.c: blk_kick_flush`, Linux 6.12. One flush is under way at a time. Who asks meanwhile shares the next one. Left out: that
//! the next one also waits for durable writes (FUA) that are under way.

use crate::units::Nanos;

/// The newest flush of a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flushes {
    from: Nanos,
    until: Nanos,
}

impl Flushes {
    /// Asks for a flush that takes a time. Returns when it is over, and whether nobody has asked for it before.
    pub fn flush(&mut self, now: Nanos, time: Nanos) -> (Nanos, bool) {
        let is_new = now >= self.from;
        if is_new {
            self.from = self.until.max(now);
            self.until = self.from + time;
        }
        (self.until, is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_during_a_flush_shares_the_next_one() {
        let mut flushes = Flushes::default();
        let ends = [10, 30, 50, 109, 110, 300].map(|now| flushes.flush(Nanos(now), Nanos(100)).0.0);
        assert_eq!(ends, [110, 210, 210, 210, 310, 410]);
    }
}
