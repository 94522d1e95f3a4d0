//! Runs work on a stack that is large enough for deeply nested CPN ML.

use std::cell::Cell;
use std::sync::mpsc;
use std::time::Duration;

/// Address space of such a stack; memory is taken as it is used.
const BYTES: usize = 256 << 20;
/// Bytes that stay free below the deepest call.
const RESERVE: usize = 16 << 20;
/// Calls that a stack of unknown size surely has room for.
const CALLS: usize = 200;

/// How often the caller looks around while work is done.
const PERIOD: Duration = Duration::from_millis(20);

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
    watched(work, None)
}

/// The same; `watch` is called every 20 ms meanwhile, on the thread of the caller.
///
/// # Panics
///
/// If the work panics, or if the system makes no thread.
pub fn on_large_stack_watched<T: Send>(work: impl FnOnce() -> T + Send, mut watch: impl FnMut()) -> T {
    watched(work, Some(&mut watch))
}

fn watched<T: Send>(work: impl FnOnce() -> T + Send, watch: Option<&mut dyn FnMut()>) -> T {
    if FLOOR.get() != 0 {
        return work();
    }
    let (is_done, done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("petri".into()).stack_size(BYTES);
        let running = thread.spawn_scoped(scope, move || {
            FLOOR.set(here() - (BYTES - RESERVE));
            let result = work();
            drop(is_done);
            result
        });
        let running = running.expect("the system makes a thread");
        if let Some(watch) = watch {
            while done.recv_timeout(PERIOD) == Err(mpsc::RecvTimeoutError::Timeout) {
                watch();
            }
        }
        match running.join() {
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
