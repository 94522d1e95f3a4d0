//! Reads the values that have a form of their own: splits, zones, distributions, flags of sync_file_range(2).

use std::sync::Arc;

use crate::readers::fio::job::{Distribution, Generator, Hint, Split, Zone};
use crate::readers::fio::steady::{Criterion, Measure};
use crate::readers::fio::values::{Amount, Text};
use crate::readers::fio::wrong::Wrong;
use crate::workload::{SyncRangeFlag, SyncRangeFlags};

/// The most sizes of `bssplit` (`BSSPLIT_MAX`).
const MOST_SPLITS: usize = 64;

/// The most zones of a distribution (`ZONESPLIT_MAX`).
const MOST_ZONES: usize = 256;

/// The words of `fadvise_hint`.
pub const ADVICE: [(&str, Hint); 4] =
    [("0", Hint::None), ("1", Hint::ByPattern), ("sequential", Hint::Sequential), ("random", Hint::Random)];

/// The words of `random_generator`.
pub fn random_words() -> [(&'static str, Generator); 3] {
    [
        ("tausworthe", Generator::Tausworthe),
        ("lfsr", Generator::Lfsr),
        ("tausworthe64", Generator::Tausworthe64),
    ]
}

/// `sync_file_range`: flags with commas between them, and behind a colon after how many writes.
pub fn sync_range(value: Text<'_>) -> Result<(SyncRangeFlags, u32), Wrong> {
    let text = value.needed()?;
    let (flags, count) = match text.split_once(':') {
        Some((flags, count)) => (flags, value.of(count).number_in(1, i32::MAX as u64)? as u32),
        None => (text, 1),
    };
    let words = [
        ("wait_before", SyncRangeFlag::WaitBefore),
        ("write", SyncRangeFlag::Write),
        ("wait_after", SyncRangeFlag::WaitAfter),
    ];
    let found: Result<SyncRangeFlags, Wrong> =
        flags.split(',').map(|word| value.of(word).word(&words).map(|(flag, _)| flag)).collect();
    Ok((found?, count))
}

/// `steadystate`: what is measured, and behind a colon the limit.
pub fn steady(value: Text<'_>) -> Result<Criterion, Wrong> {
    let words = [
        ("iops", (Measure::Iops, false)),
        ("iops_slope", (Measure::Iops, true)),
        ("bw", (Measure::Bandwidth, false)),
        ("bw_slope", (Measure::Bandwidth, true)),
    ];
    let ((measure, is_slope), rest) = value.word(&words)?;
    let rest = rest.ok_or_else(|| Wrong::new("has no limit", "write for example iops_slope:0.1%"))?;
    let (limit, is_share) = match rest.split_once('%') {
        Some((share, _)) => (value.of(share.trim_end()).float()?, true),
        None if measure == Measure::Iops => (value.of(rest).float()?, false),
        None => (value.of(rest).number()? as f64, false),
    };
    Ok(Criterion { measure, is_slope, is_share, limit })
}

/// What `random_distribution` says.
pub fn distribution(value: Text<'_>) -> Result<Distribution, Wrong> {
    #[derive(Clone, Copy)]
    enum Kind {
        Uniform,
        Zipf,
        Pareto,
        Normal,
        Zoned,
        Absolute,
    }
    let words = [
        ("random", Kind::Uniform),
        ("zipf", Kind::Zipf),
        ("pareto", Kind::Pareto),
        ("normal", Kind::Normal),
        ("gauss", Kind::Normal),
        ("zoned", Kind::Zoned),
        ("zoned_abs", Kind::Absolute),
    ];
    let (kind, rest) = value.word(&words)?;
    let shape = |default: f64| shape(value, rest, default);
    match kind {
        Kind::Uniform => Ok(Distribution::Uniform),
        Kind::Zipf => {
            let (theta, centre) = shape(1.1)?;
            if theta == 1.0 || theta < 0.0 {
                return Err(Wrong::new(
                    "has theta 1, for which fio has no formula",
                    "take for example zipf:1.1",
                ));
            }
            Ok(Distribution::Zipf(theta, centre))
        }
        Kind::Pareto => {
            let (power, centre) = shape(0.2)?;
            if power <= 0.0 || power >= 1.0 {
                return Err(Wrong::new(
                    format!("has power {power}, but must be between 0 and 1"),
                    "take for example pareto:0.2",
                ));
            }
            Ok(Distribution::Pareto(power, centre))
        }
        Kind::Normal => {
            let (deviation, centre) = shape(0.0)?;
            if !(0.0..100.0).contains(&deviation) {
                return Err(Wrong::new(
                    format!("has deviation {deviation}, but must be from 0 to below 100"),
                    "take for example normal:10",
                ));
            }
            Ok(Distribution::Normal(deviation, centre))
        }
        Kind::Zoned => zones(value, rest, false).map(Distribution::Zoned),
        Kind::Absolute => zones(value, rest, true).map(Distribution::ZonedAbsolute),
    }
}

/// The number of a distribution, and its centre, if given.
fn shape(value: Text<'_>, rest: Option<&str>, default: f64) -> Result<(f64, Option<f64>), Wrong> {
    let Some(rest) = rest else { return Ok((default, None)) };
    let (number, centre) =
        rest.split_once(':').map_or((rest, None), |(number, centre)| (number, Some(centre)));
    let number = value.of(number).float()?;
    let Some(centre) = centre else { return Ok((number, None)) };
    let centre = value.of(centre).float()?;
    if !(0.0..=1.0).contains(&centre) {
        return Err(Wrong::new(
            format!("has its centre at {centre}, but must have it from 0 to 1"),
            "write for example zipf:1.2:0.25",
        ));
    }
    Ok((number, Some(centre)))
}

/// Zones for reads and writes: what is behind the first comma is for writes.
fn zones(value: Text<'_>, rest: Option<&str>, is_absolute: bool) -> Result<[Arc<[Zone]>; 2], Wrong> {
    let rest = rest.ok_or_else(|| Wrong::new("has no zones", "write for example zoned:60/10:40/90"))?;
    let mut lists = rest.split(',').map(|list| zone_list(value, list, is_absolute));
    let reads = lists.next().expect("a split has a first part")?;
    let writes = lists.next().transpose()?.unwrap_or_else(|| Arc::clone(&reads));
    Ok([reads, writes])
}

fn zone_list(value: Text<'_>, list: &str, is_absolute: bool) -> Result<Arc<[Zone]>, Wrong> {
    let entries: Vec<&str> = list.split(':').filter(|entry| !entry.is_empty()).collect();
    if entries.len() > MOST_ZONES {
        return Err(Wrong::new(
            format!("has {} zones, and fio takes {MOST_ZONES}", entries.len()),
            "use fewer",
        ));
    }
    let mut zones = Vec::with_capacity(entries.len());
    for entry in entries {
        let (percent, length) = entry.split_once('/').unwrap_or((entry, ""));
        let percent = value.of(percent).number_in(0, 100)? as u32;
        let length = match value.of(length) {
            empty if empty.text == Some("") => None,
            length if is_absolute => Some(length.number()?),
            length => Some(share(length)?),
        };
        zones.push((percent, length));
    }
    let accessed: u32 = zones.iter().map(|&(percent, _)| percent).sum();
    if accessed != 100 {
        return Err(Wrong::new(
            format!("has zones with {accessed}% of the requests"),
            "let them add up to 100",
        ));
    }
    let missing = zones.iter().filter(|(_, length)| length.is_none()).count() as u64;
    let given: u64 = zones.iter().filter_map(|&(_, length)| length).fold(0, u64::saturating_add);
    if !is_absolute && given > 100 {
        return Err(Wrong::new(format!("has zones that are {given}% of the file"), "let them add up to 100"));
    }
    let rest = if is_absolute || missing == 0 { 0 } else { (100 - given) / missing };
    Ok(zones.into_iter().map(|(percent, length)| Zone { percent, length: length.unwrap_or(rest) }).collect())
}

/// A whole number of per cent, with or without `%`.
fn share(value: Text<'_>) -> Result<u64, Wrong> {
    match value.amount()? {
        Amount::Percent(percent) => Ok(u64::from(percent)),
        Amount::Bytes(_) => value.number_in(0, 100),
    }
}

/// `bssplit` for reads and writes, in fio's order: least share first.
pub fn splits(value: Text<'_>) -> Result<[Arc<[Split]>; 2], Wrong> {
    let mut lists = value.needed()?.split(',').map(|list| split_list(value, list));
    let reads = lists.next().expect("a split has a first part")?;
    let writes = lists.next().transpose()?.unwrap_or_else(|| Arc::clone(&reads));
    Ok([reads, writes])
}

fn split_list(value: Text<'_>, list: &str) -> Result<Arc<[Split]>, Wrong> {
    let entries: Vec<&str> = list.split(':').filter(|entry| !entry.is_empty()).collect();
    if entries.len() > MOST_SPLITS {
        return Err(Wrong::new(
            format!("has {} sizes, and fio takes {MOST_SPLITS}", entries.len()),
            "use fewer",
        ));
    }
    let mut splits = Vec::with_capacity(entries.len());
    for entry in entries {
        let (bytes, percent) = entry.split_once('/').unwrap_or((entry, ""));
        let bytes = value.of(bytes).number_in(1, u64::MAX)?;
        // fio takes 0 for one that is left open.
        let percent = if percent.is_empty() { 0 } else { share(value.of(percent))? as u32 };
        splits.push(Split { bytes, percent });
    }
    let given: u32 = splits.iter().map(|split| split.percent).sum();
    let missing = splits.iter().filter(|split| split.percent == 0).count() as u32;
    if given > 100 {
        return Err(Wrong::new(format!("has shares of {given}%"), "let them add up to 100"));
    }
    for split in &mut splits {
        if split.percent == 0 {
            split.percent = (100 - given) / missing;
        }
    }
    splits.sort_by_key(|split| split.percent);
    Ok(splits.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Text<'_> {
        Text { text: Some(text), kb_base: 1024 }
    }

    #[test]
    fn shares_that_are_left_open_get_the_rest() {
        let [reads, writes] = splits(of("4k/10:64k/50:32k/,8k")).unwrap();
        assert_eq!(
            reads.iter().map(|split| (split.bytes, split.percent)).collect::<Vec<_>>(),
            [(4096, 10), (32768, 40), (65536, 50)]
        );
        assert_eq!(*writes, [Split { bytes: 8192, percent: 100 }]);
        assert!(splits(of("4k/60:8k/60")).is_err());
    }

    #[test]
    fn zones_are_fios() {
        let Distribution::Zoned([reads, _]) = distribution(of("zoned:50/5:30/15:20/")).unwrap() else {
            panic!()
        };
        assert_eq!(
            reads.iter().map(|zone| (zone.percent, zone.length)).collect::<Vec<_>>(),
            [(50, 5), (30, 15), (20, 80)]
        );
        assert!(distribution(of("zoned:50/5")).is_err());
        let Distribution::ZonedAbsolute([_, writes]) =
            distribution(of("zoned_abs:60/1m:40/1g,100/2k")).unwrap()
        else {
            panic!()
        };
        assert_eq!(*writes, [Zone { percent: 100, length: 2048 }]);
    }

    #[test]
    fn limits_of_a_steady_state_have_units() {
        let Criterion { measure, is_slope, is_share, limit } = steady(of("bw_slope:10k")).unwrap();
        assert_eq!((measure, is_slope, is_share, limit), (Measure::Bandwidth, true, false, 10240.0));
        let Criterion { measure, is_slope, is_share, limit } = steady(of("iops:0.2 %")).unwrap();
        assert_eq!((measure, is_slope, is_share, limit), (Measure::Iops, false, true, 0.2));
        assert!(steady(of("iops")).is_err() && steady(of("lat:3")).is_err());
    }

    #[test]
    fn distributions_have_defaults() {
        assert_eq!(distribution(of("zipf")), Ok(Distribution::Zipf(1.1, None)));
        assert_eq!(distribution(of("pareto:0.9:0.5")), Ok(Distribution::Pareto(0.9, Some(0.5))));
        assert!(distribution(of("zipf:1")).is_err());
        assert!(distribution(of("normal:100")).is_err());
    }
}
