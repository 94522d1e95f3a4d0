//! Keeps values by numbers that are used again when their values have been taken.

/// Values by their numbers.
#[derive(Debug)]
pub(super) struct Slab<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { all: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Keeps a value; gives its number.
    pub(super) fn add(&mut self, value: T) -> u32 {
        let at = self.free.pop().unwrap_or(self.all.len() as u32);
        if at as usize == self.all.len() {
            self.all.push(None);
        }
        self.all[at as usize] = Some(value);
        at
    }

    /// A value that is kept.
    pub(super) fn get(&self, at: u32) -> &T {
        self.all[at as usize].as_ref().expect("only what is kept is looked up")
    }

    /// The same, to change it.
    pub(super) fn get_mut(&mut self, at: u32) -> &mut T {
        self.all[at as usize].as_mut().expect("only what is kept is looked up")
    }

    /// Takes a value that is kept.
    pub(super) fn remove(&mut self, at: u32) -> T {
        self.free.push(at);
        self.all[at as usize].take().expect("only what is kept is taken")
    }
}
