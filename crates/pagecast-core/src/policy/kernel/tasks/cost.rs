//! Computes the cost of each byte that a thread reads or writes: system calls, pages, copies.
//!
//! Source: the structure of `mm/filemap.c: filemap_read, generic_perform_write`, Linux 6.16; the numbers are a machine's. Left out: folios
//! larger than a page, which make a page cheaper on newer file systems (a machine that has them has smaller costs).

use crate::machine::CopyCost;
use crate::policy::kernel::page::PAGE;
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// The bytes that a page table of the second level maps at once (x86 and others).
const HUGE_PAGE: u64 = 2 << 20;

/// The ways in which a run of bytes is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Read from the cache.
    Hit,
    /// Read from the device, through the cache.
    Miss,
    /// Read from the device, through pages that leave at once.
    Pass,
    /// Written to pages that are not in the cache.
    New,
    /// Written over clean pages.
    Clean,
    /// Written over dirty pages.
    Dirty,
    /// Written to new pages of a tmpfs.
    Fill,
    /// Written over pages of a tmpfs.
    Over,
    /// Written to the device at once, through the cache.
    Through,
    /// Put into the cache for another host.
    Insert,
    /// First touch of anonymous memory.
    Touch,
    /// Taken out of the cache.
    Remove,
    /// Being read from the device by another task: waits until it has come.
    Follow,
    /// Moved between a device and the program's own memory.
    Direct,
    /// Nothing moves: waits for write-back, or for its own processor.
    Wait,
}

impl Run {
    /// True if it takes free pages for the cache.
    pub fn fills(self) -> bool {
        matches!(self, Self::Miss | Self::New | Self::Through | Self::Insert)
    }

    /// True if it writes over pages that are in the cache.
    pub fn rewrites(self) -> bool {
        matches!(self, Self::Clean | Self::Dirty)
    }

    /// True if it makes clean or new pages dirty.
    pub fn dirties(self) -> bool {
        matches!(self, Self::New | Self::Clean)
    }
}

/// The cost of one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerByte {
    /// Seconds in all.
    pub seconds: f64,
    /// The part of them for getting pages.
    pub allocation: f64,
    /// The part of them for evicting others.
    pub reclaim: f64,
}

impl PerByte {
    /// Returns the bytes per second, if anything limits them.
    pub fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| 1.0 / self.seconds)
    }

    /// Returns the cost at this part of the speed.
    fn slowed(self, part: f64) -> Self {
        let Self { seconds, allocation, reclaim } = self;
        Self { seconds: seconds / part, allocation: allocation / part, reclaim: reclaim / part }
    }
}

/// The distance of both ends of a copy from the node of its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// The part of the bytes read that is on another node: 0 to 1.
    pub from: f64,
    /// The part of the bytes written that is on another node.
    pub to: f64,
}

/// The pages of new anonymous memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// No page is new.
    Nothing,
    Small,
    Huge,
}

/// The work of a thread for a run of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub run: Run,
    /// Bytes of one system call.
    pub piece: Bytes,
    pub touched: Touched,
    pub distance: Distance,
    /// True if the flusher writes pages of the same file.
    pub is_being_written: bool,
    /// Pages evicted for each page that it moves: for the cache, for its buffer, or both.
    pub reclaimed: f64,
    /// Pages that it touches first since their host took them back, for each page that it moves.
    pub reported: f64,
    /// The time to put a page of its file into the cache.
    pub page_insert: Nanos,
    /// True if a new page of it is given a block.
    pub reserves: bool,
    /// The pages of each folio that it makes.
    pub folio: u64,
    /// The program's access to its bytes.
    pub access: Access,
}

impl Step {
    /// Calls of so many bytes that read pages in the cache, on one node.
    pub fn hit(piece: Bytes, page_insert: Nanos) -> Self {
        Self {
            run: Run::Hit,
            piece,
            touched: Touched::Nothing,
            distance: Distance::default(),
            is_being_written: false,
            reclaimed: 0.0,
            reported: 0.0,
            page_insert,
            reserves: false,
            folio: 1,
            access: Access::Calls,
        }
    }
}

/// The ways in which a program accesses bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// The kernel copies them, call by call.
    #[default]
    Calls,
    /// It maps them, has a fault every page or several, and unmaps them.
    Maps,
    /// It has faults in a mapping that stays.
    Faults,
    /// The pages are mapped already.
    Finds,
}

/// The part of the L2 cache in which the pages that a call copies stay. Measured for four sizes of it: calls of more than an eighth slow down
/// (a dissertation on Petri nets of ext3 and PVFS, section 3.2.3 and Table 2; the formula is that of its section 4.5).
const L2_PART: u64 = 8;

/// Times measured on Linux 6.18, ext4, in a virtual machine (docs/concepts/kernel.md), each with its part of unmapping: mmap(2) and
/// munmap(2); a fault that maps the 64 KiB around a place; each folio of them but one; making a page writable, and the fault for it.
const MMAP: Nanos = Nanos(1500);
const FAULT_AROUND: Nanos = Nanos(2000);
const PAGE_MKWRITE: Nanos = Nanos(200);
const FOLIO_MAP: Nanos = Nanos(90);
const FAULT_MKWRITE: Nanos = Nanos(700);

/// `fault_around_bytes`, 64 KiB (`mm/memory.c: do_fault_around`, `/sys/kernel/debug/fault_around_bytes`).
pub const FAULT_AROUND_PAGES: u64 = 16;

/// Returns the seconds for each byte of a page.
fn of_page(time: Nanos) -> f64 {
    time.as_seconds() / PAGE as f64
}

/// The costs of a machine for each byte, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Prices {
    /// A whole system call, and mapping and unmapping.
    call: f64,
    mmap: f64,
    /// A whole folio.
    folio: f64,
    reserve: f64,
    lookup: f64,
    remove: f64,
    reclaim: f64,
    reported: f64,
    fault: f64,
    fault_huge: f64,
    /// A whole fault.
    pub fault_around: f64,
    pub fault_mkwrite: f64,
    /// Each further folio that it maps.
    pub folio_map: f64,
    page_mkwrite: f64,
    copy_read: f64,
    copy_write: f64,
    /// Additional, for bytes read from another node, and for bytes written there.
    from_far: f64,
    to_far: f64,
    flushing_factor: f64,
    /// Additional, for bytes of a call beyond those that stay in the L2 cache, and how many these are; nothing if the cache is not known.
    l2_miss: f64,
    l2_bytes: Option<u64>,
    /// True if all of them are zero, as on machines of which only rates are known.
    are_nothing: bool,
}

impl Prices {
    /// The costs of a machine with such an L2 cache.
    pub fn of(cost: &CopyCost, l2: Option<Bytes>) -> Self {
        let of_copy = |rate: Option<BytesPerSecond>| rate.map_or(0.0, |rate| 1.0 / rate.0);
        let of_huge_page = |time: Nanos| time.as_seconds() / HUGE_PAGE as f64;
        let fault = of_page(cost.fault);
        let mut prices = Self {
            call: cost.call.as_seconds(),
            mmap: cost.mmap.unwrap_or(MMAP).as_seconds(),
            folio: cost.folio_insert.map_or(0.0, Nanos::as_seconds),
            reserve: of_page(cost.block_reserve),
            lookup: of_page(cost.page_lookup),
            remove: of_page(cost.page_remove),
            reclaim: of_page(cost.page_reclaim),
            reported: cost.page_reported.map_or(0.0, of_page),
            fault,
            fault_huge: cost.fault_huge.map_or(fault, of_huge_page),
            fault_around: cost.fault_around.unwrap_or(FAULT_AROUND).as_seconds(),
            fault_mkwrite: cost.fault_mkwrite.unwrap_or(FAULT_MKWRITE).as_seconds(),
            folio_map: cost.folio_map.unwrap_or(FOLIO_MAP).as_seconds(),
            page_mkwrite: of_page(cost.page_mkwrite.unwrap_or(PAGE_MKWRITE)),
            copy_read: of_copy(cost.copy_read),
            copy_write: of_copy(cost.copy_write),
            from_far: of_page(cost.page_remote_read.unwrap_or(cost.page_remote)),
            to_far: of_page(cost.page_remote),
            flushing_factor: cost.flushing_factor.unwrap_or(1.0),
            l2_miss: of_page(cost.page_l2_miss),
            l2_bytes: l2.map(|l2| l2.0 / L2_PART),
            are_nothing: false,
        };
        prices.are_nothing = prices.all().all(|price| price == 0.0);
        prices
    }

    fn all(&self) -> impl Iterator<Item = f64> + use<> {
        let Self { call, folio, lookup, remove, reclaim, reported, fault, fault_huge, .. } = *self;
        let Self { copy_read, copy_write, from_far, to_far, l2_miss, reserve, .. } = *self;
        let page = [lookup, remove, reclaim, reported, fault, fault_huge, l2_miss, reserve];
        [call, folio, copy_read, copy_write, from_far, to_far].into_iter().chain(page)
    }

    /// True if adding pages at this price costs a thread nothing.
    pub fn are_nothing(&self, page_insert: Nanos) -> bool {
        self.are_nothing && page_insert == Nanos::ZERO
    }

    /// True if evicting pages costs anything.
    pub fn has_reclaim(&self) -> bool {
        self.reclaim > 0.0
    }

    /// True if a new page of a file costs more where the file has no block for it.
    pub fn has_reserve(&self) -> bool {
        self.reserve > 0.0
    }

    /// True if the kind of new memory's pages matters.
    pub fn has_huge(&self) -> bool {
        self.fault_huge != self.fault
    }

    /// Returns the cost of a byte that calls of so many bytes read from pages in the cache, on one node.
    pub fn of_hit(&self, piece: Bytes, page_insert: Nanos) -> PerByte {
        if self.are_nothing(page_insert) {
            return PerByte::default();
        }
        self.per_byte(&Step::hit(piece, page_insert))
    }

    /// Returns the extra cost of a byte of calls that copy more than stays in the L2 cache, on average: the first bytes of each do.
    fn l2_miss_of(&self, piece: Bytes) -> f64 {
        let Some(within) = self.l2_bytes.filter(|&within| within < piece.0) else { return 0.0 };
        self.l2_miss * (piece.0 - within) as f64 / piece.0 as f64
    }

    /// Returns the cost of a byte of a step.
    pub fn per_byte(&self, step: &Step) -> PerByte {
        let Step { run, piece, touched, distance, is_being_written, .. } = *step;
        let Step { reclaimed, reported, page_insert, reserves, folio, access, .. } = *step;
        // Memory is touched without a system call.
        let has_calls = piece.0 > 0 && run != Run::Touch;
        let of_call = match access {
            Access::Calls => self.call,
            Access::Maps => self.mmap,
            Access::Faults | Access::Finds => 0.0,
        };
        let call = if has_calls { of_call / piece.0 as f64 } else { 0.0 };
        let fault = match touched {
            Touched::Nothing => 0.0,
            Touched::Small => self.fault,
            Touched::Huge => self.fault_huge,
        };
        let far = distance.from * self.from_far + distance.to * self.to_far;
        let (copy, lookup, insert) = match run {
            Run::Hit => (self.copy_read, self.lookup, 0.0),
            Run::Miss | Run::Pass => (self.copy_read, 0.0, of_page(page_insert)),
            Run::New | Run::Insert | Run::Through => {
                let reserve = if run == Run::New && reserves { self.reserve } else { 0.0 };
                (self.copy_write, 0.0, of_page(page_insert) + self.folio / (folio * PAGE) as f64 + reserve)
            }
            Run::Fill => (self.copy_write, 0.0, of_page(page_insert)),
            Run::Clean | Run::Dirty | Run::Over => (self.copy_write, self.lookup, 0.0),
            Run::Remove => (0.0, self.remove, 0.0),
            Run::Touch | Run::Follow => (0.0, 0.0, 0.0),
            // The cost of its calls comes before the device, not at once with it.
            Run::Direct | Run::Wait => return PerByte::default(),
        };
        let (copy, lookup) = match run {
            _ if access == Access::Calls => (copy, lookup),
            Run::Hit | Run::Dirty if access == Access::Finds => (copy, 0.0),
            // By the fault, as few bytes cost as much as many.
            Run::Hit => (copy, 0.0),
            Run::Miss => (copy, self.fault_around / (FAULT_AROUND_PAGES * PAGE) as f64),
            Run::Clean | Run::Dirty => (copy, self.page_mkwrite),
            // A hole: its page is zeroed first.
            Run::New => (2.0 * copy, self.page_mkwrite),
            _ => (copy, lookup),
        };
        let copies_call =
            access == Access::Calls && !matches!(run, Run::Insert | Run::Remove | Run::Touch | Run::Follow);
        let copy = if copies_call { copy + self.l2_miss_of(piece) } else { copy };
        let reclaim = reclaimed * self.reclaim;
        let first_touch = fault + reported * self.reported;
        let seconds = copy + lookup + insert + first_touch + call + far + reclaim;
        let whole = PerByte { seconds, allocation: insert + first_touch, reclaim };
        if run == Run::New && is_being_written { whole.slowed(self.flushing_factor) } else { whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In nanoseconds for each byte: all of them are primes.
    const COST: CopyCost = CopyCost {
        call: Nanos(2000),
        page_insert: Nanos(3 * PAGE),
        folio_insert: Some(Nanos(37 * 4 * PAGE)),
        page_lookup: Nanos(5 * PAGE),
        page_remove: Nanos(7 * PAGE),
        page_reclaim: Nanos(11 * PAGE),
        block_reserve: Nanos(59 * PAGE),
        page_writeback: Nanos(53 * PAGE),
        request: Some(Nanos(9000)),
        page_reported: Some(Nanos(41 * PAGE)),
        page_l2_miss: Nanos(47 * PAGE),
        fault: Nanos(13 * PAGE),
        fault_huge: Some(Nanos(17 * HUGE_PAGE)),
        mmap: Some(Nanos(5000)),
        fault_around: Some(Nanos(41 * 16 * PAGE)),
        folio_map: Some(Nanos(700)),
        fault_mkwrite: Some(Nanos(7000)),
        page_mkwrite: Some(Nanos(43 * PAGE)),
        page_remote: Nanos(19 * PAGE),
        page_remote_read: Some(Nanos(23 * PAGE)),
        copy_read: Some(BytesPerSecond(1e9 / 29.0)),
        copy_write: Some(BytesPerSecond(1e9 / 31.0)),
        flushing_factor: Some(0.5),
    };

    /// The costs of a machine whose L2 cache is not known.
    fn prices(cost: &CopyCost) -> Prices {
        Prices::of(cost, None)
    }

    /// The cost of a byte: in all, for pages, and for evicting others. Calls of 1000 bytes cost 2 for each.
    fn per_byte(run: Run, change: impl FnOnce(&mut Step)) -> [u64; 3] {
        let distance = Distance::default();
        let (piece, touched) = (Bytes(1000), Touched::Nothing);
        let (is_being_written, access, reclaimed, reported) = (false, Access::Calls, 0.0, 0.0);
        let (page_insert, reserves, folio) = (COST.page_insert, false, 4);
        let mut step = Step {
            run,
            piece,
            touched,
            distance,
            is_being_written,
            reclaimed,
            reported,
            page_insert,
            reserves,
            folio,
            access,
        };
        change(&mut step);
        let PerByte { seconds, allocation, reclaim } = prices(&COST).per_byte(&step);
        [seconds, allocation, reclaim].map(|seconds| (seconds * 1e9).round() as u64)
    }

    #[test]
    fn only_a_new_page_is_given_a_block() {
        let reserving = |run| per_byte(run, |step| step.reserves = true);
        assert_eq!(reserving(Run::New), [2 + 31 + 3 + 37 + 59, 3 + 37 + 59, 0]);
        for run in [Run::Miss, Run::Insert, Run::Through, Run::Clean, Run::Dirty] {
            assert_eq!(reserving(run), per_byte(run, |_| ()), "{run:?}");
        }
    }

    #[test]
    fn a_byte_costs_a_copy_its_part_of_a_page_and_its_part_of_a_call() {
        let plain = |run| per_byte(run, |_| ());
        assert_eq!(plain(Run::Hit), [2 + 29 + 5, 0, 0]);
        assert_eq!(plain(Run::Miss), [2 + 29 + 3, 3, 0]);
        for run in [Run::New, Run::Insert, Run::Through] {
            assert_eq!(plain(run), [2 + 31 + 3 + 37, 3 + 37, 0], "{run:?}");
        }
        assert_eq!(
            per_byte(Run::New, |step| step.folio = 1),
            [2 + 31 + 3 + 148, 3 + 148, 0],
            "smaller folios"
        );
        for run in [Run::Clean, Run::Dirty] {
            assert_eq!(plain(run), [2 + 31 + 5, 0, 0], "{run:?}");
        }
        assert_eq!(plain(Run::Remove), [2 + 7, 0, 0]);
        assert_eq!(plain(Run::Touch), [0; 3], "without a call");
        assert_eq!([Run::Direct, Run::Wait].map(plain), [[0; 3]; 2]);
        assert_eq!(per_byte(Run::Hit, |step| step.piece = Bytes(0)), [29 + 5, 0, 0], "nor is there one here");
    }

    #[test]
    fn costs_are_nothing_where_none_is_known() {
        let free = CopyCost::default();
        assert!(prices(&free).are_nothing(Nanos::ZERO) && !prices(&free).are_nothing(Nanos(1)));
        let one_costs = [
            CopyCost { call: COST.call, ..free },
            CopyCost { folio_insert: COST.folio_insert, ..free },
            CopyCost { page_lookup: COST.page_lookup, ..free },
            CopyCost { page_remove: COST.page_remove, ..free },
            CopyCost { page_reclaim: COST.page_reclaim, ..free },
            CopyCost { page_reported: COST.page_reported, ..free },
            CopyCost { page_l2_miss: COST.page_l2_miss, ..free },
            CopyCost { fault: COST.fault, ..free },
            CopyCost { fault_huge: COST.fault_huge, ..free },
            CopyCost { page_remote: COST.page_remote, ..free },
            CopyCost { page_remote_read: COST.page_remote_read, ..free },
            CopyCost { copy_read: COST.copy_read, ..free },
            CopyCost { copy_write: COST.copy_write, ..free },
        ];
        for cost in one_costs {
            assert!(!prices(&cost).are_nothing(Nanos::ZERO), "{cost:?}");
        }
    }

    #[test]
    fn new_memory_far_memory_and_pages_that_leave_come_on_top() {
        let touch = |touched| per_byte(Run::Touch, |step| step.touched = touched);
        assert_eq!((touch(Touched::Small), touch(Touched::Huge)), ([13, 13, 0], [17, 17, 0]));
        let far = Distance { from: 2.0, to: 10.0 };
        assert_eq!(per_byte(Run::Hit, |step| step.distance = far), [2 + 29 + 5 + 46 + 190, 0, 0]);
        assert_eq!(per_byte(Run::Miss, |step| step.reclaimed = 2.0), [2 + 29 + 3 + 22, 3, 22]);
        assert_eq!(per_byte(Run::Miss, |step| step.reported = 2.0), [2 + 29 + 3 + 82, 3 + 82, 0]);
    }

    /// A fault for 16 pages is part of the run where they are there, and of each byte where they come; a call of 1000 bytes is a mapping.
    #[test]
    fn a_mapping_has_faults_instead_of_calls_and_lookups() {
        let mapped = |run| per_byte(run, |step| step.access = Access::Maps);
        assert_eq!(mapped(Run::Hit), [5 + 29, 0, 0]);
        assert_eq!(mapped(Run::Miss), [5 + 29 + 3 + 41, 3, 0]);
        assert_eq!([Run::Clean, Run::Dirty].map(mapped), [[5 + 31 + 43, 0, 0]; 2]);
        assert_eq!(
            mapped(Run::New),
            [5 + 2 * 31 + 43 + 3 + 37, 3 + 37, 0],
            "a page of a hole is zeroed first"
        );
        let unknown = prices(&CopyCost::default());
        let page_mkwrite = unknown.page_mkwrite * PAGE as f64;
        let faults = [unknown.fault_around, unknown.folio_map, unknown.fault_mkwrite];
        let defaults = [unknown.mmap, faults[0], faults[1], page_mkwrite, faults[2]];
        assert_eq!(defaults.map(|seconds| (seconds * 1e9).round() as u64), [1500, 2000, 90, 200, 700]);
    }

    /// All of it takes twice as long where it is half as fast.
    #[test]
    fn new_pages_of_a_file_that_is_being_written_are_slower() {
        let change = |step: &mut Step| (step.is_being_written, step.reclaimed) = (true, 1.0);
        assert_eq!(per_byte(Run::New, change), [2 * (2 + 31 + 3 + 37 + 11), 2 * (3 + 37), 2 * 11]);
        assert_eq!(per_byte(Run::Clean, change), [2 + 31 + 5 + 11, 0, 11]);
    }

    /// Table 2 of the dissertation: the size of the L2 cache, and the size of calls above which copies slow down, in KiB.
    const DROP_OFF: [(u64, u64); 4] = [(512, 64), (1024, 128), (2048, 256), (4096, 512)];

    /// The seconds for each byte that calls of so many KiB copy, on a machine with such an L2 cache.
    fn with_l2(l2_kib: u64, run: Run, access: Access, call_kib: u64) -> f64 {
        let cost =
            CopyCost { copy_read: COST.copy_read, page_l2_miss: COST.page_l2_miss, ..CopyCost::default() };
        let piece = Bytes(call_kib << 10);
        let step = Step { run, access, ..Step::hit(piece, Nanos::ZERO) };
        Prices::of(&cost, Some(Bytes(l2_kib << 10))).per_byte(&step).seconds
    }

    #[test]
    fn copies_slow_down_where_calls_exceed_an_eighth_of_the_l2_cache() {
        let calls: Vec<u64> = (2..=14).map(|power| 1 << power).collect();
        for (l2, drop_off) in DROP_OFF {
            let times: Vec<f64> =
                calls.iter().map(|&call| with_l2(l2, Run::Hit, Access::Calls, call)).collect();
            let slower = calls.iter().zip(times.windows(2)).find(|(_, pair)| pair[1] > pair[0]);
            assert_eq!(slower.map(|(&call, _)| call), Some(drop_off), "L2 of {l2} KiB");
            assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "never faster again");
        }
    }

    /// The mean time of a page: 16 of them as in the cache, all others from memory.
    #[test]
    fn the_time_of_a_page_nears_that_of_memory_as_calls_grow() {
        let [within, beyond, most] =
            [64, 256, 1 << 20].map(|call| with_l2(512, Run::Hit, Access::Calls, call) * 1e9);
        assert!((within - 29.0).abs() < 1e-9);
        assert!((beyond - (16.0 * 29.0 + 48.0 * (29.0 + 47.0)) / 64.0).abs() < 1e-9, "{beyond}");
        assert!((most - (29.0 + 47.0)).abs() < 0.01, "{most}");
    }

    #[test]
    fn only_the_copies_of_calls_miss_the_l2_cache() {
        let extra = |run, access| {
            let time = |l2| with_l2(l2, run, access, 1024);
            time(512) > time(1 << 20)
        };
        for run in [Run::Hit, Run::Miss, Run::Pass, Run::New, Run::Through, Run::Clean, Run::Dirty] {
            assert!(extra(run, Access::Calls), "{run:?}");
        }
        for run in [Run::Insert, Run::Touch, Run::Remove, Run::Follow, Run::Direct, Run::Wait] {
            assert!(!extra(run, Access::Calls), "{run:?}");
        }
        assert!([Access::Maps, Access::Faults, Access::Finds].iter().all(|&access| !extra(Run::Hit, access)));
    }
}
