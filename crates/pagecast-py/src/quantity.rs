//! Reads numbers, paths and words as Python gives them.

use std::fmt::Display;
use std::path::{Component, PathBuf};
use std::sync::Arc;

use pagecast_core::units::{Bytes, BytesPerSecond, Fraction, Nanos};
use pagecast_core::workload::MOST_PLACES;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{ArgumentTypeError, ScenarioError};

/// 2^53: a float above it does not hold every whole number, and no machine we model is larger.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// A size that rounding to whole bytes changes by more than this part of itself is a mistake, and not the noise of floats.
const ROUNDED: f64 = 1e-9;

/// An argument as Python gives it, or what was given instead: only who knows the argument's name can say what is wrong.
#[derive(Clone)]
pub struct Given<T>(Result<T, Misfit>);

/// A number.
pub type Amount = Given<f64>;
/// A whole number.
pub type Whole = Given<i64>;
/// A text.
pub type Word = Given<String>;
/// True or false.
pub type Flag = Given<bool>;

/// What was given instead of what is wanted, written out.
#[derive(Clone)]
enum Misfit {
    /// Something of another type: the value and its type.
    Type(String, String),
    /// A number that the wanted type does not hold, or a text that is not UTF-8.
    Value(String),
}

impl<T> From<T> for Given<T> {
    fn from(value: T) -> Self {
        Self(Ok(value))
    }
}

impl<T: AsRef<str> + ?Sized> From<&T> for Word {
    fn from(word: &T) -> Self {
        Self(Ok(word.as_ref().to_owned()))
    }
}

impl<'py, T> FromPyObject<'_, 'py> for Given<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let error: PyErr = match T::extract(value) {
            Ok(found) => return Ok(Self(Ok(found))),
            Err(error) => error.into(),
        };
        let py = value.py();
        if error.is_instance_of::<PyTypeError>(py) {
            return Ok(Self(Err(Misfit::Type(shown(&value), value.get_type().name()?.to_string()))));
        }
        if error.is_instance_of::<PyOverflowError>(py) || error.is_instance_of::<PyUnicodeError>(py) {
            return Ok(Self(Err(Misfit::Value(shown(&value)))));
        }
        Err(error)
    }
}

impl<T> Given<T> {
    /// The value; `wanted` says what it should be, as in "a number of seconds", `range` what is wrong with one that does not fit.
    pub fn named(self, name: &str, wanted: impl Display, range: impl Display) -> PyResult<T> {
        self.0.map_err(|misfit| match misfit {
            Misfit::Type(value, kind) => {
                ArgumentTypeError::new_err(format!("{name}={value} is a {kind}, not {wanted}"))
            }
            Misfit::Value(value) => ScenarioError::new_err(format!("{name}={value}: {range}")),
        })
    }
}

impl Flag {
    /// True or false.
    pub fn truth(self, name: &str) -> PyResult<bool> {
        self.named(name, "True or False", "must be True or False")
    }
}

/// A value as Python writes it, its beginning if that is long.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    // There are values that cannot be written: Python refuses to print a number of over 4300 digits.
    let text = value.repr().map(|text| text.to_string_lossy().into_owned());
    short(text.unwrap_or_else(|_| "(a value that cannot be printed)".to_owned()))
}

/// The text, or its beginning if it is long.
fn short(text: String) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// `value` as a size in whole bytes. `name` is the argument's, for the message.
pub fn bytes(name: &str, value: impl Into<Amount>) -> PyResult<Bytes> {
    let value = number(name, value.into(), "a size", "bytes; write 20e9 for 20 GB")?;
    let size = checked(name, value, 1.0, "a size")?;
    if (value - size as f64).abs() > ROUNDED * value {
        return Err(ScenarioError::new_err(format!(
            "{name}={value}: a size must be a whole number of bytes"
        )));
    }
    Ok(Bytes(size))
}

/// `value` as a size of at least one byte.
pub fn positive_bytes(name: &str, value: Amount) -> PyResult<Bytes> {
    match bytes(name, value.clone())? {
        Bytes::ZERO => {
            let value = number(name, value, "a size", "bytes")?;
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
pub fn places(vector: Whole) -> PyResult<u32> {
    const RANGE: &str = "must be a whole number from 1 to";
    let vector = vector.named("vector", "a whole number", format_args!("{RANGE} {MOST_PLACES}"))?;
    let places = u32::try_from(vector).ok().filter(|places| (1..=MOST_PLACES).contains(places));
    places.ok_or_else(|| ScenarioError::new_err(format!("vector={vector}: {RANGE} {MOST_PLACES}")))
}

/// `value` seconds as a time, rounded to whole nanoseconds.
pub fn seconds(name: &str, value: impl Into<Amount>) -> PyResult<Nanos> {
    let value = number(name, value.into(), "a time", "seconds")?;
    checked(name, value, 1e9, "a time").map(Nanos)
}

/// `value` as a number of which only the one who asks knows the range.
pub fn real(name: &str, value: Amount) -> PyResult<f64> {
    value.named(name, "a number", "is too large")
}

fn number(name: &str, value: Amount, what: &str, of: &str) -> PyResult<f64> {
    value.named(name, format_args!("a number of {of}"), format_args!("{what} is too large"))
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
    let Ok(path) = value.extract::<PathBuf>() else {
        let kind = value.get_type().name()?;
        let what = format!("path {} is a {kind}, not a str or path-like", shown(value));
        return Err(ArgumentTypeError::new_err(what));
    };
    let Some(text) = path.to_str() else {
        return Err(ScenarioError::new_err(format!(
            "path {} is not UTF-8; rename the file",
            short(format!("{path:?}"))
        )));
    };
    let wrong =
        |what: &str| Err(ScenarioError::new_err(format!("path {} {what}", short(format!("{text:?}")))));
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

/// A name of something that only the scenario knows, such as an event.
pub fn name_of(name: &str, given: Word) -> PyResult<String> {
    let text = given.named(name, "a str", "is not UTF-8")?;
    if text.trim().is_empty() || text.contains(char::is_control) {
        return Err(ScenarioError::new_err(format!(
            "{name}={} cannot be a name; use letters and digits",
            short(format!("{text:?}"))
        )));
    }
    Ok(text)
}

/// A list of strings; one string alone is none.
pub fn texts(list: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if list.is_instance_of::<PyString>() {
        let text = shown(list);
        return Err(ArgumentTypeError::new_err(format!("{text} is a string; write [{text}]")));
    }
    list.extract().map_err(|_| ArgumentTypeError::new_err(format!("{} is no list of strings", shown(list))))
}

/// The position of a word among `words`.
pub fn one_of(name: &str, word: impl Into<Word>, words: &[&str]) -> PyResult<usize> {
    let word = word.into().named(name, "a str", "is not UTF-8")?;
    words.iter().position(|known| *known == word).ok_or_else(|| {
        let (word, words) = (short(format!("{word:?}")), words.join(", "));
        ScenarioError::new_err(format!("{name}={word} is not known; choose one of {words}"))
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
