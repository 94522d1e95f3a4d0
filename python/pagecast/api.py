"""Scenarios from Python or TOML, and the one function that simulates them."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pagecast import _core
from pagecast.errors import ScenarioError
from pagecast.result import Result

if TYPE_CHECKING:
    from pagecast.validation.case import Tolerance

__all__ = [
    "MACHINE_DIR",
    "File",
    "Process",
    "Program",
    "Scenario",
    "check_type",
    "list_machines",
    "load_machine",
    "shown",
    "simulate",
]

MACHINE_DIR = Path(__file__).parent / "machines"
"""The machine files that are shipped."""

_ENOUGH_BYTES = 2**28
"""Far more than the parser takes; there are files without an end, such as /dev/zero."""

Program: TypeAlias = (
    Callable[[], Iterable[_core.Operation]] | list[_core.Operation] | tuple[_core.Operation, ...]
)
"""A generator function without arguments, or a fixed list of operations."""


@dataclass(frozen=True, kw_only=True)
class File:
    """A file that exists before time 0.

    Parameters
    ----------
    size_bytes : float
    cached_bytes : float
        How much of it, from its start, is in the page cache.
    dirty_bytes : float
        How much of that, from its start, is dirty.
    host : str, optional
        Only with several hosts; the first one if not given.

    Raises
    ------
    TypeError
        A size that is no number.
    ScenarioError
        A negative size; more is cached than the file has.
    """

    size_bytes: float
    cached_bytes: float = 0
    dirty_bytes: float = 0
    host: str | None = None

    def __post_init__(self) -> None:
        for name in ("size_bytes", "cached_bytes", "dirty_bytes"):
            size = getattr(self, name)
            if not isinstance(size, Real):
                raise TypeError(
                    f"{name}={size!r} is a {type(size).__name__}, not a number of bytes; write 20e9 for 20 GB"
                )
            if size < 0:
                raise ScenarioError(f"{name}={size:g}: a size cannot be negative; give 0 or more")
        if self.cached_bytes > self.size_bytes:
            raise ScenarioError(
                f"cached_bytes={self.cached_bytes:g} of a file with size_bytes={self.size_bytes:g}; "
                "cache less, or make the file larger"
            )


@dataclass(frozen=True)
class Process:
    """A program, and when and where it runs.

    Parameters
    ----------
    program : callable or list of Operation
        A generator function is called anew for each simulation.
    after : sequence of str
        Names of the processes that must have ended before this one starts.
    start_s : float
        Earliest start.
    host : str, optional
        Only with several hosts; the first one if not given.
    cgroup : str, optional
        The memory cgroup of its host that it is in; none if not given.
    """

    program: Program
    after: Sequence[str] = ()
    start_s: float = 0.0
    host: str | None = None
    cgroup: str | None = None


class Scenario:
    """A machine, the files on it and the processes; can be simulated any number of times.

    Parameters
    ----------
    machine : Machine
        From `load_machine`.
    processes : mapping of str to Program or Process
        By name.
    files : mapping of str to float or File
        By absolute path; a number is the size in bytes of a file that is not cached.

    Raises
    ------
    ScenarioError
        A size, path or name that cannot be.

    See Also
    --------
    Scenario.load : Read a scenario from a TOML file.
    """

    def __init__(
        self,
        machine: _core.Machine,
        *,
        processes: Mapping[str, Program | Process],
        files: Mapping[str | os.PathLike[str], float | File] | None = None,
    ) -> None:
        check_type("machine", machine, _core.Machine, "load_machine(...)")
        all_files = [
            (path, file if isinstance(file, File) else File(size_bytes=file))
            for path, file in (files or {}).items()
        ]
        all_processes = [
            (name, process if isinstance(process, Process) else Process(process))
            for name, process in processes.items()
        ]
        self._core = _core.Scenario.from_parts(
            machine,
            [
                (file.host, path, file.size_bytes, file.cached_bytes, file.dirty_bytes)
                for path, file in all_files
            ],
            [
                (
                    name,
                    process.host,
                    process.cgroup,
                    _names(name, process.after),
                    process.start_s,
                    _factory(name, process.program),
                )
                for name, process in all_processes
            ],
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, set: Iterable[str] = ()) -> "Scenario":
        """Read a scenario from a TOML file.

        Parameters
        ----------
        path : path-like
        set : iterable of str
            Values that replace those of the file, each as ``key=value``: ``machine.vm.dirty_ratio=10``.

        Returns
        -------
        Scenario

        Raises
        ------
        ScenarioError
            The file cannot be read or understood; the message names the line and the remedy.
        """
        return cls.from_toml(read_input(path), origin=shown(path), base_dir=Path(path).parent, set=set)

    @classmethod
    def from_toml(
        cls,
        text: str | bytes,
        *,
        origin: str = "<python>",
        base_dir: str | os.PathLike[str] = ".",
        set: Iterable[str] = (),
    ) -> "Scenario":
        """Read a scenario from TOML text.

        Parameters
        ----------
        text : str or bytes
        origin : str
            What messages call the text.
        base_dir : path-like
            Where relative machine files are looked for.
        set : iterable of str
            As in `load`.

        Returns
        -------
        Scenario
        """
        if isinstance(set, str):
            raise TypeError(f"set={set!r} is a string; write [{set!r}]")
        scenario = cls.__new__(cls)
        scenario._core = _core.Scenario.from_toml(
            text.encode() if isinstance(text, str) else text,
            origin,
            base_dir=os.fspath(base_dir),
            machine_dir=os.fspath(MACHINE_DIR),
            overrides=list(set),
        )
        return scenario

    def in_cgroup(self, limit_bytes: int, *, version: int = 2, name: str = "own") -> "Scenario":
        """Give the same scenario with all processes of the first host in a memory cgroup.

        Parameters
        ----------
        limit_bytes : int
            How much page cache and anonymous memory they may have together.
        version : {2, 1}
            A group of version 2 has dirty limits of its own.
        name : str

        Returns
        -------
        Scenario
            Only the model `kernel` knows memory cgroups.
        """
        scenario = Scenario.__new__(Scenario)
        scenario._core = self._core.in_cgroup(name, limit_bytes, version == 2)
        return scenario

    def with_memory(self, size_bytes: int) -> "Scenario":
        """Give the same scenario with another memory of the first host.

        Parameters
        ----------
        size_bytes : int
            What is free or holds files at time 0.

        Returns
        -------
        Scenario
        """
        scenario = Scenario.__new__(Scenario)
        scenario._core = self._core.with_memory(size_bytes)
        return scenario

    @property
    def origin(self) -> str:
        """Where it came from."""
        return self._core.origin

    @property
    def models(self) -> list[str]:
        """The models that it asks for by itself."""
        return self._core.models

    @property
    def machine(self) -> _core.Machine:
        """The machine, with what the scenario overrides."""
        return self._core.machine

    @property
    def hosts(self) -> list[str]:
        """The names of its hosts."""
        return self._core.hosts

    @property
    def processes(self) -> list[str]:
        """The names of its processes."""
        return self._core.processes

    @property
    def files(self) -> list[str]:
        """The paths of the files that exist before time 0."""
        return self._core.files

    @property
    def machine_hash(self) -> str:
        """A hash of the machine, for provenance."""
        return self._core.machine_hash

    @property
    def tolerance(self) -> "Tolerance":
        """How far a forecast may be off, for `validate`."""
        from pagecast.validation.case import Tolerance

        return Tolerance(**self._core.tolerance)

    def __repr__(self) -> str:
        return (
            f"<Scenario {self.origin}: {counted(self.processes, 'process', 'processes')}, "
            f"{counted(self.files, 'file')}, {counted(self.hosts, 'host')}>"
        )


def simulate(
    scenario: Scenario,
    *,
    model: str = "kernel",
    seed: int = 0,
    options: Mapping[str, object] | None = None,
    residency: str | None = None,
    threads: int | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> Result:
    """Simulate a scenario under one model.

    Parameters
    ----------
    scenario : Scenario
    model : str
        One of `MODELS`; by default Linux's own rules.
    seed : int
        Of all random streams; only machines with uneven devices draw random numbers.
    options : mapping of str, optional
        Options of the model, with units: ``{"chunk": "100 MB"}``; they come before those of the scenario.
    residency : {"end", "operation"}, optional
        When the table `files` is filled; what the scenario says if not given, which is "end" by default.
    threads : int, optional
        How many threads share the hosts that have nothing to do with each other; one per processor if not
        given. The result does not depend on it.
    progress : callable, optional
        Called at most ten times a second with the fraction done (NaN if not known) and the simulated seconds.

    Returns
    -------
    Result

    Raises
    ------
    UnknownModelError
        No such model or option.
    ValueError
        A seed that 64 bits do not hold, or no thread.
    SimulationError
        The workload cannot go on: a deadlock, a read beyond the end of a file, not enough memory.
    KeyboardInterrupt
        Ctrl-C was pressed.
    """
    check_type("scenario", scenario, Scenario, "Scenario(...) or Scenario.load(...)")
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed={seed} is not from 0 to 2^64 - 1")
    texts = {name: str(value) for name, value in (options or {}).items()}
    return Result(
        _core.simulate(
            scenario._core,
            model,
            seed=seed,
            options=texts,
            residency=residency,
            threads=threads,
            progress=progress,
        )
    )


def load_machine(name_or_path: str | os.PathLike[str]) -> _core.Machine:
    """Read a machine.

    Parameters
    ----------
    name_or_path : str or path-like
        The name of a shipped machine, or the path of a machine file (with a slash or ``.toml``).

    Returns
    -------
    Machine

    Raises
    ------
    ScenarioError
        There is no such machine, or its file cannot be understood.
    """
    name = os.fspath(name_or_path)
    path = machine_path(name) if is_machine_name(name) else Path(name)
    return _core.Machine.from_toml(
        read_input(path),
        path.name if is_machine_name(name) else shown(name),
        base_dir=os.fspath(path.parent),
        machine_dir=os.fspath(MACHINE_DIR),
    )


def list_machines() -> list[str]:
    """Give the names of the machines that are shipped.

    Returns
    -------
    list of str
        Sorted.
    """
    return sorted(path.stem for path in MACHINE_DIR.glob("*.toml"))


def machine_path(name: str) -> Path:
    """Give the file of a shipped machine; a `ScenarioError` names the nearest one if there is none."""
    known = list_machines()
    if name not in known:
        nearest = get_close_matches(name, known, n=1)
        hint = f"did you mean `{nearest[0]}`?" if nearest else f"shipped are {', '.join(known)}."
        raise ScenarioError(
            f"there is no machine `{shown(name)}`; {hint} A path needs a slash or ends in .toml"
        )
    return MACHINE_DIR / f"{name}.toml"


def is_machine_name(name: str) -> bool:
    """Tell whether this is the name of a shipped machine, and not a path."""
    return "/" not in name and not name.endswith(".toml")


def read_input(path: str | os.PathLike[str]) -> bytes:
    """Read a file that a user named; a `ScenarioError` says in one line why it cannot be read."""
    if not os.fspath(path):
        raise ScenarioError("the name of the file is empty")
    try:
        with open(path, "rb") as file:
            return file.read(_ENOUGH_BYTES)
    except IsADirectoryError:
        raise ScenarioError(f"{shown(path)}: is a directory; name the file in it") from None
    except FileNotFoundError:
        raise ScenarioError(f"{shown(path)}: there is no such file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ScenarioError(f"{shown(path)}: cannot be read ({reason})") from None


def shown(path: str | os.PathLike[str]) -> str:
    """Give a name that can be printed, also if it is not UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def counted(things: Sequence[object], one: str, several: str = "") -> str:
    """Say how many there are: "1 file", "2 files"."""
    return f"{len(things)} {one if len(things) == 1 else several or f'{one}s'}"


def check_type(name: str, value: object, wanted: type, remedy: str) -> None:
    """Raise a `TypeError` that names the remedy if an argument is something else than it must be."""
    if not isinstance(value, wanted):
        raise TypeError(
            f"{name}={value!r} is a {type(value).__name__}, not a {wanted.__name__}; get one with {remedy}"
        )


def _names(process: str, names: Sequence[str]) -> list[str]:
    if isinstance(names, str):
        raise TypeError(f"process {process!r}: after={names!r} is a string; write [{names!r}]")
    return list(names)


def _factory(process: str, program: Program) -> Callable[[], Iterable[_core.Operation]]:
    if callable(program):
        return program
    if isinstance(program, list | tuple):
        fixed = tuple(program)
        strange = [step for step in fixed if not isinstance(step, _core.Operation)]
        if strange:
            raise TypeError(
                f"process {process!r}: {strange[0]!r} ({type(strange[0]).__name__}) is no operation; "
                "give read(...), write(...) or another one"
            )
        return lambda: fixed
    raise TypeError(
        f"process {process!r}: {program!r} is no program; give a generator function (without calling it) "
        "or a list of operations"
    )
