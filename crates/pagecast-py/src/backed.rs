//! Tells `validate` how much free memory the host of a machine has not taken back.

use pagecast_core::policy::kernel::{self, Fragments};
use pagecast_core::units::Nanos;
use pyo3::prelude::*;

/// Free memory that the host of a virtual machine has not taken back, by the rule of the model `kernel`; at first none.
#[pyclass(module = "pagecast._core")]
#[derive(Default)]
pub struct Backed(Option<kernel::Backed>);

#[pymethods]
impl Backed {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Bytes of it.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.map_or(0, |backed| backed.bytes())
    }

    /// See what has become free or was taken since the last look.
    ///
    /// Parameters
    /// ----------
    /// now_s : float
    ///     Of a clock that goes forward.
    /// free_bytes : int
    ///     Memory that nobody uses.
    /// free_blocks : sequence of int, optional
    ///     How many blocks of it there are of each order, as /proc/buddyinfo tells. Default: as at the last look, at
    ///     first all of it in large ones.
    #[pyo3(signature = (now_s, free_bytes, free_blocks=None))]
    fn look(&mut self, now_s: f64, free_bytes: u64, free_blocks: Option<Vec<u64>>) {
        let backed = self.0.get_or_insert_with(|| kernel::Backed::new(0, Fragments::default(), free_bytes));
        if let Some(blocks) = free_blocks {
            backed.fragment(kernel::fragments_of(blocks));
        }
        backed.observe(Nanos::from_seconds(now_s), free_bytes, 0, 1);
    }
}
