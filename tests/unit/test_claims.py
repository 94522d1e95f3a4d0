"""The page of claims: what holds, what is missed, and which miss is an error."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "validation" / "claims.py"


@pytest.fixture(scope="module")
def claims():
    spec = importlib.util.spec_from_file_location("claims", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def claim(claims, value, reason=""):
    return claims.at_most("It is small", 10, "a command", lambda: value, reason)


def test_a_claim_that_holds_shows_what_came_out(claims, monkeypatch):
    monkeypatch.setattr(claims, "CLAIMS", [claim(claims, 0.1)])
    table, fine = claims.claims_table()
    assert fine
    assert "| It is small | <= 10 % | 10.0 % | holds | `a command` |" in table
    assert table.startswith("1 of 1 claims hold, 0 are missed.")


def test_a_missed_claim_stays_with_its_number_and_its_reason(claims, monkeypatch):
    monkeypatch.setattr(claims, "CLAIMS", [claim(claims, 0.2), claim(claims, 0.2, "a reason")])
    table, fine = claims.claims_table()
    assert not fine  # the first has no reason
    assert "| It is small | <= 10 % | 20.0 % | **missed**: a reason | `a command` |" in table
    assert table.startswith("0 of 2 claims hold, 2 are missed.")
    monkeypatch.setattr(claims, "CLAIMS", [claim(claims, 0.2, "a reason")])
    assert claims.claims_table()[1]


def test_a_reason_that_is_no_longer_needed_is_said(claims, monkeypatch, capsys):
    monkeypatch.setattr(claims, "CLAIMS", [claim(claims, 0.05, "a reason")])
    table, fine = claims.claims_table()
    assert fine
    assert "a reason" not in table
    assert "It is small: holds now" in capsys.readouterr().err


def test_what_kernel_is_held_to_is_claimed(claims):
    said = {each.text: each.tolerance for each in claims.CLAIMS if "kernel" in each.text}
    assert len(said) == 28
    assert said["Exp 2: mean error of `kernel` against the cluster, writes"] == "<= 20 %"
    assert said["nvme-note: error of `kernel`, buffered write to the block device"] == "<= 15 %"
    cawl = {text: tolerance for text, tolerance in said.items() if text.startswith("CAWL: ")}
    assert [tolerance for text, tolerance in cawl.items() if "fwrite(3)" in text] == ["<= 8 %"]
    assert [tolerance for text, tolerance in cawl.items() if "1 KiB" in text] == ["<= 25 %"]
    assert [tolerance for text, tolerance in cawl.items() if "writes that grow" in text] == ["<= 10 %"]
