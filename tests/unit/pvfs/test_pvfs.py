"""The study of the dissertation's PVFS: its cluster, what is judged, and what is shown."""

import io
import json

import pytest
from rich.console import Console

from pagecast.errors import StudyError
from pagecast.studies import pvfs
from pagecast.studies.pvfs import scenarios
from pagecast.studies.pvfs.shapes import BLOCKS_KIB, CLIENTS, FILES_KIB, judge_clients, judge_files


def curve(keys, clients, rate):
    return {key: {way: [rate(key)] * clients for way in ("read", "write")} for key in keys}


def test_curves_with_the_shapes_hold_and_flat_ones_do_not():
    shaped = {n: curve(BLOCKS_KIB, n, lambda block, n=n: min(block, 256) * 100 / n) for n in CLIENTS}
    assert all(shape.holds for shape in judge_clients(shaped))
    flat = {n: curve(BLOCKS_KIB, n, lambda _: 95_000.0) for n in CLIENTS}
    assert [shape.holds for shape in judge_clients(flat)] == [True, *[False] * 6]


def test_clients_whose_curves_part_are_seen():
    apart = {2: {8: {"read": [1.0, 1.1], "write": [1.0, 1.0]}}}
    assert not next(iter(judge_clients(apart))).holds


def test_writes_have_their_level_from_2_mib_on_and_reads_always():
    one = {
        file: {"read": [70_000.0], "write": [50_000.0 if file >= 2048 else 40_000.0]} for file in FILES_KIB
    }
    assert all(shape.holds for shape in judge_files(one))
    flat = curve(FILES_KIB, 1, lambda _: 1.0)
    assert [shape.holds for shape in judge_files(flat)] == [True, False, True]


def test_each_client_writes_and_then_reads_its_own_file():
    result = scenarios.run(
        scenarios.case(2, 1024, 64), clients=2, model="kernel", machine="dell-pe1850", overrides=()
    )
    rates = scenarios.rates(result, 2, 1024)
    assert {way: len(each) for way, each in rates.items()} == {"write": 2, "read": 2}
    assert rates["read"][0] == pytest.approx(rates["read"][1], rel=0.05)
    rows = list(zip(result.operations["operation"], result.operations["bytes"], strict=True))
    assert [sum(size for what, size in rows if what == way) for way in ("write", "read")] == [2 << 20] * 2


def test_the_outcome_is_printed_reported_and_json(tmp_path):
    outcome = pvfs.run(experiments=["files"], command="a test")
    console = Console(file=io.StringIO(), width=160)
    outcome.print_to(console)
    text = console.file.getvalue()
    assert "3 of 3 claims on the shape of the figures hold" in text
    outcome.write_report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().count("<svg") == 1
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert [one["file_kib"] for one in document["by_file"]] == list(FILES_KIB)
    assert document["rows"] == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"experiments": ["nothing"]}, "has no experiment 'nothing'; it has clients, files"),
        ({"data": "x"}, "leave --data x out"),
        ({"seeds": 2}, "nothing that is random"),
    ],
)
def test_what_the_study_does_not_have_is_refused(asked, message):
    with pytest.raises(StudyError, match=message):
        pvfs.run(**asked)
