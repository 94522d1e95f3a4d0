"""Where to look first in a case that is off."""

from types import SimpleNamespace

import pytest

from pagecast.comparison.rows import TOTAL, Row
from pagecast.validation.details import RunOperation
from pagecast.validation.furthest import furthest_lines


def row(process, operation, measured_s, forecast_s, *, repetition=1, model="kernel"):
    return Row(
        "standard", "c", repetition, process, operation, model, "m.toml", "judged", measured_s, forecast_s
    )  # fmt: skip


def seen(row, call_bytes, run_queue_s):
    """Give what a run tells of an operation besides."""
    return RunOperation(
        "c", row.repetition, row.process, row.operation, "/f", call_bytes, row.measured_s, run_queue_s
    )  # fmt: skip


def lines(*rows, is_total_within=False, call_bytes=0, run_queue_s=0.0):
    verdict = SimpleNamespace(case="c", model="kernel", is_total_within=is_total_within)
    operations = [seen(row, call_bytes, run_queue_s) for row in rows if row.process]
    return list(furthest_lines(SimpleNamespace(verdicts=[verdict], rows=rows, operations=operations)))


def test_the_furthest_come_first_and_small_ones_are_not_named():
    rows = [
        row(None, TOTAL, 9.0, 1.0),
        row("a", "write 1", 1.0, 3.0),
        row("a", "write 1", 2.0, 4.0, repetition=2),
        row("a", "read 1", 5.0, 1.0),
        row("a", "fsync 1", 1.0, 1.1),
        row("a", "read 1", 5.0, 50.0, model="no-cache"),
    ]
    assert lines(*rows) == ["c: read 1 5 s, forecast 1 s; write 1 1.5 s, forecast 3.5 s"]


def test_processes_are_named_where_there_are_several_and_three_are_the_most():
    rows = [row(f"p{i}", "write 1", 1.0, 2.0 + i / 10) for i in range(5)]
    (line,) = lines(*rows)
    assert line.startswith("c: p4, write 1 1 s, forecast 2.4 s; p3, ")
    assert line.count(";") == 2


@pytest.mark.parametrize("rows", [[], [row("a", "write 1", 1.0, 9.0)]])
def test_of_a_case_that_is_within_nothing_is_said(rows):
    assert lines(*rows, is_total_within=True) == []


def test_the_size_of_calls_is_told_and_what_waited_for_a_processor_where_it_explains_something():
    rows = [row("a", "write 1", 2.0, 1.0), row("a", "write 1", 4.0, 1.0, repetition=2)]
    assert lines(*rows, call_bytes=65536) == ["c: write 1 (64 KiB calls) 3 s, forecast 1 s"]
    assert lines(*rows, call_bytes=100_000, run_queue_s=1.5) == [
        "c: write 1 (100 kB calls) 3 s, 1.5 s of it waiting for a processor, forecast 1 s"
    ]
    assert lines(*rows, run_queue_s=0.1) == ["c: write 1 3 s, forecast 1 s"], "too little of what is missing"
    sooner = row("a", "write 1", 1.0, 3.0)
    assert lines(sooner, run_queue_s=0.9) == ["c: write 1 1 s, forecast 3 s"], "waiting makes nothing sooner"
