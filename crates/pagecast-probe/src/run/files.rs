//! Keeps the files of a scenario open for observers.
//!
//! A removed file gives its pages back when nobody has it open any more. So observers keep files open here, and the process that removes
//! one closes it first.

use std::sync::{Mutex, MutexGuard};

/// One place for each file that is known before the run; of each, one who looks may have it open.
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

    /// Closes files for those who look; nobody opens them again before the answer is gone. The numbers rise.
    pub fn keep_closed(&self, files: &[u32]) -> Vec<MutexGuard<'_, Option<F>>> {
        debug_assert!(files.is_sorted(), "who locks several does so in one order");
        let known = files.iter().map(|&file| file as usize).take_while(|&file| file < self.held.len());
        let closed = known.map(|file| {
            let mut held = self.hold(file);
            *held = None;
            held
        });
        closed.collect()
    }
}
