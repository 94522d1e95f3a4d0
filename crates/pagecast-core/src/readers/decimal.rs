//! Reads numbers as tables have them.

use crate::units::Nanos;

/// A time in seconds, exact to the nanosecond; further digits are cut.
pub fn seconds(text: &str) -> Option<Nanos> {
    scaled(text, 9).map(Nanos)
}

/// A decimal number times a power of ten, as a whole number; further digits are cut.
pub fn scaled(text: &str, tens: u32) -> Option<u64> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if text.contains(['e', 'E']) {
        let value = text.parse::<f64>().ok()? * 10_f64.powi(tens as i32);
        return (0.0..1.8e19).contains(&value).then_some(value.round() as u64);
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value: u64 = if whole.is_empty() { 0 } else { digits(whole)? };
    let mut fraction = fraction.bytes();
    for _ in 0..tens {
        let digit = fraction.next().unwrap_or(b'0');
        value = value.checked_mul(10)?.checked_add(digit_of(digit)?)?;
    }
    fraction.all(|digit| digit.is_ascii_digit()).then_some(value)
}

/// A whole number; "4096.0" is one.
pub fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.split_once('.') {
        None => digits(text),
        Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => digits(whole),
        Some(_) => None,
    }
}

fn digits(text: &str) -> Option<u64> {
    // `parse` takes a sign.
    if text.starts_with('+') { None } else { text.parse().ok() }
}

fn digit_of(byte: u8) -> Option<u64> {
    byte.is_ascii_digit().then(|| u64::from(byte - b'0'))
}

/// A time in seconds, with as many digits as it needs.
pub fn as_seconds(time: Nanos) -> String {
    let (whole, rest) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    match rest {
        0 => whole.to_string(),
        rest => format!("{whole}.{rest:09}").trim_end_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        for (text, nanos) in [
            ("0", 0),
            (" 1.5 ", 1_500_000_000),
            (".000000001", 1),
            ("1700000000.123456789", 1_700_000_000_123_456_789),
            ("1.0000000019", 1_000_000_001),
            ("1e-3", 1_000_000),
            ("5.", 5_000_000_000),
        ] {
            assert_eq!(seconds(text), Some(Nanos(nanos)), "{text}");
        }
        for text in [
            "",
            ".",
            "-1",
            "+1",
            "1.2.3",
            "1.x",
            "x",
            "1e30",
            "nan",
            "inf",
            "99999999999999999999",
            "1.0000000000x",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
        for nanos in [0, 1, 1_500_000_000, u64::MAX] {
            assert_eq!(seconds(&as_seconds(Nanos(nanos))), Some(Nanos(nanos)));
        }
    }

    #[test]
    fn whole_numbers_may_have_zeros_behind_a_point() {
        assert_eq!(
            ["7", "4096.0", "4096.5", "-1", "+1", ""].map(whole),
            [Some(7), Some(4096), None, None, None, None]
        );
    }
}
