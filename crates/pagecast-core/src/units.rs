//! Parses and prints quantities with their units: bytes, time and rates.
//!
//! Decimal (`kB`, `MB`, `GB`, `TB`) and binary (`KiB`, `MiB`, `GiB`, `TiB`) prefixes are different things and are never mixed up silently:
//! `KB` is refused with a hint. Time is a whole number of nanoseconds.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A moment or a duration in whole nanoseconds; a moment counts from the start of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// A positive, finite rate in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct BytesPerSecond(pub f64);

/// A part of a whole, not negative; written in percent.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Fraction(pub f64);

/// A text that is no quantity. The field is the offending text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// A number without a unit.
    #[error("`{0}` has no unit; write for example \"{0} {1}\"")]
    MissingUnit(String, &'static str),
    /// A unit nobody knows.
    #[error("`{text}` has the unknown unit `{unit}`; {}", near_or_known(unit, known))]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// The part taken for the unit.
        unit: String,
        /// What would be right.
        known: &'static str,
    },
    /// No number at all, or NaN or infinite.
    #[error("`{0}` does not start with a finite number")]
    NotANumber(String),
    /// Below zero.
    #[error("`{0}` is negative; sizes, times and rates cannot be")]
    Negative(String),
    /// Zero where something must be there.
    #[error("`{0}` is zero; it must be more than zero")]
    Zero(String),
    /// More than a 64-bit integer of the base unit holds.
    #[error("`{0}` is too large")]
    TooLarge(String),
    /// A rate that no device has.
    #[error("`{0}` is no rate that can be simulated; rates go from {SLOWEST} to {FASTEST}")]
    OutOfRange(String),
}

/// A unit is so many times a power of ten of the base unit.
#[derive(Clone, Copy)]
struct Unit {
    name: &'static str,
    tens: i32,
    times: f64,
}

/// A decimal multiple of the base unit.
const fn decimal(name: &'static str, tens: i32) -> Unit {
    Unit { name, tens, times: 1.0 }
}

/// A binary multiple of the base unit.
const fn binary(name: &'static str, twos: u32) -> Unit {
    Unit { name, tens: 0, times: (1_u64 << twos) as f64 }
}

const BYTE_UNITS: [Unit; 9] = [
    decimal("B", 0),
    decimal("kB", 3),
    decimal("MB", 6),
    decimal("GB", 9),
    decimal("TB", 12),
    binary("KiB", 10),
    binary("MiB", 20),
    binary("GiB", 30),
    binary("TiB", 40),
];
const KNOWN_BYTES: &str = "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB";
const KNOWN_RATES: &str = "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s";
const TIME_UNITS: [Unit; 6] = [
    decimal("ns", 0),
    decimal("us", 3),
    decimal("ms", 6),
    decimal("s", 9),
    Unit { name: "min", tens: 9, times: 60.0 },
    Unit { name: "h", tens: 9, times: 3600.0 },
];
const KNOWN_TIMES: &str = "ns, us, ms, s, min, h";

/// The slowest rate: a floppy disk does 30 kB/s. The kernel's estimates are renewed five times a second, so that a slower device
/// would take them through years.
const SLOWEST: BytesPerSecond = BytesPerSecond(1e4);
/// The fastest rate: a byte more takes less than a millionth of a nanosecond, and time is counted in these.
const FASTEST: BytesPerSecond = BytesPerSecond(1e15);

/// What to write instead of an unknown unit: the one with the same letters, or any.
fn near_or_known(unit: &str, known: &str) -> String {
    let without_i = |unit: &str| unit.to_lowercase().replace('i', "");
    // A capital K may mean 1000 or 1024.
    let is_near = |near: &&str| match unit.starts_with('K') {
        true => without_i(near) == without_i(unit),
        false => near.eq_ignore_ascii_case(unit) || near.eq_ignore_ascii_case(&format!("{unit}/s")),
    };
    let near: Vec<String> = known.split(", ").filter(is_near).map(|near| format!("`{near}`")).collect();
    match near.is_empty() {
        true => format!("known units are {known}"),
        false => format!("did you mean {}?", near.join(" or ")),
    }
}

/// A number as it is written, so that its decimal point can be moved without rounding.
struct Number {
    digits: String,
    value: f64,
}

impl Number {
    /// The number of base units, rounded once: "0.465 GB/s" is the same rate as "465 MB/s".
    fn of(&self, unit: Unit) -> f64 {
        let (mantissa, exponent) = self.digits.split_once(['e', 'E']).unwrap_or((&self.digits, "0"));
        let moved = exponent.parse::<i32>().ok().and_then(|exponent| exponent.checked_add(unit.tens));
        // With an exponent that no integer holds, a finite number is zero.
        let moved = moved.map_or(0.0, |exponent| {
            format!("{mantissa}e{exponent}").parse().expect("the number was parsed before")
        });
        // Powers of two round nothing; minutes and hours come to whole nanoseconds.
        moved * unit.times
    }
}

/// Splits "20 GB" into its number and its unit and checks the number.
fn split<'a>(text: &'a str, example: &'static str) -> Result<(Number, &'a str), QuantityError> {
    let trimmed = text.trim();
    let end = trimmed
        .char_indices()
        .find(|&(at, c)| !(c.is_ascii_digit() || c == '.' || c == '_' || is_sign_or_exponent(trimmed, at, c)))
        .map_or(trimmed.len(), |(at, _)| at);
    let (digits, unit) = (trimmed[..end].replace('_', ""), trimmed[end..].trim());
    let value: f64 = digits.parse().map_err(|_| QuantityError::NotANumber(text.to_owned()))?;
    if !value.is_finite() {
        return Err(QuantityError::NotANumber(text.to_owned()));
    }
    if value < 0.0 {
        return Err(QuantityError::Negative(text.to_owned()));
    }
    if unit.is_empty() {
        return Err(QuantityError::MissingUnit(text.trim().to_owned(), example));
    }
    Ok((Number { digits, value }, unit))
}

/// True for a leading sign and for the `e`, `e+`, `e-` of an exponent that is followed by a digit.
fn is_sign_or_exponent(text: &str, at: usize, c: char) -> bool {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    match c {
        '+' | '-' if at == 0 => true,
        '+' | '-' => matches!(bytes[at - 1], b'e' | b'E') && digit(at + 1),
        'e' | 'E' => {
            at > 0 && (digit(at + 1) || (matches!(bytes.get(at + 1), Some(b'+' | b'-')) && digit(at + 2)))
        }
        _ => false,
    }
}

fn named(text: &str, unit: &str, units: &[Unit], known: &'static str) -> Result<Unit, QuantityError> {
    units.iter().find(|each| each.name == unit).copied().ok_or_else(|| unknown_unit(text, unit, known))
}

fn unknown_unit(text: &str, unit: &str, known: &'static str) -> QuantityError {
    QuantityError::UnknownUnit { text: text.trim().to_owned(), unit: unit.to_owned(), known }
}

fn to_integer(text: &str, value: f64) -> Result<u64, QuantityError> {
    // 2^53: above it a double no longer holds every whole number, and no machine we model is larger.
    if value > 9_007_199_254_740_992.0 {
        return Err(QuantityError::TooLarge(text.trim().to_owned()));
    }
    Ok(value.round() as u64)
}

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Parses a size such as "20 GB" or "4 KiB"; the result is rounded to whole bytes.
    ///
    /// # Errors
    /// [`QuantityError`] if the number or the unit is missing, unknown, negative or too large.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let (number, unit) = split(text, "GB")?;
        to_integer(text, number.of(named(text, unit, &BYTE_UNITS, KNOWN_BYTES)?)).map(Self)
    }

    /// The number as a float, for rates and ratios.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// `self - other`, or nothing if `other` is larger.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Nanos {
    /// The start of the simulation, or no time at all.
    pub const ZERO: Self = Self(0);

    /// The last instant of a simulation: 292 years, as many nanoseconds as a signed integer holds.
    pub const LAST: Self = Self(i64::MAX as u64);

    /// Parses a time such as "28 s" or "20 us"; the result is rounded to whole nanoseconds.
    ///
    /// # Errors
    /// [`QuantityError`] if the number or the unit is missing, unknown, negative or too large.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let (number, unit) = split(text, "s")?;
        to_integer(text, number.of(named(text, unit, &TIME_UNITS, KNOWN_TIMES)?)).map(Self)
    }

    /// Seconds to the nearest nanosecond; negative and NaN become zero.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as u64)
    }

    /// The time in seconds.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self - other`, or no time if `other` is later.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl BytesPerSecond {
    /// Parses a rate such as "465 MB/s".
    ///
    /// # Errors
    /// [`QuantityError`] if the number or the unit is missing, unknown or negative, or the rate is zero or one that no device has.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let (number, unit) = split(text, "MB/s")?;
        let per_second = |each: &&Unit| unit.strip_suffix("/s").map(str::trim) == Some(each.name);
        let found = BYTE_UNITS.iter().find(per_second).copied();
        let rate = number.of(found.ok_or_else(|| unknown_unit(text, unit, KNOWN_RATES))?);
        if rate == 0.0 {
            return Err(QuantityError::Zero(text.trim().to_owned()));
        }
        if !(SLOWEST..=FASTEST).contains(&Self(rate)) {
            return Err(QuantityError::OutOfRange(text.trim().to_owned()));
        }
        Ok(Self(rate))
    }
}

impl Fraction {
    /// Parses a percentage such as "15 %".
    ///
    /// # Errors
    /// [`QuantityError`] if the number or the sign of percent is missing, or the number is negative.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let (number, unit) = split(text, "%")?;
        if unit == "%" { Ok(Self(number.value / 100.0)) } else { Err(unknown_unit(text, unit, "%")) }
    }
}

macro_rules! additive {
    ($($name:ident),*) => {$(
        impl Sub for $name { type Output = Self; fn sub(self, other: Self) -> Self { Self(self.0 - other.0) } }
        impl SubAssign for $name { fn sub_assign(&mut self, other: Self) { self.0 -= other.0; } }
        impl Sum for $name { fn sum<I: Iterator<Item = Self>>(all: I) -> Self { Self(all.map(|each| each.0).sum()) } }
    )*};
}
additive!(Bytes, Nanos);

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// What would come after the end of time is there at the end: nothing happens after [`Nanos::LAST`].
impl Add for Nanos {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// A count of less than 2^63 as a number. Processors have an instruction for signed integers only.
#[inline(always)]
pub(crate) fn as_number(count: u64) -> f64 {
    debug_assert!(count >> 63 == 0, "{count} has a sign");
    count as i64 as f64
}

/// Returns the seconds from one moment of a run to a later one.
#[inline(always)]
pub(crate) fn seconds_between(from: Nanos, to: Nanos) -> f64 {
    as_number(to.0 - from.0) / 1e9
}

/// The whole part of a number that is not negative and no count of more than 63 bits, by the same instruction.
#[inline(always)]
pub(crate) fn whole(number: f64) -> u64 {
    (number as i64).max(0) as u64
}

/// The earlier of two moments that may never come.
pub(crate) fn earlier(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Writes `value` with the largest decimal unit that keeps it at least 1, at most two decimals, none if whole.
fn write_scaled(f: &mut fmt::Formatter<'_>, value: f64, suffix: &str) -> fmt::Result {
    let (scaled, prefix) = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]
        .into_iter()
        .find(|&(size, _)| value >= size)
        .map_or((value, ""), |(size, prefix)| (value / size, prefix));
    let text = format!("{scaled:.2}");
    write!(f, "{} {prefix}B{suffix}", text.trim_end_matches('0').trim_end_matches('.'))
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.as_f64(), "")
    }
}

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, "/s")
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1_000 => write!(f, "{} ns", self.0),
            1_000..1_000_000 => write!(f, "{:.3} us", self.0 as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.3} ms", self.0 as f64 / 1e6),
            _ => write!(f, "{:.3} s", self.as_seconds()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_sizes_differ() {
        assert_eq!(Bytes::parse("20 GB"), Ok(Bytes(20_000_000_000)));
        assert_eq!(Bytes::parse("4KiB"), Ok(Bytes(4096)));
        assert_eq!(Bytes::parse("1.5e2 MB"), Ok(Bytes(150_000_000)));
        assert_eq!(Bytes::parse("1_000 B"), Ok(Bytes(1000)));
        assert_eq!(Bytes::parse("1e+3 B"), Ok(Bytes(1000)));
        assert_eq!(Bytes::parse("2 TiB"), Ok(Bytes(2 << 40)));
    }

    #[test]
    fn a_wrong_size_says_what_is_wrong() {
        assert_eq!(Bytes::parse("20"), Err(QuantityError::MissingUnit("20".into(), "GB")));
        assert!(
            matches!(Bytes::parse("20 KB"), Err(QuantityError::UnknownUnit { unit, .. }) if unit == "KB")
        );
        assert_eq!(Bytes::parse("-1 GB"), Err(QuantityError::Negative("-1 GB".into())));
        assert_eq!(Bytes::parse("NaN GB"), Err(QuantityError::NotANumber("NaN GB".into())));
        assert_eq!(Bytes::parse("inf GB"), Err(QuantityError::NotANumber("inf GB".into())));
        assert_eq!(Bytes::parse(""), Err(QuantityError::NotANumber(String::new())));
        assert_eq!(Bytes::parse("9e9 TB"), Err(QuantityError::TooLarge("9e9 TB".into())));
    }

    #[test]
    fn a_unit_with_other_capitals_is_suggested() {
        let size = |text| Bytes::parse(text).unwrap_err().to_string();
        assert_eq!(size("20 gb"), "`20 gb` has the unknown unit `gb`; did you mean `GB`?");
        assert_eq!(size("20 Gb"), "`20 Gb` has the unknown unit `Gb`; did you mean `GB`?");
        assert_eq!(size("20 mib"), "`20 mib` has the unknown unit `mib`; did you mean `MiB`?");
        assert_eq!(size("20 KB"), "`20 KB` has the unknown unit `KB`; did you mean `kB` or `KiB`?");
        assert!(size("20 GB/s").ends_with("`GB/s`; known units are B, kB, MB, GB, TB, KiB, MiB, GiB, TiB"));
        let rate = |text| BytesPerSecond::parse(text).unwrap_err().to_string();
        assert_eq!(rate("20 mb/s"), "`20 mb/s` has the unknown unit `mb/s`; did you mean `MB/s`?");
        assert_eq!(rate("20 MB"), "`20 MB` has the unknown unit `MB`; did you mean `MB/s`?");
        assert_eq!(
            Nanos::parse("5 MS").unwrap_err().to_string(),
            "`5 MS` has the unknown unit `MS`; did you mean `ms`?"
        );
    }

    #[test]
    fn rates_want_per_second_and_more_than_zero() {
        assert_eq!(BytesPerSecond::parse("465 MB/s"), Ok(BytesPerSecond(465e6)));
        assert_eq!(BytesPerSecond::parse("0 MB/s"), Err(QuantityError::Zero("0 MB/s".into())));
        assert!(matches!(BytesPerSecond::parse("465 MB"), Err(QuantityError::UnknownUnit { .. })));
        assert_eq!(BytesPerSecond::parse("10 kB/s"), Ok(BytesPerSecond(1e4)));
        assert_eq!(BytesPerSecond::parse("1000 TB/s"), Ok(BytesPerSecond(1e15)));
        let wrong = |text| BytesPerSecond::parse(text).unwrap_err().to_string();
        assert_eq!(
            wrong("3.3 B/s"),
            "`3.3 B/s` is no rate that can be simulated; rates go from 10 kB/s to 1000 TB/s"
        );
        for text in ["9.999 kB/s", "1001 TB/s", "1e300 TB/s", "1e-300 B/s"] {
            assert_eq!(BytesPerSecond::parse(text), Err(QuantityError::OutOfRange(text.into())));
        }
    }

    /// A machine whose memory reads at "4.03 GB/s" gave other times than with "4030 MB/s": multiplied by 1e9, 4.03 is rounded twice.
    #[test]
    fn the_unit_of_a_rate_makes_no_difference() {
        for rate in ["4.03 GB/s", "4030 MB/s", "4030000 kB/s", "0.00403 TB/s", "403e7 B/s", "4.03e+3 MB/s"] {
            assert_eq!(BytesPerSecond::parse(rate), Ok(BytesPerSecond(4.03e9)), "{rate}");
        }
        assert_eq!(BytesPerSecond::parse("0.5 GiB/s"), BytesPerSecond::parse("512 MiB/s"));
        assert_eq!(Bytes::parse("0e99999999999 GB"), Ok(Bytes(0)));
        assert_eq!(Bytes::parse("9e2147483647 GB"), Err(QuantityError::NotANumber("9e2147483647 GB".into())));
        assert_eq!(Bytes::parse("0e2147483647 GB"), Ok(Bytes(0)));
    }

    #[test]
    fn fractions_are_written_in_percent() {
        assert_eq!(Fraction::parse(" 12.5% "), Ok(Fraction(0.125)));
        assert_eq!(Fraction::parse("120 %"), Ok(Fraction(1.2)));
        assert_eq!(Fraction::parse("12"), Err(QuantityError::MissingUnit("12".into(), "%")));
        assert_eq!(Fraction::parse("-1 %"), Err(QuantityError::Negative("-1 %".into())));
        assert!(matches!(Fraction::parse("12 GB"), Err(QuantityError::UnknownUnit { .. })));
    }

    #[test]
    fn times_round_to_nanoseconds() {
        assert_eq!(Nanos::parse("28 s"), Ok(Nanos(28_000_000_000)));
        assert_eq!(Nanos::parse("20 us"), Ok(Nanos(20_000)));
        assert_eq!(Nanos::parse("1.5 min"), Ok(Nanos(90_000_000_000)));
        assert_eq!(Nanos::from_seconds(4.4), Nanos(4_400_000_000));
    }

    #[test]
    fn printing_keeps_two_decimals_at_most() {
        assert_eq!(Bytes(20_000_000_000).to_string(), "20 GB");
        assert_eq!(Bytes(1_536).to_string(), "1.54 kB");
        assert_eq!(Bytes(12).to_string(), "12 B");
        assert_eq!(BytesPerSecond(465e6).to_string(), "465 MB/s");
        assert_eq!(Nanos(1_500_000_000).to_string(), "1.500 s");
        assert_eq!(Nanos(1_500).to_string(), "1.500 us");
        assert_eq!(Nanos(1_500_000).to_string(), "1.500 ms");
        assert_eq!(Nanos(15).to_string(), "15 ns");
    }
}
