//! Reads bandwidths and latencies as SimGrid writes them: "125MBps", "1Gbps", "50us".
//!
//! Source: the notes at the top of `simgrid.dtd`, SimGrid 4.1. A number without a unit is bytes per second, or seconds.

use crate::units::{BytesPerSecond, Nanos};

/// The number at the start of a text, and its unit.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    // An "e" belongs to the number if digits follow, and to a unit such as "EBps" never: those are upper case.
    let end = text
        .char_indices()
        .find(|&(at, c)| {
            let is_exponent = matches!(c, 'e' | 'E')
                && text[at + 1..].trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
            let is_sign = matches!(c, '+' | '-') && (at == 0 || text[..at].ends_with(['e', 'E']));
            !(c.is_ascii_digit() || c == '.' || is_exponent || is_sign)
        })
        .map_or(text.len(), |(at, _)| at);
    let number: f64 = text[..end].parse().ok()?;
    (number.is_finite() && number >= 0.0).then(|| (number, text[end..].trim_start()))
}

/// A bandwidth.
pub fn bandwidth(text: &str) -> Option<BytesPerSecond> {
    let (number, unit) = split(text)?;
    let factor = if unit.is_empty() { 1.0 } else { bytes_per_second(unit)? };
    (number > 0.0).then_some(BytesPerSecond(number * factor))
}

fn bytes_per_second(unit: &str) -> Option<f64> {
    let (scale, of_byte) = match unit.strip_suffix("Bps") {
        Some(scale) => (scale, 1.0),
        None => (unit.strip_suffix("bps")?, 1.0 / 8.0),
    };
    let (letter, base) = match scale.strip_suffix('i') {
        Some(letter) => (letter, 1024.0_f64),
        None => (scale, 1000.0),
    };
    let power = match letter {
        "" if base == 1000.0 => 0,
        "k" if base == 1000.0 => 1,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        "E" => 6,
        _ => return None,
    };
    Some(base.powi(power) * of_byte)
}

/// A latency.
pub fn latency(text: &str) -> Option<Nanos> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "" | "s" => 1.0,
        "w" => 7.0 * 86_400.0,
        "d" => 86_400.0,
        "h" => 3_600.0,
        "m" => 60.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        "ps" => 1e-12,
        _ => return None,
    };
    let nanos = (number * seconds * 1e9).round();
    (nanos < Nanos::LAST.0 as f64).then_some(Nanos(nanos as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_bytes_or_bits() {
        let of = |text| bandwidth(text).map(|rate| rate.0);
        assert_eq!(
            ["125MBps", "1Gbps", "1.25GBps", "1KiBps", "8kbps", "1e9", " 100 kBps "].map(of),
            [125e6, 125e6, 1.25e9, 1024.0, 1e3, 1e9, 1e5].map(Some)
        );
        assert_eq!(["", "Bps", "1 MB/s", "-1Bps", "0Bps", "1kiBps", "infBps", "1iBps"].map(of), [None; 8]);
    }

    #[test]
    fn latencies_are_whole_nanoseconds() {
        let of = |text| latency(text).map(|time| time.0);
        assert_eq!(
            ["50us", "0", "5.70455ms", "1.5", "2m", "600ps", "1e-3s"].map(of),
            [50_000, 0, 5_704_550, 1_500_000_000, 120_000_000_000, 1, 1_000_000].map(Some)
        );
        assert_eq!(["us", "1 fortnight", "-1s", "1e30s"].map(of), [None; 4]);
    }
}
