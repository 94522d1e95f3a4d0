"""Timelines of the model `kernel`: a small scenario for each family of rules, in exact nanoseconds and bytes.

`kernel/NAME.toml` says at its top which rules it exercises, `kernel/NAME.txt` tells what happens. `make
golden` rewrites the latter. `changes.toml` lists changes of the rules, each of which fails some of these
tests: `make net` tries them.
"""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import pagecast

HERE = Path(__file__).parent / "kernel"
SCENARIOS = sorted(path.stem for path in HERE.glob("*.toml"))

MOST_ROWS = 24
"""So many rows of a table with samples are told at most."""

LEVELS = ("anonymous", "cached", "active", "dirty", "writeback", "dirtied")
LIMITS = ("background_threshold", "setpoint", "dirty_limit", "hard_limit")
RATES = ("avg_write_bandwidth", "dirty_ratelimit", "task_ratelimit")
OF_FILES = ("size", "cached", "active", "dirty")
OF_CGROUPS = ("memory_peak", "dirty_peak", "cached", "anonymous", "dirty")


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_kernel_has_the_same_story_as_ever(name: str) -> None:
    scenario = pagecast.Scenario.load(HERE / f"{name}.toml")
    told = "".join(f"{line}\n" for line in story(pagecast.simulate(scenario, model="kernel")))
    golden = HERE / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(told)
    assert told == golden.read_text()


def test_each_change_has_its_place() -> None:
    """Find the text of each change once, so that `make net` can make it, and the timelines that it fails."""
    changes = tomllib.loads(HERE.with_name("changes.toml").read_text())
    core = HERE.parents[2] / "crates/pagecast-core/src"
    folders = {change.get("under", "policy/kernel") for change in changes.values()}
    texts = {name: "\0".join(path.read_text() for path in (core / name).rglob("*.rs")) for name in folders}
    found = {
        name: texts[change.get("under", "policy/kernel")].count(change["old"])
        for name, change in changes.items()
    }
    assert {name: count for name, count in found.items() if count != 1} == {}
    unknown = {name: set(change["fails"].split()) - set(SCENARIOS) for name, change in changes.items()}
    assert {name: names for name, names in unknown.items() if names} == {}


def story(result: pagecast.Result) -> Iterator[str]:
    """Tell operations and their parts, events, samples of levels and rates, and the memory at the end."""
    yield "operations: from .. to, who and what; bytes from cache, from device; parts (ns)"
    parts = [name for name in result.parts if name.endswith("_s")]
    for row, cell in rows(result.operations):
        spent = [(name[:-2], nanoseconds(result.parts[name][row])) for name in parts]
        yield words(
            f"{nanoseconds(cell['start_s'])} .. {nanoseconds(cell['end_s'])} ",
            f"{cell['process']} {cell['operation']} {cell['path']}".rstrip(),
            f" {cell['from_cache_bytes']} {cell['from_device_bytes']} ",
            ", ".join(f"{name} {time}" for name, time in spent if time),
        )
    yield "events: ns, what; to whom, where; bytes"
    for _, cell in rows(result.events):
        yield words(at(cell), cell["event"], cell["process"], cell["device"], cell["bytes"])
    timeline = result.timeline
    yield f"levels, of {len(timeline)} rows: ns, host; {', '.join(LEVELS)}; {', '.join(LIMITS)} (bytes)"
    for _, cell in some(timeline):
        yield words(at(cell), cell["host"], "", in_bytes(cell, LEVELS), "", in_bytes(cell, LIMITS))
    yield f"rates, of {len(result.bdi)} rows: ns, device, cgroup; {', '.join(RATES)} (bytes per second)"
    for _, cell in some(result.bdi):
        rates = [f"{cell[f'{name}_bytes_per_s']:.0f}" for name in RATES]
        yield words(at(cell), cell["device"], cell["cgroup"], "", *rates)
    yield f"files at the end: host, path; {', '.join(OF_FILES)} (bytes)"
    for _, cell in rows(result.files):
        yield words(cell["host"], cell["path"], "", in_bytes(cell, OF_FILES))
    yield f"cgroups at the end: host, cgroup; {', '.join(OF_CGROUPS)} (bytes)"
    for _, cell in rows(result.cgroups):
        yield words(cell["host"], cell["cgroup"], "", in_bytes(cell, OF_CGROUPS))
    yield f"lists at the end, of {len(result.blocks)} blocks: host, list, path, bytes"
    for row, cell in rows(result.blocks):
        if row < MOST_ROWS:
            yield words(cell["host"], cell["list"], cell["path"], cell["bytes"])


Row = tuple[int, dict[str, object]]


def rows(table: pagecast.Columns) -> Iterator[Row]:
    """Give each row of a table, with its number."""
    for row in range(len(table)):
        yield row, {name: table[name][row] for name in table}


def some(table: pagecast.Columns) -> list[Row]:
    """Choose rows of a table evenly, the first and the last among them."""
    most = min(len(table), MOST_ROWS)
    chosen = {row * (len(table) - 1) // max(most - 1, 1) for row in range(most)}
    return [(row, cell) for row, cell in rows(table) if row in chosen]


def words(*each: object) -> str:
    """Join words by spaces, without spaces at the end."""
    return " ".join(str(word) for word in each).rstrip()


def in_bytes(cell: dict[str, object], names: tuple[str, ...]) -> str:
    """Give several columns of a row."""
    return words(*(cell[f"{name}_bytes"] for name in names))


def at(cell: dict[str, object]) -> int:
    """Give the time of a row."""
    return nanoseconds(cell["time_s"])


def nanoseconds(seconds: object) -> int:
    """Give the whole nanoseconds that the engine has divided by 1e9. Rounding finds them, up to 52 days."""
    return round(float(str(seconds)) * 1e9)
