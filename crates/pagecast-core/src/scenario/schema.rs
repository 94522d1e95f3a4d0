//! Which keys there are, what each holds and what it is for: one table from which the reader takes its checks and hints,
//! and `json_schema` what an editor completes. It leaves out what only several values together can violate.

use super::{copies, mapped, streams};
use crate::machine::{DiskKind, FileSystem, Lru, Sharing, WriteMode};
use crate::scenario::Residency;
use crate::workload::{Advice, Buffer, MOST_PLACES, OpenFlag, SyncRangeFlag};

/// How many copies of a file or a process, and how many rounds of a loop, can be asked for at once.
pub const MOST_COPIES: u32 = 1_000_000;

/// A table and its keys.
#[derive(Debug)]
pub struct Schema {
    /// Identifies it in the JSON schema.
    pub name: &'static str,
    /// The keys, in the order in which they are best written.
    pub keys: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// True if the table is wrong without it.
    pub is_required: bool,
    /// What it is for, in a line; the description that an editor shows.
    pub about: &'static str,
}

/// What a key can hold.
#[derive(Debug)]
pub enum Kind {
    /// Any string.
    Text,
    /// An absolute path.
    Path,
    /// Bytes with a unit; zero is an error.
    Size,
    /// Bytes with a unit; zero is fine.
    SizeOrZero,
    /// Like `Size`, or the word "all".
    SizeOrAll,
    /// Bytes per second.
    Rate,
    /// A duration.
    Time,
    /// A part of a whole, in percent; zero is an error.
    Percent,
    /// A whole number within bounds.
    Whole(u32, u32),
    /// Any number within bounds.
    Number(f64, f64),
    /// true or false.
    Flag,
    /// Nothing but true.
    True,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of some words.
    Words(&'static [&'static str]),
    /// A list of strings.
    Texts,
    /// Number of streams to rate.
    Rates,
    /// Names of the user's own with a string, number or boolean each.
    Scalars,
    /// Names of the user's own with `Scalars` each.
    ScalarTables,
    /// A table.
    Table(&'static Schema),
    /// Names of the user's own with a table each.
    Tables(&'static Schema),
    /// Any number of tables.
    List(&'static Schema),
    /// A list of operations, each by one of `OPERATIONS`.
    Program,
}

impl Kind {
    /// What must be written, for "must be ...".
    pub fn wanted(&self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Path => "an absolute path".to_owned(),
            Self::Size | Self::SizeOrZero => "a size with its unit".to_owned(),
            Self::SizeOrAll => "a size with its unit or \"all\"".to_owned(),
            Self::Rate => "a rate with its unit".to_owned(),
            Self::Time => "a time with its unit".to_owned(),
            Self::Percent => "a percentage".to_owned(),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Number(least, most) => format!("a number from {least} to {most}"),
            Self::Flag => "true or false".to_owned(),
            Self::True => "true".to_owned(),
            Self::Word(words) => {
                words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
            }
            Self::Words(_) => "a list of words".to_owned(),
            Self::Texts => "a list of strings".to_owned(),
            Self::Rates => "a table of rates by number of streams".to_owned(),
            Self::Scalars | Self::ScalarTables | Self::Table(_) | Self::Tables(_) => "a table".to_owned(),
            Self::List(_) => "a list of tables".to_owned(),
            Self::Program => "a list of operations".to_owned(),
        }
    }

    /// A right value as it would be written; empty where a table would be.
    pub fn example(&self) -> String {
        match self {
            Self::Text => "\"name\"".to_owned(),
            Self::Path => "\"/data/f1\"".to_owned(),
            Self::Size | Self::SizeOrZero | Self::SizeOrAll => "\"20 GB\"".to_owned(),
            Self::Rate => "\"465 MB/s\"".to_owned(),
            Self::Time => "\"28 s\"".to_owned(),
            Self::Percent => "\"15 %\"".to_owned(),
            Self::Whole(least, _) => least.max(&1).to_string(),
            Self::Number(_, most) => most.to_string(),
            Self::Flag | Self::True => "true".to_owned(),
            Self::Word(words) => format!("\"{}\"", words[0]),
            Self::Words(words) => format!("[\"{}\"]", words[0]),
            Self::Texts => "[\"name\"]".to_owned(),
            Self::Rates => "{ \"1\" = \"511 MB/s\" }".to_owned(),
            Self::Program => "[ { read = \"/data/f1\" } ]".to_owned(),
            Self::Scalars | Self::ScalarTables | Self::Table(_) | Self::Tables(_) | Self::List(_) => {
                String::new()
            }
        }
    }
}

impl Schema {
    /// The key of that name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}

pub(super) const fn must(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, is_required: true, about }
}

pub(super) const fn may(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, is_required: false, about }
}

/// The whole file.
pub static SCENARIO: Schema = Schema {
    name: "scenario",
    keys: &[
        may("models", Kind::Texts, "Models to ask; --model overrides"),
        may("residency", Kind::Word(&Residency::NAMES), "When the cache content of each file is recorded"),
        may(
            "tolerance",
            Kind::Table(&TOLERANCE),
            "How far forecasts may be off; pagecast validate judges by it",
        ),
        may("parameter", Kind::Scalars, "Values that strings use as {name}; --set parameter.name=value"),
        may("model", Kind::ScalarTables, "Options of a model, by its name"),
        may("machine", Kind::Table(&MACHINE), "The only host"),
        may("host", Kind::Tables(&MACHINE), "Several hosts, by name, instead of [machine]"),
        may("link", Kind::Tables(&LINK), "Connections between hosts, by name"),
        may("file", Kind::List(&FILE), "Files that exist before time 0"),
        may("process", Kind::List(&PROCESS), "Programs that run"),
    ],
};

/// `[tolerance]`.
pub static TOLERANCE: Schema = Schema {
    name: "tolerance",
    keys: &[
        may("total", Kind::Percent, "Of the measured time of all operations on files; default \"10 %\""),
        may("dirty", Kind::Percent, "Dirty memory: of the dirty limit; default \"10 %\""),
        may("cached", Kind::Percent, "Cached memory: of all memory; default \"5 %\""),
    ],
};

/// A machine file with the same tables as a scenario.
pub static MACHINES: Schema = Schema {
    name: "machines",
    keys: &[
        may("machine", Kind::Table(&MACHINE), "The only host"),
        may("host", Kind::Tables(&MACHINE), "Several hosts, by name, instead of [machine]"),
        may("link", Kind::Tables(&LINK), "Connections between hosts, by name"),
    ],
};

/// `[machine]` and `[host.NAME]`.
pub static MACHINE: Schema = Schema {
    name: "machine",
    keys: &[
        may("from", Kind::Text, "Shipped machine or path of a machine file; the keys beside it override it"),
        may("description", Kind::Text, "What machine this is"),
        may("source", Kind::Text, "Where its numbers come from"),
        must("cores", Kind::Whole(1, 1_000_000), "Processors that compute and copying run on"),
        must("memory", Kind::Table(&MEMORY), "Main memory"),
        may("vm", Kind::Table(&VM), "Kernel settings, under their own names"),
        may("kernel", Kind::Table(&KERNEL), "Which Linux it runs"),
        may("cgroup", Kind::Tables(&CGROUP), "Memory cgroups, by name"),
        may("disk", Kind::Tables(&DISK), "Disks, by name"),
        may("mount", Kind::Tables(&MOUNT), "Directories and what is mounted there, by path"),
        may("cawl", Kind::Table(&CAWL), "Parameters of the model cawl; default: from the other keys"),
    ],
};

/// `[machine.cawl]`.
pub static CAWL: Schema = Schema {
    name: "cawl",
    keys: &[
        may("bw_mem", Kind::Rate, "Copying in memory, to the buffer of a stream"),
        may("bw_ramdisk", Kind::Rate, "Writing into the page cache while nothing is written back"),
        may("bw_reduced", Kind::Rate, "The same while dirty pages are written back"),
        may("bw_dev", Kind::Rate, "Writing to the device"),
        may("bw_rdev", Kind::Rate, "Reading from the device"),
        may("bs", Kind::Size, "A block of the device"),
        may("bf", Kind::Size, "The buffer of a stream of the C library"),
        may("sc_w", Kind::Time, "A buffered system call"),
        may("sc_sw", Kind::Time, "A synchronous system call"),
        may("c_sk", Kind::Time, "A seek"),
        may("limit_bg", Kind::Size, "Dirty bytes at which writing back begins"),
        may("limit_hard", Kind::Size, "Dirty bytes that are never exceeded"),
        may("dirty_expire", Kind::Time, "Age from which on dirty pages are written back"),
    ],
};

/// `[machine.memory]`.
pub static MEMORY: Schema = Schema {
    name: "memory",
    keys: &[
        must("size", Kind::Size, "All usable memory"),
        must("read", Kind::Rate, "Copying out of the page cache, all readers together"),
        must("write", Kind::Rate, "Copying into the page cache, all writers together"),
        may("sharing", Kind::Word(&Sharing::NAMES), "How readers and writers share it; default \"total\""),
        may("read_at", Kind::Rates, "Total rate of so many copies out of the page cache at once"),
        may("write_at", Kind::Rates, "Total rate of so many copies into the page cache at once"),
        may("per_thread", Kind::Rate, "What one thread reaches at most"),
        may("reserve", Kind::SizeOrZero, "Not counted as dirtyable; default by the size of the memory"),
        may("nodes", Kind::Whole(1, 64), "Sockets among which it is divided equally; default 1"),
        may("cost", Kind::Table(&COST), "What the steps of a read or write cost a processor"),
    ],
};

/// `[machine.memory.cost]`.
pub static COST: Schema = Schema {
    name: "cost",
    keys: &[
        may("call", Kind::Time, "Entering and leaving the kernel, each call"),
        may("page_insert", Kind::Time, "Getting 4 KiB into the page cache"),
        may(
            "folio_insert",
            Kind::Time,
            "Getting a folio that a write makes into the page cache, beside its pages: as large as the call, up to 2 MiB since Linux 6.16",
        ),
        may("page_lookup", Kind::Time, "Finding 4 KiB that are there"),
        may("fault", Kind::Time, "First touch of 4 KiB of new anonymous memory"),
        may("fault_huge", Kind::Time, "First touch of 2 MiB of it while memory is free; default by 4 KiB"),
        may("mmap", Kind::Time, "Mapping a file and unmapping it; default \"1500 ns\""),
        may(
            "fault_around",
            Kind::Time,
            "A fault that maps the cached 64 KiB around a place of a mapped file, or its folio; default \"2 us\"",
        ),
        may("folio_map", Kind::Time, "Each further folio that such a fault maps; default \"90 ns\""),
        may("page_mkwrite", Kind::Time, "The first write to each 4 KiB of a mapped file; default \"200 ns\""),
        may(
            "fault_mkwrite",
            Kind::Time,
            "The fault of that: of each 4 KiB, and since Linux 6.18 of each folio; default \"700 ns\"",
        ),
        may(
            "page_remove",
            Kind::Time,
            "Taking 4 KiB out of the page cache when their file is cut or removed, or they are dropped",
        ),
        may(
            "page_reclaim",
            Kind::Time,
            "What getting 4 KiB of memory costs more while other pages have to leave for them",
        ),
        may(
            "page_reported",
            Kind::Time,
            "What the first touch of 4 KiB costs more that free page reporting gave back to the host of this virtual machine",
        ),
        may("page_remote", Kind::Time, "What copying 4 KiB to the memory of another node costs more"),
        may(
            "page_remote_read",
            Kind::Time,
            "What copying 4 KiB from another node costs more; default page_remote",
        ),
        may("copy_read", Kind::Rate, "Copying out of the page cache, one thread; default per_thread"),
        may("copy_write", Kind::Rate, "Copying into the page cache, one thread; default per_thread"),
        may(
            "flushing_factor",
            Kind::Number(0.01, 1.0),
            "Part of the speed of writing new pages that is left while the flusher writes the same file; default 1",
        ),
    ],
};

/// `[machine.kernel]`.
pub static KERNEL: Schema = Schema {
    name: "kernel",
    keys: &[
        may("version", Kind::Text, "Version of Linux, such as \"4.18\"; default \"6.18\""),
        may("hz", Kind::Whole(100, 1000), "CONFIG_HZ, ticks per second; default 250"),
        may("lru", Kind::Word(&Lru::NAMES), "How pages are chosen for eviction; default \"two-list\""),
    ],
};

/// `[machine.cgroup.NAME]`.
pub static CGROUP: Schema = Schema {
    name: "cgroup",
    keys: &[must("memory", Kind::Table(&CGROUP_MEMORY), "Its limit: memory.max or memory.limit_in_bytes")],
};

/// The keys of a cgroup that begin with `memory.`.
pub static CGROUP_MEMORY: Schema = Schema {
    name: "cgroup_memory",
    keys: &[
        may("max", Kind::Size, "Of cgroup v2: page cache and anonymous memory of its processes"),
        may("limit_in_bytes", Kind::Size, "The same of cgroup v1, which has no dirty limits"),
    ],
};

/// `[machine.vm]`.
pub static VM: Schema = Schema {
    name: "vm",
    keys: &[
        may("dirty_ratio", Kind::Number(0.0, 100.0), "Percent of memory; default 20"),
        may("dirty_background_ratio", Kind::Number(0.0, 100.0), "Percent of memory; default 10"),
        may("dirty_bytes", Kind::Size, "Instead of dirty_ratio"),
        may("dirty_background_bytes", Kind::Size, "Instead of dirty_background_ratio"),
        may("min_free_kbytes", Kind::Whole(1, 1 << 31), "Default by the size of the memory"),
        may("watermark_scale_factor", Kind::Whole(1, 3000), "Ten-thousandths of the memory; default 10"),
        may("dirty_expire_centisecs", Kind::Number(0.0, 4e9), "Hundredths of a second; default 3000"),
        may("dirty_writeback_centisecs", Kind::Number(0.0, 4e9), "Hundredths of a second; default 500"),
    ],
};

/// `[machine.disk.NAME]`.
pub static DISK: Schema = Schema {
    name: "disk",
    keys: &[
        must("size", Kind::Size, "What all files on it may hold together"),
        must("read", Kind::Rate, "One reader's rate"),
        must("write", Kind::Rate, "One writer's rate"),
        may("sharing", Kind::Word(&Sharing::NAMES), "How readers and writers share it; default \"total\""),
        may(
            "kind",
            Kind::Word(&DiskKind::NAMES),
            "Its requests, throttling and latency where no key says otherwise; default: as each key says",
        ),
        may(
            "read_at",
            Kind::Rates,
            "Total rate at so many concurrent reads; linear between, constant outside",
        ),
        may("write_at", Kind::Rates, "Total rate at so many concurrent writes"),
        may("nr_requests", Kind::Whole(1, 1 << 30), "Requests on their way to it at most; default 16"),
        may(
            "wbt_lat_usec",
            Kind::Whole(0, u32::MAX),
            "Above 0: write-back throttling leaves write-back a part of the requests; default 0",
        ),
        may(
            "queue_depth",
            Kind::Whole(1, 1 << 30),
            "Requests that write-back throttling counts with; default nr_requests",
        ),
        may("max_sectors_kb", Kind::Whole(4, 1 << 20), "KiB of one request; default 1280"),
        may("read_ahead_kb", Kind::Whole(0, 1 << 20), "KiB read ahead at most; default 128"),
        may("latency", Kind::Time, "Of a read request, before its bytes come; default \"0 s\""),
        may(
            "seek",
            Kind::Time,
            "Of a request that does not begin near where the one before it ended; default \"0 s\"",
        ),
        may("write_latency", Kind::Time, "Of a direct write, besides its bytes; default \"0 s\""),
        may("flush", Kind::Time, "A flush of its own cache, which makes writes durable; default \"0 s\""),
        may("logical_block_size", Kind::Size, "What it reads or writes at least; default \"512 B\""),
        may(
            "burst",
            Kind::Time,
            "A limiter lets pass at once, after idle time, what it moves in so long; default 0",
        ),
        may(
            "write_cache",
            Kind::Table(&WRITE_CACHE),
            "Its own cache, into which writes go faster while it has room; default: none",
        ),
        may(
            "unevenness",
            Kind::Number(0.0, 1.0),
            "Coefficient of variation of the service of equal streams; default 0",
        ),
        may(
            "min_ratio",
            Kind::Number(0.0, 99.9999),
            "Its least part of the dirty limits, percent; default 0",
        ),
        may("max_ratio", Kind::Number(0.0, 100.0), "Its largest part of them, percent; default 100"),
        may("strict_limit", Kind::Flag, "Whether its part is a limit of its own; default false"),
        may("stable_writes", Kind::Flag, "Whether pages must not change on their way to it; default false"),
    ],
};

/// `[machine.disk.NAME.write_cache]`.
pub static WRITE_CACHE: Schema = Schema {
    name: "write_cache",
    keys: &[
        must("size", Kind::Size, "What it holds"),
        must("rate", Kind::Rate, "Of writes while it has room; more than `write`"),
        may("drain", Kind::Rate, "At which the disk empties it; default `write`"),
    ],
};

/// `[machine.mount."/path"]`.
pub static MOUNT: Schema = Schema {
    name: "mount",
    keys: &[
        may("disk", Kind::Text, "A disk of this host"),
        may("nfs", Kind::Text, "\"server:/export\": a host and one of its mounts"),
        may("link", Kind::Text, "The link to the server, where there are several"),
        may("write_mode", Kind::Word(&WriteMode::NAMES), "Default \"back\"; always \"through\" for nfs"),
        may("type", Kind::Word(&FileSystem::NAMES), "Of its file system; default \"ext4\""),
        may(
            "page_insert",
            Kind::Time,
            "Getting 4 KiB of its files into the page cache; default that of memory.cost",
        ),
        may("commit", Kind::Time, "What making durable takes longer if metadata changed; default \"0 s\""),
        may("block_free", Kind::Time, "Giving 4 KiB back when a file is cut or removed; default \"0 s\""),
        may(
            "block_free_within",
            Kind::Time,
            "How long ago a block may have been written back for block_free; default: ever",
        ),
        may("file_free", Kind::Time, "The same, once for each file that gives some back; default \"0 s\""),
    ],
};

/// `[link.NAME]`.
pub static LINK: Schema = Schema {
    name: "link",
    keys: &[
        must("between", Kind::Texts, "Its two hosts"),
        must("rate", Kind::Rate, "Shared by both directions"),
        may("latency", Kind::Time, "One way; default \"0 s\""),
    ],
};

/// `[[file]]`.
pub static FILE: Schema = Schema {
    name: "file",
    keys: &[
        must("path", Kind::Path, "Where it is; {n} is the number of the copy"),
        must("size", Kind::SizeOrZero, "How large it is"),
        may(
            "cached",
            Kind::SizeOrZero,
            "How much of it, from its start, is in the page cache; default \"0 B\"",
        ),
        may("dirty", Kind::SizeOrZero, "How much of that, from its start, is dirty; default \"0 B\""),
        may("count", Kind::Whole(1, MOST_COPIES), "How many copies; default 1"),
        may("host", Kind::Text, "Whose path it is; default the first host"),
    ],
};

/// `[[process]]`.
pub static PROCESS: Schema = Schema {
    name: "process",
    keys: &[
        must("name", Kind::Text, "Its name; {n} is the number of the copy"),
        must("do", Kind::Program, "Its operations, one after the other"),
        may("count", Kind::Whole(1, MOST_COPIES), "How many copies; default 1"),
        may("after", Kind::Texts, "Processes that must have ended before"),
        may("start", Kind::Time, "Earliest start; default \"0 s\""),
        may("host", Kind::Text, "Where it runs; default the first host"),
        may("cgroup", Kind::Text, "The memory cgroup of that host that it is in; default none"),
    ],
};

pub(super) const OFFSET: Key = may("offset", Kind::SizeOrZero, "First byte; default \"0 B\"");
pub(super) const PART: Key = may("size", Kind::Size, "Of how much; default up to the end of the file");
pub(super) const CALL: Key = may("call", Kind::Size, "Bytes of one call; default all at once");

const VECTOR: Key = may(
    "vector",
    Kind::Whole(1, MOST_PLACES),
    "In how many places of memory a call has its bytes; default 1",
);

/// The operations. The first key of each is its verb.
pub static OPERATIONS: [Schema; 35] = [
    Schema {
        name: "read",
        keys: &[
            must("read", Kind::Path, "Reads a file"),
            OFFSET,
            may("size", Kind::Size, "How much; default up to the end of the file"),
            CALL,
            VECTOR,
            may("buffer", Kind::Word(&Buffer::NAMES), "\"fresh\" is new memory, held until free or exit"),
        ],
    },
    Schema {
        name: "write",
        keys: &[
            must("write", Kind::Path, "Writes a file; makes it if it is not there"),
            must("size", Kind::Size, "How much"),
            OFFSET,
            may("append", Kind::Flag, "Starts at the end of the file"),
            CALL,
            VECTOR,
        ],
    },
    Schema {
        name: "open",
        keys: &[
            must("open", Kind::Path, "Opens a file"),
            may("create", Kind::Flag, "Makes it if it is not there"),
            may("truncate", Kind::Flag, "Empties it"),
            may("flags", Kind::Words(&OpenFlag::NAMES), "How it is read and written until it is closed"),
        ],
    },
    Schema { name: "fsync", keys: &[must("fsync", Kind::Path, "Writes the file's dirty pages")] },
    Schema {
        name: "fdatasync",
        keys: &[must("fdatasync", Kind::Path, "Writes the file's dirty pages, without its times")],
    },
    Schema { name: "sync", keys: &[must("sync", Kind::True, "Writes all dirty pages of the host")] },
    Schema {
        name: "syncfs",
        keys: &[must("syncfs", Kind::Path, "Writes all dirty pages of the file system that a path is on")],
    },
    Schema {
        name: "sync_file_range",
        keys: &[
            must("sync_file_range", Kind::Path, "Writes pages of a part of a file, or waits for them"),
            must("flags", Kind::Words(&SyncRangeFlag::NAMES), "What is done, in this order"),
            OFFSET,
            PART,
        ],
    },
    Schema {
        name: "readahead",
        keys: &[must("readahead", Kind::Path, "Reads pages that nobody has asked for yet"), OFFSET, PART],
    },
    Schema { name: "close", keys: &[must("close", Kind::Path, "Closes a file")] },
    Schema {
        name: "truncate",
        keys: &[
            must("truncate", Kind::Path, "Cuts or extends a file"),
            must("size", Kind::SizeOrZero, "Its new size"),
        ],
    },
    Schema { name: "unlink", keys: &[must("unlink", Kind::Path, "Removes a file")] },
    Schema { name: "drop_caches", keys: &[must("drop_caches", Kind::True, "Drops the host's clean pages")] },
    Schema {
        name: "fadvise",
        keys: &[
            must("fadvise", Kind::Path, "Tells the kernel how the file is used"),
            must("advice", Kind::Word(&Advice::NAMES), "What is said"),
            OFFSET,
            PART,
        ],
    },
    copies::COPY,
    Schema { name: "compute", keys: &[must("compute", Kind::Time, "Works on one core")] },
    Schema { name: "sleep", keys: &[must("sleep", Kind::Time, "Waits without a core")] },
    Schema { name: "alloc", keys: &[must("alloc", Kind::Size, "Takes anonymous memory")] },
    Schema { name: "free", keys: &[must("free", Kind::SizeOrAll, "Gives anonymous memory back")] },
    Schema { name: "wait", keys: &[must("wait", Kind::Text, "Waits for an event")] },
    Schema { name: "signal", keys: &[must("signal", Kind::Text, "Signals an event, once and for all")] },
    Schema { name: "exit", keys: &[must("exit", Kind::True, "Ends the process here")] },
    mapped::MMAP,
    mapped::MUNMAP,
    mapped::MMAP_READ,
    mapped::MMAP_WRITE,
    mapped::MSYNC,
    streams::FOPEN,
    streams::SETVBUF,
    streams::FWRITE,
    streams::FREAD,
    streams::FSEEK,
    streams::FFLUSH,
    streams::FCLOSE,
    Schema {
        name: "repeat",
        keys: &[
            must("repeat", Kind::Whole(0, MOST_COPIES), "Does several operations so many times"),
            may(
                "as",
                Kind::Text,
                "Name: with \"k\", {k} in their paths and events is the number of the round",
            ),
            must("do", Kind::Program, "The operations"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_begins_with_its_verb() {
        assert!(OPERATIONS.iter().all(|schema| schema.keys[0].name == schema.name));
    }
}
