"""`--out DIR`: all or nothing, and what is in it."""

import csv
import json
import re
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from pagecast.errors import OutputError
from pagecast.exit_codes import ExitCode
from pagecast.export import PROVENANCE, new_directory, unquoted, write_file
from pagecast.outputs.reading import read
from pagecast.plot.panels import grid, with_legend
from pagecast.report.svg import to_svg
from pagecast.result import TABLES
from tests.cli.stopping import ENDINGS
from tests.cli.unprivileged import Unprivileged, skip_unless_root


def test_a_folder_for_each_model(pagecast):
    assert pagecast("simulate", "scenario.toml", "--out", "results").code == ExitCode.OK
    folder = pagecast.folder / "results"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("no-cache", "provenance.json", "report.html", "wrench")
    ]
    drawn = ("timeline", "parts", "cache_content", "rates", "devices")
    figures = [f"{name}.{kind}" for name in drawn for kind in ("png", "svg")]
    tables = [f"{name}.{kind}" for name in TABLES for kind in ("csv", "parquet")]
    assert sorted(path.name for path in (folder / "wrench").iterdir()) == sorted(
        [*figures, *tables, "trace.json"]
    )
    assert pagecast.left_behind() == ["results", "scenario.toml"]


REPEATED = """\
models = ["kernel", "no-cache"]
[machine]
cores = 1
memory = { size = "8 GB", read = "8000 MB/s", write = "5000 MB/s" }
disk.ssd = { size = "500 GB", read = "520 MB/s", write = "450 MB/s" }
mount."/data" = { disk = "ssd" }
[[process]]
name = "w<1>"
do = [ { repeat = 20, do = [ { write = "/data/f", size = "3 MB", append = true }, { fsync = "/data/f" } ] } ]
"""


def test_a_report_has_figures_and_percentiles_of_each_model(pagecast):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    (pagecast.folder / "repeated.toml").write_text(REPEATED)
    assert pagecast("simulate", "repeated.toml", "--out", "results").code == ExitCode.OK
    folder = pagecast.folder / "results"
    assert {"latency.png", "rates.png", "devices.png", "bdi.png"} <= {
        path.name for path in (folder / "kernel").iterdir()
    }
    report = (folder / "report.html").read_text()
    assert "<dt>scenario</dt><dd>repeated.toml</dd>" in report
    for model in ("kernel", "no-cache"):
        section = report[report.index(f'<section id="{model}">') :].split("</section>")[0]
        names = re.findall(r"<figcaption><strong>(.*?)\.<", section)
        assert names == [
            *([] if model == "kernel" else ["parts"]),  # the report begins with that of the first
            *("rates", "timeline", "cache content", "latency", "devices"),
            *(["bdi"] if model == "kernel" else []),
        ]
        assert '<td class="text">w&lt;1&gt;</td><td class="text">write</td>' in section
        assert ">p99.9</th>" in section


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
    for name in ("timeline", "cache_content", "bdi"):
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
            texts = ["" if value is None else str(value) for value in column]
            assert [row[name] for row in rows] == texts, (table, name)


def test_parquet_and_csv_say_the_same(pagecast):
    pd = pytest.importorskip("pandas")
    pagecast("simulate", "scenario.toml", "--model", "wrench", "--out", "results")
    folder = pagecast.folder / "results" / "wrench"
    for table in TABLES:
        parquet = pd.read_parquet(folder / f"{table}.parquet")
        text = pd.read_csv(folder / f"{table}.csv", keep_default_na=False)
        assert list(parquet) == list(text)
        assert [["" if value != value else str(value) for value in row] for row in parquet.to_numpy()] == [
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
        "report.html",
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

    monkeypatch.setattr("pagecast.outputs.saving.save_trace", full)
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


DOLLARS = """\
models = ["kernel", "wrench"]
[machine]
cores = 1
memory = { size = "8 GB", read = "8000 MB/s", write = "5000 MB/s" }
disk."$d_$" = { size = "500 GB", read = "520 MB/s", write = "450 MB/s" }
mount."/data" = { disk = "$d_$" }
[[process]]
name = "$p$"
do = [ { write = "/data/$RUN_$ID", size = "3 GB" } ]
"""


def test_a_name_with_dollars_is_no_formula(pagecast):
    """Somebody named a file after two variables of his shell: after all the work the figures took the name
    for a formula, the command ended with 70, and the results were gone."""
    pytest.importorskip("matplotlib")
    (pagecast.folder / "dollars.toml").write_text(DOLLARS)
    outcome = pagecast("simulate", "dollars.toml", "--out", "results")
    assert (outcome.code, outcome.stderr) == (ExitCode.OK, "Results are in results\n")
    folder = pagecast.folder / "results" / "kernel"
    # Letters are drawn as shapes, with the text in a comment before.
    assert "<!-- $p$  write $RUN_$ID -->" in (folder / "parts.svg").read_text()
    assert "<!-- /data/$RUN_$ID -->" in (folder / "cache_content.svg").read_text()
    assert "<!-- $d_$ avg_write_bandwidth -->" in (folder / "bdi.svg").read_text()


def test_names_in_a_report_are_no_formulas_either(pagecast):
    pytest.importorskip("matplotlib")
    figure, axes = _two_panels()
    axes[0].set_title("$a_$")
    axes[1].plot([1, 2], label="b$_$")
    with_legend(figure, axes)
    svg = to_svg(figure, name="dollars")
    assert ">$a_$<" in svg
    assert ">b$_$<" in svg


def _two_panels():
    figure, axes = grid(1, 2, size=(6, 3))
    axes[1].set_yscale("log")  # whose numbers matplotlib writes as formulas, and they stay some
    return figure, axes


def test_numbers_on_a_logarithmic_axis_stay_formulas():
    pytest.importorskip("matplotlib")
    figure, axes = _two_panels()
    axes[1].plot([1, 1e6])
    assert r">$\mathdefault" not in to_svg(figure, name="logarithmic")


def test_a_figure_that_fails_costs_itself_alone(pagecast, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("an invented mistake")

    pytest.importorskip("matplotlib")
    monkeypatch.setattr("pagecast.plot.timeline", broken)
    outcome = pagecast("simulate", "scenario.toml", "--model", "wrench", "--out", "results")
    assert outcome.code == ExitCode.OK
    assert outcome.stderr == (
        "pagecast: warning: timeline of wrench could not be drawn (ValueError: an invented mistake); "
        "all else is there\nResults are in results\n"
    )
    there = {path.name for path in (pagecast.folder / "results" / "wrench").iterdir()}
    assert there >= {"operations.csv", "trace.json", "parts.svg", "cache_content.png"}
    assert there.isdisjoint({"timeline.svg", "timeline.png"})


def test_results_of_all_models_are_there_before_the_first_figure(pagecast, monkeypatch):
    def looks(result: object, folder: Path) -> None:
        seen.append(sorted(path.name for path in folder.parent.glob("*/*.json")))

    seen: list[list[str]] = []
    monkeypatch.setattr("pagecast.outputs.saving.save_figures", looks)
    assert pagecast("simulate", "scenario.toml", "--out", "results").code == ExitCode.OK
    assert seen == [["trace.json", "trace.json"]] * 2


def test_a_disk_that_is_full_when_figures_are_drawn_keeps_the_results(pagecast, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    pytest.importorskip("matplotlib")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    outcome = pagecast("simulate", "scenario.toml", "--model", "wrench", "--out", "results")
    assert outcome.code == ExitCode.OK
    assert outcome.stderr.count("could not be drawn") == 5
    names = {path.suffix for path in (pagecast.folder / "results" / "wrench").iterdir()}
    assert names <= {".csv", ".json", ".parquet"}


@pytest.mark.parametrize("study", ["nvme-note", "wrench-cache"])
def test_a_figure_of_a_report_that_fails_costs_itself_alone(study, pagecast, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("an <invented> mistake")

    pytest.importorskip("matplotlib")
    monkeypatch.setattr("pagecast.studies.notes.report.draw", broken)
    monkeypatch.setattr("pagecast.studies.wrench_cache.figures._figure_6", broken)
    asked = ("--exp", "4", "--model", "no-cache") if study == "wrench-cache" else ()
    outcome = pagecast("reproduce", study, *asked, "--out", "results")
    assert outcome.code == ExitCode.OK
    assert outcome.stderr.count("could not be drawn (ValueError: an <invented> mistake)") == 1
    report = (pagecast.folder / "results" / "report.html").read_text()
    assert "could not be drawn (ValueError: an &lt;invented&gt; mistake)" in report


def test_a_report_that_fails_costs_itself_alone(pagecast, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("an invented mistake")

    pytest.importorskip("matplotlib")
    monkeypatch.setattr("pagecast.report.html.render", broken)
    pagecast("simulate", "scenario.toml", "--out", "a")
    pagecast("simulate", "scenario.toml", "--out", "b")
    outcome = pagecast("compare", "a", "b", "--out", "both")
    assert outcome.code == ExitCode.OK
    assert "warning: report.html could not be drawn (ValueError: an invented mistake)" in outcome.stderr
    assert sorted(path.name for path in (pagecast.folder / "both").iterdir()) == [
        "provenance.json",
        "results.json",
    ]


SPREADSHEET = """\
models = ["kernel"]
[machine]
cores = 1
memory = { size = "8 GB", read = "8000 MB/s", write = "5000 MB/s" }
disk."@d" = { size = "500 GB", read = "520 MB/s", write = "450 MB/s" }
mount."/data" = { disk = "@d" }
"""
NAMES = ("=1+1", "+1", "-1", "@SUM(A1)", "'quoted'", "plain")


def test_a_spreadsheet_runs_no_cell(pagecast):
    """A process called `=cmd|...` was a formula to the spreadsheet that the table was opened with."""
    processes = "".join(
        f'[[process]]\nname = "{name}"\ndo = [ {{ write = "/data/f{at}", size = "1 GB" }} ]\n'
        for at, name in enumerate(NAMES)
    )
    (pagecast.folder / "cells.toml").write_text(SPREADSHEET + processes)
    assert pagecast("simulate", "cells.toml", "--out", "results").code == ExitCode.OK
    folder = pagecast.folder / "results" / "kernel"
    for path in folder.glob("*.csv"):
        with path.open(newline="") as file:
            _, *rows = csv.reader(file)
        texts = [cell for row in rows for cell in row if not _is_number(cell)]
        assert not [cell for cell in texts if cell.startswith(("=", "+", "-", "@", "\t", "\r"))], path
    with (folder / "operations.csv").open(newline="") as file:
        cells = [row["process"] for row in csv.DictReader(file)]
    assert sorted(map(unquoted, cells)) == sorted(NAMES)
    assert sorted(read(pagecast.folder / "results").times["kernel"].seconds)[0][1] in NAMES


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


STOPPED_WHILE_WRITING = """\
import sys, time
import pagecast.outputs.saving
def slow(*_, **__):
    print("writing", flush=True)
    time.sleep(60)
pagecast.outputs.saving.save_trace = slow
from pagecast.__main__ import main
main()
"""


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("more", [(), ("--force",)])
def test_stopped_while_output_is_written(ending, more, pagecast):
    """SIGTERM and SIGHUP left a hidden folder with half of the results."""
    if more:
        assert pagecast("simulate", "scenario.toml", "--model", "wrench", "--out", "results").code == 0
    before = pagecast.left_behind()
    command = [sys.executable, "-c", STOPPED_WHILE_WRITING, "simulate", "scenario.toml"]
    process = subprocess.Popen(
        [*command, "--model", "wrench", "--out", "results" if more else "deep/results", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "writing\n"
    process.send_signal(ending)
    assert process.communicate(timeout=30)[1] == "\npagecast: interrupted\n"
    assert process.returncode == ExitCode.INTERRUPTED
    assert pagecast.left_behind() == before
    if more:
        assert (pagecast.folder / "results" / "wrench" / "trace.json").exists(), "the earlier output"


def test_an_output_is_replaced_as_a_whole_also_when_interrupted(tmp_path, monkeypatch):
    """Ctrl-C between taking the old output away and putting the new one in its place lost both."""

    def fill(text: str) -> None:
        with new_directory(tmp_path / "results", replace=True) as folder:
            (folder / PROVENANCE).write_text(text)

    def interrupted(self: Path, to: Path) -> Path:
        moved = rename(self, to)
        signal.raise_signal(signal.SIGINT)
        return moved

    fill("old")
    rename = Path.rename
    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fill("new")
    assert (tmp_path / "results" / PROVENANCE).read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_on_a_full_disk_is_not_there(replace, tmp_path):
    """`pagecast init` on a full disk left an empty file, and refused to write it again later."""
    there = tmp_path / "scenario.toml"
    if replace:
        there.write_text("precious")
    with limited_file_size(100), pytest.raises(OutputError, match=r"cannot be written \(File too large\)"):
        write_file(there, bytes(1000), replace=replace)
    assert [path.read_text() for path in tmp_path.iterdir()] == (["precious"] if replace else [])


def test_init_on_a_full_disk(pagecast):
    with limited_file_size(100):
        outcome = pagecast("init", "my.toml")
    told = "pagecast: error: my.toml: cannot be written (File too large); nothing was kept\n"
    assert (outcome.code, outcome.stdout, outcome.stderr) == (ExitCode.BAD_INPUT, "", told)
    assert pagecast.left_behind() == ["scenario.toml"]


@contextmanager
def limited_file_size(size_bytes):
    """Stand in for a full disk: no file gets larger."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("more", [(), ("--force",)])
def test_init_in_a_directory_that_is_read_only(more, pagecast):
    skip_unless_root()
    user = Unprivileged(pagecast)
    (pagecast.folder / "closed").mkdir(mode=0o555)
    outcome = user("init", "closed/my.toml", *more)
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stderr == (
        "pagecast: error: closed/my.toml: cannot be written (Permission denied); nothing was kept\n"
    )


def test_init_over_what_is_no_file(pagecast):
    assert pagecast("init", "/dev/null", "--force").code == ExitCode.OK
    assert Path("/dev/null").is_char_device()


def test_init_through_a_link(pagecast):
    (pagecast.folder / "link.toml").symlink_to("elsewhere.toml")
    (pagecast.folder / "elsewhere.toml").touch()
    assert pagecast("init", "link.toml", "--force").code == ExitCode.OK
    assert (pagecast.folder / "link.toml").is_symlink()
    assert "[machine]" in (pagecast.folder / "elsewhere.toml").read_text()
