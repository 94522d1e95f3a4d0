//! Makes threads of the sections of a job file: what they inherit, what follows from several options together, in which order they start.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::engines::Engine;
use super::files::{Clone as Copied, FileUse, Layout, most_of_all};
use super::job::{Distribution, Generator, Job, READ, Steady, WRITE};
use super::options::{Standing, find};
use super::random::{Random, Use, seed};
use super::sections::{Given, Section};
use super::values::{Amount, Text};
use crate::nearest::{hint, shorten};
use crate::readers::error::ReadError;
use crate::readers::options::Options;
use crate::units::Nanos;
use crate::workload::Note;

/// The most threads of a job file.
const MOST_THREADS: u64 = 1_000_000;

/// The most files of all threads; a file that several of them use counts for each.
const MOST_FILES: u64 = 2_000_000;

/// The most blocks of the random maps of all threads: 4 GiB of memory.
const MOST_BLOCKS: u64 = 1 << 35;

/// One thread of a job.
#[derive(Debug)]
pub struct Thread {
    /// Its options.
    pub job: Arc<Job>,
    /// Unique in the job file.
    pub name: Arc<str>,
    /// Number within the run, from 1.
    pub number: u64,
    /// Its reporting group.
    pub group: u32,
    /// How many stonewalls are before it.
    pub wave: usize,
    /// Its earliest start.
    pub start: Nanos,
    /// Its files.
    pub files: Vec<FileUse>,
    /// Bytes of one loop: `size`, or what the files come to.
    pub size: u64,
    /// What fio itself takes for a request.
    pub overhead: Nanos,
    /// The options of its section as they are written.
    pub given: Arc<[(String, String)]>,
}

/// All threads of a job file.
#[derive(Default)]
pub struct Plan {
    /// In the order in which fio starts them.
    pub threads: Vec<Thread>,
    /// The files that exist before.
    pub layout: Layout,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// The options of [global] as they are written.
    pub given: Vec<(String, String)>,
    files: u64,
    blocks: u64,
}

/// Makes the threads.
///
/// # Errors
/// Options that are unknown or refused, and combinations that fio refuses.
pub fn plan(sections: &[Section], options: &Options) -> Result<Plan, ReadError> {
    let mut plan = Plan::default();
    let Some(first) = sections.first() else {
        return Err(ReadError::new("", "has no section", "write [NAME] and options below it"));
    };
    check_engines(sections)?;
    let mut global = Job::new(first.place.clone());
    let (mut group, mut wave, mut in_group) = (0, 0, 0_u32);
    for section in sections {
        if section.is_global() {
            read_options(&mut global, section, options, &mut plan.notes)?;
            plan.given.extend(given(section));
            continue;
        }
        let mut job = Job { name: section.name.clone(), place: section.place.clone(), ..global.clone() };
        read_options(&mut job, section, options, &mut plan.notes)?;
        settle(&mut job, &mut plan.notes)?;
        if (job.stonewall || job.new_group) && in_group > 0 {
            group += 1;
            in_group = 0;
        }
        if job.stonewall && !plan.threads.is_empty() {
            wave += 1;
        }
        in_group += 1;
        check_steady(&job, group, &plan.threads)?;
        check_wait(&job, &plan.threads)?;
        add_threads(&mut plan, job, section, options, (group, wave))?;
    }
    if plan.threads.is_empty() {
        return Err(first
            .place
            .error("there is no job beside [global]", "add a section with the name of a job"));
    }
    Ok(plan)
}

/// Refuses a job whose engine cannot be simulated before anything else of it is looked at: its other options may be those of the engine.
fn check_engines(sections: &[Section]) -> Result<(), ReadError> {
    let mut inherited = None;
    for section in sections {
        let own = section.options.iter().rev().find(|given| given.name == "ioengine");
        if section.is_global() {
            inherited = own.or(inherited);
            continue;
        }
        if let Some(given) = own.or(inherited) {
            let name = given.value.as_deref().unwrap_or("");
            Engine::named(name).map_err(|wrong| given.place.wrong(wrong))?;
        }
    }
    Ok(())
}

/// Sets the options of a section: `kb_base` first, the others in their order.
fn read_options(
    job: &mut Job,
    section: &Section,
    options: &Options,
    notes: &mut Vec<Note>,
) -> Result<(), ReadError> {
    let (first, rest): (Vec<&Given>, Vec<&Given>) =
        section.options.iter().partition(|given| given.name == "kb_base");
    for given in first.into_iter().chain(rest) {
        // An engine of [global] that no job has does no harm.
        if section.is_global() && given.name == "ioengine" && is_refused_engine(given) {
            continue;
        }
        let read = read_option(job, given, notes);
        match read {
            Err(error) if options.lenient => {
                notes.push(Note { place: error.place, text: format!("passed over: {}", error.what) });
            }
            read => read?,
        }
    }
    Ok(())
}

fn is_refused_engine(given: &Given) -> bool {
    Engine::named(given.value.as_deref().unwrap_or("")).is_err()
}

fn read_option(job: &mut Job, given: &Given, notes: &mut Vec<Note>) -> Result<(), ReadError> {
    let known = find(&given.name).map_err(|wrong| given.place.wrong(wrong))?;
    let value = Text { text: given.value.as_deref(), kb_base: job.kb_base };
    match known.standing {
        Standing::Done(set) => set(job, value).map_err(|wrong| match &given.unset {
            Some(variable) => given.place.error(
                format!("`{}` uses ${{{}}}, which is not set", known.name, shorten(variable)),
                format!("set it: {variable}=... pagecast simulate ..."),
            ),
            None => given.place.error(format!("`{}` {}", known.name, wrong.what), wrong.remedy),
        }),
        Standing::NoEffect => {
            let text = format!("`{}` has no effect here: {}", given.name, known.text);
            notes.push(Note { place: given.place.to_string(), text });
            Ok(())
        }
        Standing::Refused(off) if value.text.is_some_and(|text| off.contains(&text)) => Ok(()),
        Standing::Refused(_) => {
            Err(given.place.error(format!("`{}` is refused: {}", given.name, known.text), "remove it"))
        }
    }
}

/// What follows from several options together (`fixup_options`).
fn settle(job: &mut Job, notes: &mut Vec<Note>) -> Result<(), ReadError> {
    let place = job.place.clone();
    let error = |what: &str, remedy: &str| Err(place.error(what, remedy));
    let mut note = |text: &str| notes.push(Note { place: place.to_string(), text: text.to_owned() });
    match (job.strides.mode, job.strides.size) {
        (Some(false), 1..) => {
            return error("zonemode=none and zonesize exclude each other", "remove one of them");
        }
        (Some(true), 0) => return error("zonemode=strided needs zonesize", "add zonesize="),
        (None, size) => job.strides.mode = Some(size > 0),
        _ => {}
    }
    if job.strides.range == 0 {
        job.strides.range = job.strides.size;
    }
    if !job.file_names.is_empty() {
        job.files = u32::try_from(job.file_names.len()).unwrap_or(u32::MAX);
    }
    if job.strides.mode == Some(true) && job.files > 1 {
        job.strides.mode = Some(false);
        note("zonemode=strided has no effect with several files");
    }
    job.overwrite |= job.rw.reads;
    let is_aligned =
        |direction: usize| job.align[direction] == 0 || job.align[direction] == job.least(direction);
    if job.rw.is_random && !(is_aligned(READ) && is_aligned(WRITE)) {
        job.no_random_map = true;
    }
    if job.distribution != Distribution::Uniform {
        job.no_random_map = true;
    }
    if job.rate.iter().any(|&rate| rate > 0) && job.rate_iops.iter().any(|&rate| rate > 0) {
        return error("rate and rate_iops exclude each other", "remove one of them");
    }
    if job.time_based && job.runtime == Nanos::ZERO {
        job.time_based = false;
        note("time_based has no effect without runtime");
    }
    if matches!(job.size, Some(Amount::Bytes(size)) if size > 0 && size < job.least_of_all()) {
        return error("size is less than the least request", "make size larger or bs smaller");
    }
    if job.pre_read {
        job.invalidate = false;
    }
    if job.generator == Generator::Lfsr && job.least(READ) != job.most(READ) {
        note("random_generator=lfsr with several block sizes uses some blocks more than once");
    }
    if job.engine.is_synchronous() && job.depth > 1 {
        note("iodepth has no effect with a synchronous engine");
    }
    if job.verify_batch > 0 && job.verify_batch < job.verify_backlog {
        return error(
            "verify_backlog_batch is less than verify_backlog: some blocks are never read back",
            "make it as large",
        );
    }
    job.think.spin = job.think.spin.min(job.think.time);
    let (duration, ramp) = job.steady_times;
    let seconds = duration.0 / 1_000_000_000;
    job.steady = (seconds > 0).then_some(Steady { criterion: job.steady_criterion, seconds, ramp });
    if job.target.latency > Nanos::ZERO && job.target.window == Nanos::ZERO {
        return error("latency_target needs latency_window", "add for example latency_window=1s");
    }
    if job.uncached {
        job.uncached = !job.direct;
    }
    Ok(())
}

impl Plan {
    /// Refuses what takes too much memory when it runs.
    fn count(&mut self, job: &Job, files: &[FileUse]) -> Result<(), ReadError> {
        if job.rw.is_random && !job.no_random_map && job.generator != Generator::Lfsr {
            let blocks = files.iter().map(|file| file.bytes.min(file.size) / job.least_of_all());
            self.blocks = blocks.fold(self.blocks, u64::saturating_add);
        }
        if self.blocks > MOST_BLOCKS {
            let what = format!("the random maps of the jobs have more than {MOST_BLOCKS} blocks");
            return Err(job.place.error(what, "add norandommap, or make bs larger"));
        }
        Ok(())
    }
}

/// fio takes jobs of a group only if they are steady by the same measure.
fn check_steady(job: &Job, group: u32, threads: &[Thread]) -> Result<(), ReadError> {
    let others = threads.iter().rev().take_while(|thread| thread.group == group);
    match others.into_iter().find(|thread| thread.job.steady != job.steady) {
        None => Ok(()),
        Some(other) => {
            let what =
                format!("steadystate is not that of `{}`, which is of its group", shorten(&other.job.name));
            Err(job.place.error(what, "write it in [global], or add new_group"))
        }
    }
}

/// `wait_for` names one job that stands before.
fn check_wait(job: &Job, threads: &[Thread]) -> Result<(), ReadError> {
    let Some(name) = &job.wait_for else { return Ok(()) };
    if threads.iter().any(|thread| thread.job.name == *name) {
        return Ok(());
    }
    let what = format!(
        "wait_for names `{}`, and no job before `{}` is called so",
        shorten(name),
        shorten(&job.name)
    );
    let known = threads.iter().map(|thread| thread.job.name.as_str());
    Err(job.place.error(what, hint(name, known, "jobs before it")))
}

fn add_threads(
    plan: &mut Plan,
    job: Job,
    section: &Section,
    options: &Options,
    (group, wave): (u32, usize),
) -> Result<(), ReadError> {
    let room = options.surroundings.room.map(|room| room.0);
    let count = job.jobs;
    if plan.threads.len() as u64 + u64::from(count) > MOST_THREADS {
        return Err(job
            .place
            .error(format!("there are more than {MOST_THREADS} threads"), "make numjobs smaller"));
    }
    plan.files += u64::from(count) * u64::from(job.files);
    if plan.files > MOST_FILES {
        let what = format!("the jobs use more than {MOST_FILES} files");
        return Err(job.place.error(what, "make nrfiles smaller"));
    }
    let taken: FxHashMap<Arc<str>, ()> =
        plan.threads.iter().map(|thread| (Arc::clone(&thread.name), ())).collect();
    let job = Arc::new(job);
    let given: Arc<[(String, String)]> = given(section).collect();
    for index in 0..count {
        let number = plan.threads.len() as u64 + 1;
        let start = start_of(&job, number);
        let clone = Copied { index, thread: number, starts: (wave, start.0) };
        let (files, size) = plan.layout.of_thread(&job, &section.name, clone, &options.placement, room)?;
        plan.count(&job, &files)?;
        if most_of_all(&job) > size.max(1 << 30) {
            return Err(job
                .place
                .error("requests are larger than all that is to be moved", "make bs smaller"));
        }
        let plain = if count == 1 { job.name.clone() } else { format!("{}.{index}", job.name) };
        let name = if taken.contains_key(plain.as_str()) { format!("{plain}#{number}") } else { plain };
        let job = Arc::clone(&job);
        let given = Arc::clone(&given);
        let overhead = options.surroundings.fio_overhead;
        plan.threads.push(Thread {
            job,
            name: name.into(),
            number,
            group,
            wave,
            start,
            files,
            size,
            overhead,
            given,
        });
    }
    Ok(())
}

/// The options of a section that have a value, as fio repeats them in its report.
fn given(section: &Section) -> impl Iterator<Item = (String, String)> {
    section.options.iter().filter_map(|given| Some((given.name.clone(), given.value.clone()?)))
}

/// `startdelay`; of a range what the generator of the thread draws.
fn start_of(job: &Job, thread: u64) -> Nanos {
    let (low, high) = job.start_delay;
    if low == high {
        return low;
    }
    let mut random = Random::new(seed(job, thread, Use::StartDelay), job.draws_64_bits());
    Nanos(random.between(low.0 / 1000, high.0 / 1000) * 1000)
}
