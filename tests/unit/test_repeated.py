"""Percentiles of operations that are done again and again."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pagecast as pc
from pagecast.repeated import PERCENTILES, repeated
from pagecast.result import Columns


def operations(*rows):
    """Make the table of (process, operation, path, seconds)."""
    process, operation, path, duration_s = map(list, zip(*rows, strict=True)) if rows else ([],) * 4
    columns = {"process": process, "operation": operation, "path": path}
    return Columns({**columns, "duration_s": np.array(duration_s, dtype=float)})


def rows_of(table):
    """Give the rows of a table as dicts."""
    columns = table.to_dict()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_a_percentile_is_the_least_time_that_so_many_are_no_longer_than():
    """A service of a thousand requests was summed up by its mean, which said nothing of the slow ones."""
    table = repeated(operations(*(("app", "read", "/f", 1.0 + at) for at in range(1000))))
    assert rows_of(table) == [
        {
            "process": "app", "operation": "read", "path": "/f", "n": 1000, "mean_s": 500.5,
            "p50_s": 500.0, "p90_s": 900.0, "p99_s": 990.0, "p99_9_s": 999.0, "max_s": 1000.0,
        }
    ]  # fmt: skip


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=50))
def test_so_many_are_no_longer_and_no_shorter_time_will_do(times):
    (row,) = rows_of(repeated(operations(*(("app", "read", "/f", time_s) for time_s in times))))
    assert row["max_s"] == max(times)
    assert row["mean_s"] == pytest.approx(math.fsum(times) / len(times))
    for name, percent in PERCENTILES.items():
        found = row[name]
        assert found in times
        wanted = round(percent / 100 * len(times), 6)
        assert sum(time_s <= found for time_s in times) >= wanted
        assert sum(time_s < found for time_s in times) < wanted


def test_copies_and_rounds_go_together_and_what_differs_is_shown():
    found = rows_of(
        repeated(
            operations(
                ("web1", "write", "/d/web1/log1", 1.0),
                ("web2", "write", "/d/web2/log1", 2.0),
                ("web1", "fsync", "/d/web1/log1", 1.0),
                ("web1", "write", "/d/web1/log2", 3.0),
                ("db", "write", "/d/db", 9.0),
            )
        )
    )
    assert [(row["process"], row["operation"], row["path"], row["n"], row["max_s"]) for row in found] == [
        ("web{n}", "write", "/d/web{n}/log{n}", 3, 3.0)
    ]


def test_without_operations_there_is_nothing():
    assert len(repeated(operations())) == 0


def test_a_result_has_them(machine):
    def app():
        for _ in range(20):
            yield pc.write("/data/f", size_bytes=1e6)

    result = pc.simulate(pc.Scenario(machine, processes={"app": app}), model="kernel")
    assert result.repeated["n"].tolist() == [20]
    assert result.to_dict()["repeated"]["max_s"] == [result.operations["duration_s"].max()]
