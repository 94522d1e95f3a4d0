//! Reads the order of many calls of one operation as Python gives it.

use std::sync::Arc;

use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{self, Action, AsyncBy, Order};
use pyo3::prelude::*;

use crate::errors::{ArgumentTypeError, ScenarioError};
use crate::quantity::{Amount, Flag, Whole, Word, name_of, one_of, positive_bytes, real, seconds, shown};

const SEEDS: &str = "must be a whole number from 0 to 9223372036854775807";

/// The most calls or operations under way at once.
const MOST_DEPTH: i64 = 65_536;

/// The order, the rate and the depth of the calls of one `read` or `write`, which needs `call_bytes`.
///
/// Parameters
/// ----------
/// random : str, optional
///     "uniform", "zipf:THETA", "pareto:H" with H from 0 to 1, or "normal:DEVIATION %" of the part.
/// once : bool
///     With "uniform": no place a second time before all others.
/// backwards : bool
///     From the end to the start. Without it, `random` and `stride_bytes` the calls are sequential.
/// stride_bytes : float, optional
///     From the start of a call to that of the next: a multiple of `call_bytes`.
/// within_bytes : float, optional
///     Of the part that the calls are in; `size_bytes` if not given, of a read the whole file.
/// writes : float
///     Of a read: the share of its calls that write, 0 to 1.
/// depth : int
///     How many calls are under way at once.
/// by : {"threads", "libaio", "io_uring", "posix_aio"}
///     The interface of calls at once.
/// rate_bytes_per_s, rate_iops : float, optional
///     The calls move no more than this, or are no more per second.
/// for_s : float, optional
///     The calls go on for this time. The size of the operation is then that of the part.
/// seed : int
///     Another one gives another random order.
///
/// Raises
/// ------
/// ScenarioError
///     Two orders, or a number that cannot be.
#[pyclass(frozen, eq, module = "pagecast._core")]
#[derive(Clone, PartialEq)]
pub struct Pattern {
    order: Order,
    within: Option<Bytes>,
    writes: f64,
    depth: u32,
    by: AsyncBy,
    rate: Option<f64>,
    rate_iops: Option<f64>,
    time: Option<Nanos>,
    seed: u64,
}

#[pymethods]
impl Pattern {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they are keywords of Python")]
    #[pyo3(
        signature = (random=None, *, once=Flag::from(false), backwards=Flag::from(false), stride_bytes=None, within_bytes=None, writes=Amount::from(0.0), depth=Whole::from(1), by=Word::from("threads"), rate_bytes_per_s=None, rate_iops=None, for_s=None, seed=Whole::from(0)),
        text_signature = "(random=None, *, once=False, backwards=False, stride_bytes=None, within_bytes=None, writes=0, depth=1, by='threads', rate_bytes_per_s=None, rate_iops=None, for_s=None, seed=0)"
    )]
    fn new(
        random: Option<Word>,
        once: Flag,
        backwards: Flag,
        stride_bytes: Option<Amount>,
        within_bytes: Option<Amount>,
        writes: Amount,
        depth: Whole,
        by: Word,
        rate_bytes_per_s: Option<Amount>,
        rate_iops: Option<Amount>,
        for_s: Option<Amount>,
        seed: Whole,
    ) -> PyResult<Self> {
        let writes = real("writes", writes)?;
        if !(0.0..=1.0).contains(&writes) {
            return Err(ScenarioError::new_err(format!("writes={writes}: must be from 0 to 1")));
        }
        let stride = stride_bytes.map(|stride| positive_bytes("stride_bytes", stride)).transpose()?;
        let seed = seed.named("seed", "a whole number", SEEDS)?;
        let seed =
            u64::try_from(seed).map_err(|_| ScenarioError::new_err(format!("seed={seed}: {SEEDS}")))?;
        let pattern = Self {
            order: order(random, once.truth("once")?, backwards.truth("backwards")?, stride)?,
            within: within_bytes.map(|within| positive_bytes("within_bytes", within)).transpose()?,
            writes,
            depth: depth_of(depth)?,
            by: interface(by)?,
            rate: rate_bytes_per_s.map(|rate| positive("rate_bytes_per_s", rate)).transpose()?,
            rate_iops: rate_iops.map(|rate| positive("rate_iops", rate)).transpose()?,
            time: for_s.map(|time| seconds("for_s", time)).transpose()?,
            seed,
        };
        if pattern.rate.is_some() && pattern.rate_iops.is_some() {
            return Err(ScenarioError::new_err(
                "both rate_bytes_per_s and rate_iops are given; remove one of them",
            ));
        }
        Ok(pattern)
    }
}

impl Pattern {
    /// Makes calls of a read or write in this order.
    pub fn of(
        &self,
        path: Arc<str>,
        offset: u64,
        (bytes, call): (Option<Bytes>, Option<Bytes>),
        is_write: bool,
    ) -> PyResult<Action> {
        let Some(call) = call else {
            return Err(ScenarioError::new_err(
                "a pattern is about calls; give call_bytes, for example 4096",
            ));
        };
        if let Order::Strided { stride } = self.order
            && !stride.0.is_multiple_of(call.0)
        {
            let what =
                format!("stride_bytes={} is no multiple of call_bytes={}; make it one", stride.0, call.0);
            return Err(ScenarioError::new_err(what));
        }
        if is_write && self.writes > 0.0 {
            return Err(ScenarioError::new_err(
                "writes= is the share of a read that writes; make this a read",
            ));
        }
        let Self { order, within, writes, depth, by, rate, rate_iops, time, seed } = *self;
        Ok(Action::Pattern(Box::new(workload::Pattern {
            path,
            offset,
            range: within.or(bytes.filter(|_| time.is_some())),
            bytes: bytes.filter(|_| time.is_none()),
            time,
            call,
            order,
            write_share: if is_write { 1.0 } else { writes },
            depth,
            by,
            rate: rate.map(|rate| rate / call.as_f64()).or(rate_iops),
            seed,
        })))
    }
}

fn order(random: Option<Word>, once: bool, backwards: bool, stride: Option<Bytes>) -> PyResult<Order> {
    let order = match (random, backwards, stride) {
        (None, false, None) => Order::Sequential,
        (None, true, None) => Order::Backwards,
        (None, false, Some(stride)) => Order::Strided { stride },
        (Some(random), false, None) => {
            let text = name_of("random", random)?;
            Order::random(&text, once).ok_or_else(|| {
                ScenarioError::new_err(format!("random={text:?} is not known; write {}", Order::RANDOM))
            })?
        }
        _ => {
            return Err(ScenarioError::new_err(
                "a pattern has two orders; keep one of random, backwards and stride_bytes",
            ));
        }
    };
    if once && order != (Order::Uniform { once }) {
        return Err(ScenarioError::new_err("once=True is for random=\"uniform\" alone; remove it"));
    }
    Ok(order)
}

/// The argument `pattern`.
pub fn pattern_or_none(value: &Bound<'_, PyAny>) -> PyResult<Option<Pattern>> {
    if value.is_none() {
        return Ok(None);
    }
    let Ok(pattern) = value.cast::<Pattern>() else {
        let (shown, kind) = (shown(value), value.get_type().name()?);
        return Err(ArgumentTypeError::new_err(format!("pattern={shown} is a {kind}, not a Pattern")));
    };
    Ok(Some(pattern.get().clone()))
}

/// How many operations or calls may be under way.
pub fn depth_of(depth: Whole) -> PyResult<u32> {
    let range = format!("must be a whole number from 1 to {MOST_DEPTH}");
    let depth = depth.named("depth", "a whole number", &range)?;
    if (1..=MOST_DEPTH).contains(&depth) {
        return Ok(depth as u32);
    }
    Err(ScenarioError::new_err(format!("depth={depth}: {range}")))
}

/// The interface of asynchronous operations or calls.
pub fn interface(by: Word) -> PyResult<AsyncBy> {
    Ok(AsyncBy::ALL[one_of("by", by, &AsyncBy::NAMES)?])
}

fn positive(name: &str, value: Amount) -> PyResult<f64> {
    let value = real(name, value)?;
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(ScenarioError::new_err(format!("{name}={value}: must be a finite number above 0")))
}
