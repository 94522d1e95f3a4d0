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
