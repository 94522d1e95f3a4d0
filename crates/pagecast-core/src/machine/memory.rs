//! Describes main memory: its size, its copy rates, and the cost of each step of a read or write.

use crate::keys::{RATE, RATES, SIZE, SIZE_OR_ZERO, TIME, Word, keys, number, table, whole, word};
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// The ways in which reads and writes of one device share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Together at most the faster of the two rates (as SimGrid's disks do).
    Total,
    /// They do not disturb each other.
    Separate,
    /// The device's time is divided: reading at half its rate leaves half the write rate.
    Time,
}

impl Word for Sharing {
    const ALL: &'static [Self] = &[Self::Total, Self::Separate, Self::Time];
    const WORDS: &'static [&'static str] = &["total", "separate", "time"];
}

keys! {
    /// Main memory.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Memory: "memory" {
        /// All usable memory
        #[key(SIZE, required)]
        pub size: Bytes,
        /// Copying out of the page cache, all readers together
        #[key(RATE, required)]
        pub read: BytesPerSecond,
        /// Copying into the page cache, all writers together
        #[key(RATE, required)]
        pub write: BytesPerSecond,
        /// How readers and writers share it
        ///
        /// See [sharing](../concepts/flows-and-sharing.md).
        #[key(word::<Sharing>(), shown = Sharing::Total)]
        pub sharing: Sharing,
        /// Total rate of so many copies out of the page cache at once
        ///
        /// `{ "1" = "3 GB/s", "5" = "14 GB/s" }`; linear between, constant outside. Without it: `read`.
        #[key(RATES, default = Vec::new())]
        pub read_at: Vec<(u32, BytesPerSecond)>,
        /// Total rate of so many copies into the page cache at once
        ///
        /// Likewise. Without it: `write`.
        #[key(RATES, default = Vec::new())]
        pub write_at: Vec<(u32, BytesPerSecond)>,
        /// Most that one thread reaches
        #[key(RATE)]
        pub per_thread: Option<BytesPerSecond>,
        /// Kept free and not counted as dirtyable (`totalreserve_pages`)
        #[key(SIZE_OR_ZERO, absent = "by the size of the memory, as the kernel chooses")]
        pub reserve: Option<Bytes>,
        /// Sockets among which it is divided equally
        #[key(whole(1, 64), shown = 1)]
        pub nodes: u32,
        /// L2 cache of a processor
        ///
        /// The copies of a call of more than an eighth of it miss it, and cost `page_l2_miss`.
        #[key(SIZE, absent = "copies of all sizes cost the same")]
        pub l2: Option<Bytes>,
        /// Cost of each step of a read or write for a thread
        ///
        /// [The next table](#machine-memory-cost).
        #[key(table::<CopyCost>(), shown = CopyCost::default())]
        pub cost: CopyCost,
    }
}

keys! {
    /// Costs of a system call for a thread, step by step. A step that is left out costs nothing.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CopyCost: "cost" {
        /// Entering and leaving the kernel, each call
        #[key(TIME, shown = Nanos::ZERO)]
        pub call: Nanos,
        /// Getting 4 KiB into the page cache
        ///
        /// Allocation, insertion, accounting.
        #[key(TIME, shown = Nanos::ZERO)]
        pub page_insert: Nanos,
        /// Finding 4 KiB that are there
        #[key(TIME, shown = Nanos::ZERO)]
        pub page_lookup: Nanos,
        /// First touch of 4 KiB of new anonymous memory
        #[key(TIME, shown = Nanos::ZERO)]
        pub fault: Nanos,
        /// Taking 4 KiB out of the page cache when their file is cut or removed, or they are dropped
        #[key(TIME, shown = Nanos::ZERO)]
        pub page_remove: Nanos,
        /// Extra time to get 4 KiB of memory while reclaim has to free other pages for them
        #[key(TIME, shown = Nanos::ZERO)]
        pub page_reclaim: Nanos,
        /// Reserving a block for 4 KiB that a write puts into the page cache where its file has none yet
        ///
        /// Beside `page_insert` (`fs/ext4/inode.c: ext4_da_reserve_space`, `fs/xfs/xfs_iomap.c: xfs_bmapi_reserve_delalloc`). A write
        /// within a file that is on the disk does not pay it.
        #[key(TIME, default = Nanos::ZERO)]
        pub block_reserve: Nanos,
        /// Submitting 4 KiB of write-back, for the flusher
        ///
        /// To a disk with `service`; it sends its next request only then. The time is taken from no other thread.
        #[key(TIME, default = Nanos::ZERO)]
        pub page_writeback: Nanos,
        /// Submitting a request to a disk with `service`, and ending it
        ///
        /// Of direct I/O, and of reads into the page cache; these take nothing without the key.
        #[key(TIME, absent = "`call`")]
        pub request: Option<Nanos>,
        /// Extra time to copy 4 KiB to the memory of another node
        #[key(TIME, shown = Nanos::ZERO)]
        pub page_remote: Nanos,
        /// Getting a folio that a write makes into the page cache, beside its pages: as large as the call, up to 2 MiB since Linux 6.16
        ///
        /// Folios of ext4 are so large since then, and calls of 4 KiB pay it for each page. Before, every folio is a page.
        #[key(TIME)]
        pub folio_insert: Option<Nanos>,
        /// First touch of a huge page of 2 MiB of anonymous memory
        ///
        /// Only while the node of the process has free memory above its high mark.
        #[key(TIME, absent = "anonymous memory comes in 4 KiB")]
        pub fault_huge: Option<Nanos>,
        /// Extra time of the first touch of 4 KiB that free page reporting gave back to the host of this virtual machine
        ///
        /// The host has taken back all free memory, unless it was in use a moment ago.
        #[key(TIME, absent = "no host takes memory back")]
        pub page_reported: Option<Nanos>,
        /// Mapping a file and unmapping it
        ///
        /// Once for each operation on a [mapping](#mapped-files) that does not stay.
        #[key(TIME, absent = "\"1500 ns\"")]
        pub mmap: Option<Nanos>,
        /// A fault that maps the cached 64 KiB around a place of a mapped file, or its folio
        ///
        /// Includes their part of unmapping. Since Linux 6.18 a fault maps all of its folio if that is longer, at the same cost.
        #[key(TIME, absent = "\"2 us\"")]
        pub fault_around: Option<Nanos>,
        /// Each further folio that such a fault maps
        ///
        /// In a file of single pages these are 15.
        #[key(TIME, absent = "\"90 ns\"")]
        pub folio_map: Option<Nanos>,
        /// The first write to each 4 KiB of a mapped file
        ///
        /// They are made writable and dirty. Includes their part of unmapping.
        #[key(TIME, absent = "\"200 ns\"")]
        pub page_mkwrite: Option<Nanos>,
        /// The fault of that: of each 4 KiB, and since Linux 6.18 of each folio
        #[key(TIME, absent = "\"700 ns\"")]
        pub fault_mkwrite: Option<Nanos>,
        /// Extra time to copy 4 KiB from the memory of another node
        #[key(TIME, absent = "`page_remote`")]
        pub page_remote_read: Option<Nanos>,
        /// Extra time to copy 4 KiB of a call beyond the first eighth of `memory.l2`
        ///
        /// [The step](../concepts/kernel/filemap.md#copies-and-the-l2-cache).
        #[key(TIME, default = Nanos::ZERO)]
        pub page_l2_miss: Nanos,
        /// Copying out of the page cache, one thread
        #[key(RATE, absent = "`per_thread`")]
        pub copy_read: Option<BytesPerSecond>,
        /// Copying into the page cache, one thread
        #[key(RATE, absent = "`per_thread`")]
        pub copy_write: Option<BytesPerSecond>,
        /// Part of the speed of writing new pages that is left while the flusher writes the same file
        #[key(number(0.01, 1.0), absent = "1")]
        pub flushing_factor: Option<f64>,
    }
}
