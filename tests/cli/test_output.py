"""`--out DIR`: all or nothing, and what is in it."""

import csv
import json

import pytest

from pagecast.exit_codes import ExitCode
from pagecast.export import new_directory
from pagecast.result import TABLES


def test_a_folder_for_each_model(pagecast):
    assert pagecast("simulate", "scenario.toml", "--out", "results").code == ExitCode.OK
    folder = pagecast.folder / "results"
    assert sorted(path.name for path in folder.iterdir()) == ["no-cache", "provenance.json", "wrench"]
    figures = [f"{name}.{kind}" for name in ("timeline", "parts", "cache_content") for kind in ("png", "svg")]
    tables = [f"{name}.{kind}" for name in TABLES for kind in ("csv", "parquet")]
    assert sorted(path.name for path in (folder / "wrench").iterdir()) == sorted(
        [*figures, *tables, "trace.json"]
    )
    assert pagecast.left_behind() == ["results", "scenario.toml"]


def test_each_host_is_drawn_and_those_for_which_there_is_no_room_are_named(pagecast):
    pytest.importorskip("matplotlib")
    hosts = "".join(
        f'host.h{n} = {{ cores = 1, memory = {{ size = "1 GB", read = "4 GB/s", write = "2 GB/s" }}, '
        'disk.ssd = { size = "9 GB", read = "500 MB/s", write = "400 MB/s" }, '
        'mount."/data".disk = "ssd" }\n'
        for n in range(1, 11)
    )
    processes = "".join(
        f'[[process]]\nname = "p{n}"\nhost = "h{n}"\ndo = [ {{ write = "/data/f", size = "{n}0 MB" }} ]\n'
        for n in range(1, 11)
    )
    (pagecast.folder / "many.toml").write_text(f'models = ["kernel"]\n{hosts}{processes}')
    assert pagecast("simulate", "many.toml", "--out", "results").code == ExitCode.OK
    for name in ("timeline", "cache_content", "rates"):
        # Letters are drawn as shapes, with the text in a comment before.
        told = (pagecast.folder / "results" / "kernel" / f"{name}.svg").read_text()
        titles = [line for line in told.splitlines() if "forecast by kernel" in line]
        assert [f" of h{n}" in title for n, title in enumerate(titles, start=1)] == [True] * 8, name
        assert "Not drawn: h9, h10." in told


def test_csv_and_json_say_the_same(pagecast):
    outcome = pagecast("simulate", "scenario.toml", "--model", "wrench", "--json", "--out", "results")
    run = json.loads(outcome.stdout)["runs"][0]
    for table in TABLES:
        with (pagecast.folder / "results" / "wrench" / f"{table}.csv").open() as file:
            rows = list(csv.DictReader(file))
        for name, column in run[table].items():
            assert [row[name] for row in rows] == [str(value) for value in column], (table, name)


def test_parquet_and_csv_say_the_same(pagecast):
    pd = pytest.importorskip("pandas")
    pagecast("simulate", "scenario.toml", "--model", "wrench", "--out", "results")
    folder = pagecast.folder / "results" / "wrench"
    for table in TABLES:
        parquet = pd.read_parquet(folder / f"{table}.parquet")
        text = pd.read_csv(folder / f"{table}.csv", keep_default_na=False)
        assert list(parquet) == list(text)
        assert [list(map(str, row)) for row in parquet.to_numpy()] == [
            list(map(str, row)) for row in text.to_numpy()
        ]


def test_trace_holds_each_operation_and_its_parts(pagecast):
    pagecast("simulate", "scenario.toml", "--model", "wrench", "--out", "results")
    trace = json.loads((pagecast.folder / "results" / "wrench" / "trace.json").read_text())
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [span["name"] for span in spans] == [
        "read /data/in",
        "compute",
        "write /data/out",
        "fsync /data/out",
    ]
    for span in spans:
        parts = [value for name, value in span["args"].items() if name.endswith("_s")]
        assert sum(parts) * 1e6 == pytest.approx(span["dur"])
    tracks = [event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"]
    assert tracks == ["app"]


def test_provenance_tells_how_to_repeat_it(pagecast):
    pagecast("simulate", "scenario.toml", "--seed", "5", "--out", "results")
    provenance = json.loads((pagecast.folder / "results" / "provenance.json").read_text())
    assert (provenance["scenario"], provenance["seed"]) == ("scenario.toml", 5)
    assert [run["model"] for run in provenance["models"]] == ["wrench", "no-cache"]


def test_directory_that_is_not_empty(pagecast, matches):
    (pagecast.folder / "results").mkdir()
    (pagecast.folder / "results" / "precious").touch()
    outcome = pagecast("simulate", "scenario.toml", "--out", "results")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stdout == ""
    matches(outcome)


def test_force_does_not_replace_what_is_not_ours(pagecast, matches):
    (pagecast.folder / "results").mkdir()
    (pagecast.folder / "results" / "precious").touch()
    outcome = pagecast("simulate", "scenario.toml", "--out", "results", "--force")
    assert outcome.code == ExitCode.BAD_INPUT
    assert (pagecast.folder / "results" / "precious").exists()
    matches(outcome)


def test_force_replaces_an_earlier_output(pagecast):
    pagecast("simulate", "scenario.toml", "--out", "results")
    outcome = pagecast("simulate", "scenario.toml", "--model", "wrench", "--out", "results", "--force")
    assert outcome.code == ExitCode.OK
    assert sorted(path.name for path in (pagecast.folder / "results").iterdir()) == [
        "provenance.json",
        "wrench",
    ]
    assert pagecast.left_behind() == ["results", "scenario.toml"]


def test_empty_directory_is_filled(pagecast):
    (pagecast.folder / "results").mkdir()
    assert pagecast("simulate", "scenario.toml", "--model", "wrench", "--out", "results").code == ExitCode.OK
    assert (pagecast.folder / "results" / "wrench" / "operations.csv").exists()


def test_directory_that_is_not_utf_8(pagecast):
    for more in ((), ("--force",)):
        outcome = pagecast("simulate", "scenario.toml", "--model", "wrench", "--out", "caf\udce9", *more)
        assert (outcome.code, outcome.stderr) == (ExitCode.OK, "Results are in caf\\xe9\n")
    assert (pagecast.folder / "caf\udce9" / "wrench" / "operations.csv").exists()
    outcome = pagecast("simulate", "scenario.toml", "--out", "caf\udce9")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stderr.startswith("pagecast: error: caf\\xe9: is not empty;")


def test_current_directory_that_is_not_utf_8(pagecast, monkeypatch):
    (pagecast.folder / "caf\udce9").mkdir()
    (pagecast.folder / "scenario.toml").rename(pagecast.folder / "caf\udce9" / "scenario.toml")
    monkeypatch.chdir(pagecast.folder / "caf\udce9")
    assert pagecast("simulate", "scenario.toml", "--out", "results").code == ExitCode.OK
    outcome = pagecast("reproduce", "wrench-cache", "--exp", "4", "--model", "no-cache", "--out", "caf\udce9")
    told = "The report is caf\\xe9/report.html, with its results beside it\n"
    assert (outcome.code, outcome.stderr) == (ExitCode.OK, told)
    outcome = pagecast("simulate", "scenario.toml", "--out", "results/provenance.json")
    assert outcome.code == ExitCode.BAD_INPUT


def test_file_in_the_way(pagecast, matches):
    outcome = pagecast("simulate", "scenario.toml", "--out", "scenario.toml")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_place_that_cannot_be_written(pagecast):
    outcome = pagecast("simulate", "scenario.toml", "--out", "/proc/results")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("pagecast: error: /proc/results: cannot be written (")


def test_full_disk_leaves_nothing_behind(pagecast, matches, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pagecast.export.save_trace", full)
    outcome = pagecast("simulate", "scenario.toml", "--out", "results")
    assert outcome.code == ExitCode.BAD_INPUT
    assert pagecast.left_behind() == ["scenario.toml"]
    matches(outcome)


def test_interrupted_output_leaves_nothing_behind(tmp_path):
    def fill() -> None:
        with new_directory(tmp_path / "results") as folder:
            (folder / "half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill()
    assert list(tmp_path.iterdir()) == []
