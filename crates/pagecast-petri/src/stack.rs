//! Runs work on a stack that is large enough for deeply nested CPN ML.

use std::cell::Cell;

/// Address space of such a stack; memory is taken as it is used.
const BYTES: usize = 256 << 20;
/// What is kept free below the deepest call.
const RESERVE: usize = 16 << 20;
/// Calls that a stack of unknown size surely has room for.
const CALLS: usize = 200;

thread_local! {
    /// The lowest address that a call may begin at; 0 on other stacks.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
}

/// Does some work on a large stack, and gives its result.
///
/// # Panics
///
/// If the work panics, or if the system makes no thread.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if FLOOR.get() != 0 {
        return work();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("petri".into()).stack_size(BYTES);
        let running = thread.spawn_scoped(scope, || {
            FLOOR.set(here() - (BYTES - RESERVE));
            work()
        });
        match running.expect("the system makes a thread").join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// True where one call more, at this depth, may not have room.
pub fn is_nearly_full(depth: usize) -> bool {
    match FLOOR.get() {
        0 => depth > CALLS,
        floor => here() < floor,
    }
}

fn here() -> usize {
    let local = 0_u8;
    std::hint::black_box(&raw const local) as usize
}
