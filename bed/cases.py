"""The standard cases, scaled to a guest's memory and dirty limit, in the language of the study `live-kernel`.

The language is described in python/pagecast/studies/live_kernel/README.md. Only `m_memory` is for
calibration; no model has been fitted to any other. Files hold one repeated byte, as the guest's disk wants.
The others are those of `pagecast.validation.suite`, under the same names and of the same sizes; there they
need no root, and here each phase has a mark. stdio is its calls, as the kernel sees no others.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pagecast.validation.suite import shuffled

__all__ = ["CALIBRATION", "CASES", "DISK", "MEMORY", "Scale", "filling", "text_of"]

MEMORY: Final = "m_memory"
"""The case that a platform is calibrated on."""

DISK: Final = "m_disk"
"""The case that shows what a request takes; null_blk says only what the device takes of that."""

KERNEL_MIB: Final = 220
"""What the kernel and the guest's first file system keep of the memory; sizes of files follow from it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes that cases are made of, in MiB.

    `limit_mib` is about the dirty limit, `cache_mib` about what the page cache can hold. A case in a cgroup
    is scaled to the cgroup's memory, the dirty limit included.
    """

    limit_mib: int
    cache_mib: int

    @classmethod
    def of(cls, memory_mib: int, dirty_ratio: int, cgroup_mib: int = 0) -> "Scale":
        """Estimate the sizes for a guest; both are whole multiples of 4 MiB."""
        cache = cgroup_mib or memory_mib - KERNEL_MIB
        return cls(_rounded(cache * dirty_ratio / 100), _rounded(cache))


def _rounded(mib: float) -> int:
    return max(int(mib) // 4 * 4, 4)


def text_of(name: str, scale: Scale) -> str:
    """Write the steps of a case."""
    return "".join(f"{line}\n" for line in (CASES | CALIBRATION)[name](scale))


def _make(path: str, mib: int) -> list[str]:
    """Make a file in the set-up, on the disk and out of the cache."""
    return [f"open 0 MNT/{path} wct", f"write 0 0 {mib}m 1m", "fsync 0", "close 0", "drop", "sleep 500"]


def _read(path: str, mib: int, *, call: str = "1m") -> list[str]:
    return [f"open 0 MNT/{path} r", f"read 0 0 {mib}m {call}", "close 0"]


def _gone(*paths: str) -> list[str]:
    """Leave nothing for the next repetition."""
    return ["sync", *(f"unlink MNT/{path}" for path in paths), "sync"]


def filling(memory_mib: int) -> list[str]:
    """Write a file as large as the memory, and remove it when it is on the disk."""
    return ["open 0 MNT/fill wct", f"write 0 0 {memory_mib}m 1m", "fsync 0", "close 0", *_gone("fill")]


def memory(_: Scale) -> Iterator[str]:
    """64 MiB written, rewritten and read again in the cache with calls of four sizes, and removed.

    Written over once more while they are not cached: blocks are there, and pages are not.
    """
    yield from ("open 0 MNT/fm wct", "write 0 0 64m 1m", "fsync 0")
    for call in ("4k", "64k", "1m", "16m"):
        yield from (f"mark rw{call}", f"write 0 0 64m {call}", "fsync 0")
    yield from ("drop", "mark over", "write 0 0 64m 1m", "fsync 0")
    yield from ("close 0", "open 0 MNT/fm r")
    for call in ("4k", "64k", "1m", "16m"):
        yield from (f"mark rd{call}", f"read 0 0 64m {call}")
    yield from ("close 0", "unlink MNT/fm", "sync")


def requests(_: Scale) -> Iterator[str]:
    """512 requests of 4 KiB past the page cache, read and written, one at a time."""
    yield from (*_make("fq", 16), "mark read", "open 0 MNT/fq rd", "read 0 0 2m 4k", "close 0")
    yield from ("mark write", "open 0 MNT/fq wd", "write 0 0 2m 4k", "close 0", *_gone("fq"))


def past_the_limit(scale: Scale) -> Iterator[str]:
    """One process writes twice the dirty limit, is idle, and waits for the disk."""
    size = 2 * scale.limit_mib
    yield from ("drop", "sleep 500", "mark write", "open 0 MNT/fa wct", f"write 0 0 {size}m 1m")
    yield from ("stat after_write MNT/fa", "sleep 3000", "mark fsync", "fsync 0", "close 0")
    yield from ("stat after_fsync MNT/fa", *_gone("fa"))


def with_pauses(scale: Scale) -> Iterator[str]:
    """Six writes of half of the dirty limit each, a second of computing after each."""
    part = scale.limit_mib // 2
    yield from ("drop", "sleep 500", "mark bursts", "open 0 MNT/fb wct")
    for _ in range(6):
        yield from (f"write 0 -1 {part}m 1m", "sleep 1000")
    yield from ("stat after_bursts MNT/fb", "mark fsync", "fsync 0", "close 0", *_gone("fb"))


def cold_and_warm(scale: Scale) -> Iterator[str]:
    """A quarter of the cache read cold, then warm, then cold with calls of 64 KiB."""
    size = scale.cache_mib // 4
    yield from (*_make("fc", size), "mark cold", *_read("fc", size), "stat cold MNT/fc")
    yield from ("mark warm", *_read("fc", size), "drop", "sleep 500")
    yield from ("mark cold64k", *_read("fc", size, call="64k"), "stat cold64k MNT/fc", *_gone("fc"))


def application(scale: Scale, share: float) -> Iterator[str]:
    """Three tasks; task k reads file k (the first one cold), computes half a second and writes file k + 1."""
    size = _rounded(scale.cache_mib * share)
    yield from _make("d1", size)
    for task in (1, 2, 3):
        yield from (f"mark read{task}", *_read(f"d{task}", size), f"stat read{task} MNT/d{task}", "spin 500")
        yield from (f"mark write{task}", f"open 1 MNT/d{task + 1} wct", f"write 1 0 {size}m 1m", "close 1")
        yield from (f"stat write{task} MNT/d{number}" for number in range(1, task + 2))
    yield from _gone("d1", "d2", "d3", "d4")


def larger_than_memory(scale: Scale) -> Iterator[str]:
    """A file a quarter larger than the cache, read twice."""
    size = _rounded(scale.cache_mib * 1.25)
    yield from _make("fe", size)
    for label in ("first", "again"):
        yield from (f"mark {label}", *_read("fe", size), f"stat {label} MNT/fe")
    yield from _gone("fe")


def writers(scale: Scale, count: int) -> Iterator[str]:
    """Processes write twice the dirty limit together, each its file; then as many read these."""
    size = _rounded(2 * scale.limit_mib / count)
    yield from ("drop", "sleep 500")
    for label, flags, kind in (("write", "wct", "write"), ("read", "r", "read")):
        yield f"mark {label}"
        for number in range(count):
            yield from (f"proc {label[0]}{number}", f"open 0 MNT/f{number} {flags}", f"{kind} 0 0 {size}m 1m")
            yield from ("close 0", "endproc")
        yield "wait"
    yield from ("mark end", *_gone(*(f"f{number}" for number in range(count))))


def reader_against_writer(scale: Scale) -> Iterator[str]:
    """One process reads a cold file while another writes twice the dirty limit."""
    size = 2 * scale.limit_mib
    yield from (*_make("g1", size), "mark both")
    yield from ("proc reader", *_read("g1", size), "endproc")
    yield from ("proc writer", "open 1 MNT/g2 wct", f"write 1 0 {size}m 1m", "close 1", "endproc", "wait")
    yield from ("mark fsync", "open 0 MNT/g2 w", "fsync 0", "close 0", *_gone("g1", "g2"))


def overwrites(scale: Scale) -> Iterator[str]:
    """A fifth of the limit overwritten in the cache, over and over; then 1.5 times the limit, twice."""
    small, large = _rounded(scale.limit_mib / 5), _rounded(scale.limit_mib * 1.5)
    yield from ("drop", "sleep 500", "mark small", "open 0 MNT/h1 wct")
    yield from (f"write 0 0 {small}m 1m" for _ in range(20))
    yield from ("fsync 0", "close 0", "mark large", "open 0 MNT/h2 wct")
    yield from (f"write 0 0 {large}m 1m" for _ in range(2))
    yield from ("stat large MNT/h2", "mark fsync", "fsync 0", "close 0", *_gone("h1", "h2"))


def random_calls(scale: Scale) -> Iterator[str]:
    """Calls of 64 KiB in random order: writes over a cold file, then reads of it, cold."""
    size = _rounded(scale.limit_mib * 0.75)
    order = shuffled(size * 16, seed=1)
    yield from (*_make("fi", size), "mark write", "open 0 MNT/fi w")
    yield from (f"write 0 {index * 64}k 64k 64k" for index in order)
    yield from ("mark fsync", "fsync 0", "close 0", "drop", "sleep 500", "mark read", "open 0 MNT/fi r")
    yield from (f"read 0 {index * 64}k 64k 64k" for index in shuffled(size * 16, seed=2))
    yield from ("close 0", "stat read MNT/fi", *_gone("fi"))


def past_the_cache(_: Scale) -> Iterator[str]:
    """O_DIRECT with calls of three sizes, 96 MiB each, writing over a file and reading it."""
    yield from _make("fj", 96)
    for label, flags, kind in (("write", "wd", "write"), ("read", "rd", "read")):
        for call in ("64k", "1m", "4m"):
            yield from (f"mark {label}{call}", f"open 0 MNT/fj {flags}", f"{kind} 0 0 96m {call}", "close 0")
    yield from _gone("fj")


def synchronous(_: Scale) -> Iterator[str]:
    """O_SYNC with calls of three sizes, 96 MiB of new data each; then an fdatasync after each MiB."""
    for call in ("64k", "1m", "4m"):
        yield from (f"mark sync{call}", f"open 0 MNT/k{call} wcts", f"write 0 0 96m {call}", "close 0")
    yield from ("mark fdatasync", "open 0 MNT/kf wct")
    yield from ("write 0 -1 1m 1m", "fdatasync 0") * 96
    yield from ("close 0", *_gone("k64k", "k1m", "k4m", "kf"))


def periodic(scale: Scale) -> Iterator[str]:
    """A fifth of the dirty limit is written, and nobody waits: it goes to the disk when it is 30 s old."""
    size = _rounded(scale.limit_mib / 5)
    yield from ("drop", "sleep 500", "mark write", "open 0 MNT/fl wct", f"write 0 0 {size}m 1m")
    yield from ("sleep 20000", "stat young MNT/fl", "sleep 20000", "stat old MNT/fl")
    yield from ("mark fsync", "fsync 0", "close 0", *_gone("fl"))


def unlink_dirty(scale: Scale) -> Iterator[str]:
    """Dirty files are removed before they are on the disk, and the limit is there for the next one."""
    size = _rounded(scale.limit_mib * 0.8)
    yield from ("drop", "sleep 500")
    for number in range(4):
        yield from (f"mark write{number}", f"open 0 MNT/n{number} wct", f"write 0 0 {size}m 1m", "close 0")
        yield from (f"mark unlink{number}", f"unlink MNT/n{number}", "sleep 200")
    yield from ("mark sync", "sync")


def small_calls(scale: Scale) -> Iterator[str]:
    """A fifth of the limit written and read with calls of 4096 bytes, as stdio makes them."""
    size = _rounded(scale.limit_mib / 5)
    yield from ("drop", "sleep 500", "mark write", "open 0 MNT/fo wct", f"write 0 0 {size}m 4k", "close 0")
    yield from ("mark read", *_read("fo", size, call="4k"), "mark end", *_gone("fo"))


CASES: Final[dict[str, Callable[[Scale], Iterable[str]]]] = {
    MEMORY: memory,
    "a_seqwrite": past_the_limit,
    "b_pauses": with_pauses,
    "c_read": cold_and_warm,
    "d04_app": lambda scale: application(scale, 0.4),
    "d08_app": lambda scale: application(scale, 0.8),
    "e_reread": larger_than_memory,
    "f1_writers": lambda scale: writers(scale, 1),
    "f2_writers": lambda scale: writers(scale, 2),
    "f4_writers": lambda scale: writers(scale, 4),
    "f8_writers": lambda scale: writers(scale, 8),
    "g_rw": reader_against_writer,
    "h_overwrite": overwrites,
    "i_random": random_calls,
    "j_direct": past_the_cache,
    "k_sync": synchronous,
    "l_periodic": periodic,
    "n_unlink": unlink_dirty,
    "o_calls4k": small_calls,
}
"""The function that makes each case; calibration first."""

CALIBRATION: Final[dict[str, Callable[[Scale], Iterable[str]]]] = {MEMORY: memory, DISK: requests}
"""The function that makes each case that a platform with programs is calibrated on."""
