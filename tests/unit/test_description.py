"""Descriptions of recordings, and recordings drawn from them."""

import json
from pathlib import Path

import pytest

from pagecast.description import TABLES, describe, generate
from pagecast.errors import ScenarioError
from pagecast.recordings import save
from pagecast.workloads import Reading

JOB = """\
[global]
bs=4k
[zipf]
rw=randread
size=64m
random_distribution=zipf:1.1
filename=/data/f
[seq]
rw=write
bs=64k
size=64m
filename=/data/g
[mixed]
rw=randrw:6
size=16m
filename=/data/h
[large]
rw=read
bs=1m
size=64m
filename=/data/i
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Give a fio job with all classes of requests."""
    path = tmp_path / "job.fio"
    path.write_text(JOB)
    return path


def table(tmp_path: Path, rows: str) -> Path:
    """Write a table of operations."""
    path = tmp_path / "table.csv"
    path.write_text(f"time_s,process,op,file,offset_bytes,bytes\n{rows}")
    return path


def test_a_table_is_described_exactly(tmp_path: Path) -> None:
    rows = "0,a,read,/f,0,4096\n0.5,a,read,/f,8192,4096\n1,b,write,/g,0,8192\n2,a,read,/f,0,4096\n"
    found = describe(table(tmp_path, rows))
    assert (found.totals["reads"], found.totals["written_bytes"]) == (3, 8192)
    assert found.totals["duration_s"] == 2.0
    assert found.totals["footprint_bytes"] == 4 * 4096
    assert found.totals["is_exact"]
    assert found.shares == {"random": 1.0, "mixed": 0.0, "sequential": 0.0, "large sequential": 0.0}
    # The first page of /f comes again after three others.
    assert (found.hit_ratio(3 * 4096), found.hit_ratio(4 * 4096)) == (0.0, 0.2)
    assert found.table("files")["name"] == ["/f", "/g"]
    assert found.table("sizes").to_dict() == {"bytes": [4096, 8192], "reads": [3, 0], "writes": [0, 1]}


def test_programs_are_described_by_their_calls(job: Path) -> None:
    found = describe(job)
    assert found.totals["requests"] == (64 << 20) // 4096 + 1024 + 4096 + 64
    assert found.totals["duration_s"] is None
    assert found.shares["large sequential"] == pytest.approx(64 / found.totals["requests"])
    writes = found.table("class_sizes")
    assert [
        (name, size)
        for name, size, count in zip(writes["class"], writes["bytes"], writes["writes"], strict=True)
        if count and size > 4096
    ] == [("sequential", 65536)]


def test_only_so_many_operations_of_programs_are_described(job: Path) -> None:
    found = describe(job, operations=100)
    assert found.totals["requests"] + sum(found.table("operations")["count"].tolist()) == 100
    assert any("more than the 100 operations" in note for note in found.notes)


def test_nothing_is_described_as_nothing(tmp_path: Path) -> None:
    found = describe(table(tmp_path, ""))
    assert found.totals["requests"] == 0
    assert found.shares == {}
    assert found.hit_ratio(1e9) == 0.0
    json.dumps(found.to_dict(), allow_nan=False)
    assert all(len(found.table(name)) == (4 if name == "classes" else 0) for name in TABLES)


def test_what_is_drawn_is_like_what_was_described(job: Path) -> None:
    described = describe(job)
    drawn = describe(generate(described, seed=3))
    assert drawn.totals["requests"] == described.totals["requests"]
    for name, share in described.shares.items():
        assert drawn.shares[name] == pytest.approx(share, abs=0.05), name
    for name in ("reads", "writes"):
        assert drawn.totals[name] == pytest.approx(described.totals[name], rel=0.1), name
    for memory_bytes in (1e5, 1e6, 1e7, 1e8):
        expected = described.hit_ratio(memory_bytes)
        assert drawn.hit_ratio(memory_bytes) == pytest.approx(expected, abs=0.1), memory_bytes


def test_times_between_requests_are_like_those_described(tmp_path: Path) -> None:
    rows = "".join(f"{at / 100},a,read,/f,{at % 7 * 8192},4096\n" for at in range(1000))
    described = describe(table(tmp_path, rows))
    drawn = describe(generate(described, requests=2000))
    # A time is told to a factor of two.
    assert 0.5 < drawn.totals["duration_s"] / 2 / described.totals["duration_s"] < 2.0


def test_the_same_seed_gives_the_same_bytes(job: Path, tmp_path: Path) -> None:
    described = describe(job)
    files = []
    for number, seed in enumerate((3, 3, 4)):
        out = tmp_path / f"{number}.pctrace"
        save(generate(described, requests=500, seed=seed), out)
        files.append(out.read_bytes())
    assert files[0] == files[1] != files[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no JSON"),
        ("[]", "is no description"),
        ('{"requests": 3}', "is no description"),
    ],
)
def test_what_is_no_description_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "description.json"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=message):
        generate(path)


def test_columns_of_different_lengths_end(job: Path, tmp_path: Path) -> None:
    document = describe(job).to_dict()
    for name, column in (
        ("files", "reads"),
        ("files", "end_bytes"),
        ("runs", "count"),
        ("class_sizes", "bytes"),
    ):
        broken = json.loads(json.dumps(document))
        broken[name][column] = broken[name][column][:1]
        path = tmp_path / "description.json"
        path.write_text(json.dumps(broken))
        assert len(generate(path, requests=50)) <= 50


def test_a_huge_request_ends(tmp_path: Path) -> None:
    found = describe(
        table(tmp_path, f"0,a,read,/f,0,{1 << 40}\n0,a,read,/f,{2**63 - 4096},4096\n"), pages=1000
    )
    assert not found.totals["is_exact"]
    assert found.totals["footprint_bytes"] == pytest.approx(1 << 40, rel=0.2)


def test_objects_count_whole(tmp_path: Path) -> None:
    import struct

    path = tmp_path / "trace.oracleGeneral"
    path.write_bytes(b"".join(struct.pack("<IQIq", at, at % 3 + 1, 1000, -1) for at in range(9)))
    found = describe(path, Reading(format="oracle"))
    assert found.level == "objects"
    assert found.totals["footprint_bytes"] == 3000
    assert found.hit_ratio(1 << 20) == pytest.approx(6 / 9)
