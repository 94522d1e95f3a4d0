//! `[machine.disk.NAME]`: a disk, whose kind stands for keys that are left out.

use super::document::{Node, shorten};
use super::machine::{Rates, SHARINGS, inside};
use super::nearest::hint;
use super::schema::DISK;
use super::table::{Fields, FromNode};
use super::write_cache::read_write_cache;
use crate::error::ScenarioError;
use crate::machine::{Bdi, Disk, DiskKind, Implied, READ_AHEAD_KB, Sharing, WBT_SINCE};
use crate::units::{Bytes, Nanos};

/// How many writes the kernel's writeback throttling lets pass at first (`block/blk-wbt.c`).
const NR_REQUESTS: u32 = 16;
/// The largest request that the kernel asks for by itself (`block/blk-settings.c`, from 4.3 to 6.16).
const MAX_SECTORS_KB: u32 = 1280;

/// `BDI_RATIO_SCALE` (`include/linux/backing-dev.h`).
pub const MILLIONTHS_PER_PERCENT: f64 = 1e4;

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

/// The ratios of a disk, after so much was set aside for others. The kernel has them in millionths.
fn read_bdi(disk: &Fields<'_>, set_aside: u32) -> Result<Bdi, ScenarioError> {
    let default = Bdi::default();
    let millionths = |key| {
        let percent = disk.get::<f64>(key)?;
        Ok::<_, ScenarioError>(percent.map(|percent| (percent * MILLIONTHS_PER_PERCENT).round() as u32))
    };
    let bdi = Bdi {
        min_ratio: millionths("min_ratio")?.unwrap_or(default.min_ratio),
        max_ratio: millionths("max_ratio")?.unwrap_or(default.max_ratio),
        strict_limit: disk.get("strict_limit")?.unwrap_or(default.strict_limit),
        stable_writes: disk.get("stable_writes")?.unwrap_or(default.stable_writes),
    };
    if bdi.min_ratio > bdi.max_ratio {
        let (least, most) = (percent_of(bdi.min_ratio), percent_of(bdi.max_ratio));
        return Err(disk.place("min_ratio").error(
            format!("`min_ratio` is {least}, more than `max_ratio`, which is {most}"),
            format!("a disk's least part can be {most} at most"),
        ));
    }
    let all = set_aside + bdi.min_ratio;
    if bdi.min_ratio > 0 && all >= Bdi::WHOLE {
        return Err(disk.place("min_ratio").error(
            format!("with this disk the `min_ratio` of all come to {}", percent_of(all)),
            "those of all disks of a host must come to less than 100",
        ));
    }
    Ok(bdi)
}

/// The keys of a disk, and what its kind gives where it has none.
struct ByKind<'a, 'b> {
    disk: &'a Fields<'b>,
    kind: Option<DiskKind>,
    given: Vec<Implied>,
}

impl<'a, 'b> ByKind<'a, 'b> {
    fn of(disk: &'a Fields<'b>) -> Result<Self, ScenarioError> {
        Ok(Self { disk, kind: disk.word("kind", &DiskKind::ALL)?, given: Vec::new() })
    }

    /// The value of a key; or else that of the kind, with its source.
    fn get<T: FromNode + Copy>(
        &mut self,
        key: &'static str,
        of_kind: impl FnOnce(DiskKind) -> Option<(T, &'static str)>,
        print: impl FnOnce(T) -> String,
    ) -> Result<Option<T>, ScenarioError> {
        if let Some(given) = self.disk.get(key)? {
            return Ok(Some(given));
        }
        let implied = self.kind.and_then(of_kind);
        self.given.extend(implied.map(|(value, source)| Implied { key, value: print(value), source }));
        Ok(implied.map(|(value, _)| value))
    }

    fn number(
        &mut self,
        key: &'static str,
        of_kind: impl FnOnce(DiskKind) -> Option<(u32, &'static str)>,
    ) -> Result<Option<u32>, ScenarioError> {
        self.get(key, of_kind, |value| value.to_string())
    }

    fn time(
        &mut self,
        key: &'static str,
        of_kind: impl FnOnce(DiskKind) -> Option<(Nanos, &'static str)>,
    ) -> Result<Nanos, ScenarioError> {
        let print = |time: Nanos| format!("\"{} us\"", time.0 / 1000);
        Ok(self.get(key, of_kind, print)?.unwrap_or_default())
    }
}

/// The latency at which write-back throttling aims, 0 if it is off. Kernels before 4.10 have none.
fn read_wbt(by_kind: &mut ByKind<'_, '_>, version: (u32, u32)) -> Result<u32, ScenarioError> {
    let lat_usec = by_kind.number("wbt_lat_usec", |kind| kind.wbt_lat_usec(version))?.unwrap_or(0);
    let disk = by_kind.disk;
    if lat_usec > 0 && version < WBT_SINCE {
        let (major, minor) = version;
        return Err(disk.place("wbt_lat_usec").error(
            format!("Linux {major}.{minor} has no write-back throttling"),
            "name 4.10 or a later version, or leave `wbt_lat_usec` out",
        ));
    }
    Ok(lat_usec)
}

/// The logical block, which no file system takes larger than this (`block/blk-settings.c: blk_validate_block_size`, Linux 6.15).
fn read_logical_block_size(disk: &Fields<'_>) -> Result<Bytes, ScenarioError> {
    const MOST: Bytes = Bytes(64 << 10);
    let least = Disk::LOGICAL_BLOCK;
    let size = disk.get("logical_block_size")?.unwrap_or(least);
    if size.0.is_power_of_two() && (least..=MOST).contains(&size) {
        return Ok(size);
    }
    Err(disk.place("logical_block_size").error(
        format!("`logical_block_size` is {size}, but must be a power of two from {least} to 64 KiB"),
        "write for example logical_block_size = \"4 KiB\"",
    ))
}

/// Millionths as percent.
fn percent_of(millionths: u32) -> f64 {
    f64::from(millionths) / MILLIONTHS_PER_PERCENT
}

fn read_disk(
    name: &str,
    node: &Node,
    host: &Fields<'_>,
    set_aside: u32,
    version: (u32, u32),
) -> Result<Disk, ScenarioError> {
    let fields = Fields::open(node, &DISK, inside(host, &format!("disk.{}", shorten(name))))
        .map_err(|error| name_other_disks(error, name, host))?;
    let mut by_kind = ByKind::of(&fields)?;
    let nr_requests = by_kind.number("nr_requests", |kind| Some(kind.nr_requests()))?.unwrap_or(NR_REQUESTS);
    let max_sectors_kb = fields.get("max_sectors_kb")?.unwrap_or(MAX_SECTORS_KB);
    let long = |kind: DiskKind| kind.read_ahead_kb(version, max_sectors_kb);
    Ok(Disk {
        name: name.to_owned(),
        size: fields.need("size")?,
        read: fields.need("read")?,
        write: fields.need("write")?,
        sharing: fields.word("sharing", &SHARINGS)?.unwrap_or(Sharing::Total),
        read_at: fields.get::<Rates>("read_at")?.map_or(Vec::new(), |rates| rates.0),
        write_at: fields.get::<Rates>("write_at")?.map_or(Vec::new(), |rates| rates.0),
        queue: (nr_requests, Bytes(u64::from(max_sectors_kb) << 10)),
        queue_depth: by_kind.number("queue_depth", DiskKind::queue_depth)?,
        wbt_lat_usec: read_wbt(&mut by_kind, version)?,
        read_ahead: Bytes(u64::from(by_kind.number("read_ahead_kb", long)?.unwrap_or(READ_AHEAD_KB)) << 10),
        latency: by_kind.time("latency", DiskKind::latency)?,
        seek: by_kind.time("seek", DiskKind::seek)?,
        logical_block_size: read_logical_block_size(&fields)?,
        write_latency: fields.get("write_latency")?.unwrap_or_default(),
        flush: fields.get("flush")?.unwrap_or_default(),
        burst: fields.get("burst")?.unwrap_or_default(),
        write_cache: read_write_cache(&fields, fields.need("write")?)?,
        unevenness: fields.get("unevenness")?.unwrap_or(0.0),
        bdi: read_bdi(&fields, set_aside)?,
        implied: by_kind.given,
    })
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
