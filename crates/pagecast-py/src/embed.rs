//! Wraps `pagecast_core::embed`: the page cache of one host inside a simulator in Python, and the disks of its machine.
//!
//! The calls and their order are described there. Times are whole nanoseconds.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use pagecast_core::ALL_MODELS;
use pagecast_core::embed::{self, Direction, EmbedError, Rate, TaskId, TransferId};
use pagecast_core::result::Part;
use pagecast_core::units::Nanos;
use pagecast_core::workload::IoPriority;
use pyo3::prelude::*;

use crate::errors;
use crate::operation::Operation;
use crate::quantity::{Amount, bytes, path};
use crate::scenario::Machine;

/// Task, path, operation, count, bytes, times.
type LatencyRow = (Option<String>, Option<String>, &'static str, u64, u64, [f64; 6]);

/// The page cache of one host inside somebody else's simulator.
#[pyclass(module = "pagecast._core")]
pub struct PageCache {
    /// Never locked: it makes what one thread at a time may use shareable, as Python's objects are.
    cache: Mutex<embed::PageCache>,
    /// Name, and the rates of reads and of writes that the machine says, in bytes per second.
    disks: Vec<(String, f64, f64)>,
    /// Its model has had no answer.
    is_useless: bool,
}

impl PageCache {
    /// The exception for what it cannot do.
    fn refuse(&mut self, error: &EmbedError) -> PyErr {
        self.is_useless |= matches!(error, EmbedError::NoAnswer { .. });
        errors::embed(error)
    }

    fn cache(&mut self) -> &mut embed::PageCache {
        self.cache.get_mut().expect("nobody ever locks it")
    }
}

#[pymethods]
impl PageCache {
    #[new]
    #[pyo3(signature = (machine, model, *, options))]
    fn new(machine: &Machine, model: &str, options: BTreeMap<String, String>) -> PyResult<Self> {
        let options: Vec<_> = options.into_iter().collect();
        let cache = embed::PageCache::new(machine.0.clone(), model, &options).map_err(|error| {
            let is_model = !ALL_MODELS.contains(&model) || error.place.starts_with("option ");
            if is_model { errors::model(&error) } else { errors::scenario(&error) }
        })?;
        let disks = machine.0.hosts[0].disks.iter();
        let disks = disks.map(|disk| (disk.name.clone(), disk.read.0, disk.write.0)).collect();
        Ok(Self { cache: Mutex::new(cache), disks, is_useless: false })
    }

    /// Name and rates of each disk; orders refer to them by index.
    #[getter]
    fn disks(&self) -> Vec<(String, f64, f64)> {
        self.disks.clone()
    }

    /// Whether its model has had no answer: nothing can be done with it any more.
    #[getter]
    fn is_useless(&self) -> bool {
        self.is_useless
    }

    /// A file that no task has written, there from now on.
    fn add_file(
        &mut self,
        #[pyo3(from_py_with = path)] path: Arc<str>,
        size_bytes: Amount,
        cached_bytes: Amount,
        dirty_bytes: Amount,
    ) -> PyResult<()> {
        let (size, cached) = (bytes("size_bytes", size_bytes)?, bytes("cached_bytes", cached_bytes)?);
        let dirty = bytes("dirty_bytes", dirty_bytes)?;
        let now = self.cache().now();
        self.cache().add_file(now, &path, size, cached, dirty).map_err(|error| errors::embed(&error))
    }

    fn add_task(&mut self, name: &str) -> u32 {
        self.cache().add_task(name).0
    }

    /// Of the random numbers of patterns.
    fn set_seed(&mut self, seed: u64) {
        self.cache().set_seed(seed);
    }

    /// Gives the requests of a task a priority; false if the text is none.
    fn set_priority(&mut self, task: u32, ionice: &str) -> PyResult<bool> {
        let Some(priority) = IoPriority::parse(ionice) else { return Ok(false) };
        let outcome = self.cache().set_priority(TaskId(task), priority);
        outcome.map(|()| true).map_err(|error| self.refuse(&error))
    }

    fn remove_task(&mut self, now_ns: u64, task: u32) -> PyResult<()> {
        let outcome = self.cache().remove_task(Nanos(now_ns), TaskId(task));
        outcome.map_err(|error| self.refuse(&error))
    }

    fn begin(&mut self, now_ns: u64, task: u32, operation: &Operation) -> PyResult<()> {
        let outcome = self.cache().begin_operation(Nanos(now_ns), TaskId(task), &operation.0);
        outcome.map_err(|error| self.refuse(&error))
    }

    fn completed(&mut self, now_ns: u64, transfer: u64) -> PyResult<()> {
        let outcome = self.cache().completed(Nanos(now_ns), TransferId(transfer));
        outcome.map_err(|error| self.refuse(&error))
    }

    /// Time has come to `now_ns`, and transfers have these rates.
    fn advance(&mut self, now_ns: u64, rates: Vec<(u64, f64)>) -> PyResult<()> {
        let rate = |&(number, bytes_per_s): &(u64, f64)| Rate { transfer: TransferId(number), bytes_per_s };
        let rates: Vec<Rate> = rates.iter().map(rate).collect();
        let outcome = self.cache().advance(Nanos(now_ns), &rates);
        outcome.map_err(|error| self.refuse(&error))
    }

    /// When `advance` is to be called at the latest, or None.
    fn next_call_ns(&mut self) -> Option<u64> {
        self.cache().next_call().map(|next| next.0)
    }

    /// Takes what is to be done, in this order.
    fn orders(&mut self) -> Vec<Order> {
        self.cache().orders().map(Order).collect()
    }

    /// How long operations took: name of the task, path, operation, count, bytes, and in seconds the mean, percentiles 50, 90, 99 and
    /// 99.9, and the longest.
    fn latencies(&mut self) -> Vec<LatencyRow> {
        let row = |row: embed::LatencyRow<'_>| {
            let seconds = |share| row.latency.quantile(share).as_seconds();
            let times = [
                row.latency.mean().as_seconds(),
                seconds(0.5),
                seconds(0.9),
                seconds(0.99),
                seconds(0.999),
                row.latency.longest.as_seconds(),
            ];
            let (task, path) = (row.task.map(str::to_owned), row.path.map(str::to_owned));
            (task, path, row.operation, row.latency.count, row.latency.bytes, times)
        };
        self.cache().latencies().map(row).collect()
    }

    /// Of the memory: its size, and what is anonymous, cached and dirty, in bytes.
    fn levels(&mut self, now_ns: u64) -> PyResult<(u64, u64, u64, u64)> {
        let levels = self.cache().levels(Nanos(now_ns)).map_err(|error| errors::embed(&error))?;
        Ok((levels.total.0, levels.anonymous.0, levels.cached.0, levels.dirty.0))
    }

    /// Of a file: its size, and what is cached and dirty, in bytes.
    fn file_levels(
        &mut self,
        now_ns: u64,
        #[pyo3(from_py_with = path)] path: Arc<str>,
    ) -> PyResult<(u64, u64, u64)> {
        let size = self.cache().size(&path).map_err(|error| errors::embed(&error))?;
        let held = self.cache().residency(Nanos(now_ns), &path).map_err(|error| errors::embed(&error))?;
        Ok((size.0, held.cached.0, held.dirty.0))
    }
}

/// What the other simulator is to do. What an order of its kind does not have is 0.
#[pyclass(frozen, module = "pagecast._core")]
pub struct Order(embed::Order);

#[pymethods]
impl Order {
    /// "start", "limit", "shorten", "cancel" or "done".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            embed::Order::Start { .. } => "start",
            embed::Order::Limit { .. } => "limit",
            embed::Order::Shorten { .. } => "shorten",
            embed::Order::Cancel { .. } => "cancel",
            embed::Order::Done { .. } => "done",
        }
    }

    /// The transfer that is started or changed.
    #[getter]
    fn transfer(&self) -> u64 {
        match self.0 {
            embed::Order::Start { transfer, .. }
            | embed::Order::Limit { transfer, .. }
            | embed::Order::Shorten { transfer, .. }
            | embed::Order::Cancel { transfer } => transfer.0,
            embed::Order::Done { .. } => 0,
        }
    }

    /// The disk that a transfer is started on.
    #[getter]
    fn disk(&self) -> u32 {
        if let embed::Order::Start { device, .. } = self.0 { device.0 } else { 0 }
    }

    /// Whether the transfer that is started goes to the disk.
    #[getter]
    fn is_write(&self) -> bool {
        matches!(self.0, embed::Order::Start { direction: Direction::Write, .. })
    }

    /// Of a transfer that is started or shortened.
    #[getter]
    fn size_bytes(&self) -> u64 {
        match self.0 {
            embed::Order::Start { bytes, .. } | embed::Order::Shorten { bytes, .. } => bytes,
            _ => 0,
        }
    }

    /// A transfer that is started or limited goes no faster; infinite if it may go as fast as it can.
    #[getter]
    fn limit_bytes_per_s(&self) -> f64 {
        match self.0 {
            embed::Order::Start { limit, .. } | embed::Order::Limit { limit, .. } => {
                limit.unwrap_or(f64::INFINITY)
            }
            _ => 0.0,
        }
    }

    /// Whose operation is done.
    #[getter]
    fn task(&self) -> u32 {
        if let embed::Order::Done { task, .. } = self.0 { task.0 } else { 0 }
    }

    /// Of an operation that is done: bytes that the cache and that a disk served, and the seconds of each part that it has.
    fn outcome(&self) -> (u64, u64, BTreeMap<&'static str, f64>) {
        let embed::Order::Done { outcome, .. } = self.0 else { return Default::default() };
        let part = |part: Part| (part.name(), outcome.parts.get(part));
        let parts = Part::ALL.into_iter().map(part).filter(|&(_, time)| time > Nanos::ZERO);
        let parts = parts.map(|(name, time)| (name, time.as_seconds())).collect();
        (outcome.from_cache.0, outcome.from_device.0, parts)
    }
}

/// The disks of a machine, shared as in our own engine.
#[pyclass(module = "pagecast._core")]
pub struct Disks(Mutex<embed::Disks>);

impl Disks {
    fn disks(&mut self) -> &mut embed::Disks {
        self.0.get_mut().expect("nobody ever locks it")
    }
}

#[pymethods]
impl Disks {
    /// The disks of a machine's first host.
    #[new]
    fn new(machine: &Machine) -> Self {
        Self(Mutex::new(embed::Disks::new(&machine.0.hosts[0])))
    }

    /// Does what an order says of a transfer that was started here.
    fn carry_out(&mut self, now_ns: u64, order: &Order) {
        self.disks().carry_out(Nanos(now_ns), &order.0);
    }

    /// Rates of transfers that are to be told, in bytes per second.
    fn rates(&mut self, now_ns: u64) -> Vec<(u64, f64)> {
        let rates = self.disks().rates(Nanos(now_ns));
        rates.iter().map(|rate| (rate.transfer.0, rate.bytes_per_s)).collect()
    }

    fn next_event_ns(&mut self) -> Option<u64> {
        self.disks().next_event().map(|next| next.0)
    }

    /// Takes out the transfers that have moved all their bytes.
    fn completed(&mut self, now_ns: u64) -> Vec<u64> {
        self.disks().completed(Nanos(now_ns)).iter().map(|transfer| transfer.0).collect()
    }
}
