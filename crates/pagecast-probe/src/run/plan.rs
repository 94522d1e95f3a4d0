//! Plans a run before anything is touched: the files of all processes, and their needs.
//!
//! Programs are asked once before the run, for what they need, and once more while it goes on. They look at a clock that shows the earliest
//! times that they can have. One that goes on for ever by that clock is asked as if its operations took longer and longer.

use std::collections::HashMap;
use std::num::{NonZero, NonZeroU32};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pagecast_core::error::SimulationError;
use pagecast_core::result::Record;
use pagecast_core::scenario::Source as OtherFile;
use pagecast_core::units::{Bytes, Nanos};
use pagecast_core::workload::{Action, Beside, InitialFile, Operation, Process, ProgramError, ProgramSource};
use rustc_hash::{FxHashMap, FxHashSet};

use super::asked::Asked;
use super::error::{RunError, blame};
use super::hosts::{Host, Hosts};
use super::names::{Initial, NamedFile, Names};
use super::need::Needs;
use super::refuse::{check_operation, check_real};
use super::survey::{Survey, Surveying, earliest_end};

/// So many operations of a process are surveyed as if storage took no time: far more than the first pass over a program takes seconds.
const PATIENCE: u64 = if cfg!(test) { 1000 } else { 5_000_000 };
/// Of those after them each takes so much longer than the one before: a runtime of a day ends 416,000 operations later.
const IMPATIENCE: Nanos = Nanos(1000);
/// So many are surveyed at all.
const MOST_SURVEYED: u64 = 2 * PATIENCE;

/// So many calls or operations of a process are under way at once at most: each has a thread.
pub(super) const MOST_DEPTH: u32 = 1024;
/// The depth of operations that begin at their time, however many are under way.
pub(super) const OPEN_LOOP: NonZeroU32 = NonZeroU32::MAX;

/// A scenario as far as a real machine is concerned.
pub struct Job<'a> {
    /// Its name in messages.
    pub origin: &'a str,
    /// Its hosts.
    pub hosts: Vec<Host<'a>>,
    /// The files before time 0.
    pub files: &'a [InitialFile],
    /// The processes.
    pub processes: &'a [Process],
    /// The files in other formats that some of them come from.
    pub sources: &'a [OtherFile],
    /// True if the table of files has rows after each operation.
    pub looks_after_each: bool,
    /// Of every how many calls of a read or write the time is noted, if it is.
    pub per_call: Option<NonZero<u64>>,
    /// Which operations have rows; with times of calls all have.
    pub record: Record,
}

/// One operation, with the files that its paths name.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub operation: Operation,
    pub file: Option<Arc<NamedFile>>,
    /// The other file of a copy, or the new name.
    pub target: Option<Arc<NamedFile>>,
}

impl Step {
    /// The number of its file; `u32::MAX` of one without.
    pub fn number(&self) -> u32 {
        self.file.as_ref().map_or(u32::MAX, |file| file.number)
    }
}

/// The paths that a process has named so far.
pub(super) type Known = FxHashMap<Arc<str>, Arc<NamedFile>>;

/// One process.
pub(super) struct PlannedProcess {
    pub name: Arc<str>,
    pub host: usize,
    pub after: Vec<u32>,
    pub start: Nanos,
    /// The number of its table of descriptors.
    pub table: u32,
    pub program: Arc<dyn ProgramSource>,
    pub survey: Survey,
}

/// The plan of a run.
pub struct Plan {
    pub(super) origin: String,
    pub(super) hosts: Hosts,
    pub(super) names: Names,
    pub(super) processes: Vec<PlannedProcess>,
    /// How many tables of descriptors the processes have.
    pub(super) tables: u32,
    pub(super) looks_after_each: bool,
    pub(super) per_call: Option<NonZero<u64>>,
    pub(super) record: Record,
    pub(super) needs: Needs,
}

impl Plan {
    /// Asks all programs for their operations, and adds up what they need.
    ///
    /// # Errors
    /// [`RunError::Unreal`] for what one machine does not have, [`RunError::Workload`] for programs that fail and paths under no mount.
    pub fn of(job: &Job<'_>) -> Result<Self, RunError> {
        check_real(job)?;
        let mut plan = Self {
            origin: job.origin.to_owned(),
            hosts: Hosts::new(&job.hosts),
            names: Names::default(),
            processes: Vec::new(),
            tables: 0,
            looks_after_each: job.looks_after_each,
            per_call: job.per_call,
            record: if job.per_call.is_some() { Record::All } else { job.record },
            needs: Needs::default(),
        };
        let mut longest = FxHashMap::default();
        for file in job.files {
            let place = || job.origin.to_owned();
            let InitialFile { host, size, cached, dirty, .. } = *file;
            let within =
                plan.within(host, &file.path, place, || "a file that is there from the start is".to_owned())?;
            let named = plan.names.file((host, &file.path), within, Some(Initial { size, cached, dirty }));
            longest.insert(named.number, size.0);
        }
        let surveys = job.processes.iter().map(|process| plan.survey(process, &mut longest));
        let mut surveys = surveys.collect::<Result<Vec<_>, _>>()?;
        for (process, survey) in job.processes.iter().zip(&mut surveys) {
            // A later process has made a file longer that this one reads up to its end.
            if survey.assumed.iter().any(|(file, length)| longest.get(file).is_some_and(|now| now > length)) {
                *survey = plan.survey(process, &mut longest)?;
            }
        }
        let mut tables = HashMap::new();
        for (process, survey) in job.processes.iter().zip(surveys) {
            let next = plan.tables;
            let table = process.descriptors.map_or(next, |group| *tables.entry(group).or_insert(next));
            plan.tables = plan.tables.max(table + 1);
            plan.processes.push(PlannedProcess {
                name: process.name.clone(),
                host: process.host,
                after: process.after.iter().map(|name| process_called(job, name)).collect(),
                start: process.start,
                table,
                program: process.program.clone(),
                survey,
            });
        }
        plan.needs = Needs::of(&plan.names.all(), &plan.processes);
        check_alone(&plan)?;
        Ok(plan)
    }

    /// Goes through a program; `longest` is how long each file can be, and becomes so.
    fn survey(&self, process: &Process, longest: &mut FxHashMap<u32, u64>) -> Result<Survey, RunError> {
        let failed = |error: ProgramError| self.program_failed(&process.name, Nanos::ZERO, error);
        let mut asked = Asked::start(&*process.program, &Beside::default()).map_err(failed)?;
        let mut surveying = Surveying::new(self.per_call, longest);
        let (mut known, mut now, mut is_open_ended) = (Known::default(), Nanos::ZERO, false);
        while let Some(operation) = asked.next(now).map_err(failed)? {
            let step = self.step((&process.name, process.host), Nanos::ZERO, operation, &mut known)?;
            now = earliest_end(now, &step);
            surveying.note(&step);
            let beyond = surveying.operations().saturating_sub(PATIENCE);
            now = Nanos(now.0.saturating_add(beyond.saturating_mul(IMPATIENCE.0)));
            is_open_ended = beyond > 0;
            if surveying.operations() >= MOST_SURVEYED {
                break;
            }
        }
        let survey = surveying.end(is_open_ended);
        for (&file, &length) in &survey.longest {
            let known = longest.entry(file).or_default();
            *known = (*known).max(length);
        }
        Ok(survey)
    }

    /// An operation of a process, with its files.
    ///
    /// # Errors
    /// [`RunError`] for what no run can do.
    pub(super) fn step(
        &self,
        (process, host): (&Arc<str>, usize),
        now: Nanos,
        operation: Operation,
        known: &mut Known,
    ) -> Result<Step, RunError> {
        let at = || blame(&self.origin, process, operation.line, now);
        check_operation(&operation, || at().place)?;
        let who = || format!("process `{process}` uses");
        if let Action::SyncFs { path } = &operation.action {
            self.within(host, &format!("{path}/"), || at().place, who)?;
        }
        let mut named = |path: Option<&Arc<str>>| -> Result<Option<Arc<NamedFile>>, RunError> {
            let Some(path) = path else { return Ok(None) };
            if let Some(file) = known.get(path) {
                return Ok(Some(file.clone()));
            }
            let within = self.within(host, path, || at().place, who)?;
            let file = self.names.file((host, path), within, None);
            known.insert(path.clone(), file.clone());
            Ok(Some(file))
        };
        let (file, target) = (named(operation.action.path())?, named(operation.action.target())?);
        match (&operation.action, &file, &target) {
            (Action::Mkdir { .. } | Action::Rmdir { .. }, Some(file), _) => self.names.is_directory(file),
            (Action::Rename { .. } | Action::Link { .. }, Some(file), Some(to))
                if operation.action.target().is_some_and(|target| {
                    let path = operation.action.path().map_or("", |path| path);
                    self.hosts.home(host, path) != self.hosts.home(host, target)
                }) =>
            {
                let (path, to) = (file.path.clone(), to.path.clone());
                let operation = operation.action.name();
                return Err(SimulationError::OtherMount { at: at(), operation, path, to }.into());
            }
            _ => {}
        }
        Ok(Step { operation, file, target })
    }

    /// Where a path of a host is in the folder.
    fn within(
        &self,
        host: usize,
        path: &str,
        place: impl FnOnce() -> String,
        who: impl FnOnce() -> String,
    ) -> Result<PathBuf, RunError> {
        self.hosts.within(host, path).ok_or_else(|| self.hosts.no_mount(host, path, place(), who()))
    }

    /// A program could not go on.
    pub(super) fn program_failed(&self, process: &Arc<str>, now: Nanos, error: ProgramError) -> RunError {
        SimulationError::Program { at: blame(&self.origin, process, None, now), source: error.0 }.into()
    }

    /// The directories that are there before time 0: those above all files, but none that a program makes, unless there is a file below
    /// it; and those that are removed and were not made.
    pub(super) fn folders(&self) -> Vec<(usize, PathBuf)> {
        let all = self.names.all();
        let numbers = |of: fn(&Survey) -> &FxHashSet<u32>| -> FxHashSet<u32> {
            self.processes.iter().flat_map(|process| of(&process.survey)).copied().collect()
        };
        let (made, removed) = (numbers(|survey| &survey.made), numbers(|survey| &survey.removed));
        let paths: FxHashSet<&Path> = made.iter().map(|&at| &*all[at as usize].within).collect();
        let mut folders = FxHashSet::default();
        for file in &all {
            let is_removed = removed.contains(&file.number) && !made.contains(&file.number);
            let lowest = if is_removed { Some(&*file.within) } else { file.within.parent() };
            let is_made = |folder: &&Path| folder.ancestors().any(|above| paths.contains(above));
            let there = match file.initial {
                Some(_) => lowest,
                None => lowest.and_then(|lowest| lowest.ancestors().find(|folder| !is_made(folder))),
            };
            folders.extend(there.map(|folder| (file.host, folder.to_owned())));
        }
        folders.into_iter().collect()
    }

    /// Bytes that will be written to files: before time 0, and by the programs.
    #[must_use]
    pub fn written(&self) -> (Bytes, Bytes) {
        (self.needs.prepared, self.needs.written)
    }

    /// The most bytes of files on the disk at a time, but for those of programs that are open-ended.
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

    /// How many operations all processes have together, as far as they were surveyed.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.processes.iter().map(|process| process.survey.operations).sum()
    }

    /// True if a program goes on until a time, or for longer than it was surveyed: its needs are not known to the end.
    #[must_use]
    pub fn is_open_ended(&self) -> bool {
        self.processes.iter().any(|process| process.survey.is_open_ended)
    }

    /// True if a process of a host, or a file before time 0, is there.
    pub(super) fn is_used(&self, host: usize) -> bool {
        self.processes.iter().any(|process| process.host == host)
            || self.names.all().iter().any(|file| file.host == host)
    }

    /// The paths of all files, and where they are in the folder.
    #[must_use]
    pub fn files(&self) -> Vec<(Arc<str>, PathBuf)> {
        self.names.files().iter().map(|file| (file.path.clone(), file.within.clone())).collect()
    }

    /// All paths that were named so far, directories with them, by their number in the tables of a run.
    #[must_use]
    pub fn paths(&self) -> Vec<Arc<str>> {
        self.names.all().iter().map(|file| file.path.clone()).collect()
    }

    /// The names of its hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.names()
    }

    /// The names of all processes.
    pub fn processes(&self) -> impl Iterator<Item = &str> {
        self.processes.iter().map(|process| &*process.name)
    }

    /// True if a process drops the caches of the machine, which only root may.
    #[must_use]
    pub fn drops_caches(&self) -> bool {
        self.processes.iter().any(|process| process.survey.drops_caches)
    }
}

/// Refuses what would concern all hosts, where there are several.
fn check_alone(plan: &Plan) -> Result<(), RunError> {
    if plan.hosts.count() == 1 || !plan.drops_caches() {
        return Ok(());
    }
    let names = plan.hosts.names().collect::<Vec<_>>().join(", ");
    let count = plan.hosts.count();
    Err(RunError::Unreal {
        place: plan.origin.clone(),
        what: format!(
            "drop_caches of one of {count} hosts ({names}), which would empty the page cache of all,"
        ),
        remedy: "leave it out, and let files begin cold",
    })
}

fn process_called(job: &Job<'_>, name: &Arc<str>) -> u32 {
    let found = job.processes.iter().position(|other| other.name == *name);
    found.expect("the scenario was checked") as u32
}

#[cfg(test)]
mod tests {
    use super::super::hosts::{Mount, Source};
    use super::super::testing::{file, job, plan, process, read, write};
    use pagecast_core::workload::Slots;

    use super::*;

    fn refused(change: impl FnOnce(&mut Job<'_>), processes: &[Process]) -> String {
        let mut job = job(&[], processes);
        change(&mut job);
        Plan::of(&job).err().expect("it is refused").to_string()
    }

    #[test]
    fn what_one_machine_does_not_have_is_refused() {
        let drops = process("p", &[], &[Action::DropCaches]);
        assert_eq!(
            refused(|job| job.hosts.push(Host { name: "server", mounts: vec![] }), &[drops]),
            "x.toml: drop_caches of one of 2 hosts (host, server), which would empty the page cache of all, cannot be run \
             for real; leave it out, and let files begin cold"
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
        let files = plan.files();
        let within: Vec<_> = files.iter().map(|(_, within)| within.to_str().unwrap()).collect();
        assert_eq!(within, ["data/a/f", "data/g"]);
        let error = refused(|_| (), &[process("p", &[], &[read("/database/f", None, None)])]);
        assert!(
            error.contains("process `p` uses /database/f, which is under no mount of host `host`"),
            "{error}"
        );
    }

    #[test]
    fn a_name_stays_on_its_mount() {
        let rename = Action::Rename { path: "/data/f".into(), to: "/other/f".into() };
        let other = Mount { path: "/other", source: Source::Here };
        let error = refused(|job| job.hosts[0].mounts.push(other), &[process("p", &[], &[rename])]);
        assert!(error.contains("does a rename of /data/f to /other/f"), "{error}");
        assert!(error.contains("which is on another mount; copy the file instead"), "{error}");
    }

    #[test]
    fn what_only_a_simulation_can_do_is_refused() {
        let with = |depth: u32, action: Action| {
            let mut one = process("p", &[], &[]);
            one.program = Arc::new(vec![Operation { depth: NonZeroU32::new(depth), ..action.into() }]);
            refused(|_| (), &[one])
        };
        assert_eq!(
            with(2000, read("/data/f", None, None)),
            "x.toml: a read with a `depth` of 2000, for each of which a thread is needed, cannot be run for real; simulate it"
        );
    }

    #[test]
    fn directories_that_a_program_makes_are_not_there_before() {
        let path = |path: &str| path.into();
        let actions = [
            Action::Mkdir { path: path("/data/new") },
            write("/data/new/a/f", 1, None),
            write("/data/b/g", 1, None),
            Action::Rmdir { path: path("/data/old/empty") },
        ];
        let plan = plan(&[file("/data/c/h", 1)], &[process("p", &[], &actions)]);
        let mut folders: Vec<PathBuf> = plan.folders().into_iter().map(|(_, folder)| folder).collect();
        folders.sort();
        assert_eq!(folders, ["data", "data/b", "data/c", "data/old/empty"].map(PathBuf::from));
        assert_eq!(plan.files().len(), 3, "directories are none");
        let there = super::super::testing::plan(&[file("/data/new/h", 1)], &[process("p", &[], &actions)]);
        assert!(there.folders().contains(&(0, PathBuf::from("data/new"))), "what is in it is there, too");
    }

    #[test]
    fn a_program_is_asked_at_the_earliest_time_at_which_it_can_be() {
        let fsync = Operation::from(Action::Fsync { path: "/data/f".into() });
        let sleep = Operation::from(Action::Sleep { time: Nanos(5), random: None });
        let late = Operation { not_before: Some(Nanos(100)), ..fsync.clone() };
        let ends: Vec<u64> = [fsync.clone(), sleep, late, fsync]
            .into_iter()
            .scan(Nanos::ZERO, |now, operation| {
                *now = earliest_end(*now, &Step { operation, file: None, target: None });
                Some(now.0)
            })
            .collect();
        assert_eq!(ends, [0, 5, 100, 100]);
    }

    /// Syncs until its time is over.
    struct UntilThen(Nanos);

    impl ProgramSource for UntilThen {
        fn start(&self) -> Result<Box<dyn pagecast_core::workload::Program>, ProgramError> {
            Ok(Box::new(Self(self.0)))
        }
    }

    impl pagecast_core::workload::Program for UntilThen {
        fn next(&mut self, now: Nanos) -> Result<Option<Operation>, ProgramError> {
            Ok((now < self.0).then(|| Action::Sync.into()))
        }
    }

    #[test]
    fn a_program_that_looks_at_the_clock_is_surveyed_until_its_end() {
        let of = |program: Arc<dyn ProgramSource>| {
            let mut one = process("p", &[], &[]);
            one.program = program;
            let plan = plan(&[], &[one]);
            (plan.operations(), plan.is_open_ended())
        };
        // 1000 operations that take no time, and 20 that take 1 to 20 microseconds.
        assert_eq!(of(Arc::new(UntilThen(Nanos(200_000)))), (1020, true));
        assert_eq!(of(Arc::new(|| std::iter::repeat_with(|| Operation::from(Action::Sync)))), (2000, true));
        assert_eq!(of(Arc::new(vec![Operation::from(Action::Sync); 10])), (10, false));
    }

    #[test]
    fn a_file_that_a_later_process_makes_longer_is_read_to_its_end() {
        let fresh = Action::Read {
            path: "/data/f".into(),
            offset: None,
            bytes: None,
            call: None,
            vector: 1,
            buffer: pagecast_core::workload::Buffer::Fresh,
        };
        let first = process("a", &["b"], &[fresh]);
        let plan = plan(&[file("/data/f", 10)], &[first, process("b", &[], &[write("/data/f", 90, None)])]);
        assert_eq!(plan.processes[0].survey.peak_memory, 100);
    }
}
