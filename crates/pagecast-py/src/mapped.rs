//! Reads the operations on mappings that a Python program yields.

use std::sync::Arc;

use pagecast_core::units::Bytes;
use pagecast_core::workload::{Action, MapAdvice, MappedCall};
use pyo3::prelude::*;

use crate::operation::Operation;
use crate::quantity::{Amount, Flag, Word, one_of, part, path};

/// Map a file, as mmap(2) does with MAP_SHARED: it stays mapped until `munmap`. Takes no time by itself.
///
/// Parameters
/// ----------
/// path : str or path-like
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn mmap(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    Action::Mapped { path, call: MappedCall::Map }.into()
}

/// Unmap a file, as munmap(2) does. Takes no time by itself.
///
/// Parameters
/// ----------
/// path : str or path-like
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn munmap(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    Action::Mapped { path, call: MappedCall::Unmap }.into()
}

/// Read a file, or a piece of it, through a mapping of it: each byte once. A file that is not mapped is mapped for that, and unmapped.
///
/// Parameters
/// ----------
/// path : str or path-like
/// offset_bytes : float
///     First byte.
/// size_bytes : float, optional
///     How many bytes; up to the end of the file if not given.
/// advice : {"normal", "sequential", "random"}
///     What is said with madvise(2).
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, offset_bytes=Amount::from(0.0), size_bytes=None, advice=Word::from("normal")),
    text_signature = "(path, *, offset_bytes=0, size_bytes=None, advice='normal')"
)]
pub fn mmap_read(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    offset_bytes: Amount,
    size_bytes: Option<Amount>,
    advice: Word,
) -> PyResult<Operation> {
    let call = |offset, bytes, advice| MappedCall::Read { offset, bytes, advice };
    touch(path, (offset_bytes, size_bytes), advice, call)
}

/// Write a file, or a piece of it, through a shared mapping of it; the file stays as long as it is.
///
/// Parameters
/// ----------
/// path : str or path-like
/// offset_bytes : float
///     First byte.
/// size_bytes : float, optional
///     How many bytes; up to the end of the file if not given.
/// advice : {"normal", "sequential", "random"}
///     What is said with madvise(2).
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, offset_bytes=Amount::from(0.0), size_bytes=None, advice=Word::from("normal")),
    text_signature = "(path, *, offset_bytes=0, size_bytes=None, advice='normal')"
)]
pub fn mmap_write(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    offset_bytes: Amount,
    size_bytes: Option<Amount>,
    advice: Word,
) -> PyResult<Operation> {
    let call = |offset, bytes, advice| MappedCall::Write { offset, bytes, advice };
    touch(path, (offset_bytes, size_bytes), advice, call)
}

/// Touch a piece of a file through a mapping of it.
fn touch(
    path: Arc<str>,
    (offset_bytes, size_bytes): (Amount, Option<Amount>),
    advice: Word,
    call: impl Fn(u64, Option<Bytes>, MapAdvice) -> MappedCall,
) -> PyResult<Operation> {
    let (offset, bytes) = part(offset_bytes, size_bytes)?;
    let advice = MapAdvice::ALL[one_of("advice", advice, &MapAdvice::NAMES)?];
    Ok(Action::Mapped { path, call: call(offset, bytes, advice) }.into())
}

/// Wait until dirty pages of a file, or of a piece of it, are on its device, as msync(2) does with MS_SYNC.
///
/// Parameters
/// ----------
/// path : str or path-like
/// offset_bytes : float
///     First byte.
/// size_bytes : float, optional
///     How many bytes; up to the end of the file if not given.
/// is_async : bool
///     MS_ASYNC instead, which does nothing since Linux 2.6.19.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, offset_bytes=Amount::from(0.0), size_bytes=None, is_async=Flag::from(false)),
    text_signature = "(path, *, offset_bytes=0, size_bytes=None, is_async=False)"
)]
pub fn msync(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    offset_bytes: Amount,
    size_bytes: Option<Amount>,
    is_async: Flag,
) -> PyResult<Operation> {
    let (offset, bytes) = part(offset_bytes, size_bytes)?;
    let is_async = is_async.truth("is_async")?;
    Ok(Action::Mapped { path, call: MappedCall::Sync { offset, bytes, is_async } }.into())
}
