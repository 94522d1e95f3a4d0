//! Starts threads together.

use std::sync::Barrier;
use std::thread;

/// Does `act` to every item at once, each in a thread of its own; none begins before all are there.
pub(super) fn together<T: Send, R: Send>(items: &mut [T], act: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
    let (start, act) = (Barrier::new(items.len()), &act);
    thread::scope(|scope| {
        let start = &start;
        let begin = |item| {
            scope.spawn(move || {
                start.wait();
                act(item)
            })
        };
        let threads: Vec<_> = items.iter_mut().map(begin).collect();
        threads.into_iter().map(|thread| thread.join().expect("no measuring loop panics")).collect()
    })
}
