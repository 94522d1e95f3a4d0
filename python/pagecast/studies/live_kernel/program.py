"""A case as a script for the reader of the core, and what each of its lines is.

README.md beside this file has the meaning of each step. The script is read as `pagecast simulate case.pct`
reads it (crates/pagecast-core/src/readers/pct); looking at the cache takes as long as it was recorded.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pagecast._core import read_recording
from pagecast.errors import ScenarioError
from pagecast.studies.live_kernel.case import Case, Step

__all__ = [
    "MAIN", "WHOLE_CASE", "Line", "Program", "UnsupportedError", "lines_of", "translate",
]  # fmt: skip

MAIN: Final = "p0"
"""Name in recordings of the process that runs the case."""

WHOLE_CASE: Final = "all"
"""The phase of a case without marks."""

_NOT_TIMED: Final = ("compute", "sleep", "signal")
"""Operations whose time the case decides, not the kernel."""


class UnsupportedError(Exception):
    """A case has a step that cannot be forecast; the text names it and its line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a script.

    Attributes
    ----------
    text : str
    process : str
        The recorded name of its process.
    phase : str or None
        None in the set-up, and where a process ends.
    look : tuple of str or None
        Of a step `stat`: its label, and the file below ``MNT``.
    """

    text: str
    process: str
    phase: str | None
    look: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A script, and the line of each operation by process of the scenario."""

    lines: Sequence[Line]
    line_of: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @contextmanager
    def file(self) -> Iterator[Path]:
        """Give the script as a file, for as long as the block lasts."""
        with TemporaryDirectory(prefix="pagecast-") as folder:
            path = Path(folder, "case.pct")
            path.write_text("".join(f"{line.text}\n" for line in self.lines), encoding="utf-8")
            yield path

    @classmethod
    def of(cls, lines: Sequence[Line], *, origin: str = "case.pct") -> "Program":
        """Read the script that the lines are.

        Raises
        ------
        UnsupportedError
            The reader does not understand it; `origin` is its name in messages.
        """
        with cls(lines).file() as path:
            try:
                recording = read_recording(path, origin=origin, format="pct")
            except ScenarioError as error:
                raise UnsupportedError(str(error)) from None
        return cls(lines, recording.lines())

    def line(self, process: str, index: int) -> Line:
        """Give the line of the n-th operation of a process, from 0."""
        return self.lines[self.line_of[process][index] - 1]

    def counts(self, process: str, index: int, operation: str) -> tuple[str | None, bool]:
        """Give the phase that an operation belongs to, and whether its time counts.

        A process of its own begins with a wait, which is no step of it.
        """
        line = self.line(process, index)
        phase = None if index == 0 and operation == "wait" and process != MAIN else line.phase
        return phase, line.look is None and operation not in _NOT_TIMED


def translate(case: Case, *, stat_s: Mapping[str, Sequence[float]] | None = None) -> Program:
    """Write the script of a case.

    Parameters
    ----------
    case : Case
    stat_s : mapping of str to sequence of float, optional
        How long each `stat` took, by recorded process: looking at the cache is no part of the case, but
        while it goes on the kernel writes.

    Raises
    ------
    UnsupportedError
        The case opens a file that nothing makes, or one outside of ``MNT``, or uses one that is not open.
    """
    _check_files(case.steps)
    marks = any(step.command == "mark" for step in _all_steps(case.steps))
    waiting = {name: iter(seconds) for name, seconds in (stat_s or {}).items()}
    return Program.of(list(lines_of(case.steps, None if marks else WHOLE_CASE, waiting)), origin=case.origin)


def lines_of(
    steps: Sequence[Step], phase: str | None, waiting: Mapping[str, Iterator[float]] | None = None
) -> Iterator[Line]:
    """Give the lines of steps of the case's own process, from a phase on; `waiting` is for each look."""
    return _lines(steps, MAIN, phase, waiting or {})


def _all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from _all_steps(step.steps)


def _check_files(steps: Sequence[Step]) -> None:
    """Refuse what is opened and not made before: recordings begin with an empty disk."""
    made = set()
    for step in _all_steps(steps):
        path = step.arguments.get("path")
        if step.command == "unlink":
            made.discard(path)
        elif step.command == "rename":
            made.discard(path)
            made.add(step.arguments["to"])
        elif step.command == "open" and "c" in step.arguments["flags"]:
            made.add(path)
        elif step.command == "open" and path not in made:
            raise UnsupportedError(f"line {step.line} opens {path}, which nothing before it makes")


def _lines(
    steps: Sequence[Step], process: str, phase: str | None, waiting: Mapping[str, Iterator[float]]
) -> Iterator[Line]:
    """Give the lines of the steps of a process."""
    for step in steps:
        match step.command:
            case "mark":
                phase = step.arguments["label"]
            case "stat":
                seconds = next(waiting.get(process, iter(())), 0.0)
                if seconds > 0:
                    yield Line(f"sleep {1e3 * seconds:.6f}", process, phase)
                path = step.arguments["path"]
                yield Line(step.text, process, phase, (step.arguments["label"], path.removeprefix("MNT/")))
            case "sh":
                raise UnsupportedError(f"line {step.line} runs a command of the shell")
            case "proc":
                yield Line(step.text, process, phase)
                yield from _lines(step.steps, step.arguments["label"], phase, waiting)
                yield Line("endproc", step.arguments["label"], None)
            case _:
                yield Line(step.text, process, phase)
