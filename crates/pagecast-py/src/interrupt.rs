//! Lets Ctrl-C through while the core does something that takes long.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pagecast_core::stop::{self, Interrupt};
use pagecast_core::units::Nanos;
use pyo3::prelude::*;

use crate::nesting::into_python;

/// How often Python is asked whether Ctrl-C was pressed: well below the 100 ms that a person notices.
const SIGNAL_PERIOD: Duration = Duration::from_millis(20);
/// How often progress is reported at most.
const PROGRESS_PERIOD: Duration = Duration::from_millis(100);

/// Does some work without the interpreter lock, which Ctrl-C can stop.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let watch = Watch::new(None);
    let why = watch.why();
    match py.detach(|| stop::watched(Some(watch.into_interrupt()), work)) {
        Ok(done) => Ok(done),
        Err(_) => Err(why.take().expect("the core stops where it is told to")),
    }
}

/// The same, and reports how much is done now and then: `progress` is called with what `share` gives.
pub fn reporting<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    share: impl FnMut() -> f64 + Send + 'static,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let mut watch = Watch::new(progress);
    watch.share = Some(Box::new(share));
    let why = watch.why();
    match py.detach(|| stop::watched(Some(watch.into_interrupt()), work)) {
        Ok(done) => Ok(done),
        Err(_) => Err(why.take().expect("the core stops where it is told to")),
    }
}

/// Why the core was stopped.
#[derive(Clone, Default)]
pub struct Why(Arc<Mutex<Option<PyErr>>>);

impl Why {
    /// The exception of a signal handler, or of who was told of progress.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().expect("nobody panics with it").take()
    }
}

/// Looks at the outside world now and then.
pub struct Watch {
    progress: Option<Py<PyAny>>,
    /// How much is done, if that is known.
    share: Option<Box<dyn FnMut() -> f64 + Send>>,
    looked: Instant,
    reported: Instant,
    why: Why,
}

impl Watch {
    /// Calls `progress` with a fraction and the simulated seconds.
    pub fn new(progress: Option<Py<PyAny>>) -> Self {
        let now = Instant::now();
        Self { progress, share: None, looked: now, reported: now, why: Why::default() }
    }

    /// Where it will be said why the core was stopped.
    pub fn why(&self) -> Why {
        self.why.clone()
    }

    /// What the core asks.
    pub fn into_interrupt(mut self) -> Interrupt {
        Box::new(move |now| self.look(now))
    }

    /// True if the core must stop.
    fn look(&mut self, now: Nanos) -> bool {
        if self.looked.elapsed() < SIGNAL_PERIOD {
            return false;
        }
        let error = Python::attach(|py| self.ask_python(py, now)).err();
        self.looked = Instant::now();
        let stops = error.is_some();
        *self.why.0.lock().expect("nobody panics with it") = error;
        stops
    }

    fn ask_python(&mut self, py: Python<'_>, now: Nanos) -> PyResult<()> {
        py.check_signals()?;
        let Some(progress) = &self.progress else { return Ok(()) };
        if self.reported.elapsed() >= PROGRESS_PERIOD {
            self.reported = Instant::now();
            match &mut self.share {
                Some(share) => {
                    let share = share();
                    into_python(|| progress.call1(py, (share,)))?;
                }
                // How much is left is not known: programs may be generators that go on for ever.
                None => drop(into_python(|| progress.call1(py, (f64::NAN, now.as_seconds())))?),
            }
        }
        Ok(())
    }
}
