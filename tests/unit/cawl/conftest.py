"""Forecasters that need no simulator, and a tiny recording."""

import csv
import gzip
from types import SimpleNamespace

import numpy as np
import pytest

from pagecast.studies import cawl
from pagecast.studies.cawl.recordings import MEASUREMENTS

SECONDS = 0.5
"""What every write takes under the models of these tests."""

SERIES = {"nv_async_p0.5": 100, "nv_libc_512b": 128}
"""The series of the tiny recording, and how many writes each has."""


def half_a_second(series, *, model, machine, overrides):
    """Like `simulate_series`: a compute before each write if there is a pause, and writes of equal length."""
    writes = series.writes
    kinds = (["compute"] if series.pause_s else []) + ["write"]
    durations = np.array([series.pause_s] * (len(kinds) - 1) + [SECONDS])
    return SimpleNamespace(
        operations={"operation": kinds * writes, "duration_s": np.tile(durations, writes)},
        model="no-cache",
        machine_hash="0" * 64,
    )


@pytest.fixture(scope="session")
def outcome():
    """All series on shipped figures."""
    return cawl.run(models=["kernel", "no-cache"], command="a test", simulate=half_a_second)


@pytest.fixture
def data(tmp_path):
    """A folder with two series: every write took 0.4 s, CAWL said 0.3 s, every second fwrite took nothing."""
    with gzip.open(tmp_path / f"{MEASUREMENTS}.csv.gz", "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["series_id", "index", "measured_s", "cawl_model_s", "remark"])
        for name, writes in SERIES.items():
            for index in range(writes):
                measured = 0.4 if name == "nv_async_p0.5" or index % 2 else 0
                writer.writerow([name, index, measured, 0.3, ""])
    return tmp_path
