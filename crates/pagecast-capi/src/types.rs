//! Declares the types that cross the border, as C sees them.
#![allow(non_camel_case_types, reason = "these are names of C")]

use std::ffi::c_char;

/// What came of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pagecast_status {
    /// It is done.
    PAGECAST_OK = 0,
    /// A pointer that must not be null is null.
    PAGECAST_NULL_POINTER = 1,
    /// The handle is none that pagecast_create() has made.
    PAGECAST_BAD_HANDLE = 2,
    /// A text is not UTF-8.
    PAGECAST_BAD_TEXT = 3,
    /// The machine, the model or one of its options is wrong.
    PAGECAST_BAD_MACHINE = 4,
    /// A time that is NaN, negative or before the last one.
    PAGECAST_BAD_TIME = 5,
    /// A call was due before.
    PAGECAST_LATE = 6,
    /// A size or an offset that is negative or too large, or more cached or dirty bytes than there are.
    PAGECAST_BAD_SIZE = 7,
    /// A rate that is NaN, negative or endless.
    PAGECAST_BAD_RATE = 8,
    /// A kind of operation, or a flag, that does not exist.
    PAGECAST_BAD_OPERATION = 9,
    /// There is no such task.
    PAGECAST_NO_TASK = 10,
    /// The task has an operation under way.
    PAGECAST_BUSY = 11,
    /// There is no such transfer, or not any more.
    PAGECAST_NO_TRANSFER = 12,
    /// There is no such file.
    PAGECAST_NO_FILE = 13,
    /// The path is under no mount.
    PAGECAST_NO_MOUNT = 14,
    /// The file is there already.
    PAGECAST_FILE_EXISTS = 15,
    /// A read beyond the end of its file.
    PAGECAST_BEYOND_END = 16,
    /// More on a disk than fits.
    PAGECAST_DISK_FULL = 17,
    /// More anonymous memory than there can be, or more cached bytes of a new file than there is free memory.
    PAGECAST_OUT_OF_MEMORY = 18,
    /// The model has no answer; the cache can only be destroyed now.
    PAGECAST_NO_ANSWER = 19,
    /// A fault of pagecast itself; the cache can only be destroyed now. Please report it.
    PAGECAST_PANIC = 20,
    /// EINVAL: with PAGECAST_O_DIRECT an offset, a size or a call that is not whole blocks of the disk.
    PAGECAST_UNALIGNED = 21,
    /// EOPNOTSUPP: PAGECAST_RWF_DONTCACHE on a kernel and file system that do not take it.
    PAGECAST_NOT_SUPPORTED = 22,
}

/// How the file of a read or write is open: bits of its flags.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pagecast_flag {
    /// Past the page cache, from and to the program's own memory; in whole blocks of the disk.
    PAGECAST_O_DIRECT = 1,
    /// A write is over when the device has its bytes.
    PAGECAST_O_SYNC = 2,
    /// The same without the file's times.
    PAGECAST_O_DSYNC = 4,
    /// A write begins at the end of the file, whatever offset says.
    PAGECAST_O_APPEND = 8,
    /// Pages leave the cache when they have served.
    PAGECAST_RWF_DONTCACHE = 16,
}

/// What a task can do.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pagecast_operation_kind {
    /// read(2) of path, offset, bytes.
    PAGECAST_READ = 0,
    /// The same into new anonymous memory, which the task holds until it frees it.
    PAGECAST_READ_FRESH = 1,
    /// write(2) of path, offset, bytes. Makes the file if it is not there.
    PAGECAST_WRITE = 2,
    /// fsync(2) of path.
    PAGECAST_FSYNC = 3,
    /// sync(2).
    PAGECAST_SYNC = 4,
    /// truncate(2) of path to bytes.
    PAGECAST_TRUNCATE = 5,
    /// unlink(2) of path.
    PAGECAST_UNLINK = 6,
    /// 3 into /proc/sys/vm/drop_caches: clean pages leave.
    PAGECAST_DROP_CACHES = 7,
    /// The task takes bytes of anonymous memory.
    PAGECAST_ALLOCATE = 8,
    /// The task gives bytes of it back.
    PAGECAST_FREE = 9,
}

/// An operation. Fields that its kind does not name are not looked at.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pagecast_operation {
    /// A pagecast_operation_kind.
    pub kind: i32,
    /// Absolute path of the file, below a mount of the machine.
    pub path: *const c_char,
    /// First byte; of a write PAGECAST_REST is the end of the file.
    pub offset: i64,
    /// How many bytes; of a read PAGECAST_REST is up to the end of the file, of a free all that the task holds.
    pub bytes: i64,
    /// Bytes of one system call of a read or write; 0 is all in one.
    pub call_bytes: i64,
    /// Of a read or write: any of pagecast_flag, added; 0 is none.
    pub flags: u32,
}

/// What the simulator is to do.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pagecast_order_kind {
    /// Start a transfer: device, direction, bytes, weight, limit.
    PAGECAST_START = 0,
    /// From now on the transfer goes no faster than limit.
    PAGECAST_LIMIT = 1,
    /// The transfer is complete when so many of its bytes have moved; if they have already, it is complete now.
    PAGECAST_SHORTEN = 2,
    /// End the transfer; it is not reported any more.
    PAGECAST_CANCEL = 3,
    /// The operation of task is over: parts_s, from_cache, from_device.
    PAGECAST_DONE = 4,
}

/// Which way a transfer goes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pagecast_direction {
    /// From the device.
    PAGECAST_FROM_DEVICE = 0,
    /// To the device.
    PAGECAST_TO_DEVICE = 1,
}

/// Where the time of an operation went: index into parts_s.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum pagecast_part {
    /// Copying between the program and the page cache.
    PAGECAST_CPU_COPY = 0,
    /// Getting pages for the copy.
    PAGECAST_PAGE_ALLOCATION = 1,
    /// Reading from a device.
    PAGECAST_DEVICE_READ = 2,
    /// Writing to a device.
    PAGECAST_DEVICE_WRITE = 3,
    /// Waiting for a device's queue.
    PAGECAST_QUEUEING = 4,
    /// A writer held back because there are too many dirty pages.
    PAGECAST_THROTTLED = 5,
    /// Making room in memory.
    PAGECAST_RECLAIM = 6,
    /// Waiting for a journal.
    PAGECAST_JOURNAL = 7,
    /// Of a pattern: no call for its rate.
    PAGECAST_SLEEP = 8,
    /// Of a pattern: a call behind others on its file.
    PAGECAST_WAIT = 9,
}

/// How many parts there are.
pub const PAGECAST_PARTS: usize = 10;

/// An order. Fields that its kind does not name are 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct pagecast_order {
    /// A pagecast_order_kind.
    pub kind: i32,
    /// Of a start: a pagecast_direction.
    pub direction: i32,
    /// Of a start: index of the device.
    pub device: u32,
    /// Of a done: whose operation.
    pub task: u32,
    /// Of all but a done: which transfer. Numbers are not used again.
    pub transfer: u64,
    /// Of a start or a shorten: how many bytes it has in all.
    pub bytes: u64,
    /// Of a start: its share against others of the device; 1 is usual.
    pub weight: f64,
    /// Of a start or a limit: the highest rate in bytes per second; INFINITY is none, 0 is not at all for now.
    pub limit: f64,
    /// Of a done: bytes that the page cache served.
    pub from_cache: u64,
    /// Of a done: bytes that a device served or took before.
    pub from_device: u64,
    /// Of a done: where its time went, in seconds.
    pub parts_s: [f64; PAGECAST_PARTS],
}

/// How fast a transfer goes from now on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pagecast_rate {
    /// Which.
    pub transfer: u64,
    /// Bytes per second, 0 or more.
    pub bytes_per_s: f64,
}

/// A setting: an option of the model.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pagecast_option {
    /// Its name, such as "chunk".
    pub key: *const c_char,
    /// Its value as in a scenario, such as "100 MB".
    pub value: *const c_char,
}

/// How long operations took; a pattern counts by its calls. A percentile is the shortest time that so many of them did not exceed, right to
/// a thousandth.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct pagecast_latency {
    /// How many there were; without any, all else is 0.
    pub count: u64,
    /// The bytes that they moved.
    pub bytes: u64,
    /// The mean, in seconds.
    pub mean_s: f64,
    /// Half of them took no longer.
    pub p50_s: f64,
    /// 90 % of them took no longer.
    pub p90_s: f64,
    /// 99 % of them took no longer.
    pub p99_s: f64,
    /// 99.9 % of them took no longer.
    pub p99_9_s: f64,
    /// The longest.
    pub max_s: f64,
}

/// What the memory of the host holds, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct pagecast_levels {
    /// Size of the memory.
    pub total: u64,
    /// Anonymous memory of tasks.
    pub anonymous: u64,
    /// The page cache, dirty pages too.
    pub cached: u64,
    /// Pages that the device does not have yet.
    pub dirty: u64,
    /// Of these, pages on their way to a device; 0 under models that do not know.
    pub writeback: u64,
}

/// What there is of a file, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct pagecast_file_levels {
    /// Its size; while it is written, the one that it has when the writes under way have ended.
    pub size: u64,
    /// In the page cache.
    pub cached: u64,
    /// Of these, what the device does not have yet.
    pub dirty: u64,
}
