//! Reads the kernel's traced events of write-back while the processes run, in an instance of its own (Documentation/trace/ftrace.rst), so
//! that nobody else's tracing is disturbed.
//!
//! Needs root, and tracefs where it is usually mounted. The instance has a ring: if it overflows, the last events are there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use pagecast_core::units::{Bytes, Nanos};

use crate::error::ProbeError;

/// The events, all of `include/trace/events/writeback.h`.
const EVENTS: [&str; 4] =
    ["balance_dirty_pages", "bdi_dirty_ratelimit", "global_dirty_state", "writeback_single_inode"];
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// The names of our instances: this, and the number of the process that made it.
const PREFIX: &str = "pagecast-";
/// What the rings of all processors hold together.
const RINGS_KIB: usize = 64 << 10;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The time from time 0 on.
    pub time: Nanos,
    /// Its name.
    pub event: &'static str,
    /// In whose time: name and number of the thread.
    pub task: String,
    /// Its text, as the kernel prints it.
    pub text: String,
}

impl Traced {
    /// The number after `name=`.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        let value = self.text.split([' ', ':']).find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        value?.parse().ok()
    }

    /// The device that it is about: "254:0".
    #[must_use]
    pub fn bdi(&self) -> Option<&str> {
        self.text.strip_prefix("bdi ")?.split(": ").next()
    }

    /// The bytes per second after `name=`; the kernel prints KiB per second (`KBps` of writeback.h).
    #[must_use]
    pub fn rate(&self, name: &str) -> Option<Bytes> {
        self.number(name).map(|rate| Bytes(rate * 1024))
    }
}

/// Events being recorded; the instance is removed when this is dropped.
pub(super) struct Tracing {
    instance: PathBuf,
}

impl Tracing {
    /// Begins to record.
    ///
    /// # Errors
    /// [`ProbeError::NoTracefs`] and [`ProbeError::NeedsRoot`].
    pub fn start() -> Result<Self, ProbeError> {
        let instances = instances()?;
        remove_left_over(&instances);
        let instance = instances.join(format!("{PREFIX}{}", std::process::id()));
        let made = fs::create_dir(&instance).map(|()| Self { instance: instance.clone() });
        made.and_then(|tracing| tracing.enable().map(|()| tracing)).map_err(|error| refused(&instance, error))
    }

    fn enable(&self) -> io::Result<()> {
        let write = |name: &str, text: &str| fs::write(self.instance.join(name), text);
        write("trace_clock", "mono")?;
        let rings = available_parallelism().map_or(1, usize::from);
        write("buffer_size_kb", &(RINGS_KIB / rings).max(1024).to_string())?;
        EVENTS.iter().try_for_each(|event| write(&format!("events/writeback/{event}/enable"), "1"))
    }

    /// Stops, and gives what was recorded from `zero` on.
    ///
    /// # Errors
    /// [`ProbeError::System`] if it cannot be read.
    pub fn stop(self, zero: Nanos) -> Result<Vec<Traced>, ProbeError> {
        let _ = fs::write(self.instance.join("tracing_on"), "0");
        let path = self.instance.join("trace");
        let text = fs::read(&path).map_err(|source| ProbeError::System { path, doing: "read", source })?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.lines().filter_map(|line| parsed(line, zero)).collect())
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.instance);
    }
}

/// Checks that events can be recorded, and changes nothing.
///
/// # Errors
/// [`ProbeError::NoTracefs`] and [`ProbeError::NeedsRoot`].
pub fn check_tracing() -> Result<(), ProbeError> {
    instances().map(drop)
}

fn instances() -> Result<PathBuf, ProbeError> {
    let mut errors = Vec::new();
    for place in PLACES {
        let instances = Path::new(place).join("instances");
        match rustix::fs::access(&instances, rustix::fs::Access::WRITE_OK) {
            Ok(()) => return Ok(instances),
            Err(error) => errors.push((instances, io::Error::from(error))),
        }
    }
    // One that is there and refuses says more than one that is not.
    let there = errors.iter().position(|(_, error)| error.kind() != io::ErrorKind::NotFound);
    let (path, error) = errors.swap_remove(there.unwrap_or(0));
    Err(refused(&path, error))
}

fn refused(path: &Path, error: io::Error) -> ProbeError {
    match error.kind() {
        io::ErrorKind::NotFound => ProbeError::NoTracefs { path: path.to_owned(), source: error },
        _ => ProbeError::NeedsRoot {
            what: "tracing",
            missing: format!("{}: {error}", path.display()),
            remedy: "run it with sudo, or leave tracing out",
        },
    }
}

/// Removes the instances of processes that were killed.
fn remove_left_over(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if maker.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// A line of `trace`: "  name-12  [001] d..2.  34.567890: event: text".
fn parsed(line: &str, zero: Nanos) -> Option<Traced> {
    let (event, head, text) = EVENTS.iter().find_map(|&event| {
        let (head, text) = line.split_once(&format!(": {event}: "))?;
        Some((event, head, text))
    })?;
    let (seconds, micros) = head.rsplit(' ').next()?.split_once('.')?;
    let time = Nanos(seconds.parse::<u64>().ok()? * 1_000_000_000 + micros.parse::<u64>().ok()? * 1000);
    let task = head.rsplit_once('[')?.0.trim().to_owned();
    (time >= zero).then(|| Traced { time: time.saturating_sub(zero), event, task, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "   kworker/u8:1-123   [001] .....  1000.500250: bdi_dirty_ratelimit: bdi 254:0: write_bw=102400 \
        awrite_bw=100 dirty_rate=7 dirty_ratelimit=64 task_ratelimit=32 balanced_dirty_ratelimit=16 cgroup_ino=1";

    #[test]
    fn a_line_has_its_time_its_task_and_its_numbers() {
        let traced = parsed(LINE, Nanos(1_000_000_000_000)).unwrap();
        assert_eq!(
            (traced.time, &*traced.task, traced.event),
            (Nanos(500_250_000), "kworker/u8:1-123", "bdi_dirty_ratelimit")
        );
        assert_eq!((traced.bdi(), traced.number("dirty_rate")), (Some("254:0"), Some(7)));
        assert_eq!(
            (traced.rate("write_bw"), traced.rate("awrite_bw")),
            (Some(Bytes(104_857_600)), Some(Bytes(102_400)))
        );
        assert_eq!(traced.number("limit"), None, "names are whole");
    }

    #[test]
    fn what_is_older_or_else_is_left_out() {
        assert_eq!(parsed(LINE, Nanos(1_001_000_000_000)), None);
        assert_eq!(parsed("# tracer: nop", Nanos::ZERO), None);
    }
}
