//! Reads the operations on a library's streams that a Python program yields.

use std::sync::Arc;

use pagecast_core::stdio::{Library, LibraryCall, Mode};
use pagecast_core::units::Bytes;
use pagecast_core::workload::Action;
use pyo3::prelude::*;

use crate::operation::Operation;
use crate::quantity::{Amount, Word, bytes, call_size, one_of, path, positive_bytes};

fn on_stream(path: Arc<str>, call: LibraryCall) -> Operation {
    Action::Stream { path, call }.into()
}

/// What an operation's text says besides its path.
pub fn size_of(call: &LibraryCall) -> Option<Bytes> {
    match *call {
        LibraryCall::Write { bytes, .. } => Some(bytes),
        LibraryCall::Read { bytes, .. } => bytes,
        _ => None,
    }
}

fn place(offset_bytes: Option<Amount>) -> PyResult<Option<u64>> {
    offset_bytes.map(|offset| bytes("offset_bytes", offset).map(|offset| offset.0)).transpose()
}

/// Open a file as a stream of a library, as fopen(3) does.
///
/// Parameters
/// ----------
/// path : str or path-like
/// mode : {"r", "w", "a", "r+", "w+", "a+"}
/// stream : {"c", "c++", "python", "java"}
///     Whose: glibc's FILE, libstdc++'s fstream, a binary file of CPython, Java's buffered streams.
/// buffer_bytes : float, optional
///     Size of its buffer, 0 for none; the library's own if not given.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, mode, stream=Word::from("c"), buffer_bytes=None),
    text_signature = "(path, *, mode, stream='c', buffer_bytes=None)"
)]
pub fn fopen(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    mode: Word,
    stream: Word,
    buffer_bytes: Option<Amount>,
) -> PyResult<Operation> {
    let mode = Mode::ALL[one_of("mode", mode, &Mode::NAMES)?];
    let library = Library::ALL[one_of("stream", stream, &Library::NAMES)?];
    let buffer = buffer_bytes.map(|size| bytes("buffer_bytes", size)).transpose()?;
    Ok(on_stream(path, LibraryCall::Open { mode, library, buffer }))
}

/// Give a stream another buffer before it is read or written, as setvbuf(3) does with memory of the program's.
///
/// Parameters
/// ----------
/// path : str or path-like
/// size_bytes : float
///     0 for none.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(signature = (path, *, size_bytes))]
pub fn setvbuf(#[pyo3(from_py_with = path)] path: Arc<str>, size_bytes: Amount) -> PyResult<Operation> {
    Ok(on_stream(path, LibraryCall::SetBuffer { buffer: bytes("size_bytes", size_bytes)? }))
}

/// Write to a stream, as fwrite(3) does: what its buffer takes reaches the kernel later.
///
/// Parameters
/// ----------
/// path : str or path-like
/// size_bytes : float
///     How many bytes.
/// offset_bytes : float, optional
///     First byte, sought by fseek(3); where the stream is if not given.
/// call_bytes : float, optional
///     Bytes of one call of the library; all in one if not given.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(signature = (path, *, size_bytes, offset_bytes=None, call_bytes=None))]
pub fn fwrite(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    size_bytes: Amount,
    offset_bytes: Option<Amount>,
    call_bytes: Option<Amount>,
) -> PyResult<Operation> {
    let bytes = positive_bytes("size_bytes", size_bytes)?;
    let (offset, call) = (place(offset_bytes)?, call_size(call_bytes)?);
    Ok(on_stream(path, LibraryCall::Write { offset, bytes, call }))
}

/// Read from a stream, as fread(3) does.
///
/// Parameters
/// ----------
/// path : str or path-like
/// size_bytes : float, optional
///     How many bytes; up to the end of the file if not given.
/// offset_bytes : float, optional
///     First byte, sought by fseek(3); where the stream is if not given.
/// call_bytes : float, optional
///     Bytes of one call of the library; all in one if not given.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(signature = (path, *, size_bytes=None, offset_bytes=None, call_bytes=None))]
pub fn fread(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    size_bytes: Option<Amount>,
    offset_bytes: Option<Amount>,
    call_bytes: Option<Amount>,
) -> PyResult<Operation> {
    let bytes = size_bytes.map(|size| positive_bytes("size_bytes", size)).transpose()?;
    let (offset, call) = (place(offset_bytes)?, call_size(call_bytes)?);
    Ok(on_stream(path, LibraryCall::Read { offset, bytes, call }))
}

/// Let a stream go on at another place, as fseek(3) does.
///
/// Parameters
/// ----------
/// path : str or path-like
/// offset_bytes : float
///     From the beginning of the file.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(signature = (path, *, offset_bytes))]
pub fn fseek(#[pyo3(from_py_with = path)] path: Arc<str>, offset_bytes: Amount) -> PyResult<Operation> {
    Ok(on_stream(path, LibraryCall::Seek { offset: bytes("offset_bytes", offset_bytes)?.0 }))
}

/// Write what is in a stream's buffer, as fflush(3) does.
///
/// Parameters
/// ----------
/// path : str or path-like
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn fflush(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    on_stream(path, LibraryCall::Flush)
}

/// Write what is in a stream's buffer and close it, as fclose(3) does.
///
/// Parameters
/// ----------
/// path : str or path-like
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn fclose(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    on_stream(path, LibraryCall::Close)
}
