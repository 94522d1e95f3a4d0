//! Draws a recording with the statistics of a description.
//!
//! Each class of requests to each file has a quota, its share of all. Runs are drawn one after the other: file and class, as many runs as the
//! quota is good for; the number of requests, as those of the class have it; and the place of the first: a page of the file that was used
//! before, near a reuse distance of the class, or a new one. Each request is read or written as those of the file are, with a size of the
//! class. The rest of a run follows its first request; a new run of several begins where no new run of its file has been. So the mix, the
//! sizes, the classes and the times between requests have their distributions, and reuse has it for the starts of runs. Left out: how one
//! run depends on the run before, and how sizes depend on the process and on the place in a run.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::reuse::Fenwick;
use super::{CLASSES, LARGEST, PAGE};
use crate::random::{Draws, below, hash};
use crate::stop;
use crate::trace::{Level, Trace, TraceError, Writer};
use crate::units::{Bytes, Nanos};
use crate::workload::{Action, Buffer, Operation};

/// So many places are told apart for reuse.
const MOST_PLACES: u64 = 1 << 20;

/// So many places are looked at for one that fits.
const TRIES: u64 = 64;

/// The statistics that are drawn from: tables of a description, column by column.
#[derive(Clone, Debug, Deserialize)]
pub struct Model {
    footprint_bytes: u64,
    class_sizes: Sizes,
    runs: Counts,
    run_starts: Counts,
    interarrivals: Times,
    files: Parties,
    processes: Parties,
}

#[derive(Clone, Debug, Deserialize)]
struct Sizes {
    class: Vec<String>,
    bytes: Vec<u64>,
    reads: Vec<u64>,
    writes: Vec<u64>,
}

#[derive(Clone, Debug, Deserialize)]
struct Counts {
    class: Vec<String>,
    value: Vec<u64>,
    count: Vec<u64>,
}

#[derive(Clone, Debug, Deserialize)]
struct Times {
    time_s: Vec<f64>,
    count: Vec<u64>,
}

#[derive(Clone, Debug, Deserialize)]
struct Parties {
    name: Vec<String>,
    reads: Vec<u64>,
    writes: Vec<u64>,
    random: Vec<u64>,
    mixed: Vec<u64>,
    sequential: Vec<u64>,
    #[serde(rename = "large sequential")]
    large: Vec<u64>,
    #[serde(default)]
    end_bytes: Vec<u64>,
}

impl Parties {
    /// The requests of a party by class; nothing if its row is not whole.
    fn classes(&self, at: usize) -> [u64; CLASSES.len()] {
        [&self.random, &self.mixed, &self.sequential, &self.large]
            .map(|column| column.get(at).copied().unwrap_or_default())
    }

    fn requests(&self) -> impl Iterator<Item = (usize, u64)> {
        (0..self.name.len())
            .map(|at| (at, self.classes(at).iter().fold(0, |sum: u64, one| sum.saturating_add(*one))))
    }
}

impl Counts {
    /// What there is of a class.
    fn of(&self, class: &str) -> Weighted<u64> {
        let rows = self.class.iter().zip(self.value.iter().zip(&self.count));
        Weighted::new(rows.filter(|(of, _)| *of == class).map(|(_, (&value, &count))| (value, count)))
    }
}

/// Values to draw from, each as often as its count.
struct Weighted<T> {
    values: Vec<T>,
    ends: Vec<u64>,
}

impl<T: Copy> Weighted<T> {
    fn new(all: impl IntoIterator<Item = (T, u64)>) -> Self {
        let mut weighted = Self { values: Vec::new(), ends: Vec::new() };
        let mut end = 0_u64;
        for (value, count) in all.into_iter().filter(|&(_, count)| count > 0) {
            end = end.saturating_add(count);
            weighted.values.push(value);
            weighted.ends.push(end);
        }
        weighted
    }

    fn all(&self) -> u64 {
        self.ends.last().copied().unwrap_or_default()
    }

    fn draw(&self, draws: &mut Draws) -> Option<T> {
        let at = below(draws.next(), self.all());
        self.values.get(self.ends.partition_point(|&end| end <= at)).copied()
    }
}

impl Weighted<u64> {
    fn mean(&self) -> f64 {
        let counts = self.ends.iter().scan(0, |before, &end| Some(end - std::mem::replace(before, end)));
        let sum: f64 =
            self.values.iter().zip(counts).map(|(&value, count)| value as f64 * count as f64).sum();
        sum / self.all().max(1) as f64
    }
}

/// Places in the order of their last uses.
struct Places {
    bytes: u64,
    slots: FxHashMap<(usize, u64), u32>,
    order: Vec<(usize, u64)>,
    tree: Fenwick,
}

impl Places {
    fn new(footprint: u64) -> Self {
        let bytes = (footprint / MOST_PLACES).max(PAGE).next_power_of_two();
        Self { bytes, slots: FxHashMap::default(), order: Vec::new(), tree: Fenwick::new(1024) }
    }

    fn use_all(&mut self, file: usize, start: u64, end: u64) {
        (start / self.bytes..end.div_ceil(self.bytes)).for_each(|place| self.use_one((file, place)));
    }

    fn use_one(&mut self, place: (usize, u64)) {
        if self.order.len() == self.tree.len() {
            self.make_room();
        }
        let slot = self.order.len() as u32;
        self.order.push(place);
        if let Some(before) = self.slots.insert(place, slot) {
            self.tree.clear(before);
        }
        self.tree.set(slot, 1);
    }

    /// Numbers the slots anew.
    fn make_room(&mut self) {
        let mut kept: Vec<(u32, (usize, u64))> =
            self.slots.iter().map(|(&place, &slot)| (slot, place)).collect();
        kept.sort_unstable();
        self.tree = Fenwick::new((2 * kept.len()).max(1024));
        self.order = kept.into_iter().map(|(_, place)| place).collect();
        for (slot, &place) in (0..).zip(&self.order) {
            self.tree.set(slot, 1);
            self.slots.insert(place, slot);
        }
    }

    /// The place of a file that is nearest to a distance, among those beside it.
    fn near(&self, distance: u64, file: usize) -> Option<u64> {
        let last = self.tree.all().checked_sub(1)?;
        let since = distance.div_ceil(self.bytes).clamp(1, last + 1);
        let beside = (0..TRIES).flat_map(|apart| [since.checked_sub(apart), since.checked_add(apart)]);
        let mut beside = beside.flatten().filter(|since| (1..=last + 1).contains(since));
        beside.find_map(|since| {
            let (of, place) = self.order[self.tree.find(last + 1 - since) as usize];
            (of == file).then_some(place * self.bytes)
        })
    }

    fn has(&self, file: usize, offset: u64) -> bool {
        self.slots.contains_key(&(file, offset / self.bytes))
    }
}

/// All that is drawn from.
struct Drawn {
    /// Sizes of reads, and of writes, by class.
    sizes: [[Weighted<u64>; 2]; CLASSES.len()],
    /// Numbers of requests of a run, by class.
    runs: [Weighted<u64>; CLASSES.len()],
    /// Reuse distances of the first pages of runs, by class; 0 is a new page.
    starts: [Weighted<u64>; CLASSES.len()],
    times: Weighted<f64>,
    /// The share of writes among the requests to each file.
    write_shares: Vec<f64>,
    processes: Weighted<usize>,
}

impl Drawn {
    fn new(model: &Model) -> Self {
        let shares = model.files.reads.iter().zip(&model.files.writes);
        let times = &model.interarrivals;
        Self {
            sizes: CLASSES.map(|class| sizes_of(&model.class_sizes, class)),
            runs: CLASSES.map(|class| model.runs.of(class)),
            starts: CLASSES.map(|class| model.run_starts.of(class)),
            times: Weighted::new(times.time_s.iter().copied().zip(times.count.iter().copied())),
            write_shares: shares
                .map(|(&reads, &writes)| writes as f64 / reads.saturating_add(writes).max(1) as f64)
                .collect(),
            processes: Weighted::new(model.processes.requests()),
        }
    }

    /// The size of a request of a class to a file, and whether it is written.
    fn request(&self, file: usize, class: usize, draws: &mut Draws) -> Option<(u64, bool)> {
        let share = self.write_shares.get(file).copied().unwrap_or_default();
        let is_write = draws.next_unit() <= share;
        let of =
            |kind: bool, draws: &mut Draws| Some((self.sizes[class][usize::from(kind)].draw(draws)?, kind));
        of(is_write, draws).or_else(|| of(!is_write, draws))
    }
}

/// The requests that are left of each class in each file.
struct Quotas {
    left: Vec<[u64; CLASSES.len()]>,
    means: [f64; CLASSES.len()],
    /// Runs that are left, in sixteenths, by file and class.
    runs: Fenwick,
}

impl Quotas {
    /// The shares of files and classes of so many requests.
    fn new(model: &Model, requests: u64, runs: &[Weighted<u64>; CLASSES.len()]) -> Self {
        let all = model.files.requests().fold(0_u64, |sum, (_, one)| sum.saturating_add(one)).max(1);
        let share = |count: u64| (count as f64 / all as f64 * requests as f64).ceil() as u64;
        let left: Vec<_> =
            (0..model.files.name.len()).map(|file| model.files.classes(file).map(share)).collect();
        let means = std::array::from_fn(|class| runs[class].mean().max(1.0));
        let mut quotas = Self { runs: Fenwick::new(left.len() * CLASSES.len()), left, means };
        for place in 0..quotas.left.len() * CLASSES.len() {
            quotas.weigh(place);
        }
        quotas
    }

    fn weigh(&mut self, place: usize) {
        let (file, class) = (place / CLASSES.len(), place % CLASSES.len());
        let left = self.left[file][class];
        let runs = (left as f64 * 16.0 / self.means[class]).ceil() as u64;
        self.runs.set(place as u32, runs.min(1 << 40));
    }

    /// A file and a class that have requests left.
    fn draw(&self, draws: &mut Draws) -> Option<(usize, usize)> {
        let all = self.runs.all();
        let place = (all > 0).then(|| self.runs.find(below(draws.next(), all)) as usize)?;
        Some((place / CLASSES.len(), place % CLASSES.len()))
    }

    /// So many of them are made.
    fn take(&mut self, file: usize, class: usize, requests: u64) {
        let place = file * CLASSES.len() + class;
        self.left[file][class] = self.left[file][class].saturating_sub(requests);
        self.runs.clear(place as u32);
        self.weigh(place);
    }
}

fn sizes_of(sizes: &Sizes, class: &str) -> [Weighted<u64>; 2] {
    [&sizes.reads, &sizes.writes].map(|counts| {
        let rows = sizes.class.iter().zip(sizes.bytes.iter().zip(counts));
        Weighted::new(rows.filter(|(of, _)| *of == class).map(|(_, (&bytes, &count))| (bytes, count)))
    })
}

/// Draws so many requests. The same model, number and seed give the same recording.
///
/// # Errors
/// If there is no room for it.
pub fn generate(origin: &str, model: &Model, requests: u64, seed: u64) -> Result<Trace, TraceError> {
    let mut writer = Writer::new(origin, Level::Files);
    let drawn = Drawn::new(model);
    let paths: Vec<Arc<str>> =
        model.files.name.iter().map(|name| writer.path(name)).collect::<Result<_, _>>()?;
    let ends: Vec<u64> =
        (0..paths.len()).map(|at| model.files.end_bytes.get(at).copied().unwrap_or(PAGE)).collect();
    for (name, end) in model.files.name.iter().zip(&ends) {
        writer.file(name, Bytes(*end))?;
    }
    let processes: Vec<u32> =
        model.processes.name.iter().map(|name| writer.process(name)).collect::<Result<_, _>>()?;
    let mut times = vec![Nanos::ZERO; processes.len()];
    let mut places = Places::new(model.footprint_bytes);
    let mut files = Files { fresh: vec![0; ends.len()], ends };
    let mut draws = Draws::of(seed, hash("generate"));
    let mut quotas = Quotas::new(model, requests, &drawn.runs);
    let mut made = 0;
    while made < requests {
        let (Some((file, class)), Some(process)) =
            (quotas.draw(&mut draws), drawn.processes.draw(&mut draws))
        else {
            break;
        };
        let length = drawn.runs[class].draw(&mut draws).unwrap_or(1).max(1);
        let length = length.min(quotas.left[file][class]).min(requests - made);
        quotas.take(file, class, length);
        let (mut offset, is_new) = files.start(file, &drawn.starts[class], length, &places, &mut draws);
        for _ in 0..length {
            stop::spend(1);
            let Some((bytes, is_write)) = drawn.request(file, class, &mut draws) else {
                return writer.finish();
            };
            // A run that comes to the end of its file goes on elsewhere.
            if offset >= files.ends[file].max(1) {
                offset = files.anywhere(file, &places, &mut draws);
            }
            let operation = operation(&paths[file], offset, bytes, is_write);
            let time = (drawn.times.all() > 0).then(|| times[process]);
            writer.record(processes[process], time, None, &operation)?;
            places.use_all(file, offset, offset.saturating_add(bytes.min(LARGEST)));
            offset = offset.saturating_add(bytes);
            if let Some(least) = drawn.times.draw(&mut draws) {
                let time = least * (1.0 + draws.next_unit());
                times[process] = Nanos(times[process].0.saturating_add((time * 1e9) as u64));
            }
            made += 1;
        }
        if is_new && length > 1 {
            // A gap, so that the next run is another one.
            files.fresh[file] = (offset / PAGE).saturating_add(2).saturating_mul(PAGE);
        }
    }
    writer.finish()
}

/// The files, by their numbers.
struct Files {
    /// Their sizes.
    ends: Vec<u64>,
    /// Where the next new run of several requests begins.
    fresh: Vec<u64>,
}

impl Files {
    /// The offset of the first request of a run of this length in a file, and whether it is new.
    fn start(
        &self,
        file: usize,
        starts: &Weighted<u64>,
        length: u64,
        places: &Places,
        draws: &mut Draws,
    ) -> (u64, bool) {
        let distance = starts.draw(draws).unwrap_or_default();
        let used = Some(distance).filter(|&distance| distance > 0);
        let used = used.and_then(|distance| places.near(distance, file));
        match used.filter(|&offset| offset < self.ends[file]) {
            Some(offset) => (offset, false),
            None if length > 1 && self.fresh[file] < self.ends[file] => (self.fresh[file], true),
            None => (self.anywhere(file, places, draws), false),
        }
    }

    /// A place of a file that was not used, as far as one is found.
    fn anywhere(&self, file: usize, places: &Places, draws: &mut Draws) -> u64 {
        let pages = self.ends[file].div_ceil(PAGE).max(1);
        let mut offset = 0;
        for _ in 0..TRIES {
            offset = below(draws.next(), pages) * PAGE;
            if !places.has(file, offset) {
                break;
            }
        }
        offset
    }
}

fn operation(path: &Arc<str>, offset: u64, bytes: u64, is_write: bool) -> Operation {
    let (path, offset) = (path.clone(), Some(offset));
    match is_write {
        true => Action::Write { path, offset, bytes: Bytes(bytes), call: None, vector: 1 }.into(),
        false => {
            let bytes = Some(Bytes(bytes));
            Action::Read { path, offset, bytes, call: None, vector: 1, buffer: Buffer::Reused }.into()
        }
    }
}
