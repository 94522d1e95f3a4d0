//! The random numbers of fio: the same seeds give the same offsets as fio itself.
//!
//! Source: P. L'Ecuyer, "Maximally equidistributed combined Tausworthe generators" (1996, taus88) and "Tables of maximally equidistributed
//! combined LFSR generators" (1999, taus258); seeds as in fio's `lib/rand.c` and `init.c`. The hash of a file's name is Bob Jenkins'
//! lookup3 with fio's order of bytes.

use super::job::Job;

/// The seed of `randrepeat=1` and `allrandrepeat=1` (`FIO_RANDSEED`).
const FIXED_SEED: u64 = 0xb189_9bed;

/// By what seeds are multiplied (`setup_random_seeds`).
const SEED_FACTOR: u64 = 0x9e37_0001;

/// The seed without `randseed`.
const USUAL_SEED: u64 = 0x89;

/// By what hashes multiply (`GOLDEN_RATIO_64`).
const GOLDEN_RATIO: u64 = 0x61C8_8646_80B5_83EB;

/// What a generator is for; its number is that of fio's table of seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Use {
    ReadSizes = 0,
    WriteSizes = 1,
    Mix = 4,
    Files = 5,
    Blocks = 6,
    FileSizes = 7,
    SequentialOrRandom = 10,
    StartDelay = 13,
    ReadArrivals = 15,
    Zones = 16,
    WriteArrivals = 17,
}

/// The seed of one generator of the `thread`-th thread of a run, from 1.
pub fn seed(job: &Job, thread: u64, of: Use) -> u64 {
    let at = of as u64;
    // `randseed` changes the offsets with `randrepeat=0` alone: fio seeds them before it takes notice of it.
    if of == Use::Blocks && job.rand_repeat {
        return FIXED_SEED.wrapping_mul(thread);
    }
    if job.all_rand_repeat {
        return FIXED_SEED.wrapping_mul(thread).wrapping_add(at);
    }
    // `randrepeat=0` asks the system for seeds; a simulation takes some that are not the usual ones.
    let unlike = if job.rand_repeat { 0 } else { 0x5eed_0000 };
    let base = job.rand_seed.unwrap_or(USUAL_SEED ^ unlike);
    let base = base.wrapping_mul(SEED_FACTOR.wrapping_pow(4 + at as u32));
    base.wrapping_mul(thread).wrapping_add(at)
}

/// A generator of 32 or 64 bits.
#[derive(Clone, Debug)]
pub enum Random {
    /// taus88.
    Small([u32; 3]),
    /// taus258.
    Large([u64; 5]),
}

impl Random {
    /// The one of 32 bits.
    pub fn small(seed: u64) -> Self {
        let seed = seed as u32;
        let step = |x: u32| x.wrapping_mul(69069) ^ seed;
        let at_least = |x: u32, least: u32| if x < least { x + least } else { x };
        // 53 is what `(2^31) + (2^17) + (2^7)` is in C, where ^ is the exclusive or.
        let first = at_least(step(53), 1);
        let second = at_least(step(first), 7);
        let third = at_least(step(second), 15);
        Self::Small([first, second, third]).warmed_up()
    }

    /// The one of 64 bits.
    pub fn large(seed: u64) -> Self {
        let step = |x: u64| x.wrapping_mul(6_906_969_069) ^ seed;
        let mut last = 53;
        let state = [1, 7, 15, 33, 49].map(|least| {
            let next = step(last);
            last = if next < least { next + least } else { next };
            last
        });
        Self::Large(state).warmed_up()
    }

    /// One of either kind.
    pub fn new(seed: u64, is_large: bool) -> Self {
        if is_large { Self::large(seed) } else { Self::small(seed) }
    }

    fn warmed_up(mut self) -> Self {
        for _ in 0..6 {
            self.next();
        }
        self
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        match self {
            Self::Small([a, b, c]) => {
                *a = ((*a & !1) << 12) ^ (((*a << 13) ^ *a) >> 19);
                *b = ((*b & !7) << 4) ^ (((*b << 2) ^ *b) >> 25);
                *c = ((*c & !15) << 17) ^ (((*c << 3) ^ *c) >> 11);
                u64::from(*a ^ *b ^ *c)
            }
            Self::Large([a, b, c, d, e]) => {
                *a = ((*a & !1) << 10) ^ (((*a << 1) ^ *a) >> 53);
                *b = ((*b & !0x1ff) << 5) ^ (((*b << 24) ^ *b) >> 50);
                *c = ((*c & !0xfff) << 29) ^ (((*c << 3) ^ *c) >> 23);
                *d = ((*d & !0x1_ffff) << 23) ^ (((*d << 5) ^ *d) >> 24);
                *e = ((*e & !0x7f_ffff) << 8) ^ (((*e << 3) ^ *e) >> 33);
                *a ^ *b ^ *c ^ *d ^ *e
            }
        }
    }

    /// The largest number that it gives.
    pub fn most(&self) -> u64 {
        match self {
            Self::Small(_) => u64::from(u32::MAX),
            Self::Large(_) => u64::MAX,
        }
    }

    /// A number below `end`, as fio scales one; 0 of an empty range.
    pub fn below(&mut self, end: u64) -> u64 {
        let most = self.most() as f64 + 1.0;
        let scaled = end as f64 * (self.next() as f64 / most);
        (scaled as u64).min(end.saturating_sub(1))
    }

    /// A number of a range that has both ends.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below((most - least).saturating_add(1))
    }

    /// Above 0 and at most 1.
    pub fn part(&mut self) -> f64 {
        (self.next() as f64 + 1.0) / (self.most() as f64 + 1.0)
    }
}

/// Spreads a block over the file (`__hash_u64`).
pub fn spread(value: u64) -> u64 {
    value.wrapping_mul(GOLDEN_RATIO)
}

/// The hash of a file's name (`jhash`).
pub fn name_hash(name: &str) -> u32 {
    let mut rest = name.as_bytes();
    let start = 0x61C8_8647_u32.wrapping_add(rest.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    while rest.len() > 12 {
        // fio adds one byte where lookup3 adds four.
        a = a.wrapping_add(u32::from(rest[0]));
        b = b.wrapping_add(u32::from(rest[4]));
        c = c.wrapping_add(u32::from(rest[8]));
        for (left, right) in [(4, 6), (8, 16), (19, 4)] {
            a = a.wrapping_sub(c) ^ c.rotate_left(left);
            c = c.wrapping_add(b);
            b = b.wrapping_sub(a) ^ a.rotate_left(right);
            a = a.wrapping_add(c);
            (a, b, c) = (c, a, b);
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let word = |at: usize| {
        (0..4).fold(0, |word, byte| word | u32::from(*rest.get(at + byte).unwrap_or(&0)) << (8 * byte))
    };
    (a, b, c) = (a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8)));
    for bits in [14, 11, 25, 16, 4, 14, 24] {
        c = (c ^ b).wrapping_sub(b.rotate_left(bits));
        (a, b, c) = (b, c, a);
    }
    // The last of the seven was c; the turns have put it in b.
    b
}
