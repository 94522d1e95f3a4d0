//! Models the kernel's two lists page by page, slowly.

use std::collections::{BTreeMap, HashMap};

use crate::policy::FileId;
use crate::policy::kernel::address_space::page_state::{Busy, PageState};
use crate::policy::kernel::vmscan::lruvec::*;
use crate::policy::kernel::vmscan::scan_control::Reclaimed;

pub const PAGE: u64 = 4096;

/// A page of a file, by number.
pub type Key = (FileId, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub key: Key,
    pub referenced: bool,
    pub refs: u8,
    pub workingset: bool,
    pub reclaim: bool,
    /// The bytes that had come to the head of its list when it did.
    pub inserted: u64,
}

impl Page {
    pub fn new(key: Key) -> Self {
        Page { key, referenced: false, refs: 0, workingset: false, reclaim: false, inserted: 0 }
    }
}

/// A replacement policy, page by page.
pub trait Model {
    /// Lists of each of two lruvecs.
    const LISTS: u8;

    fn has(&self, key: Key) -> bool;
    fn insert_written(&mut self, number: usize, key: Key);
    fn insert_read(&mut self, number: usize, key: Key) -> Inserted;
    fn mark_accessed(&mut self, key: Key);
    fn remove(&mut self, key: Key);
    fn written(&mut self, key: Key);
    fn deactivate(&mut self, key: Key);
    fn reclaim(&mut self, number: usize, want: u64, unclean: &Unclean) -> Reclaimed;
    fn list(&self, number: usize, list: u8) -> &List;
    fn is_active(&self, number: usize, list: u8) -> bool;
}

/// A list, the oldest page first.
pub type List = Vec<Page>;

#[derive(Default)]
struct Lruvec {
    inactive: List,
    active: List,
    /// Pages that have come to the heads of the two.
    heads: [u64; 2],
    age: u64,
    refaulted: bool,
}

/// A page that has been evicted.
struct Shadow {
    lruvec: usize,
    age: u64,
    workingset: bool,
}

/// The pages that cannot be freed.
#[derive(Default)]
pub struct Unclean(pub BTreeMap<Key, PageState>);

impl Busy for Unclean {
    fn run(&self, file: FileId, at: u64, end: u64) -> (PageState, u64) {
        let state = |byte: u64| self.0.get(&(file, byte / PAGE)).copied().unwrap_or(PageState::Clean);
        let border = (at..end).step_by(PAGE as usize).find(|&byte| state(byte) != state(at));
        (state(at), border.unwrap_or(end))
    }
}

#[derive(Default)]
pub struct Pages {
    lruvecs: [Lruvec; 2],
    shadows: HashMap<Key, Shadow>,
}

impl Pages {
    fn find(&self, key: Key) -> Option<(usize, bool, usize)> {
        let position = |list: &List| list.iter().position(|page| page.key == key);
        self.lruvecs.iter().enumerate().find_map(|(number, lruvec)| {
            let inactive = position(&lruvec.inactive).map(|at| (number, false, at));
            inactive.or_else(|| position(&lruvec.active).map(|at| (number, true, at)))
        })
    }

    fn take(&mut self, (number, active, at): (usize, bool, usize)) -> Page {
        let lruvec = &mut self.lruvecs[number];
        if active { lruvec.active.remove(at) } else { lruvec.inactive.remove(at) }
    }

    fn add(&mut self, number: usize, active: bool, page: Page) {
        let lruvec = &mut self.lruvecs[number];
        let page = Page { inserted: lruvec.heads[usize::from(active)] * PAGE, ..page };
        lruvec.heads[usize::from(active)] += 1;
        if active { lruvec.active.push(page) } else { lruvec.inactive.push(page) }
    }

    fn activate(&mut self, number: usize, page: Page) {
        self.add(number, true, page);
        self.lruvecs[number].age += 1;
    }

    /// Scans both lists in turn, batch by batch.
    fn pass(&mut self, number: usize, priority: u32, want: u64, unclean: &Unclean, total: &mut Reclaimed) {
        let lruvec = &self.lruvecs[number];
        let (inactive, active) = (lruvec.inactive.len(), lruvec.active.len());
        let gib = ((inactive + active) as u64 * PAGE) >> 30;
        let ratio = if gib > 0 { (10.0 * gib as f64).sqrt() as usize } else { 1 };
        let deactivates = lruvec.refaulted || inactive * ratio < active;
        let (inactive, active) = (inactive >> priority, if deactivates { active >> priority } else { 0 });
        let (mut scanned, mut demoted) = (0, 0);
        while scanned < inactive && total.freed < want {
            let mut batch = Vec::new();
            while batch.len() < 32 && scanned < inactive && total.freed < want {
                batch.push(self.scan(number, unclean, total));
                scanned += 1;
            }
            total.all_dirty |= batch.iter().all(|&state| state == PageState::Dirty);
            while demoted < active * scanned / inactive {
                self.demote(number, total);
                demoted += 1;
            }
        }
        while inactive == 0 && demoted < active {
            self.demote(number, total);
            demoted += 1;
        }
    }

    fn scan(&mut self, number: usize, unclean: &Unclean, total: &mut Reclaimed) -> PageState {
        let page = self.take((number, false, 0));
        let state = unclean.0.get(&page.key).copied().unwrap_or(PageState::Clean);
        total.scanned += PAGE;
        match state {
            PageState::Clean => {
                let shadow =
                    Shadow { lruvec: number, age: self.lruvecs[number].age, workingset: page.workingset };
                self.shadows.insert(page.key, shadow);
                self.lruvecs[number].age += 1;
                total.freed += PAGE;
            }
            PageState::Dirty => {
                self.activate(number, Page { referenced: false, reclaim: true, ..page });
                total.dirty += PAGE;
            }
            PageState::Writeback => {
                self.activate(number, Page { reclaim: true, ..page });
                total.writeback += PAGE;
            }
        }
        state
    }

    fn demote(&mut self, number: usize, total: &mut Reclaimed) {
        let page = self.take((number, true, 0));
        self.add(number, false, Page { workingset: true, ..page });
        total.demoted += PAGE;
    }
}

impl Model for Pages {
    const LISTS: u8 = 2;

    fn has(&self, key: Key) -> bool {
        self.find(key).is_some()
    }

    fn insert_written(&mut self, number: usize, key: Key) {
        self.shadows.remove(&key);
        let page = Page::new(key);
        self.add(number, false, page);
    }

    fn insert_read(&mut self, number: usize, key: Key) -> Inserted {
        let mut page = Page::new(key);
        let Some(shadow) = self.shadows.remove(&key) else {
            self.add(number, false, page);
            return Inserted::default();
        };
        let evictor = &self.lruvecs[shadow.lruvec];
        if evictor.age - shadow.age > evictor.active.len() as u64 {
            self.add(number, false, page);
            return Inserted { refaulted: PAGE, ..Inserted::default() };
        }
        page.workingset = shadow.workingset;
        self.activate(number, page);
        self.lruvecs[number].refaulted = true;
        let restored = if shadow.workingset { PAGE } else { 0 };
        Inserted { refaulted: PAGE, activated: PAGE, restored }
    }

    fn mark_accessed(&mut self, key: Key) {
        let Some(found) = self.find(key) else { return };
        let (number, active, at) = found;
        let lruvec = &mut self.lruvecs[number];
        if active {
            lruvec.active[at].referenced = true;
        } else if lruvec.inactive[at].referenced {
            let page = self.take(found);
            self.activate(number, Page { referenced: false, ..page });
        } else {
            lruvec.inactive[at].referenced = true;
        }
    }

    fn remove(&mut self, key: Key) {
        self.shadows.remove(&key);
        self.find(key).map(|found| self.take(found));
    }

    fn written(&mut self, key: Key) {
        let Some(found) = self.find(key) else { return };
        let (number, active, at) = found;
        let lruvec = &mut self.lruvecs[number];
        let page = if active { lruvec.active[at] } else { lruvec.inactive[at] };
        if page.reclaim {
            self.take(found);
            self.lruvecs[number].inactive.insert(0, Page { reclaim: false, ..page });
        }
    }

    fn deactivate(&mut self, key: Key) {
        let Some(found) = self.find(key) else { return };
        let page = self.take(found);
        self.add(found.0, false, Page { referenced: false, reclaim: true, ..page });
    }

    fn reclaim(&mut self, number: usize, want: u64, unclean_pages: &Unclean) -> Reclaimed {
        let mut total = Reclaimed::default();
        let mut unclean = 0;
        let pages = |lruvec: &Lruvec| (lruvec.inactive.len() + lruvec.active.len()) as u64;
        while total.freed < want && unclean < pages(&self.lruvecs[number]) * PAGE {
            let before = total;
            for priority in (0..=12).rev() {
                if total.freed < want {
                    self.pass(number, priority, want, unclean_pages, &mut total);
                }
            }
            unclean = if total.freed > before.freed { 0 } else { unclean + total.scanned - before.scanned };
        }
        self.lruvecs[number].refaulted = false;
        total
    }

    fn list(&self, number: usize, list: u8) -> &List {
        let lruvec = &self.lruvecs[number];
        if list == ACTIVE { &lruvec.active } else { &lruvec.inactive }
    }

    fn is_active(&self, _number: usize, list: u8) -> bool {
        list == ACTIVE
    }
}
