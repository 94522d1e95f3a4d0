"""The programs of the study: a load in a journal mode, and a file written and read block by block."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pagecast.api import Scenario, simulate
from pagecast.studies.ext3.loads import BLOCK_KIB, FILE_KIB, REQUESTS, trace
from pagecast.studies.ext3.published import RANDOM, Figure
from pagecast.workloads import as_toml

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["grid_case", "load_bytes", "load_case", "run"]

PATH: Final = "/data"

DATA: Final = {"ordered": "ordered", "writeback": "writeback", "journal": "journal", "synchronous": "ordered"}
"""The mount option ``data=`` of each mode."""


def load_case(figure: Figure) -> str:
    """Give the program of a row: its load on a cached file, and the fsync that ends a run.

    Synchronous mode opens the file with O_SYNC.
    """
    operations = ['{ open = "/data", flags = ["O_SYNC"] }'] if figure.mode == "synchronous" else []
    operations += _load(figure)
    if figure.operation == "write":
        operations.append('{ fsync = "/data" }')
    file = f'[[file]]\npath = "{PATH}"\nsize = "{FILE_KIB} KiB"\ncached = "{FILE_KIB} KiB"\n'
    journal = f'machine.mount."/".journal.data = "{DATA[figure.mode]}"\n'
    return f"{journal}\n{file}\n{_process(operations)}"


def _load(figure: Figure) -> list[str]:
    if figure.load == RANDOM:
        pattern = f'{{ random = "uniform", within = "{FILE_KIB} KiB" }}'
        size = f'call = "{BLOCK_KIB} KiB", size = "{REQUESTS * BLOCK_KIB} KiB"'
        return [f'{{ {figure.operation} = "{PATH}", {size}, pattern = {pattern} }}']
    return [
        f'{{ {figure.operation} = "{PATH}", offset = "{one.offset_bytes} B", size = "{one.size_bytes} B" }}'
        for one in trace(int(figure.load.removeprefix("trace ")))
    ]


def load_bytes(figure: Figure) -> int:
    """Give the bytes that a load moves."""
    if figure.load == RANDOM:
        return 1024 * REQUESTS * BLOCK_KIB
    return sum(one.size_bytes for one in trace(int(figure.load.removeprefix("trace "))))


def grid_case(file_kib: int, block_kib: int) -> str:
    """Give a program that writes a new file and reads it again, block by block, as iozone does."""
    block = f'size = "{file_kib} KiB", call = "{min(block_kib, file_kib)} KiB"'
    return _process([f'{{ write = "{PATH}", {block} }}', f'{{ read = "{PATH}", {block} }}'])


def _process(operations: Sequence[str]) -> str:
    lines = "".join(f"{operation},\n" for operation in operations)
    return f'[[process]]\nname = "iozone"\ndo = [\n{lines}]\n'


def run(case: str, *, model: str, machine: str, overrides: Sequence[str]) -> "Result":
    """Simulate a program on a machine under a model."""
    scenario = Scenario.from_toml(f"machine.from = {as_toml(machine)}\n{case}", origin="ext3", set=overrides)
    return simulate(scenario, model=model)
