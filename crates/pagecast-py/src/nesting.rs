//! Limits how deep Python and the core call each other: a program may simulate a scenario, whose programs may simulate another one.
//!
//! Each level takes native stack, which Python's own limit of recursion does not count.

use std::cell::Cell;

use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;

/// A level takes up to 20 kB: so many fit into an eighth of the usual stack of 8 MB, and into that of a small thread.
const DEEPEST: u32 = 50;

thread_local! {
    /// How many calls into Python are under way on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Calls Python from within the core.
///
/// # Errors
/// `RecursionError` if that happens within too many such calls; what the call fails with.
pub fn into_python<T>(call: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let _level = Level::enter()?;
    call()
}

struct Level;

impl Level {
    fn enter() -> PyResult<Self> {
        DEPTH.with(|depth| match depth.get() {
            DEEPEST => Err(PyRecursionError::new_err(format!(
                "programs simulate scenarios whose programs simulate scenarios, {DEEPEST} deep; \
                 does a program simulate its own scenario?"
            ))),
            now => {
                depth.set(now + 1);
                Ok(Self)
            }
        })
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get() - 1));
    }
}
