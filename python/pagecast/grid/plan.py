"""What a grid measures: which files, records and tests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pagecast import _core
from pagecast.api import Scenario
from pagecast.errors import ArgumentError
from pagecast.grid.kinds import TESTS, Test, file_of

__all__ = [
    "DEFAULT_FILES",
    "DEFAULT_RECORDS",
    "Cell",
    "GridPlan",
    "Phase",
    "doubling",
    "size_text",
]

KIB, MIB = 2**10, 2**20

DEFAULT_FILES = (64 * KIB, 512 * MIB)
DEFAULT_RECORDS = (4 * KIB, 16 * MIB)
"""The least and the greatest, as with ``iozone -a``."""

LARGE_FILE, LARGE_RECORD = 16 * MIB, 64 * KIB
"""Files above the first have no records below the second, as in iozone: they take long, and tell little."""


@dataclass(frozen=True)
class Cell:
    """A file of a size, in records of a size."""

    file_bytes: int
    record_bytes: int

    def __str__(self) -> str:
        """Give it for a person."""
        return f"{size_text(self.file_bytes)} in records of {size_text(self.record_bytes)}"


@dataclass(frozen=True)
class Phase:
    """The operations of a test among those of a cell: the first, and the last that is in its time."""

    test: Test
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class GridPlan:
    """Which cells and tests there are, and how each is timed.

    Parameters
    ----------
    file_bytes, record_bytes : sequence of int
        Sizes. A file has whole records.
    tests : sequence of str
        Of `TESTS`. The test "write" is always done, as iozone does: it makes the file.
    fsync : bool
        Whether the fsync at the end of each test is in its time.
    every_record : bool
        Whether files above 16 MiB have records below 64 KiB, too (iozone's ``-z``).
    seed : int
        Of the order of random tests.

    Raises
    ------
    ArgumentError
        No cell is left, or a test that does not exist.
    """

    file_bytes: Sequence[int]
    record_bytes: Sequence[int]
    tests: Sequence[str] = tuple(TESTS)
    fsync: bool = False
    every_record: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.tests or any(test not in TESTS for test in self.tests):
            raise ArgumentError(f"tests are some of {', '.join(TESTS)}")
        if min([*self.file_bytes, *self.record_bytes], default=0) < 1:
            raise ArgumentError("files and records have at least one byte")
        if not self.cells:
            raise ArgumentError("no file is a multiple of a record; give other sizes")

    @property
    def cells(self) -> list[Cell]:
        """All cells, file by file."""
        return [
            Cell(file, record)
            for file in sorted(set(self.file_bytes))
            for record in sorted(set(self.record_bytes))
            if file % record == 0 and (self.every_record or file <= LARGE_FILE or record >= LARGE_RECORD)
        ]

    @property
    def chosen(self) -> list[Test]:
        """The tests in their order, with the one that makes the file."""
        return [test for test in TESTS.values() if test.name in self.tests or test.name == "write"]

    def program(self, cell: Cell, directory: str) -> tuple[list[_core.Operation], list[Phase]]:
        """Give the operations of a cell, and which of them each test has."""
        path, program, phases = file_of(directory), list[_core.Operation](), list[Phase]()
        for number, test in enumerate(self.chosen):
            program += test.begin(path, cell.record_bytes)
            first = len(program)
            program += test.calls(path, cell.file_bytes, cell.record_bytes, self.seed + 2 * number)
            untimed = test.end(path)
            last = len(program) - 1 + (len(untimed) if self.fsync else 0)
            program += [*untimed, test.close(path)]
            if test.name in self.tests:
                phases.append(Phase(test, first, last))
        return [*program, _core.unlink(path)], phases

    def scenarios(
        self, machine: _core.Machine, directory: str
    ) -> Iterator[tuple[Cell, Scenario, list[Phase]]]:
        """Give a scenario for each cell."""
        for cell in self.cells:
            program, phases = self.program(cell, directory)
            yield cell, Scenario(machine, processes={"grid": program}), phases


def doubling(least: int, most: int) -> list[int]:
    """Give sizes from the least to the most, each twice the one before."""
    sizes = [least]
    while sizes[-1] * 2 <= most:
        sizes.append(sizes[-1] * 2)
    return sizes


def size_text(size: int) -> str:
    """Give a size as iozone's users have it: "64 KiB"."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return _core.format_bytes(size)
