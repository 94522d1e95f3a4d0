//! Compares a list with a plain vector: the same blocks in the same order, and the same firsts, after any sequence of changes.

use proptest::prelude::*;

use super::*;

const FILES: u32 = 3;

/// A change of a list. Numbers choose among the blocks that are there. Expired blocks are made clean, or only asked for.
#[derive(Clone, Debug)]
enum Step {
    Push { file: u32, size: u64, dirty: bool, dirtied: u64 },
    Take { dirty: bool, which: Which, bytes: u64 },
    Clean { which: Which, flush: u32 },
    Expire { later: u64, flush: Option<u32> },
}

fn whiches() -> Vec<Which> {
    let files = || (0..FILES).map(HostFile);
    let others = files().map(Some).chain([None]).map(Which::NotOf);
    files().map(Which::Of).chain(others).chain([Which::Any]).collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let which = || prop::sample::select(whiches());
    let step = prop_oneof![
        3 => (0..FILES, 0..5_u64, any::<bool>(), 0..40_u64)
            .prop_map(|(file, size, dirty, dirtied)| Step::Push { file, size, dirty, dirtied }),
        2 => (any::<bool>(), which(), 1..6_u64).prop_map(|(dirty, which, bytes)| Step::Take { dirty, which, bytes }),
        1 => (which(), 0..9_u32).prop_map(|(which, flush)| Step::Clean { which, flush }),
        1 => (0..8_u64, prop::option::of(0..9_u32)).prop_map(|(later, flush)| Step::Expire { later, flush }),
    ];
    prop::collection::vec(step, 0..60)
}

/// The obvious list: blocks in their order.
#[derive(Default)]
struct Plain(Vec<Block>);

impl Plain {
    fn at(&self, dirty: bool, which: Which) -> Option<usize> {
        self.0.iter().position(|block| block.dirty == dirty && is_meant(block.file, which))
    }

    fn first(&self, dirty: bool, which: Which) -> Option<Block> {
        self.at(dirty, which).map(|at| self.0[at])
    }

    fn first_of_both(&self, which: Which) -> Option<Block> {
        self.0.iter().find(|block| is_meant(block.file, which)).copied()
    }

    fn first_expired(&self, limit: Nanos) -> Option<usize> {
        self.0.iter().position(|block| block.dirty && block.dirtied <= limit)
    }

    fn take(&mut self, at: usize, bytes: u64) -> Block {
        let block = &mut self.0[at];
        if bytes >= block.size {
            return self.0.remove(at);
        }
        block.size -= bytes;
        Block { size: bytes, flush: 0, ..*block }
    }
}

fn is_meant(file: HostFile, which: Which) -> bool {
    match which {
        Which::Any => true,
        Which::Of(this) => file == this,
        Which::NotOf(other) => Some(file) != other,
    }
}

proptest! {
    #[test]
    fn it_is_a_vector_with_a_memory_of_places(steps in steps()) {
        let (mut list, mut plain, mut limit) = (List::default(), Plain::default(), Nanos::ZERO);
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Push { file, size, dirty, dirtied } => {
                    // The time of access tells blocks apart.
                    let (file, accessed, dirtied) = (HostFile(file), Nanos(number as u64), Nanos(dirtied));
                    let block = Block { file, size, dirty, accessed, dirtied, flush: 0 };
                    list.push(block);
                    plain.0.extend((size > 0).then_some(block));
                }
                Step::Take { dirty, which, bytes } => {
                    if let Some(first) = list.first(dirty, which) {
                        let at = plain.at(dirty, which).expect("the list has found one");
                        prop_assert_eq!(list.take(first, bytes), plain.take(at, bytes));
                    }
                }
                Step::Clean { which, flush } => {
                    if let Some(first) = list.first(true, which) {
                        list.clean(first, flush);
                        let at = plain.at(true, which).expect("the list has found one");
                        (plain.0[at].dirty, plain.0[at].flush) = (false, flush);
                    }
                }
                Step::Expire { later, flush } => {
                    limit += Nanos(later);
                    let expired = list.first_expired(limit);
                    let at = plain.first_expired(limit);
                    prop_assert_eq!(expired.map(|first| list.block(first)), at.map(|at| plain.0[at]));
                    if let (Some(first), Some(at), Some(flush)) = (expired, at, flush) {
                        list.clean(first, flush);
                        (plain.0[at].dirty, plain.0[at].flush) = (false, flush);
                    }
                }
            }
            prop_assert_eq!(&list.blocks(), &plain.0);
            prop_assert_eq!(list.len(), plain.0.len());
            prop_assert_eq!(list.bytes(), plain.0.iter().map(|block| block.size).sum::<u64>());
            for file in (0..FILES).map(HostFile) {
                let of_file = plain.0.iter().filter(|block| block.file == file);
                prop_assert_eq!(list.bytes_of(file), of_file.map(|block| block.size).sum::<u64>());
            }
            for which in whiches() {
                for dirty in [false, true] {
                    let first = list.first(dirty, which).map(|first| list.block(first));
                    prop_assert_eq!(first, plain.first(dirty, which));
                }
                let first = list.first_of_both(which).map(|first| list.block(first));
                prop_assert_eq!(first, plain.first_of_both(which));
            }
        }
    }
}
