//! Reads recordings in other formats, takes their rows from Python packages, and writes them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

use pagecast_core::describe;
use pagecast_core::readers::csv::{self, WriteError};
use pagecast_core::readers::row::{COLUMNS, Row, Wrong, cells};
use pagecast_core::readers::{
    FORMATS, Format, Input, Options, ReadError, Reader, Strace, format_called, format_of,
};
use pagecast_core::trace::{Level, Merged, Trace, Writer, object_lru};
use pagecast_core::units::{Bytes, Nanos};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList};

use crate::errors::ScenarioError;
use crate::interrupt::{interruptible, reporting};

/// What the requests of a recording are made to, in the order of `Level::ALL`.
const LEVELS: [&str; 3] = ["files", "blocks", "objects"];

/// A recording in binary form, in memory or in a file without a name.
#[pyclass(frozen, module = "pagecast._core")]
pub struct Recording(pub Trace);

#[pymethods]
impl Recording {
    /// The number of its operations.
    fn __len__(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    /// The number of its processes.
    #[getter]
    fn processes(&self) -> usize {
        self.0.processes().len()
    }

    /// The files that existed before: path, size in bytes, and whether that is inferred.
    #[getter]
    fn files(&self) -> Vec<(String, u64, bool)> {
        self.0.files().map(|file| (file.path.to_string(), file.size.0, file.is_inferred)).collect()
    }

    /// What its user should know, by place and text.
    #[getter]
    fn notes(&self) -> Vec<(&str, &str)> {
        self.0.notes().iter().map(|note| (&*note.place, &*note.text)).collect()
    }

    /// What its requests are made to: "files", "blocks" or "objects".
    #[getter]
    fn level(&self) -> &'static str {
        LEVELS[self.0.level() as usize]
    }

    /// Write it as "trace" or "csv" to a file, which is emptied before, or to standard output.
    #[pyo3(signature = (form, path=None, *, progress=None))]
    fn save(
        &self,
        py: Python<'_>,
        form: &str,
        path: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let is_csv = form == "csv";
        reporting(
            py,
            progress,
            || f64::NAN,
            || {
                let mut out: BufWriter<Box<dyn Write>> = BufWriter::with_capacity(
                    1 << 18,
                    match path {
                        Some(path) => Box::new(File::create(path)?),
                        None => Box::new(io::stdout().lock()),
                    },
                );
                match is_csv {
                    true => csv::write(&self.0, &mut out)?,
                    false => self.0.write_to(&mut out)?,
                }
                out.flush()?;
                Ok(())
            },
        )?
        .map_err(|error: WriteError| match error {
            WriteError::Output(error) => os_error(&error),
            error => ScenarioError::new_err(error.to_string()),
        })
    }

    /// The line of each operation by process, 0 where it has none.
    fn lines(&self) -> PyResult<BTreeMap<String, Vec<u32>>> {
        let names: Vec<&str> = self.0.processes().map(|name| &**name).collect();
        let mut lines: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for record in self.0.records() {
            let (process, record) = record.map_err(|error| ScenarioError::new_err(error.to_string()))?;
            let of = lines.entry(names[process as usize].to_owned()).or_default();
            of.push(record.operation.line.unwrap_or_default());
        }
        Ok(lines)
    }

    /// Send its reads through an LRU cache of whole objects: requests, hits, bytes of requests, bytes of hits.
    fn object_lru(&self, py: Python<'_>, size_bytes: u64) -> PyResult<(u64, u64, u64, u64)> {
        let hits = interruptible(py, || object_lru(&self.0, Bytes(size_bytes)))?;
        let hits = hits.map_err(|error| ScenarioError::new_err(error.to_string()))?;
        Ok((hits.requests, hits.hits, hits.bytes, hits.hit_bytes))
    }

    /// Describe it, as JSON: `pagecast_core::describe::Description`. Reuse is exact up to `most_pages` pages.
    fn describe(&self, py: Python<'_>, most_pages: usize) -> PyResult<String> {
        let options = describe::Options { most_pages: most_pages.max(1), ..describe::Options::default() };
        let described = interruptible(py, || describe::describe(&self.0, options))?;
        let described = described.map_err(|error| ScenarioError::new_err(error.to_string()))?;
        Ok(serde_json::to_string(&described).expect("it has numbers and texts alone"))
    }

    /// Its rows by time, a dictionary of columns for each 65,536.
    fn batches(&self) -> Batches {
        let names = self.0.processes().map(ToString::to_string).collect();
        Batches(Mutex::new(Rows { names, first: None, records: self.0.records() }))
    }
}

/// The rows of a recording.
#[pyclass(frozen, module = "pagecast._core")]
pub struct Batches(Mutex<Rows>);

struct Rows {
    names: Vec<String>,
    /// The time of the first row, which counts as 0: a number of 64 bits is exact to the nanosecond for 104 days.
    first: Option<Nanos>,
    records: Merged,
}

#[pymethods]
impl Batches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Rows { names, first, records } = &mut *self.0.lock().expect("nobody panics with it");
        let columns: Vec<Bound<'py, PyList>> = COLUMNS.iter().map(|_| PyList::empty(py)).collect();
        let mut rows = 0;
        while rows < 1 << 16 {
            let Some(record) = records.next() else { break };
            let (process, mut record) = record.map_err(|error| ScenarioError::new_err(error.to_string()))?;
            if let Some(time) = &mut record.time {
                time.0 = time.0.saturating_sub(first.get_or_insert(*time).0);
            }
            let Some(cells) = cells(&names[process as usize], &record) else {
                let error = WriteError::Operation(record.operation.action.name());
                return Err(ScenarioError::new_err(error.to_string()));
            };
            for ((column, name), cell) in columns.iter().zip(COLUMNS).zip(&cells) {
                match name {
                    _ if cell.is_empty() => column.append(py.None())?,
                    "time_s" | "duration_s" => column.append(cell.parse::<f64>().expect("it is a number"))?,
                    "offset_bytes" | "bytes" | "call_bytes" | "fd" | "depth" => {
                        column.append(cell.parse::<u64>().expect("it is a number"))?;
                    }
                    _ => column.append(cell)?,
                }
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let batch = PyDict::new(py);
        COLUMNS.iter().zip(columns).try_for_each(|(name, column)| batch.set_item(name, column))?;
        Ok(Some(batch))
    }
}

/// The exception with the number of the error, by which Python knows its class and its text.
fn os_error(error: &io::Error) -> PyErr {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, text)),
        None => PyOSError::new_err(text),
    }
}

/// Read a recording in another format. With `operations`, programs are recorded, too, up to so many of their operations.
#[pyfunction]
#[pyo3(signature = (
    path,
    *,
    origin = None,
    format = None,
    lenient = false,
    columns = None,
    strace_overhead = None,
    system_files = false,
    operations = None,
    progress = None,
))]
#[expect(clippy::too_many_arguments, reason = "they are keywords")]
pub fn read_recording(
    py: Python<'_>,
    path: PathBuf,
    origin: Option<String>,
    format: Option<&str>,
    lenient: bool,
    columns: Option<String>,
    strace_overhead: Option<String>,
    system_files: bool,
    operations: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Recording> {
    let overhead = strace_overhead.map(|text| Nanos::parse(&text)).transpose();
    let overhead = overhead.map_err(|error| ScenarioError::new_err(format!("strace_overhead: {error}")))?;
    let origin = origin.unwrap_or_else(|| path.display().to_string());
    let strace = Strace { overhead, system_files };
    let options = Options { lenient, columns, strace, ..Options::default() };
    let opened: Arc<OnceLock<(Arc<AtomicU64>, Option<u64>)>> = Arc::default();
    let is_open = opened.clone();
    let share = move || match opened.get() {
        Some((read, Some(all))) => read.load(Relaxed) as f64 / (*all).max(1) as f64,
        _ => f64::NAN,
    };
    let read = || {
        let input = Input::open(&path, &origin)?;
        is_open.set((input.read_bytes.clone(), input.stored_bytes)).expect("it is opened once");
        let format = named(format, &input, operations.is_some())?;
        match (format.reader, operations) {
            (Reader::Programs(read), Some(most)) => describe::drawn(&origin, &read(input, &options)?, most),
            _ => format.record(input, &options),
        }
    };
    reporting(py, progress, share, read)?.map(Recording).map_err(|error| refused(&error))
}

/// Draw a recording of so many requests with the statistics of a description, given as JSON.
#[pyfunction]
pub fn generate_recording(
    py: Python<'_>,
    origin: &str,
    description: &str,
    requests: u64,
    seed: u64,
) -> PyResult<Recording> {
    let model: describe::Model = serde_json::from_str(description).map_err(|error| {
        let text = error.to_string();
        ScenarioError::new_err(format!("{origin}: is no description ({text}); make one with describe --out"))
    })?;
    let drawn = interruptible(py, || describe::generate(origin, &model, requests, seed))?;
    drawn.map(Recording).map_err(|error| refused(&ReadError::of_trace(origin, &error)))
}

/// The exception of a workload that cannot be read.
pub fn refused(error: &ReadError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

fn named(name: Option<&str>, input: &Input, programs: bool) -> Result<&'static Format, ReadError> {
    let recordings =
        FORMATS.iter().filter(|format| programs || !matches!(format.reader, Reader::Programs(_)));
    let known: Vec<&str> = recordings.map(|format| format.name).collect();
    let (found, what) = match name {
        Some(name) => (format_called(name), format!("there is no format `{name}`")),
        None => (format_of(&input.origin, &input.head), "is of no format that is known".to_owned()),
    };
    found.ok_or_else(|| {
        let remedy = format!("name one with --format: {}", known.join(", "));
        ReadError::new(input.origin.clone(), what, remedy)
    })
}

/// Takes the rows of a recording from a reader in Python.
#[pyclass(frozen, module = "pagecast._core")]
pub struct RecordingWriter {
    origin: String,
    writer: Mutex<Option<Writer>>,
    rows: AtomicU64,
}

#[pymethods]
impl RecordingWriter {
    #[new]
    #[pyo3(signature = (origin, level="files"))]
    fn new(origin: &str, level: &str) -> PyResult<Self> {
        let at = LEVELS.iter().position(|&name| name == level);
        let at = at.ok_or_else(|| ScenarioError::new_err(format!("there is no level {level:?}")))?;
        let writer = Mutex::new(Some(Writer::new(origin, Level::ALL[at])));
        Ok(Self { origin: origin.to_owned(), writer, rows: AtomicU64::new(0) })
    }

    /// Add rows: columns of the same length, by the names of our table, but times as `time_ns` and `duration_ns`.
    fn push(&self, py: Python<'_>, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        let columns = Columns::of(columns)?;
        let mut writer = self.writer.lock().expect("nobody panics with it");
        let writer = writer.as_mut().ok_or_else(ended)?;
        for at in 0..columns.rows {
            if at % 8192 == 0 {
                py.check_signals()?;
            }
            let row = self.rows.fetch_add(1, Relaxed) + 1;
            match columns.row(at).record(None, writer) {
                Ok(()) => {}
                Err(Wrong::Row(what, remedy)) => {
                    return Err(refused(&ReadError::new(
                        format!("{}, row {row}", self.origin),
                        what,
                        remedy,
                    )));
                }
                Err(Wrong::Trace(error)) => return Err(refused(&ReadError::of_trace(&self.origin, &error))),
            }
        }
        Ok(())
    }

    /// Say that a file existed before, with this size.
    fn file(&self, path: &str, size_bytes: u64) -> PyResult<()> {
        let mut writer = self.writer.lock().expect("nobody panics with it");
        let told = writer.as_mut().ok_or_else(ended)?.file(path, Bytes(size_bytes));
        told.map_err(|error| refused(&ReadError::of_trace(&self.origin, &error)))
    }

    /// Say something that its user should know.
    fn note(&self, text: &str) -> PyResult<()> {
        let mut writer = self.writer.lock().expect("nobody panics with it");
        writer.as_mut().ok_or_else(ended)?.note(self.origin.clone(), text);
        Ok(())
    }

    /// Give the recording; nothing can be added after that.
    fn finish(&self) -> PyResult<Recording> {
        let writer = self.writer.lock().expect("nobody panics with it").take().ok_or_else(ended)?;
        let trace = writer.finish();
        trace.map(Recording).map_err(|error| refused(&ReadError::of_trace(&self.origin, &error)))
    }
}

fn ended() -> PyErr {
    ScenarioError::new_err("this recording has ended")
}

/// Columns of rows from Python; an empty one is missing.
struct Columns {
    rows: usize,
    texts: [Vec<Option<PyBackedStr>>; 6],
    numbers: [Vec<Option<u64>>; 7],
}

const TEXTS: [&str; 6] = ["process", "op", "file", "to", "flags", "by"];
const NUMBERS: [&str; 7] = ["time_ns", "duration_ns", "offset_bytes", "bytes", "call_bytes", "fd", "depth"];

impl Columns {
    fn of(columns: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut all = Self { rows: 0, texts: Default::default(), numbers: Default::default() };
        for (name, column) in columns {
            let name: String = name.extract()?;
            let length = column.len()?;
            if all.rows != 0 && length != all.rows {
                return Err(ScenarioError::new_err("the columns have different lengths"));
            }
            all.rows = length;
            if let Some(at) = TEXTS.iter().position(|&text| text == name) {
                all.texts[at] = column.extract()?;
            } else if let Some(at) = NUMBERS.iter().position(|&number| number == name) {
                all.numbers[at] = column.extract()?;
            } else {
                return Err(ScenarioError::new_err(format!("there is no column {name:?}")));
            }
        }
        Ok(all)
    }

    fn row(&self, at: usize) -> Row<'_> {
        let text = |column: usize| self.texts[column].get(at).and_then(Option::as_deref).unwrap_or("");
        let number = |column: usize| self.numbers[column].get(at).copied().flatten();
        let small = |column: usize| number(column).and_then(|value| u32::try_from(value).ok());
        Row {
            time: number(0).map(Nanos),
            duration: number(1).map(Nanos),
            process: text(0),
            op: text(1),
            file: text(2),
            offset: number(2),
            bytes: number(3),
            call: number(4),
            to: text(3),
            fd: small(5),
            depth: small(6),
            flags: text(4),
            by: text(5),
        }
    }
}
