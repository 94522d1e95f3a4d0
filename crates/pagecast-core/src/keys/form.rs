//! Turns a field of a model into a value as a file has it, and back.
//!
//! A [`Form`] has both ways and the kind of the key, so that a unit is converted in one place. Left out: text, which `scenario` reads and
//! prints.

use super::{Kind, Schema};
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// A value as a file has it: in the units of its key, not in those of a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// Major and minor number.
    Version(u32, u32),
    Size(Bytes),
    Rate(BytesPerSecond),
    Time(Nanos),
    Whole(u32),
    Number(f64),
    Flag(bool),
    /// By its place among the words of the key.
    Word(usize),
    Rates(Vec<(u32, BytesPerSecond)>),
    /// The values of the keys that it has.
    Table(Vec<(&'static str, Held)>),
}

/// A struct that [`keys!`] declares. Its default is what a table without keys says, with zero for what is required.
pub trait Keyed: Default {
    /// Its table.
    const SCHEMA: &'static Schema;

    /// The value of a key, if it has one.
    fn get(&self, key: &str) -> Option<Held>;

    /// Takes the value of a key. Keys that no field holds are ignored.
    fn set(&mut self, key: &str, value: Held);

    /// All keys with a value.
    fn held(&self) -> Vec<(&'static str, Held)> {
        Self::SCHEMA.keys.iter().filter_map(|key| Some((key.name, self.get(key.name)?))).collect()
    }
}

/// An enum that files name by words.
pub trait Word: Copy + PartialEq + 'static {
    /// All of them.
    const ALL: &'static [Self];
    /// The word of each, in the same order.
    const WORDS: &'static [&'static str];
}

/// How a field of type `T` is written.
pub struct Form<T> {
    pub kind: Kind,
    pub get: fn(&T) -> Held,
    pub set: fn(Held) -> T,
}

/// A form whose values are as the file has them, or `as` something else by two functions.
macro_rules! form {
    ($kind:expr, $held:ident) => {
        form!($kind, $held, Clone::clone, std::convert::identity)
    };
    ($kind:expr, $held:ident, $get:expr, $set:expr) => {
        Form {
            kind: $kind,
            get: |value| {
                let get = $get;
                Held::$held(get(value))
            },
            set: |held| {
                let set = $set;
                match held {
                    Held::$held(value) => set(value),
                    other => unreachable!("{other:?} is no value of such a key"),
                }
            },
        }
    };
}

pub const SIZE: Form<Bytes> = form!(Kind::Size, Size);
pub const SIZE_OR_ZERO: Form<Bytes> = form!(Kind::SizeOrZero, Size);
pub const RATE: Form<BytesPerSecond> = form!(Kind::Rate, Rate);
pub const RATES: Form<Vec<(u32, BytesPerSecond)>> = form!(Kind::Rates, Rates);
pub const TIME: Form<Nanos> = form!(Kind::Time, Time);
pub const FLAG: Form<bool> = form!(Kind::Flag, Flag);

/// A version of Linux.
pub const VERSION: Form<(u32, u32)> = Form {
    kind: Kind::Version,
    get: |&(major, minor)| Held::Version(major, minor),
    set: |held| match held {
        Held::Version(major, minor) => (major, minor),
        other => unreachable!("{other:?} is no version"),
    },
};

/// Hundredths of a second, in which the kernel gives its times.
pub const CENTISECS: Form<Nanos> = form!(
    Kind::Number(0.0, 4e9),
    Number,
    |time: &Nanos| time.0 as f64 / CENTISECOND_NANOS,
    |centisecs: f64| Nanos((centisecs * CENTISECOND_NANOS).round() as u64)
);
const CENTISECOND_NANOS: f64 = 1e7;

/// A percentage, as a fraction.
pub const PERCENT: Form<f64> =
    form!(Kind::Number(0.0, 100.0), Number, |fraction: &f64| percent_of(*fraction), |percent: f64| percent
        / 100.0);

/// `BDI_RATIO_SCALE` (`include/linux/backing-dev.h`).
pub const MILLIONTHS_PER_PERCENT: f64 = 1e4;

/// A percentage up to `most`, in millionths.
pub const fn millionths(most: f64) -> Form<u32> {
    form!(
        Kind::Number(0.0, most),
        Number,
        |millionths: &u32| f64::from(*millionths) / MILLIONTHS_PER_PERCENT,
        |percent: f64| (percent * MILLIONTHS_PER_PERCENT).round() as u32
    )
}

/// A whole number within bounds.
pub const fn whole(least: u32, most: u32) -> Form<u32> {
    form!(Kind::Whole(least, most), Whole)
}

/// A number within bounds.
pub const fn number(least: f64, most: f64) -> Form<f64> {
    form!(Kind::Number(least, most), Number)
}

/// A whole number of KiB within bounds.
pub const fn kib(least: u32, most: u32) -> Form<Bytes> {
    form!(
        Kind::Whole(least, most),
        Whole,
        |bytes: &Bytes| u32::try_from(bytes.0 >> 10).expect("the key has bounds"),
        |kib: u32| Bytes(u64::from(kib) << 10)
    )
}

/// One of the words of `T`.
pub const fn word<T: Word>() -> Form<T> {
    form!(
        Kind::Word(T::WORDS),
        Word,
        |word| T::ALL.iter().position(|each| each == word).expect("these are all"),
        |at: usize| T::ALL[at]
    )
}

/// A table with the keys of `T`.
pub const fn table<T: Keyed>() -> Form<T> {
    form!(Kind::Table(T::SCHEMA), Table, T::held, |held: Vec<(&'static str, Held)>| {
        let mut made = T::default();
        held.into_iter().for_each(|(key, value)| made.set(key, value));
        made
    })
}

/// A field that holds a value, always or perhaps.
pub trait Slot<T> {
    /// Reads it in a form.
    fn look(&self, form: &Form<T>) -> Option<Held>;
    /// Fills it.
    fn put(&mut self, form: &Form<T>, value: Held);
}

impl<T> Slot<T> for T {
    fn look(&self, form: &Form<T>) -> Option<Held> {
        Some((form.get)(self))
    }

    fn put(&mut self, form: &Form<T>, value: Held) {
        *self = (form.set)(value);
    }
}

impl<T> Slot<T> for Option<T> {
    fn look(&self, form: &Form<T>) -> Option<Held> {
        self.as_ref().map(form.get)
    }

    fn put(&mut self, form: &Form<T>, value: Held) {
        *self = Some((form.set)(value));
    }
}

/// The form of a key that no field holds.
pub const fn by_hand(kind: Kind) -> Form<()> {
    Form { kind, get: |()| unreachable!("no field holds it"), set: |_| () }
}

/// The number that divided by 100 is exactly this fraction; 0.29 * 100 is not 29.
fn percent_of(fraction: f64) -> f64 {
    let near = fraction * 100.0;
    let exact = [near.round(), near, near.next_up(), near.next_down()];
    exact.into_iter().find(|near| near / 100.0 == fraction).unwrap_or(near)
}
