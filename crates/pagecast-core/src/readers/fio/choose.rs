//! Chooses where each request begins and how long it is, as fio's `io_u.c` does.

use std::sync::Arc;

use super::blocks::BlockMap;
use super::files::FileUse;
use super::job::{Distribution, Generator, Job, READ, Sequencer, WRITE, Zone};
use super::random::{Random, Use, name_hash, seed};
use super::shift_register::ShiftRegister;
use super::skew::Skew;

/// How often a length is drawn until one fits. fio draws for ever, also where none does.
const MOST_DRAWS: u32 = 10_000;

/// A file and where its requests have come to.
#[derive(Clone, Debug)]
pub struct FileState {
    /// The file.
    pub used: FileUse,
    /// It is open.
    pub is_open: bool,
    /// All of it has been used.
    pub is_done: bool,
    /// First and last byte that were written since the last sync_file_range(2).
    pub written: Option<(u64, u64)>,
    start: u64,
    last_end: [u64; 2],
    last_start: [Option<u64>; 2],
    map: Option<BlockMap>,
    register: Option<ShiftRegister>,
    skew: Option<Skew>,
}

/// The random numbers and counters of one thread that choose requests.
#[derive(Clone, Debug)]
pub struct Chooser {
    job: Arc<Job>,
    thread: u64,
    blocks: Random,
    sizes: [Random; 2],
    sequential_or_random: [Random; 2],
    zones: Random,
    /// Requests until the next random offset.
    repeats: u32,
    zone_bytes: u64,
}

/// A request: its first byte and its length.
pub type Request = (u64, u64);

impl FileState {
    /// A file before its first use.
    pub fn new(used: FileUse, job: &Job, thread: u64) -> Self {
        let mut state = Self {
            start: used.start,
            last_end: [used.start; 2],
            last_start: [None; 2],
            map: None,
            register: None,
            skew: None,
            used,
            is_open: false,
            is_done: false,
            written: None,
        };
        if job.rw.is_random {
            state.prepare(job, thread);
        }
        state
    }

    fn prepare(&mut self, job: &Job, thread: u64) {
        let bytes = self.used.size.min(self.used.bytes);
        let bytes = if job.strides.mode == Some(true) { job.strides.range } else { bytes };
        let blocks = bytes / job.least_of_all();
        if job.generator == Generator::Lfsr {
            self.register = ShiftRegister::new(blocks, seed(job, thread, Use::Blocks));
        } else if !job.no_random_map {
            self.map = Some(BlockMap::new(blocks));
        }
        let of_name = u64::from(name_hash(&self.used.name)).wrapping_mul(thread);
        let is_fixed = job.rand_repeat && job.rand_seed.is_none();
        let of_file = if is_fixed { of_name } else { seed(job, thread, Use::Blocks) };
        self.skew = Skew::new(job, self.used.size.min(self.used.bytes).div_ceil(job.least_of_all()), of_file);
    }

    /// Begins from the start again (`fio_file_reset`).
    pub fn reset(&mut self, job: &Job, thread: u64) {
        self.last_end = [self.start; 2];
        self.last_start = [None; 2];
        if let Some(map) = &mut self.map {
            map.reset();
        }
        if let Some(register) = &mut self.register {
            register.reset(seed(job, thread, Use::Blocks));
        }
    }

    /// Forgets zones: the next loop begins at the first one.
    pub fn rewind(&mut self) {
        self.start = self.used.start;
    }

    fn fits(&self, offset: u64, bytes: u64) -> bool {
        offset.saturating_add(bytes) <= self.used.bytes.saturating_add(self.used.start)
    }
}

/// What came of asking for an offset.
struct Place {
    offset: u64,
    is_random: bool,
    /// The map takes no notice of it.
    is_free_of_map: bool,
}

impl Chooser {
    /// The one of a thread.
    pub fn new(job: &Arc<Job>, thread: u64) -> Self {
        let large = job.draws_64_bits();
        let of = |of| seed(job, thread, of);
        // A verified job reads back what it has written: both directions draw the same sizes.
        let writes = if job.verify { Use::ReadSizes } else { Use::WriteSizes };
        Self {
            job: Arc::clone(job),
            thread,
            blocks: Random::new(of(Use::Blocks), large),
            sizes: [Random::new(of(Use::ReadSizes), large), Random::new(of(writes), large)],
            sequential_or_random: [Use::SequentialOrRandom; 2].map(|at| Random::small(of(at))),
            zones: Random::small(of(Use::Zones)),
            repeats: 1,
            zone_bytes: 0,
        }
    }

    /// Begins a loop: zones from the first one again, and the same random numbers if they repeat.
    pub fn begin_loop(&mut self) {
        self.zone_bytes = 0;
        if self.job.rand_repeat && self.job.rand_seed.is_none() {
            let repeats = self.repeats;
            *self = Self { repeats, ..Self::new(&self.job, self.thread) };
        }
    }

    /// The next request of a file, or `None` if the file is done. The flag says that a time-based job began its file again.
    pub fn next(&mut self, file: &mut FileState, direction: usize) -> Option<(Request, bool)> {
        if self.job.strides.mode == Some(true) {
            self.move_zone(file, direction);
        }
        let mut wrapped = false;
        let place = self.place(file, direction, &mut wrapped)?;
        if place.offset >= file.used.bytes {
            return None;
        }
        let offset = place.offset + file.start;
        if offset >= file.used.size {
            return None;
        }
        let mut bytes = self.bytes(file, direction, offset, place.is_random)?;
        if offset.checked_add(bytes)? > file.used.size {
            return None;
        }
        if let Some(map) = &mut file.map {
            bytes = mark(map, self.job.least(direction), offset - file.start, bytes, place.is_free_of_map);
        }
        file.last_start[direction] = Some(offset);
        file.last_end[direction] = offset + bytes;
        self.zone_bytes += bytes;
        Some(((offset, bytes), wrapped))
    }

    /// `zonemode=strided` (`setup_strided_zone_mode`).
    fn move_zone(&mut self, file: &mut FileState, direction: usize) {
        let strides = self.job.strides;
        if self.zone_bytes >= strides.size {
            self.zone_bytes = 0;
            file.start = file.start.saturating_add(strides.range).saturating_add(strides.skip);
            if file.start >= file.used.size {
                file.start = file.used.start;
            }
            file.last_end[direction] = file.start;
        }
        if file.last_end[direction] >= file.start.saturating_add(strides.range) {
            file.last_end[direction] = file.start;
        }
        if self.zone_bytes.is_multiple_of(strides.range.max(1)) {
            file.reset(&Arc::clone(&self.job), self.thread);
        }
    }

    /// Where the next request begins, from the start of the part (`get_next_block`).
    fn place(&mut self, file: &mut FileState, direction: usize, wrapped: &mut bool) -> Option<Place> {
        let job = Arc::clone(&self.job);
        // Random jobs draw a new place each `repeat` requests; sequential ones always follow.
        let is_turn = job.repeat <= 1 || {
            self.repeats -= 1;
            let is_turn = self.repeats == 0;
            if is_turn {
                self.repeats = job.repeat;
            }
            is_turn
        };
        if !is_turn {
            let offset = match job.sequencer {
                Sequencer::Sequential => self.sequential(file, direction, wrapped),
                Sequencer::Identical => {
                    Some(file.last_start[direction].map_or(0, |last| last.saturating_sub(file.start)))
                }
            };
            let offset = match offset {
                Some(offset) => offset,
                None => self.random(file, direction, wrapped)?,
            };
            return Some(Place { offset, is_random: false, is_free_of_map: true });
        }
        if !job.rw.is_random {
            let offset = self.sequential(file, direction, wrapped)?;
            return Some(Place { offset, is_random: false, is_free_of_map: false });
        }
        let percent = u64::from(job.percent_random[direction]);
        if percent == 100 || self.sequential_or_random[direction].between(1, 100) <= percent {
            let offset = self.random(file, direction, wrapped)?;
            return Some(Place { offset, is_random: true, is_free_of_map: false });
        }
        let offset = match self.sequential(file, direction, wrapped) {
            Some(offset) => offset,
            None => self.random(file, direction, wrapped)?,
        };
        Some(Place { offset, is_random: false, is_free_of_map: true })
    }

    /// Behind the last request, or `step` further (`get_next_seq_offset`).
    fn sequential(&mut self, file: &mut FileState, direction: usize, wrapped: &mut bool) -> Option<u64> {
        let (job, used) = (&self.job, &file.used);
        let last = &mut file.last_end[direction];
        if *last >= used.bytes.saturating_add(used.start) && job.time_based && self.has_one_file() {
            *last = file.start;
            *wrapped = true;
        }
        if *last >= used.size {
            return None;
        }
        if *last == file.start && file.start > 0 && job.step < 0 {
            *last = used.size.min(used.bytes);
        }
        let mut at = last.saturating_sub(file.start);
        if at > 0 && job.step != 0 {
            // fio counts in 64 bits: a step below 0 wraps, and is then beyond the end.
            at = at.wrapping_add_signed(job.step);
            if at >= used.size {
                at = if job.step > 0 {
                    file.start
                } else {
                    used.size.min(used.bytes).wrapping_add_signed(job.step)
                };
            }
        }
        Some(at)
    }

    fn has_one_file(&self) -> bool {
        let names = self.job.file_names.len();
        names == 1 || (names == 0 && self.job.files == 1)
    }

    /// A random place (`get_next_rand_block`).
    fn random(&mut self, file: &mut FileState, direction: usize, wrapped: &mut bool) -> Option<u64> {
        let job = Arc::clone(&self.job);
        let block = self.block(file, direction).or_else(|| {
            if !job.time_based {
                return None;
            }
            file.reset(&job, self.thread);
            *wrapped = true;
            self.block(file, direction)
        })?;
        block.checked_mul(align(&job, direction))
    }

    fn block(&mut self, file: &mut FileState, direction: usize) -> Option<u64> {
        if let Some(skew) = &mut file.skew {
            return Some(skew.next());
        }
        let job = Arc::clone(&self.job);
        let blocks = last_block(&job, file, direction)?;
        match &job.distribution {
            Distribution::Zoned(zones) => {
                let (before, end) = self.zone(&zones[direction])?;
                let share = |percent: u64| (u128::from(percent) * u128::from(blocks) / 100) as u64;
                Some(share(before) + self.uniform(file, share(end - before))?)
            }
            Distribution::ZonedAbsolute(zones) => {
                let (before, end) = self.zone(&zones[direction])?;
                let (before, end) = (before / align(&job, direction), end / align(&job, direction));
                if end > blocks {
                    return None;
                }
                Some(before + self.uniform(file, end - before)?)
            }
            _ => self.uniform(file, blocks),
        }
    }

    /// Where the zone of the next request begins and ends.
    fn zone(&mut self, zones: &[Zone]) -> Option<(u64, u64)> {
        let drawn = self.zones.between(1, 100) as u32;
        let (mut percent, mut before) = (0, 0_u64);
        for zone in zones {
            percent += zone.percent;
            let end = before.saturating_add(zone.length);
            if drawn <= percent {
                return Some((before, end));
            }
            before = end;
        }
        None
    }

    /// A block of so many (`__get_next_rand_offset`).
    fn uniform(&mut self, file: &mut FileState, blocks: u64) -> Option<u64> {
        let block = match &mut file.register {
            Some(register) => register.next()?,
            None => self.blocks.below(blocks),
        };
        match &file.map {
            Some(map) if map.is_set(block) => map.next_free(block),
            _ => Some(block),
        }
    }

    /// The length of a request (`get_next_buflen`).
    fn bytes(&mut self, file: &FileState, direction: usize, offset: u64, is_random: bool) -> Option<u64> {
        let job = Arc::clone(&self.job);
        let of = match (job.bs_is_seq_rand, is_random) {
            (false, _) => direction,
            (true, true) => WRITE,
            (true, false) => READ,
        };
        let (least, most) = (job.least(of), job.most(of));
        if least == most {
            return Some(least);
        }
        if !file.fits(offset, least) {
            return None;
        }
        for _ in 0..MOST_DRAWS {
            let random = &mut self.sizes[of];
            let split = &job.bs_split[of];
            let mut bytes = if split.is_empty() {
                least.saturating_add(
                    (most as f64 * (random.next() as f64 / (random.most() as f64 + 1.0))) as u64,
                )
            } else {
                let drawn = random.next();
                let (mut percent, mut bytes) = (0, least);
                for part in split.iter().filter(|part| part.percent > 0) {
                    bytes = part.bytes;
                    percent += u64::from(part.percent);
                    if drawn / percent <= random.most() / 100 && file.fits(offset, bytes) {
                        break;
                    }
                }
                bytes
            };
            if !job.bs_unaligned {
                bytes -= bytes % least;
            }
            bytes = bytes.clamp(least, most);
            if file.fits(offset, bytes) {
                return Some(bytes);
            }
        }
        Some(least)
    }
}

/// What random offsets are multiples of.
fn align(job: &Job, direction: usize) -> u64 {
    if job.align[direction] > 0 && job.rw.is_random { job.align[direction] } else { job.least(direction) }
}

/// The number of places that a request may begin at (`last_block`).
fn last_block(job: &Job, file: &FileState, direction: usize) -> Option<u64> {
    let mut most = file.used.bytes.min(file.used.size);
    if job.strides.mode == Some(true) && job.strides.range > 0 {
        most = job.strides.range;
    }
    let (least, align) = (job.least(direction), align(job, direction));
    most = most.saturating_sub(least.saturating_sub(align));
    Some(most / align).filter(|&blocks| blocks > 0)
}

/// Gives the blocks of a request their turn, and shortens it at a block that has had it (`mark_random_map`).
fn mark(map: &mut BlockMap, least: u64, offset: u64, bytes: u64, is_free_of_map: bool) -> u64 {
    if is_free_of_map {
        return bytes;
    }
    let set = map.set(offset / least, bytes.div_ceil(least));
    bytes.min(set.max(1) * least)
}
