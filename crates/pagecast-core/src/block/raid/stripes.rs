//! Keeps stripes of an array with parity in memory: what was read or written there is not read again, and writes that meet in a stripe go
//! to the disks together.
//!
//! Source: `drivers/md/raid5.c: make_stripe_request, handle_stripe_dirtying, raid5_get_active_stripe, raid5_unplug`, Linux 6.12.
//!
//! - A stripe head (`struct stripe_head`) is a page of each disk at one place. There are `stripe_cache_size` of them. A write that finds none
//!   free waits, and all behind it, until a quarter of them are.
//! - A head whose data is all written needs no read. Another one reads the old data and parity (`rmw`), or the pages that are not written (`rcw`),
//!   whichever is less, without the pages that it has.
//! - The heads of a thread's call wait until it has sent all of it, as by a plug. Writes that come while a head reads are written with it.
//! - A head that is idle keeps its pages, until a new one takes the place of the one that was used least recently.
//!
//! Neighbouring pages that are read or written at the same time are one operation of the disk. Left out: that reads find pages here (a read
//! within a chunk passes the cache); `delayed_list`, on which writes without REQ_SYNC wait, as write-back does not come here; sectors within
//! a page.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use super::layout::{Operation, disk_of, parity_of};
use crate::block::request::{Direction, Request};
use crate::machine::Raid;

/// Bytes of a page of a head (`DEFAULT_STRIPE_SIZE`).
const PAGE: u64 = 4096;

/// The place of a head: its stripe, and its page in the chunks of that.
pub(super) type Place = (u64, u64);

/// An operation with the number by which the cache knows it.
pub type Numbered = (u64, Operation);

/// A page of a disk in a head.
#[derive(Clone, Debug, Default)]
struct Page {
    is_uptodate: bool,
    /// True if writes cover all of it (`R5_OVERWRITE`).
    is_overwritten: bool,
    /// The requests that write to it (`towrite`).
    writes: Vec<u64>,
}

/// A stripe head: the pages of its data, then those of parity.
#[derive(Clone, Debug, Default)]
pub(super) struct StripeHead {
    pages: Vec<Page>,
    /// The pages that are read or written now, how many of these are not complete, and the requests that are written.
    busy: Vec<usize>,
    open: usize,
    written: Vec<u64>,
    /// The time of its last use, while it is idle.
    idle: Option<u64>,
}

impl StripeHead {
    fn has_writes(&self) -> bool {
        self.pages.iter().any(|page| !page.writes.is_empty())
    }

    /// The pages that it has to read before it writes, beside so much parity; of two ways the shorter one.
    fn reads(&self, parity: usize) -> Vec<usize> {
        let data = self.pages.len() - parity;
        let missing = |is_wanted: &dyn Fn(usize, &Page) -> bool| -> Vec<usize> {
            let pages = self.pages.iter().enumerate();
            pages.filter(|&(at, page)| !page.is_uptodate && is_wanted(at, page)).map(|(at, _)| at).collect()
        };
        let rmw = missing(&|at, page| at >= data || !page.writes.is_empty());
        let rcw = missing(&|at, page| at < data && !page.is_overwritten);
        if rmw.len() < rcw.len() { rmw } else { rcw }
    }

    /// Begins to read what it needs, or to write. Returns the direction; the pages are then `busy`.
    fn begin(&mut self, parity: usize) -> Direction {
        let data = self.pages.len() - parity;
        self.busy = self.reads(parity);
        self.open = self.busy.len();
        if self.open > 0 {
            return Direction::Read;
        }
        for (at, page) in self.pages.iter_mut().enumerate() {
            if at >= data || !page.writes.is_empty() {
                self.busy.push(at);
                self.written.append(&mut page.writes);
                page.is_overwritten = false;
            }
        }
        self.open = self.busy.len();
        Direction::Write
    }

    /// Ends the operation of one of its disks; true if it was the last.
    fn ended(&mut self) -> bool {
        self.open -= 1;
        if self.open == 0 {
            self.busy.drain(..).for_each(|at| self.pages[at].is_uptodate = true);
        }
        self.open == 0
    }
}

/// A page of a request that waits for its head.
#[derive(Clone, Copy, Debug)]
struct Write {
    part: u64,
    thread: u32,
    place: Place,
    column: usize,
    overwrites: bool,
}

/// The stripe cache of an array; see the module.
#[derive(Clone, Debug)]
pub struct Stripes {
    raid: Raid,
    pub(super) heads: FxHashMap<Place, StripeHead>,
    /// Those that are idle, by their last use.
    idle: BTreeMap<u64, Place>,
    uses: u64,
    /// Pages that wait for a head, and whether they wait until a quarter of these are free (`inactive_blocked`).
    line: VecDeque<Write>,
    is_blocked: bool,
    /// The heads of threads that have not sent all of their calls.
    plugged: BTreeMap<u32, BTreeSet<Place>>,
    /// The heads of each operation under way.
    under_way: FxHashMap<u64, Vec<Place>>,
    operations: u64,
}

impl Stripes {
    pub fn new(raid: Raid) -> Self {
        Self {
            raid,
            heads: FxHashMap::default(),
            idle: BTreeMap::new(),
            uses: 0,
            line: VecDeque::new(),
            is_blocked: false,
            plugged: BTreeMap::new(),
            under_way: FxHashMap::default(),
            operations: 0,
        }
    }

    /// Takes a write, which waits in its thread's plug. Returns its pages, and the operations that begin if there is no room for it.
    pub fn write(&mut self, request: &Request) -> (usize, Vec<Numbered>) {
        let (chunk, data) = (self.raid.chunk.0, u64::from(self.raid.data_disks()));
        let (mut at, end, mut pages) = (request.position, request.end(), 0);
        while at < end {
            let (stripe, within) = (at / (chunk * data), at % chunk);
            let page_end = (within / PAGE * PAGE + PAGE).min(chunk);
            let bytes = (page_end - within).min(end - at);
            self.line.push_back(Write {
                part: request.part,
                thread: request.thread,
                place: (stripe, within / PAGE),
                column: (at / chunk % data) as usize,
                overwrites: within % PAGE == 0 && within + bytes == page_end,
            });
            at += bytes;
            pages += 1;
        }
        (pages, self.admit())
    }

    /// Gives heads to pages in line. When there are none left, their threads sleep, which ends their plugs.
    fn admit(&mut self) -> Vec<Numbered> {
        let most = self.raid.stripe_cache as usize;
        while let Some(&next) = self.line.front() {
            if !self.heads.contains_key(&next.place) {
                let active = self.heads.len() - self.idle.len();
                self.is_blocked &= active * 4 >= most * 3;
                if self.is_blocked || active == most {
                    self.is_blocked = true;
                    return self.unplug(|_| false);
                }
                if self.heads.len() == most {
                    let (_, oldest) = self.idle.pop_first().expect("not all are active");
                    self.heads.remove(&oldest);
                }
            }
            self.line.pop_front();
            let pages = (self.raid.data_disks() + self.raid.parity()) as usize;
            let head = self.heads.entry(next.place).or_insert_with(|| StripeHead {
                pages: vec![Page::default(); pages],
                ..StripeHead::default()
            });
            if let Some(used) = head.idle.take() {
                self.idle.remove(&used);
            }
            let page = &mut head.pages[next.column];
            page.writes.push(next.part);
            page.is_overwritten |= next.overwrites;
            self.plugged.entry(next.thread).or_default().insert(next.place);
        }
        Vec::new()
    }

    /// Begins the operations of threads that have sent all of their calls.
    pub fn unplug(&mut self, is_plugged: impl Fn(u32) -> bool) -> Vec<Numbered> {
        let mut places = BTreeSet::new();
        self.plugged.retain(|thread, own| {
            let stays = is_plugged(*thread);
            if !stays {
                places.append(own);
            }
            stays
        });
        self.handle(places)
    }

    /// Ends an operation. Adds the requests of which a page is `written`, once for each page; returns what begins then.
    pub fn ended(&mut self, operation: u64, written: &mut Vec<u64>) -> Vec<Numbered> {
        let places = self.under_way.remove(&operation).expect("it is under way");
        let mut free = BTreeSet::new();
        for place in places {
            let head = self.heads.get_mut(&place).expect("it is active");
            if head.ended() {
                written.append(&mut head.written);
                free.insert(place);
            }
        }
        let mut begun = self.handle(free);
        begun.extend(self.admit());
        begun
    }

    /// Begins to read or to write what heads need, if they are not under way. Those that need nothing are idle.
    fn handle(&mut self, places: BTreeSet<Place>) -> Vec<Numbered> {
        let parity = self.raid.parity() as usize;
        let mut wanted: Vec<(u32, bool, Place)> = Vec::new();
        for place in places {
            let Some(head) = self.heads.get_mut(&place).filter(|head| head.open == 0) else { continue };
            if !head.has_writes() {
                if head.idle.is_none() {
                    self.uses += 1;
                    head.idle = Some(self.uses);
                    self.idle.insert(self.uses, place);
                }
                continue;
            }
            let is_write = head.begin(parity) == Direction::Write;
            wanted
                .extend(head.busy.iter().map(|at| (disk_of_page(&self.raid, place.0, *at), is_write, place)));
        }
        wanted.sort_unstable();
        let is_next = |one: &(u32, bool, Place), other: &(u32, bool, Place)| {
            (one.0, one.1, one.2.0, one.2.1 + 1) == (other.0, other.1, other.2.0, other.2.1)
        };
        let runs = wanted.chunk_by(is_next);
        runs.map(|run| {
            let ((disk, is_write, (stripe, first)), pages) = (run[0], run.len() as u64);
            let chunk = self.raid.chunk.0;
            self.operations += 1;
            self.under_way.insert(self.operations, run.iter().map(|each| each.2).collect());
            let operation = Operation {
                disks: (disk, 1),
                direction: if is_write { Direction::Write } else { Direction::Read },
                at: stripe * chunk + first * PAGE,
                bytes: ((first + pages) * PAGE).min(chunk) - first * PAGE,
            };
            (self.operations, operation)
        })
        .collect()
    }
}

/// Returns the disk of a page of a head: of a column of data, or of parity.
fn disk_of_page(raid: &Raid, stripe: u64, at: usize) -> u32 {
    match (at as u32).checked_sub(raid.data_disks()) {
        None => disk_of(raid, stripe, at as u32),
        Some(parity) => (parity_of(raid, stripe) + parity) % raid.disks,
    }
}
