"""Scenarios from Python or TOML, and the one function that simulates them."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from numbers import Real
from pathlib import Path
from typing import Final, TypeAlias

from pagecast import _core
from pagecast.arguments import (
    check_mapping,
    check_name,
    check_number,
    check_path,
    check_progress,
    check_text,
    check_type,
    check_whole,
    check_word,
    counted,
    shown,
    texts,
    written,
)
from pagecast.errors import ArgumentTypeError, ScenarioError, UnknownModelError
from pagecast.recordings import as_file_of_the_core
from pagecast.result import Result
from pagecast.tolerance import Tolerance
from pagecast.workloads import Reading, as_toml, scenario_text

__all__ = [
    "MACHINE_DIR",
    "PETRI",
    "File",
    "Process",
    "Program",
    "Scenario",
    "list_disks",
    "list_machines",
    "load_machine",
    "model_options",
    "simulate",
]

PETRI: Final = "petri"
"""The model of the nets of ext3 and PVFS, which `pagecast.models.simulate` asks."""

MACHINE_DIR = Path(__file__).parent / "machines"
"""The machine files that are shipped."""

_MOST_BYTES = 2**53 - 1
"""As the operations take: a float holds every whole number up to there."""

_MOST_SLOTS, _MOST_PRIORITY = 10**6, 10**9
"""As in a scenario that is read from a file."""

_ENOUGH_BYTES = 2**28
"""Far more than the parser takes; there are files without an end, such as /dev/zero."""

_AS_IT_IS = Reading()

_ONLY_HOST = "machine"
"""The name of the host of a machine file without hosts."""

RESIDENCIES = ("end", "operation")
"""When the table `files` is filled."""

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
    ArgumentTypeError
        A size that is no number.
    ScenarioError
        A negative size.
    """

    size_bytes: float
    cached_bytes: float = 0
    dirty_bytes: float = 0
    host: str | None = None

    def __post_init__(self) -> None:
        for name in ("size_bytes", "cached_bytes", "dirty_bytes"):
            size = check_number(name, getattr(self, name), of="bytes; write 20e9 for 20 GB")
            if size < 0:
                raise ScenarioError(f"{name}={size:g}: a size cannot be negative; give 0 or more")


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
    slots : int, optional
        Cores that it holds from its start to its end, and waits for; it shares those of its host if not
        given.
    hosts : sequence of str
        With `slots`, instead of `host`: it runs on the first of these that has so many cores free.
    priority : int
        With `slots`: higher ones get free cores first; among equals the one that was ready first.
    """

    program: Program
    after: Sequence[str] = ()
    start_s: float = 0.0
    host: str | None = None
    cgroup: str | None = None
    slots: int | None = None
    hosts: Sequence[str] = ()
    priority: int = 0


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
        A size, path, name, host or cgroup that cannot be, files that do not fit, processes that wait for each
        other. The words are those for a scenario that is read from a file.

    See Also
    --------
    Scenario.load : Read a scenario from a TOML file.
    """

    _toml: tuple[bytes, str, tuple[str, ...]] | None = None  # of a scenario from TOML alone

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
            for path, file in check_mapping("files", files, "{'/data/in': 20e9}").items()
        ]
        all_processes = [
            (check_name("process", name), process if isinstance(process, Process) else Process(process))
            for name, process in check_mapping("processes", processes, "{'app': app}").items()
        ]
        self._core = _core.Scenario.from_parts(
            machine,
            [
                (_name_or_none("host", file.host), path, file.size_bytes, file.cached_bytes, file.dirty_bytes)
                for path, file in all_files
            ],
            [
                (
                    name,
                    _name_or_none("host", process.host),
                    _name_or_none("cgroup", process.cgroup),
                    texts(f"process {name!r}: after", process.after),
                    check_number("start_s", process.start_s, of="seconds"),
                    _slots(name, process),
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
            Name of the text in messages.
        base_dir : path-like
            Where relative machine files are looked for.
        set : iterable of str
            As in `load`.

        Returns
        -------
        Scenario
        """
        if not isinstance(text, str | bytes):
            raise ArgumentTypeError(f"text={written(text)} is a {type(text).__name__}, not a str or bytes")
        scenario = cls.__new__(cls)
        content = text.encode(errors="surrogatepass") if isinstance(text, str) else text
        folder, changes = check_path("base_dir", base_dir), texts("set", set)
        scenario._core = _core.Scenario.from_toml(
            content,
            check_text("origin", origin),
            base_dir=folder,
            machine_dir=os.fspath(MACHINE_DIR),
            overrides=changes,
        )
        scenario._toml = content, folder, tuple(changes)
        return scenario

    @classmethod
    def from_workload(
        cls,
        path: str | os.PathLike[str],
        *,
        machine: str | os.PathLike[str] | None,
        reading: Reading = _AS_IT_IS,
        set: Iterable[str] = (),
    ) -> "Scenario":
        """Read the programs of a file in another format: a fio job, a trace, a workflow.

        Parameters
        ----------
        path : path-like
            ``-`` for standard input, which needs `reading.format`.
        machine : str, path-like or None
            A shipped machine or the path of a machine file; None for a real run, which needs no machine.
        reading : Reading
            Its format and how it is replayed.
        set : iterable of str
            As in `load`.

        Returns
        -------
        Scenario

        Raises
        ------
        ScenarioError
            The file cannot be read or understood; the message names the line and the remedy.
        """
        head = None
        if machine is not None:
            # What is wrong in the machine is its own fault, and not that of the workload.
            loaded = load_machine(machine)
            source = as_toml(check_path("machine", machine))
            is_alone = loaded.hosts == [_ONLY_HOST]
            head = f"machine = {{ from = {source} }}" if is_alone else loaded.to_toml()
        name = check_path("path", path)
        with as_file_of_the_core(name, reading) as (file, form):
            text = scenario_text(file, head, replace(reading, format=form))
            return cls.from_toml(text, origin="<stdin>" if name == "-" else shown(name), set=set)

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
        limit_bytes = check_whole("limit_bytes", limit_bytes, least=1, most=_MOST_BYTES)
        version = check_whole("version", version, least=1, most=2)
        scenario._core = self._core.in_cgroup(check_name("name", name), limit_bytes, version == 2)
        return scenario

    def with_memory(self, size_bytes: int) -> "Scenario":
        """Give the same scenario with another memory of the first host.

        Parameters
        ----------
        size_bytes : int
            Free memory and pages of files at time 0.

        Returns
        -------
        Scenario
        """
        scenario = Scenario.__new__(Scenario)
        size_bytes = check_whole("size_bytes", size_bytes, least=1, most=_MOST_BYTES)
        scenario._core = self._core.with_memory(size_bytes)
        return scenario

    @property
    def uncertainty(self) -> list[tuple[str, str, float]]:
        """The values of the machine that have a range: host, key, and spread.

        In 90 of 100 cases a value is at most 1 + spread times too small, or too large.
        """
        return self._core.uncertainty

    def scaled(self, factors: Sequence[tuple[int, str, float]]) -> "Scenario":
        """Give the same scenario with values of its machine multiplied.

        Parameters
        ----------
        factors : sequence of tuple of int, str and float
            The number of the host in `hosts`, the key as in `uncertainty`, and the factor.

        Returns
        -------
        Scenario
            With the same programs.
        """
        scenario = Scenario.__new__(Scenario)
        scenario._core = self._core.scaled(list(factors))
        return scenario

    def record(self, operations: int) -> _core.Recording:
        """Record the operations that its programs would do, without times and without a machine.

        Parameters
        ----------
        operations : int
            At most so many, one of each process in turn; the calls of patterns are operations.

        Returns
        -------
        Recording
            As `pagecast.recordings.read` gives it.

        Raises
        ------
        ScenarioError
            A program fails.
        """
        return self._core.record(check_whole("operations", operations, least=1, most=_MOST_BYTES))

    @property
    def origin(self) -> str:
        """Where it came from."""
        return self._core.origin

    @property
    def toml(self) -> tuple[bytes, str, tuple[str, ...]] | None:
        """The text that it was read from, the folder of relative files and the values set, or None."""
        return self._toml

    @property
    def models(self) -> list[str]:
        """The models that it asks for by itself."""
        return self._core.models

    @property
    def machine(self) -> _core.Machine:
        """The machine, with the overrides of the scenario."""
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
    def sources(self) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """The files in other formats that processes come from: name, format, notes by place and text."""
        return self._core.sources

    @property
    def machine_hash(self) -> str:
        """A hash of the machine, for provenance."""
        return self._core.machine_hash

    @property
    def tolerance(self) -> Tolerance:
        """How far a forecast may be off, for `validate`."""
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
    record: str = "all",
    at_risk: bool = False,
    threads: int | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> Result:
    """Simulate a scenario in the engine, under one of its policies, without ranges.

    Parameters, result and errors are those of `pagecast.uncertainty.simulate`, which is `pagecast.simulate`.
    """
    check_type("scenario", scenario, Scenario, "Scenario(...) or Scenario.load(...)")
    if model == PETRI:
        raise UnknownModelError(
            "`petri` answers a whole scenario: only simulate, sweep and explain ask it; choose another here"
        )
    return Result(
        _core.simulate(
            scenario._core,
            check_name("model", model),
            seed=check_whole("seed", seed, least=0, most=2**64 - 1),
            options=model_options(options),
            residency=None if residency is None else check_word("residency", residency, RESIDENCIES),
            record=check_text("record", record),
            at_risk=bool(at_risk),
            threads=None if threads is None else check_whole("threads", threads, least=1, most=2**32 - 1),
            progress=check_progress(progress),
        )
    )


def model_options(options: Mapping[str, object] | None) -> dict[str, str]:
    """Give the options of a model as texts."""
    given = check_mapping("options", options, "{'chunk': '100 MB'}")
    return {check_name("option", name): _option(name, value) for name, value in given.items()}


def _option(name: str, value: object) -> str:
    """Give an option as a text; a number may be one of Python's."""
    if isinstance(value, str | Real):
        return check_text(name, str(value))
    raise ArgumentTypeError(f"{name}={written(value)} is a {type(value).__name__}, not a str or a number")


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
    name = check_path("name_or_path", name_or_path)
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


def list_disks() -> list[str]:
    """Give the names of the disks that are shipped, for `from` in `[machine.disk.NAME]`.

    Returns
    -------
    list of str
        Sorted.
    """
    return sorted(path.stem for path in (MACHINE_DIR / "disks").glob("*.toml"))


def disk_path(name: str) -> Path:
    """Give the file of a shipped disk, a name of `list_disks`."""
    return MACHINE_DIR / "disks" / f"{name}.toml"


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
    path = check_path("path", path)
    if not path:
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


def _name_or_none(what: str, name: str | None) -> str | None:
    return None if name is None else check_name(what, name)


def _slots(name: str, process: Process) -> tuple[int, int, list[str]] | None:
    """Give the cores that a process holds, its priority and its hosts."""
    hosts = texts(f"process {name!r}: hosts", process.hosts)
    priority = check_whole("priority", process.priority, least=0, most=_MOST_PRIORITY)
    if process.slots is not None:
        if hosts and process.host is not None:
            raise ScenarioError(f"process {name!r} has host= and hosts=; remove one of them")
        return check_whole("slots", process.slots, least=1, most=_MOST_SLOTS), priority, hosts
    if hosts or priority:
        key = "hosts" if hosts else "priority"
        raise ScenarioError(
            f"process {name!r}: {key}= is for a process that waits for cores of its own; add slots=1"
        )
    return None


def _factory(process: str, program: Program) -> Callable[[], Iterable[_core.Operation]]:
    if callable(program):
        return program
    if isinstance(program, list | tuple):
        fixed = tuple(program)
        strange = [step for step in fixed if not isinstance(step, _core.Operation)]
        if strange:
            raise ArgumentTypeError(
                f"process {process!r}: {written(strange[0])} ({type(strange[0]).__name__}) is no operation; "
                "give read(...), write(...) or another one"
            )
        return lambda: fixed
    raise ArgumentTypeError(
        f"process {process!r}: {written(program)} is no program; give a generator function "
        "(without calling it) or a list of operations"
    )
