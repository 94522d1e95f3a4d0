"""Scenarios from files in other formats: a fio job, a trace, a workflow."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagecast._core import workload_format
from pagecast.arguments import check_path, shown
from pagecast.errors import ScenarioError

__all__ = ["PACKAGES", "Reading", "as_toml", "format_of", "format_of_a_package", "scenario_text"]

ANY_MACHINE: Final = (
    'machine = { cores = 1, memory = { size = "9000 TB", read = "1 GB/s", write = "1 GB/s" }, '
    'disk.any = { size = "9000 TB", read = "1 GB/s", write = "1 GB/s" }, mount."/" = { disk = "any" } }'
)
"""For a real run, which takes nothing of a machine but its mounts."""

PACKAGES: Final = {"parquet": ("pyarrow", "tables"), "darshan": ("darshan", "darshan")}
"""Formats that a Python package reads: the package, and the extra of ours that installs it."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file in another format is read and replayed.

    Parameters
    ----------
    format : str, optional
        By its content and name if not given.
    files_in : str, optional
        Directory of the machine for relative paths and those under no mount; ``/`` or the first mount if not
        given.
    pace : str or float
        Time between the operations of a recording: "recorded", "fast" for none, or a factor.
    replay : {"closed", "open"}
        Whether an operation waits for the one before or begins at its recorded time.
    lenient : bool
        Pass over what is not understood.
    cached : bool
        The files that exist before are in the page cache.
    system_files : bool
        A recording of strace: forecast files below /usr, /etc and the like, which are otherwise taken as
        cached.
    strace_overhead : str, optional
        What strace has added to each call, such as "40 us"; estimated if not given.
    fio_overhead : str, optional
        What fio itself takes for a request of a job, such as "0.5 us"; 1.6 times ``memory.cost.call`` of the
        machine if not given.
    columns : str, optional
        Columns of a table without a known header: ``time=0,op=3,offset=4,bytes=5``.
    task_order : {"fifo", "depth", "priority"}
        Which ready task of a workflow gets free cores: the first one, the one with the longest path to the
        end, or the one with the highest recorded priority.
    compute : {"runtime", "cpu"}
        How long a task computes: all of its recorded runtime, or its recorded use of processors.
    machines : {"recorded", "any"}
        Where a task runs that was recorded on a machine: the host of that name (or hosts in turn), or the
        first host with free cores.
    core_speed : float
        How many times as fast as the recorded cores those of the machine are.
    """

    format: str | None = None
    files_in: str | None = None
    pace: str | float = "recorded"
    replay: str = "closed"
    lenient: bool = False
    cached: bool = False
    system_files: bool = False
    strace_overhead: str | None = None
    fio_overhead: str | None = None
    columns: str | None = None
    task_order: str = "fifo"
    compute: str = "runtime"
    machines: str = "recorded"
    core_speed: float = 1.0


def as_toml(machine: str) -> str:
    """Give a machine as the value of `from`: a shipped name as it is, a file with its whole path.

    Parameters
    ----------
    machine : str
        A shipped name, or a path (with a slash or ``.toml``).

    Returns
    -------
    str
        Quoted; scenarios look for files beside themselves, so a path must be absolute.
    """
    is_file = "/" in machine or machine.endswith(".toml")
    source = Path(machine).resolve() if is_file else machine
    if shown(source) != str(source):
        raise ScenarioError(f"{shown(source)}: a scenario can only name what is UTF-8; move the machine file")
    return json.dumps(str(source))


def format_of(path: str | os.PathLike[str]) -> str | None:
    """Give the format of a file with programs; None for a scenario, or a file that cannot be read."""
    name = check_path("path", path)
    if name.endswith(".toml") or name == "-":
        return None
    return format_of_a_package(name, None) or workload_format(name)


def format_of_a_package(path: str | os.PathLike[str], format: str | None) -> str | None:
    """Give the format of a file that a Python package reads, or None."""
    if format is not None:
        return format if format in PACKAGES else None
    name = check_path("path", path)
    if name.endswith(".darshan"):
        return "darshan"
    with suppress(OSError):
        if os.path.isfile(name):
            with open(name, "rb") as file:
                return "parquet" if file.read(4) == b"PAR1" else None
    return None


def scenario_text(path: str | os.PathLike[str], machine: str | None, reading: Reading) -> str:
    """Give the scenario, as TOML, that runs the programs of a file on a machine.

    Parameters
    ----------
    path : path-like
        ``-`` for standard input.
    machine : str or None
        The lines of the machine; None for a run on this machine.
    reading : Reading
    """
    name = check_path("path", path)
    absolute = name if name == "-" else str(Path(name).resolve())
    if shown(absolute) != absolute:
        raise ScenarioError(f"{shown(name)}: a scenario can only name what is UTF-8; rename the file")
    keys: dict[str, object] = {"from": absolute if name == "-" else name}
    for key in ("format", "files_in", "strace_overhead", "fio_overhead", "columns"):
        if (value := getattr(reading, key)) is not None:
            keys[key] = value
    if reading.pace != "recorded":
        keys["pace"] = str(reading.pace)
    if reading.replay != "closed":
        keys["replay"] = reading.replay
    for key in ("lenient", "cached", "system_files"):
        if getattr(reading, key):
            keys[key] = True
    for key in ("task_order", "compute", "machines", "core_speed"):
        if (value := getattr(reading, key)) != getattr(Reading, key):
            keys[key] = value
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    head = ANY_MACHINE if machine is None else machine
    return "\n".join([head, "[[process]]", *lines, ""])
