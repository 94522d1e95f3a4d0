"""The hand-written reference names everything there is, and nothing else."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pagecast import _core
from pagecast.exit_codes import ExitCode
from pagecast.result import TABLES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
sys.path.insert(0, str(DOCS))

from headers import HEADER, members, reference  # noqa: E402


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
    assert re.findall(r"^## (\w+)$", page, re.MULTILINE) == [
        *TABLES,
        "blocks",
        "repeated",
        "cgroups",
        "at_risk",
        "ranges",
        "level_bands",
        "latency_bands",
        "links",
        "servers",
        "rpc_slots",
        "payloads",
    ]


def test_every_exit_code_is_described() -> None:
    page = (REFERENCE / "exit-codes.md").read_text()
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.MULTILINE)
    assert rows == [(str(code.value), code.name) for code in ExitCode]


def without_comments(header: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", header, flags=re.DOTALL)


def test_the_page_of_the_c_interface_has_all_of_its_header() -> None:
    code = without_comments(HEADER.read_text())
    page = reference(HEADER.read_text())
    headings = set(re.findall(r"^### `(\w+)`$", page, re.MULTILINE))
    functions = set(re.findall(r"\b(pagecast_\w+)\(", code))
    types = set(re.findall(r"^typedef \w+ (\w+)", code, re.MULTILINE))
    constants = set(re.findall(r"^#define (PAGECAST_\w+) ", code, re.MULTILINE))
    assert len(functions) > 10
    assert len(types) > 10
    assert headings == functions | types | constants
    rows = re.findall(r"^\| `([^`]+)` \| .+ \|$", page, re.MULTILINE)
    lines = re.findall(r"^  ([^/\s].*?)[,;]$", code, re.MULTILINE)
    assert sorted(rows) == sorted(lines)


def test_a_constant_has_the_meaning_that_is_written_above_it() -> None:
    code = "typedef enum e {\n  /*\n   It is\n   done.\n   */\n  A = 0,\n} e;"
    assert members(code) == [("A = 0", "It is done.")]


def test_every_name_of_the_simgrid_plugin_is_described() -> None:
    header = ROOT / "plugins" / "simgrid" / "include" / "pagecast-simgrid.hpp"
    code = re.sub(r"private:.*?};", "};", without_comments(header.read_text()), flags=re.DOTALL)
    code = code[code.index("namespace pagecast {") :]
    bodies = re.sub(r"^  \{\n.*?^  \}|\{ return [^\n]*", ";", code, flags=re.DOTALL | re.MULTILINE)
    names = set(re.findall(r"(?:class|struct|using|constexpr std::int64_t) (\w+)", bodies))
    names |= set(
        re.findall(r"[ ~](\w+)\([^;]*?\)\s*(?:const)?\s*(?:override|= 0|= default)?\s*[;:\n]", bodies)
    )
    for fields in re.findall(r"^  (?:std::u?int64_t|bool|double) ([^()\n]+);", bodies, re.MULTILINE):
        names |= {field.split("=")[0].strip() for field in fields.split(",")}
    assert {"attach", "here", "read_async", "fresh", "dsync", "writeback", "from_device", "REST"} <= names
    page = (REFERENCE / "simgrid.md").read_text()
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", page))))
    names = {name for name in names if not name.endswith("_")}  # a private one that a constructor sets
    assert names <= words, f"not on the page: {sorted(names - words)}"
