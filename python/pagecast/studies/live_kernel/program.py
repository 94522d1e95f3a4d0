"""A case as a scenario's processes: every step becomes an operation, or a note on where to look.

README.md beside this file has the meaning of each step. Sizes and positions are followed in the order of
the text, a concurrent process where it is started. A file that is removed while it is open goes at its last
close.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pagecast import _core
from pagecast.studies.live_kernel.case import CURRENT, Case, Step
from pagecast.studies.live_kernel.streams import read_call_bytes, written_call_bytes

if TYPE_CHECKING:
    from pagecast._core import Operation

__all__ = ["MAIN", "WHOLE_CASE", "Program", "Stat", "UnsupportedError", "translate"]

MAIN: Final = "p0"
"""Name in recordings of the process that runs the case."""

WHOLE_CASE: Final = "all"
"""The phase of a case without marks."""

_MOUNT: Final = "MNT"

OpenFlag: TypeAlias = Literal["O_DIRECT", "O_SYNC", "O_DSYNC"]

_BLOCK_BYTES: Final = 512
"""O_DIRECT takes whole blocks."""

_FLAGS: Final[dict[str, OpenFlag]] = {"d": "O_DIRECT", "s": "O_SYNC", "S": "O_DSYNC"}

_NOT_TIMED: Final = ("compute", "sleep", "signal")
"""Operations whose time the case decides, not the kernel."""


class UnsupportedError(Exception):
    """A case has a step that cannot be forecast; the text names it and its line."""


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
    """Operations of the processes of a case.

    `recorded_name` is the name of a process in recordings; names in scenarios are unique.
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

    Raises
    ------
    UnsupportedError
        The case opens a file that nothing makes, or one outside of ``MNT``, or uses one that is not open.
    """
    translator = _Translator(case, mount.rstrip("/"), stat_s or {})
    marks = any(step.command == "mark" for step in _all_steps(case.steps))
    translator.process(MAIN, MAIN, case.steps, phase=None if marks else WHOLE_CASE, handles=_Handles())
    return translator.program


def _all_steps(steps: Sequence[Step]) -> list[Step]:
    return [each for step in steps for each in (step, *_all_steps(step.steps))]


@dataclass(slots=True)
class _File:
    """A file: its path in the scenario, its size, how many handles it has, and whether it has a name."""

    path: str
    size: int = 0
    handles: int = 0
    is_linked: bool = True


@dataclass(slots=True)
class _Handle:
    file: _File
    flags: tuple[OpenFlag, ...]
    position: int = 0


@dataclass(slots=True)
class _Handles:
    """The handles of a process by number, and with which flags the scenario's process has a path open."""

    open: dict[str, _Handle] = field(default_factory=dict)
    flags: dict[str, tuple[OpenFlag, ...]] = field(default_factory=dict)

    def inherited(self) -> "_Handles":
        """Give those of a process that is started now."""
        for handle in self.open.values():
            handle.file.handles += 1
        return _Handles({number: replace(handle) for number, handle in self.open.items()})


class _Translator:
    """Follows a case step by step."""

    def __init__(self, case: Case, mount: str, stat_s: Mapping[str, Sequence[float]]) -> None:
        self.program = Program()
        self._case = case
        self._mount = mount
        self._stat_s = {name: list(seconds) for name, seconds in stat_s.items()}
        self._files: dict[str, _File] = {}
        self._made: dict[str, int] = {}
        self._running: list[str] = []

    def process(
        self,
        name: str,
        recorded_name: str,
        steps: Sequence[Step],
        *,
        phase: str | None,
        handles: _Handles,
        first: "Operation | None" = None,
    ) -> None:
        """Translate the steps of one process."""
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
                    inherited = handles.inherited()
                    self._running.append(child)
                    planned.append(Planned(_core.signal(f"start {child}"), phase, is_timed=False))
                    self.process(
                        child,
                        step.arguments["label"],
                        step.steps,
                        phase=phase,
                        handles=inherited,
                        first=_core.wait(f"start {child}"),
                    )
                    self._exit(child, inherited)
                case "snap":
                    pass
                case "stat":
                    self._stat(step, name, recorded_name, planned, phase)
                case _:
                    for operation in self._operations(step, handles):
                        is_timed = operation.name not in _NOT_TIMED
                        planned.append(Planned(operation, phase, is_timed))

    def _exit(self, name: str, handles: _Handles) -> None:
        """End a process: what it has open is closed."""
        planned = self.program.processes[name]
        for handle in handles.open.values():
            planned += [Planned(each, None, is_timed=False) for each in self._release(handle, handles)]
        planned.append(Planned(_core.signal(f"end {name}"), None, is_timed=False))

    def _new_name(self, label: str) -> str:
        taken = self.program.processes
        numbers = (f"{label}.{number}" for number in range(2, len(taken) + 2))
        return next(name for name in (label, *numbers) if name not in taken)

    def _stat(
        self, step: Step, name: str, recorded_name: str, planned: list[Planned], phase: str | None
    ) -> None:
        path = self._path(step)
        waiting = self._stat_s.get(recorded_name, [])
        seconds = waiting.pop(0) if waiting else 0.0
        if seconds > 0:
            planned.append(Planned(_core.sleep(seconds), phase, is_timed=False))
        if path in self._files:  # an operation on a file that changes nothing: residency is noted after it
            look = _core.fadvise(self._files[path].path, advice="normal")
            planned.append(Planned(look, phase, is_timed=False))
            file = path.removeprefix(f"{self._mount}/")
            self.program.stats.append(Stat(name, len(planned) - 1, step.arguments["label"], file))

    def _operations(self, step: Step, handles: _Handles) -> "list[Operation]":
        arguments = step.arguments
        match step.command:
            case "open":
                return self._open(step, handles)
            case "write":
                handle = self._handle(step, handles)
                offset = arguments["offset"]
                return self._write(handle, handles, arguments["size"], arguments["call"], offset)
            case "read":
                handle = self._handle(step, handles)
                offset = arguments["offset"]
                return self._read(handle, handles, arguments["size"], arguments["call"], offset)
            case "fwrite":
                handle = self._handle(step, handles)
                return self._write(
                    handle, handles, arguments["size"], written_call_bytes(**_stream(arguments))
                )
            case "fread":
                handle = self._handle(step, handles)
                return self._read(handle, handles, arguments["size"], read_call_bytes(**_stream(arguments)))
            case "fsync":
                return [_core.fsync(self._handle(step, handles).file.path)]
            case "fdatasync":
                return [_core.fdatasync(self._handle(step, handles).file.path)]
            case "close":
                handle = self._handle(step, handles)
                del handles.open[arguments["handle"]]
                return [_core.close(handle.file.path), *self._release(handle, handles)]
            case "unlink":
                return self._unlink(self._path(step))
            case "rename":
                return self._rename(step)
            case "mkdir":
                return [_core.mkdir(self._path(step))]
            case "owrite":
                return self._write_at_intervals(self._handle(step, handles), handles, arguments)
            case "sync":
                return [_core.sync()]
            case "drop":
                return [_core.drop_caches()]
            case "dontneed":
                return [_core.fadvise(self._handle(step, handles).file.path, advice="dontneed")]
            case "sleep":
                return [_core.sleep(arguments["ms"] / 1000)]
            case "spin":
                return [_core.compute(arguments["ms"] / 1000)]
            case "wait":
                running, self._running = self._running, []
                return [_core.wait(f"end {child}") for child in running]
            case _:
                raise AssertionError(f"`{step.command}` is in COMMANDS, but not here")

    def _open(self, step: Step, handles: _Handles) -> "list[Operation]":
        path, letters = self._path(step), step.arguments["flags"]
        if path not in self._files:
            if "c" not in letters:
                raise UnsupportedError(f"{self._at(step)} opens {path}, which nothing before it makes")
            self._files[path] = self._new_file(path)
        file = self._files[path]
        if "t" in letters:
            file.size = 0
        file.handles += 1
        flags = tuple(name for letter, name in _FLAGS.items() if letter in letters)
        handles.open[step.arguments["handle"]] = _Handle(file, flags)
        handles.flags[file.path] = flags
        return [_core.open(file.path, create="c" in letters, truncate="t" in letters, flags=flags)]

    def _new_file(self, path: str) -> _File:
        """Make a file; an earlier one of the name may still be open, and keeps its path."""
        number = self._made[path] = self._made.get(path, 0) + 1
        return _File(path if number == 1 else f"{path}#{number}")

    def _unlink(self, path: str) -> "list[Operation]":
        file = self._files.pop(path, None)
        if file is None:
            return []
        file.is_linked = False
        return [] if file.handles else [_core.unlink(file.path)]

    def _rename(self, step: Step) -> "list[Operation]":
        path, to = self._path(step), self._below(step.arguments["to"], step)
        if path not in self._files:
            raise UnsupportedError(f"{self._at(step)} renames {path}, which nothing before it makes")
        file = self._files.pop(path)
        before, file.path = file.path, to
        self._files[to] = file
        return [_core.rename(before, to)]

    def _write_at_intervals(
        self, handle: _Handle, handles: _Handles, arguments: Mapping[str, Any]
    ) -> "list[Operation]":
        """Write call by call, each followed by a pause; it begins anew after so many bytes."""
        call, around = arguments["call"], arguments["around_bytes"]
        operations: list[Operation] = []
        at = 0
        for done in range(0, arguments["size"], call):
            piece = min(call, arguments["size"] - done)
            at = 0 if at + piece > around else at
            operations += self._write(handle, handles, piece, piece, at)
            operations.append(_core.sleep(arguments["pause_us"] * 1e-6))
            at += piece
        return operations

    def _release(self, handle: _Handle, handles: _Handles) -> "list[Operation]":
        """Give a handle up: a file without a name goes with its last one."""
        file = handle.file
        handles.flags.pop(file.path, None)
        file.handles -= 1
        return [] if file.is_linked or file.handles else [_core.unlink(file.path)]

    def _write(
        self, handle: _Handle, handles: _Handles, size: int, call: int, offset: int = CURRENT
    ) -> "list[Operation]":
        file = handle.file
        start = handle.position if offset == CURRENT else offset
        size = _accepted(handle, start, size, call)
        if offset == CURRENT:
            handle.position += size
        if size == 0:
            return []
        file.size = max(file.size, start + size)
        call_bytes = min(call, size) or None
        write = _core.write(file.path, offset_bytes=start, size_bytes=size, call_bytes=call_bytes)
        return [*self._switch(handle, handles), write]

    def _read(
        self, handle: _Handle, handles: _Handles, size: int, call: int, offset: int = CURRENT
    ) -> "list[Operation]":
        file = handle.file
        start = handle.position if offset == CURRENT else offset
        if start + size > file.size and _accepted(handle, start, call, call) == call:
            size = file.size - start  # the kernel stops at the end of a file
        else:
            size = _accepted(handle, start, size, call)
        if size <= 0:
            return []
        if offset == CURRENT:
            handle.position += size
        call_bytes = min(call, size) or None
        read = _core.read(file.path, offset_bytes=start, size_bytes=size, call_bytes=call_bytes)
        return [*self._switch(handle, handles), read]

    def _switch(self, handle: _Handle, handles: _Handles) -> "list[Operation]":
        """Open the file as the handle has it: a scenario's process has it open in one way at a time."""
        path = handle.file.path
        if handles.flags.get(path, ()) == handle.flags:
            return []
        handles.flags[path] = handle.flags
        return [_core.open(path, flags=handle.flags)]

    def _handle(self, step: Step, handles: _Handles) -> _Handle:
        number = step.arguments["handle"]
        if number not in handles.open:
            raise UnsupportedError(f"{self._at(step)} uses handle {number}, which is not open")
        return handles.open[number]

    def _path(self, step: Step) -> str:
        return self._below(step.arguments["path"], step)

    def _below(self, path: str, step: Step) -> str:
        if not path.startswith(f"{_MOUNT}/"):
            raise UnsupportedError(f"{self._at(step)} uses {path}, which is not below {_MOUNT}")
        return f"{self._mount}{path.removeprefix(_MOUNT)}"

    def _at(self, step: Step) -> str:
        return f"line {step.line}"


def _accepted(handle: _Handle, start: int, size: int, call: int) -> int:
    """Say how many bytes the kernel moves before it refuses a call as EINVAL, which moves nothing."""
    if "O_DIRECT" not in handle.flags:
        return size
    call = min(call, size) or size
    if start % _BLOCK_BYTES or (call % _BLOCK_BYTES and size > 0):
        return 0
    return size if size % _BLOCK_BYTES == 0 else size - size % call


def _stream(arguments: Mapping[str, Any]) -> dict[str, int]:
    """Give a step on a C stream, as functions of streams take it."""
    return {"size": arguments["size"], "piece": arguments["call"], "buffer": arguments["buffer"]}
