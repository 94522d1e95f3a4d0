"""`pagecast compare`: two outputs side by side, of simulations, of runs, of validations."""

import json
import shutil

import pytest

import pagecast as pc
from pagecast.exit_codes import ExitCode
from pagecast.export import save_provenance, save_tables
from pagecast.outputs import compare, read

SCENARIO = """\
models = ["kernel", "no-cache"]
[machine]
cores = 2
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "900 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
[[file]]
path = "/data/in"
size = "20 MB"
[[process]]
name = "app"
do = [
  { read = "/data/in" },
  { compute = "10 s" },
  { write = "/data/out", size = "30 MB" },
  { fsync = "/data/out" },
]
"""


@pytest.fixture
def outputs(pagecast, monkeypatch):
    """The command line in a folder with the outputs `a` and `b`, of which `b` has a slower disk."""
    monkeypatch.chdir(pagecast.folder)
    (pagecast.folder / "s.toml").write_text(SCENARIO)
    for name, text in (("a", SCENARIO), ("b", SCENARIO.replace("400 MB/s", "200 MB/s"))):
        save(pc.Scenario.from_toml(text, origin="s.toml"), pagecast.folder / name)
    return pagecast


def save(scenario, folder, record="all"):
    """Write what `pagecast simulate --out` does, without the figures."""
    folder.mkdir()
    forecasts = [pc.simulate(scenario, model=model, record=record) for model in scenario.models]
    save_provenance(forecasts, folder)
    for forecast in forecasts:
        (folder / forecast.model).mkdir()
        save_tables(forecast, folder / forecast.model)


def results(folder, rows, operations=()):
    """Make the output of a validation of (case, repetition, process, operation, measured, forecast)."""
    folder.mkdir()
    names = ("case", "repetition", "process", "operation", "measured_s", "forecast_s")
    document = {
        "rows": [
            dict(zip(names, row, strict=True)) | {"experiment": "standard", "model": "kernel"} for row in rows
        ],
        "operations": [*operations],
    }
    (folder / "results.json").write_text(json.dumps(document))
    (folder / "provenance.json").write_text(json.dumps({"study": "validate", "pagecast_version": "0"}))


def test_models_are_compared_with_themselves(outputs):
    outcome = outputs("compare", "a", "b", "--json")
    assert outcome.code == ExitCode.OK, "however far they are apart"
    document = json.loads(outcome.stdout)
    assert document["schema_version"] == 1
    assert document["provenance"]["a"]["scenario"] == "s.toml"
    assert [(pair["a"], pair["b"]) for pair in document["pairs"]] == [
        ("kernel", "kernel"),
        ("no-cache", "no-cache"),
    ]
    kernel, no_cache = document["pairs"]
    assert [row["operation"] for row in kernel["operations"]] == ["read 1", "write 1", "fsync 1"]
    for pair in document["pairs"]:
        assert (pair["only_a"], pair["only_b"]) == ([], [])
        (total,) = pair["totals"]
        for side in ("a_s", "b_s", "difference_s"):
            assert total[side] == pytest.approx(sum(row[side] for row in pair["operations"]))
        for row in (*pair["operations"], total):
            assert row["difference_s"] == pytest.approx(row["b_s"] - row["a_s"])
    # 30 MB at 400 MB/s and at 200 MB/s; the 10 s of computing are no I/O.
    (write,) = [row for row in no_cache["operations"] if row["operation"] == "write 1"]
    assert (write["a_s"], write["b_s"], write["relative"]) == pytest.approx((0.075, 0.15, 1.0))
    assert write["path"] == "/data/out"


def test_swapped_every_difference_has_the_other_sign(outputs):
    for one, other in zip(compare("a", "b").pairs, compare("b", "a").pairs, strict=True):
        for left, right in zip(one.operations, other.operations, strict=True):
            assert left.difference_s == -right.difference_s
    for pair in compare("a", "a").pairs:
        assert {row.difference_s for row in (*pair.operations, *pair.totals)} == {0.0}


def test_two_outputs_side_by_side(outputs, matches):
    matches(outputs("compare", "a", "b"))


OFTEN = """\
models = ["no-cache"]
[machine]
cores = 2
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "900 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
[[file]]
path = "/data/in"
size = "20 MB"
[[process]]
name = "app"
do = [
  { repeat = 50, do = [ { read = "/data/in", size = "1 MB" } ] },
  { repeat = 20, do = [ { write = "/data/out", size = "2 MB", append = true } ] },
  { repeat = 9, do = [ { write = "/data/few", size = "9 MB", append = true } ] },
]
"""


@pytest.fixture
def often(pagecast, monkeypatch):
    """Outputs of what is done often: `f` is the forecast, `g` has a disk that writes at half the rate."""
    monkeypatch.chdir(pagecast.folder)
    slower = OFTEN.replace("400 MB/s", "200 MB/s")
    save(pc.Scenario.from_toml(OFTEN, origin="s.toml"), pagecast.folder / "f")
    save(pc.Scenario.from_toml(slower, origin="s.toml"), pagecast.folder / "g")
    save(pc.Scenario.from_toml(slower, origin="s.toml"), pagecast.folder / "h", record="histogram")
    return pagecast


def test_percentiles_that_differ_most_come_first(often):
    (pair,) = compare("f", "g").pairs
    assert [each.key for each in pair.percentiles] == [
        ("", "app", "write", "/data/out"),
        ("", "app", "read", "/data/in"),
    ], "nine operations have none"
    write, read_ = pair.percentiles
    assert write.a.n == 20
    assert write.a.seconds["p99_9"] == pytest.approx(0.005)
    assert list(write.relative.values()) == pytest.approx([1.0] * 5)
    assert (write.is_same, read_.is_same) == (False, True)
    document = json.loads(often("compare", "f", "g", "--json").stdout)
    assert document["pairs"][0]["percentiles"][0]["b_s"]["p50"] == pytest.approx(0.01)


def test_percentiles_side_by_side(often, matches):
    matches(often("compare", "f", "g"))


def test_without_rows_of_all_operations_totals_and_percentiles_are_compared(often):
    (pair,) = compare("f", "h").pairs
    (whole,) = compare("f", "g").pairs
    assert (pair.operations, pair.only_a, pair.only_b) == ((), {}, {})
    assert [each.b_s for each in pair.totals] == pytest.approx([each.b_s for each in whole.totals])
    assert [each.as_dict() for each in pair.percentiles] == [each.as_dict() for each in whole.percentiles]


def test_percentiles_of_validations_are_compared(outputs):
    def saved(name, factor):
        results(outputs.folder / name, [("c", 1, "p", "read 1", factor, 1.0)])
        rows = [
            {
                "case": "c",
                "process": "p",
                "operation": "read",
                "path": "/f",
                "model": model,
                "n": 200,
                "percentile": percentile,
                "measured_s": factor * k,
                "forecast_s": 3.0,
            }
            for model in ("kernel", "no-cache")
            for k, percentile in enumerate(("p50", "p90", "p99", "p99_9", "max"), start=1)
        ]
        path = outputs.folder / name / "results.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"percentiles": rows}))

    saved("v", 1.0)
    saved("w", 2.0)
    measured, kernel = compare("v", "w").pairs
    (of,) = measured.percentiles
    assert (of.a.seconds["p90"], of.b.seconds["max"], of.a.n) == (2.0, 10.0, 200)
    assert [each.is_same for each in kernel.percentiles] == [True]


def test_a_run_is_held_against_its_forecast(outputs):
    run = outputs.folder / "run"
    run.mkdir()
    shutil.copy(outputs.folder / "b" / "provenance.json", run)
    (run / "measured").mkdir()
    table = (outputs.folder / "b" / "kernel" / "operations.csv").read_text().splitlines()
    more = (",call_bytes,run_queue_s", *[",65536,0.0"] * (len(table) - 1))
    lines = [f"{row}{end}\n" for row, end in zip(table, more, strict=True)]
    (run / "measured" / "operations.csv").write_text("".join(lines))
    (pair,) = compare("run", "a").pairs
    assert (pair.a, pair.b) == ("measured", "kernel")
    assert {row.call_bytes for row in pair.operations} == {65536}
    assert [row.b_s for row in pair.operations] == list(read("a").times["kernel"].seconds.values())


def test_validations_are_compared_case_by_case_in_what_was_measured_and_forecast(outputs):
    details = {"case": "c", "process": "p", "operation": "read 1", "path": "/f", "call_bytes": 4096}
    results(
        outputs.folder / "v",
        [
            ("c", 1, None, "total", 2.1, 1.0),
            ("c", 2, None, "total", 4.1, 1.0),
            ("c", 1, "p", "read 1", 2.0, 1.0),
            ("c", 2, "p", "read 1", 4.0, 1.0),
            ("d", 1, "p", "read 1", 5.0, 5.0),
        ],
        [details],
    )
    results(
        outputs.folder / "w",
        [
            ("c", 1, None, "total", 6.0, 3.0),
            ("c", 1, "p", "read 1", 6.0, 3.0),
            ("c", 1, "p", "write 1", 7.0, 2.0),
            ("e", 1, "p", "read 1", 5.0, 5.0),
        ],
    )
    measured, kernel = compare("v", "w").pairs
    (row,), (total,) = measured.operations, measured.totals
    assert (row.a_s, row.b_s, row.path, row.call_bytes) == (3.0, 6.0, "/f", 4096), "a mean over the runs"
    assert (total.case, total.a_s, total.b_s) == ("c", pytest.approx(3.1), 6.0), (
        "with what is too short for a row"
    )
    assert measured.only_a == {("d", "p", "read 1"): 5.0}
    assert measured.only_b == {("c", "p", "write 1"): 7.0, ("e", "p", "read 1"): 5.0}
    assert [(each.a_s, each.b_s) for each in kernel.operations] == [(1.0, 3.0)]
    told = outputs("compare", "v", "w").stdout
    assert "2 operations in w alone: c p write 1, e p read 1." in " ".join(told.split())


def test_the_only_case_of_each_may_have_another_name(outputs):
    results(outputs.folder / "v", [("one.toml", 1, "app", "read 1", 2.0, 1.0)])
    results(outputs.folder / "w", [("two.toml", 1, "app", "read 1", 3.0, 1.0)])
    measured, _ = compare("v", "w").pairs
    assert [row.difference_s for row in measured.operations] == [1.0]
    (kernel,) = compare("v", "a").pairs
    assert [row.case for row in kernel.operations] == ["one.toml"]


def test_the_result_can_be_saved(outputs):
    assert outputs("compare", "a", "b", "--out", "both").code == ExitCode.OK
    assert outputs("simulate", "s.toml", "--out", "again").code == ExitCode.OK
    totals = [total for pair in compare("a", "again").pairs for total in pair.totals]
    assert [total.difference_s for total in totals] == [0.0, 0.0]
    both = outputs.folder / "both"
    assert sorted(path.name for path in both.iterdir()) == ["provenance.json", "report.html", "results.json"]
    assert "Side by side: a and b" in (both / "report.html").read_text()
    assert outputs("compare", "a", "b", "--out", "both").code == ExitCode.BAD_INPUT


def refused(outputs, *arguments):
    outcome = outputs("compare", *arguments)
    assert (outcome.code, outcome.stdout) == (ExitCode.BAD_INPUT, ""), outcome
    (line,) = outcome.stderr.splitlines()
    return line.removeprefix("pagecast: error: ")


def test_what_is_no_output_is_one_line(outputs):
    assert refused(outputs, "a", "none") == "none: there is no such directory; check the name"
    (outputs.folder / "file").touch()
    assert refused(outputs, "a", "file") == "file: is a file; name the directory that --out has made"
    (outputs.folder / "empty").mkdir()
    assert refused(outputs, "empty", "a") == "empty: is no output of pagecast; name what --out has made"
    (outputs.folder / "empty" / "provenance.json").write_text("{}")
    assert refused(outputs, "empty", "a").startswith(
        "empty: holds no times of operations; name the output of"
    )
    (outputs.folder / "empty" / "results.json").write_text('{"rows": [{}]}')
    assert refused(outputs, "empty", "a") == (
        "empty/results.json: cannot be understood (there is no 'experiment'); make the output again"
    )
    for text in ("[]", "{", "\0", '{"rows": 3}', '{"rows": [3]}'):
        (outputs.folder / "empty" / "results.json").write_text(text)
        assert "empty/results.json: cannot be understood (" in refused(outputs, "empty", "a")
    table = outputs.folder / "b" / "kernel" / "operations.csv"
    table.write_text(table.read_text().replace("duration_s", "duration"))
    assert "b/kernel/operations.csv: cannot be understood (there is no column 'dur" in refused(
        outputs, "a", "b"
    )
    table.write_text("process,index\napp,x\n")
    assert "b/kernel/operations.csv: cannot be understood (" in refused(outputs, "a", "b")
    results(outputs.folder / "v", [("c", 1, "other", "read 1", 2.0, 1.0)])
    assert refused(outputs, "a", "v").startswith("a and v: have no operation in common; ")


def test_help_of_compare(outputs, matches):
    matches(outputs("compare", "--help"))
