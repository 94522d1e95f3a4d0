"""A case as a scenario's processes: every step becomes an operation, or a note on where to look.

What a step means is in README.md beside this file. Sizes and positions are followed in the order of the text,
a concurrent process where it is started. O_SYNC and O_DIRECT cannot be said in a scenario yet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pagecast.studies.live_kernel.case import CURRENT, Case, Step

if TYPE_CHECKING:
    from pagecast import Operation

__all__ = ["MAIN", "WHOLE_CASE", "Program", "Stat", "UnsupportedError", "translate"]

MAIN: Final = "p0"
"""What recordings call the process that runs the case."""

WHOLE_CASE: Final = "all"
"""The phase of a case without marks."""

_MOUNT: Final = "MNT"

_SYNCHRONOUS: Final = {"d": "O_DIRECT", "s": "O_SYNC", "S": "O_DSYNC"}

_NOT_TIMED: Final = ("compute", "sleep", "signal")
"""Operations whose time the case decides, not the kernel."""


class UnsupportedError(Exception):
    """A case does what cannot be forecast; the text says what, and in which line."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An operation, the phase that it belongs to (None in the set-up), and whether its time counts."""

    operation: "Operation"
    phase: str | None
    is_timed: bool


@dataclass(frozen=True, slots=True)
class Stat:
    """A step `stat`: the file's cached bytes are those after the `index`-th operation of the process."""

    process: str
    index: int
    label: str
    file: str


@dataclass(slots=True)
class Program:
    """What the processes of a case do.

    `recorded_name` is what recordings call a process; names in scenarios are unique.
    """

    processes: dict[str, list[Planned]] = field(default_factory=dict)
    stats: list[Stat] = field(default_factory=list)
    recorded_name: dict[str, str] = field(default_factory=dict)

    def operations(self) -> "dict[str, list[Operation]]":
        """Give the processes as a scenario takes them."""
        return {name: [each.operation for each in steps] for name, steps in self.processes.items()}


def translate(case: Case, *, mount: str, stat_s: Mapping[str, Sequence[float]] | None = None) -> Program:
    """Write the programs of a case.

    Parameters
    ----------
    case : Case
    mount : str
        What ``MNT`` in paths stands for.
    stat_s : mapping of str to sequence of float, optional
        How long each `stat` took, by recorded process: looking at the cache is no part of the case, but
        while it goes on the kernel writes.

    Returns
    -------
    Program

    Raises
    ------
    UnsupportedError
        The case opens a file with O_DIRECT or O_SYNC, or one that nothing makes, or one outside of ``MNT``.
    """
    translator = _Translator(case, mount.rstrip("/"), stat_s or {})
    marks = any(step.command == "mark" for step in _all_steps(case.steps))
    translator.process(MAIN, MAIN, case.steps, phase=None if marks else WHOLE_CASE, handles={})
    return translator.program


def _all_steps(steps: Sequence[Step]) -> list[Step]:
    return [each for step in steps for each in (step, *_all_steps(step.steps))]


@dataclass(slots=True)
class _Handle:
    path: str
    position: int = 0


class _Translator:
    """Follows a case step by step."""

    def __init__(self, case: Case, mount: str, stat_s: Mapping[str, Sequence[float]]) -> None:
        self.program = Program()
        self._case = case
        self._mount = mount
        self._stat_s = {name: list(seconds) for name, seconds in stat_s.items()}
        self._sizes: dict[str, int] = {}
        self._written: dict[str, None] = {}
        self._running: list[str] = []

    def process(
        self,
        name: str,
        recorded_name: str,
        steps: Sequence[Step],
        *,
        phase: str | None,
        handles: dict[str, _Handle],
        first: "Operation | None" = None,
    ) -> None:
        """Translate the steps of one process."""
        import pagecast as pc

        planned = self.program.processes[name] = []
        self.program.recorded_name[name] = recorded_name
        if first is not None:
            planned.append(Planned(first, None, is_timed=False))
        for step in steps:
            match step.command:
                case "mark":
                    phase = step.arguments["label"]
                case "proc":
                    child = self._new_name(step.arguments["label"])
                    copies = {key: _Handle(of.path, of.position) for key, of in handles.items()}
                    self._running.append(child)
                    planned.append(Planned(pc.signal(f"start {child}"), phase, is_timed=False))
                    self.process(
                        child,
                        step.arguments["label"],
                        step.steps,
                        phase=phase,
                        handles=copies,
                        first=pc.wait(f"start {child}"),
                    )
                    end = Planned(pc.signal(f"end {child}"), None, is_timed=False)
                    self.program.processes[child].append(end)
                case "stat":
                    self._stat(step, name, recorded_name, planned, phase)
                case _:
                    for operation in self._operations(step, handles):
                        is_timed = operation.name not in _NOT_TIMED
                        planned.append(Planned(operation, phase, is_timed))

    def _new_name(self, label: str) -> str:
        taken = self.program.processes
        numbers = (f"{label}.{number}" for number in range(2, len(taken) + 2))
        return next(name for name in (label, *numbers) if name not in taken)

    def _stat(
        self, step: Step, name: str, recorded_name: str, planned: list[Planned], phase: str | None
    ) -> None:
        import pagecast as pc

        path = self._path(step)
        waiting = self._stat_s.get(recorded_name, [])
        seconds = waiting.pop(0) if waiting else 0.0
        if seconds > 0:
            planned.append(Planned(pc.sleep(seconds), phase, is_timed=False))
        if path in self._sizes:  # an operation on a file that changes nothing: residency is noted after it
            planned.append(Planned(pc.fadvise(path, advice="normal"), phase, is_timed=False))
            file = path.removeprefix(f"{self._mount}/")
            self.program.stats.append(Stat(name, len(planned) - 1, step.arguments["label"], file))

    def _operations(self, step: Step, handles: dict[str, _Handle]) -> "list[Operation]":
        import pagecast as pc

        arguments = step.arguments
        match step.command:
            case "open":
                return self._open(step, handles)
            case "write":
                handle = self._handle(step, handles)
                return self._write(handle, arguments["size"], arguments["call"], arguments["offset"])
            case "read":
                handle = self._handle(step, handles)
                return self._read(handle, arguments["size"], arguments["call"], arguments["offset"])
            case "fwrite":
                return self._write(self._handle(step, handles), arguments["size"], _stream_call(arguments))
            case "fread":
                return self._read(self._handle(step, handles), arguments["size"], _stream_call(arguments))
            case "fsync" | "fdatasync":
                path = self._handle(step, handles).path
                return [pc.fsync(path)] if path in self._sizes else []
            case "close":
                path = self._handle(step, handles).path
                del handles[arguments["handle"]]
                return [pc.close(path)] if path in self._sizes else []
            case "unlink":
                path = self._path(step)
                self._written.pop(path, None)
                return [pc.unlink(path)] if self._sizes.pop(path, None) is not None else []
            case "sync":
                return [pc.fsync(path) for path in self._written]
            case "drop":
                return [pc.drop_caches()]
            case "dontneed":
                return [pc.fadvise(self._handle(step, handles).path, advice="dontneed")]
            case "sleep":
                return [pc.sleep(arguments["ms"] / 1000)]
            case "spin":
                return [pc.compute(arguments["ms"] / 1000)]
            case "wait":
                running, self._running = self._running, []
                return [pc.wait(f"end {child}") for child in running]
            case _:
                raise AssertionError(f"`{step.command}` is in COMMANDS, but not here")

    def _open(self, step: Step, handles: dict[str, _Handle]) -> "list[Operation]":
        import pagecast as pc

        path, flags = self._path(step), step.arguments["flags"]
        for flag, name in _SYNCHRONOUS.items():
            if flag in flags:
                raise UnsupportedError(f"{self._at(step)} opens {path} with {name}")
        if path not in self._sizes and "c" not in flags:
            raise UnsupportedError(f"{self._at(step)} opens {path}, which nothing before it makes")
        if path not in self._sizes or "t" in flags:
            self._sizes[path] = 0
        handles[step.arguments["handle"]] = _Handle(path)
        return [pc.open(path, create="c" in flags, truncate="t" in flags)]

    def _write(self, handle: _Handle, size: int, call: int, offset: int = CURRENT) -> "list[Operation]":
        import pagecast as pc

        start = handle.position if offset == CURRENT else offset
        if offset == CURRENT:
            handle.position += size
        if size == 0:
            return []
        self._sizes[handle.path] = max(self._sizes.get(handle.path, 0), start + size)
        self._written[handle.path] = None
        return [
            pc.write(handle.path, offset_bytes=start, size_bytes=size, call_bytes=min(call, size) or None)
        ]

    def _read(self, handle: _Handle, size: int, call: int, offset: int = CURRENT) -> "list[Operation]":
        import pagecast as pc

        start = handle.position if offset == CURRENT else offset
        size = min(size, self._sizes.get(handle.path, 0) - start)  # the kernel stops at the end of a file
        if size <= 0:
            return []
        if offset == CURRENT:
            handle.position += size
        call_bytes = min(call, size) or None
        return [pc.read(handle.path, offset_bytes=start, size_bytes=size, call_bytes=call_bytes)]

    def _handle(self, step: Step, handles: dict[str, _Handle]) -> _Handle:
        number = step.arguments["handle"]
        if number not in handles:
            raise UnsupportedError(f"{self._at(step)} uses handle {number}, which is not open")
        return handles[number]

    def _path(self, step: Step) -> str:
        path: str = step.arguments["path"]
        if not path.startswith(f"{_MOUNT}/"):
            raise UnsupportedError(f"{self._at(step)} uses {path}, which is not below {_MOUNT}")
        return f"{self._mount}{path.removeprefix(_MOUNT)}"

    def _at(self, step: Step) -> str:
        return f"line {step.line}"


def _stream_call(arguments: Mapping[str, Any]) -> int:
    """Give the size of the calls that a C stream makes: whole buffers, as many as a piece has."""
    call, buffer = int(arguments["call"]), max(int(arguments["buffer"]), 1)
    return max(call // buffer, 1) * buffer
