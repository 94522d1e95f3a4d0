//! Lists the keys, with the value and purpose of each: the reader takes its checks and hints from this table, and `json_schema` the
//! completions of an editor. Left out: rules for several values together.

use super::names::FD;
use super::part::{CALL, OFFSET, PART};
use super::patterns::{BY, DEPTH, FOR, NOT_BEFORE, PATTERN, RATE, RATE_IOPS};
use super::residency::Residency;
use super::{copies, mapped, names, patterns, streams};
use crate::keys::{Key, Keyed, Kind, Schema, may, must};
use crate::machine::{
    CawlParameters, Disk, IoMax, Kernel, Link, LinkParameters, Memory, Mount, Nfsd, Route, Switch, Topology,
    VmSettings,
};
use crate::readers::{Compute, ListOrder, Replay};
use crate::workload::{Advice, Buffer, MOST_PLACES, OpenFlag, SleepSpread, SyncRangeFlag};

/// How many copies of a file or a process, and how many rounds of a loop, can be asked for at once.
pub const MOST_COPIES: u32 = 1_000_000;

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
        may("link", Kind::Tables(Link::SCHEMA), "Connections between hosts and switches, by name"),
        may("switch", Kind::Tables(Switch::SCHEMA), "Switches that links lead to, by name"),
        may("route", Kind::List(Route::SCHEMA), "Ways from host to host by hand"),
        may(
            "network",
            Kind::Table(Topology::SCHEMA),
            "The network of all hosts: of one shape, or of a platform file of SimGrid",
        ),
        may("file", Kind::List(&FILE), "Files that exist before time 0"),
        may("process", Kind::Either(&[&PROCESS, &IMPORTED]), "Programs that run"),
    ],
};

/// `[tolerance]`.
pub static TOLERANCE: Schema = Schema {
    name: "tolerance",
    keys: &[
        may("total", Kind::Percent, "Of the measured time of all operations on files; default \"10 %\""),
        may("dirty", Kind::Percent, "Dirty memory: of the dirty limit; default \"10 %\""),
        may("cached", Kind::Percent, "Cached memory: of all memory; default \"5 %\""),
        may("p50", Kind::Percent, "Median duration of operations that are done often; default \"25 %\""),
        may("p90", Kind::Percent, "90th percentile of the same; not judged by default"),
        may("p99", Kind::Percent, "99th percentile; not judged by default"),
        may("p99_9", Kind::Percent, "99.9th percentile; not judged by default"),
        may("max", Kind::Percent, "Longest duration; not judged by default"),
    ],
};

/// A machine file with the same tables as a scenario.
pub static MACHINES: Schema = Schema {
    name: "machines",
    keys: &[
        may("machine", Kind::Table(&MACHINE), "The only host"),
        may("host", Kind::Tables(&MACHINE), "Several hosts, by name, instead of [machine]"),
        may("link", Kind::Tables(Link::SCHEMA), "Connections between hosts and switches, by name"),
        may("switch", Kind::Tables(Switch::SCHEMA), "Switches that links lead to, by name"),
        may("route", Kind::List(Route::SCHEMA), "Ways from host to host by hand"),
        may(
            "network",
            Kind::Table(Topology::SCHEMA),
            "The network of all hosts: of one shape, or of a platform file of SimGrid",
        ),
    ],
};

/// `[machine]` and `[host.NAME]`.
pub static MACHINE: Schema = Schema {
    name: "machine",
    keys: &[
        may(
            "from",
            Kind::Text,
            "Shipped machine or path of a machine file; the keys beside it override it\n\n`pagecast machine list` names the shipped ones. A path has a slash or ends in `.toml`, and is relative to this file.",
        ),
        may("description", Kind::Text, "What machine this is"),
        may("source", Kind::Text, "Where its numbers come from"),
        must(
            "cores",
            Kind::Whole(1, 1_000_000),
            "Processors that compute and copying run on\n\nRequired here or in `from`. Only under `kernel` copying needs them.",
        ),
        must("memory", Kind::Table(Memory::SCHEMA), "Main memory"),
        may("vm", Kind::Table(VmSettings::SCHEMA), "Kernel settings, under their own names"),
        may("kernel", Kind::Table(Kernel::SCHEMA), "Which Linux it runs"),
        may("nfsd", Kind::Table(Nfsd::SCHEMA), "Its NFS server"),
        may("cgroup", Kind::Tables(&CGROUP), "Memory cgroups, by name"),
        may("disk", Kind::Tables(Disk::SCHEMA), "Disks, by name"),
        may(
            "nic",
            Kind::Table(LinkParameters::SCHEMA),
            "Its network interface, which all that it sends and receives crosses",
        ),
        may("mount", Kind::Tables(Mount::SCHEMA), "Directories and what is mounted there, by path"),
        may(
            "cawl",
            Kind::Table(CawlParameters::SCHEMA),
            "Parameters of the model cawl; default: from the other keys",
        ),
        may(
            "uncertainty",
            Kind::Percents,
            "How far values may be off, by their keys in quotes\n\n`{ \"memory.write\" = \"3 %\", \"disk.ssd.latency\" = \"20 %\" }`: in 90 of 100 cases the true value is at most that much larger, or the value given that much larger than the true one. For [forecasts with a range](../guides/ranges.md) alone.",
        ),
    ],
};

/// `[machine.cgroup.NAME]`.
pub static CGROUP: Schema = Schema {
    name: "cgroup",
    keys: &[
        may(
            "memory",
            Kind::Table(&CGROUP_MEMORY),
            "Its limit: memory.max, memory.high or memory.limit_in_bytes",
        ),
        may("io", Kind::Table(&CGROUP_IO), "Its limits on disks, io.max, and its weight, io.weight"),
    ],
};

/// The keys of a cgroup that begin with `io.`.
pub static CGROUP_IO: Schema = Schema {
    name: "cgroup_io",
    keys: &[
        may(
            "max",
            Kind::Tables(IoMax::SCHEMA),
            "What its processes may move on a disk in a second, by the name of the disk",
        ),
        may(
            "weight",
            Kind::Whole(1, 10_000),
            "Its part of disks with `iocost`, by the weights of all that use them; default 100",
        ),
    ],
};

/// The keys of a cgroup that begin with `memory.`.
pub static CGROUP_MEMORY: Schema = Schema {
    name: "cgroup_memory",
    keys: &[
        may("max", Kind::Size, "Of cgroup v2: page cache and anonymous memory of its processes"),
        may(
            "high",
            Kind::Size,
            "Of cgroup v2: page cache beyond it makes room as with `max`. The lower of the two counts. Anonymous memory must stay below it",
        ),
        may("limit_in_bytes", Kind::Size, "The same as `max` of cgroup v1, which has no dirty limits"),
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
        may(
            "ionice",
            Kind::Text,
            "Priority of its requests, as `ionice` prints it: \"idle\", \"realtime 0\", \"best-effort 7\"; default \"best-effort 4\"",
        ),
        may(
            "slots",
            Kind::Whole(1, 1_000_000),
            "Cores that it holds from its start to its end, and waits for; default none: it shares those of its host\n\nIts first row in the table of operations is the `wait` for them. It computes on one of them.",
        ),
        may(
            "hosts",
            Kind::Texts,
            "With `slots`, instead of `host`: it runs on the first of these with so many free cores",
        ),
        may(
            "priority",
            Kind::Whole(0, 1_000_000_000),
            "With `slots`: higher ones get free cores first; default 0\n\nAmong equals the one that was ready first. One that does not fit lets those behind it go ahead.",
        ),
    ],
};

/// `[[process]]` with `from`.
pub static IMPORTED: Schema = Schema {
    name: "imported",
    keys: &[
        must(
            "from",
            Kind::Text,
            "File with processes in another format; a path relative to this file, or \"-\" for standard input",
        ),
        may("format", Kind::Text, "Which format; default: by its content and the end of its name"),
        may(
            "name",
            Kind::Text,
            "Stands before the names of its processes, with a dot; default: nothing does",
        ),
        may(
            "files_in",
            Kind::Path,
            "Directory for its relative paths and those under no mount; default: /, or the first mount",
        ),
        may(
            "pace",
            Kind::Text,
            "Time between the operations of a recording: \"recorded\" (the default), \"fast\" for none, or a factor such as \"0.5\"",
        ),
        may(
            "replay",
            Kind::Word(&Replay::NAMES),
            "\"closed\" (the default): an operation waits for the one before; \"open\": it begins at its recorded time",
        ),
        may("lenient", Kind::Flag, "Passes over what is not understood, and says so; default false"),
        may("cached", Kind::Flag, "The files that exist before are in the page cache; default false"),
        may(
            "system_files",
            Kind::Flag,
            "A recording of strace: files below /usr, /etc and the like are forecast, and not taken as cached; default false",
        ),
        may(
            "strace_overhead",
            Kind::Time,
            "What strace has added to each call, in a recording of it; default an estimate",
        ),
        may(
            "fio_overhead",
            Kind::Time,
            "What fio itself takes for a request, in a job of it; default 1.6 times `memory.cost.call` of the machine",
        ),
        may(
            "columns",
            Kind::Text,
            "Columns of a table without a known header: \"time=0,op=3,offset=4,bytes=5\"",
        ),
        may("after", Kind::Texts, "Processes that must have ended before any of its begins"),
        may("start", Kind::Time, "Earliest start of its first one; default \"0 s\""),
        may("host", Kind::Text, "Where it runs; default the first host"),
        may("cgroup", Kind::Text, "The memory cgroup of that host that it is in; default none"),
        may(
            "hosts",
            Kind::Texts,
            "Where the tasks of a workflow run, instead of `host`; default all hosts that see the files of the first",
        ),
        may(
            "machines",
            Kind::Word(&["recorded", "any"]),
            "Where a task runs that was recorded on a machine: \"recorded\" (the default), the host of that name, or hosts in turn; \"any\": the first host with free cores",
        ),
        may(
            "task_order",
            Kind::Word(&ListOrder::NAMES),
            "Which task that is ready gets free cores: \"fifo\" (the default), the first; \"depth\": the one with the longest path to the end; \"priority\": the one with the highest",
        ),
        may(
            "compute",
            Kind::Word(&Compute::NAMES),
            "How long a task computes: \"runtime\" (the default), all of its recorded runtime; \"cpu\": its recorded use of processors",
        ),
        may(
            "core_speed",
            Kind::Number(1e-6, 1e6),
            "How many times as fast as the recorded cores those of the machine are; default 1",
        ),
    ],
};

const VECTOR: Key = may(
    "vector",
    Kind::Whole(1, MOST_PLACES),
    "In how many places of memory a call has its bytes; default 1",
);

/// The keys of every operation beside its own.
pub static OF_OPERATIONS: [Key; 1] = [NOT_BEFORE];

/// The operations. The first key of each is its verb.
pub static OPERATIONS: [Schema; 45] = [
    Schema {
        name: "read",
        keys: &[
            must("read", Kind::Path, "Reads a file"),
            OFFSET,
            may("size", Kind::Size, "How much; default up to the end of the file"),
            CALL,
            VECTOR,
            may("buffer", Kind::Word(&Buffer::NAMES), "\"fresh\" is new memory, held until free or exit"),
            PATTERN,
            RATE,
            RATE_IOPS,
            FOR,
            DEPTH,
            BY,
            FD,
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
            PATTERN,
            RATE,
            RATE_IOPS,
            FOR,
            DEPTH,
            BY,
            FD,
        ],
    },
    Schema {
        name: "open",
        keys: &[
            must("open", Kind::Path, "Opens a file"),
            may("create", Kind::Flag, "Makes it if it is not there"),
            may("truncate", Kind::Flag, "Empties it"),
            may("flags", Kind::Words(&OpenFlag::NAMES), "How it is read and written until it is closed"),
            FD,
        ],
    },
    Schema {
        name: "fsync",
        keys: &[must("fsync", Kind::Path, "Writes the file's dirty pages"), DEPTH, BY, FD],
    },
    Schema {
        name: "fdatasync",
        keys: &[
            must("fdatasync", Kind::Path, "Writes the file's dirty pages, without its times"),
            DEPTH,
            BY,
            FD,
        ],
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
            FD,
        ],
    },
    Schema {
        name: "readahead",
        keys: &[must("readahead", Kind::Path, "Reads pages that nobody has asked for yet"), OFFSET, PART, FD],
    },
    Schema { name: "close", keys: &[must("close", Kind::Path, "Closes a file"), FD] },
    Schema {
        name: "truncate",
        keys: &[
            must("truncate", Kind::Path, "Cuts or extends a file"),
            must("size", Kind::SizeOrZero, "Its new size"),
            FD,
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
            FD,
        ],
    },
    copies::COPY,
    Schema { name: "compute", keys: &[must("compute", Kind::Time, "Works on one core")] },
    Schema {
        name: "sleep",
        keys: &[
            must("sleep", Kind::Time, "Waits without a core"),
            may("random", Kind::Word(&SleepSpread::NAMES), "The time is the mean of what is drawn each time"),
        ],
    },
    Schema { name: "alloc", keys: &[must("alloc", Kind::Size, "Takes anonymous memory")] },
    Schema { name: "free", keys: &[must("free", Kind::SizeOrAll, "Gives anonymous memory back")] },
    Schema { name: "wait", keys: &[must("wait", Kind::Text, "Waits for an event")] },
    Schema { name: "signal", keys: &[must("signal", Kind::Text, "Signals an event, once and for all")] },
    Schema { name: "exit", keys: &[must("exit", Kind::True, "Ends the process here")] },
    names::LSEEK,
    names::DUP,
    names::RENAME,
    names::LINK,
    names::MKDIR,
    names::RMDIR,
    names::STAT,
    names::FALLOCATE,
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
    Schema {
        name: "repeat_for",
        keys: &[
            must(
                "repeat_for",
                Kind::Time,
                "Begins several operations again and again until this time is over",
            ),
            must("do", Kind::Program, "The operations"),
        ],
    },
    patterns::DRAIN,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_begins_with_its_verb() {
        assert!(OPERATIONS.iter().all(|schema| schema.keys[0].name == schema.name));
    }
}
