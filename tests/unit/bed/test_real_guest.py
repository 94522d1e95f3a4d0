"""The guest, started twice. Takes minutes, and needs what `make bed` has put into out/bed."""

from pathlib import Path

import pytest

from bed.guest import Guest, Settings
from bed.packages import Packages

FOLDER = Path(__file__).parents[3] / "out" / "bed"
CASE = "open 0 MNT/f rwct\nwrite 0 0 16m 1m\nmark one\nfsync 0\ndrop\nread 0 0 16m 64k\nstat end MNT/f\n"

pytestmark = pytest.mark.slow

if not (Packages(FOLDER).is_there() and (FOLDER / "player").exists()):
    pytest.skip("`make bed` was not called here", allow_module_level=True)


def test_the_same_case_takes_the_same_virtual_time(tmp_path):
    settings = Settings(memory_mib=768, repetitions=1)
    tables = []
    for number in (1, 2):
        out = tmp_path / str(number)
        Guest(FOLDER, Packages(FOLDER), FOLDER / "player").play("tiny", CASE, settings, out)
        tables.append([(out / "1" / f"{name}.csv").read_text() for name in ("io", "cache", "mem")])
    assert tables[0] == tables[1]
    assert "read,f,0,1048576" in tables[0][0]
