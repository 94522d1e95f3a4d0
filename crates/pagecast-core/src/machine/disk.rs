//! Describes a disk, an SSD or anything else with blocks: its rates, its queue, its cache, its part of the dirty limits.

use super::disk_kind::{DiskKind, Implied, READ_AHEAD_KB};
use super::disk_raid::Raid;
use super::disk_rotation::Rotation;
use super::disk_service::{Iops, Quantiles, San};
use super::io::IoCost;
use super::memory::Sharing;
use crate::keys::{
    FLAG, Kind, MILLIONTHS_PER_PERCENT, RATE, RATES, SIZE, TIME, Word, keys, kib, millionths, number, table,
    whole, word,
};
use crate::units::{Bytes, BytesPerSecond, Nanos};

keys! {
    /// A disk, an SSD or anything else with blocks.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Disk: "disk" {
        /// The key of its table in the machine file.
        pub name: String,
        /// Shipped disk or path of a file with its keys; the keys beside it override it
        ///
        /// `pagecast machine list --disks` names the shipped ones. A path has a slash or ends in `.toml`, and is relative to this file.
        #[key(Kind::Text, absent = "nothing")]
        only from,
        /// Room for all files on it
        #[key(SIZE, required)]
        pub size: Bytes,
        /// One reader's rate
        #[key(RATE, required)]
        pub read: BytesPerSecond,
        /// One writer's rate
        #[key(RATE, required)]
        pub write: BytesPerSecond,
        /// How readers and writers share it
        ///
        /// As for memory.
        #[key(word::<Sharing>(), shown = Sharing::Total)]
        pub sharing: Sharing,
        /// Its requests, throttling and latency where no key says otherwise
        ///
        /// They are [those that Linux sets](#kinds-of-disks) for such a disk.
        #[key(Kind::Word(DiskKind::WORDS), absent = "as each key says")]
        only kind,
        /// Total rate at so many concurrent reads; linear between, constant outside
        ///
        /// `{ "1" = "511 MB/s", "31" = "583 MB/s" }`. Without it: `read`.
        #[key(RATES, default = Vec::new())]
        pub read_at: Vec<(u32, BytesPerSecond)>,
        /// Total rate at so many concurrent writes
        ///
        /// Without it: `write`.
        #[key(RATES, default = Vec::new())]
        pub write_at: Vec<(u32, BytesPerSecond)>,
        /// How many requests of how many bytes may be on their way to it: what is under writeback at most.
        pub queue: (u32, Bytes),
        /// Requests on their way to it at most
        ///
        /// The default is what write-back throttling lets pass at first (`block/blk-wbt.c`).
        #[key(whole(1, 1 << 30), shown = 16)]
        #[name = "nr_requests"]
        in queue.0,
        /// Above 0: write-back throttling leaves write-back a part of the requests
        ///
        /// `/sys/block/*/queue/wbt_lat_usec`. [The part](../concepts/kernel/block.md#write-back-throttling) depends on why it writes, and not on how much
        /// above 0 this is. Linux 4.10 and later. Only `kernel` looks at this key and the next one.
        #[key(whole(0, u32::MAX), default = 0)]
        pub wbt_lat_usec: u32,
        /// Requests that write-back throttling counts with
        ///
        /// `/sys/block/*/device/queue_depth` of SCSI disks.
        #[key(whole(1, 1 << 30), absent = "`nr_requests`")]
        pub queue_depth: Option<u32>,
        /// KiB of one request
        ///
        /// The product of it and `nr_requests` is what is under writeback at most. The default is the largest request that the kernel asks for by
        /// itself (`block/blk-settings.c`, from 4.3 to 6.16).
        #[key(kib(4, 1 << 20), shown = Bytes(1280 << 10))]
        #[name = "max_sectors_kb"]
        in queue.1,
        /// KiB read ahead of a sequential reader at most
        ///
        /// Linux 6.17 and later take twice `max_sectors_kb` for disks that turn. Only `kernel` reads ahead.
        #[key(kib(0, 1 << 20), shown = Bytes((READ_AHEAD_KB as u64) << 10))]
        #[name = "read_ahead_kb"]
        pub read_ahead: Bytes,
        /// Time of a read request before its bytes come
        ///
        /// Only `kernel` looks at it.
        #[key(TIME, shown = Nanos::ZERO)]
        pub latency: Nanos,
        /// Time of a direct write besides its bytes
        ///
        /// A durable write (O_SYNC, O_DSYNC) takes `flush` instead, which includes it. Only `kernel` looks at it.
        #[key(TIME, default = Nanos::ZERO)]
        pub write_latency: Nanos,
        /// A flush of its own cache, which makes writes durable
        ///
        /// Time besides that of the bytes: a flush of the disk's own cache (REQ_PREFLUSH), or waiting until a write has passed it (FUA). Paid by each
        /// `fsync` and `fdatasync`, by `sync` for every disk with a mount, and by each call of a write with O_SYNC or O_DSYNC, direct or not. With 0 the
        /// disk has no cache, or one that keeps its bytes without power. It does not depend on how much is in `write_cache`, which is mostly flash or
        /// memory with power of its own: a flush does not wait for it. Only `kernel` looks at it.
        #[key(TIME, default = Nanos::ZERO)]
        pub flush: Nanos,
        /// Extra time of a request that does not begin near where the one before it ended
        ///
        /// It begins more than 4 MiB from there, or in another file: operations past the page cache, and short reads that miss. With 0 the disk
        /// does not turn. Only `kernel` looks at it, and not for write-back.
        #[key(TIME, default = Nanos::ZERO)]
        pub seek: Nanos,
        /// How fast it turns and how long its head takes to another track; stands in for `seek`
        ///
        /// `{ rpm = 7200, track_seek = "1 ms", average_seek = "8.5 ms" }`; [its keys](#machine-disk-name-rotation). Write-back then pays for each place
        /// on the disk that it goes to, and direct I/O goes [request by request](../concepts/devices.md#disks-that-turn). Only `kernel` looks at it.
        #[key(table::<Rotation>(), absent = "it does not turn")]
        pub rotation: Option<Rotation>,
        /// It is an array of equal disks
        ///
        /// `{ level = "5", disks = 5, chunk = "64 KiB" }`; [its keys](#machine-disk-name-raid). `size` is then the room of all of them together, and the other keys are
        /// [those of each](../concepts/devices.md#arrays).
        #[key(table::<Raid>(), absent = "it is one disk")]
        pub raid: Option<Raid>,
        /// Time of the disk for each request
        ///
        /// With it direct I/O, pages that are missed or read ahead, write-back and journals go request by request through `scheduler` ([one by
        /// one](../concepts/kernel/block.md#requests-one-by-one)), and `latency` and `write_latency` are not added there; of a disk with `rotation`,
        /// `raid`, `burst`, `write_cache`, `unevenness`, `read_at` or `write_at` direct I/O alone. null_blk's `completion_nsec`. Only `kernel` looks at this and the next five.
        #[key(TIME, default = Nanos::ZERO)]
        pub service: Nanos,
        /// Requests that the disk serves at once
        ///
        /// The tags of its queue. It needs `service`.
        #[key(whole(1, 1 << 20), absent = "`nr_requests`")]
        pub hw_queue_depth: Option<u32>,
        /// The order in which requests go to the disk
        ///
        /// `/sys/block/*/queue/scheduler`. It needs `service`. The last three are of the single queue, which kernels before 5.0 have.
        #[key(word::<Scheduler>(), default = Scheduler::None)]
        pub scheduler: Scheduler,
        /// Times of reads, drawn with the seed; they stand in for `service`
        ///
        /// `{ p50 = "76 us", p99 = "96 us" }`; [its keys](#machine-disk-name-service-read). Their bytes then move at `read` and `write` at most.
        #[key(table::<Quantiles>(), absent = "`service`")]
        pub service_read: Option<Quantiles>,
        /// Times of writes, drawn likewise
        #[key(table::<Quantiles>(), absent = "`service`")]
        pub service_write: Option<Quantiles>,
        /// Requests that a cloud lets pass in a second
        ///
        /// `{ baseline = 300, burst = 3000, credits = 5400000 }`; [its keys](#machine-disk-name-iops). Their bytes pass at `read` and `write` at most.
        #[key(table::<Iops>(), absent = "any number")]
        pub iops: Option<Iops>,
        /// It is elsewhere, behind a link
        ///
        /// `{ rate = "200 MB/s", round_trip = "300 us" }`; [its keys](#machine-disk-name-san). Reads and writes share the rate; only `kernel` adds the
        /// round trip to `latency`, `write_latency`, `flush` and each request.
        #[key(table::<San>(), absent = "it is in the host")]
        pub san: Option<San>,
        /// Cgroups share it by their weights (`io.weight`), by what each request costs
        ///
        /// `{ wbps = "90 MB/s", max = 100 }`: `io.cost.model` and `io.cost.qos` of the root with `enable=1`; [its keys](#machine-disk-name-iocost).
        /// It needs `service`.
        #[key(table::<IoCost>(), absent = "weights do nothing")]
        pub iocost: Option<IoCost>,
        /// Least that it reads or writes
        ///
        /// `/sys/block/*/queue/logical_block_size`: with `O_DIRECT` [every call is of whole blocks](#flags-of-open). A power of two up to 64 KiB.
        #[key(SIZE, default = Disk::LOGICAL_BLOCK)]
        pub logical_block_size: Bytes,
        /// A limiter lets pass at once, after idle time, what it moves in so long
        ///
        /// The limiter is `io.max`, `blkio.throttle` or a cloud's. It never lets more pass than the disk moves in `burst`. Reads and writes that come at one instant share it fairly. With 0
        /// there is no limiter.
        #[key(TIME, shown = Nanos::ZERO)]
        pub burst: Nanos,
        /// A limiter gives out what the disk moves in so long at once, and lets nothing pass when that is used up
        ///
        /// null_blk does so every 20 ms, when its `mbps` is set. Most calls are then as fast as without a limiter, and a few wait for the next interval. Not beside `burst`. With
        /// 0 there is none.
        #[key(TIME, shown = Nanos::ZERO)]
        pub limit_interval: Nanos,
        /// Its own cache, into which writes go faster while it has room
        ///
        /// `{ size = "300 MB", rate = "2.5 GB/s" }`: memory of its own, or flash that takes writes faster; [its keys](#machine-disk-name-write-cache). Not beside `burst`.
        /// See [flows](../concepts/flows-and-sharing.md#write-caches).
        #[key(table::<WriteCache>(), absent = "none")]
        pub write_cache: Option<WriteCache>,
        /// Coefficient of variation of the service of equal streams
        ///
        /// Their ends spread by about half of it. With 0 they are served fairly.
        #[key(number(0.0, 1.0), shown = 0.0)]
        pub unevenness: f64,
        /// Its part of the dirty limits.
        flat bdi: Bdi,
        /// Which of these its kind has given, where its file has no key.
        pub implied: Vec<Implied>,
    }
}

/// The schedulers of `/sys/block/*/queue/scheduler`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// First come, first served.
    #[default]
    None,
    /// Reads before writes, within deadlines.
    MqDeadline,
    /// Tokens for reads and writes.
    Kyber,
    /// Budgets of sectors for threads, by their weights.
    Bfq,
    /// Of the single queue: reads before writes, within deadlines.
    Deadline,
    /// Of the single queue: waits for the next read of a thread.
    Anticipatory,
    /// Of the single queue: slices of time for threads, by their priorities.
    Cfq,
}

impl Word for Scheduler {
    const ALL: &'static [Self] = &[
        Self::None,
        Self::MqDeadline,
        Self::Kyber,
        Self::Bfq,
        Self::Deadline,
        Self::Anticipatory,
        Self::Cfq,
    ];
    const WORDS: &'static [&'static str] =
        &["none", "mq-deadline", "kyber", "bfq", "deadline", "anticipatory", "cfq"];
}

impl Disk {
    /// The logical block of most disks (`include/linux/blk_types.h: SECTOR_SIZE`).
    pub const LOGICAL_BLOCK: Bytes = Bytes(512);

    /// True if it has a cache that loses its bytes without power.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        self.flush > Nanos::ZERO || self.rotation.is_some_and(|rotation| rotation.cache.is_some())
    }

    /// True if direct I/O to it goes request by request.
    #[must_use]
    pub fn serves_requests(&self) -> bool {
        let has_limits = self.rotation.is_some() || self.iops.is_some();
        self.service > Nanos::ZERO || self.has_drawn_times() || has_limits
    }

    /// True if pages of it come and go by requests, too.
    #[must_use]
    pub fn serves_pages(&self) -> bool {
        let is_of_flows = self.burst > Nanos::ZERO
            || self.write_cache.is_some()
            || self.unevenness > 0.0
            || !self.read_at.is_empty()
            || !self.write_at.is_empty();
        self.serves_requests() && self.rotation.is_none() && self.raid.is_none() && !is_of_flows
    }

    /// True if the times of its requests are drawn.
    #[must_use]
    pub fn has_drawn_times(&self) -> bool {
        self.service_read.is_some() || self.service_write.is_some()
    }

    /// The size of each disk of an array; of a lone disk its own.
    #[must_use]
    pub fn member_size(&self) -> Bytes {
        self.raid.map_or(self.size, |raid| Bytes(self.size.0 / u64::from(raid.data_disks())))
    }

    /// The disks among which long reads and long writes are shared.
    #[must_use]
    pub fn streaming(&self) -> (u32, u32) {
        self.raid.map_or((1, 1), |raid| raid.streaming())
    }
}

keys! {
    /// The memory of a disk that takes writes before they are kept.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct WriteCache: "write_cache" {
        /// Bytes that it holds
        #[key(SIZE, required)]
        pub size: Bytes,
        /// Rate of writes while it has room; more than `write`
        #[key(RATE, required)]
        pub rate: BytesPerSecond,
        /// Rate at which the disk empties it
        ///
        /// No more than `write`, less what reads take of its time.
        #[key(RATE, absent = "`write`")]
        pub drain: Option<BytesPerSecond>,
    }
}

keys! {
    /// The settings of `/sys/class/bdi/` that bear on a disk's part of the dirty limits and on pages under writeback, with the kernel's
    /// names and defaults. Ratios are in millionths, as `min_ratio_fine` is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Bdi: "bdi" {
        /// Its least part of the dirty limits, percent
        ///
        /// Also if it was idle: `/sys/class/bdi/*/min_ratio`, or `min_ratio_fine` for fractions. Those of all disks of a host come to less than 100;
        /// only `kernel` looks at this and the next three.
        #[key(millionths(99.9999), default = 0)]
        pub min_ratio: u32,
        /// Its largest part of them, percent
        ///
        /// Not less than `min_ratio`.
        #[key(millionths(100.0), default = Bdi::WHOLE)]
        pub max_ratio: u32,
        /// Whether its part is a limit of its own
        ///
        /// With true its part alone holds writers back, however little is dirty elsewhere. FUSE has true and a `max_ratio` of 1.
        #[key(FLAG, default = false)]
        pub strict_limit: bool,
        /// Whether pages must not change on their way to it
        ///
        /// With true a writer of a page under writeback waits until the disk has it. zram and disks with checksums have true in
        /// `queue/stable_writes`, once `bdi/stable_pages_required`.
        #[key(FLAG, default = false)]
        pub stable_writes: bool,
    }
}

impl Bdi {
    /// All of the limits, in millionths.
    pub const WHOLE: u32 = 1_000_000;

    /// Millionths as percent.
    #[must_use]
    pub fn percent_of(millionths: u32) -> f64 {
        f64::from(millionths) / MILLIONTHS_PER_PERCENT
    }
}
