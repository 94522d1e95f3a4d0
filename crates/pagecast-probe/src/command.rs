//! Runs a command, and counts its reads from the cache and from devices.
//!
//! The kernel counts read calls and bytes from devices of the process and of the children that it waited for (/proc/PID/io, rusage). It
//! also counts the whole device (/sys/dev/block), for everybody. Left out: reads through mappings are in no counter of calls; they show as
//! bytes from the device, or not at all if they were cached.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pagecast_core::units::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Access;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::cgroup::MemoryGroup;
use crate::counters::{DeviceCounters, ProcessCounters, device_name};
use crate::error::ProbeError;
use crate::syscall::{reap, write_before_exec};
use crate::watch::{LOOK_PERIOD, Progress, Watcher};

/// How long a command that was told to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// The most that an unprivileged pipe may hold (/proc/sys/fs/pipe-max-size).
const PIPE_BYTES: usize = 1 << 20;

/// The way to run a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'a> {
    /// The group it runs in, if its memory is to be limited.
    pub group: Option<&'a MemoryGroup>,
    /// Let it write to our stderr; otherwise what it writes to stdout is taken and thrown away.
    pub show_output: bool,
    /// Block devices whose counters are read before and after.
    pub devices: &'a [u64],
}

/// The time and the reads of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// From before it was started until it had ended.
    pub wall_s: f64,
    /// Processor time in user space.
    pub user_s: f64,
    /// Processor time in the kernel.
    pub system_s: f64,
    /// Its end: the code it gave, or the signal that ended it.
    pub status: ExitStatus,
    /// Its counters; nothing if the kernel keeps them from us (a program that changes its user).
    pub process: Option<ProcessCounters>,
    /// Bytes that were fetched from devices for it and its children, from rusage.
    pub device_read: Bytes,
    /// Page faults that needed a device.
    pub major_faults: u64,
    /// By name, what each device has done meanwhile, for everybody.
    pub devices: Vec<(String, DeviceCounters)>,
}

impl Run {
    /// The exit code, or 128 + signal as shells say it.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }
}

/// Finds a command as a shell does, before anything is changed for it.
///
/// # Errors
/// [`ProbeError::Command`].
pub fn find(name: &OsStr) -> Result<PathBuf, ProbeError> {
    let failed = |error: Errno| ProbeError::Command { command: name.into(), source: error.into() };
    let is_executable = |path: &Path| path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok();
    let path = Path::new(name);
    if path.components().count() > 1 || name.as_encoded_bytes().contains(&b'/') {
        return match (path.exists(), is_executable(path)) {
            (_, true) => Ok(path.to_owned()),
            (true, false) => Err(failed(Errno::ACCESS)),
            (false, _) => Err(failed(Errno::NOENT)),
        };
    }
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&directories).map(|directory| directory.join(path));
    places.find(|place| is_executable(place)).ok_or_else(|| failed(Errno::NOENT))
}

/// Runs a command to its end and counts.
///
/// # Errors
/// [`ProbeError::Command`] if it cannot be started, and [`ProbeError::Interrupted`]: then it has been ended.
pub fn run(command: &[OsString], settings: Settings<'_>, watch: &mut Watcher<'_>) -> Result<Run, ProbeError> {
    let [name, arguments @ ..] = command else {
        return Err(ProbeError::Command { command: PathBuf::new(), source: Errno::NOENT.into() });
    };
    let failed = |source| ProbeError::Command { command: name.into(), source };
    let counters = |device: &u64| Some((device_name(*device)?, DeviceCounters::of(*device)?));
    let before: Vec<_> = settings.devices.iter().filter_map(counters).collect();

    let (pipe, stdout) = output(settings.show_output).map_err(failed)?;
    let mut starter = Command::new(name);
    // A process group of its own, so that it can be ended with all that it has started.
    starter.args(arguments).stdin(Stdio::null()).stdout(stdout).process_group(0);
    if let Some(group) = settings.group {
        write_before_exec(&mut starter, group.door().map_err(failed)?, b"0");
    }
    let begun = Instant::now();
    let child = starter.spawn().map_err(failed)?;
    drop(starter); // and with it our end of the pipe for writing
    let pid = child.id();
    let process = Pid::from_raw(pid as i32).expect("a process that was started has a number");
    let descriptor = pidfd_open(process, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
    let outcome = follow(process, &descriptor, pipe, begun, watch);
    let wall_s = begun.elapsed().as_secs_f64();

    // A process that has ended keeps its counters until it is waited for, but newer kernels show them to root only. When it
    // is waited for they are added to our own, where we and our other threads count as well.
    let process = ProcessCounters::of(pid).ok();
    let own = ProcessCounters::own();
    let (status, usage) = reap(pid).map_err(failed)?;
    let process = process.or_else(|| Some(ProcessCounters::own()?.since(own?)));
    outcome?;
    let devices = before.into_iter().zip(settings.devices.iter().filter_map(counters));
    let since = |before: DeviceCounters, after: DeviceCounters| DeviceCounters {
        read: after.read.saturating_sub(before.read),
        written: after.written.saturating_sub(before.written),
    };
    Ok(Run {
        wall_s,
        user_s: usage.user_s,
        system_s: usage.system_s,
        status,
        process,
        device_read: Bytes(usage.device_read_bytes),
        major_faults: usage.major_faults,
        devices: devices.map(|((name, before), (_, after))| (name, since(before, after))).collect(),
    })
}

/// Where the command writes to: our stderr, or a pipe that somebody empties. /dev/null would change what some programs do
/// (tar and grep do less for it).
fn output(is_shown: bool) -> io::Result<(Option<OwnedFd>, Stdio)> {
    if is_shown {
        return Ok((None, Stdio::from(io::stderr().as_fd().try_clone_to_owned()?)));
    }
    let (reading, writing) = pipe_with(PipeFlags::CLOEXEC)?;
    let _ = fcntl_setpipe_size(&reading, PIPE_BYTES);
    Ok((Some(reading), Stdio::from(writing)))
}

/// Waits for the end of a process and empties its pipe meanwhile. If the watcher breaks off, ends the process.
fn follow(
    group: Pid,
    process: &OwnedFd,
    mut pipe: Option<OwnedFd>,
    begun: Instant,
    watch: &mut Watcher<'_>,
) -> Result<(), ProbeError> {
    let nowhere = File::options().write(true).open("/dev/null").ok();
    let mut looked = Instant::now();
    loop {
        let (has_ended, has_output) = wait(process, pipe.as_ref(), LOOK_PERIOD);
        if has_output && !empty(pipe.as_ref(), nowhere.as_ref()) {
            pipe = None;
        }
        if has_ended {
            return Ok(());
        }
        if looked.elapsed() >= LOOK_PERIOD {
            looked = Instant::now();
            let progress = Progress { stage: "running", done: begun.elapsed().as_secs(), total: None };
            if watch(progress).is_break() {
                end(group, process);
                return Err(ProbeError::Interrupted);
            }
        }
    }
}

/// Waits until a process has ended or has written something, but not longer than `patience`.
fn wait(process: &OwnedFd, pipe: Option<&OwnedFd>, patience: Duration) -> (bool, bool) {
    let timeout = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
    let mut polled = vec![PollFd::new(process, PollFlags::IN)];
    polled.extend(pipe.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    if poll(&mut polled, Some(&timeout)).is_err() {
        return (false, false); // interrupted by a signal: the watcher will see it
    }
    let is_ready = |at: usize| polled.get(at).is_some_and(|one| !one.revents().is_empty());
    (is_ready(0), is_ready(1))
}

/// Throws away what is in a pipe; false if nothing more will come.
fn empty(pipe: Option<&OwnedFd>, nowhere: Option<&File>) -> bool {
    let (Some(pipe), Some(nowhere)) = (pipe, nowhere) else { return false };
    match splice(pipe, None, nowhere, None, PIPE_BYTES, SpliceFlags::NONBLOCK) {
        Ok(moved) => moved > 0,
        Err(error) => error == Errno::AGAIN || error == Errno::INTR,
    }
}

/// Ends a process and its group: politely, then for good.
fn end(group: Pid, process: &OwnedFd) {
    let _ = kill_process_group(group, Signal::TERM);
    let begun = Instant::now();
    while begun.elapsed() < GRACE {
        if wait(process, None, LOOK_PERIOD).0 {
            return;
        }
    }
    let _ = kill_process_group(group, Signal::KILL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    fn shell(script: &str) -> Run {
        let command = ["sh", "-c", script].map(OsString::from);
        run(&command, Settings::default(), &mut |_| ControlFlow::Continue(())).unwrap()
    }

    #[test]
    fn a_run_counts_its_read_calls_also_those_of_its_children() {
        let quiet = shell(":").process.unwrap().read_calls;
        let run = shell("head -c 5000000 /dev/zero; :");
        let read = run.process.unwrap().read_calls - quiet;
        assert!((5_000_000..5_200_000).contains(&read.0), "{read}");
        assert_eq!(run.code(), 0);
    }

    #[test]
    fn how_it_ended_is_said_as_shells_do() {
        assert_eq!(shell("exit 3").code(), 3);
        assert_eq!(shell("kill -9 $$").code(), 137);
    }

    #[test]
    fn time_is_that_of_the_command() {
        let run = shell("sleep 0.1");
        assert!((0.1..5.0).contains(&run.wall_s), "{}", run.wall_s);
    }

    #[test]
    fn a_command_that_is_not_there_is_found_missing_before() {
        let missing = find("pagecast-no-such-command".as_ref()).unwrap_err();
        assert!(missing.to_string().starts_with("pagecast-no-such-command: the command cannot be started"));
        assert!(find("/etc/passwd".as_ref()).unwrap_err().to_string().contains("Permission denied"));
        assert!(find("sh".as_ref()).unwrap().is_absolute());
    }

    #[test]
    fn a_watcher_ends_the_command() {
        let begun = Instant::now();
        let command = ["sleep", "100"].map(OsString::from);
        let outcome = run(&command, Settings::default(), &mut |_| ControlFlow::Break(()));
        assert!(matches!(outcome, Err(ProbeError::Interrupted)));
        assert!(begun.elapsed() < Duration::from_secs(50));
    }

    #[test]
    fn output_that_is_hidden_does_not_block() {
        assert_eq!(shell("head -c 20000000 /dev/zero").code(), 0);
        assert_eq!(shell("echo one; exec >&-; sleep 0.1").code(), 0);
    }
}
