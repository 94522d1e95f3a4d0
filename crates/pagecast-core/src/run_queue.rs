//! Gives processors to short pieces of work of the kernel, first come, first served.
//!
//! Left out: that this work and copies, which share the processors as flows, hold each other up.

use crate::units::Nanos;

/// The time from which on each processor is free.
#[derive(Debug)]
pub struct RunQueue(Vec<Nanos>);

impl RunQueue {
    /// So many idle processors.
    #[must_use]
    pub fn new(processors: u32) -> Self {
        Self(vec![Nanos::ZERO; processors.max(1) as usize])
    }

    /// Gives the processor that is free first to a piece of work. Returns the time at which it is done.
    pub fn run(&mut self, now: Nanos, time: Nanos) -> Nanos {
        if time == Nanos::ZERO {
            return now;
        }
        let free = self.0.iter_mut().min().expect("there is one");
        *free = (*free).max(now) + time;
        *free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_a_processor() {
        let mut two = RunQueue::new(2);
        assert_eq!([5, 3, 4].map(|time| two.run(Nanos(10), Nanos(time)).0), [15, 13, 17]);
        assert_eq!(two.run(Nanos(10), Nanos::ZERO), Nanos(10), "nothing to do");
        assert_eq!(two.run(Nanos(20), Nanos(1)), Nanos(21));
    }
}
