"""The tests of a grid: which calls each makes.

Source: iozone 3 (`iozone.c`: `write_perf_test`, `random_perf_test`, `read_stride_perf_test`,
`fwrite_perf_test`).
Every test opens the file, reads or writes all of its records once, and ends with an fsync and a close. The
fsync is in the time of the test only if that is asked for (iozone's ``-e``). Left out: rewriting one record,
mixed, pread and mmap variants, and the purge of processor caches.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pagecast import _core

__all__ = ["STRIDE_RECORDS", "TESTS", "Test", "file_of"]

STRIDE_RECORDS: Final = 17
"""From the start of a record to that of the next one that a strided test reads (iozone's ``-j``)."""


@dataclass(frozen=True)
class Test:
    """One of the tests.

    Attributes
    ----------
    name : str
    report : str
        What iozone calls it in its reports.
    column : int
        Its place among the columns of iozone's table, from 0.
    calls : callable
        Gives its operations between open and fsync, for a path, the bytes of the file and of a record, and a
        seed.
    writes : bool
    stream : str
        The mode in which a library's stream is opened, empty for the calls of the system.
    """

    name: str
    report: str
    column: int
    calls: Callable[[str, int, int, int], list[_core.Operation]]
    writes: bool = False
    stream: str = ""

    def begin(self, path: str, record_bytes: int) -> list[_core.Operation]:
        """Give the operations before it, which are not in its time."""
        if self.stream:
            return [_core.fopen(path, mode=self.stream), _core.setvbuf(path, size_bytes=record_bytes)]  # type: ignore[arg-type]
        return [_core.open(path, create=self.name == "write", truncate=self.name == "write")]

    def end(self, path: str) -> list[_core.Operation]:
        """Give the operations after it: its last bytes become durable."""
        flush = [_core.fflush(path)] if self.stream and self.writes else []
        return [*flush, _core.fsync(path)]

    def close(self, path: str) -> _core.Operation:
        """Give the last operation, which takes no time."""
        return _core.fclose(path) if self.stream else _core.close(path)


def _write(path: str, size: int, record: int, seed: int) -> list[_core.Operation]:
    return [_core.write(path, size_bytes=size, offset_bytes=0, call_bytes=record)]


def _read(path: str, size: int, record: int, seed: int) -> list[_core.Operation]:
    return [_core.read(path, size_bytes=size, call_bytes=record)]


def _random_read(path: str, size: int, record: int, seed: int) -> list[_core.Operation]:
    return _read_in_order(path, size, record, _core.Pattern("uniform", once=True, seed=seed))


def _random_write(path: str, size: int, record: int, seed: int) -> list[_core.Operation]:
    pattern = _core.Pattern("uniform", once=True, seed=seed + 1)
    return [_core.write(path, size_bytes=size, call_bytes=record, pattern=pattern)]


def _backward_read(path: str, size: int, record: int, seed: int) -> list[_core.Operation]:
    return _read_in_order(path, size, record, _core.Pattern(backwards=True))


def _strided_read(path: str, size: int, record: int, seed: int) -> list[_core.Operation]:
    """Read as many records as there are, with a stride; each pass begins a record further, as in iozone.

    iozone never comes to the last two records, and reads the first one again and again of a file that is no
    longer than a stride. Its last two reads are others.
    """
    records = size // record
    if records <= STRIDE_RECORDS:
        return _read_in_order(path, size, record, _core.Pattern(within_bytes=record))
    within_bytes = (records - 2) * record
    pattern = _core.Pattern(stride_bytes=STRIDE_RECORDS * record, within_bytes=within_bytes)
    return _read_in_order(path, size, record, pattern)


def _read_in_order(path: str, size: int, record: int, pattern: _core.Pattern) -> list[_core.Operation]:
    return [_core.read(path, size_bytes=size, call_bytes=record, pattern=pattern)]


def _fwrite(path: str, size: int, record: int, seed: int) -> list[_core.Operation]:
    return [_core.fwrite(path, size_bytes=size, call_bytes=record)]


def _fread(path: str, size: int, record: int, seed: int) -> list[_core.Operation]:
    return [_core.fread(path, size_bytes=size, call_bytes=record)]


TESTS: Final = {
    test.name: test
    for test in (
        Test("write", "Writer", 0, _write, writes=True),
        Test("rewrite", "Re-writer", 1, _write, writes=True),
        Test("read", "Reader", 2, _read),
        Test("reread", "Re-Reader", 3, _read),
        Test("random-read", "Random read", 4, _random_read),
        Test("random-write", "Random write", 5, _random_write, writes=True),
        Test("backward-read", "Backward read", 6, _backward_read),
        Test("strided-read", "Stride read", 8, _strided_read),
        Test("fwrite", "Fwrite", 9, _fwrite, writes=True, stream="w"),
        Test("fread", "Fread", 11, _fread, stream="r"),
    )
}
"""By name, in the order in which they run."""


def file_of(directory: str) -> str:
    """Give the path of the file that all tests of a cell share."""
    return f"{directory.rstrip('/')}/grid"
