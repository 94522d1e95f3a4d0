//! Lets the programs of one run know of each other, as jobs of fio do that share memory.

use std::any::Any;
use std::sync::{Arc, Mutex};

/// What the programs of one run share. Each run has its own, so that two runs of the same programs know nothing of each other.
#[derive(Clone, Default)]
pub struct Beside(Arc<Mutex<Vec<Shared>>>);

/// A key, and the state that belongs to it.
type Shared = (usize, Arc<dyn Any + Send + Sync>);

impl Beside {
    /// The state of a key; the first program that asks makes it.
    ///
    /// # Panics
    /// If two kinds of programs use the same key: it is an address of something that they hold.
    #[must_use]
    pub fn of<T: Any + Send + Sync>(&self, key: usize, make: impl FnOnce() -> T) -> Arc<T> {
        let mut all = self.0.lock().expect("nobody panics while he holds it");
        let found = all.iter().find(|(known, _)| *known == key).map(|(_, shared)| Arc::clone(shared));
        let shared = found.unwrap_or_else(|| {
            let made: Arc<dyn Any + Send + Sync> = Arc::new(make());
            all.push((key, Arc::clone(&made)));
            made
        });
        shared.downcast().expect("a key has one kind of state")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_state_in_a_run() {
        let run = Beside::default();
        *run.of(1, || Mutex::new(1)).lock().unwrap() += 1;
        assert_eq!(*run.clone().of(1, || Mutex::new(7)).lock().unwrap(), 2);
        assert_eq!(*run.of(2, || Mutex::new(7)).lock().unwrap(), 7);
        assert_eq!(*Beside::default().of(1, || Mutex::new(5)).lock().unwrap(), 5);
    }
}
