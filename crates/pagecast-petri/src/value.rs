//! Represents the values of tokens and of CPN ML, with one order for all of them.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::ml::code::Function;

/// A name that is a value by itself, or makes one: an element of an enumeration, an index or a union colour set, `SOME`.
///
/// Numbered in the order of declaration, so that the elements of a colour set compare as they are declared.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Symbol(pub u32);

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    /// `()`.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A real number.
    Real(f64),
    /// A string; a character is a string of one.
    Str(Arc<str>),
    /// A tuple, or a record with its fields in the order of their labels.
    Tuple(Arc<[Value]>),
    /// A list.
    List(List),
    /// A constructor without argument.
    Con(Symbol),
    /// A constructor with its argument.
    Apply(Symbol, Arc<Value>),
    /// An element of an index colour set.
    Index(Symbol, i64),
    /// A function.
    Fn(Arc<Function>),
    /// A multiset.
    Ms(Arc<Multiset>),
    /// A reference cell of the run.
    Ref(u32),
}

/// When a token of a multiset is ready.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum When {
    /// After a delay, from the time of the occurrence (`@+`); a delay of 0 if nothing is said.
    After(Stamp),
    /// At a time stamp (`@`).
    At(Stamp),
}

/// Some equal tokens of a multiset.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Tokens {
    /// The colour.
    pub value: Value,
    /// When they are ready; `After` 0 for tokens without a stamp.
    pub when: When,
    /// How many.
    pub count: u64,
}

/// A multiset: tokens in the order of their values, each value and stamp once, no count of 0.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Multiset(pub Vec<Tokens>);

/// A model time or a delay: a whole number, or the bits of a real number that is not negative. Both have the order of integers.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Stamp(pub i64);

impl Stamp {
    /// The time at which a run begins, and no delay.
    pub const ZERO: Self = Self(0);

    /// A time in real numbers.
    pub fn real(time: f64) -> Self {
        Self((time + 0.0).to_bits() as i64) // -0.0 becomes 0.0
    }

    /// The time as a real number.
    pub fn as_real(self) -> f64 {
        f64::from_bits(self.0 as u64)
    }
}

impl When {
    /// No delay.
    pub const NOW: Self = Self::After(Stamp::ZERO);
}

impl Value {
    /// A string.
    pub fn str(text: &str) -> Self {
        Self::Str(text.into())
    }

    /// A tuple.
    pub fn tuple(parts: impl Into<Arc<[Value]>>) -> Self {
        Self::Tuple(parts.into())
    }

    /// A list.
    pub fn list(items: Vec<Value>) -> Self {
        Self::List(List::from(items))
    }

    fn is_equal(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tuple(a), Self::Tuple(b)) => Arc::ptr_eq(a, b) || a == b,
            (Self::List(a), Self::List(b)) => a.as_slice() == b.as_slice(),
            _ => self.cmp(other) == Ordering::Equal,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Unit => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Real(_) => 3,
            Self::Str(_) => 4,
            Self::Tuple(_) => 5,
            Self::List(_) => 6,
            Self::Con(_) => 7,
            Self::Apply(..) => 8,
            Self::Index(..) => 9,
            Self::Fn(_) => 10,
            Self::Ms(_) => 11,
            Self::Ref(_) => 12,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Unit, Self::Unit) => Ordering::Equal,
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            // `==` of real numbers would say that -0.0 is 0.0; tokens need one order for all.
            (Self::Real(a), Self::Real(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
            (Self::Str(a), Self::Str(b)) => a.cmp(b),
            (Self::Tuple(a), Self::Tuple(b)) => {
                if Arc::ptr_eq(a, b) {
                    return Ordering::Equal;
                }
                a.iter().cmp(b.iter())
            }
            (Self::List(a), Self::List(b)) => a.as_slice().cmp(b.as_slice()),
            (Self::Con(a), Self::Con(b)) => a.cmp(b),
            (Self::Apply(a, x), Self::Apply(b, y)) => a.cmp(b).then_with(|| x.cmp(y)),
            (Self::Con(a), Self::Apply(b, _)) => a.cmp(b).then(Ordering::Less),
            (Self::Apply(a, _), Self::Con(b)) => a.cmp(b).then(Ordering::Greater),
            (Self::Index(a, x), Self::Index(b, y)) => (a, x).cmp(&(b, y)),
            (Self::Ms(a), Self::Ms(b)) => a.cmp(b),
            (Self::Ref(a), Self::Ref(b)) => a.cmp(b),
            (Self::Fn(a), Self::Fn(b)) => Arc::as_ptr(a).cmp(&Arc::as_ptr(b)),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            _ => self.is_equal(other),
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Unit => state.write_u8(0),
            Self::Bool(value) => state.write_u8(1 + u8::from(*value)),
            Self::Int(value) => state.write_i64(*value),
            Self::Real(value) => state.write_u64((value + 0.0).to_bits()),
            Self::Str(text) => text.hash(state),
            Self::Tuple(parts) => parts.iter().for_each(|part| part.hash(state)),
            Self::List(list) => {
                state.write_usize(list.len());
                list.as_slice().iter().for_each(|item| item.hash(state));
            }
            Self::Con(symbol) => state.write_u32(symbol.0),
            Self::Apply(symbol, argument) => {
                state.write_u32(symbol.0);
                argument.hash(state);
            }
            Self::Index(symbol, number) => {
                state.write_u32(symbol.0);
                state.write_i64(*number);
            }
            Self::Fn(function) => state.write_usize(Arc::as_ptr(function) as usize),
            Self::Ms(multiset) => multiset.hash(state),
            Self::Ref(cell) => state.write_u32(*cell),
        }
    }
}

/// A list: a stretch of items that several lists may share, so that the tail of a list is no copy.
#[derive(Clone, Debug, Default)]
pub struct List {
    items: Arc<Vec<Value>>,
    start: u32,
    end: u32,
}

impl From<Vec<Value>> for List {
    fn from(items: Vec<Value>) -> Self {
        let end = u32::try_from(items.len()).expect("the machine stops a list before 2^32 items");
        Self { items: Arc::new(items), start: 0, end }
    }
}

impl List {
    /// The items.
    pub fn as_slice(&self) -> &[Value] {
        &self.items[self.start as usize..self.end as usize]
    }

    /// How many items.
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// True without items.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The list from item `from` (which exists, or is the end) to its end.
    #[must_use]
    pub fn tail(&self, from: usize) -> Self {
        Self { items: self.items.clone(), start: self.start + from as u32, end: self.end }
    }

    /// The list with other items behind it; in place where nobody else has the items.
    #[must_use]
    pub fn append(mut self, more: &[Value]) -> Self {
        if self.is_empty() {
            return Self::from(more.to_vec());
        }
        let (start, end) = (self.start as usize, self.end as usize);
        if let Some(items) = Arc::get_mut(&mut self.items) {
            items.truncate(end);
            if start > items.len() / 2 {
                items.drain(..start);
                self.start = 0;
            }
            items.extend_from_slice(more);
            self.end = u32::try_from(items.len()).expect("the machine stops a list before 2^32 items");
            return self;
        }
        let mut items = Vec::with_capacity(2 * (self.len() + more.len()));
        items.extend_from_slice(self.as_slice());
        items.extend_from_slice(more);
        Self::from(items)
    }
}

impl Multiset {
    /// One kind of tokens.
    pub fn of(value: Value, when: When, count: u64) -> Self {
        if count == 0 { Self::default() } else { Self(vec![Tokens { value, when, count }]) }
    }

    /// Tokens in any order, the same ones perhaps several times.
    pub fn collect(mut tokens: Vec<Tokens>) -> Self {
        tokens.sort();
        tokens.dedup_by(|next, kept| {
            let same = next.value == kept.value && next.when == kept.when;
            if same {
                kept.count += next.count;
            }
            same
        });
        tokens.retain(|tokens| tokens.count > 0);
        Self(tokens)
    }

    /// How many tokens.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|tokens| tokens.count).sum()
    }

    /// True without tokens.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How often a value is in it, whatever its stamps.
    pub fn count(&self, value: &Value) -> u64 {
        self.0.iter().filter(|tokens| tokens.value == *value).map(|tokens| tokens.count).sum()
    }

    /// `++`.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self::collect(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// `--`: none where a token is missing.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        let mut rest = self.0.clone();
        for take in &other.0 {
            let mut left = take.count;
            for tokens in rest.iter_mut().filter(|tokens| tokens.value == take.value) {
                let taken = left.min(tokens.count);
                tokens.count -= taken;
                left -= taken;
            }
            if left > 0 {
                return None;
            }
        }
        rest.retain(|tokens| tokens.count > 0);
        Some(Self(rest))
    }

    /// `**`: none for more than 2^63 tokens of a kind.
    pub fn times(&self, times: u64) -> Option<Self> {
        if times == 0 {
            return Some(Self::default());
        }
        let longer = |tokens: &Tokens| {
            let count = tokens.count.checked_mul(times).filter(|&count| i64::try_from(count).is_ok())?;
            Some(Tokens { count, ..tokens.clone() })
        };
        self.0.iter().map(longer).collect::<Option<_>>().map(Self)
    }

    /// True if each value is at least as often in the other one.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.iter().all(|tokens| self.count(&tokens.value) <= other.count(&tokens.value))
    }

    /// Every token by itself, in order.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().flat_map(|tokens| std::iter::repeat_n(&tokens.value, tokens.count as usize))
    }
}
