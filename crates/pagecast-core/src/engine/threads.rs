//! Simulates groups of hosts on several threads. Each is simulated on one alone, so that the number of threads changes no result.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use super::groups::Part;
use super::run::Engine;
use super::settings::Settings;
use crate::error::SimulationError;
use crate::flow::Network;
use crate::result::SimulationResult;
use crate::stop::{self, Interrupt};
use crate::units::Nanos;

/// How often the caller is asked whether to stop: well below the 100 ms that a person notices.
const ASK_EVERY: Duration = Duration::from_millis(10);

/// How many results may wait to be put together: all of them would be in memory twice.
const WAITING: usize = 8;

/// No group has failed.
const NONE: usize = usize::MAX;

/// What the threads know of each other.
struct Shared {
    /// The first group that nobody has begun.
    next: AtomicUsize,
    /// The first group that failed; those behind it are not begun any more.
    failed: AtomicUsize,
    /// When the last process of all has ended.
    end: AtomicU64,
    /// Where one of them is.
    now: AtomicU64,
    stop: AtomicBool,
    all_have_ended: Barrier,
}

/// Waits for the other threads when it goes, also if that is because of a panic.
struct WaitsAtLast<'a>(&'a Barrier);

impl Drop for WaitsAtLast<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// The result of a group, or why there is none.
type Told = (usize, Result<SimulationResult, SimulationError>);

/// Simulates groups, each up to the end of the last one, and gives their results away in the order of groups.
///
/// # Errors
/// That of the first group that fails.
pub(super) fn simulate<N: Network>(
    parts: &[&Part],
    model: &str,
    settings: &Settings,
    mut interrupt: Option<Interrupt>,
    hosts: usize,
    mut take: impl FnMut(usize, SimulationResult),
) -> Result<(), SimulationError> {
    let wanted = settings.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get);
    let threads = wanted.min(parts.len());
    let shared = Arc::new(Shared {
        next: AtomicUsize::new(0),
        failed: AtomicUsize::new(NONE),
        end: AtomicU64::new(0),
        now: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        all_have_ended: Barrier::new(threads),
    });
    // Results that came before that of a group in front of them.
    let mut early = BTreeMap::new();
    let mut next = 0;
    let mut failure: Option<(usize, SimulationError)> = None;
    let Settings { seed, residency, record, ref options, .. } = *settings;
    thread::scope(|scope| {
        let (tell, told) = sync_channel(WAITING);
        for _ in 0..threads {
            let (shared, tell) = (&shared, tell.clone());
            scope.spawn(move || {
                let settings =
                    Settings { seed, residency, record, options: options.clone(), ..Settings::default() };
                work::<N>(shared, parts, model, &settings, hosts, &tell);
            });
        }
        drop(tell);
        loop {
            match told.recv_timeout(ASK_EVERY) {
                Ok((at, Ok(result))) => {
                    early.insert(at, result);
                    while let Some(result) = early.remove(&next) {
                        take(next, result);
                        next += 1;
                    }
                }
                Ok((at, Err(error))) => {
                    if failure.as_ref().is_none_or(|&(first, _)| at < first) {
                        failure = Some((at, error));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if interrupt.as_mut().is_some_and(|interrupt| interrupt(Nanos(shared.now.load(Relaxed)))) {
                shared.stop.store(true, Relaxed);
            }
        }
    });
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

/// Simulates groups until there are no more, then each of them up to the end of all.
fn work<N: Network>(
    shared: &Arc<Shared>,
    parts: &[&Part],
    model: &str,
    settings: &Settings,
    hosts: usize,
    tell: &SyncSender<Told>,
) {
    let mut engines = Vec::new();
    {
        let _wait = WaitsAtLast(&shared.all_have_ended);
        loop {
            let at = shared.next.fetch_add(1, Relaxed);
            if at >= parts.len() || at > shared.failed.load(Relaxed) {
                break;
            }
            let run = || {
                let mut engine = Engine::<N>::new(&parts[at].scenario, model, settings, hosts)?;
                Ok((engine.run()?, engine))
            };
            match watched(shared, run) {
                Ok((end, engine)) => {
                    shared.end.fetch_max(end.0, Relaxed);
                    engines.push((at, engine));
                }
                Err(error) => {
                    shared.failed.fetch_min(at, Relaxed);
                    tell.send((at, Err(error))).expect("the caller listens until all have ended");
                }
            }
        }
    }
    if shared.failed.load(Relaxed) < NONE {
        return;
    }
    let end = Nanos(shared.end.load(Relaxed));
    for (at, engine) in engines {
        tell.send((at, watched(shared, || engine.finish(end))))
            .expect("the caller listens until all have ended");
    }
}

/// Does something that ends when all are to stop.
fn watched<T>(
    shared: &Arc<Shared>,
    work: impl FnOnce() -> Result<T, SimulationError>,
) -> Result<T, SimulationError> {
    let shared = Arc::clone(shared);
    let interrupt = move |now: Nanos| {
        shared.now.store(now.0, Relaxed);
        shared.stop.load(Relaxed)
    };
    stop::watched(Some(Box::new(interrupt)), work).unwrap_or(Err(SimulationError::Interrupted))
}
