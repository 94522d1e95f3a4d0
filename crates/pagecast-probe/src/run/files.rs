//! Keeps the files of a scenario open for observers.
//!
//! A removed file gives its pages back when nobody has it open any more. So observers keep files open here, and the process that removes
//! one closes it first.

use std::sync::{Mutex, MutexGuard};

/// One place for each file of a plan; of each, one who looks may have it open.
pub(super) struct Files<F> {
    held: Vec<Mutex<Option<F>>>,
}

impl<F> Files<F> {
    pub fn new(count: usize) -> Self {
        Self { held: (0..count).map(|_| Mutex::new(None)).collect() }
    }

    /// The file, while nobody removes it.
    pub fn hold(&self, file: usize) -> MutexGuard<'_, Option<F>> {
        self.held[file].lock().expect("nobody panics while he looks at a file")
    }

    /// Closes the file for those who look; nobody opens it again before the answer is gone.
    pub fn keep_closed(&self, file: usize) -> MutexGuard<'_, Option<F>> {
        let mut held = self.hold(file);
        *held = None;
        held
    }
}
