//! Runs long work that a caller follows and may stop.
//!
//! Workers run in threads of their own; the calling thread only looks, so that an interpreter can do its part there (Ctrl-C arrives in the
//! main thread).

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often the watcher looks: well below the 100 ms that a person notices.
pub const LOOK_PERIOD: Duration = Duration::from_millis(20);
/// Files are handed out in batches of at most this, so that threads seldom meet and none has much left at the end.
const LARGEST_BATCH: usize = 64;

/// The progress of long work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, as a person would say it: "writing back".
    pub stage: &'static str,
    /// The part of it that is done, in files or bytes.
    pub done: u64,
    /// All that there is to do, if that is known.
    pub total: Option<u64>,
}

/// Is called now and then by the thread that waits; breaking stops the work.
pub type Watcher<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Somebody stopped the work; what was done is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// The state that the workers of one stage share with the watcher.
#[derive(Debug, Default)]
pub struct Pace {
    done: AtomicU64,
    is_stopped: AtomicBool,
}

impl Pace {
    /// Notes that `amount` more is done.
    ///
    /// # Errors
    /// [`Interrupted`] if the worker must stop.
    pub fn advance(&self, amount: u64) -> Result<(), Interrupted> {
        self.done.fetch_add(amount, Ordering::Relaxed);
        if self.is_stopped() { Err(Interrupted) } else { Ok(()) }
    }

    /// What becomes true when the worker must stop, for loops that look by themselves.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.is_stopped
    }

    /// True if the worker must stop; then its answer does not matter any more.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// Does `act` to every item, on all processors, and gives the answers in the order of the items.
///
/// # Errors
/// [`Interrupted`] if `watch` or a worker broke off.
pub fn for_each<T: Sync, R: Send>(
    stage: &'static str,
    total: u64,
    items: &[T],
    watch: &mut Watcher<'_>,
    act: impl Fn(&T, &Pace) -> Result<R, Interrupted> + Sync,
) -> Result<Vec<R>, Interrupted> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let batch = (items.len() / (16 * threads.max(1))).clamp(1, LARGEST_BATCH);
    let (pace, next) = (Pace::default(), AtomicUsize::new(0));
    let answers = Mutex::new(Vec::with_capacity(items.len()));
    let work = || {
        let mut mine = Vec::new();
        loop {
            let from = next.fetch_add(batch, Ordering::Relaxed);
            if from >= items.len() {
                break;
            }
            for (offset, item) in items[from..items.len().min(from + batch)].iter().enumerate() {
                match act(item, &pace) {
                    Ok(answer) => mine.push((from + offset, answer)),
                    Err(Interrupted) => return pace.is_stopped.store(true, Ordering::Relaxed),
                }
            }
        }
        answers.lock().expect("no worker panics while it holds the lock").extend(mine);
    };
    thread::scope(|scope| {
        let (sender, ended) = channel::<()>();
        for _ in 0..threads {
            let sender = sender.clone();
            let work = &work;
            scope.spawn(move || {
                let _held_until_the_end = sender;
                work();
            });
        }
        drop(sender);
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK_PERIOD) {
            let progress = Progress { stage, done: pace.done.load(Ordering::Relaxed), total: Some(total) };
            if watch(progress).is_break() {
                pace.is_stopped.store(true, Ordering::Relaxed);
            }
        }
    });
    if pace.is_stopped.into_inner() {
        return Err(Interrupted);
    }
    let mut answers = answers.into_inner().expect("no worker panics while it holds the lock");
    answers.sort_unstable_by_key(|&(position, _)| position);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..10_000).collect();
        let answers =
            for_each("doubling", 10_000, &items, &mut |_| ControlFlow::Continue(()), |&item, pace| {
                pace.advance(1)?;
                Ok(2 * item)
            });
        assert_eq!(answers, Ok(items.iter().map(|item| 2 * item).collect()));
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        let answers = for_each("waiting", 0, &[], &mut |_| ControlFlow::Break(()), |(), _| Ok(()));
        assert_eq!(answers, Ok(vec![]));
    }

    #[test]
    fn a_watcher_stops_the_work() {
        let endless = |_: &(), pace: &Pace| -> Result<(), Interrupted> {
            loop {
                pace.advance(1)?;
                thread::sleep(Duration::from_millis(1));
            }
        };
        let mut seen = vec![];
        let mut watch = |progress: Progress| {
            seen.push(progress);
            ControlFlow::Break(())
        };
        assert_eq!(for_each("spinning", 7, &[(), ()], &mut watch, endless), Err(Interrupted));
        assert!(seen.iter().all(|progress| progress.stage == "spinning" && progress.total == Some(7)));
        assert!(seen[0].done > 0);
    }
}
