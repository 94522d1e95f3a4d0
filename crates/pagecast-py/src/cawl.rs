//! Wraps `pagecast_core::cawl`: one class for each way of writing, for single chunks and whole arrays of them.

use numpy::{AllowTypeChange, IntoPyArray, PyArray1, PyArrayLike1};
use pagecast_core::cawl::{self, PageCache, ParameterError, Stream, Throttling, Unit, WhenFull};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::errors::{ArgumentTypeError, ScenarioError};
use crate::quantity::{Amount, Whole, Word, bytes, one_of, real, shown};

/// Seconds of each chunk, and dirty bytes after it.
type SecondsAndDirty<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u64>>);

/// Numbers of all chunks: anything that NumPy makes an array of.
struct Numbers<'py>(PyArrayLike1<'py, f64, AllowTypeChange>);

impl<'py> FromPyObject<'_, 'py> for Numbers<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        value.extract().map(Self).map_err(|error: PyErr| {
            if !error.is_instance_of::<PyException>(value.py()) {
                return error; // Ctrl-C
            }
            ArgumentTypeError::new_err(format!("{} cannot be made an array of numbers", shown(&value)))
        })
    }
}

fn wrong(error: &ParameterError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// A time in seconds that is not negative.
fn not_negative(name: &str, seconds: impl Into<Amount>) -> PyResult<f64> {
    let seconds = real(name, seconds.into())?;
    if seconds.is_finite() && seconds >= 0.0 {
        return Ok(seconds);
    }
    Err(ScenarioError::new_err(format!("{name}={seconds}: must be zero seconds or more, and finite")))
}

/// Which file is written.
fn file_number(file: Whole) -> PyResult<u32> {
    let range = "must be a whole number from 0, of 32 bits";
    let number = file.named("file", "a whole number", range)?;
    u32::try_from(number).map_err(|_| ScenarioError::new_err(format!("file={number}: {range}")))
}

/// Sizes or offsets of all chunks, in whole bytes.
fn all_bytes(name: &str, values: &Numbers<'_>) -> PyResult<Vec<u64>> {
    let values = values.0.as_array();
    let each = |(at, &value): (usize, &f64)| match bytes(name, value) {
        Ok(bytes) => Ok(bytes.0),
        Err(_) => bytes(&format!("{name}[{at}]"), value).map(|bytes| bytes.0),
    };
    values.iter().enumerate().map(each).collect()
}

/// Sizes, and offsets if the chunks are not appended to each other.
fn chunks(sizes: &Numbers<'_>, offsets: &Numbers<'_>) -> PyResult<Vec<(u64, u64)>> {
    let (sizes, offsets) = (all_bytes("size_bytes", sizes)?, all_bytes("offset_bytes", offsets)?);
    same_length("offset_bytes", offsets.len(), sizes.len())?;
    Ok(offsets.into_iter().zip(sizes).collect())
}

fn same_length(name: &str, length: usize, chunks: usize) -> PyResult<()> {
    if length == chunks {
        return Ok(());
    }
    Err(ScenarioError::new_err(format!(
        "{name} has {length} values, and size_bytes has {chunks}; give as many"
    )))
}

/// When a chunk is written.
#[derive(Clone, Copy)]
enum Moment {
    /// So long after the one before has ended.
    After(f64),
    /// At this time, or when the one before has ended.
    At(f64),
}

impl Moment {
    fn of(pause_s: Amount, at_s: Option<Amount>) -> PyResult<Self> {
        let pause_s = not_negative("pause_s", pause_s)?;
        match at_s {
            Some(_) if pause_s != 0.0 => Err(both()),
            Some(at) => Ok(Self::At(not_negative("at_s", at)?)),
            None => Ok(Self::After(pause_s)),
        }
    }

    fn pause(self, now: f64) -> f64 {
        match self {
            Self::After(pause) => pause,
            Self::At(time) => (time - now).max(0.0),
        }
    }
}

fn both() -> PyErr {
    ScenarioError::new_err("pause_s and at_s say both when a chunk is written; give one of them")
}

/// When each of so many chunks is written.
fn moments(
    pause_s: Option<&Bound<'_, PyAny>>,
    at_s: Option<Numbers<'_>>,
    chunks: usize,
) -> PyResult<Vec<Moment>> {
    let (name, moment, values): (_, fn(f64) -> Moment, _) = match (pause_s, at_s) {
        (Some(_), Some(_)) => return Err(both()),
        (None, None) => return Ok(vec![Moment::After(0.0); chunks]),
        (None, Some(times)) => ("at_s", Moment::At, times),
        (Some(pause), None) => match pause.extract::<f64>() {
            Ok(pause) => return Ok(vec![Moment::After(not_negative("pause_s", pause)?); chunks]),
            Err(_) => ("pause_s", Moment::After, pause.extract::<Numbers<'_>>()?),
        },
    };
    let values = values.0.as_array();
    same_length(name, values.len(), chunks)?;
    let each = |(at, &value): (usize, &f64)| match not_negative(name, value) {
        Ok(value) => Ok(moment(value)),
        Err(_) => not_negative(&format!("{name}[{at}]"), value).map(moment),
    };
    values.iter().enumerate().map(each).collect()
}

/// Runs all chunks without the interpreter's lock. `write` gives seconds and dirty bytes.
fn run_all<'py, C: Send>(
    py: Python<'py>,
    chunks: Vec<C>,
    mut write: impl FnMut(C) -> (f64, u64) + Send,
) -> SecondsAndDirty<'py> {
    let (seconds, dirty): (Vec<f64>, Vec<u64>) = py.detach(|| chunks.into_iter().map(&mut write).unzip());
    (seconds.into_pyarray(py), dirty.into_pyarray(py))
}

/// Where the last chunk ended: the next one seeks unless it begins there.
#[derive(Default)]
struct Head(Option<u64>);

impl Head {
    /// What a chunk costs by an equation, which is told its bytes and whether it seeks.
    fn write(&mut self, offset: Amount, size: Amount, equation: impl Fn(u64, bool) -> f64) -> PyResult<f64> {
        let (offset, size) = (bytes("offset_bytes", offset)?.0, bytes("size_bytes", size)?.0);
        Ok(equation(size, self.seeks(offset, size)))
    }

    /// What each of many chunks costs.
    fn write_all<'py>(
        &mut self,
        py: Python<'py>,
        offsets: &Numbers<'py>,
        sizes: &Numbers<'py>,
        equation: impl Fn(u64, bool) -> f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let cost = |(offset, size)| equation(size, self.seeks(offset, size));
        let seconds: Vec<f64> = chunks(sizes, offsets)?.into_iter().map(cost).collect();
        Ok(seconds.into_pyarray(py))
    }

    fn seeks(&mut self, offset: u64, bytes: u64) -> bool {
        self.0.replace(offset + bytes).is_some_and(|end| end != offset)
    }
}

/// What a write past the page cache costs (O_DIRECT): Equation 2 of the CAWL paper.
///
/// ``sc_sw + c_sk (if it does not begin where the one before ended) + size / bw_dev``.
///
/// Parameters
/// ----------
/// bw_dev : float
///     Rate at which the device writes, in bytes per second.
/// sc_sw : float
///     Cost of a system call that writes synchronously, in seconds.
/// c_sk : float
///     Cost of a seek, in seconds.
///
/// Raises
/// ------
/// ScenarioError
///     A parameter that cannot be; it is a ``ValueError``.
///
/// Examples
/// --------
/// >>> from pagecast.cawl import DirectCost
/// >>> DirectCost(bw_dev=500e6, sc_sw=200e-6).write(0, 1e6)
/// 0.0022
#[pyclass(module = "pagecast.cawl")]
pub struct DirectCost {
    cost: cawl::DirectCost,
    head: Head,
}

#[pymethods]
impl DirectCost {
    #[new]
    #[pyo3(
        signature = (*, bw_dev, sc_sw, c_sk=Amount::from(0.0)),
        text_signature = "(*, bw_dev, sc_sw, c_sk=0.0)"
    )]
    fn new(bw_dev: Amount, sc_sw: Amount, c_sk: Amount) -> PyResult<Self> {
        let cost = cawl::DirectCost {
            bw_dev: real("bw_dev", bw_dev)?,
            sc_sw: real("sc_sw", sc_sw)?,
            c_sk: real("c_sk", c_sk)?,
        };
        cost.check().map_err(|error| wrong(&error))?;
        Ok(Self { cost, head: Head::default() })
    }

    /// Write a chunk.
    ///
    /// Parameters
    /// ----------
    /// offset_bytes, size_bytes : float
    ///
    /// Returns
    /// -------
    /// float
    ///     Seconds.
    fn write(&mut self, offset_bytes: Amount, size_bytes: Amount) -> PyResult<f64> {
        self.head.write(offset_bytes, size_bytes, |bytes, seeks| self.cost.cost(bytes, seeks))
    }

    /// Write chunks one after the other.
    ///
    /// Parameters
    /// ----------
    /// offset_bytes, size_bytes : array_like
    ///     One value for each chunk.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray of float
    ///     Seconds of each.
    fn write_all<'py>(
        &mut self,
        py: Python<'py>,
        offset_bytes: Numbers<'py>,
        size_bytes: Numbers<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.head.write_all(py, &offset_bytes, &size_bytes, |bytes, seeks| self.cost.cost(bytes, seeks))
    }
}

/// What a write through the page cache to the device costs (O_SYNC): Equations 3 and 4 of the CAWL paper.
///
/// ``sc_sw + c_sk (if it does not begin where the one before ended) + size / bw_ramdisk + whole blocks / bw_dev``, and
/// ``bs / bw_rdev + bs / bw_dev`` for a last block that is not filled: it is read, changed and written.
///
/// Parameters
/// ----------
/// bw_ramdisk : float
///     Rate of writing into the page cache, in bytes per second.
/// bw_dev, bw_rdev : float
///     Rates at which the device writes and reads, in bytes per second.
/// sc_sw : float
///     Cost of a system call that writes synchronously, in seconds.
/// bs : int
///     Bytes of a block of the device.
/// c_sk : float
///     Cost of a seek, in seconds.
/// partial : {"block", "page"}
///     What has to be filled: a block (the paper) or a page of 4096 bytes (the released program).
///
/// Raises
/// ------
/// ScenarioError
///     A parameter that cannot be; it is a ``ValueError``.
///
/// Examples
/// --------
/// >>> from pagecast.cawl import SyncCost
/// >>> cost = SyncCost(bw_ramdisk=2e9, bw_dev=500e6, bw_rdev=1e9, sc_sw=200e-6)
/// >>> round(cost.write(0, 1000) * 1e6, 3)
/// 203.06
#[pyclass(module = "pagecast.cawl")]
pub struct SyncCost {
    cost: cawl::SyncCost,
    head: Head,
}

#[pymethods]
impl SyncCost {
    #[new]
    #[pyo3(
        signature = (*, bw_ramdisk, bw_dev, bw_rdev, sc_sw, bs=Amount::from(512.0), c_sk=Amount::from(0.0), partial=Word::from("block")),
        text_signature = "(*, bw_ramdisk, bw_dev, bw_rdev, sc_sw, bs=512.0, c_sk=0.0, partial='block')"
    )]
    fn new(
        bw_ramdisk: Amount,
        bw_dev: Amount,
        bw_rdev: Amount,
        sc_sw: Amount,
        bs: Amount,
        c_sk: Amount,
        partial: Word,
    ) -> PyResult<Self> {
        let unit = Unit::ALL[one_of("partial", partial, &Unit::NAMES)?];
        let cost = cawl::SyncCost {
            bw_ramdisk: real("bw_ramdisk", bw_ramdisk)?,
            bw_dev: real("bw_dev", bw_dev)?,
            bw_rdev: real("bw_rdev", bw_rdev)?,
            bs: bytes("bs", bs)?.0,
            sc_sw: real("sc_sw", sc_sw)?,
            c_sk: real("c_sk", c_sk)?,
            unit,
        };
        cost.check().map_err(|error| wrong(&error))?;
        Ok(Self { cost, head: Head::default() })
    }

    /// Write a chunk.
    ///
    /// Parameters
    /// ----------
    /// offset_bytes, size_bytes : float
    ///
    /// Returns
    /// -------
    /// float
    ///     Seconds.
    fn write(&mut self, offset_bytes: Amount, size_bytes: Amount) -> PyResult<f64> {
        self.head.write(offset_bytes, size_bytes, |bytes, seeks| self.cost.cost(bytes, seeks))
    }

    /// Write chunks one after the other.
    ///
    /// Parameters
    /// ----------
    /// offset_bytes, size_bytes : array_like
    ///     One value for each chunk.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray of float
    ///     Seconds of each.
    fn write_all<'py>(
        &mut self,
        py: Python<'py>,
        offset_bytes: Numbers<'py>,
        size_bytes: Numbers<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.head.write_all(py, &offset_bytes, &size_bytes, |bytes, seeks| self.cost.cost(bytes, seeks))
    }
}

/// What a buffered write by a system call costs: Algorithm 1 of the CAWL paper, with the dirty blocks of the page cache.
///
/// Parameters
/// ----------
/// bw_ramdisk : float
///     Rate of writing into the page cache while nothing is written back, in bytes per second.
/// bw_reduced : float
///     The same while dirty blocks are written back.
/// bw_dev : float
///     Rate at which the device writes, in bytes per second.
/// limit_bg, limit_hard : int
///     Dirty bytes at which writing back begins, and that are never exceeded. A writer is throttled above their mean, the set point.
/// dirty_expire : float
///     Age from which on blocks are written back in any case, in seconds.
/// sc_w : float
///     Cost of a system call, in seconds.
/// throttling : {"minimum", "harmonic"}
///     Above the set point the lower one of `bw_reduced` and the average rate times the position ratio (the paper), or both in a
///     row (the released program).
/// bw_sync : float, optional
///     Rate of writing back, in bytes per second, if it is not `bw_dev`: the released program has one.
///
/// Raises
/// ------
/// ScenarioError
///     A parameter that cannot be; it is a ``ValueError``.
///
/// Examples
/// --------
/// >>> from pagecast.cawl import SyscallCost
/// >>> cost = SyscallCost(bw_ramdisk=2e9, bw_reduced=1e9, bw_dev=500e6, limit_bg=4e9, limit_hard=8e9)
/// >>> cost.write(0, 1e9), cost.dirty_bytes
/// (0.5, 1000000000)
/// >>> seconds, dirty_bytes = cost.write_all([1e9, 2e9, 3e9, 4e9], [1e9] * 4, pause_s=0.1)
/// >>> [round(float(each), 3) for each in seconds]
/// [0.5, 0.5, 0.5, 0.5]
#[pyclass(module = "pagecast.cawl")]
pub struct SyscallCost(cawl::SyscallCost);

#[pymethods]
impl SyscallCost {
    #[new]
    #[pyo3(
        signature = (
        *, bw_ramdisk, bw_reduced, bw_dev, limit_bg, limit_hard, dirty_expire=Amount::from(30.0), sc_w=Amount::from(0.0), throttling=Word::from("minimum"), bw_sync=None
    ),
        text_signature = "(*, bw_ramdisk, bw_reduced, bw_dev, limit_bg, limit_hard, dirty_expire=30.0, sc_w=0.0, throttling='minimum', bw_sync=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "so many does the algorithm have")]
    fn new(
        bw_ramdisk: Amount,
        bw_reduced: Amount,
        bw_dev: Amount,
        limit_bg: Amount,
        limit_hard: Amount,
        dirty_expire: Amount,
        sc_w: Amount,
        throttling: Word,
        bw_sync: Option<Amount>,
    ) -> PyResult<Self> {
        let cache = PageCache {
            bw_ramdisk: real("bw_ramdisk", bw_ramdisk)?,
            bw_reduced: real("bw_reduced", bw_reduced)?,
            bw_dev: real("bw_dev", bw_dev)?,
            bw_sync: bw_sync.map(|rate| real("bw_sync", rate)).transpose()?,
            sc_w: real("sc_w", sc_w)?,
            limit_bg: bytes("limit_bg", limit_bg)?.0,
            limit_hard: bytes("limit_hard", limit_hard)?.0,
            dirty_expire: real("dirty_expire", dirty_expire)?,
            throttling: Throttling::ALL[one_of("throttling", throttling, &Throttling::NAMES)?],
        };
        Ok(Self(cawl::SyscallCost::new(cache).map_err(|error| wrong(&error))?))
    }

    /// Write a chunk.
    ///
    /// Parameters
    /// ----------
    /// offset_bytes, size_bytes : float
    /// pause_s : float
    ///     Seconds between the end of the chunk before and this one.
    /// at_s : float, optional
    ///     Instead: when it is written. If the chunk before ends later, then at once.
    /// file : int
    ///     Number of the file.
    ///
    /// Returns
    /// -------
    /// float
    ///     Seconds.
    #[pyo3(
        signature = (offset_bytes, size_bytes, *, pause_s=Amount::from(0.0), at_s=None, file=Whole::from(0)),
        text_signature = "($self, offset_bytes, size_bytes, *, pause_s=0.0, at_s=None, file=0)"
    )]
    fn write(
        &mut self,
        offset_bytes: Amount,
        size_bytes: Amount,
        pause_s: Amount,
        at_s: Option<Amount>,
        file: Whole,
    ) -> PyResult<f64> {
        let (offset, size) = (bytes("offset_bytes", offset_bytes)?.0, bytes("size_bytes", size_bytes)?.0);
        let pause = Moment::of(pause_s, at_s)?.pause(self.0.time());
        Ok(self.0.write(file_number(file)?, offset, size, pause).seconds)
    }

    /// Write chunks one after the other.
    ///
    /// Parameters
    /// ----------
    /// offset_bytes, size_bytes : array_like
    ///     One value for each chunk.
    /// pause_s : float or array_like, optional
    ///     Seconds between the end of the chunk before and each.
    /// at_s : array_like, optional
    ///     Instead: when each is written. If the chunk before ends later, then at once.
    /// file : int
    ///     Number of the file.
    ///
    /// Returns
    /// -------
    /// seconds : numpy.ndarray of float
    ///     Of each chunk.
    /// dirty_bytes : numpy.ndarray of int
    ///     After each chunk.
    #[pyo3(
        signature = (offset_bytes, size_bytes, *, pause_s=None, at_s=None, file=Whole::from(0)),
        text_signature = "($self, offset_bytes, size_bytes, *, pause_s=None, at_s=None, file=0)"
    )]
    fn write_all<'py>(
        &mut self,
        py: Python<'py>,
        offset_bytes: Numbers<'py>,
        size_bytes: Numbers<'py>,
        pause_s: Option<&Bound<'py, PyAny>>,
        at_s: Option<Numbers<'py>>,
        file: Whole,
    ) -> PyResult<SecondsAndDirty<'py>> {
        let chunks = chunks(&size_bytes, &offset_bytes)?;
        let moments = moments(pause_s, at_s, chunks.len())?;
        let file = file_number(file)?;
        let cost = &mut self.0;
        Ok(run_all(py, chunks.into_iter().zip(moments).collect(), |((offset, size), moment)| {
            let pause = moment.pause(cost.time());
            (cost.write(file, offset, size, pause).seconds, cost.dirty())
        }))
    }

    /// Write nothing for a while.
    ///
    /// Parameters
    /// ----------
    /// duration_s : float
    fn pause(&mut self, duration_s: Amount) -> PyResult<()> {
        self.0.pause(not_negative("duration_s", duration_s)?);
        Ok(())
    }

    /// Dirty bytes now.
    #[getter]
    fn dirty_bytes(&self) -> u64 {
        self.0.dirty()
    }

    /// Those of them that were written again while they were dirty.
    #[getter]
    fn active_bytes(&self) -> u64 {
        self.0.active()
    }

    /// Bytes that the device has written back.
    #[getter]
    fn cleaned_bytes(&self) -> u64 {
        self.0.cleaned()
    }

    /// Dirty bytes above which a writer is throttled.
    #[getter]
    fn setpoint_bytes(&self) -> u64 {
        self.0.cache().setpoint()
    }

    /// Seconds since the beginning: all pauses and chunks.
    #[getter]
    fn time_s(&self) -> f64 {
        self.0.time()
    }
}

/// What a write to a stream of the C library costs: Algorithm 2 of the CAWL paper.
///
/// The stream is written from the beginning of a file on. Small chunks go to the buffer; the one that does not fit has it written by a
/// system call, and what of it would fill the buffer again goes past it.
///
/// Parameters
/// ----------
/// calls : SyscallCost
///     What its system calls cost; a copy is made.
/// bw_mem : float
///     Rate of copying in memory, in bytes per second.
/// bf : int
///     Bytes of the buffer.
/// lib_metacost : float
///     What a call of the library costs besides, in seconds: the released program has it, the paper does not.
/// when_full : {"now", "next"}
///     A buffer that a write has just filled is written by that write (the paper's Figure 9) or by the next one (the released program).
///
/// Raises
/// ------
/// ScenarioError
///     A parameter that cannot be; it is a ``ValueError``.
///
/// Examples
/// --------
/// >>> from pagecast.cawl import LibraryCost, SyscallCost
/// >>> calls = SyscallCost(bw_ramdisk=2e9, bw_reduced=1e9, bw_dev=500e6, limit_bg=4e9, limit_hard=8e9)
/// >>> stream = LibraryCost(calls, bw_mem=8e9)
/// >>> seconds, dirty_bytes = stream.write_all([512] * 10)
/// >>> [int(each) for each in dirty_bytes]
/// [0, 0, 0, 0, 0, 0, 0, 4096, 4096, 4096]
#[pyclass(module = "pagecast.cawl")]
pub struct LibraryCost(cawl::LibraryCost);

#[pymethods]
impl LibraryCost {
    #[new]
    #[pyo3(
        signature = (calls, *, bw_mem, bf=Amount::from(4096.0), lib_metacost=Amount::from(0.0), when_full=Word::from("now")),
        text_signature = "(calls, *, bw_mem, bf=4096.0, lib_metacost=0.0, when_full='now')"
    )]
    fn new(
        calls: &SyscallCost,
        bw_mem: Amount,
        bf: Amount,
        lib_metacost: Amount,
        when_full: Word,
    ) -> PyResult<Self> {
        let when_full = WhenFull::ALL[one_of("when_full", when_full, &WhenFull::NAMES)?];
        let stream = Stream {
            bw_mem: real("bw_mem", bw_mem)?,
            bf: bytes("bf", bf)?.0,
            lib_metacost: real("lib_metacost", lib_metacost)?,
            when_full,
        };
        Ok(Self(cawl::LibraryCost::new(stream, calls.0.clone()).map_err(|error| wrong(&error))?))
    }

    /// Write the next bytes of the stream.
    ///
    /// Parameters
    /// ----------
    /// size_bytes : float
    /// pause_s : float
    ///     Seconds between the end of the chunk before and this one.
    /// at_s : float, optional
    ///     Instead: when it is written. If the chunk before ends later, then at once.
    ///
    /// Returns
    /// -------
    /// float
    ///     Seconds.
    #[pyo3(
        signature = (size_bytes, *, pause_s=Amount::from(0.0), at_s=None),
        text_signature = "($self, size_bytes, *, pause_s=0.0, at_s=None)"
    )]
    fn write(&mut self, size_bytes: Amount, pause_s: Amount, at_s: Option<Amount>) -> PyResult<f64> {
        let size = bytes("size_bytes", size_bytes)?.0;
        let pause = Moment::of(pause_s, at_s)?.pause(self.0.time());
        Ok(self.0.write(size, pause))
    }

    /// Write chunks one after the other.
    ///
    /// Parameters
    /// ----------
    /// size_bytes : array_like
    ///     One value for each chunk.
    /// pause_s : float or array_like, optional
    ///     Seconds between the end of the chunk before and each.
    /// at_s : array_like, optional
    ///     Instead: when each is written. If the chunk before ends later, then at once.
    ///
    /// Returns
    /// -------
    /// seconds : numpy.ndarray of float
    ///     Of each chunk.
    /// dirty_bytes : numpy.ndarray of int
    ///     After each chunk.
    #[pyo3(signature = (size_bytes, *, pause_s=None, at_s=None))]
    fn write_all<'py>(
        &mut self,
        py: Python<'py>,
        size_bytes: Numbers<'py>,
        pause_s: Option<&Bound<'py, PyAny>>,
        at_s: Option<Numbers<'py>>,
    ) -> PyResult<SecondsAndDirty<'py>> {
        let sizes = all_bytes("size_bytes", &size_bytes)?;
        let moments = moments(pause_s, at_s, sizes.len())?;
        let stream = &mut self.0;
        Ok(run_all(py, sizes.into_iter().zip(moments).collect(), |(size, moment)| {
            let pause = moment.pause(stream.time());
            (stream.write(size, pause), stream.calls().dirty())
        }))
    }

    /// Write what the buffer holds, as fflush and fclose do.
    ///
    /// Returns
    /// -------
    /// float
    ///     Seconds.
    fn flush(&mut self) -> f64 {
        self.0.flush()
    }

    /// Bytes in the buffer.
    #[getter]
    fn pending_bytes(&self) -> u64 {
        self.0.pending()
    }

    /// Dirty bytes as of the last system call.
    #[getter]
    fn dirty_bytes(&self) -> u64 {
        self.0.calls().dirty()
    }

    /// Seconds since the beginning: all pauses and chunks.
    #[getter]
    fn time_s(&self) -> f64 {
        self.0.time()
    }
}
