//! Runs a scenario for real: the same programs that are simulated, on this kernel, in a folder that is gone afterwards.
//!
//! First everything is found out and refused that can be ([`Plan::of`], [`check`]); then the files are made (`prepare`). Then each process
//! is a thread that asks its program for one operation after the other (`process`), `gate` lets them wait for each other, and a thread beside them looks at the machine (`sampler`). The result has
//! the tables of a simulation (`tables`).
//!
//! Hosts are played together by this machine, each in a directory of its own if it has one, so that mounts of other hosts can be real ones.
//!
//! Left out: links, disks, memory and settings of the hosts, memory cgroups of processes. Threads instead of processes share one address space; that
//! changes the cost of a page fault and of the end of a process, and nothing about files. No setting of the machine is changed.

mod asked;
mod break_off;
mod calls;
mod counters;
mod error;
mod files;
mod gate;
mod hosts;
mod inodes;
mod learnt;
mod names;
mod need;
mod plan;
mod prepare;
mod process;
mod record;
mod refuse;
mod row;
mod sampler;
mod survey;
mod tables;
#[cfg(test)]
mod testing;
mod trace;
mod views;

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, Scope};

use pagecast_core::error::SimulationError;
use pagecast_core::result::{Counted, SimulationResult};
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::Beside;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::drop_caches;
use crate::error::ProbeError;
use crate::filesystem::FileSystem;
use crate::io::{Folder, Io};
use crate::residency::{Method, OpenFile, Prober};
use crate::warm::available;
use crate::watch::{LOOK_PERIOD, Pace, Progress, Watcher};

pub use calls::CallRow;
pub use error::RunError;
pub use hosts::{Host, Mount, Source};
pub use learnt::Learnt;
pub use plan::{Job, Plan};
pub use sampler::{FileSample, Samples};
pub use tables::OperationDetails;
pub use trace::{Traced, check_tracing};
pub use views::{Directories, HostPlace};

use break_off::{InUse, break_off};
use files::Files;
use gate::Gate;
use process::{Halt, Runner, Shared, Tables};
use row::Row;
use sampler::Sampler;
use tables::Look;
use trace::Tracing;
use views::Views;

/// The stage of a run that is stopped and whose calls the kernel does not give back.
const WAITING: &str = "stopped; waiting for calls that the kernel does not break off";
/// From the moment when all threads are there to time 0.
const LEAD: Nanos = Nanos(10_000_000);
/// So long after a stop it is said that calls are waited for.
const PATIENCE: Nanos = Nanos(1_000_000_000);
/// A thread does little more than system calls.
const STACK: usize = 256 << 10;
/// Programs whose needs are not known leave this part of the free disk to others.
const LEFT_PART: u64 = 20;
/// The open files of the rest of this process.
const OTHER_FILES: u64 = 100;

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The directories in which the folders of the hosts are made.
    pub directories: &'a Directories,
    /// True if the folder stays.
    pub keep: bool,
    /// The looks at the machine per second; at least 1.
    pub sample_hz: u32,
    /// True if the kernel's events of write-back are recorded, which needs root.
    pub trace: bool,
}

/// The result of a run.
#[derive(Debug)]
pub struct Measured {
    /// The tables of a simulation.
    pub result: SimulationResult,
    /// The columns of its operations that a simulation does not have.
    pub details: OperationDetails,
    /// When calls of reads and writes ended, if that was wanted: process by process, in the order of the calls.
    pub calls: Vec<CallRow>,
    /// The samples.
    pub samples: Samples,
    /// The traced events of write-back, if wanted.
    pub trace: Vec<Traced>,
    /// What the kernel had learnt of the disk before time 0, if the files are on one.
    pub learnt: Option<Learnt>,
    /// The file system of the files.
    pub file_system: FileSystem,
    /// The time to make the files that were there before.
    pub prepared: Nanos,
    /// Their folder, or that of the first host, if they stay.
    pub kept: Option<PathBuf>,
}

/// Checks that a plan can be run in directories, and changes nothing; gives what is known of each.
///
/// # Errors
/// [`RunError`] for a directory that is none, that may not be written to, that is in memory, or too small; for a host without one; for
/// too little memory; and for what needs root.
pub fn check(plan: &Plan, directories: &Directories) -> Result<Vec<HostPlace>, RunError> {
    let places = directories.check(&plan.hosts, |host| plan.is_used(host), plan.space())?;
    let available = available()?;
    if plan.memory() > available {
        return Err(RunError::NoMemory { needed: plan.memory(), available });
    }
    if plan.drops_caches() {
        drop_caches::check()?;
    }
    let limit = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let needed = open_files(plan);
    if needed > limit {
        return Err(RunError::TooManyFiles { needed, limit });
    }
    Ok(places)
}

fn open_files(plan: &Plan) -> u64 {
    let looked_at = plan.names.files().len().min(sampler::MOST_FILES) as u64;
    plan.open_files() + looked_at + OTHER_FILES
}

/// Runs a plan: makes a folder and the files in it, does all operations, and removes the folder.
///
/// # Errors
/// [`RunError`]; the folder is gone then too.
pub fn run(plan: &Plan, settings: Settings<'_>, watch: &mut Watcher<'_>) -> Result<Measured, RunError> {
    check(plan, settings.directories)?;
    if settings.trace {
        check_tracing()?;
    }
    let prober = Prober::new(None)?;
    let _limit = FileLimit::raise_to(open_files(plan));
    let mut views = Views::make(&plan.hosts, settings.directories, |host| plan.is_used(host))?;
    let begun = views.folder(0).now();
    prepare::prepare(plan, &views, &prober, watch)?;
    let prepared = views.folder(0).now() - begun;
    let mut run = execute(plan, &views, &prober, settings, watch)?;
    run.prepared = prepared;
    if settings.keep {
        run.kept = views.keep();
    }
    Ok(run)
}

fn execute(
    plan: &Plan,
    views: &Views,
    prober: &Prober,
    settings: Settings<'_>,
    watch: &mut Watcher<'_>,
) -> Result<Measured, RunError> {
    let file_system = views.folder(0).file_system()?;
    let files: Files<OwnedFd> = Files::new(plan.names.all().len());
    let tables = Tables::new(plan);
    let (gate, in_use, beside) = (Gate::new(plan), InUse::new(plan), Beside::default());
    let looks = Mutex::new(Vec::new());
    let look_after = |process, index, time| {
        if plan.looks_after_each {
            let seen = look_at_all(plan, views, prober, (time, (process, index)));
            looks.lock().expect("nobody panics while he holds the lock").extend(seen);
        }
    };
    let of_host = |host| Shared {
        io: views.folder(host),
        plan,
        files: &files,
        tables: &tables,
        gate: &gate,
        in_use: &in_use,
        beside: &beside,
        looks: &look_after,
    };
    let shared: Vec<Shared<'_, Folder>> = (0..plan.hosts.count()).map(of_host).collect();
    let sees_files = prober.method(file_system.kind) == Method::Cachestat;
    let sampler = Sampler::new(views, plan.names.files(), &files, settings.sample_hz, sees_files);
    let tracing = settings.trace.then(Tracing::start).transpose()?;
    let learnt = Learnt::of(views.folder(0));
    let Ran { zero, end, rows, calls, counted, samples } = run_threads(&shared, views, sampler, watch)?;
    let trace = tracing.map_or(Ok(Vec::new()), |tracing| tracing.stop(zero))?;
    let mut looks = looks.into_inner().expect("nobody panics while he holds the lock");
    looks.sort_by_key(|look| (look.time, look.after));
    looks.extend(look_at_all(plan, views, prober, (end, (u32::MAX, u32::MAX))));
    let result = SimulationResult { counted, ..tables::result(plan, &rows, (&samples, &trace), &looks, end) };
    Ok(Measured {
        result,
        details: tables::details(&rows),
        calls,
        samples,
        trace,
        learnt,
        file_system,
        prepared: Nanos::ZERO,
        kept: None,
    })
}

/// The work of all threads.
struct Ran {
    zero: Nanos,
    /// The end of the last operation.
    end: Nanos,
    /// Of each process.
    rows: Vec<Vec<Row>>,
    calls: Vec<CallRow>,
    /// The calls of patterns, and operations that need not have rows.
    counted: Counted,
    samples: Samples,
}

/// A thread for each process, and one that looks. `of_host` is what all share, with the folder as each host sees it.
fn run_threads(
    of_host: &[Shared<'_, Folder>],
    views: &Views,
    sampler: Sampler<'_>,
    watch: &mut Watcher<'_>,
) -> Result<Ran, RunError> {
    let shared = &of_host[0];
    let (plan, gate) = (shared.plan, shared.gate);
    let processes = plan.processes.len();
    let no_thread = |source| RunError::NoThread { processes, source };
    let runners = (0..processes)
        .map(|at| Runner::new(&of_host[plan.processes[at].host], at))
        .collect::<Result<Vec<_>, _>>();
    let failure = Mutex::new(None);
    let is_over = AtomicBool::new(false);
    let mut taken = None;
    let mut is_interrupted = false;
    let ran = thread::scope(|scope| -> Result<_, RunError> {
        let (sender, ended) = channel::<()>();
        let mut threads = Vec::with_capacity(processes);
        for (at, mut runner) in runners?.into_iter().enumerate() {
            let (sender, failure) = (sender.clone(), &failure);
            let act = move || {
                let _held_until_the_end = sender;
                match runner.run() {
                    Ok(()) => gate.end(at),
                    Err(Halt::Stopped) => {}
                    Err(Halt::Failed(error)) => {
                        failure.lock().expect("nobody panics while he holds the lock").get_or_insert(*error);
                        gate.halt();
                    }
                }
                runner.into_done()
            };
            let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, act);
            threads.push(started.map_err(|error| {
                gate.halt();
                no_thread(error)
            })?);
        }
        drop(sender);
        let (zero, is_over) = (shared.io.now() + LEAD, &is_over);
        let looking = thread::Builder::new().spawn_scoped(scope, move || sampler.run(zero, is_over));
        let looking = looking.map_err(|error| {
            gate.halt();
            no_thread(error)
        })?;
        gate.open(zero);
        let room = plan.is_open_ended().then(|| shared.io.space().map(|space| space.free)).transpose()?;
        (is_interrupted, taken) = wait_for_end(scope, (shared, views), &ended, (zero, room), watch);
        is_over.store(true, Ordering::Release);
        let mut end = Nanos::ZERO;
        let (mut recorded, mut calls) = (Vec::new(), Vec::new());
        for thread in threads {
            let done = thread.join().expect("a process does not panic");
            end = end.max(done.end);
            recorded.push(done.recorded);
            calls.extend(done.calls);
        }
        let (rows, counted) = record::together(plan.record, recorded);
        Ok(Ran {
            zero,
            end,
            rows,
            calls,
            counted,
            samples: looking.join().expect("the sampler does not panic"),
        })
    })?;
    if is_interrupted {
        return Err(ProbeError::Interrupted.into());
    }
    if let Some(taken) = taken {
        return Err(taken);
    }
    if let Some(error) = failure.into_inner().expect("nobody panics while he holds the lock") {
        return Err(error);
    }
    if let Some(cycle) = gate.deadlock() {
        let time = ran.samples.time.last().copied().unwrap_or_default();
        return Err(SimulationError::Deadlock { place: plan.origin.clone(), time, cycle }.into());
    }
    Ok(ran)
}

/// Waits until all threads have ended. When somebody stops them, one has failed, or they have taken nearly all of the `room` that is watched, their
/// calls are broken off. Returns whether somebody did, and the trouble with the room.
fn wait_for_end<'a: 'scope, 'scope>(
    scope: &'scope Scope<'scope, '_>,
    (shared, views): (&Shared<'a, Folder>, &'a Views),
    ended: &Receiver<()>,
    (zero, room): (Nanos, Option<Bytes>),
    watch: &mut Watcher<'_>,
) -> (bool, Option<RunError>) {
    let (mut is_interrupted, mut taken, mut stopped) = (false, None, None);
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK_PERIOD) {
        let now = shared.io.now();
        let (stage, since) = match stopped {
            Some(at) if now >= at + PATIENCE => (WAITING, at),
            _ => ("running", zero),
        };
        let done = now.saturating_sub(since).as_seconds() as u64;
        if watch(Progress { stage, done, total: None }).is_break() {
            is_interrupted = true;
            shared.gate.halt();
        }
        if taken.is_none()
            && let Some(free) = room
            && let Ok(space) = shared.io.space()
            && is_taken(space.free, free)
        {
            let (path, at) = (shared.io.path().to_owned(), now.saturating_sub(zero));
            taken = Some(RunError::DiskTaken { path, at, left: space.free, free });
            shared.gate.halt();
        }
        if shared.gate.is_stopped() && stopped.is_none() {
            stopped = Some(now);
            views.folders().for_each(|folder| break_off(scope, shared.in_use, folder));
        }
    }
    (is_interrupted, taken)
}

/// True if so little is left of a disk that had so much free.
fn is_taken(left: Bytes, free: Bytes) -> bool {
    left.0 < free.0 / LEFT_PART
}

/// What is in memory of every file that is there, in the page cache of each host that has one for it.
fn look_at_all(plan: &Plan, views: &Views, prober: &Prober, (time, after): (Nanos, (u32, u32))) -> Vec<Look> {
    let pace = Pace::default();
    let named = plan.names.files();
    let seen = named.iter().flat_map(|named| views.showing(named.host).map(move |view| (named, view)));
    let looks = seen.filter_map(|(named, (host, folder, kind))| {
        let open = OpenFile::open(&folder.sure_path().join(&named.within)).ok()?;
        let residency = prober.whole(&open, kind, &pace).ok()?;
        let dirty = residency.state.map_or(Bytes::ZERO, |state| state.dirty + state.writeback);
        let cached = residency.cached;
        Some(Look {
            time,
            after,
            file: named.number,
            host,
            size: open.size,
            cached,
            dirty: dirty.min(cached),
        })
    });
    looks.collect()
}

/// The number of files that this process may have open, raised as long as this is there.
struct FileLimit(Option<Rlimit>);

impl FileLimit {
    fn raise_to(needed: u64) -> Self {
        let limit = getrlimit(Resource::Nofile);
        if limit.current.is_none_or(|current| needed <= current) {
            return Self(None);
        }
        let raised = Rlimit { current: Some(needed), maximum: limit.maximum };
        Self(setrlimit(Resource::Nofile, raised).is_ok().then_some(limit))
    }
}

impl Drop for FileLimit {
    fn drop(&mut self) {
        if let Some(limit) = self.0.take() {
            let _ = setrlimit(Resource::Nofile, limit);
        }
    }
}
