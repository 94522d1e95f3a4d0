"""The machine file of a bed: what was set and what its kernel said, in the words of a scenario.

Nothing in it is measured: sizes and costs of memory are calibrated on the case m_memory by the study that
reads the recording, and are placeholders here.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from bed.guest import FileSystem, NullDisk
from bed.nfs import Nfs
from bed.packages import BedError

__all__ = ["FILE", "Made", "machine_of", "name_of"]

FILE: Final = "machine.toml"
"""Its name in the folder of a recording."""

_QUEUE_REQUESTS: Final = {"zram": 100_000, "queue": 128}
"""How many may wait: the throttle before zram has no bound, a loop device has 128 (drivers/block/loop.c)."""

_COPIES: Final = {"guest": ("5 GB/s", "2 GB/s"), "host": ("30 GB/s", "30 GB/s")}
"""Reading and writing of memory, of all threads together; those of one thread are calibrated on m_memory."""
_LIMITS: Final = ("dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes")
"""Of a ratio and its bytes, one is 0: the other holds (mm/page-writeback.c: dirty_ratio_handler)."""
_QUEUE: Final = ("nr_requests", "max_sectors_kb", "wbt_lat_usec")
_TICKS: Final = 50
"""null_blk gives its budget out so many times a second (drivers/block/null_blk/main.c: TICKS_PER_SEC)."""
_INTERVAL: Final = "20 ms"

_PROCESSOR: Final = ('fsync = "17 us"',)
_OPEN: Final = ('open = "5.7 us"', 'iget = "13 us"')
_EXT4: Final = (
    'commit = "45 us"',
    'commit_block = "20 us"',
    'commit_wakeup = "11 us"',
    'extent_conversion = "66 us"',
    'create = "56 us"',
    'unlink = "55 us"',
    'rename = "75 us"',
    'name_scan = "450 ns"',
    *_OPEN,
)
_EXT3: Final = (
    'commit = "56 us"',
    'commit_block = "4 us"',
    'commit_wakeup = "11 us"',
    'create = "31 us"',
    'unlink = "21 us"',
    'rename = "31 us"',
    'name_scan = "450 ns"',
    *_OPEN,
)
_XFS: Final = ('commit = "40 us"', 'extent_conversion = "45 us"', 'update_time = "14 us"', *_EXT4[-6:])
_COSTS: Final = {"ext4": _EXT4, "ext3": _EXT3, "xfs": _XFS}
_FLUSH_NS: Final = 12_000
"""Of the guest's processor, one instruction a nanosecond, on Linux 6.12. They are from cases that are not
judged: append_fsync, over_fsync, create_fsync, create_unlink and rename_over of ext4 in ordered mode;
over_fsync without barriers (a flush goes through a thread of its own); append_fsync, create_unlink and
rename_over of ext3, whose blocks have no checksums; append_fsync of XFS, whose names were not recorded. A
wake-up is from eight processes that append and fsync on ext3, opening from 2,000 opens of files that are
there on ext4; neither is a case."""

_JOURNALED: Final = 'page_insert = "36 us"'
"""A page of journaled data takes a handle of its own: from the writes of stream4j while the disk was idle."""

_WRITEBACK: Final = 'cost.page_writeback = "2300 ns"\n'
"""The flusher takes 0.6 ms of the guest's processor for each MiB (docs/guides/test-bed.md)."""

_FOLIO: Final = 'cost.folio_insert = "1900 ns"\n'
"""From the writes of append_fsync on XFS, as is `update_time`: 6.2 us for 4 KiB, and 20.5 us once a tick."""

_UNLIMITED_MBPS: Final = 5000
"""Of a null_blk without a limit, which copies at the speed of memory."""

_SYSCTLS: Final = ("dirty_expire_centisecs", "dirty_writeback_centisecs", "min_free_kbytes")


@dataclass(frozen=True, slots=True)
class Made:
    """What a bed was made of: `bed` is guest or host, and `memory_mib` the guest's or what the host has left.

    Rates are those of the disk's limits, in bytes per second. `cgroup_bytes` is the memory of the cgroup that
    cases run in, 0 for none; `cgroup_file` limits it.
    """

    bed: str
    cores: int
    memory_mib: int
    disk: str
    write_bytes_per_s: int
    read_bytes_per_s: int
    cgroup_bytes: int = 0
    cgroup_file: str = "memory.max"
    disk_mib: int = 8192
    null: NullDisk | None = None
    file_system: FileSystem = field(default_factory=FileSystem)
    scheduler: str = ""
    """The one that was asked for; else it is the kernel's own."""
    nfs: Nfs | None = None
    """Where cases were played on a mount of NFS; such a platform has no machine file."""


def name_of(made: Made, platform: str) -> str:
    """Name a platform after its kernel, its disk and its memory, and all that is not by default.

    guest612-zram-2g, guest612-null-ext4-journal64m-cache64m-3g.
    """
    major, minor = _version(platform)
    gib, rest = divmod(made.memory_mib, 1024)
    memory = f"{made.memory_mib}m" if rest else f"{gib}g"
    if made.nfs is not None:
        return "-".join([f"{made.bed}{major}{minor}", made.nfs.name(), memory])
    parts = [f"{made.bed}{major}{minor}", made.disk]
    if not made.file_system.is_plain:
        parts += _words(made.file_system)
    if made.null is not None:
        parts += _attributes(made.null)
    if made.scheduler:
        parts.append(made.scheduler)
    parts.append(memory)
    if made.cgroup_bytes:
        parts.append(f"cgroup{made.cgroup_bytes >> 20}m")
        if made.cgroup_file != "memory.max":
            parts.append(made.cgroup_file.removeprefix("memory."))
    return "-".join(parts)


def _attributes(null: NullDisk) -> list[str]:
    """Name the attributes of null_blk that are not by default."""
    default = NullDisk()
    words = {
        "size": f"size{null.size}m",
        "completion_nsec": f"{null.completion_nsec // 1000}us",
        "mbps": f"{null.mbps}mbps",
        "hw_queue_depth": f"queue{null.hw_queue_depth}",
        "submit_queues": f"queues{null.submit_queues}",
        "cache_size": f"cache{null.cache_size}m",
        "fua": "nofua",
    }
    return [word for name, word in words.items() if getattr(null, name) != getattr(default, name)]


def machine_of(made: Made, platform: str) -> str:
    """Write the machine file of a bed.

    Parameters
    ----------
    made : Made
    platform : str
        The text of ``platform.txt``.

    Raises
    ------
    BedError
        The kernel did not say all that belongs into the file.
    """
    major, minor = _version(platform)
    read, write = _COPIES[made.bed]
    total_kib = _found(r"^MemTotal: +(\d+) kB", platform, "MemTotal")
    limits = [(name, int(_sysctl(name, platform))) for name in _LIMITS]
    sysctls = [(name, _sysctl(name, platform)) for name in _SYSCTLS]
    vm = "\n".join(f"{name} = {value}" for name, value in [*(each for each in limits if each[1]), *sysctls])
    return f"""\
# Made by `python -m bed {made.bed}`. Recorded, but for [memory]: the study calibrates it on m_memory.
cores = {made.cores}

[kernel]
version = "{major}.{minor}"
lru = "{_lru(platform)}"

[vm]
{vm}

[memory]
size = "{total_kib} KiB"
read = "{read}"
write = "{write}"
sharing = "time"
{_WRITEBACK if made.null is not None else ""}{_FOLIO if made.file_system.kind == "xfs" else ""}
[disk.disk]
{_disk(made) if made.null is None else _null_disk(made.null, platform)}{_journal_device(made, platform)}
[mount."/data"]
disk = "disk"
{_file_system(made)}{_cgroup(made)}"""


def _disk(made: Made) -> str:
    return f"""\
size = "{made.disk_mib} MiB"
read = "{made.read_bytes_per_s} B/s"
write = "{made.write_bytes_per_s} B/s"
sharing = "separate"
nr_requests = {_QUEUE_REQUESTS[made.disk]}
stable_writes = {str(made.disk == "zram").lower()}
"""


def _null_disk(null: NullDisk, platform: str) -> str:
    """Describe null_blk by its attributes and its queue; a flush of its cache is one more request."""
    queue = {name: int(_found(rf"^queue/{name} (\d+)", platform, name)) for name in _QUEUE}
    keys = "\n".join(f"{name} = {value}" for name, value in queue.items())
    scheduler = _found(r"^queue/scheduler .*\[(\S+)\]", platform, "scheduler")
    depth = null.hw_queue_depth * null.submit_queues
    # Throttling counts with the requests of the queue before it has a scheduler (blk_queue_depth).
    throttling = f"queue_depth = {null.hw_queue_depth}\n" if scheduler != "none" else ""
    # A budget of whole bytes for each tick (mb_per_tick).
    rate = f"{(2**20 // _TICKS) * null.mbps * _TICKS} B/s" if null.mbps else f"{_UNLIMITED_MBPS} MiB/s"
    limit = f'limit_interval = "{_INTERVAL}"\n' if null.mbps else ""
    flush = f'flush = "{null.completion_nsec + _FLUSH_NS} ns"\n' if null.cache_size else ""
    return f"""\
size = "{null.size} MiB"
read = "{rate}"
write = "{rate}"
sharing = "total"
latency = "{null.completion_nsec} ns"
write_latency = "{null.completion_nsec} ns"
service = "{null.completion_nsec} ns"
hw_queue_depth = {depth}
scheduler = "{scheduler}"
{throttling}{flush}{limit}{keys}
logical_block_size = "4 KiB"
"""


def _journal_device(made: Made, platform: str) -> str:
    """Describe the disk of the journal, which is like the other one, but for its size."""
    if made.null is None or not made.file_system.has_journal_device:
        return ""
    disk = replace(made.null, size=made.file_system.journal_mib)
    return f"\n[disk.log]\n{_null_disk(disk, platform)}"


def _words(file_system: FileSystem) -> list[str]:
    options = (option.removeprefix("data=") for option in file_system.options)
    device = "device" if file_system.has_journal_device else ""
    journal = [f"journal{device}{file_system.journal_mib}m"] if file_system.journal_mib else []
    return [file_system.kind, *options, *journal]


def _file_system(made: Made) -> str:
    """Describe the file system of a guest on null_blk; times of the processor are `_PROCESSOR`."""
    if made.null is None:
        return ""
    options = dict(option.partition("=")[::2] for option in made.file_system.options)
    journal = [f'size = "{made.file_system.journal_mib} MiB"'] if made.file_system.journal_mib else []
    journal += [f'data = "{options["data"]}"'] if "data" in options else []
    journal += [f'commit_interval = "{options["commit"]} s"'] if "commit" in options else []
    journal += ["barrier = false"] if options.keys() & {"nobarrier"} or options.get("barrier") == "0" else []
    lines = [f'type = "{made.file_system.kind}"', f"journal = {{ {', '.join(journal)} }}"]
    lines += ['journal_device = "log"'] if made.file_system.has_journal_device else []
    lines += ["delalloc = false"] if "nodelalloc" in options else []
    lines += [_JOURNALED] if options.get("data") == "journal" else []
    return "".join(f"{line}\n" for line in (*lines, *_PROCESSOR, *_COSTS[made.file_system.kind]))


def _cgroup(made: Made) -> str:
    return f'\n[cgroup.case]\n{made.cgroup_file} = "{made.cgroup_bytes} B"\n' if made.cgroup_bytes else ""


def _lru(platform: str) -> str:
    """Which policy holds; a kernel without generations has no ``/sys/kernel/mm/lru_gen/enabled``."""
    found = re.search(r"^(0x[0-9a-f]{4})$", platform, re.MULTILINE)
    return "mglru" if found and int(found[1], 16) & 1 else "two-list"


def _sysctl(name: str, platform: str) -> str:
    return _found(rf"^vm.{name} = (\d+)", platform, name)


def _version(platform: str) -> tuple[str, str]:
    found = re.search(r"^Linux \S+ (\d+)\.(\d+)", platform)
    if found is None:
        raise BedError("platform.txt does not begin with the kernel's version")
    return found[1], found[2]


def _found(pattern: str, platform: str, what: str) -> str:
    found = re.search(pattern, platform, re.MULTILINE)
    if found is None:
        raise BedError(f"platform.txt has no {what}")
    return found[1]
