"""`simulate --at-risk`: what a power cut would lose, in the summary, in `--json` and in `--out`."""

import csv
import json

from pagecast.exit_codes import ExitCode


def test_what_is_at_risk_is_told_and_saved_if_it_was_asked_for(pagecast):
    asked = ("simulate", "scenario.toml", "--model", "kernel", "--at-risk")
    shown = pagecast(*asked, "--out", "results")
    assert shown.code == ExitCode.OK
    assert "most at risk on " in shown.stdout
    with (pagecast.folder / "results" / "kernel" / "at_risk.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert max(int(row["at_risk_bytes"]) for row in rows) > 0
    (run,) = json.loads(pagecast(*asked, "--json").stdout)["runs"]
    assert run["at_risk"]["at_risk_bytes"] == [int(row["at_risk_bytes"]) for row in rows]
    plain = pagecast(*asked[:-1], "--json")
    assert "at_risk" not in json.loads(plain.stdout)["runs"][0]


def test_other_models_do_not_know_it(pagecast):
    outcome = pagecast("simulate", "scenario.toml", "--model", "wrench", "--at-risk")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "--at-risk needs the model kernel" in outcome.stderr
