//! Reads `[machine.disk.NAME]`: a disk, whose kind stands for keys that are left out.

use super::document::{Node, shorten};
use super::table::Fields;
use super::write_cache::check_write_cache;
use crate::block::Mechanics;
use crate::error::ScenarioError;
use crate::keys::{Held, Keyed, Word};
use crate::machine::{Bdi, Disk, DiskKind, Implied, IoCost, Quantiles, Raid, Rotation, WBT_SINCE};
use crate::nearest::hint;
use crate::units::Bytes;
use crate::units::Nanos;

/// The disks of a host, which cannot have all of its dirty limits as their least parts (`__bdi_set_min_ratio`).
pub fn read_disks(host: &Fields<'_>, version: (u32, u32)) -> Result<Vec<Disk>, ScenarioError> {
    let (mut disks, mut set_aside) = (Vec::new(), 0);
    for (name, node) in host.named("disk")? {
        let disk = read_disk(name, node, host, set_aside, version)?;
        set_aside += disk.bdi.min_ratio;
        disks.push(disk);
    }
    Ok(disks)
}

fn read_disk(
    name: &str,
    node: &Node,
    host: &Fields<'_>,
    set_aside: u32,
    version: (u32, u32),
) -> Result<Disk, ScenarioError> {
    let fields = Fields::open(node, Disk::SCHEMA, host.inside(&format!("disk.{}", shorten(name))))
        .map_err(|error| name_other_disks(error, name, host))?;
    let mut disk = Disk { name: name.to_owned(), ..fields.read()? };
    if let Some(kind) = fields.word("kind", DiskKind::ALL)? {
        take_from_kind(&mut disk, kind, &fields, version);
    }
    check_wbt(&fields, &disk, version)?;
    check_logical_block_size(&fields, &disk)?;
    check_write_cache(&fields, &disk)?;
    check_rotation(&fields, &disk)?;
    check_raid(&fields, &disk)?;
    check_service(&fields, &disk)?;
    check_iocost(&fields, &disk)?;
    if disk.burst > Nanos::ZERO && disk.limit_interval > Nanos::ZERO {
        return Err(fields.place("limit_interval").error(
            format!("{} has both `burst` and `limit_interval`", fields.title),
            "leave one out: a limiter's tokens come all the time, or at intervals",
        ));
    }
    check_bdi(&fields, disk.bdi, set_aside)?;
    Ok(disk)
}

/// Gives the disk what its kind has for keys that are left out.
fn take_from_kind(disk: &mut Disk, kind: DiskKind, fields: &Fields<'_>, version: (u32, u32)) {
    let max_sectors_kb = disk.queue.1.0 >> 10;
    let keys = kind.keys(version, u32::try_from(max_sectors_kb).expect("the key has bounds"));
    for (key, of_kind) in keys.into_iter().filter(|(key, _)| fields.node(key).is_none()) {
        if let Some((value, source)) = of_kind {
            disk.implied.push(Implied { key, value: print(&value), source });
            disk.set(key, value);
        }
    }
}

/// A value of a kind of disk as it is written.
fn print(value: &Held) -> String {
    match value {
        Held::Time(time) => format!("\"{} us\"", time.0 / 1000),
        Held::Whole(number) => number.to_string(),
        other => unreachable!("no kind of disk has {other:?}"),
    }
}

/// Kernels before 4.10 have no write-back throttling.
fn check_wbt(fields: &Fields<'_>, disk: &Disk, version: (u32, u32)) -> Result<(), ScenarioError> {
    if disk.wbt_lat_usec == 0 || version >= WBT_SINCE {
        return Ok(());
    }
    let (major, minor) = version;
    Err(fields.place("wbt_lat_usec").error(
        format!("Linux {major}.{minor} has no write-back throttling"),
        "name 4.10 or a later version, or leave `wbt_lat_usec` out",
    ))
}

/// No file system takes a larger logical block (`block/blk-settings.c: blk_validate_block_size`, Linux 6.15).
fn check_logical_block_size(fields: &Fields<'_>, disk: &Disk) -> Result<(), ScenarioError> {
    const MOST: Bytes = Bytes(64 << 10);
    let (least, size) = (Disk::LOGICAL_BLOCK, disk.logical_block_size);
    if size.0.is_power_of_two() && (least..=MOST).contains(&size) {
        return Ok(());
    }
    Err(fields.place("logical_block_size").error(
        format!("`logical_block_size` is {size}, but must be a power of two from {least} to 64 KiB"),
        "write for example logical_block_size = \"4 KiB\"",
    ))
}

/// A longer seek takes no less time: the three seeks must lie on such a curve.
fn check_rotation(fields: &Fields<'_>, disk: &Disk) -> Result<(), ScenarioError> {
    let Some(rotation) = disk.rotation else { return Ok(()) };
    if Mechanics::new(&rotation, disk.member_size()).is_monotone() {
        return Ok(());
    }
    let own = fields.inner("rotation", Rotation::SCHEMA)?.expect("the disk has one");
    let Rotation { track_seek, average_seek, .. } = rotation;
    Err(own.place("average_seek").error(
        format!(
            "`average_seek` is {average_seek}, between a `track_seek` of {track_seek} and a `full_seek` of {}",
            rotation.full_seek()
        ),
        "the average is a third to a half of the way from the first to the last; take all of one data sheet",
    ))
}

/// A larger part of the requests takes no less time, and a burst is no less than what is always there.
fn check_service(fields: &Fields<'_>, disk: &Disk) -> Result<(), ScenarioError> {
    for (key, quantiles) in [("service_read", disk.service_read), ("service_write", disk.service_write)] {
        let times = quantiles.iter().flat_map(Quantiles::points).map(|(_, time)| time);
        if !times.is_sorted() {
            return Err(fields.place(key).error(
                format!("the times of `{key}` do not grow from p50 to p99_999"),
                "write them as the data sheet has them, or leave out those that it does not have",
            ));
        }
    }
    let Some(iops) = disk.iops.filter(|iops| iops.burst.is_some_and(|burst| burst < iops.baseline)) else {
        return Ok(());
    };
    Err(fields.place("iops").error(
        format!("`burst` is less than `baseline`, which is {}", iops.baseline),
        "without `burst` a volume passes as many requests as `baseline` says",
    ))
}

/// The controller counts requests, and its virtual time has a least speed and a most.
fn check_iocost(fields: &Fields<'_>, disk: &Disk) -> Result<(), ScenarioError> {
    let Some(cost) = disk.iocost else { return Ok(()) };
    if !disk.serves_pages() {
        return Err(fields.place("iocost").error(
            format!("{} has `iocost`, but does not serve requests one by one", fields.title),
            "give it `service`, the time of a request, without `rotation`, `raid`, `burst` and the like",
        ));
    }
    if cost.min > cost.max {
        let own = fields.inner("iocost", IoCost::SCHEMA)?.expect("the disk has one");
        return Err(own.place("min").error(
            format!("`min` is {}, more than `max`, which is {}", cost.min, cost.max),
            "equal values hold the speed where it is",
        ));
    }
    Ok(())
}

/// An array needs disks for its data.
fn check_raid(fields: &Fields<'_>, disk: &Disk) -> Result<(), ScenarioError> {
    let Some(raid) = disk.raid.filter(|raid| !raid.has_enough_disks()) else { return Ok(()) };
    let own = fields.inner("raid", Raid::SCHEMA)?.expect("the disk has one");
    Err(own.place("disks").error(
        format!("`disks` is {}, which is not for this `level`", raid.disks),
        "it needs 2 disks at least, 3 with level = \"5\", 4 with \"6\"; an even number with \"10\"",
    ))
}

/// The ratios of a disk must fit each other, and what was set aside for other disks.
fn check_bdi(fields: &Fields<'_>, bdi: Bdi, set_aside: u32) -> Result<(), ScenarioError> {
    if bdi.min_ratio > bdi.max_ratio {
        let (least, most) = (Bdi::percent_of(bdi.min_ratio), Bdi::percent_of(bdi.max_ratio));
        return Err(fields.place("min_ratio").error(
            format!("`min_ratio` is {least}, more than `max_ratio`, which is {most}"),
            format!("a disk's least part can be {most} at most"),
        ));
    }
    let all = set_aside + bdi.min_ratio;
    if bdi.min_ratio > 0 && all >= Bdi::WHOLE {
        return Err(fields.place("min_ratio").error(
            format!("with this disk the `min_ratio` of all come to {}", Bdi::percent_of(all)),
            "those of all disks of a host must come to less than 100",
        ));
    }
    Ok(())
}

/// A disk that lacks what every disk has is often another one with its name misspelled.
fn name_other_disks(mut error: ScenarioError, name: &str, host: &Fields<'_>) -> ScenarioError {
    let named = host.named("disk").unwrap_or_default();
    let others: Vec<&str> =
        named.into_iter().map(|(other, _)| other).filter(|other| *other != name).collect();
    if error.what.contains(" has no ") && !others.is_empty() {
        error.remedy += &format!("; or {}", hint(name, others, "other disks"));
    }
    error
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::machine::{Raid, Rotation};
    use crate::scenario::testing::{PROCESS, read};
    use crate::units::Nanos;

    fn raid(keys: &str) -> Result<Option<Raid>, String> {
        let host = "cores = 1\nmemory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' }";
        let disk = format!("size = '4 TB'\nread = '1 MB/s'\nwrite = '10 MB/s'\nraid = {{ {keys} }}");
        let text = format!("[machine]\n{host}\n[machine.disk.md]\n{disk}\n{PROCESS}");
        Ok(read(&text, &[])?.machine.hosts[0].disks[0].raid)
    }

    #[test]
    fn an_array_needs_disks_for_its_data() {
        let enough = |level: &str, disks: u32| raid(&format!("level = '{level}', disks = {disks}")).is_ok();
        let least: Vec<(&str, u32)> = ["jbod", "0", "1", "5", "6", "10"]
            .into_iter()
            .map(|level| (level, (2..9).find(|disks| enough(level, *disks)).expect("some are")))
            .collect();
        assert_eq!(least, [("jbod", 2), ("0", 2), ("1", 2), ("5", 3), ("6", 4), ("10", 2)]);
        assert!(!enough("10", 5));
        assert_snapshot!(raid("level = '5', disks = 2").unwrap_err(), @r#"x.toml:8: `disks` is 2, which is not for this `level`; it needs 2 disks at least, 3 with level = "5", 4 with "6"; an even number with "10""#);
    }

    #[test]
    fn times_of_requests_grow_and_a_burst_is_no_less_than_what_is_always_there() {
        let refused = |keys: &str| {
            let host = "cores = 1\nmemory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' }";
            let disk = format!("size = '1 TB'\nread = '1 MB/s'\nwrite = '10 MB/s'\n{keys}");
            let text = format!("[machine]\n{host}\n[machine.disk.vol]\n{disk}\n{PROCESS}");
            read(&text, &[]).map(drop)
        };
        assert!(refused("service_read = { p50 = '80 us', p99 = '80 us' }").is_ok());
        assert!(refused("iops = { baseline = 3000 }").is_ok());
        assert_snapshot!(refused("service_write = { p50 = '80 us', p99_9 = '70 us' }").unwrap_err(), @"x.toml:8: the times of `service_write` do not grow from p50 to p99_999; write them as the data sheet has them, or leave out those that it does not have");
        assert_snapshot!(refused("iops = { baseline = 3000, burst = 300 }").unwrap_err(), @"x.toml:8: `burst` is less than `baseline`, which is 3000; without `burst` a volume passes as many requests as `baseline` says");
    }

    fn rotation(keys: &str) -> Result<Option<Rotation>, String> {
        let host = "cores = 1\nmemory = { size = '1 GB', read = '1 GB/s', write = '1 GB/s' }";
        let disk = format!("size = '1 TB'\nread = '1 MB/s'\nwrite = '10 MB/s'\nrotation = {{ {keys} }}");
        let text = format!("[machine]\n{host}\n[machine.disk.hdd]\n{disk}\n{PROCESS}");
        Ok(read(&text, &[])?.machine.hosts[0].disks[0].rotation)
    }

    #[test]
    fn a_disk_that_turns_has_the_seeks_of_its_data_sheet() {
        let found = rotation("rpm = 7200, track_seek = '1 ms', average_seek = '8.5 ms'").unwrap().unwrap();
        assert_eq!((found.rpm, found.full_seek(), found.inner), (7200, Nanos(17_000_000), 1.0));
        let all =
            "rpm = 10000, track_seek = '200 us', average_seek = '4 ms', full_seek = '8.1 ms', inner = 0.6";
        assert_eq!(rotation(all).unwrap().unwrap().full_seek(), Nanos(8_100_000));
    }

    #[test]
    fn seeks_that_lie_on_no_curve_are_refused() {
        let refused = |average: &str| {
            let keys =
                format!("rpm = 7200, track_seek = '1 ms', average_seek = '{average}', full_seek = '17 ms'");
            rotation(&keys).unwrap_err()
        };
        assert_snapshot!(refused("5 ms"), @"x.toml:8: `average_seek` is 5.000 ms, between a `track_seek` of 1.000 ms and a `full_seek` of 17.000 ms; the average is a third to a half of the way from the first to the last; take all of one data sheet");
        assert_snapshot!(refused("12 ms"), @"x.toml:8: `average_seek` is 12.000 ms, between a `track_seek` of 1.000 ms and a `full_seek` of 17.000 ms; the average is a third to a half of the way from the first to the last; take all of one data sheet");
    }
}
