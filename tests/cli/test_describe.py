"""``pagecast describe`` and ``pagecast generate``: statistics of a workload, and recordings like it."""

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import Outcome, Pagecast

TABLE = "time_s,process,op,file,offset_bytes,bytes\n" + "".join(
    f"{at * 0.01:.2f},a,{'write' if at % 5 == 0 else 'read'},/data/x,{at * 37 % 50 * 4096},4096\n"
    for at in range(200)
)


@pytest.fixture
def table(pagecast: Pagecast) -> None:
    """Write a recording."""
    (pagecast.folder / "table.csv").write_text(TABLE)


@pytest.mark.usefixtures("table")
def test_a_description(pagecast: Pagecast, matches: Callable[[Outcome], None]) -> None:
    matches(pagecast("describe", "table.csv"))


@pytest.mark.usefixtures("table")
def test_json_is_alone_on_stdout(pagecast: Pagecast) -> None:
    outcome = pagecast("describe", "table.csv", "--json")
    document = json.loads(outcome.stdout)
    assert (document["schema_version"], document["requests"]) == (1, 200)
    assert document["classes"]["class"] == ["random", "mixed", "sequential", "large sequential"]


@pytest.mark.usefixtures("table")
def test_a_folder_has_a_report_tables_and_figures(pagecast: Pagecast) -> None:
    pytest.importorskip("matplotlib")
    outcome = pagecast("describe", "table.csv", "--out", "described")
    assert outcome.code == 0, outcome.stderr
    folder = pagecast.folder / "described"
    made = {path.name for path in folder.iterdir()}
    assert {"report.html", "description.json", "provenance.json", "hit_ratio.csv", "places.png"} <= made
    report = (folder / "report.html").read_text()
    assert report.count("<figure") == 4
    assert "could not be drawn" not in report
    assert pagecast("describe", "table.csv", "--out", "described").code == 2
    assert pagecast("describe", "table.csv", "--out", "described", "--force").code == 0


@pytest.mark.usefixtures("table")
def test_what_is_drawn_can_be_simulated_and_described(pagecast: Pagecast) -> None:
    assert pagecast("describe", "table.csv", "--out", "described").code == 0
    outcome = pagecast("generate", "described", "more.csv", "--requests", "500", "--seed", "3")
    assert (outcome.code, outcome.stderr) == (0, "more.csv: 500 requests\n")
    found = json.loads(pagecast("describe", "more.csv", "--json").stdout)
    assert found["requests"] == 500
    assert found["reads"] == pytest.approx(400, abs=50)


SCENARIO = """\
[machine]
cores = 1
memory = { size = "1 GB", read = "4 GB/s", write = "2 GB/s" }
disk.ssd = { size = "9 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data".disk = "ssd"
[[file]]
path = "/data/in"
size = "64 MiB"
[[process]]
name = "writer"
do = [
  { write = "/data/new", size = "8 MiB", call = "64 KiB" },
  { fsync = "/data/new" },
  { compute = "1 s" },
  { read = "/data/new", size = "4 MiB", call = "4 KiB", pattern = { random = "uniform", seed = 3 } },
]
[[process]]
name = "reader"
after = ["writer"]
do = [ { repeat = 2, do = [ { read = "/data/in" } ] } ]
"""


def test_a_scenario_is_described_by_its_operations(pagecast: Pagecast) -> None:
    (pagecast.folder / "scenario.toml").write_text(SCENARIO)
    outcome = pagecast("describe", "scenario.toml", "--json")
    found = json.loads(outcome.stdout)
    assert (found["provenance"]["source"], found["level"]) == ("scenario.toml", "files")
    assert (found["writes"], found["written_bytes"]) == (128, 8 << 20)
    assert (found["reads"], found["read_bytes"]) == (1024 + 2, (4 + 2 * 64) << 20)
    assert dict(zip(*found["operations"].values(), strict=True)) == {"fsync": 1}
    assert found["processes"]["name"] == ["reader", "writer"]
    some = json.loads(pagecast("describe", "scenario.toml", "--json", "--operations", "100").stdout)
    assert some["requests"] < 300
    assert "more than the 100 operations" in some["notes"][0]


def test_a_scenario_with_a_mistake_is_one_line(pagecast: Pagecast) -> None:
    (pagecast.folder / "wrong.toml").write_text(SCENARIO.replace("cores", "core"))
    outcome = pagecast("describe", "wrong.toml")
    assert (outcome.code, outcome.stderr.count("\n")) == (2, 1)
    assert "wrong.toml:2: unknown key `core` in [machine]; did you mean `cores`?" in outcome.stderr


def test_nothing_to_describe(pagecast: Pagecast) -> None:
    (pagecast.folder / "empty.csv").write_text(TABLE.splitlines()[0] + "\n")
    outcome = pagecast("describe", "empty.csv", "--out", "described")
    assert (outcome.code, outcome.stdout) == (0, "\nNothing is read or written.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["describe", "missing.csv"], "missing.csv"),
        (["describe", "table.csv", "--operations", "0"], "operations"),
        (["generate", "missing", "x.csv"], "missing: cannot be read (No such file or directory)"),
        (["generate", "table.csv", "x.csv"], "table.csv: is no JSON; make a description with describe --out"),
        (["generate", "table.csv", "x.txt"], "x.txt: ends in none of .csv, .parquet, .pctrace"),
    ],
)
@pytest.mark.usefixtures("table")
def test_bad_input(pagecast: Pagecast, arguments: list[str], message: str) -> None:
    outcome = pagecast(*arguments)
    assert outcome.code == 2
    assert message in outcome.stderr
    assert outcome.stderr.count("\n") == 1
