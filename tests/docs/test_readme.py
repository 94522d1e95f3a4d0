"""README fits two screens, and what it denies is not there."""

import json
import re
from pathlib import Path
from typing import Final

from pagecast import _core
from tests.docs.test_reference import keys

README = (Path(__file__).parents[2] / "README.md").read_text()

MISSING: Final = {
    "Swap": {"swap", "swappiness"},
    "private mappings": {"map_private", "private"},
    "Schedulers": {"elevator"},
    "directories": {"readdir", "getdents"},
    "Nested cgroups": {"low", "parent"},
    "NFS": {"pnfs", "retrans", "timeo"},
}
"""What README says is not modelled, and the keys by which a scenario would have it."""

MODELLED: Final = {
    "seek": "seek",
    "write_cache": "disk cache|cache of its own",
    "flush": "flush",
    "commit": "commit|journal",
    "wbt_lat_usec": "write-back throttling",
    "cgroup": "no cgroup|memory cgroups",
    "nodes": "NUMA|several nodes",
    "read_ahead_kb": "read-ahead",
    "block_free": "discard",
    "iget": "metadata|inode",
    "mmap": "mapped files",
    "copy": "copies",
    "latency": "latency",
    "raid": "RAID",
    "rotation": "layout|disks that turn",
}
"""Keys that exist, and the words by which README would deny them."""


def denied() -> str:
    return README.split("## What it does not model\n")[1].split("\n## ")[0]


def found() -> set[str]:
    return set(keys(json.loads(_core.json_schema())))


def test_readme_fits_two_screens() -> None:
    assert len(README.splitlines()) <= 110


def test_what_readme_denies_has_no_key() -> None:
    named = re.findall(r"\*\*(.+?)\*\*", denied())
    assert sorted(named) == sorted(MISSING), "add the keys that would model it"
    there = {name: words & found() for name, words in MISSING.items() if words & found()}
    assert not there, f"README denies what a scenario can say: {there}"


def test_readme_denies_nothing_that_has_a_key() -> None:
    assert set(MODELLED) <= found()
    wrong = [key for key, words in MODELLED.items() if re.search(words, denied(), re.IGNORECASE)]
    assert not wrong, f"README denies what these keys say: {wrong}"
