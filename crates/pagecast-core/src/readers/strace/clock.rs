//! Makes the times of lines one clock that begins at 0.

use super::line::Stamp;
use crate::units::Nanos;

const DAY: Nanos = Nanos(24 * 3600 * 1_000_000_000);

/// The clock of a recording.
#[derive(Debug, Default)]
pub struct Clock {
    /// The last time of any line.
    now: Nanos,
    zero: Option<Nanos>,
    /// The last time of day, and the midnights before it.
    day: Nanos,
    midnights: Nanos,
}

impl Clock {
    /// The time of a line.
    pub fn read(&mut self, stamp: Stamp) -> Nanos {
        self.now = match stamp {
            Stamp::Since(since) => self.now + since,
            Stamp::Epoch(at) => self.since_zero(at),
            Stamp::Day(at) => {
                // Only midnight takes half a day back.
                if self.day.saturating_sub(at) > Nanos(DAY.0 / 2) {
                    self.midnights += DAY;
                }
                self.day = at;
                self.since_zero(at + self.midnights)
            }
        };
        self.now
    }

    fn since_zero(&mut self, at: Nanos) -> Nanos {
        at.saturating_sub(*self.zero.get_or_insert(at))
    }

    /// The last time of any line.
    pub fn now(&self) -> Nanos {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midnight_passes_in_the_time_of_day_alone() {
        let mut clock = Clock::default();
        let late = Nanos(DAY.0 - 1_000);
        let times = [late, Nanos(2_000), Nanos(1_000), Nanos(3_000)].map(|at| clock.read(Stamp::Day(at)));
        assert_eq!(times.map(|time| time.0), [0, 3_000, 2_000, 4_000]);
        let mut clock = Clock::default();
        let times = [5, 3, 9].map(|at| clock.read(Stamp::Epoch(Nanos(at))));
        assert_eq!(times.map(|time| time.0), [0, 0, 4]);
    }
}
