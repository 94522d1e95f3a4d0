"""Recordings that Python packages read."""

from pathlib import Path

import pytest

from pagecast._core import RecordingWriter
from pagecast.errors import ScenarioError
from pagecast.recordings import read, save
from pagecast.workloads import Reading


def test_rows_from_python_become_a_recording(tmp_path: Path) -> None:
    writer = RecordingWriter("log", "files")
    writer.file("/x", 5000)
    writer.push({"op": ["read", "fsync"], "file": ["/x", "/y"], "bytes": [4096, None], "time_ns": [10, 20]})
    recording = writer.finish()
    assert (len(recording), recording.processes, recording.level) == (2, 1, "files")
    assert recording.files == [("/x", 5000, False), ("/y", 0, True)]
    with pytest.raises(ScenarioError, match="this recording has ended"):
        writer.push({})


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"op": ["raed"], "file": ["/x"]}, "log, row 1: there is no operation `raed`; did you mean `read`?"),
        ({"op": ["sync"], "file": []}, "the columns have different lengths"),
        ({"opp": ["sync"]}, "there is no column"),
    ],
)
def test_wrong_rows_are_refused(columns: dict[str, list[str]], says: str) -> None:
    with pytest.raises(ScenarioError, match=says):
        RecordingWriter("log").push(columns)


def test_a_table_in_parquet_is_read_by_a_list_of_columns(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.table({"When": [10.5, 11.0], "Kind": ["R", "W"], "Sector": [8, 16], "Count": [8, 16]})
    pq.write_table(table, tmp_path / "disk.parquet")
    reading = Reading(columns="time_ms=When,op=Kind,offset_sectors=Sector,sectors=Count")
    recording = read(tmp_path / "disk.parquet", reading)
    assert (len(recording), recording.level) == (3, "blocks")
    assert recording.files == [("device", 16384, False)]


def test_parquet_that_is_none_or_wrong_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    (tmp_path / "x.parquet").write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(ScenarioError, match="cannot be read as Parquet"):
        read(tmp_path / "x.parquet", Reading())
    pq.write_table(pa.table({"op": ["raed"] * 100_000, "file": ["/x"] * 100_000}), tmp_path / "y.parquet")
    with pytest.raises(ScenarioError, match=r"y\.parquet:2: there is no operation `raed`"):
        read(tmp_path / "y.parquet", Reading())


def test_a_recording_that_is_saved_is_whole(tmp_path: Path) -> None:
    writer = RecordingWriter("log")
    writer.push({"op": ["sync"]})
    save(writer.finish(), tmp_path / "x.pctrace")
    assert [path.name for path in tmp_path.iterdir()] == ["x.pctrace"]
    assert len(read(tmp_path / "x.pctrace", Reading())) == 1


def _logs() -> Path:
    darshan = pytest.importorskip("darshan")
    return Path(darshan.__file__).parent / "examples" / "example_logs"


def test_each_read_and_write_of_a_darshan_log_is_there() -> None:
    darshan = pytest.importorskip("darshan")
    log = _logs() / "dxt.darshan"
    report = darshan.DarshanReport(str(log), read_all=False)
    report.mod_read_all_dxt_records("DXT_POSIX")
    wanted = [
        (segment["start_time"], op, segment["offset"], segment["length"], report.name_records[record["id"]])
        for record in report.records["DXT_POSIX"]
        for op in ("read", "write")
        for segment in record[f"{op}_segments"]
    ]
    recording = read(log, Reading())
    batches = list(recording.batches())
    found = [
        row
        for batch in batches
        for row in zip(batch["op"], batch["offset_bytes"], batch["bytes"], batch["file"], strict=True)
    ]
    assert (sum(row[0] == "read" for row in found), sum(row[0] == "write" for row in found)) == (6126, 1497)
    assert sum(row[2] for row in found) == sum(row[3] for row in wanted)
    assert sorted(row[1:] for row in sorted(wanted)) == sorted(found)
    assert [row[1] for row in sorted(wanted, key=lambda row: row[0])][:100] == [row[0] for row in found][:100]


def test_a_darshan_log_without_segments_is_refused_with_its_sums() -> None:
    with pytest.raises(ScenarioError, match=r"no single reads and writes .DXT., only sums: .* 16,402 writes"):
        read(_logs() / "example.darshan", Reading())


def test_a_broken_darshan_log_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("darshan")
    (tmp_path / "x.darshan").write_bytes(b"no log" * 100)
    with pytest.raises(ScenarioError, match=r"x\.darshan: the package darshan cannot read it"):
        read(tmp_path / "x.darshan", Reading())


def test_without_the_package_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagecast.recordings.find_spec", lambda _: None)
    with pytest.raises(ScenarioError, match=r"pip install 'pagecast\[darshan\]'"):
        read(tmp_path / "x.darshan", Reading())
