"""`pagecast run` of programs recorded here with strace: operations and bytes as in the forecast."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Pagecast
from tests.disk import folder_on_disk

PROGRAMS = {
    "pipeline": "cat in | sort > out",
    "background": "for i in 1 2 3; do (cat in; cat in) | sort > out$i & done; wait",
    "names": "mkdir -p d/e; cp in d/e/f; mv d/e/f d/g; ln d/g d/h; rm d/g; rmdir d/e; cat d/h",
    "open": "exec 3< in; rm in; cat <&3; exec 4>> log; echo 1 >&4; echo 2 >&4",
    "replace": "cat in > in.new; mv in.new in; sed -i s/1/2/ in",
    "tree": "cp -r tree copy; rm -r tree",
    "tar": "tar cf archive tree in && mkdir to && tar xf archive -C to",
    "sqlite": "sqlite3 db 'create table t(a); insert into t values (1), (2); update t set a = 3;'",
    "wal": "sqlite3 db 'pragma journal_mode=wal; create table t(a); insert into t values (1);'",
}
OTHER = {"compute", "sleep", "wait", "signal"}
"""Operations that move no bytes and change no names."""


@pytest.fixture
def there(pagecast: Pagecast) -> Iterator[Path]:
    """Give an empty directory on a disk, in which nothing is left."""
    (pagecast.folder / "there").mkdir()
    with folder_on_disk(pagecast.folder / "there") as folder:
        place = folder / "place"
        place.mkdir()
        yield place
        assert list(place.iterdir()) == []


def record(folder: Path, script: str) -> None:
    """Record a script of the shell, which has some files, with strace."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    if "sqlite3" in script and shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 is not installed")
    work = folder / "work"
    (work / "tree" / "below").mkdir(parents=True)
    text = "".join(f"{at * 7919 % 10_007}\n" for at in range(10_000))
    for name in ("in", "tree/one", "tree/below/two"):
        (work / name).write_text(text)
    command = ["strace", "-f", "-ttt", "-T", "-y", "-s", "0", "-o", "../program.strace", "sh", "-c", script]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if "ptrace" in done.stderr.lower():
        pytest.skip(f"strace cannot trace here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr


def done_by(pagecast: Pagecast, *arguments: str) -> dict[str, Counter[str]]:
    """Give how often each process did what, and the bytes that it moved by that."""
    outcome = pagecast(*arguments, "--pace", "fast", "--json")
    assert outcome.code == 0, outcome.stderr
    table = json.loads(outcome.stdout)["runs"][0]["operations"]
    done: dict[str, Counter[str]] = {}
    for process, operation, size in zip(table["process"], table["operation"], table["bytes"], strict=True):
        if operation not in OTHER:
            done.setdefault(process, Counter()).update({operation: 1, f"{operation} bytes": size})
    return done


@pytest.mark.parametrize("script", PROGRAMS.values(), ids=PROGRAMS)
def test_a_recorded_program_is_done_again(pagecast: Pagecast, there: Path, script: str) -> None:
    record(pagecast.folder, script)
    real = done_by(pagecast, "run", "program.strace", "--dir", str(there))
    forecast = done_by(
        pagecast, "simulate", "program.strace", "--machine", "wrench-cluster", "--model", "kernel"
    )
    assert real == forecast
    assert sum(done["read bytes"] + done["write bytes"] + done["copy bytes"] for done in real.values()) > 0


def test_a_recorded_program_keeps_its_pace(pagecast: Pagecast, there: Path) -> None:
    record(pagecast.folder, "cat in | sort > out; sleep 0.3; cat out")
    outcome = pagecast("run", "program.strace", "--dir", str(there), "--json")
    assert outcome.code == 0, outcome.stderr
    assert max(json.loads(outcome.stdout)["runs"][0]["operations"]["end_s"]) > 0.25
