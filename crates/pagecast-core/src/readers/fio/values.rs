//! Reads values as fio's `parse.c` does: sizes, times, percentages, lists for reads and writes.
//!
//! fio stops at the first character that it does not know and takes what it has: `10seconds` are 10 microseconds, `1.5g` is 1 byte. Such values
//! are refused here, and the message says how fio reads them.

use super::arithmetic::{Units, evaluate};
use super::wrong::Wrong;
use crate::nearest::{hint, shorten};
use crate::units::Nanos;

/// A quantity of bytes, or a share of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many bytes.
    Bytes(u64),
    /// So many per cent, 0 to 100.
    Percent(u32),
}

/// The value of an option, and what it takes to read it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Behind `=`; `None` if there is no `=`.
    pub text: Option<&'a str>,
    /// 1024 or 1000.
    pub kb_base: u64,
}

impl<'a> Text<'a> {
    /// The value, which must be there.
    pub fn needed(self) -> Result<&'a str, Wrong> {
        match self.text {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(Wrong::new("has no value", "write NAME=VALUE")),
        }
    }

    /// As it is for another text.
    pub fn of(self, text: &'a str) -> Self {
        Self { text: Some(text), ..self }
    }

    /// Bytes or a plain number, with a unit or none.
    pub fn number(self) -> Result<u64, Wrong> {
        match self.amount()? {
            Amount::Bytes(bytes) => Ok(bytes),
            Amount::Percent(_) => {
                Err(Wrong::new(format!("is `{}`, but cannot be a share", self.shown()), "write a number"))
            }
        }
    }

    /// A number of at least `least` and at most `most`.
    pub fn number_in(self, least: u64, most: u64) -> Result<u64, Wrong> {
        let number = self.number()?;
        if (least..=most).contains(&number) {
            return Ok(number);
        }
        let bounds =
            if most == u64::MAX { format!("at least {least}") } else { format!("from {least} to {most}") };
        Err(Wrong::new(format!("is {number}, but must be {bounds}"), "correct the number"))
    }

    /// A number that fits 32 bits.
    pub fn small(self) -> Result<u32, Wrong> {
        Ok(self.number_in(0, i32::MAX as u64)? as u32)
    }

    /// Bytes or per cent.
    pub fn amount(self) -> Result<Amount, Wrong> {
        let text = self.needed()?;
        if text.starts_with('(') {
            let (value, _) = evaluate(text, Units::Bytes)?;
            let value = u64::try_from(value);
            return value
                .map(Amount::Bytes)
                .map_err(|_| Wrong::new(format!("`{text}` is negative"), "write a positive size"));
        }
        let (digits, radix, unit) = split_number(text).ok_or_else(|| self.no_number("1", ""))?;
        let value =
            u64::from_str_radix(digits, radix).map_err(|_| self.no_number(&format!("{}", u64::MAX), ""))?;
        if unit == "%" {
            let percent = u32::try_from(value).ok().filter(|&percent| percent <= 100);
            let wrong = || Wrong::new(format!("is {value}%, but must be 0% to 100%"), "correct the share");
            return percent.map(Amount::Percent).ok_or_else(wrong);
        }
        let factor = self.factor(unit, radix).ok_or_else(|| self.no_number(digits, unit))?;
        value.checked_mul(factor).map(Amount::Bytes).ok_or_else(|| {
            Wrong::new(format!("is `{}`, which is more than 2^64 bytes", self.shown()), "make it smaller")
        })
    }

    /// The factor of a unit of bytes. As fio's code has it, not its manual: `ki` is `k`, and only `kib` is of the other base.
    fn factor(self, unit: &str, radix: u32) -> Option<u64> {
        let other = if self.kb_base == 1000 { 1024_u64 } else { 1000 };
        let unit = unit.to_ascii_lowercase();
        if unit.is_empty() || (unit == "b" && radix == 10) {
            return Some(1);
        }
        if radix != 10 {
            return None;
        }
        let power = "kmgtp".find(unit.chars().next()?)? as u32 + 1;
        match &unit[1..] {
            "" | "b" | "i" => Some(self.kb_base.pow(power)),
            "ib" => Some(other.pow(power)),
            _ => None,
        }
    }

    /// A time; a bare number counts in `default` microseconds.
    pub fn time(self, default: u64) -> Result<Nanos, Wrong> {
        let text = self.needed()?;
        let micros = if text.starts_with('(') {
            let (value, has_unit) = evaluate(text, Units::Time)?;
            let value = u64::try_from(value)
                .map_err(|_| Wrong::new(format!("`{text}` is negative"), "write a time from 0"))?;
            value.checked_mul(if has_unit { 1 } else { default })
        } else {
            let (digits, radix, unit) = split_number(text).ok_or_else(|| self.no_time("1", ""))?;
            let value = u64::from_str_radix(digits, radix).map_err(|_| self.no_time("1", ""))?;
            let factor = match unit.to_ascii_lowercase().as_str() {
                "" => default,
                "us" | "usec" => 1,
                "ms" | "msec" => 1_000,
                "s" => 1_000_000,
                "m" => 60_000_000,
                "h" => 3_600_000_000,
                "d" => 86_400_000_000,
                _ => return Err(self.no_time(digits, unit)),
            };
            value.checked_mul(factor)
        };
        let nanos =
            micros.and_then(|micros| micros.checked_mul(1000)).filter(|&nanos| nanos < i64::MAX as u64);
        nanos.map(Nanos).ok_or_else(|| {
            Wrong::new(format!("is `{}`, which is longer than 292 years", self.shown()), "make it shorter")
        })
    }

    /// 1 or 0.
    pub fn truth(self) -> Result<bool, Wrong> {
        match self.needed()? {
            "1" => Ok(true),
            "0" => Ok(false),
            _ => Err(Wrong::new(format!("is `{}`, but must be 0 or 1", self.shown()), "write 0 or 1")),
        }
    }

    /// True if it stands alone, or 1 or 0.
    pub fn flag(self) -> Result<bool, Wrong> {
        if self.text.is_none() { Ok(true) } else { self.truth() }
    }

    /// One of some words, and what stands behind its first colon.
    pub fn word<T: Copy>(self, words: &[(&'static str, T)]) -> Result<(T, Option<&'a str>), Wrong> {
        let text = self.needed()?;
        let (word, rest) = match text.split_once(':') {
            Some((word, rest)) => (word, Some(rest)),
            None => (text, None),
        };
        let found = words.iter().find(|(known, _)| *known == word);
        found.map(|&(_, value)| (value, rest)).ok_or_else(|| {
            let known = words.iter().map(|&(known, _)| known);
            Wrong::new(
                format!("is `{}`, which is no word of it", shorten(word)),
                hint(word, known, "its words"),
            )
        })
    }

    /// Values for reads, writes and trims: one that no comma follows goes for those behind it, too.
    pub fn each<T: Copy>(
        self,
        into: &mut [T; 2],
        read: impl Fn(Self) -> Result<T, Wrong>,
    ) -> Result<(), Wrong> {
        let text = self.needed()?;
        // A trailing comma ends the list; it is no empty value.
        let (list, is_open) = text.strip_suffix(',').map_or((text, true), |list| (list, false));
        let parts: Vec<&str> =
            if list.starts_with('(') { split_outside(list) } else { list.split(',').collect() };
        if parts.len() > 3 {
            return Err(Wrong::new(
                format!("has {} values, but there are only reads, writes and trims", parts.len()),
                "give at most three",
            ));
        }
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let value = read(self.of(part))?;
            let end = if is_open && at + 1 == parts.len() { 2 } else { (at + 1).min(2) };
            into[at.min(end)..end].fill(value);
        }
        Ok(())
    }

    /// Two numbers with `-` or `:` between them; one alone is both.
    pub fn range<T: Copy + PartialOrd>(
        self,
        read: impl Fn(Self) -> Result<T, Wrong>,
    ) -> Result<(T, T), Wrong> {
        let text = self.needed()?;
        let Some((low, high)) = text.split_once(['-', ':']).filter(|_| !text.starts_with('(')) else {
            let both = read(self)?;
            return Ok((both, both));
        };
        let (low, high) = (read(self.of(low))?, read(self.of(high))?);
        Ok(if low > high { (high, low) } else { (low, high) })
    }

    /// A number with a fraction.
    pub fn float(self) -> Result<f64, Wrong> {
        let text = self.needed()?;
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| {
            Wrong::new(format!("is `{}`, but must be a number", self.shown()), "write for example 1.2")
        })
    }

    fn shown(self) -> String {
        shorten(self.text.unwrap_or(""))
    }

    fn no_number(self, digits: &str, unit: &str) -> Wrong {
        if self.text.is_some_and(|text| text.starts_with([' ', '\t'])) {
            return self.blank();
        }
        let as_fio = if unit.is_empty() { String::new() } else { format!(" (fio takes {digits} of it)") };
        let units = "k, m, g, t or p, with i and b, or %";
        Wrong::new(
            format!("is `{}`, which is no size{as_fio}", self.shown()),
            format!("write a whole number and one of the units {units}"),
        )
    }

    fn no_time(self, digits: &str, unit: &str) -> Wrong {
        if self.text.is_some_and(|text| text.starts_with([' ', '\t'])) {
            return self.blank();
        }
        let as_fio = if unit.is_empty() { String::new() } else { format!(" (fio takes it for {digits} us)") };
        Wrong::new(
            format!("is `{}`, which is no time{as_fio}", self.shown()),
            "write a whole number and one of the units us, ms, s, m, h or d",
        )
    }

    fn blank(self) -> Wrong {
        let value = self.text.unwrap_or("").trim_start();
        Wrong::new(
            "begins with a blank, and fio then takes no notice of the unit",
            format!("write ={} without the blank", shorten(value)),
        )
    }
}

/// Splits at commas outside parentheses.
fn split_outside(list: &str) -> Vec<&str> {
    let mut depth = 0;
    list.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

/// The digits of a number, their radix, and what follows.
fn split_number(text: &str) -> Option<(&str, u32, &str)> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (text, radix) = hex.map_or((text.strip_prefix('+').unwrap_or(text), 10), |hex| (hex, 16));
    let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    (end > 0).then(|| (&text[..end], radix, &text[end..]))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn of(text: &str) -> Text<'_> {
        Text { text: Some(text), kb_base: 1024 }
    }

    #[test]
    fn sizes_are_fios() {
        let values =
            [("4k", 4096), ("4K", 4096), ("4kb", 4096), ("4ki", 4096), ("4kib", 4000), ("1g", 1 << 30)];
        for (text, bytes) in values.into_iter().chain([("512", 512), ("512b", 512), ("0x10", 16), ("+7", 7)])
        {
            assert_eq!(of(text).amount(), Ok(Amount::Bytes(bytes)), "{text}");
        }
        assert_eq!(of("20%").amount(), Ok(Amount::Percent(20)));
        assert_eq!(of("(2*4k)").number(), Ok(8192));
        let si = |text| Text { text: Some(text), kb_base: 1000 }.number();
        assert_eq!((si("4k"), si("4kib"), si("1m")), (Ok(4000), Ok(4096), Ok(1_000_000)));
    }

    #[test]
    fn times_are_fios() {
        let seconds = |text| of(text).time(1_000_000).unwrap().0 / 1000;
        assert_eq!(
            ["5", "5m", "500ms", "7us", "2h", "(5)", "(500ms)"].map(seconds),
            [5_000_000, 300_000_000, 500_000, 7, 7_200_000_000, 5_000_000, 500_000]
        );
        assert_eq!(of("250").time(1), Ok(Nanos(250_000)));
    }

    #[test]
    fn what_fio_reads_by_half_is_refused() {
        let size = |text| {
            let wrong = of(text).number().unwrap_err();
            format!("{}; {}", wrong.what, wrong.remedy)
        };
        let time = |text| of(text).time(1).unwrap_err().what;
        assert_snapshot!(size("1.5g"), @"is `1.5g`, which is no size (fio takes 1 of it); write a whole number and one of the units k, m, g, t or p, with i and b, or %");
        assert_snapshot!(size(" 4k"), @"begins with a blank, and fio then takes no notice of the unit; write =4k without the blank");
        assert_snapshot!(size("99999999999999999999"), @"is `99999999999999999999`, which is no size; write a whole number and one of the units k, m, g, t or p, with i and b, or %");
        assert_snapshot!(size("16384p"), @"is `16384p`, which is more than 2^64 bytes; make it smaller");
        assert_snapshot!(time("10seconds"), @"is `10seconds`, which is no time (fio takes it for 10 us)");
    }

    #[test]
    fn a_value_goes_for_those_behind_it() {
        let sizes = |text| {
            let mut sizes = [1, 2];
            of(text).each(&mut sizes, Text::number).map(|()| sizes)
        };
        assert_eq!(sizes("4k"), Ok([4096, 4096]));
        assert_eq!(sizes("4k,"), Ok([4096, 2]));
        assert_eq!(sizes(",8k"), Ok([1, 8192]));
        assert_eq!(sizes("4k,8k,16k"), Ok([4096, 8192]));
        assert_eq!(sizes("(1+1),(2*2)"), Ok([2, 4]));
        assert!(sizes("1,2,3,4").is_err());
    }

    #[test]
    fn ranges_are_put_in_order() {
        assert_eq!(of("4k-1k").range(Text::number), Ok((1024, 4096)));
        assert_eq!(of("1k:4k").range(Text::number), Ok((1024, 4096)));
        assert_eq!(of("8k").range(Text::number), Ok((8192, 8192)));
    }
}
