//! Models the generations page by page, slowly: functions and flags have the kernel's names.

use std::collections::HashMap;

use super::pages::{Key, List, Model, PAGE, Page, Unclean};
use crate::policy::kernel::address_space::page_state::PageState;
use crate::policy::kernel::version::LruGen;
use crate::policy::kernel::vmscan::lruvec::*;
use crate::policy::kernel::vmscan::scan_control::Reclaimed;

const MIN_LRU_BATCH: u64 = 64;
const MAX_LRU_BATCH: u64 = 4096;

#[derive(Default)]
struct Lruvec {
    folios: [List; 4],
    heads: [u64; 4],
    min_seq: u64,
    max_seq: u64,
    refaulted: [u64; 4],
    evicted: [u64; 4],
    protected: [u64; 4],
    avg_refaulted: [u64; 4],
    avg_total: [u64; 4],
}

/// The shadow of an evicted page.
struct Shadow {
    lruvec: usize,
    min_seq: u64,
    token: u8,
    workingset: bool,
}

pub struct Generations {
    version: LruGen,
    lruvecs: [Lruvec; 2],
    shadows: HashMap<Key, Shadow>,
}

fn order_base_2(number: u8) -> usize {
    [0, 0, 1, 2, 2, 3][usize::from(number)]
}

impl Lruvec {
    fn nr_gens(&self) -> u64 {
        self.max_seq - self.min_seq + 1
    }

    fn size(&self) -> u64 {
        self.folios.iter().map(|list| list.len() as u64).sum()
    }

    fn gen_size(&self, seq: u64) -> u64 {
        self.folios[seq as usize % 4].len() as u64
    }

    fn reset_ctrl_pos(&mut self) {
        for tier in 0..4 {
            self.avg_refaulted[tier] = (self.avg_refaulted[tier] + self.refaulted[tier]) / 2;
            let sum = self.avg_total[tier] + self.evicted[tier] + self.protected[tier];
            self.avg_total[tier] = sum / 2;
        }
        (self.refaulted, self.evicted, self.protected) = Default::default();
    }

    fn read_ctrl_pos(&self, tier: usize) -> (u64, u64) {
        let total = self.avg_total[tier] + self.evicted[tier] + self.protected[tier];
        (self.avg_refaulted[tier] + self.refaulted[tier], total)
    }

    fn get_tier_idx(&self, version: LruGen) -> usize {
        let (sp_gain, pv_gain) = if version.reworked { (2, 3) } else { (1, 2) };
        let (sp_refaulted, sp_total) = self.read_ctrl_pos(0);
        let mut tier = 1;
        while tier < 4 {
            let (refaulted, total) = self.read_ctrl_pos(tier);
            let positive = refaulted < MIN_LRU_BATCH
                || refaulted * (sp_total + MIN_LRU_BATCH) * sp_gain <= (sp_refaulted + 1) * total * pv_gain;
            if !positive {
                break;
            }
            tier += 1;
        }
        tier - 1
    }

    fn try_to_inc_min_seq(&mut self) -> bool {
        let mut min_seq = self.min_seq;
        while min_seq + 2 <= self.max_seq && self.gen_size(min_seq) == 0 {
            min_seq += 1;
        }
        if min_seq <= self.min_seq {
            return false;
        }
        self.reset_ctrl_pos();
        self.min_seq = min_seq;
        true
    }

    fn should_run_aging(&self, version: LruGen) -> bool {
        if self.min_seq + 2 > self.max_seq {
            return true;
        }
        if self.min_seq + 2 < self.max_seq {
            return false;
        }
        let (young, old, total) = (self.gen_size(self.max_seq), self.gen_size(self.min_seq), self.size());
        version.reworked || young * 2 > total || old * 4 < total
    }

    fn add(&mut self, seq: u64, page: Page) {
        let list = seq as usize % 4;
        self.folios[list].push(Page { inserted: self.heads[list] * PAGE, ..page });
        self.heads[list] += 1;
    }
}

impl Generations {
    pub fn new(version: LruGen) -> Self {
        let lruvecs = [(); 2].map(|()| Lruvec { max_seq: 3, ..Lruvec::default() });
        Generations { version, lruvecs, shadows: HashMap::new() }
    }

    fn find(&self, key: Key) -> Option<(usize, usize, usize)> {
        self.lruvecs.iter().enumerate().find_map(|(number, lruvec)| {
            let at = |list: &List| list.iter().position(|page| page.key == key);
            let mut found =
                lruvec.folios.iter().enumerate().filter_map(|(list, pages)| Some((list, at(pages)?)));
            found.next().map(|(list, at)| (number, list, at))
        })
    }

    fn page(&mut self, (number, list, at): (usize, usize, usize)) -> &mut Page {
        &mut self.lruvecs[number].folios[list][at]
    }

    fn take(&mut self, (number, list, at): (usize, usize, usize)) -> Page {
        self.lruvecs[number].folios[list].remove(at)
    }

    fn folio_lru_refs(&self, page: &Page) -> u8 {
        match self.version.reworked {
            true if !page.referenced => 0,
            true => page.refs + 1,
            false => page.refs + u8::from(page.workingset),
        }
    }

    fn lru_tier_from_refs(&self, refs: u8, workingset: bool) -> usize {
        match self.version.reworked {
            true if workingset => 3,
            true => order_base_2(refs),
            false => order_base_2(refs + 1),
        }
    }

    fn lru_gen_add_folio(&mut self, number: usize, page: Page, is_unclean: bool) {
        let (lruvec, reworked) = (&mut self.lruvecs[number], self.version.reworked);
        let seq = if page.reclaim && is_unclean {
            lruvec.max_seq - 1
        } else if reworked {
            let generations = if page.workingset { 3 } else { 4 };
            (lruvec.max_seq + 1).saturating_sub(generations).max(lruvec.min_seq)
        } else if lruvec.min_seq + 2 >= lruvec.max_seq {
            lruvec.min_seq
        } else {
            lruvec.min_seq + 1
        };
        lruvec.add(seq, page);
    }

    fn folio_inc_gen(&self, page: Page, reclaiming: bool) -> Page {
        let workingset = page.workingset && self.version.reworked;
        Page { referenced: false, refs: 0, workingset, reclaim: page.reclaim || reclaiming, ..page }
    }

    /// True if the page has been sorted; else the page to isolate.
    fn sort_folio(
        &mut self,
        number: usize,
        tier_idx: usize,
        page: Page,
        state: PageState,
        total: &mut Reclaimed,
    ) -> bool {
        let refs = self.folio_lru_refs(&page);
        let tier = self.lru_tier_from_refs(refs, page.workingset);
        let (reworked, next) = (self.version.reworked, self.lruvecs[number].min_seq + 1);
        let is_saturated = if reworked { refs + u8::from(page.workingset) == 5 } else { refs == 4 };
        if tier > tier_idx || is_saturated {
            let moved = self.folio_inc_gen(page, false);
            let lruvec = &mut self.lruvecs[number];
            if !reworked || !is_saturated {
                lruvec.protected[tier] += 1;
            }
            match reworked {
                true => lruvec.add(next, moved),
                false => lruvec.folios[next as usize % 4].insert(0, moved),
            }
            total.protected += PAGE;
            return true;
        }
        match state {
            PageState::Clean => return false,
            PageState::Dirty => total.dirty += PAGE,
            PageState::Writeback => total.writeback += PAGE,
        }
        let moved = self.folio_inc_gen(page, true);
        self.lruvecs[number].add(next, moved);
        true
    }

    fn isolate_and_evict(&mut self, number: usize, mut page: Page) {
        if !page.referenced {
            page.refs = 0;
            page.workingset &= self.version.reworked;
        }
        let refs = self.folio_lru_refs(&page);
        let tier = self.lru_tier_from_refs(refs, page.workingset);
        let lruvec = &mut self.lruvecs[number];
        lruvec.evicted[tier] += 1;
        let workingset = if self.version.reworked { page.workingset } else { refs != 0 };
        let shadow =
            Shadow { lruvec: number, min_seq: lruvec.min_seq, token: refs.saturating_sub(1), workingset };
        self.shadows.insert(page.key, shadow);
    }

    /// Returns how many pages count as scanned, and how many have been.
    fn evict_folios(
        &mut self,
        number: usize,
        want: u64,
        unclean: &Unclean,
        total: &mut Reclaimed,
    ) -> (u64, u64) {
        let (mut scanned, mut isolated, mut remaining) = (0, 0, MAX_LRU_BATCH);
        let tier_idx = self.lruvecs[number].get_tier_idx(self.version);
        let list = self.lruvecs[number].min_seq as usize % 4;
        while self.lruvecs[number].nr_gens() > 2
            && !self.lruvecs[number].folios[list].is_empty()
            && remaining > 0
            && isolated < MIN_LRU_BATCH
            && total.freed < want
        {
            let page = self.lruvecs[number].folios[list].remove(0);
            let state = unclean.0.get(&page.key).copied().unwrap_or(PageState::Clean);
            if !self.sort_folio(number, tier_idx, page, state, total) {
                self.isolate_and_evict(number, page);
                isolated += 1;
                total.freed += PAGE;
            }
            (scanned, remaining) = (scanned + 1, remaining - 1);
        }
        total.scanned += scanned * PAGE;
        let counted = if isolated > 0 || remaining == 0 { scanned } else { 0 };
        let counted = counted + u64::from(self.lruvecs[number].try_to_inc_min_seq());
        (counted, scanned)
    }
}

impl Model for Generations {
    const LISTS: u8 = 4;

    fn has(&self, key: Key) -> bool {
        self.find(key).is_some()
    }

    fn insert_written(&mut self, number: usize, key: Key) {
        self.shadows.remove(&key);
        self.lru_gen_add_folio(number, Page::new(key), false);
    }

    fn insert_read(&mut self, number: usize, key: Key) -> Inserted {
        let (mut page, mut inserted) = (Page::new(key), Inserted::default());
        if let Some(shadow) = self.shadows.remove(&key).filter(|shadow| shadow.lruvec == number) {
            inserted.refaulted = PAGE;
            let (reworked, lruvec) = (self.version.reworked, &self.lruvecs[number]);
            let recent = match reworked {
                true => lruvec.max_seq.abs_diff(shadow.min_seq) < 4,
                false => shadow.min_seq == lruvec.min_seq,
            };
            if recent && reworked {
                let tier = self.lru_tier_from_refs(shadow.token + 1, shadow.workingset);
                self.lruvecs[number].refaulted[tier] += 1;
                match shadow.workingset {
                    true => (page.workingset, inserted.restored) = (true, PAGE),
                    false => page.refs = shadow.token,
                }
            } else if recent {
                let refs = shadow.token + u8::from(shadow.workingset);
                let tier = self.lru_tier_from_refs(refs, false);
                self.lruvecs[number].refaulted[tier] += 1;
                inserted.activated = PAGE;
                if refs >= 3 {
                    (page.refs, page.workingset, inserted.restored) = (3, true, PAGE);
                }
            }
        }
        self.lru_gen_add_folio(number, page, false);
        inserted
    }

    fn mark_accessed(&mut self, key: Key) {
        let Some(found) = self.find(key) else { return };
        let reworked = self.version.reworked;
        let page = self.page(found);
        if !page.referenced {
            page.referenced = true;
            if reworked {
                page.refs = 0;
            }
        } else if reworked {
            if page.refs == 3 { page.workingset = true } else { page.refs += 1 }
        } else if !page.workingset {
            page.workingset = true;
        } else if page.refs < 3 {
            page.refs += 1;
        }
    }

    fn remove(&mut self, key: Key) {
        self.shadows.remove(&key);
        self.find(key).map(|found| self.take(found));
    }

    fn written(&mut self, key: Key) {
        let Some(found) = self.find(key) else { return };
        if self.page(found).reclaim {
            let page = self.take(found);
            let lruvec = &mut self.lruvecs[found.0];
            lruvec.folios[lruvec.min_seq as usize % 4].insert(0, Page { reclaim: false, ..page });
        }
    }

    fn deactivate(&mut self, key: Key) {
        let Some(found) = self.find(key) else { return };
        let (number, list, _) = found;
        let (reworked, oldest) = (self.version.reworked, self.lruvecs[number].min_seq as usize % 4);
        let page = self.page(found);
        page.referenced = false;
        if reworked {
            (page.refs, page.workingset) = (0, false);
            if list == oldest {
                return;
            }
        }
        let page = self.take(found);
        self.lru_gen_add_folio(number, page, true);
        let found = self.find(key).expect("it has just been added");
        self.page(found).reclaim = true;
    }

    fn reclaim(&mut self, number: usize, want: u64, unclean: &Unclean) -> Reclaimed {
        let mut total = Reclaimed::default();
        let (mut idle, mut priority) = (0, 6);
        while total.freed < want && idle < self.lruvecs[number].size() {
            let mut scanned = 0;
            while total.freed < want && idle < self.lruvecs[number].size() {
                let lruvec = &mut self.lruvecs[number];
                if lruvec.should_run_aging(self.version) {
                    lruvec.max_seq += 1;
                    assert!(lruvec.nr_gens() <= 4);
                    break;
                }
                let nr_to_scan = lruvec.size() >> priority;
                let before = total;
                let (counted, looked_at) = self.evict_folios(number, want, unclean, &mut total);
                let progress = total.freed > before.freed || total.protected > before.protected;
                idle = if progress { 0 } else { idle + looked_at };
                scanned += counted;
                if counted == 0 || scanned >= nr_to_scan {
                    break;
                }
            }
            total.all_dirty |= total.dirty > 0 && total.freed == 0;
            priority = 1.max(priority - 1);
        }
        total.all_dirty &= self.version.wakes_flushers;
        total
    }

    fn list(&self, number: usize, list: u8) -> &List {
        &self.lruvecs[number].folios[usize::from(list)]
    }

    fn is_active(&self, number: usize, list: u8) -> bool {
        let max_seq = self.lruvecs[number].max_seq;
        [max_seq, max_seq - 1].iter().any(|seq| seq % 4 == u64::from(list))
    }
}
