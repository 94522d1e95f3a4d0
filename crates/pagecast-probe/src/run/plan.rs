//! Plans a run before anything is touched: every operation of every process, and their needs.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use pagecast_core::error::SimulationError;
use pagecast_core::readers::Level;
use pagecast_core::scenario::Source;
use pagecast_core::stdio::{Library, LibraryCall};
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Buffer, InitialFile, Operation, Process};
use rustc_hash::{FxHashMap, FxHashSet};

use super::error::{RunError, blame};
use super::need::Needs;

/// So many operations of one process are asked for; a program that has more never ends, for all that we know.
const MOST_OPERATIONS: usize = if cfg!(test) { 1000 } else { 5_000_000 };

/// So many calls or operations of a process are under way at once at most: each has a thread.
const MOST_DEPTH: u32 = 1024;

/// The longest buffer that is used again and again.
const BUFFER: u64 = 1 << 20;

/// A scenario as far as a real machine is concerned.
pub struct Job<'a> {
    /// Its name in messages.
    pub origin: &'a str,
    /// The names of its hosts.
    pub hosts: Vec<&'a str>,
    /// The directories of the first host that are on a disk, and those that are another host's.
    pub mounts: Vec<(&'a str, bool)>,
    /// The files before time 0.
    pub files: &'a [InitialFile],
    /// The processes.
    pub processes: &'a [Process],
    /// The files in other formats that some of them come from.
    pub sources: &'a [Source],
    /// True if the table of files has rows after each operation.
    pub looks_after_each: bool,
    /// Of every how many calls of a read or write the time is noted, if it is.
    pub per_call: Option<NonZero<u64>>,
}

/// A file of the scenario.
#[derive(Clone, Debug)]
pub(super) struct PlannedFile {
    /// As the scenario calls it.
    pub path: Arc<str>,
    /// Its path in the folder.
    pub within: PathBuf,
    /// Its state before time 0, if it is there.
    pub initial: Option<Initial>,
}

/// A file before time 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Initial {
    pub size: Bytes,
    /// The bytes of it in memory, from its start.
    pub cached: Bytes,
    /// The dirty bytes of those, from its start.
    pub dirty: Bytes,
}

/// One operation, with numbers instead of names: nothing is looked up by name while time counts.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub operation: Operation,
    /// Index of its file.
    pub file: u32,
    /// Index of the other file of a copy.
    pub target: u32,
    /// Index of its event.
    pub event: u32,
}

/// One process.
#[derive(Clone, Debug)]
pub(super) struct PlannedProcess {
    pub name: Arc<str>,
    pub after: Vec<u32>,
    pub start: Nanos,
    pub steps: Vec<Step>,
}

impl PlannedProcess {
    /// How long the longest call of a stream is; these take memory of their length, as a C program has it in one piece.
    pub fn stream_memory(&self) -> usize {
        let call = |step: &Step| match step.operation.action {
            Action::Stream { call: LibraryCall::Write { bytes, call, .. }, .. } => {
                call.unwrap_or(bytes).0.min(bytes.0)
            }
            Action::Stream { call: LibraryCall::Read { bytes, call, .. }, .. } => {
                call.or(bytes).map_or(BUFFER, |size| size.0)
            }
            _ => 0,
        };
        self.steps.iter().map(call).max().unwrap_or(0) as usize
    }

    /// How many threads make its calls at once, at most.
    pub fn threads(&self) -> usize {
        let depth = |step: &Step| match (&step.operation.action, step.operation.depth) {
            (Action::Pattern(pattern), _) => pattern.depth as usize,
            (_, Some(depth)) => depth.get() as usize,
            _ => 1,
        };
        self.steps.iter().map(depth).max().unwrap_or(1).max(1)
    }

    /// How long the memory is that bytes of mappings are copied from and to: never longer than what stays in a processor's caches.
    pub fn mapping_memory(&self) -> usize {
        let piece = |step: &Step| match step.operation.action {
            Action::Mapped { call, .. } if call.advice().is_some() => {
                call.part().1.map_or(BUFFER, |bytes| bytes.0.clamp(1, BUFFER))
            }
            _ => 0,
        };
        self.steps.iter().map(piece).max().unwrap_or(0) as usize
    }

    /// How long the buffer is that it reads into and writes from: as one call, but never longer than what stays in a processor's caches
    /// unless it is to copy.
    pub fn buffer(&self) -> NonZero<usize> {
        let call = |step: &Step| match step.operation.action {
            Action::Read { call, bytes, buffer: Buffer::Reused, .. } => {
                call.or(bytes).map_or(BUFFER, |size| size.0)
            }
            Action::Write { call, bytes, .. } => call.unwrap_or(bytes).0,
            Action::Pattern(ref pattern) => pattern.call.0,
            _ => 0,
        };
        // Of a copy all bytes of a call are there at once.
        let copied = |step: &Step| match step.operation.action {
            Action::Copy { by, call, bytes, .. } if !by.is_in_kernel() => {
                let call = call.or(by.usual_call()).map_or(BUFFER, |call| call.0);
                bytes.map_or(call, |bytes| call.min(bytes.0))
            }
            _ => 0,
        };
        let longest = self.steps.iter().map(call).max().unwrap_or(0);
        let copied = self.steps.iter().map(copied).max().unwrap_or(0);
        let length =
            (longest.clamp(1, BUFFER).max(copied) as usize).next_multiple_of(rustix::param::page_size());
        NonZero::new(length).expect("at least a page")
    }
}

/// The plan of a run.
#[derive(Debug)]
pub struct Plan {
    pub(super) origin: String,
    pub(super) host: String,
    pub(super) files: Vec<PlannedFile>,
    pub(super) processes: Vec<PlannedProcess>,
    pub(super) events: Vec<Arc<str>>,
    pub(super) looks_after_each: bool,
    pub(super) per_call: Option<NonZero<u64>>,
    pub(super) needs: Needs,
}

impl Plan {
    /// Asks all programs for their operations, and adds up what they need.
    ///
    /// # Errors
    /// [`RunError::Unreal`] for what one machine does not have, [`RunError::Workload`] for programs that fail and paths under no mount,
    /// [`RunError::Endless`].
    pub fn of(job: &Job<'_>) -> Result<Self, RunError> {
        check_real(job)?;
        let mut plan = Self {
            origin: job.origin.to_owned(),
            host: job.hosts[0].to_owned(),
            files: Vec::new(),
            processes: Vec::new(),
            events: Vec::new(),
            looks_after_each: job.looks_after_each,
            per_call: job.per_call,
            needs: Needs::default(),
        };
        let mut names = Names::default();
        for file in job.files {
            let place = || job.origin.to_owned();
            check_mounted(job, &file.path, place, || "a file that is there from the start is".to_owned())?;
            let at = names.file(&mut plan.files, &file.path);
            let InitialFile { size, cached, dirty, .. } = *file;
            plan.files[at as usize].initial = Some(Initial { size, cached, dirty });
        }
        for process in job.processes {
            let steps = plan.steps(job, process, &mut names)?;
            let after = process.after.iter().map(|name| process_called(job, name)).collect();
            let (name, start) = (process.name.clone(), process.start);
            plan.processes.push(PlannedProcess { name, after, start, steps });
        }
        plan.needs = Needs::of(&plan.files, &plan.processes, plan.per_call);
        Ok(plan)
    }

    fn steps(&mut self, job: &Job<'_>, process: &Process, names: &mut Names) -> Result<Vec<Step>, RunError> {
        let at = |line| blame(job.origin, &process.name, line, Nanos::ZERO);
        let failed = |error: pagecast_core::workload::ProgramError| -> RunError {
            SimulationError::Program { at: at(None), source: error.0 }.into()
        };
        let mut program = process.program.start().map_err(failed)?;
        let (mut steps, mut open) = (Vec::new(), OpenStreams::default());
        let mut earliest = Nanos::ZERO;
        loop {
            let next = program.next(earliest).map_err(failed)?;
            let operation = match next.filter(|next| !matches!(next.action, Action::Exit)) {
                Some(operation) => operation,
                None => break,
            };
            check_library(job, process, &operation)?;
            check_known(job, process, &operation)?;
            earliest = earliest_end(earliest, &operation);
            open.note(&operation.action);
            if steps.len() == MOST_OPERATIONS {
                let (place, process) = (job.origin.to_owned(), process.name.clone());
                return Err(RunError::Endless { place, process, limit: MOST_OPERATIONS });
            }
            if let Action::SyncFs { path } = &operation.action {
                let who = || format!("process `{}` uses", process.name);
                check_mounted(job, &format!("{path}/").into(), || at(operation.line).place, who)?;
            }
            let mut number = |path: Option<&Arc<str>>| {
                let Some(path) = path else { return Ok(u32::MAX) };
                let who = || format!("process `{}` uses", process.name);
                check_mounted(job, path, || at(operation.line).place, who)?;
                Ok::<_, RunError>(names.file(&mut self.files, path))
            };
            let (file, target) = (number(operation.action.path())?, number(operation.action.target())?);
            let event = match &operation.action {
                Action::Wait { event } | Action::Signal { event } => names.event(&mut self.events, event),
                _ => u32::MAX,
            };
            steps.push(Step { operation, file, target, event });
        }
        // As exit(3) does.
        while let Some(operation) = open.close_last() {
            let file = names.file(&mut self.files, operation.action.path().expect("a stream has a path"));
            steps.push(Step { operation, file, target: u32::MAX, event: u32::MAX });
        }
        Ok(steps)
    }

    /// Bytes that will be written to files: before time 0, and by the programs.
    #[must_use]
    pub fn written(&self) -> (Bytes, Bytes) {
        (self.needs.prepared, self.needs.written)
    }

    /// What the files take on the disk at a time, at most.
    #[must_use]
    pub fn space(&self) -> Bytes {
        self.needs.space
    }

    /// What the programs hold of memory at a time, at most.
    #[must_use]
    pub fn memory(&self) -> Bytes {
        self.needs.memory
    }

    /// How many files are open at a time, at most.
    #[must_use]
    pub fn open_files(&self) -> u64 {
        self.needs.open_files
    }

    /// How many operations all processes have together.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.processes.iter().map(|process| process.steps.len()).sum()
    }

    /// The paths of all files, and where they are in the folder.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &std::path::Path)> {
        self.files.iter().map(|file| (&*file.path, &*file.within))
    }

    /// The names of all processes.
    pub fn processes(&self) -> impl Iterator<Item = &str> {
        self.processes.iter().map(|process| &*process.name)
    }

    /// True if a process drops the caches of the machine, which only root may.
    #[must_use]
    pub fn drops_caches(&self) -> bool {
        let mut steps = self.processes.iter().flat_map(|process| &process.steps);
        steps.any(|step| matches!(step.operation.action, Action::DropCaches))
    }
}

/// The streams that a program has open, the last one at the end.
#[derive(Default)]
struct OpenStreams(Vec<Arc<str>>);

impl OpenStreams {
    fn note(&mut self, action: &Action) {
        match action {
            Action::Stream { path, call: LibraryCall::Open { .. } } => self.0.push(path.clone()),
            Action::Stream { path, call: LibraryCall::Close } | Action::Unlink { path } => {
                self.0.retain(|open| open != path);
            }
            _ => {}
        }
    }

    fn close_last(&mut self) -> Option<Operation> {
        let path = self.0.pop()?;
        Some(Action::Stream { path, call: LibraryCall::Close }.into())
    }
}

/// Refuses streams of other libraries than the one that this program is linked to.
fn check_library(job: &Job<'_>, process: &Process, operation: &Operation) -> Result<(), RunError> {
    match operation.action {
        Action::Stream { call: LibraryCall::Open { library, .. }, .. } if library != Library::C => {
            Err(RunError::Unreal {
                place: blame(job.origin, &process.name, operation.line, Nanos::ZERO).place,
                what: format!("a stream of {}, which this program does not have,", library.name()),
                remedy: "leave `stream` out, or write what its library asks the kernel: `write` and `read` with `call`",
            })
        }
        _ => Ok(()),
    }
}

/// When an operation ends at the earliest, where storage takes no time: programs that look at the clock are asked at such times.
fn earliest_end(before: Nanos, operation: &Operation) -> Nanos {
    let start = before.max(operation.not_before.unwrap_or_default());
    match operation.action {
        Action::Sleep { time } | Action::Compute { time } => Nanos(start.0.saturating_add(time.0)),
        _ => start,
    }
}

/// Refuses what only a simulation can do so far.
fn check_known(job: &Job<'_>, process: &Process, operation: &Operation) -> Result<(), RunError> {
    let name = operation.action.name();
    let what = match operation {
        Operation { action: Action::Pattern(pattern), .. } if pattern.depth > MOST_DEPTH => {
            format!("a pattern with a `depth` of {}, for each of which a thread is needed,", pattern.depth)
        }
        Operation { depth: Some(depth), action: Action::Read { .. } | Action::Write { .. }, .. }
            if depth.get() <= MOST_DEPTH =>
        {
            return Ok(());
        }
        Operation { depth: Some(depth), .. } => format!("a {name} with a `depth` of {depth}"),
        Operation { fd: Some(_), action: Action::Copy { .. } | Action::Mapped { .. }, .. } => {
            format!("a {name} with `fd`")
        }
        Operation {
            action:
                Action::Rename { .. }
                | Action::Link { .. }
                | Action::Mkdir { .. }
                | Action::Rmdir { .. }
                | Action::Stat { .. },
            ..
        } => format!("a {name}"),
        _ => return Ok(()),
    };
    let place = blame(job.origin, &process.name, operation.line, Nanos::ZERO).place;
    Err(RunError::Unreal { place, what, remedy: "simulate it" })
}

/// Refuses what one machine, and an ordinary process on it, does not have.
fn check_real(job: &Job<'_>) -> Result<(), RunError> {
    let unreal = |what: String, remedy| RunError::Unreal { place: job.origin.to_owned(), what, remedy };
    if let Some(source) = job.sources.iter().find(|source| source.level != Level::Files) {
        let of = if source.level == Level::Blocks { "a device" } else { "numbered objects" };
        let what = format!("{}, whose requests are to {of} and not to files,", source.name);
        return Err(unreal(what, "simulate it"));
    }
    if job.hosts.len() > 1 {
        let what = format!("a scenario of {} hosts ({})", job.hosts.len(), job.hosts.join(", "));
        return Err(unreal(what, "give it one [machine]"));
    }
    if let Some((path, _)) = job.mounts.iter().find(|(_, is_remote)| *is_remote) {
        return Err(unreal(format!("the mount {path} of another host"), "put it on a disk"));
    }
    if let Some(process) = job.processes.iter().find(|process| process.slots.is_some()) {
        let what = format!("process `{}` with `slots`, for which nobody keeps cores free,", process.name);
        return Err(unreal(what, "leave `slots` out, or forecast it: pagecast simulate"));
    }
    let mut tables = FxHashSet::default();
    let shares = |process: &&Process| process.descriptors.is_some_and(|table| !tables.insert(table));
    if let Some(process) = job.processes.iter().find(shares) {
        let what = format!("process `{}`, which has the descriptors of another one,", process.name);
        return Err(unreal(what, "simulate it"));
    }
    if let Some(process) = job.processes.iter().find(|process| process.cgroup.is_some()) {
        let what = format!("process `{}` in a memory cgroup of its own", process.name);
        let remedy = "leave `cgroup` out and start pagecast itself in one: systemd-run --scope -p MemoryMax=4G pagecast run ...";
        return Err(unreal(what, remedy));
    }
    Ok(())
}

fn check_mounted(
    job: &Job<'_>,
    path: &Arc<str>,
    place: impl FnOnce() -> String,
    who: impl FnOnce() -> String,
) -> Result<(), RunError> {
    let is_below = |mount: &str| {
        path.strip_prefix(mount.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
    };
    if job.mounts.iter().any(|(mount, _)| is_below(mount)) {
        return Ok(());
    }
    let mounts: Vec<&str> = job.mounts.iter().map(|&(mount, _)| mount).collect();
    let error = SimulationError::NoMount {
        place: place(),
        who: who(),
        path: path.clone(),
        host: job.hosts[0].to_owned(),
        mounts: if mounts.is_empty() { "none".to_owned() } else { mounts.join(", ") },
    };
    Err(error.into())
}

fn process_called(job: &Job<'_>, name: &Arc<str>) -> u32 {
    let found = job.processes.iter().position(|other| other.name == *name);
    found.expect("the scenario was checked") as u32
}

/// Numbers of files and events by their names.
#[derive(Default)]
struct Names {
    files: FxHashMap<Arc<str>, u32>,
    events: FxHashMap<Arc<str>, u32>,
}

impl Names {
    fn file(&mut self, files: &mut Vec<PlannedFile>, path: &Arc<str>) -> u32 {
        *self.files.entry(path.clone()).or_insert_with(|| {
            let within = PathBuf::from(path.trim_start_matches('/'));
            files.push(PlannedFile { path: path.clone(), within, initial: None });
            files.len() as u32 - 1
        })
    }

    fn event(&mut self, events: &mut Vec<Arc<str>>, event: &Arc<str>) -> u32 {
        *self.events.entry(event.clone()).or_insert_with(|| {
            events.push(event.clone());
            events.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{file, job, process, read, write};
    use pagecast_core::workload::Slots;

    use super::*;

    fn refused(change: impl FnOnce(&mut Job<'_>), processes: &[Process]) -> String {
        let mut job = job(&[], processes);
        change(&mut job);
        Plan::of(&job).unwrap_err().to_string()
    }

    #[test]
    fn what_one_machine_does_not_have_is_refused() {
        let two = refused(|job| job.hosts = vec!["client", "server"], &[]);
        assert_eq!(
            two,
            "x.toml: a scenario of 2 hosts (client, server) cannot be run for real; give it one [machine]"
        );
        let remote = refused(|job| job.mounts.push(("/nfs", true)), &[]);
        assert!(
            remote.starts_with("x.toml: the mount /nfs of another host cannot be run for real"),
            "{remote}"
        );
        let mut member = process("p", &[], &[]);
        member.cgroup = Some(0);
        assert!(refused(|_| (), &[member]).contains("systemd-run"));
        let mut task = process("p", &[], &[]);
        task.slots = Some(Slots { cores: 1, priority: 0, hosts: [0].into() });
        assert_eq!(
            refused(|_| (), &[task]),
            "x.toml: process `p` with `slots`, for which nobody keeps cores free, cannot be run for real; \
             leave `slots` out, or forecast it: pagecast simulate"
        );
    }

    #[test]
    fn paths_are_below_a_mount_and_within_the_folder() {
        let plan =
            Plan::of(&job(&[file("/data/a/f", 1)], &[process("p", &[], &[write("/data/g", 1, None)])]))
                .unwrap();
        let paths: Vec<_> = plan.paths().map(|(_, within)| within.to_str().unwrap()).collect();
        assert_eq!(paths, ["data/a/f", "data/g"]);
        let error = refused(|_| (), &[process("p", &[], &[read("/database/f", None, None)])]);
        assert!(
            error.contains("process `p` uses /database/f, which is under no mount of host `host`"),
            "{error}"
        );
    }

    #[test]
    fn what_only_a_simulation_can_do_is_refused() {
        let with = |operation: Operation| {
            let mut one = process("p", &[], &[]);
            one.program = Arc::new(vec![operation]);
            refused(|_| (), &[one])
        };
        let fsync = Operation::from(Action::Fsync { path: "/data/f".into() });
        let depth = with(Operation { depth: std::num::NonZeroU32::new(4), ..fsync });
        assert_eq!(depth, "x.toml: a fsync with a `depth` of 4 cannot be run for real; simulate it");
        let stat = Action::Stat { path: "/data/f".into() };
        assert_eq!(with(stat.into()), "x.toml: a stat cannot be run for real; simulate it");
    }

    #[test]
    fn a_program_is_asked_at_the_earliest_time_at_which_it_can_be() {
        let fsync = Operation::from(Action::Fsync { path: "/data/f".into() });
        let sleep = Operation::from(Action::Sleep { time: Nanos(5) });
        let late = Operation { not_before: Some(Nanos(100)), ..fsync.clone() };
        let ends: Vec<u64> = [fsync.clone(), sleep, late, fsync]
            .iter()
            .scan(Nanos::ZERO, |now, operation| {
                *now = earliest_end(*now, operation);
                Some(now.0)
            })
            .collect();
        assert_eq!(ends, [0, 5, 100, 100]);
    }

    #[test]
    fn a_program_that_never_ends_is_refused() {
        let mut endless = process("p", &[], &[]);
        let forever = || std::iter::repeat_with(|| Operation::from(Action::Sync));
        endless.program = Arc::new(forever);
        assert!(refused(|_| (), &[endless]).contains("`p` has more than 1000 operations"));
    }

    #[test]
    fn nothing_is_done_after_an_exit() {
        let plan =
            Plan::of(&job(&[], &[process("p", &[], &[Action::Sync, Action::Exit, Action::DropCaches])]));
        let plan = plan.unwrap();
        assert_eq!((plan.operations(), plan.drops_caches()), (1, false));
    }
}
