//! Counts reuse distances, and makes the hit ratio of an LRU cache of each size from them.
//!
//! The distance of a use is the bytes of the different pages that were used since the page's last use, its own among them: a cache of at
//! least so many bytes still has it. Source: Mattson, Gecsei, Slutz and Traiger, *Evaluation techniques for storage hierarchies*, IBM
//! Systems Journal 9 (2), 1970. The pages are kept in the order of their last uses, in a Fenwick tree (Fenwick, *A New Data Structure for
//! Cumulative Frequency Tables*, Software 24 (3), 1994).

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::PAGE;
use super::sampling::Sample;

/// A sample is told apart into so many parts, whose spread tells its error.
const PARTS: usize = 8;

/// Distances of a sample are kept with so many values from a power of two to the next.
const BINS_OF_OCTAVE: u64 = 64;

/// Points of the curve from a power of two to the next.
const POINTS_OF_OCTAVE: f64 = 8.0;

/// What a page's use was.
pub struct Used {
    /// It was never used before.
    pub is_first: bool,
    /// It was not used before in this window.
    pub is_first_in_window: bool,
    /// The distance as it is kept, if it was used before.
    pub distance: Option<u64>,
}

#[derive(Clone, Copy)]
struct Last {
    place: u32,
    window: u32,
}

/// The uses of one distance, by part of the sample.
#[derive(Clone, Copy, Default)]
struct Uses {
    reads: [u64; PARTS],
    writes: [u64; PARTS],
}

/// All pages of the sample, in the order of their last uses.
pub struct Reuse {
    sample: Sample,
    of_objects: bool,
    last: FxHashMap<u64, Last>,
    tree: Fenwick,
    next: u32,
    distances: FxHashMap<u64, Uses>,
    /// First uses.
    first: Uses,
    footprint: u64,
}

impl Reuse {
    pub fn new(sample: Sample, of_objects: bool) -> Self {
        Self {
            sample,
            of_objects,
            last: FxHashMap::default(),
            tree: Fenwick::new(1024),
            next: 0,
            distances: FxHashMap::default(),
            first: Uses::default(),
            footprint: 0,
        }
    }

    /// The part of the pages that are counted.
    pub fn share(&self) -> f64 {
        self.sample.share()
    }

    /// The bytes of all pages that are counted.
    pub fn footprint(&self) -> u64 {
        self.footprint
    }

    /// A page of so many bytes is used in a window; nothing if it is not in the sample.
    #[inline]
    pub fn touch(&mut self, key: u64, bytes: u64, is_write: bool, window: u32) -> Option<Used> {
        if !self.sample.has(key) {
            return None;
        }
        if self.next as usize == self.tree.len() {
            self.make_room();
        }
        let place = self.next;
        self.next += 1;
        let last = self.last.insert(key, Last { place, window });
        let distance = last.map(|last| {
            let since = self.tree.all() - self.tree.up_to(last.place);
            // It may have had another size.
            self.tree.clear(last.place);
            since + bytes
        });
        self.tree.set(place, bytes);
        let distance = distance.map(|distance| self.kept(distance));
        let uses = match distance {
            Some(distance) => self.distances.entry(distance).or_default(),
            None => {
                self.footprint += bytes;
                &mut self.first
            }
        };
        let of = if is_write { &mut uses.writes } else { &mut uses.reads };
        of[key as usize % PARTS] += 1;
        let is_first = last.is_none();
        let is_first_in_window = last.is_none_or(|last| last.window != window);
        Some(Used { is_first, is_first_in_window, distance })
    }

    /// The distance as it is kept: of a sample, and of objects, the end of its bin.
    fn kept(&self, distance: u64) -> u64 {
        if self.share() == 1.0 && !self.of_objects {
            return distance;
        }
        let whole = (distance as f64 / self.share()) as u64;
        let step = (whole.checked_ilog2().map_or(1, |bits| 1 << bits) / BINS_OF_OCTAVE).max(1);
        whole.div_ceil(step).saturating_mul(step)
    }

    /// Numbers the places anew, and makes as many more if most are taken.
    fn make_room(&mut self) {
        let mut all: Vec<(u32, u64)> = self.last.iter().map(|(&key, last)| (last.place, key)).collect();
        all.sort_unstable();
        let mut tree = Fenwick::new((2 * all.len()).max(1024));
        for (place, &(old, key)) in (0..).zip(&all) {
            tree.set(place, self.tree.value(old));
            self.last.get_mut(&key).expect("it was there").place = place;
        }
        (self.tree, self.next) = (tree, all.len() as u32);
    }

    /// The hit ratio of each size.
    pub fn curve(&self) -> Curve {
        let mut distances: Vec<(u64, Uses)> = self.distances.iter().map(|(&at, &uses)| (at, uses)).collect();
        distances.sort_unstable_by_key(|&(at, _)| at);
        Curve { distances, first: self.first, is_exact: self.share() == 1.0 }
    }
}

/// Uses by distance.
pub struct Curve {
    distances: Vec<(u64, Uses)>,
    first: Uses,
    is_exact: bool,
}

/// The hit ratio of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Its bytes.
    pub memory_bytes: u64,
    /// Hits among reads of pages.
    pub read_hit_ratio: Option<f64>,
    /// Hits among reads and writes of pages.
    pub hit_ratio: f64,
    /// The standard error of the two, from the parts of the sample; 0 if all pages are counted.
    pub error: f64,
}

impl Curve {
    /// Points from a page to the largest distance, 8 from a power of two to the next.
    #[must_use]
    pub fn points(&self) -> Vec<CurvePoint> {
        let Some(&(largest, _)) = self.distances.last() else {
            return if self.uses() == 0 { Vec::new() } else { self.at([PAGE].into_iter()) };
        };
        let sizes = (0..).map(|at| (PAGE as f64 * (f64::from(at) / POINTS_OF_OCTAVE).exp2()) as u64);
        let sizes = sizes.map(|size| size / PAGE * PAGE).take_while(|&size| size < largest);
        let mut sizes: Vec<u64> = sizes.chain([largest.max(PAGE)]).collect();
        sizes.dedup();
        self.at(sizes.into_iter())
    }

    /// All uses of pages that are counted.
    fn uses(&self) -> u64 {
        let sum = |uses: &Uses| uses.reads.iter().chain(&uses.writes).sum::<u64>();
        sum(&self.first) + self.distances.iter().map(|(_, uses)| sum(uses)).sum::<u64>()
    }

    /// The hit ratios of caches of these sizes, which rise.
    fn at(&self, sizes: impl Iterator<Item = u64>) -> Vec<CurvePoint> {
        let mut all = self.first;
        self.distances.iter().for_each(|(_, uses)| all.add(uses));
        let (mut hits, mut next) = (Uses::default(), 0);
        let point = |size: u64| {
            while let Some((_, uses)) = self.distances.get(next).filter(|&&(at, _)| at <= size) {
                hits.add(uses);
                next += 1;
            }
            let (reads, all_reads) = (hits.reads.iter().sum(), all.reads.iter().sum());
            let (writes, all_writes) = (hits.writes.iter().sum::<u64>(), all.writes.iter().sum::<u64>());
            CurvePoint {
                memory_bytes: size,
                read_hit_ratio: (all_reads > 0).then(|| ratio(reads, all_reads)),
                hit_ratio: ratio(reads + writes, all_reads + all_writes),
                error: if self.is_exact { 0.0 } else { standard_error(&hits, &all) },
            }
        };
        sizes.map(point).collect()
    }
}

impl Uses {
    fn add(&mut self, other: &Self) {
        for part in 0..PARTS {
            self.reads[part] += other.reads[part];
            self.writes[part] += other.writes[part];
        }
    }
}

fn ratio(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
}

/// The standard error of the mean of the hit ratios of the parts.
fn standard_error(hits: &Uses, all: &Uses) -> f64 {
    let of = |at: usize| ratio(hits.reads[at] + hits.writes[at], all.reads[at] + all.writes[at]);
    let ratios: [f64; PARTS] = std::array::from_fn(of);
    let mean = ratios.iter().sum::<f64>() / PARTS as f64;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (PARTS - 1) as f64;
    (variance / PARTS as f64).sqrt()
}

/// Numbers by place, with sums of all up to a place.
pub(super) struct Fenwick {
    sums: Vec<u64>,
    values: Vec<u64>,
    all: u64,
}

impl Fenwick {
    pub(super) fn new(places: usize) -> Self {
        Self { sums: vec![0; places + 1], values: vec![0; places], all: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn all(&self) -> u64 {
        self.all
    }

    fn value(&self, place: u32) -> u64 {
        self.values[place as usize]
    }

    /// Sets a place that is 0.
    pub(super) fn set(&mut self, place: u32, value: u64) {
        self.values[place as usize] = value;
        self.all += value;
        let mut at = place as usize + 1;
        while at < self.sums.len() {
            self.sums[at] += value;
            at += at & at.wrapping_neg();
        }
    }

    pub(super) fn clear(&mut self, place: u32) {
        let value = std::mem::take(&mut self.values[place as usize]);
        self.all -= value;
        let mut at = place as usize + 1;
        while at < self.sums.len() {
            self.sums[at] -= value;
            at += at & at.wrapping_neg();
        }
    }

    /// The first place up to which the sum is more than a number, which is below that of all.
    pub(super) fn find(&self, sum: u64) -> u32 {
        let (mut at, mut left) = (0, sum);
        for step in (0..=self.sums.len().ilog2()).rev().map(|bits| 1 << bits) {
            if at + step < self.sums.len() && self.sums[at + step] <= left {
                at += step;
                left -= self.sums[at];
            }
        }
        at as u32
    }

    /// The sum of all places up to one, that one among them.
    fn up_to(&self, place: u32) -> u64 {
        let (mut sum, mut at) = (0, place as usize + 1);
        while at > 0 {
            sum += self.sums[at];
            at &= at - 1;
        }
        sum
    }
}
