"""Cases that run programs: fio's job files, and shell commands that are traced.

A case is a file ``NAME.fio`` or ``NAME.sh``; those of the project are in the folder programs/. Lines that
begin with ``# set-up:`` are shell commands that run before, in the folder of the disk; ``# set-up: drop``
drops the caches. Of a command there are four runs: cold and warm, each without and with strace. It reads
below in/, which the set-up makes, and writes below out/, which is empty before each run. The shell is dash,
since that of busybox has programs of its own.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bed import journals
from bed.cases import CALIBRATION, Scale, text_of
from bed.packages import BedError

__all__ = ["CGROUPS", "NAMES", "STATES", "TRACER", "Case", "case_of", "cases_of"]

FOLDER: Final = Path(__file__).parent / "programs"
CGROUP_FOLDER: Final = Path(__file__).parent / "cgroups"
ENDINGS: Final = (".fio", ".sh", ".pct")

NAMES: Final = tuple(sorted(path.stem for path in FOLDER.iterdir() if path.suffix in ENDINGS))
"""The cases of the project."""

CGROUPS: Final = tuple(sorted(path.stem for path in CGROUP_FOLDER.glob("*.fio")))
"""Its cases of cgroups with `io.max` and `io.weight` (guest/cgroup.sh), played when they are named."""

STATES: Final = ("cold", "warm")

TRACER: Final = "strace -f -ttt -T -y -s 0"
"""As docs/guides/strace.md has it."""

_SET_UP: Final = re.compile(r"^[#;] *set-up: *(.+)$", re.MULTILINE)
_SETTLE_MS: Final = 500


@dataclass(frozen=True, slots=True)
class Case:
    """A case: the steps that are played, and the files that these need in the guest's /cases."""

    steps: str
    files: dict[str, str]


def cases_of(names: Sequence[str], scale: Scale, journal_mib: int = 64) -> dict[str, Case]:
    """Give cases by name, and files of the user's own; no name is the calibration and all of the project.

    Raises
    ------
    BedError
        There is no such case, or a file cannot be read.
    """
    found = {}
    for name in names or (*CALIBRATION, *NAMES):
        if name in CALIBRATION:
            found[name] = Case(text_of(name, scale), {})
            continue
        if name in journals.CASES:
            found[name] = Case(journals.text_of(name, journal_mib), {})
            continue
        path = Path(name)
        if path.suffix not in ENDINGS:
            ours = (folder / f"{name}{end}" for folder in (FOLDER, CGROUP_FOLDER) for end in ENDINGS)
            path = next((each for each in ours if each.exists()), path)
        if path.suffix not in ENDINGS:
            there = ", ".join((*CALIBRATION, *NAMES, *journals.CASES, *CGROUPS))
            raise BedError(
                f"there is no case {name} on null_blk; there are {there}. "
                "A file of your own ends in .fio, .sh or .pct"
            )
        try:
            text = path.read_text(encoding="utf-8")
            is_script = path.suffix == ".pct"
            found[path.stem] = Case(text, {}) if is_script else case_of(path.name, text)
        except (OSError, UnicodeDecodeError) as error:
            raise BedError(f"{name}: cannot be read ({error})") from error
    return found


def case_of(file: str, text: str) -> Case:
    """Make the case of a job file or of a shell script."""
    set_up = [line.strip() for line in _SET_UP.findall(text)]
    commands = [line for line in set_up if line != "drop"]
    files = {file: text, f"{file}.set-up": "".join(f"{line}\n" for line in ("set -e", *commands, "sync"))}
    before = [f"exec dash /cases/{file}.set-up"]
    steps = _fio(file, is_cold="drop" in set_up) if file.endswith(".fio") else _traced(file)
    after = ["exec find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +", "sync"]
    return Case("".join(f"{line}\n" for line in (*before, *steps, *after)), files)


def _fio(file: str, *, is_cold: bool) -> list[str]:
    run = f"exec fio --output=/tmp/fio.json --output-format=json+ /cases/{file}"
    return [*(["drop"] if is_cold else []), f"sleep {_SETTLE_MS}", "mark fio", run, "mark sync", "sync"]


def _traced(file: str) -> list[str]:
    steps = []
    for label, words in (("", ""), ("_traced", TRACER)):
        for state in STATES:
            tracer = f"{words} -o /tmp/{state}.strace " if words else ""
            steps += ["exec rm -rf out", "exec mkdir out", "sync", *(["drop"] if state == "cold" else [])]
            steps += [f"sleep {_SETTLE_MS}", f"mark {state}{label}", f"exec {tracer}dash /cases/{file}"]
    return steps
