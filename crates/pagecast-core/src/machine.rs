//! What the hardware and its kernel settings are: hosts, memory, disks, mounts and links.
//!
//! Plain data without behaviour; `device` and `net` turn it into resources that flows share.

mod disk_kind;

use crate::units::{Bytes, BytesPerSecond, Nanos};

pub use disk_kind::{DiskKind, Implied, READ_AHEAD_KB, WBT_SINCE};

/// All hosts of a scenario and the links between them. A scenario with one `[machine]` has one host.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// At least one; the first is where processes run that name no host.
    pub hosts: Vec<Host>,
    /// Connections between hosts.
    pub links: Vec<Link>,
}

/// One computer.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// "machine" if the scenario has just one.
    pub name: String,
    /// Number of processors that `compute` runs on, and copies of the policy `kernel`.
    pub cores: u32,
    /// Main memory.
    pub memory: Memory,
    /// The kernel's `vm.*` settings.
    pub vm: VmSettings,
    /// Which kernel it runs.
    pub kernel: Kernel,
    /// Memory cgroups; processes refer to them by index.
    pub cgroups: Vec<Cgroup>,
    /// Disks; mounts refer to them by index.
    pub disks: Vec<Disk>,
    /// Mount points, none of them twice.
    pub mounts: Vec<Mount>,
    /// What the model CAWL was calibrated to here.
    pub cawl: CawlParameters,
}

/// The parameters of CAWL, by their names in its paper, as far as they are known; others follow from the rest of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CawlParameters {
    /// Copying in memory.
    pub bw_mem: Option<BytesPerSecond>,
    /// Writing into the page cache while nothing is written back.
    pub bw_ramdisk: Option<BytesPerSecond>,
    /// The same while dirty pages are written back.
    pub bw_reduced: Option<BytesPerSecond>,
    /// The device writes.
    pub bw_dev: Option<BytesPerSecond>,
    /// The device reads.
    pub bw_rdev: Option<BytesPerSecond>,
    /// A block of the device.
    pub bs: Option<Bytes>,
    /// The buffer of a stream of the C library.
    pub bf: Option<Bytes>,
    /// A buffered system call.
    pub sc_w: Option<Nanos>,
    /// A synchronous one.
    pub sc_sw: Option<Nanos>,
    /// A seek.
    pub c_sk: Option<Nanos>,
    /// Dirty bytes at which writing back begins.
    pub limit_bg: Option<Bytes>,
    /// Dirty bytes that are never exceeded.
    pub limit_hard: Option<Bytes>,
    /// Age from which on dirty pages are written back.
    pub dirty_expire: Option<Nanos>,
}

/// Main memory: its size and how fast programs copy from and to the page cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// All of it is usable.
    pub size: Bytes,
    /// Copying out of the page cache, all readers together.
    pub read: BytesPerSecond,
    /// Copying into the page cache, all writers together.
    pub write: BytesPerSecond,
    /// How readers and writers share it.
    pub sharing: Sharing,
    /// Total rate of so many concurrent copies out of the page cache, ascending; linear between, constant outside. Empty: `read`.
    pub read_at: Vec<(u32, BytesPerSecond)>,
    /// The same into the page cache. Empty: `write`.
    pub write_at: Vec<(u32, BytesPerSecond)>,
    /// What a single thread reaches at most, if that is less than the total.
    pub per_thread: Option<BytesPerSecond>,
    /// What is never counted as dirtyable (`totalreserve_pages`), if it is not what the kernel keeps of such a memory.
    pub reserve: Option<Bytes>,
    /// How many nodes (sockets) it is divided among, equally.
    pub nodes: u32,
    /// What the steps of a read or write cost a processor; nothing if it is not known.
    pub cost: CopyCost,
}

/// What a system call costs a thread, step by step. What is left out costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CopyCost {
    /// Entering and leaving the kernel, once for each call.
    pub call: Nanos,
    /// Getting a page of 4 KiB into the page cache: allocation, insertion, accounting.
    pub page_insert: Nanos,
    /// Getting a folio into the page cache that a write makes, beside its pages: a call of 4 KiB makes one of 4 KiB, and one of 2 MiB
    /// one of 2 MiB, where the kernel has large folios. `None`: it is part of what pages cost.
    pub folio_insert: Option<Nanos>,
    /// Finding a page of 4 KiB that is there.
    pub page_lookup: Nanos,
    /// The first touch of 4 KiB of new anonymous memory.
    pub fault: Nanos,
    /// The first touch of a huge page of 2 MiB of it, while the node of its thread has free ones; if none, all comes in 4 KiB.
    pub fault_huge: Option<Nanos>,
    /// Mapping bytes of a file and unmapping them, whatever of them was touched; 1.5 us if it is not known.
    pub mmap: Option<Nanos>,
    /// A fault on a mapped file that maps the 64 KiB around it which are in the page cache in one folio, with its part of unmapping; since Linux
    /// 6.18 all of the folio if that is longer; 2 us if it is not known.
    pub fault_around: Option<Nanos>,
    /// Each further folio that is mapped by such a fault; 90 ns if it is not known.
    pub folio_map: Option<Nanos>,
    /// The first write to each 4 KiB of a mapped file, with its part of unmapping; 200 ns if it is not known.
    pub page_mkwrite: Option<Nanos>,
    /// The fault of that: one for each 4 KiB, and since Linux 6.18 for each folio; 700 ns if it is not known.
    pub fault_mkwrite: Option<Nanos>,
    /// Taking 4 KiB out of the page cache when their file is cut or removed.
    pub page_remove: Nanos,
    /// What 4 KiB of new memory cost more while others have to leave memory for them.
    pub page_reclaim: Nanos,
    /// What the first touch of 4 KiB costs more that the host of this virtual machine has taken back. `None`: it takes none back.
    pub page_reported: Option<Nanos>,
    /// What 4 KiB cost more that are copied to the memory of another node.
    pub page_remote: Nanos,
    /// The same if they are copied from there; `page_remote` if it is not known.
    pub page_remote_read: Option<Nanos>,
    /// Copying out of the page cache, one thread.
    pub copy_read: Option<BytesPerSecond>,
    /// Copying into the page cache, one thread.
    pub copy_write: Option<BytesPerSecond>,
    /// The part of the speed of writing new pages that is left while the flusher writes others of the same file.
    pub flushing_factor: Option<f64>,
}

/// Which Linux a host runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Major and minor number.
    pub version: (u32, u32),
    /// `CONFIG_HZ`: ticks per second, in which pauses are counted.
    pub hz: u32,
    /// By which lists it chooses the pages to evict.
    pub lru: Lru,
}

impl Default for Kernel {
    fn default() -> Self {
        Self { version: (6, 18), hz: 250, lru: Lru::TwoList }
    }
}

/// A memory cgroup: processes whose memory has a limit of its own. None is inside another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// The key of its table.
    pub name: String,
    /// How much page cache and anonymous memory its processes may have.
    pub limit: MemoryLimit,
}

/// The limit of a memory cgroup, by the file in which it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLimit {
    /// `memory.max` of cgroup v2, whose groups have dirty limits of their own.
    Max(Bytes),
    /// `memory.limit_in_bytes` of cgroup v1, whose groups do not.
    LimitInBytes(Bytes),
}

impl MemoryLimit {
    /// How much it is.
    #[must_use]
    pub fn bytes(self) -> Bytes {
        match self {
            Self::Max(bytes) | Self::LimitInBytes(bytes) => bytes,
        }
    }

    /// The name of the file in which it is set.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Max(_) => "memory.max",
            Self::LimitInBytes(_) => "memory.limit_in_bytes",
        }
    }
}

/// By which lists a kernel chooses the pages to evict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lru {
    /// Inactive and active.
    TwoList,
    /// Generations and tiers: `/sys/kernel/mm/lru_gen/enabled`.
    Mglru,
}

impl Lru {
    /// The words of a machine file, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["two-list", "mglru"];
    /// The first version of Linux that has generations.
    pub const MGLRU_SINCE: (u32, u32) = (6, 1);
}

/// How reads and writes of one device share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Together at most the faster of the two rates (what SimGrid's disks do).
    Total,
    /// They do not disturb each other.
    Separate,
    /// The device's time is divided: reading at half its rate leaves half the write rate.
    Time,
}

impl Sharing {
    /// The words of a machine file, in the order of the variants.
    pub const NAMES: [&'static str; 3] = ["total", "separate", "time"];
}

/// The kernel settings that a model may use, with the kernel's names and defaults (Linux, `mm/page-writeback.c`).
#[derive(Clone, Debug, PartialEq)]
pub struct VmSettings {
    /// `vm.dirty_ratio` as a fraction (0.2 for 20).
    pub dirty_ratio: f64,
    /// `vm.dirty_background_ratio` as a fraction.
    pub dirty_background_ratio: f64,
    /// `vm.dirty_bytes`; the ratio does not count where it is set.
    pub dirty_bytes: Option<Bytes>,
    /// `vm.dirty_background_bytes`, likewise.
    pub dirty_background_bytes: Option<Bytes>,
    /// `vm.min_free_kbytes`, if it is not the kernel's own choice.
    pub min_free: Option<Bytes>,
    /// `vm.watermark_scale_factor`, in ten-thousandths of the memory.
    pub watermark_scale_factor: u32,
    /// `vm.dirty_expire_centisecs`.
    pub dirty_expire: Nanos,
    /// `vm.dirty_writeback_centisecs`.
    pub dirty_writeback: Nanos,
}

impl Default for VmSettings {
    fn default() -> Self {
        Self {
            dirty_ratio: 0.2,
            dirty_background_ratio: 0.1,
            dirty_bytes: None,
            dirty_background_bytes: None,
            min_free: None,
            watermark_scale_factor: 10,
            dirty_expire: Nanos(30_000_000_000),
            dirty_writeback: Nanos(5_000_000_000),
        }
    }
}

/// A disk, an SSD or anything else with blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Disk {
    /// The key of its table in the machine file.
    pub name: String,
    /// What all files on it may hold together.
    pub size: Bytes,
    /// One reader's rate.
    pub read: BytesPerSecond,
    /// One writer's rate.
    pub write: BytesPerSecond,
    /// How readers and writers share it.
    pub sharing: Sharing,
    /// Total read rate at so many concurrent reads, ascending; linear between, constant outside. Empty: `read`.
    pub read_at: Vec<(u32, BytesPerSecond)>,
    /// Total write rate at so many concurrent writes. Empty: `write`.
    pub write_at: Vec<(u32, BytesPerSecond)>,
    /// How many requests of how many bytes may be on their way to it: what is under writeback at most.
    pub queue: (u32, Bytes),
    /// `queue/wbt_lat_usec`: write-back throttling of the block layer, which is on above 0.
    pub wbt_lat_usec: u32,
    /// `device/queue_depth`, by which it counts then; the requests of `queue` where there is none.
    pub queue_depth: Option<u32>,
    /// What is read ahead of a sequential reader at most.
    pub read_ahead: Bytes,
    /// What a read request takes before its bytes come.
    pub latency: Nanos,
    /// What a request takes longer that does not begin near where the one before it ended.
    pub seek: Nanos,
    /// `queue/logical_block_size`: what it reads or writes at least, a power of two.
    pub logical_block_size: Bytes,
    /// What a write request past the page cache takes besides its bytes.
    pub write_latency: Nanos,
    /// What making durable takes besides the bytes: a flush of its own cache.
    pub flush: Nanos,
    /// A limiter of its rates lets pass at once, after idle time, what it moves in so long at most; 0 without one.
    pub burst: Nanos,
    /// Its own cache, into which writes go faster while it has room; not where there is a limiter.
    pub write_cache: Option<WriteCache>,
    /// Coefficient of variation of the weights with which equal streams are served; 0 is fair.
    pub unevenness: f64,
    /// What bears on its part of the dirty limits.
    pub bdi: Bdi,
    /// Which of these its kind has given, where its file has no key.
    pub implied: Vec<Implied>,
}

/// The memory of a disk that takes writes before they are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteCache {
    /// What it holds.
    pub size: Bytes,
    /// The rate of writing while it has room; more than the disk's own.
    pub rate: BytesPerSecond,
    /// The rate at which the disk empties it, if that is not the one at which it writes; no more than that.
    pub drain: Option<BytesPerSecond>,
}

impl Disk {
    /// The logical block of most disks (`include/linux/blk_types.h: SECTOR_SIZE`).
    pub const LOGICAL_BLOCK: Bytes = Bytes(512);
}

/// The settings of `/sys/class/bdi/` that bear on a disk's part of the dirty limits and on pages under writeback, with the kernel's
/// names and defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bdi {
    /// The least part, in millionths (`min_ratio_fine`).
    pub min_ratio: u32,
    /// The largest part, in millionths; not less than the least one.
    pub max_ratio: u32,
    /// Whether the part is a limit of its own.
    pub strict_limit: bool,
    /// Whether pages must not change while they are on their way to it (`queue/stable_writes`, once `bdi/stable_pages_required`).
    pub stable_writes: bool,
}

impl Bdi {
    /// All of the limits, in millionths.
    pub const WHOLE: u32 = 1_000_000;
}

impl Default for Bdi {
    fn default() -> Self {
        Self { min_ratio: 0, max_ratio: Self::WHOLE, strict_limit: false, stable_writes: false }
    }
}

/// A directory under which files live.
#[derive(Clone, Debug, PartialEq)]
pub struct Mount {
    /// Absolute, without a slash at the end (but "/" itself).
    pub path: String,
    /// Where the bytes are.
    pub source: MountSource,
    /// When written bytes reach the source.
    pub write_mode: WriteMode,
    /// Of which kind its file system is; nothing to say of one that is on another host.
    pub file_system: FileSystem,
    /// Getting a page of 4 KiB of its files into the page cache, if that is not what `CopyCost` says: by buffer heads and small
    /// folios one file system, or a block device, differs from another.
    pub page_insert: Option<Nanos>,
    /// What it does of its own.
    pub cost: MountCost,
}

/// What a file system does of its own takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MountCost {
    /// What making durable takes longer where metadata of the file is not in the journal yet: a commit.
    pub commit: Nanos,
    /// Giving a block of 4 KiB back when its file is cut or removed; with `discard` the disk is told.
    pub block_free: Nanos,
    /// How long ago a block may have been written back for that; nothing: as long as one likes.
    pub block_free_within: Option<Nanos>,
    /// The same as `block_free`, once for each file that gives some back.
    pub file_free: Nanos,
}

/// The file system of a mount, by its name in `/proc/mounts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSystem {
    /// ext4.
    #[default]
    Ext4,
    /// ext3, by the driver of ext4.
    Ext3,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// F2FS.
    F2fs,
    /// Another one, or a block device.
    Other,
}

impl FileSystem {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Ext4, Self::Ext3, Self::Xfs, Self::Btrfs, Self::F2fs, Self::Other];
    /// The words of a machine file, in the same order.
    pub const NAMES: [&'static str; 6] = ["ext4", "ext3", "xfs", "btrfs", "f2fs", "other"];

    /// Whether it says of a write that it is one of the background: `wbc_to_write_flags`, which `fs/ext4/page-io.c: ext4_io_submit`
    /// does not ask.
    #[must_use]
    pub fn marks_background(self) -> bool {
        !matches!(self, Self::Ext4 | Self::Ext3)
    }
}

/// Where the files of a mount are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountSource {
    /// On a disk of the same host, by index.
    Disk(usize),
    /// On another host, reached over a link.
    Nfs {
        /// Index of the server host.
        server: usize,
        /// Index of the server's mount that is exported.
        export: usize,
        /// Index of the link between the two.
        link: usize,
    },
}

/// When written bytes reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Later: the write returns when they are in the page cache.
    Back,
    /// Before the write returns; they stay in the page cache, clean.
    Through,
}

impl WriteMode {
    /// The words of a machine file, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["back", "through"];
}

/// A network connection between two hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The key of its table.
    pub name: String,
    /// Indices of its two hosts.
    pub between: (usize, usize),
    /// Rate, shared by both directions.
    pub rate: BytesPerSecond,
    /// One way.
    pub latency: Nanos,
}
