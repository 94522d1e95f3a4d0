//! Reads the operations that a Python program yields.

use std::num::NonZeroU32;
use std::sync::Arc;

use pagecast_core::workload::{
    self, Action, Advice, Buffer, CopyBy, OpenFlag, OpenFlags, SleepSpread, SyncRangeFlag, SyncRangeFlags,
};
use pyo3::prelude::*;

use crate::errors::ScenarioError;
use crate::pattern::{Pattern, depth_of, interface, pattern_or_none};
use crate::quantity::{
    Amount, Flag, Whole, Word, bytes, call_size, name_of, one_of, part, path, places, seconds, texts,
};
use crate::stdio::size_of;

/// One step of a program; made by `read`, `write` and the other functions of this module.
#[pyclass(frozen, eq, module = "pagecast._core")]
#[derive(Clone, PartialEq)]
pub struct Operation(pub workload::Operation);

impl From<Action> for Operation {
    fn from(action: Action) -> Self {
        Self(action.into())
    }
}

#[pymethods]
impl Operation {
    /// The operation's name in every table and scenario.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.action.name()
    }

    /// The file it is about, or None.
    #[getter]
    fn path(&self) -> Option<&str> {
        self.0.action.path().map(AsRef::as_ref)
    }

    /// The same, but it does not begin before a time after the start of its process.
    ///
    /// Parameters
    /// ----------
    /// time_s : float
    ///
    /// Returns
    /// -------
    /// Operation
    #[pyo3(signature = (time_s, /))]
    fn not_before(&self, time_s: Amount) -> PyResult<Self> {
        let not_before = Some(seconds("time_s", time_s)?);
        Ok(Self(workload::Operation { not_before, ..self.0.clone() }))
    }

    /// The same, but its process does not wait for its end. It begins when fewer than `depth` of those of its process are under way.
    ///
    /// Parameters
    /// ----------
    /// depth : int
    /// by : {"threads", "libaio", "io_uring", "posix_aio"}
    ///     The interface; some operations have ended when they are submitted.
    ///
    /// Returns
    /// -------
    /// Operation
    ///
    /// Raises
    /// ------
    /// ScenarioError
    ///     It is none of one `read`, `write`, `fsync`, `fdatasync` or `sync_file_range`, or has several calls, or takes memory.
    #[pyo3(
        signature = (*, depth, by=Word::from("threads")),
        text_signature = "($self, *, depth, by='threads')"
    )]
    fn asynchronous(&self, depth: Whole, by: Word) -> PyResult<Self> {
        let (depth, by) = (NonZeroU32::new(depth_of(depth)?), interface(by)?);
        let has_calls = matches!(
            self.0.action,
            Action::Read { call: Some(_), .. } | Action::Write { call: Some(_), .. } | Action::Pattern(_)
        );
        if has_calls || !self.0.action.may_be_asynchronous() {
            let remedy =
                if has_calls { "for many calls at once use Pattern(depth=...)" } else { "leave it out" };
            return Err(ScenarioError::new_err(format!(
                "{} cannot be asynchronous; {remedy}",
                self.__repr__()
            )));
        }
        Ok(Self(workload::Operation { depth, by, ..self.0.clone() }))
    }

    fn __repr__(&self) -> String {
        let target = self.0.action.target().map(ToString::to_string);
        let words = [Some(self.name().to_owned()), self.path().map(str::to_owned), target, self.detail()];
        format!("<{}>", words.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

impl Operation {
    /// What else there is to say of it: how many bytes, for how long, what it waits for.
    fn detail(&self) -> Option<String> {
        Some(match &self.0.action {
            Action::Read { bytes, .. } | Action::Copy { bytes, .. } | Action::Free { bytes } => {
                bytes.as_ref()?.to_string()
            }
            Action::Write { bytes, .. } | Action::Allocate { bytes } => bytes.to_string(),
            Action::Pattern(pattern) => pattern.bytes.as_ref()?.to_string(),
            Action::Mapped { call, .. } => call.part().1?.to_string(),
            Action::Stream { call, .. } => size_of(call)?.to_string(),
            Action::Compute { time } | Action::Sleep { time, .. } => time.to_string(),
            Action::Wait { event } | Action::Signal { event } => event.to_string(),
            Action::SyncFs { path } => path.to_string(),
            _ => return None,
        })
    }
}

/// Read a file, or a piece of it, as read(2) does.
///
/// Parameters
/// ----------
/// path : str or path-like
///     Absolute, as the process's host sees it.
/// offset_bytes : float
///     First byte.
/// size_bytes : float, optional
///     How many bytes; up to the end of the file if not given.
/// call_bytes : float, optional
///     Bytes of one call; all in one if not given.
/// vector : int
///     In how many places of memory a call has its bytes, 1 to 1024: with more than one it is readv(2).
/// buffer : {"reused", "fresh"}
///     "fresh" takes new anonymous memory of the size of the read, held until `free` or the process's end.
/// pattern : Pattern, optional
///     The order, rate and depth of its calls; without `vector` and `buffer`.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, offset_bytes=Amount::from(0.0), size_bytes=None, call_bytes=None, vector=Whole::from(1), buffer=Word::from("reused"), pattern=None),
    text_signature = "(path, *, offset_bytes=0, size_bytes=None, call_bytes=None, vector=1, buffer='reused', pattern=None)"
)]
pub fn read(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    offset_bytes: Amount,
    size_bytes: Option<Amount>,
    call_bytes: Option<Amount>,
    vector: Whole,
    buffer: Word,
    #[pyo3(from_py_with = pattern_or_none)] pattern: Option<Pattern>,
) -> PyResult<Operation> {
    let buffer = [Buffer::Reused, Buffer::Fresh][one_of("buffer", buffer, &Buffer::NAMES)?];
    let offset = bytes("offset_bytes", offset_bytes)?.0;
    let size = size_bytes.map(|size| bytes("size_bytes", size)).transpose()?;
    let call = call_size(call_bytes)?;
    let vector = places(vector)?;
    match pattern {
        Some(_) if vector > 1 || buffer == Buffer::Fresh => {
            Err(ScenarioError::new_err("a pattern has neither vector nor buffer; remove them"))
        }
        Some(pattern) => Ok(pattern.of(path, offset, (size, call), false)?.into()),
        None => Ok(Action::Read { path, offset: Some(offset), bytes: size, call, vector, buffer }.into()),
    }
}

/// Write to a file as write(2) does; makes it if it is not there.
///
/// Parameters
/// ----------
/// path : str or path-like
///     Absolute, as the process's host sees it.
/// size_bytes : float
///     How many bytes.
/// offset_bytes : float
///     First byte.
/// append : bool
///     Write at the end of the file instead.
/// call_bytes : float, optional
///     Bytes of one call; all in one if not given.
/// vector : int
///     In how many places of memory a call has its bytes, 1 to 1024: with more than one it is writev(2).
/// pattern : Pattern, optional
///     The order, rate and depth of its calls; without `vector` and `append`.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, size_bytes, offset_bytes=Amount::from(0.0), append=Flag::from(false), call_bytes=None, vector=Whole::from(1), pattern=None),
    text_signature = "(path, *, size_bytes, offset_bytes=0, append=False, call_bytes=None, vector=1, pattern=None)"
)]
pub fn write(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    size_bytes: Amount,
    offset_bytes: Amount,
    append: Flag,
    call_bytes: Option<Amount>,
    vector: Whole,
    #[pyo3(from_py_with = pattern_or_none)] pattern: Option<Pattern>,
) -> PyResult<Operation> {
    let size = bytes("size_bytes", size_bytes)?;
    let offset = bytes("offset_bytes", offset_bytes)?.0;
    let call = call_size(call_bytes)?;
    let (vector, append) = (places(vector)?, append.truth("append")?);
    if let Some(pattern) = pattern {
        if vector > 1 || append {
            return Err(ScenarioError::new_err("a pattern has neither vector nor append; remove them"));
        }
        return Ok(pattern.of(path, offset, (Some(size), call), true)?.into());
    }
    Ok(Action::Write { path, offset: (!append).then_some(offset), bytes: size, call, vector }.into())
}

/// Copy a file, or a piece of it, to the same place in another one; makes that if it is not there.
///
/// Parameters
/// ----------
/// path : str or path-like
///     The file that is read.
/// to : str or path-like
///     The file that is written.
/// by : {"read_write", "sendfile", "copy_file_range"}
///     With which system calls.
/// offset_bytes : float
///     First byte, in both files.
/// size_bytes : float, optional
///     How many bytes; up to the end of the file that is read if not given.
/// call_bytes : float, optional
///     Bytes of one call; all in one if not given, 256 KiB with "read_write".
///
/// Returns
/// -------
/// Operation
///
/// Raises
/// ------
/// ScenarioError
///     A size that cannot be, or twice the same path.
#[pyfunction]
#[pyo3(
    signature = (path, to, *, by, offset_bytes=Amount::from(0.0), size_bytes=None, call_bytes=None),
    text_signature = "(path, to, *, by, offset_bytes=0, size_bytes=None, call_bytes=None)"
)]
pub fn copy(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    #[pyo3(from_py_with = path)] to: Arc<str>,
    by: Word,
    offset_bytes: Amount,
    size_bytes: Option<Amount>,
    call_bytes: Option<Amount>,
) -> PyResult<Operation> {
    let by = CopyBy::ALL[one_of("by", by, &CopyBy::NAMES)?];
    let (offset, bytes) = part(offset_bytes, size_bytes)?;
    let call = call_size(call_bytes)?;
    if path == to {
        return Err(ScenarioError::new_err(format!("to=\"{to}\" is the file itself; name another one")));
    }
    Ok(Action::Copy { path, to, by, offset, bytes, call }.into())
}

/// Open a file as open(2) does; takes no time by itself.
///
/// Parameters
/// ----------
/// path : str or path-like
/// create : bool
///     Make the file if it is not there.
/// truncate : bool
///     Empty it; its pages leave the cache, dirty ones unwritten.
/// flags : sequence of {"O_DIRECT", "O_SYNC", "O_DSYNC", "O_APPEND", "RWF_DONTCACHE"}
///     How the process reads and writes the file until it closes it or opens it again.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, create=Flag::from(false), truncate=Flag::from(false), flags=Vec::new()),
    text_signature = "(path, *, create=False, truncate=False, flags=())"
)]
pub fn open(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    create: Flag,
    truncate: Flag,
    #[pyo3(from_py_with = texts)] flags: Vec<String>,
) -> PyResult<Operation> {
    let flag = |name: &String| Ok(OpenFlag::ALL[one_of("flags", name, &OpenFlag::NAMES)?]);
    let flags = flags.iter().map(flag).collect::<PyResult<OpenFlags>>()?;
    let (create, truncate) = (create.truth("create")?, truncate.truth("truncate")?);
    Ok(Action::Open { path, create, truncate, flags }.into())
}

/// Close a file; takes no time.
///
/// Parameters
/// ----------
/// path : str or path-like
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn close(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    Action::Close { path }.into()
}

/// Wait until the file's dirty pages are on its device, as fsync(2) does.
///
/// Parameters
/// ----------
/// path : str or path-like
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn fsync(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    Action::Fsync { path }.into()
}

/// Wait until the file's dirty pages are on its device, as fdatasync(2) does: as `fsync`, as long as there is no journal.
///
/// Parameters
/// ----------
/// path : str or path-like
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn fdatasync(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    Action::Fdatasync { path }.into()
}

/// Wait until no asynchronous operation of the process is under way.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn drain() -> Operation {
    Action::Drain.into()
}

/// Wait until all dirty pages of the process's host are on their devices, as sync(2) does.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn sync() -> Operation {
    Action::Sync.into()
}

/// Wait until all dirty pages of one file system are on its device, as syncfs(2) does.
///
/// Parameters
/// ----------
/// path : str or path-like
///     A directory or file on it; it need not be there.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn syncfs(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    Action::SyncFs { path }.into()
}

/// Write pages of a file, or a piece of it, or wait for them, as sync_file_range(2) does; makes nothing durable.
///
/// Parameters
/// ----------
/// path : str or path-like
/// flags : sequence of {"WAIT_BEFORE", "WRITE", "WAIT_AFTER"}
///     What is done, in this order.
/// offset_bytes : float
///     First byte.
/// size_bytes : float, optional
///     How many bytes; up to the end of the file if not given.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, flags, offset_bytes=Amount::from(0.0), size_bytes=None),
    text_signature = "(path, *, flags, offset_bytes=0, size_bytes=None)"
)]
pub fn sync_file_range(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    #[pyo3(from_py_with = texts)] flags: Vec<String>,
    offset_bytes: Amount,
    size_bytes: Option<Amount>,
) -> PyResult<Operation> {
    let flag = |name: &String| Ok(SyncRangeFlag::ALL[one_of("flags", name, &SyncRangeFlag::NAMES)?]);
    let flags = flags.iter().map(flag).collect::<PyResult<SyncRangeFlags>>()?;
    let (offset, bytes) = part(offset_bytes, size_bytes)?;
    Ok(Action::SyncFileRange { path, offset, bytes, flags }.into())
}

/// Have a file, or a piece of it, read into the page cache without waiting for it, as readahead(2) does.
///
/// Parameters
/// ----------
/// path : str or path-like
/// offset_bytes : float
///     First byte.
/// size_bytes : float, optional
///     How many bytes; up to the end of the file if not given.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, offset_bytes=Amount::from(0.0), size_bytes=None),
    text_signature = "(path, *, offset_bytes=0, size_bytes=None)"
)]
pub fn readahead(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    offset_bytes: Amount,
    size_bytes: Option<Amount>,
) -> PyResult<Operation> {
    let (offset, bytes) = part(offset_bytes, size_bytes)?;
    Ok(Action::Readahead { path, offset, bytes }.into())
}

/// Set the size of a file; pages beyond it leave the cache, dirty ones unwritten.
///
/// Parameters
/// ----------
/// path : str or path-like
/// size_bytes : float
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(signature = (path, *, size_bytes))]
pub fn truncate(#[pyo3(from_py_with = path)] path: Arc<str>, size_bytes: Amount) -> PyResult<Operation> {
    Ok(Action::Truncate { path, size: bytes("size_bytes", size_bytes)? }.into())
}

/// Give a file or a directory another name.
///
/// Parameters
/// ----------
/// path : str or path-like
/// to : str or path-like
///     On the same mount. A file of that name is replaced.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn rename(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    #[pyo3(from_py_with = path)] to: Arc<str>,
) -> Operation {
    Action::Rename { path, to }.into()
}

/// Make a directory.
///
/// Parameters
/// ----------
/// path : str or path-like
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn mkdir(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    Action::Mkdir { path }.into()
}

/// Remove a file and its pages.
///
/// Parameters
/// ----------
/// path : str or path-like
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn unlink(#[pyo3(from_py_with = path)] path: Arc<str>) -> Operation {
    Action::Unlink { path }.into()
}

/// Drop all clean pages of the process's host, as writing 3 to /proc/sys/vm/drop_caches does.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn drop_caches() -> Operation {
    Action::DropCaches.into()
}

/// Tell the kernel how a file, or a piece of it, will be used, as posix_fadvise(2) does.
///
/// Parameters
/// ----------
/// path : str or path-like
/// advice : {"dontneed", "willneed", "sequential", "random", "normal", "noreuse"}
/// offset_bytes : float
///     First byte.
/// size_bytes : float, optional
///     How many bytes; up to the end of the file if not given.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(
    signature = (path, *, advice, offset_bytes=Amount::from(0.0), size_bytes=None),
    text_signature = "(path, *, advice, offset_bytes=0, size_bytes=None)"
)]
pub fn fadvise(
    #[pyo3(from_py_with = path)] path: Arc<str>,
    advice: Word,
    offset_bytes: Amount,
    size_bytes: Option<Amount>,
) -> PyResult<Operation> {
    let advice = Advice::ALL[one_of("advice", advice, &Advice::NAMES)?];
    let (offset, bytes) = part(offset_bytes, size_bytes)?;
    Ok(Action::Fadvise { path, advice, offset, bytes }.into())
}

/// Work on one core; takes longer when more processes than cores run.
///
/// Parameters
/// ----------
/// duration_s : float
///     Time on an idle host.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn compute(duration_s: Amount) -> PyResult<Operation> {
    Ok(Action::Compute { time: seconds("duration_s", duration_s)? }.into())
}

/// Wait without a core.
///
/// Parameters
/// ----------
/// duration_s : float
/// random : {"uniform", "exponential"}, optional
///     Draw each time; `duration_s` is the mean. Equal seeds draw equal times.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(signature = (duration_s, *, random = None))]
pub fn sleep(duration_s: Amount, random: Option<Word>) -> PyResult<Operation> {
    let random = match random {
        Some(word) => Some(SleepSpread::ALL[one_of("random", word, &SleepSpread::NAMES)?]),
        None => None,
    };
    Ok(Action::Sleep { time: seconds("duration_s", duration_s)?, random }.into())
}

/// Take anonymous memory.
///
/// Parameters
/// ----------
/// size_bytes : float
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn alloc(size_bytes: Amount) -> PyResult<Operation> {
    Ok(Action::Allocate { bytes: bytes("size_bytes", size_bytes)? }.into())
}

/// Give anonymous memory back.
///
/// Parameters
/// ----------
/// size_bytes : float, optional
///     How much; all that the process holds if not given.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
#[pyo3(signature = (size_bytes=None))]
pub fn free(size_bytes: Option<Amount>) -> PyResult<Operation> {
    Ok(Action::Free { bytes: size_bytes.map(|size| bytes("size_bytes", size)).transpose()? }.into())
}

/// Wait until an event has been signalled.
///
/// Parameters
/// ----------
/// event : str
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn wait(event: Word) -> PyResult<Operation> {
    Ok(Action::Wait { event: name_of("event", event)?.into() }.into())
}

/// Signal an event, once and for all.
///
/// Parameters
/// ----------
/// event : str
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn signal(event: Word) -> PyResult<Operation> {
    Ok(Action::Signal { event: name_of("event", event)?.into() }.into())
}

/// End the process here, which frees its memory.
///
/// Returns
/// -------
/// Operation
#[pyfunction]
pub fn exit() -> Operation {
    Action::Exit.into()
}
