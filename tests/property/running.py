"""The same scenario through the oracle and through the fast core, and both outcomes in the same words."""

import pagecast
from pagecast.result import Result
from hypothesis import note

import oracle
from oracle import wrench
from oracle.scenario import Result as OracleResult
from oracle.scenario import Scenario
from oracle.to_toml import to_toml

Times = dict[tuple[str, int], tuple[str, int, int]]
"""By process and index: the operation, its start and its end in nanoseconds."""

Blocks = dict[str, list[tuple[str, int, bool, int, int]]]
"""By host and list: path, bytes, whether dirty, when last accessed and when made dirty, in nanoseconds."""


def simulate(scenario: Scenario, model: str, options: dict[str, float | str], **keywords) -> Result:
    """Run the fast core; a failing test prints the scenario, to be run with ``pagecast simulate``."""
    text = to_toml(scenario, **options)
    note(f"# --model {model}\n{text}")
    return pagecast.simulate(pagecast.Scenario.from_toml(text), model=model, **keywords)


def nanoseconds(seconds) -> list[int]:
    """Undo the division of whole nanoseconds by 1e9."""
    return [round(second * 1e9) for second in seconds]


def our_times(result: Result) -> Times:
    """Take the times of all operations out of a result."""
    table = result.operations
    ends = zip(table["operation"], nanoseconds(table["start_s"]), nanoseconds(table["end_s"]), strict=True)
    return dict(zip(zip(table["process"], table["index"], strict=True), ends, strict=True))


def our_blocks(result: Result) -> Blocks:
    """Take the lists of blocks out of a result of `wrench`."""
    table = result._core.columns("blocks")
    times = [nanoseconds(table[name]) for name in ("accessed_s", "dirtied_s")]
    rows = zip(table["path"], table["bytes"], table["dirty"], *times, strict=True)
    lists: Blocks = {}
    for host, name, row in zip(table["host"], table["list"], rows, strict=True):
        lists.setdefault(f"{host} {name}", []).append(row)
    return lists


def oracle_times(result: OracleResult) -> Times:
    """Take the times of all operations out of the oracle's result."""
    return {(each.process, each.index): (each.op.kind, each.start_ns, each.end_ns) for each in result.operations}


def oracle_blocks(policy: wrench.Wrench) -> Blocks:
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
