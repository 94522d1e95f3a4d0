"""The hand-written reference names everything there is, and nothing else."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pagecast import _core
from pagecast.exit_codes import ExitCode
from pagecast.result import TABLES

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def keys(schema: Any) -> Iterator[str]:
    """Walk through a JSON schema and give the keys that a scenario can have."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from keys(value)


def test_every_scenario_key_is_described() -> None:
    page = (REFERENCE / "scenario.md").read_text()
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`", page))))
    found = set(keys(json.loads(_core.json_schema())))
    assert len(found) > 50
    assert found <= words, f"not on the page: {sorted(found - words)}"


def test_every_table_is_described() -> None:
    page = (REFERENCE / "tables.md").read_text()
    assert re.findall(r"^## (\w+)$", page, re.MULTILINE) == [*TABLES, "blocks", "repeated", "cgroups"]


def test_every_exit_code_is_described() -> None:
    page = (REFERENCE / "exit-codes.md").read_text()
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.MULTILINE)
    assert rows == [(str(code.value), code.name) for code in ExitCode]
