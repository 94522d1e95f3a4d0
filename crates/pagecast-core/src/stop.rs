//! Stops long work: loops count their steps, and now and then the caller is asked whether to go on.
//!
//! A loop deep inside a policy has nobody to return an error to. So a stop unwinds the stack up to [`watched`], as a panic does but without
//! its message; the work under way is dropped. The question is kept for each thread, as calls within calls go on one thread: a program that
//! simulates something else has a question of its own meanwhile.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::units::Nanos;

/// Asked now and then with the simulated time; true stops what is under way.
pub type Interrupt = Box<dyn FnMut(Nanos) -> bool>;

/// The caller wanted to stop.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped;

/// After so many steps it is asked. A step is what a loop does in some ten nanoseconds, so that is about a millisecond.
const ASK_EVERY: u64 = 1 << 16;

/// The steps of one event of a simulation, or of one operation.
pub(crate) const EVENT: u64 = 64;

thread_local! {
    static INTERRUPT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
    static NOW: Cell<Nanos> = const { Cell::new(Nanos::ZERO) };
    static LEFT: Cell<u64> = const { Cell::new(ASK_EVERY) };
}

/// Puts back who was asked before.
struct Outer(Option<Interrupt>);

impl Drop for Outer {
    fn drop(&mut self) {
        INTERRUPT.replace(self.0.take());
    }
}

/// Does some work; where that takes long, `interrupt` is asked now and then.
///
/// # Errors
/// [`Stopped`] if its answer was yes.
pub fn watched<T>(interrupt: Option<Interrupt>, work: impl FnOnce() -> T) -> Result<T, Stopped> {
    let _outer = Outer(INTERRUPT.replace(interrupt));
    LEFT.set(ASK_EVERY);
    // Nothing that the work has changed is looked at after a stop: it is gone.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<Stopped>() {
        Ok(stopped) => *stopped,
        Err(panic) => resume_unwind(panic),
    })
}

/// The simulated time from now on.
pub(crate) fn come_to(now: Nanos) {
    NOW.set(now);
}

/// A loop has done so many steps. Does not return if that is to stop.
#[inline]
pub(crate) fn spend(steps: u64) {
    match LEFT.get().checked_sub(steps) {
        Some(left) => LEFT.set(left),
        None => ask(),
    }
}

#[cold]
fn ask() {
    LEFT.set(ASK_EVERY);
    // It is taken out, as its answer may need other work of ours.
    let Some(mut interrupt) = INTERRUPT.take() else { return };
    let stops = interrupt(NOW.get());
    INTERRUPT.set(Some(interrupt));
    if stops {
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    fn forever() {
        loop {
            spend(1);
        }
    }

    /// Asks the question of the given number, and says yes then.
    fn at(number: u32) -> (Rc<Cell<u32>>, Option<Interrupt>) {
        let asked = Rc::new(Cell::new(0));
        let count = asked.clone();
        let interrupt = move |_| {
            count.set(count.get() + 1);
            count.get() == number
        };
        (asked, Some(Box::new(interrupt)))
    }

    #[test]
    fn a_loop_without_end_stops_when_the_answer_is_yes() {
        let (asked, interrupt) = at(3);
        assert_eq!(watched(interrupt, forever), Err(Stopped));
        assert_eq!(asked.get(), 3);
    }

    #[test]
    fn work_within_work_stops_alone() {
        let (outer, interrupt) = at(2);
        let both = watched(interrupt, || {
            let inner = watched(at(1).1, forever);
            assert_eq!((inner, outer.get()), (Err(Stopped), 0));
            forever();
        });
        assert_eq!((both, outer.get()), (Err(Stopped), 2));
    }

    #[test]
    fn work_that_ends_by_itself_gives_its_result() {
        let (asked, interrupt) = at(1);
        let sum = watched(interrupt, || {
            (0..100)
                .inspect(|&step| {
                    spend(step);
                })
                .sum::<u64>()
        });
        assert_eq!((sum, asked.get()), (Ok(4950), 0), "it was too short to ask");
        spend(u64::MAX);
    }

    #[test]
    #[should_panic = "a mistake"]
    fn a_panic_stays_one() {
        let _ = watched(None, || panic!("a mistake"));
    }
}
