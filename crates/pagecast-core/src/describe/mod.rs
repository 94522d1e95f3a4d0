//! Describes a recording: what its requests are like, and how much memory would serve them.
//!
//! A request is a read or write of a file. Two passes are made, and memory does not grow with the number of requests: the first counts, the
//! second collects. Reuse is counted in pages of 4 KiB; of objects, in whole objects.

mod classes;
mod drawn;
mod generate;
mod reuse;
mod sampling;
mod sizes;
mod windows;

use serde::Serialize;

pub use self::classes::{CLASSES, LARGE_BYTES, SEQUENTIAL_RUN};
use self::classes::{Counted, Streams};
pub use self::drawn::drawn;
pub use self::generate::{Model, generate};
use self::reuse::Reuse;
pub use self::reuse::{Curve, CurvePoint};
use self::sampling::{Distinct, Sample};
use self::sizes::Bins;
pub use self::sizes::{ClassSizeRow, CountRow, SizeRow, TimeRow};
pub use self::windows::WindowRow;
use self::windows::Windows;
use crate::random::mix;
use crate::stop;
use crate::trace::{Done, FileRequest, Level, Requests, Trace, TraceError};
use crate::units::Nanos;

/// The size of a page.
pub const PAGE: u64 = 4096;

/// Of a larger request, reuse counts the first TiB.
const LARGEST: u64 = 1 << 40;

/// How a recording is described.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Reuse is exact up to so many pages, or else of a sample of about so many.
    pub most_pages: usize,
    /// So many requests are kept with their places, evenly among all.
    pub most_points: u64,
    /// So many files and processes have a row, those that move most.
    pub most_rows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_pages: 1 << 18, most_points: 20_000, most_rows: 1000 }
    }
}

/// What a recording is like.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Description {
    /// Reads and writes.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Seconds from the first request to the last; none if the recording has no times.
    pub duration_s: Option<f64>,
    /// Different bytes, in whole pages.
    pub footprint_bytes: u64,
    /// True if it counts all pages, false if it is made of a sample.
    pub is_exact: bool,
    /// The part of the pages that are in the sample.
    pub sampled: f64,
    /// Other operations, by name.
    pub operations: Vec<OperationRow>,
    /// The classes of requests, in the order of [`CLASSES`].
    pub classes: Vec<ClassRow>,
    /// Runs by the number of their requests.
    pub runs: Vec<CountRow>,
    /// Runs by the reuse distance of their first page, in bytes; a page that was not used before has 0.
    pub run_starts: Vec<CountRow>,
    /// The sizes of requests.
    pub sizes: Vec<SizeRow>,
    /// The sizes of the requests of each class.
    pub class_sizes: Vec<ClassSizeRow>,
    /// The times from a request of a process to its next.
    pub interarrivals: Vec<TimeRow>,
    /// Hit ratio under LRU against memory.
    pub hit_ratio: Vec<CurvePoint>,
    /// The working set against time.
    pub working_set: Vec<WindowRow>,
    /// Some requests with their places.
    pub points: Vec<PointRow>,
    /// The files that move most.
    pub files: Vec<PartyRow>,
    /// The number of all files that are read or written.
    pub all_files: u64,
    /// The processes that move most.
    pub processes: Vec<PartyRow>,
    /// The number of all processes that read or write.
    pub all_processes: u64,
}

/// Operations of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationRow {
    /// Its name.
    pub operation: &'static str,
    /// How many.
    pub count: u64,
}

/// A class of requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassRow {
    /// Its name.
    pub class: &'static str,
    /// How many requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A request with its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointRow {
    /// Its number among all requests, from 0.
    pub request: u64,
    /// When it began, from the first request, in seconds.
    pub time_s: Option<f64>,
    /// Its process.
    pub process: String,
    /// Its file.
    pub file: String,
    /// The first byte.
    pub offset_bytes: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Written, or else read.
    pub is_write: bool,
}

/// A file or process.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartyRow {
    /// Its name.
    pub name: String,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Pages that it is the first to use, in bytes; of a sample if the description is.
    pub footprint_bytes: u64,
    /// The end of the last byte of a file that is read or written.
    pub end_bytes: u64,
    /// Requests of each class.
    pub classes: [u64; CLASSES.len()],
}

/// What the first pass finds.
struct Whole {
    requests: u64,
    first: Option<Nanos>,
    last: Nanos,
    sample: Sample,
}

/// Describes a recording.
///
/// # Errors
/// If it cannot be read.
pub fn describe(trace: &Trace, options: Options) -> Result<Description, TraceError> {
    let whole = look_over(trace, options)?;
    let mut collected = Collected::new(&whole, options, trace.level() == Level::Objects);
    let mut requests = trace.requests()?;
    while let Some(done) = requests.next() {
        match done? {
            Done::Request(request) => {
                stop::spend(1 + request.bytes.min(LARGEST) / PAGE);
                collected.request(&request, &whole, &requests, trace);
            }
            Done::Other(name) => {
                stop::spend(1);
                collected.other(name);
            }
            Done::Nothing => stop::spend(1),
        }
    }
    Ok(collected.finish(&whole, &requests, trace, options))
}

fn look_over(trace: &Trace, options: Options) -> Result<Whole, TraceError> {
    let of_objects = trace.level() == Level::Objects;
    let mut distinct = Distinct::new(options.most_pages);
    let mut whole = Whole { requests: 0, first: None, last: Nanos::ZERO, sample: Sample::all() };
    for done in trace.requests()? {
        let Done::Request(request) = done? else { continue };
        stop::spend(1 + request.bytes.min(LARGEST) / PAGE);
        whole.requests += 1;
        if let Some(time) = request.time {
            let first = whole.first.get_or_insert(time);
            *first = (*first).min(time);
            whole.last = whole.last.max(time);
        }
        units(&request, of_objects).for_each(|(key, _)| distinct.add(key));
    }
    whole.sample = distinct.sample();
    Ok(whole)
}

/// The keys of the pages of a request, and the bytes of each; of an object, its own.
fn units(request: &FileRequest, is_object: bool) -> impl Iterator<Item = (u64, u64)> + use<> {
    let file = mix(u64::from(request.file) + 1);
    let (first, end) = match is_object {
        true => (request.offset, request.offset.saturating_add(u64::from(request.bytes > 0))),
        false => {
            let end = request.offset.saturating_add(request.bytes.min(LARGEST));
            (request.offset / PAGE, if request.bytes == 0 { 0 } else { end.div_ceil(PAGE) })
        }
    };
    let bytes = if is_object { request.bytes } else { PAGE };
    (first..end).map(move |page| (mix(file ^ page), bytes))
}

/// What the second pass collects.
struct Collected {
    of_objects: bool,
    number: u64,
    description: Description,
    streams: Streams,
    sizes: Bins,
    class_sizes: [Bins; CLASSES.len()],
    times: Bins,
    runs: [Bins; CLASSES.len()],
    run_starts: [Bins; CLASSES.len()],
    last_of: Vec<Option<Nanos>>,
    reuse: Reuse,
    windows: Windows,
    files: Vec<Party>,
    processes: Vec<Party>,
    point_share: f64,
}

/// What is counted of a file or process.
#[derive(Clone, Default)]
struct Party {
    counted: [Counted; 2],
    first_uses: u64,
    end: u64,
    classes: [u64; CLASSES.len()],
}

fn party(all: &mut Vec<Party>, at: u32) -> &mut Party {
    let at = at as usize;
    if at >= all.len() {
        all.resize_with(at + 1, Party::default);
    }
    &mut all[at]
}

impl Collected {
    fn new(whole: &Whole, options: Options, of_objects: bool) -> Self {
        Self {
            of_objects,
            number: 0,
            description: Description::default(),
            streams: Streams::default(),
            sizes: Bins::default(),
            class_sizes: Default::default(),
            times: Bins::default(),
            runs: Default::default(),
            run_starts: Default::default(),
            last_of: Vec::new(),
            reuse: Reuse::new(whole.sample, of_objects),
            windows: Windows::new(whole.first.map(|first| (first, whole.last)), whole.requests),
            files: Vec::new(),
            processes: Vec::new(),
            point_share: (options.most_points as f64 / whole.requests.max(1) as f64).min(1.0),
        }
    }

    fn other(&mut self, name: &'static str) {
        let rows = &mut self.description.operations;
        match rows.iter_mut().find(|row| row.operation == name) {
            Some(row) => row.count += 1,
            None => rows.push(OperationRow { operation: name, count: 1 }),
        }
    }

    fn request(&mut self, request: &FileRequest, whole: &Whole, requests: &Requests, trace: &Trace) {
        let of = usize::from(request.is_write);
        self.sizes.add(request.bytes, of);
        self.time_since_last(request);
        for (all, at) in [(&mut self.files, request.file), (&mut self.processes, request.process)] {
            party(all, at).counted[of].add(request.bytes);
        }
        let file = party(&mut self.files, request.file);
        file.end = file.end.max(request.offset.saturating_add(request.bytes));
        let (begins, ended) = self.streams.add(request);
        if let Some(run) = ended {
            self.end_run(request.file, request.process, &run);
        }
        let window = self.windows.of(request.time, self.number);
        self.windows.moved(window, request);
        let mut new = 0;
        for (at, (key, bytes)) in units(request, self.of_objects).enumerate() {
            if let Some(used) = self.reuse.touch(key, bytes, request.is_write, window) {
                if begins && at == 0 {
                    self.streams.begun(request).start = Some(used.distance.unwrap_or_default());
                }
                self.windows.touched(window, bytes, used.is_first, used.is_first_in_window);
                new += if used.is_first { bytes } else { 0 };
            }
        }
        if new > 0 {
            party(&mut self.files, request.file).first_uses += new;
            party(&mut self.processes, request.process).first_uses += new;
        }
        if self.is_point(whole) {
            self.description.points.push(PointRow {
                request: self.number,
                time_s: seconds_from(whole.first, request.time),
                process: name_of(trace, request.process),
                file: requests.path(request.file).to_string(),
                offset_bytes: request.offset,
                bytes: request.bytes,
                is_write: request.is_write,
            });
        }
        self.number += 1;
    }

    /// Whether the next request is kept: so many of all, and evenly.
    fn is_point(&self, whole: &Whole) -> bool {
        let before = (self.number as f64 * self.point_share) as u64;
        let with = ((self.number + 1) as f64 * self.point_share) as u64;
        with > before || (self.number + 1 == whole.requests && self.description.points.is_empty())
    }

    fn time_since_last(&mut self, request: &FileRequest) {
        let at = request.process as usize;
        if at >= self.last_of.len() {
            self.last_of.resize(at + 1, None);
        }
        let last = std::mem::replace(&mut self.last_of[at], request.time);
        if let (Some(last), Some(time)) = (last, request.time) {
            self.times.add(time.0.saturating_sub(last.0), 0);
        }
    }

    fn end_run(&mut self, file: u32, process: u32, run: &classes::Run) {
        let class = run.class() as usize;
        self.runs[class].add(run.requests(), 0);
        run.start.into_iter().for_each(|distance| self.run_starts[class].add(distance, 0));
        for (class, bytes, counts) in run.sizes() {
            self.class_sizes[class as usize].add_all(bytes, counts);
        }
        for (class, counted) in run.classes() {
            let at = class as usize;
            party(&mut self.files, file).classes[at] += counted.requests;
            party(&mut self.processes, process).classes[at] += counted.requests;
            self.streams.counted[at].merge(counted);
        }
    }

    fn finish(mut self, whole: &Whole, requests: &Requests, trace: &Trace, options: Options) -> Description {
        for (file, process, run) in self.streams.end() {
            self.end_run(file, process, &run);
        }
        let scale = 1.0 / self.reuse.share();
        let mut total = [Counted::default(); 2];
        self.processes.iter().for_each(|party| {
            (0..2).for_each(|of| total[of].merge(party.counted[of]));
        });
        let classes = CLASSES.iter().zip(&self.streams.counted);
        let (files, all_files) = rows(&self.files, scale, options, |at| requests.path(at as u32).to_string());
        let (processes, all_processes) =
            rows(&self.processes, scale, options, |at| name_of(trace, at as u32));
        Description {
            requests: self.number,
            reads: total[0].requests,
            writes: total[1].requests,
            read_bytes: total[0].bytes,
            written_bytes: total[1].bytes,
            duration_s: whole.first.map(|first| Nanos(whole.last.0 - first.0).as_seconds()),
            footprint_bytes: (self.reuse.footprint() as f64 * scale) as u64,
            is_exact: self.reuse.share() == 1.0,
            sampled: self.reuse.share(),
            classes: classes
                .map(|(&class, counted)| ClassRow { class, requests: counted.requests, bytes: counted.bytes })
                .collect(),
            runs: by_class(&self.runs).flat_map(|(class, bins)| bins.count_rows(class)).collect(),
            run_starts: by_class(&self.run_starts).flat_map(|(class, bins)| bins.count_rows(class)).collect(),
            sizes: self.sizes.size_rows(),
            class_sizes: by_class(&self.class_sizes)
                .flat_map(|(class, bins)| bins.class_size_rows(class))
                .collect(),
            interarrivals: self.times.time_rows(),
            hit_ratio: self.reuse.curve().points(),
            working_set: self.windows.rows(scale),
            files,
            all_files,
            processes,
            all_processes,
            ..self.description
        }
    }
}

fn by_class(bins: &[Bins; CLASSES.len()]) -> impl Iterator<Item = (&'static str, &Bins)> {
    CLASSES.into_iter().zip(bins)
}

fn name_of(trace: &Trace, process: u32) -> String {
    trace.processes().nth(process as usize).map(ToString::to_string).unwrap_or_default()
}

fn seconds_from(first: Option<Nanos>, time: Option<Nanos>) -> Option<f64> {
    Some(Nanos(time?.0.saturating_sub(first?.0)).as_seconds())
}

/// The rows of those that move most, and the number of all.
fn rows(all: &[Party], scale: f64, options: Options, name: impl Fn(usize) -> String) -> (Vec<PartyRow>, u64) {
    let moved = |at: &usize| all[*at].counted[0].bytes + all[*at].counted[1].bytes;
    let has_requests = |at: &usize| all[*at].counted.iter().any(|counted| counted.requests > 0);
    let mut order: Vec<usize> = (0..all.len()).filter(has_requests).collect();
    let count = order.len() as u64;
    order.sort_by_key(|at| (std::cmp::Reverse(moved(at)), *at));
    order.truncate(options.most_rows);
    let row = |at: usize| {
        let Party { counted: [read, written], first_uses, end, classes } = &all[at];
        PartyRow {
            name: name(at),
            reads: read.requests,
            writes: written.requests,
            read_bytes: read.bytes,
            written_bytes: written.bytes,
            footprint_bytes: (*first_uses as f64 * scale) as u64,
            end_bytes: *end,
            classes: *classes,
        }
    };
    (order.into_iter().map(row).collect(), count)
}

#[cfg(test)]
mod tests;
