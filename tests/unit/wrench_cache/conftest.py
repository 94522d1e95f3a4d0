"""A forecaster that knows the published outputs by heart: the study is tested without the simulator."""

from types import SimpleNamespace

import numpy as np
import pytest

from pagecast.studies import wrench_cache
from pagecast.studies.wrench_cache.tables import cached_files, published

COLUMNS = {"wrench": "wrench_cache_camera_ready", "no-cache": "wrench"}
COMPUTE_S = 4.4


def publish(experiment, case, *, model, machine, seed, overrides):
    """Give the published times of one case as a result; one application stands for all."""
    seconds = {
        operation: value
        for (number, name, operation), value in published()[COLUMNS[model]].items()
        if (number, name) == (experiment.number, case.name)
    }
    return SimpleNamespace(
        operations=operations(seconds),
        files=files(case.name) if experiment.number == "1" else {},
        timeline={name: np.linspace(0, 1e9, 5) for name in LEVELS}
        | {"time_s": np.linspace(0, 200, 5), "free_bytes": np.full(5, 268e9)},
        provenance={"machine_hash": "0" * 64},
    )


LEVELS = ("used_bytes", "cached_bytes", "dirty_bytes", "writeback_bytes")


def operations(seconds):
    """Put the operations one after the other, computing between a read and a write."""
    table = {"process": [], "operation": [], "start_s": [], "end_s": []}
    now = 0.0
    for name, duration in seconds.items():
        kind, task = name.split()
        now += COMPUTE_S if kind == "write" else 0.0
        for column, value in zip(table, (f"task{task}", kind, now, now + duration), strict=True):
            table[column].append(value)
        now += duration
    return table


def files(case):
    """Give the published amounts of cached data after each operation, and one row at the end."""
    table = {"process": [""], "index": [-1], "path": ["/data/f1"], "cached_bytes": [0.0]}
    for (name, operation), amounts in cached_files()["wrench_cache_camera_ready"].items():
        kind, task = operation.split()
        for k, amount in enumerate(amounts if name == case else (), start=1):
            row = (f"task{task}", 0 if kind == "read" else 2, f"/data/f{k}", amount)
            for column, value in zip(table, row, strict=True):
                table[column].append(value)
    return table


@pytest.fixture(scope="session")
def outcome():
    """All experiments, as the authors published them."""
    return wrench_cache.run(models=("wrench", "no-cache"), seeds=1, command="a test", simulate=publish)


@pytest.fixture(scope="session")
def forecaster():
    """Like `simulate_case`."""
    return publish
