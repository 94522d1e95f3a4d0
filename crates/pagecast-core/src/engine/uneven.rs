//! Keeps the weights of the streams that devices serve unequally.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::device;
use crate::flow::{ResourceId, Route};

/// A resource that serves equal streams unequally.
pub(super) struct Uneven {
    pub(super) resource: ResourceId,
    /// Host and disk.
    pub(super) disk: String,
    pub(super) variation: f64,
}

/// The resources that serve equal streams unequally, with the weights that were asked for.
pub(super) struct Weights {
    seed: u64,
    uneven: Vec<Uneven>,
    /// By the index of a resource among those above, and process.
    drawn: RefCell<FxHashMap<(usize, u32), f64>>,
}

impl Weights {
    pub(super) fn new(seed: u64, uneven: Vec<Uneven>) -> Self {
        Self { seed, uneven, drawn: RefCell::default() }
    }

    /// True if no resource serves streams unequally.
    pub(super) fn are_one(&self) -> bool {
        self.uneven.is_empty()
    }

    /// The weight of the streams of a process on a route; `name` is called for its name.
    pub(super) fn of<'a>(&self, route: &Route, process: u32, name: impl FnOnce() -> &'a str) -> f64 {
        let crosses = |each: &Uneven| route.uses().iter().any(|used| used.resource == each.resource);
        let Some(place) = self.uneven.iter().position(crosses) else { return 1.0 };
        let draw = || {
            let uneven = &self.uneven[place];
            device::stream_weight(self.seed, &uneven.disk, name(), uneven.variation)
        };
        *self.drawn.borrow_mut().entry((place, process)).or_insert_with(draw)
    }
}
