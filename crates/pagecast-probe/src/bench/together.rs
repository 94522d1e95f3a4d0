//! Starts threads at the same moment, and a look at them meanwhile.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

use crate::watch::LOOK_PERIOD;

/// A gate at which threads wait until all are ready.
#[derive(Default)]
struct Gate {
    state: Mutex<(usize, Option<bool>)>,
    changed: Condvar,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, (usize, Option<bool>)> {
        self.state.lock().expect("nobody panics while he holds the lock")
    }

    /// Says that one more is ready, and waits; gives whether it may begin.
    fn arrive(&self) -> bool {
        let mut state = self.state();
        state.0 += 1;
        self.changed.notify_all();
        loop {
            match state.1 {
                Some(may_begin) => return may_begin,
                None => state = self.changed.wait(state).expect("nobody panics while he holds the lock"),
            }
        }
    }

    /// Waits until so many are ready, and lets them begin.
    fn open_for(&self, count: usize) {
        let mut state = self.state();
        while state.0 < count {
            state = self.changed.wait(state).expect("nobody panics while he holds the lock");
        }
        state.1 = Some(true);
        self.changed.notify_all();
    }

    /// Sends everybody away.
    fn close(&self) {
        self.state().1 = Some(false);
        self.changed.notify_all();
    }
}

/// Does `work` in `count` threads of this name that begin together when each has made what it needs (`ready`). The calling thread
/// looks now and then. Gives the answers in the order of the threads.
///
/// # Errors
/// What the kernel said if there cannot be so many threads; then no work was done.
pub(super) fn together<S, R: Send>(
    name: &str,
    count: usize,
    ready: impl Fn(usize) -> S + Sync,
    work: impl Fn(usize, S) -> R + Sync,
    mut look: impl FnMut(),
) -> io::Result<Vec<R>> {
    let gate = Gate::default();
    thread::scope(|scope| {
        let (sender, ended) = channel::<()>();
        let mut threads = Vec::with_capacity(count);
        for at in 0..count {
            let (sender, gate, ready, work) = (sender.clone(), &gate, &ready, &work);
            let act = move || {
                let _held_until_the_end = sender;
                let mine = ready(at);
                gate.arrive().then(|| work(at, mine))
            };
            match thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, act) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    gate.close();
                    return Err(error);
                }
            }
        }
        drop(sender);
        gate.open_for(count);
        look();
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK_PERIOD) {
            look();
        }
        let answers =
            threads.into_iter().map(|thread| thread.join().expect("a measuring thread does not panic"));
        Ok(answers.map(|answer| answer.expect("the gate was opened")).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn nobody_begins_before_all_are_ready() {
        let ready = AtomicUsize::new(0);
        let prepare = |at| {
            ready.fetch_add(1, Ordering::SeqCst);
            10 * at
        };
        let work = |at, mine: usize| (mine + at, ready.load(Ordering::SeqCst));
        let answers = together("test", 4, prepare, work, || {}).unwrap();
        assert_eq!(answers, [(0, 4), (11, 4), (22, 4), (33, 4)]);
    }
}
