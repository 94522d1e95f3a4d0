"""The same scenario through the oracle and through the fast core, and both outcomes in the same words."""

from collections.abc import Iterable
from typing import Any

from hypothesis import note

import pagecast
from oracle.scenario import Result as OracleResult
from oracle.scenario import Scenario
from oracle.to_toml import to_toml
from oracle.wrench import Wrench
from pagecast.result import Result

Times = dict[tuple[str, int], tuple[str, int, int]]
"""By process and index: the operation, its start and its end in nanoseconds."""

Blocks = dict[str, list[tuple[str, int, bool, int, int]]]
"""By host and list: path, bytes, whether dirty, when last accessed and when made dirty, in nanoseconds."""


def simulate(scenario: Scenario, model: str, **options: Any) -> Result:
    """Run the fast core; a failing test prints the scenario, to be run with ``pagecast simulate``."""
    return simulate_text(to_toml(scenario, **options), model)


def simulate_text(text: str, model: str, seed: int = 0) -> Result:
    """Run the fast core on a scenario file."""
    note(f"# pagecast simulate --model {model} --seed {seed} of:\n{text}")
    return pagecast.simulate(pagecast.Scenario.from_toml(text), model=model, seed=seed)


def nanoseconds(seconds: Iterable[float]) -> list[int]:
    """Undo the division of whole nanoseconds by 1e9."""
    return [round(second * 1e9) for second in seconds]


def our_times(result: Result) -> Times:
    """Take the times of all operations out of a result."""
    table = result.operations
    times = zip(nanoseconds(table["start_s"]), nanoseconds(table["end_s"]), strict=True)
    rows = zip(table["process"], table["index"], table["operation"], times, strict=True)
    return {(process, int(index)): (operation, *time) for process, index, operation, time in rows}


def oracle_times(result: OracleResult) -> Times:
    """Take the times of all operations out of the oracle's result."""
    return {
        (done.process, done.index): (done.op.kind, done.start_ns, done.end_ns) for done in result.operations
    }


def our_blocks(result: Result) -> Blocks:
    """Take the lists of blocks out of a result of `wrench`."""
    table = result.blocks
    times = [nanoseconds(table[name]) for name in ("accessed_s", "dirtied_s")]
    rows = zip(table["path"], table["bytes"], table["dirty"], *times, strict=True)
    lists: Blocks = {}
    for host, name, row in zip(table["host"], table["list"], rows, strict=True):
        lists.setdefault(f"{host} {name}", []).append(row)
    return lists


def oracle_blocks(policy: Wrench) -> Blocks:
    """Take the lists of blocks out of the oracle's `wrench`."""
    lists = {
        f"{host} {name}": [
            (block.file, block.size, block.is_dirty, block.last_access_ns, block.dirty_since_ns)
            for block in blocks
        ]
        for host, cache in policy.caches.items()
        for name, blocks in (("inactive", cache.inactive), ("active", cache.active))
    }
    return {name: blocks for name, blocks in lists.items() if blocks}
