"""What can be set: the kernel's own settings, the costs of a thread, and how fine the oracle is.

Source: Documentation/admin-guide/sysctl/vm.rst (names and defaults); mm/backing-dev.c (100 MiB/s as first
guess); mm/readahead.c, block/blk-settings.c and block/blk-wbt.c (sizes and number of requests).
"""

from dataclasses import dataclass

PAGE = 4096
KIB, MIB = 1 << 10, 1 << 20


def pages(size: int) -> int:
    """How many pages hold so many bytes."""
    return -(-size // PAGE)


@dataclass(frozen=True)
class Vm:
    """`vm.*`."""

    dirty_ratio: int = 20
    dirty_background_ratio: int = 10
    dirty_bytes: int = 0
    dirty_background_bytes: int = 0
    dirty_writeback_centisecs: int = 500
    dirty_expire_centisecs: int = 3000
    min_free_kbytes: int | None = None  # None: by the size of the memory
    watermark_scale_factor: int = 10


@dataclass(frozen=True)
class Bdi:
    """`/sys/class/bdi/*`: a disk's part of the dirty limits, in percent, and whether it is one of its own."""

    min_ratio: float = 0
    max_ratio: float = 100
    strict_limit: bool = False


@dataclass(frozen=True)
class Wbt:
    """Write-back throttling of a disk: by how many requests it counts (`queue/nr_requests`)."""

    queue_depth: int = 128


@dataclass(frozen=True)
class Cost:
    """What the steps of a read or write cost one thread. A rate that is None is that of the memory."""

    call_s: float = 0.0
    page_insert_s: float = 0.0  # a page that is new in the cache
    page_lookup_s: float = 0.0  # a page that is found
    fault_s: float = 0.0  # a page of new anonymous memory
    copy_read_bytes_per_s: float | None = None
    copy_write_bytes_per_s: float | None = None
    flushing_factor: float = 1.0  # of writing new pages, while others of the file are under writeback
    page_reported_s: float = 0.0  # a page that the host of this machine has taken back


@dataclass(frozen=True)
class MountCost:
    """What a file system does of its own takes."""

    commit_s: float = 0.0  # of the journal, where making a file durable needs one
    block_free_s: float = 0.0  # giving a block of 4 KiB back that was written back
    block_free_within_s: float | None = None  # no longer ago than this
    file_free_s: float = 0.0  # once for each file that gives such blocks back


@dataclass(frozen=True)
class Options:
    """What a scenario does not say: `run(scenario, "kernel", unit_bytes=4096)`."""

    unit_bytes: int = MIB  # what is cached, dirtied, written, evicted as a whole
    sample_s: float = 0.1
    hz: int = 250
    lru: str = "two-list"  # or "mglru"
    lru_is_reworked: bool = True  # of mglru: as since Linux 6.14
    has_timer_wheel: bool = True  # if not, a pause ends at the next jiffy however long it is
    flusher_hz: int | None = None  # of the wheel that wakes flushers up; None: hz
    queue_bytes: int = 16 * 1280 * KIB  # writes in flight per disk that has no wbt
    read_ahead_bytes: int = 128 * KIB  # queue/read_ahead_kb
    request_bytes: int = 1280 * KIB  # queue/max_sectors_kb
    read_latency_s: float = 0.0  # of a request that is read, before its bytes come
    kernel_bytes: int = 0  # memory that is neither free nor anonymous nor cache
    reserve_bytes: int | None = None  # totalreserve_pages; None: by the size of the memory
    bandwidth_bytes_per_s: int = 100 * MIB  # what a disk's estimate starts with,
    ratelimit_bytes_per_s: int = 100 * MIB  # and the rate of its writers
    dirty_limit_bytes: int | None = None  # what the hard limit starts with; None: the limit
    backed_bytes: int = 0  # free memory that the host of this machine has not taken back,
    free_blocks: tuple[int, ...] = ()  # and free blocks of each order, from single pages up
