use proptest::prelude::*;

use super::*;

/// First byte, end, write and activity of each block of a file.
fn listed(blocks: &Blocks, file: u32) -> Vec<(u64, u64, u64, bool)> {
    let of_file =
        blocks.files.get(&file).into_iter().flatten().map(|(&start, &at)| (start, blocks.queues.block(at)));
    of_file.map(|(start, block)| (start, block.end, block.number, block.state == State::Active)).collect()
}

fn written(writes: &[(u64, u64)]) -> Blocks {
    let mut blocks = Blocks::default();
    for (at, &(start, end)) in writes.iter().enumerate() {
        blocks.write(0, start..end, at as f64);
    }
    blocks
}

#[test]
fn writes_side_by_side_are_blocks_of_their_own() {
    assert_eq!(listed(&written(&[(0, 10), (10, 20)]), 0), [(0, 10, 1, false), (10, 20, 2, false)]);
}

#[test]
fn what_is_written_again_is_cut_out_and_active() {
    let blocks = written(&[(0, 10), (5, 15)]);
    assert_eq!(listed(&blocks, 0), [(0, 5, 1, false), (5, 10, 2, true), (10, 15, 2, false)]);
    assert_eq!((blocks.bytes(), blocks.active_bytes()), (15, 5));
    // In the middle of a block: both ends of it stay.
    let blocks = written(&[(0, 30), (10, 20)]);
    assert_eq!(listed(&blocks, 0), [(0, 10, 1, false), (10, 20, 2, true), (20, 30, 1, false)]);
    // All of it.
    assert_eq!(
        listed(&written(&[(5, 10), (0, 20)]), 0),
        [(0, 5, 2, false), (5, 10, 2, true), (10, 20, 2, false)]
    );
}

#[test]
fn blocks_that_touch_and_are_written_again_become_one() {
    assert_eq!(listed(&written(&[(0, 10), (10, 20), (20, 30), (0, 30)]), 0), [(0, 30, 4, true)]);
}

#[test]
fn files_do_not_overlap() {
    let mut blocks = written(&[(0, 10)]);
    blocks.write(7, 0..10, 1.0);
    assert_eq!((listed(&blocks, 0), listed(&blocks, 7)), (vec![(0, 10, 1, false)], vec![(0, 10, 2, false)]));
    assert_eq!((blocks.bytes(), blocks.of_file(7)), (20, (10, 0)));
}

fn cleaned(bytes: u64, is_whole: bool) -> Option<Cleaned> {
    Some(Cleaned { bytes, is_whole })
}

#[test]
fn the_oldest_inactive_block_is_cleaned_first_and_from_its_end_on() {
    let mut blocks = written(&[(20, 30), (0, 10)]);
    assert_eq!(blocks.clean(4.9), cleaned(4, false));
    assert_eq!(listed(&blocks, 0), [(0, 10, 2, false), (20, 26, 1, false)]);
    assert_eq!([blocks.clean(6.0), blocks.clean(100.0)], [cleaned(6, true), cleaned(10, true)]);
    assert_eq!((blocks.clean(100.0), blocks.oldest(), blocks.bytes()), (None, None, 0));
}

#[test]
fn active_blocks_are_passed_over_until_they_are_more_than_half() {
    let mut blocks = written(&[(0, 10), (10, 20), (0, 10)]);
    blocks.balance();
    assert_eq!(listed(&blocks, 0), [(0, 10, 3, true), (10, 20, 2, false)], "half is active");
    assert_eq!(blocks.oldest(), Some(1.0));
    assert_eq!(blocks.clean(4.0), cleaned(4, false));
    blocks.balance();
    assert_eq!(blocks.active_bytes(), 0, "16 bytes, of which 10 were active");
}

#[test]
fn the_oldest_active_blocks_become_inactive() {
    let mut blocks = written(&[(0, 10), (10, 14), (0, 10), (10, 14)]);
    blocks.balance();
    assert_eq!(listed(&blocks, 0), [(0, 10, 3, false), (10, 14, 4, true)]);
}

#[test]
fn what_is_discarded_is_gone() {
    let mut blocks = written(&[(0, 10), (10, 20)]);
    blocks.discard(0, &(5..u64::MAX));
    assert_eq!((listed(&blocks, 0), blocks.bytes()), (vec![(0, 5, 1, false)], 5));
    blocks.discard(3, &(0..u64::MAX));
    assert_eq!(blocks.bytes(), 5);
}

/// A step on the blocks of two files of 64 bytes.
#[derive(Clone, Debug)]
enum Step {
    Write(u32, u64, u64),
    Clean(u64),
    Discard(u32, u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u32..2, 0u64..64, 1u64..20).prop_map(|(file, start, bytes)| Step::Write(file, start, bytes)),
        2 => (0u64..30).prop_map(Step::Clean),
        1 => (0u32..2, 0u64..64).prop_map(|(file, from)| Step::Discard(file, from)),
    ]
}

/// The same again, plainly: a list of blocks, and each step looks at all of them.
#[derive(Default)]
struct Plain {
    blocks: Vec<PlainBlock>,
    writes: u64,
}

/// In the order of age: number of the write, file, first byte, end, and whether it is active.
type PlainBlock = (u64, u32, u64, u64, bool);

impl Plain {
    fn write(&mut self, file: u32, start: u64, end: u64) {
        let mut again: Vec<(u64, u64)> = self.discard(file, start, end);
        self.writes += 1;
        again.sort_unstable();
        let mut at = start;
        for run in again.chunk_by(|before, after| before.1 == after.0) {
            let (from, to) = (run[0].0, run[run.len() - 1].1);
            self.blocks.extend((at < from).then_some((self.writes, file, at, from, false)));
            self.blocks.push((self.writes, file, from, to, true));
            at = to;
        }
        self.blocks.extend((at < end).then_some((self.writes, file, at, end, false)));
    }

    /// Gives what of the range was there, block by block.
    fn discard(&mut self, file: u32, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut gone = Vec::new();
        for (number, of, first, last, is_active) in std::mem::take(&mut self.blocks) {
            if of != file || last <= start || end <= first {
                self.blocks.push((number, of, first, last, is_active));
                continue;
            }
            gone.push((first.max(start), last.min(end)));
            self.blocks.extend((first < start).then_some((number, of, first, start, is_active)));
            self.blocks.extend((end < last).then_some((number, of, end, last, is_active)));
        }
        gone
    }

    fn bytes(&self, states: &[bool]) -> u64 {
        let of_states = self.blocks.iter().filter(|block| states.contains(&block.4));
        of_states.map(|&(_, _, start, end, _)| end - start).sum()
    }

    fn oldest(&mut self, states: &[bool]) -> Option<&mut PlainBlock> {
        self.blocks.iter_mut().filter(|block| states.contains(&block.4)).min()
    }

    fn balance(&mut self) {
        while self.bytes(&[true]) > self.bytes(&[false, true]) / 2 {
            self.oldest(&[true]).expect("some bytes are active").4 = false;
        }
    }

    fn clean(&mut self, most: u64) -> Option<Cleaned> {
        let oldest = self.oldest(&[false])?;
        let bytes = (oldest.3 - oldest.2).min(most);
        oldest.3 -= bytes;
        let is_whole = oldest.2 == oldest.3;
        self.blocks.retain(|&(_, _, start, end, _)| start < end);
        Some(Cleaned { bytes, is_whole })
    }

    fn listed(&self, file: u32) -> Vec<(u64, u64, u64, bool)> {
        let of_file = self.blocks.iter().filter(|block| block.1 == file);
        let mut listed: Vec<_> =
            of_file.map(|&(number, _, start, end, active)| (start, end, number, active)).collect();
        listed.sort_unstable();
        listed
    }
}

/// Of each byte of both files, the number of its write, and whether it is active.
fn table(blocks: &Blocks) -> BTreeMap<(u32, u64), (u64, bool)> {
    let all = (0..2).flat_map(|file| listed(blocks, file).into_iter().map(move |block| (file, block)));
    all.flat_map(|(file, (start, end, number, active))| {
        (start..end).map(move |at| ((file, at), (number, active)))
    })
    .collect()
}

proptest! {
    #[test]
    fn blocks_are_those_of_a_plain_list(steps in prop::collection::vec(step(), 1..80)) {
        let (mut blocks, mut plain) = (Blocks::default(), Plain::default());
        for step in steps {
            match step {
                Step::Write(file, start, bytes) => {
                    plain.write(file, start, start + bytes);
                    blocks.write(file, start..start + bytes, plain.writes as f64);
                }
                Step::Clean(most) => {
                    plain.balance();
                    blocks.balance();
                    prop_assert_eq!(blocks.clean(most as f64), plain.clean(most));
                }
                Step::Discard(file, from) => {
                    plain.discard(file, from, u64::MAX);
                    blocks.discard(file, &(from..u64::MAX));
                }
            }
            for file in 0..2 {
                prop_assert_eq!(listed(&blocks, file), plain.listed(file));
            }
            prop_assert_eq!(blocks.active_bytes(), plain.bytes(&[true]));
            prop_assert_eq!(blocks.bytes(), plain.bytes(&[false, true]));
            prop_assert_eq!(blocks.oldest(), plain.oldest(&[false, true]).map(|oldest| oldest.0 as f64));
        }
    }

    /// Against a table with one entry for each byte: number of its write, and whether it is active.
    #[test]
    fn blocks_are_what_a_table_of_bytes_says(steps in prop::collection::vec(step(), 1..40)) {
        let mut bytes: BTreeMap<(u32, u64), (u64, bool)> = BTreeMap::new();
        let mut blocks = Blocks::default();
        let mut number = 0;
        for step in steps {
            match step {
                Step::Write(file, start, size) => {
                    number += 1;
                    for at in start..start + size {
                        let again = bytes.contains_key(&(file, at));
                        bytes.insert((file, at), (number, again));
                    }
                    let covered = blocks.covered(file, &(start..start + size));
                    let before = blocks.bytes();
                    blocks.write(file, start..start + size, number as f64);
                    prop_assert_eq!(blocks.bytes(), before + size - covered);
                }
                Step::Clean(most) => {
                    blocks.balance();
                    prop_assert!(2 * blocks.active_bytes() <= blocks.bytes());
                    let oldest = bytes.values().filter(|(_, is_active)| !is_active).min().copied();
                    let before = table(&blocks);
                    let cleaned = blocks.clean(most as f64);
                    prop_assert_eq!(cleaned.is_some(), !before.is_empty());
                    let after = table(&blocks);
                    // What is gone was inactive and of the oldest write, as known before some became inactive.
                    for (place, state) in before.iter().filter(|(place, _)| !after.contains_key(place)) {
                        prop_assert!(!state.1 && oldest.is_none_or(|oldest| state.0 <= oldest.0), "{place:?}");
                    }
                    let gone = before.len() - after.len();
                    prop_assert_eq!(gone as u64, cleaned.map_or(0, |cleaned| cleaned.bytes));
                    bytes = after;
                }
                Step::Discard(file, from) => {
                    blocks.discard(file, &(from..u64::MAX));
                    bytes.retain(|&(of, at), _| of != file || at < from);
                }
            }
            prop_assert_eq!(&table(&blocks), &bytes);
            prop_assert_eq!(blocks.bytes(), bytes.len() as u64);
            let active = bytes.values().filter(|(_, is_active)| *is_active).count() as u64;
            prop_assert_eq!(blocks.active_bytes(), active);
        }
    }
}
