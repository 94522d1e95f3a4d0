//! Makes Python objects of the values of tokens.

use pagecast_petri::colset::Kind;
use pagecast_petri::ml::program::{Program, TimeKind};
use pagecast_petri::value::{Stamp, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// A value of a colour set: numbers, strings, tuples and lists as they are, a record as a dict, others as they are written.
pub fn value(py: Python<'_>, program: &Program, colset: usize, of: &Value) -> PyResult<Py<PyAny>> {
    match (&program.colsets[colset].kind, of) {
        (Kind::Bool(None), Value::Bool(of)) => of.into_py_any(py),
        (_, Value::Int(of)) => of.into_py_any(py),
        (_, Value::Real(of)) => of.into_py_any(py),
        (_, Value::Str(of)) => of.into_py_any(py),
        (Kind::Unit(None), Value::Unit) => PyTuple::empty(py).into_py_any(py),
        (Kind::Product(parts), Value::Tuple(of)) => {
            let parts = parts.iter().zip(of.iter()).map(|(&part, of)| value(py, program, part, of));
            PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.into_py_any(py)
        }
        (Kind::Record(fields), Value::Tuple(of)) => {
            let dict = PyDict::new(py);
            for (label, part, place) in fields {
                dict.set_item(label, value(py, program, *part, &of[*place])?)?;
            }
            dict.into_py_any(py)
        }
        (Kind::List(item, _), Value::List(list)) => {
            let items = list.as_slice().iter().map(|of| value(py, program, *item, of));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_py_any(py)
        }
        (Kind::SubsetBy(base, _) | Kind::SubsetWith(base, _), of) => value(py, program, *base, of),
        _ => program.shown_in(colset, of).into_py_any(py),
    }
}

/// A model time: an int, or a float where the net has real time.
pub fn time(py: Python<'_>, program: &Program, stamp: Stamp) -> PyResult<Py<PyAny>> {
    match program.time {
        TimeKind::Integer => stamp.0.into_py_any(py),
        TimeKind::Real => stamp.as_real().into_py_any(py),
    }
}
