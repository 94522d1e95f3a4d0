//! Wraps `pagecast_probe::calibrate`: one class, whose methods measure one thing each and give raw times, in seconds.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use pagecast_core::units::{Bytes, Nanos};
use pagecast_probe::calibrate::{self, Copying, Failed, Limits, Moved, Order, Session, Stream, Waiting};
use pagecast_probe::io::{Direction, Folder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::cache::detached;
use crate::errors;
use crate::quantity::one_of;

/// Bytes, calls, seconds, how many of them without a processor, and marks of (seconds, bytes).
type MovedTuple = (u64, u64, f64, f64, Vec<(f64, u64)>);

/// Seconds of the processor for writing new pages, writing them again, reading them, reading them into new memory, and taking them
/// away; and how much longer it took.
type CopiesTuple = (f64, f64, f64, f64, f64, f64);

/// Seconds of the processor for reading with calls, writing with calls, reading through a mapping, writing through it, and mapping,
/// reading and unmapping a page.
type MappingsTuple = (f64, f64, f64, f64, f64);

/// The file that stays for a while.
const PUT: &str = "put";

/// A place to measure in; its files are removed by `close`.
#[pyclass(frozen, module = "pagecast._core")]
pub struct Calibration(Mutex<Option<Arc<Session>>>);

fn positive(name: &str, value: u64) -> PyResult<NonZero<u64>> {
    NonZero::new(value).ok_or_else(|| PyValueError::new_err(format!("{name}=0: must be above 0")))
}

fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}

fn moved(moved: Moved) -> MovedTuple {
    let marks = moved.marks.into_iter().map(|(time, bytes)| (time.as_seconds(), bytes)).collect();
    (moved.bytes, moved.calls, moved.time.as_seconds(), moved.waited.as_seconds(), marks)
}

impl Calibration {
    fn measure<R: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&Folder, &AtomicBool) -> Result<R, Failed> + Send,
    ) -> PyResult<R> {
        let session = self.0.lock().expect("nothing panics while it holds the lock").clone();
        let session = session.ok_or_else(|| PyValueError::new_err("the calibration is closed"))?;
        detached(py, None, |watch| session.measure(watch, act))
    }
}

#[pymethods]
impl Calibration {
    /// Make a folder in `directory`, where `needed_bytes` must be free.
    #[new]
    fn new(py: Python<'_>, directory: PathBuf, needed_bytes: u64) -> PyResult<Self> {
        let session = py.detach(|| Session::create(&directory, Bytes(needed_bytes)));
        let session = session.map_err(|error| errors::probe(&error))?;
        Ok(Self(Mutex::new(Some(Arc::new(session)))))
    }

    /// Raise an error unless `needed_bytes` can be written in `directory`; nothing is made there.
    #[staticmethod]
    fn check(py: Python<'_>, directory: PathBuf, needed_bytes: u64) -> PyResult<()> {
        let answer =
            py.detach(|| Folder::open(&directory).and_then(|folder| folder.check_room(Bytes(needed_bytes))));
        answer.map_err(|error| errors::probe(&error))
    }

    /// Whether files can be read and written past the page cache.
    fn accepts_direct(&self, py: Python<'_>) -> PyResult<bool> {
        self.measure(py, |folder, stop| calibrate::accepts_direct(folder, Path::new("direct"), stop))
    }

    /// Let streams go over the file of the device at once: (is it a write, from, length, bytes of a call, seed of random places).
    /// With `durable` each write returns when its bytes are.
    #[pyo3(signature = (streams, *, direct, most_bytes, most_s, mark_s, durable=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords of Python")]
    fn streams(
        &self,
        py: Python<'_>,
        streams: Vec<(bool, u64, u64, u64, Option<u64>)>,
        direct: bool,
        most_bytes: u64,
        most_s: f64,
        mark_s: f64,
        durable: bool,
    ) -> PyResult<Vec<MovedTuple>> {
        let stream = |(is_write, from, length, call, seed)| {
            Ok(Stream {
                direction: if is_write { Direction::Write } else { Direction::Read },
                from,
                length,
                call: positive("call", call)?,
                order: Option::map_or(seed, Order::Sequential, Order::Random),
                is_direct: direct,
                is_durable: durable,
            })
        };
        let streams = streams.into_iter().map(stream).collect::<PyResult<Vec<_>>>()?;
        let limits = Limits { bytes: most_bytes, time: nanos(most_s), mark: nanos(mark_s) };
        let answers = self.measure(py, |folder, stop| {
            calibrate::streams(folder, Path::new("device"), &streams, limits, stop)
        })?;
        Ok(answers.into_iter().map(moved).collect())
    }

    /// Copy into and out of the page cache, in each thread a file of its own.
    #[pyo3(signature = (file_bytes, call_bytes, *, threads=1, huge=false))]
    fn copies(
        &self,
        py: Python<'_>,
        file_bytes: u64,
        call_bytes: u64,
        threads: usize,
        huge: bool,
    ) -> PyResult<Vec<CopiesTuple>> {
        let threads =
            NonZero::new(threads).ok_or_else(|| PyValueError::new_err("threads=0: must be above 0"))?;
        let bytes = positive("file_bytes", file_bytes)?.get();
        let what = Copying { bytes, call: positive("call_bytes", call_bytes)?, threads, huge };
        let answers =
            self.measure(py, |folder, stop| calibrate::copies(folder, Path::new("copies"), what, stop))?;
        let seconds = |took: calibrate::Copies| {
            let steps = [took.new, took.again, took.read, took.fresh, took.remove, took.waited];
            <(f64, f64, f64, f64, f64, f64)>::from(steps.map(Nanos::as_seconds))
        };
        Ok(answers.into_iter().map(seconds).collect())
    }

    /// Read and write over a file, which was written with calls of `call_bytes`, with calls and through mappings; nothing where none
    /// can be mapped.
    fn mappings(&self, py: Python<'_>, file_bytes: u64, call_bytes: u64) -> PyResult<Option<MappingsTuple>> {
        let (bytes, call) = (positive("file_bytes", file_bytes)?, positive("call_bytes", call_bytes)?);
        let found = self.measure(py, |folder, stop| {
            calibrate::mappings(folder, Path::new("mapped"), bytes, call, stop)
        })?;
        let seconds = |took: calibrate::Mappings| {
            let steps = [took.read, took.write, took.mapped_read, took.mapped_write, took.page];
            MappingsTuple::from(steps.map(Nanos::as_seconds))
        };
        Ok(found.map(seconds))
    }

    /// Make blocks of the file of the device durable, one after the other, and give the seconds of each.
    #[pyo3(signature = (waiting, *, block_bytes, most, most_s))]
    fn syncs(
        &self,
        py: Python<'_>,
        waiting: &str,
        block_bytes: u64,
        most: usize,
        most_s: f64,
    ) -> PyResult<Vec<f64>> {
        let waiting = Waiting::ALL[one_of("waiting", waiting, &Waiting::NAMES)?];
        let block = positive("block_bytes", block_bytes)?;
        let times = self.measure(py, |folder, stop| {
            calibrate::syncs(folder, Path::new("device"), waiting, block, most, nanos(most_s), stop)
        })?;
        Ok(times.into_iter().map(Nanos::as_seconds).collect())
    }

    /// Write a new file and say how long write-back of it takes, and in how many seconds it is then cut to nothing.
    fn drain(&self, py: Python<'_>, bytes: u64) -> PyResult<(MovedTuple, f64)> {
        let bytes = positive("bytes", bytes)?.get();
        let (drained, freed) =
            self.measure(py, |folder, stop| calibrate::drain(folder, Path::new("drain"), bytes, stop))?;
        Ok((moved(drained), freed.as_seconds()))
    }

    /// Write a new file to the device, and let it stay.
    fn put(&self, py: Python<'_>, bytes: u64) -> PyResult<()> {
        let bytes = positive("bytes", bytes)?.get();
        self.measure(py, |folder, stop| calibrate::put(folder, Path::new(PUT), bytes, stop))?;
        Ok(())
    }

    /// Say in how many seconds the file that `put` has made is cut to nothing.
    fn cut(&self, py: Python<'_>) -> PyResult<f64> {
        let freed = self.measure(py, |folder, _| calibrate::cut(folder, Path::new(PUT)))?;
        Ok(freed.as_seconds())
    }

    /// Write new pages and say how far they were after every `mark_bytes`, whatever the flusher does meanwhile.
    fn fill(&self, py: Python<'_>, bytes: u64, mark_bytes: u64) -> PyResult<MovedTuple> {
        let (bytes, mark) = (positive("bytes", bytes)?.get(), positive("mark_bytes", mark_bytes)?);
        self.measure(py, |folder, stop| calibrate::fill(folder, Path::new("drain"), bytes, mark, stop))
            .map(moved)
    }

    /// Copy memory to a buffer of `call_bytes`, and give the seconds of the processor.
    fn memory(&self, py: Python<'_>, bytes: u64, call_bytes: u64) -> PyResult<f64> {
        let (bytes, call) = (positive("bytes", bytes)?, positive("call_bytes", call_bytes)?);
        let took = self.measure(py, |folder, _| Ok(calibrate::memory(folder, bytes, call)))?;
        Ok(took.as_seconds())
    }

    /// How many bytes a stream of the C library buffers; None if that is more than 1 MiB.
    fn stream_buffer(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.measure(py, |folder, _| calibrate::stream_buffer(folder, Path::new("stream")))
    }

    /// Write new pages alone, then beside write-back of these: the writer alone and beside it, and the write-back.
    fn beside(
        &self,
        py: Python<'_>,
        dirty_bytes: u64,
        most_bytes: u64,
    ) -> PyResult<(MovedTuple, MovedTuple, MovedTuple)> {
        let dirty = positive("dirty_bytes", dirty_bytes)?.get();
        let found = self.measure(py, |folder, stop| {
            calibrate::beside(folder, Path::new("drain"), dirty, most_bytes, stop)
        })?;
        Ok((moved(found.alone), moved(found.beside), moved(found.drained)))
    }

    /// Touch so much new memory twice, and give the seconds of the processor of each piece: at first, and again just after.
    fn touches(&self, py: Python<'_>, bytes: usize, piece_bytes: usize) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let above_0 = |name: &str, bytes: usize| {
            NonZero::new(bytes).ok_or_else(|| PyValueError::new_err(format!("{name}=0: must be above 0")))
        };
        let (bytes, piece) = (above_0("bytes", bytes)?, above_0("piece_bytes", piece_bytes)?);
        let found = self.measure(py, |folder, stop| calibrate::touches(folder, bytes, piece, stop))?;
        let seconds = |took: Vec<Nanos>| took.into_iter().map(Nanos::as_seconds).collect();
        Ok((seconds(found.first), seconds(found.again)))
    }

    /// Remove the folder.
    fn close(&self, py: Python<'_>) {
        let session = self.0.lock().expect("nothing panics while it holds the lock").take();
        py.detach(|| drop(session));
    }
}
