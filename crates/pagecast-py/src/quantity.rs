//! Numbers, paths and words as Python gives them.

use std::path::{Component, PathBuf};
use std::sync::Arc;

use pagecast_core::units::{Bytes, BytesPerSecond, Fraction, Nanos};
use pagecast_core::workload::MOST_PLACES;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::ScenarioError;

/// 2^53: a float above it does not hold every whole number, and no machine we model is larger.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// A number as Python gives it, or what was given instead of one: only who knows the name of the argument can say what is wrong.
#[derive(Clone)]
pub struct Amount(Result<f64, String>);

impl From<f64> for Amount {
    fn from(value: f64) -> Self {
        Self(Ok(value))
    }
}

impl<'py> FromPyObject<'_, 'py> for Amount {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<f64>() {
            Ok(number) => Ok(Self(Ok(number))),
            Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
                Ok(Self(Err(format!("{} is a {}", value.repr()?, value.get_type().name()?))))
            }
            Err(error) => Err(error),
        }
    }
}

/// `value` as a size, rounded to whole bytes. `name` is the argument's, for the message.
pub fn bytes(name: &str, value: impl Into<Amount>) -> PyResult<Bytes> {
    let value = number(name, value.into(), "bytes; write 20e9 for 20 GB")?;
    checked(name, value, 1.0, "a size").map(Bytes)
}

/// `value` as a size of at least one byte.
pub fn positive_bytes(name: &str, value: Amount) -> PyResult<Bytes> {
    match bytes(name, value.clone())? {
        Bytes::ZERO => {
            let value = number(name, value, "bytes")?;
            Err(ScenarioError::new_err(format!("{name}={value}: must be at least one byte")))
        }
        size => Ok(size),
    }
}

/// A piece of a file: its first byte, and how many unless it goes up to the end.
pub fn part(offset_bytes: Amount, size_bytes: Option<Amount>) -> PyResult<(u64, Option<Bytes>)> {
    let offset = bytes("offset_bytes", offset_bytes)?.0;
    Ok((offset, size_bytes.map(|size| positive_bytes("size_bytes", size)).transpose()?))
}

/// The bytes of one call, unless one moves all.
pub fn call_size(call_bytes: Option<Amount>) -> PyResult<Option<Bytes>> {
    call_bytes.map(|call| positive_bytes("call_bytes", call)).transpose()
}

/// In how many places of memory a call has its bytes.
pub fn places(vector: i64) -> PyResult<u32> {
    let places = u32::try_from(vector).ok().filter(|places| (1..=MOST_PLACES).contains(places));
    places.ok_or_else(|| {
        ScenarioError::new_err(format!("vector={vector}: must be a whole number from 1 to {MOST_PLACES}"))
    })
}

/// `value` seconds as a time, rounded to whole nanoseconds.
pub fn seconds(name: &str, value: impl Into<Amount>) -> PyResult<Nanos> {
    let value = number(name, value.into(), "seconds")?;
    checked(name, value, 1e9, "a time").map(Nanos)
}

fn number(name: &str, value: Amount, of: &str) -> PyResult<f64> {
    value.0.map_err(|given| PyTypeError::new_err(format!("{name}={given}, not a number of {of}")))
}

fn checked(name: &str, value: f64, scale: f64, what: &str) -> PyResult<u64> {
    let wrong = if !value.is_finite() {
        "must be a finite number"
    } else if value < 0.0 {
        "cannot be negative"
    } else if value * scale > LARGEST {
        "is too large"
    } else {
        return Ok((value * scale).round() as u64);
    };
    Err(ScenarioError::new_err(format!("{name}={value}: {what} {wrong}")))
}

/// A path of the simulated host: a `str` or path-like, UTF-8, absolute.
pub fn path(value: &Bound<'_, PyAny>) -> PyResult<Arc<str>> {
    let path: PathBuf = value.extract()?;
    let Some(text) = path.to_str() else {
        return Err(ScenarioError::new_err(format!("path {path:?} is not UTF-8; rename the file")));
    };
    let wrong = |what: &str| Err(ScenarioError::new_err(format!("path {text:?} {what}")));
    if !text.starts_with('/') {
        return wrong("is not absolute; begin it with `/`");
    }
    if text.contains(char::is_control) {
        return wrong("has a control character; remove it");
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return wrong("has \"..\" in it; write the path out");
    }
    // The normal form of scenario files: no slash at the end, no empty or "." parts.
    let normal: PathBuf = path.components().collect();
    Ok(normal.to_str().expect("a part of a UTF-8 path is UTF-8").into())
}

/// A list of strings; one string alone is none.
pub fn texts(list: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if list.is_instance_of::<PyString>() {
        let text = list.repr()?;
        return Err(PyTypeError::new_err(format!("{text} is a string; write [{text}]")));
    }
    list.extract()
}

/// The position of `word` among `words`.
pub fn one_of(name: &str, word: &str, words: &[&str]) -> PyResult<usize> {
    words.iter().position(|known| *known == word).ok_or_else(|| {
        ScenarioError::new_err(format!("{name}={word:?} is not known; choose one of {}", words.join(", ")))
    })
}

/// A size as a person reads it: "20 GB".
#[pyfunction]
#[pyo3(signature = (size_bytes, /))]
pub fn format_bytes(size_bytes: u64) -> String {
    Bytes(size_bytes).to_string()
}

/// A size as a person writes it, "4 GiB", in bytes.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub fn parse_bytes(text: &str) -> PyResult<u64> {
    Bytes::parse(text).map(|size| size.0).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// A percentage as a person writes it, "15 %", as a fraction.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub fn parse_percent(text: &str) -> PyResult<f64> {
    Fraction::parse(text).map(|part| part.0).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// A rate as a person reads it: "465 MB/s".
#[pyfunction]
#[pyo3(signature = (rate_bytes_per_s, /))]
pub fn format_rate(rate_bytes_per_s: f64) -> String {
    BytesPerSecond(rate_bytes_per_s).to_string()
}
