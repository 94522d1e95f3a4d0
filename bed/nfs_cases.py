"""Cases of NFS: what a client's page cache, the link, and a server's cache and disk do to ordinary work.

They are in the language of the studies `live-kernel` and `live-nfs`. MNT is the client's mount, SRV the
folder that the server exports. `srv COMMAND` runs on a server with a kernel of its own. Only `m_memory` is
for calibration. Sizes follow from the client's dirty limit.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bed import cases
from bed.cases import MEMORY
from pagecast.validation.suite import shuffled

__all__ = ["CASES", "Scale", "text_of"]

SMALL_MIB: Final = 64
"""Less than the background limit of a client with 1 GiB of memory."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The client's dirty limit and page cache in MiB, and whether the server has a kernel of its own."""

    limit_mib: int
    cache_mib: int
    has_own_server: bool

    @classmethod
    def of(cls, memory_mib: int, dirty_ratio: int, server_memory_mib: int) -> "Scale":
        """Estimate the sizes; the memory of a server in user-mode Linux is the guest's. 0: it has none."""
        client = cases.Scale.of(memory_mib - server_memory_mib, dirty_ratio)
        return cls(client.limit_mib, client.cache_mib, server_memory_mib > 0)

    def drop(self) -> list[str]:
        """Empty both page caches."""
        return ["sync", *(["sh srv sync > /dev/null"] if self.has_own_server else []), *self.drop_clean()]

    def drop_clean(self) -> list[str]:
        """Empty both page caches of what is clean."""
        return ["drop", *(["sh srv drop > /dev/null"] if self.has_own_server else []), "sleep 500"]

    def look(self, label: str, *names: str) -> list[str]:
        """Look at what both page caches hold of files."""
        of_server = "sh srv stat {0} {1} >> /tmp/srv_looks" if self.has_own_server else "stat srv_{0} SRV/{1}"
        return [
            line for name in names for line in (f"stat {label} MNT/{name}", of_server.format(label, name))
        ]

    def gone(self, *names: str) -> list[str]:
        """Leave nothing for the next repetition."""
        after = ["sh srv sync > /dev/null"] if self.has_own_server else []
        return ["mark done", *(f"unlink MNT/{name}" for name in names), "sync", *after]

    def change(self, name: str) -> str:
        """Change one byte of a file on the server."""
        change = f"printf Z | dd of=SRV/{name} bs=1 count=1 conv=notrunc 2>/dev/null"
        return f"sh srv '{change}' > /dev/null" if self.has_own_server else f"sh {change}"


def text_of(name: str, scale: Scale) -> str:
    """Write the steps of a case."""
    return "".join(f"{line}\n" for line in CASES[name](scale))


def _mib(mib: float) -> int:
    return max(int(mib) // 4 * 4, 4)


def _make(scale: Scale, name: str, mib: int) -> list[str]:
    lines = [f"open 0 MNT/{name} wct", f"write 0 0 {mib}m 4m", "fsync 0", "close 0"]
    return [*lines, *scale.drop()]


def _read(name: str, mib: int, call: str = "1m") -> list[str]:
    return [f"open 0 MNT/{name} r", f"read 0 0 {mib}m {call}", "close 0"]


def memory(_: Scale) -> Iterator[str]:
    """64 MiB rewritten and read again in the client's cache with calls of four sizes."""
    yield from ("open 0 MNT/fm wct", "write 0 0 64m 1m", "fsync 0")
    for call in ("4k", "64k", "1m", "16m"):
        yield from (f"mark rw{call}", f"write 0 0 64m {call}", f"mark fsync{call}", "fsync 0")
    yield from ("close 0", "open 0 MNT/fm r")
    for call in ("4k", "64k", "1m", "16m"):
        yield from (f"mark rd{call}", f"read 0 0 64m {call}")
    yield from ("close 0", "mark done", "unlink MNT/fm", "sync")


def _written(scale: Scale, name: str, mib: int, labels: Sequence[str], end: str) -> Iterator[str]:
    """Write a file; `end` is what the second label marks before the file is closed."""
    yield from (f"mark {labels[0]}", f"open 0 MNT/{name} wct", f"write 0 0 {mib}m 1m")
    if end == "fsync":
        yield from (f"mark {labels[1]}", "fsync 0", f"mark {labels[2]}", "close 0")
    else:
        yield from (*scale.look("after_write", name), f"mark {labels[1]}", "close 0")
    yield from scale.look(f"after_{labels[-1]}", name)


def small(scale: Scale) -> Iterator[str]:
    """64 MiB written and closed, and written, fsynced and closed."""
    yield from scale.drop()
    yield from _written(scale, "fa", SMALL_MIB, ("write", "close"), "close")
    yield from _written(scale, "fb", SMALL_MIB, ("write2", "fsync2", "close2"), "fsync")
    yield from scale.gone("fa", "fb")


def past_the_limit(scale: Scale) -> Iterator[str]:
    """One process writes twice the dirty limit and closes the file."""
    yield from scale.drop()
    yield from _written(scale, "fa", 2 * scale.limit_mib, ("write", "close"), "close")
    yield from scale.gone("fa")


def half_of_the_limit(scale: Scale) -> Iterator[str]:
    """Four files of 0.7 of the limit, past the background limit, each with an fsync."""
    size = _mib(0.7 * scale.limit_mib)
    yield from scale.drop()
    names = [f"b{number}" for number in range(4)]
    for number, name in enumerate(names):
        labels = (f"write{number}", f"fsync{number}", f"close{number}")
        yield from _written(scale, name, size, labels, "fsync")
    yield from scale.gone(*names)


def reads(scale: Scale) -> Iterator[str]:
    """A file read cold, warm at the client, warm at the server, and after it has changed there."""
    size = _mib(scale.cache_mib / 6)
    yield from _make(scale, "fs", size)
    for label in ("cold", "warm", "srvwarm", "invalidated"):
        yield from (f"mark {label}", *_read("fs", size), *scale.look(f"after_{label}", "fs"))
        if label == "warm":
            yield from ("open 0 MNT/fs r", "dontneed 0", "close 0", *scale.look("after_dontneed", "fs"))
        if label == "srvwarm":
            yield scale.change("fs")
        yield "sleep 300"
    yield from scale.gone("fs")


def synced_each_mebibyte(scale: Scale) -> Iterator[str]:
    """64 MiB with an fsync after each MiB."""
    yield from (*scale.drop(), "mark write", "open 0 MNT/fy wct")
    yield from ("write 0 -1 1m 1m", "fsync 0") * 64
    yield from ("mark close", "close 0", *scale.gone("fy"))


def writers(scale: Scale, count: int) -> Iterator[str]:
    """Processes write twice the dirty limit together and close; then they read it."""
    size = _mib(2 * scale.limit_mib / count)
    names = [f"f{number}" for number in range(count)]
    yield from scale.drop()
    for label, flags in (("write", "wct"), ("read", "r")):
        yield f"mark {label}"
        for name in names:
            yield from (f"proc {label[0]}{name}", f"open 0 MNT/{name} {flags}", f"{label} 0 0 {size}m 1m")
            yield from ("close 0", "endproc")
        yield "wait"
    yield from scale.gone(*names)


def small_files(scale: Scale) -> Iterator[str]:
    """Two hundred files of 16 KiB, each written and closed; then read, from the client's cache."""
    names = [f"s{number}" for number in range(200)]
    yield from (*scale.drop(), "mark write")
    for name in names:
        yield from (f"open 0 MNT/{name} wct", "write 0 0 16k 16k", "close 0")
    yield "mark read"
    for name in names:
        yield from (f"open 0 MNT/{name} r", "read 0 0 16k 16k", "close 0")
    yield from scale.gone(*names)


def synchronous(scale: Scale) -> Iterator[str]:
    """O_SYNC with calls of three sizes, 32 MiB each."""
    yield from scale.drop()
    names = {call: f"k{call}" for call in ("64k", "1m", "4m")}
    for call, name in names.items():
        yield from (f"mark sync{call}", f"open 0 MNT/{name} wcts", f"write 0 0 32m {call}", "close 0")
    yield from scale.gone(*names.values())


def direct(scale: Scale) -> Iterator[str]:
    """O_DIRECT with calls of three sizes, 32 MiB each, writing over a file and reading it."""
    yield from _make(scale, "fj", 32)
    for label, flags in (("write", "wd"), ("read", "rd")):
        for call in ("64k", "1m", "4m"):
            yield from (f"mark {label}{call}", f"open 0 MNT/fj {flags}", f"{label} 0 0 32m {call}", "close 0")
    yield from scale.gone("fj")


def rewrites(scale: Scale) -> Iterator[str]:
    """A quarter of the limit rewritten eight times in one open, closed; then 1.5 times the limit, twice."""
    little, much = _mib(scale.limit_mib / 4), _mib(1.5 * scale.limit_mib)
    yield from (*scale.drop(), "mark small", "open 0 MNT/h1 wct")
    yield from (f"write 0 0 {little}m 1m" for _ in range(8))
    yield from ("mark close", "close 0", "mark large", "open 0 MNT/h2 wct")
    yield from (f"write 0 0 {much}m 1m" for _ in range(2))
    yield from ("mark fsync", "fsync 0", "close 0", *scale.gone("h1", "h2"))


def application(scale: Scale, share: float) -> Iterator[str]:
    """Three tasks; task k reads file k (the first one cold), computes half a second, writes file k + 1."""
    size = _mib(scale.cache_mib * share)
    yield from _make(scale, "d1", size)
    for task in (1, 2, 3):
        yield from (f"mark read{task}", *_read(f"d{task}", size), "spin 500")
        yield from (f"mark write{task}", f"open 1 MNT/d{task + 1} wct", f"write 1 0 {size}m 1m", "close 1")
        yield from scale.look(f"task{task}", *(f"d{number}" for number in range(1, task + 2)))
    yield from scale.gone("d1", "d2", "d3", "d4")


def appends(scale: Scale) -> Iterator[str]:
    """A log: 200 records of 4 KiB, each with an fsync; then 200 of 64 KiB, each with an fdatasync."""
    yield from scale.drop()
    for record, sync, name in (("4k", "fsync", "e1"), ("64k", "fdatasync", "e2")):
        yield from (f"mark append{record}", f"open 0 MNT/{name} wct")
        yield from (f"write 0 -1 {record} {record}", f"{sync} 0") * 200
        yield "close 0"
    yield from scale.gone("e1", "e2")


def random_calls(scale: Scale) -> Iterator[str]:
    """Calls of 64 KiB in random order: writes over a cold file, then reads of it, cold."""
    size = _mib(scale.limit_mib / 4)
    yield from (*_make(scale, "fi", size), "mark write", "open 0 MNT/fi w")
    yield from (f"write 0 {index * 64}k 64k 64k" for index in shuffled(size * 16, seed=1))
    yield from (
        "mark fsync",
        "fsync 0",
        "close 0",
        "mark none",
        *scale.drop(),
        "mark read",
        "open 0 MNT/fi r",
    )
    yield from (f"read 0 {index * 64}k 64k 64k" for index in shuffled(size * 16, seed=2))
    yield from ("close 0", *scale.gone("fi"))


def small_calls(scale: Scale) -> Iterator[str]:
    """A quarter of the limit written and read cold with calls of 4 KiB; every second page written over."""
    size = _mib(scale.limit_mib / 4)
    yield from (
        *scale.drop(),
        "mark write",
        "open 0 MNT/fo wct",
        f"write 0 0 {size}m 4k",
        "mark close",
        "close 0",
    )
    yield from ("mark none", *scale.drop(), "mark read", *_read("fo", size, "4k"))
    yield from ("mark over", "open 0 MNT/fo w")
    yield from (f"write 0 {index * 8}k 4k 4k" for index in range(256))
    yield from ("mark fsync", "fsync 0", "close 0", *scale.gone("fo"))


def names(scale: Scale) -> Iterator[str]:
    """A hundred files of 4 KiB: made, renamed, opened again, and removed."""
    each = range(100)
    yield from (*scale.drop(), "mark make")
    for number in each:
        yield from (f"open 0 MNT/n{number} wct", "write 0 0 4k 4k", "close 0")
    yield from ("mark rename", *(f"rename MNT/n{number} MNT/m{number}" for number in each))
    yield "mark read"
    for number in each:
        yield from (f"open 0 MNT/m{number} r", "read 0 0 4k 4k", "close 0")
    yield from ("mark unlink", *(f"unlink MNT/m{number}" for number in each))


def aged(scale: Scale) -> Iterator[str]:
    """32 MiB written, and nobody waits until they are 30 s old; then an fsync."""
    yield from (*scale.drop(), "mark write", "open 0 MNT/fl wct", "write 0 0 32m 1m")
    yield from ("sleep 20000", *scale.look("young", "fl"), "sleep 20000", *scale.look("old", "fl"))
    yield from ("mark fsync", "fsync 0", "close 0", *scale.gone("fl"))


def reader_beside_writer(scale: Scale) -> Iterator[str]:
    """One process reads a cold file while another writes twice the limit and closes."""
    size = 2 * scale.limit_mib
    yield from (*_make(scale, "g1", _mib(size / 2)), "mark both")
    yield from ("proc reader", *_read("g1", _mib(size / 2)), "endproc")
    yield from ("proc writer", "open 1 MNT/g2 wct", f"write 1 0 {size}m 1m", "close 1", "endproc", "wait")
    yield from scale.gone("g1", "g2")


CASES: Final[dict[str, Callable[[Scale], Iterable[str]]]] = {
    MEMORY: memory,
    "a_small": small,
    "a_seqwrite": past_the_limit,
    "b_fsyncs": half_of_the_limit,
    "c_read": reads,
    "d_app": lambda scale: application(scale, 0.25),
    "e_appends": appends,
    "f2_writers": lambda scale: writers(scale, 2),
    "f4_writers": lambda scale: writers(scale, 4),
    "fsync1m": synced_each_mebibyte,
    "g_rw": reader_beside_writer,
    "h_rewrite": rewrites,
    "i_random": random_calls,
    "j_direct": direct,
    "k_sync": synchronous,
    "l_aged": aged,
    "n_names": names,
    "o_calls4k": small_calls,
    "s_files": small_files,
}
"""The function that makes each case; calibration first."""
