"""Scenarios run by the real kernel: the same tables as those of a simulation, with measured values."""

import os
import platform
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pagecast import _core
from pagecast.api import RESIDENCIES, Scenario
from pagecast.arguments import (
    check_flag,
    check_path,
    check_progress,
    check_text,
    check_type,
    check_whole,
    check_word,
    written,
)
from pagecast.errors import ArgumentError
from pagecast.progress import Stages
from pagecast.result import TABLES, Columns, Result

__all__ = ["DEFAULT_SAMPLE_HZ", "MOST_SAMPLE_HZ", "Directories", "Measured", "Plan", "check_tracing", "run"]

Directories = str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]]
"""A directory for all hosts of a scenario, or directories by host."""

DEFAULT_SAMPLE_HZ = 20
"""How often the machine is looked at per second."""

MOST_SAMPLE_HZ = 200
"""More often, and looking would be felt."""


class Measured(Result):
    """The result of a real run: the tables of a simulation, and four more. Made by `run`.

    `operations` have real times, and two columns more, `call_bytes` and `run_queue_s`; in `parts` each is
    split in two, as far as a kernel tells it. `timeline` is
    of the whole machine, `bdi` has rows only with ``trace=True``, `devices` and `events` have none.
    """

    always_saved: ClassVar[tuple[str, ...]] = (*TABLES, "calls", "samples", "file_samples", "trace")

    def __init__(self, core: _core.Measured) -> None:
        super().__init__(core.result)
        self._measured = core

    @property
    def is_measured(self) -> bool:
        """Whether this was measured, and not forecast."""
        return True

    @property
    def made_by(self) -> str:
        """How figures and tables call it."""
        return "measured"

    @cached_property
    def operations(self) -> Columns:
        """One row for each operation, in the order of their ends.

        ``call_bytes`` is the size of the calls that it was made of, 0 where it moves nothing; ``run_queue_s``
        how much of its duration the thread was ready to run and waited for a processor.
        """
        return Columns(self._core.columns("operations") | self._measured.details())

    @cached_property
    def calls(self) -> Columns:
        """When each call of a read or write ended, or every so many of them; no rows without ``per_call``."""
        return Columns(self._measured.calls())

    @cached_property
    def samples(self) -> Columns:
        """The machine's counters over time, under the kernel's names with their units."""
        return Columns(self._measured.samples())

    @cached_property
    def file_samples(self) -> Columns:
        """The cached bytes of each file over time; no rows where the kernel has no cachestat(2)."""
        return Columns(self._measured.file_samples())

    @cached_property
    def trace(self) -> Columns:
        """The kernel's events of write-back, as it prints them; no rows without ``trace=True``."""
        return Columns(self._measured.trace())

    @property
    def learnt(self) -> dict[str, Any] | None:
        """The kernel's estimates of the disk before: ``bdi``, its name for it, and what root is told.

        ``write_bandwidth_bytes_per_s``, which it believes that the disk writes, ``dirty_limit_bytes``,
        its part of the dirty limit, and ``whole_limit_bytes`` are None where debugfs cannot be read. None
        without a disk.
        """
        return self._measured.learnt()

    @property
    def prepared_s(self) -> float:
        """How long it took to make the files that were there at time 0."""
        return self._measured.prepared_s

    @property
    def kept(self) -> Path | None:
        """Where the files are, if they stay."""
        return self._measured.kept

    @property
    def sampler_share(self) -> float:
        """How much of one processor it took to look at the machine."""
        return self._measured.sampler_s / self.end_s if self.end_s else 0.0

    @property
    def processor_pressure(self) -> float:
        """For how much of the time something waited for a processor; 0 if that is not told."""
        if "cpu_some_us" not in self.samples or not self.end_s:
            return 0.0
        waited_us = self.samples["cpu_some_us"]
        return min(1.0, float(waited_us[-1] - waited_us[0]) / (1e6 * self.end_s))

    @property
    def provenance(self) -> dict[str, Any]:
        """Where and how this was measured."""
        known = super().provenance
        del known["seed"]
        return known | {
            "kernel": f"{platform.system()} {platform.release()}",
            "machine": platform.machine(),
            "processors": os.cpu_count(),
            "file_system": self._measured.file_system,
            "sample_hz": self._measured.sample_hz,
            "sampler_share": self.sampler_share,
            "processor_pressure": self.processor_pressure,
        }


def check_tracing() -> None:
    """Check that the kernel's events of write-back can be recorded; changes nothing.

    Raises
    ------
    NotAllowedError
        Without tracefs, and without root.
    """
    _core.check_tracing()


class Plan:
    """The plan and the needs of a run, known before anything is touched.

    Programs are asked for their operations now, for what they need, and once more as the run goes. Of one
    that goes on until a time, or for more than 5 million operations, the needs are not known to the end.

    Parameters
    ----------
    scenario : Scenario
    residency : {"end", "operation"}, optional
        As for `simulate`.
    per_call : int, optional
    record : str
        As for `run`.

    Raises
    ------
    ScenarioError
        Scenarios that one machine cannot run: memory cgroups, `drop_caches` of one of several hosts.
    ProgramError
        A program that failed.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        residency: str | None = None,
        per_call: int | None = None,
        record: str = "all",
    ) -> None:
        check_type("scenario", scenario, Scenario, "Scenario(...) or Scenario.load(...)")
        if per_call is not None:
            per_call = check_whole("per_call", per_call)
            if not 1 <= per_call < 2**64:
                raise ArgumentError(f"per_call={written(per_call)} is not a number of calls from 1")
        if residency is not None:
            check_word("residency", residency, RESIDENCIES)
        if per_call is not None and check_text("record", record) not in ("all", "auto"):
            raise ArgumentError(
                f"per_call={per_call} needs a row of each operation; leave record={record!r} out"
            )
        self._core = _core.RunPlan(
            scenario._core, residency=residency, per_call=per_call, record=check_text("record", record)
        )

    @property
    def prepared_bytes(self) -> int:
        """Bytes that are written to files before time 0."""
        return self._core.prepared_bytes

    @property
    def written_bytes(self) -> int:
        """Bytes that the programs write to files."""
        return self._core.written_bytes

    @property
    def space_bytes(self) -> int:
        """The most that the files take on the disk at a time."""
        return self._core.space_bytes

    @property
    def memory_bytes(self) -> int:
        """The most that the programs hold of memory at a time."""
        return self._core.memory_bytes

    @property
    def operations(self) -> int:
        """How many operations all processes have together, as far as they were asked."""
        return self._core.operations

    @property
    def is_open_ended(self) -> bool:
        """Whether a program goes on until a time, so that its needs are not known to the end."""
        return self._core.is_open_ended

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of its hosts."""
        return tuple(self._core.hosts)

    @property
    def paths(self) -> dict[str, Path]:
        """Where each file of the scenario is in the folder of the run."""
        return dict(self._core.paths)

    def check(self, dir: Directories) -> dict[str, Any]:
        """Check that it can be run in a directory; changes nothing.

        Parameters
        ----------
        dir : path-like, or mapping of path-like
            As for `run`.

        Returns
        -------
        dict
            ``file_system``, ``caution`` (a warning about it, or None), ``free_bytes`` on the disk,
            ``available_bytes`` of memory, and ``places``: the same of each directory, with its ``hosts``.

        Raises
        ------
        ProbeError
            There is no such directory, it cannot be written to, it is in memory, or the disk is too full; a
            host has none.
        OutOfMemoryError
            The programs would take more memory than there is.
        NotAllowedError
            Something needs root.
        """
        places = self._core.check(*_directories(dir))
        return places[0] | {"places": places}

    def run(
        self,
        dir: Directories,
        *,
        keep: bool = False,
        sample_hz: int = DEFAULT_SAMPLE_HZ,
        trace: bool = False,
        progress: Stages | None = None,
    ) -> Measured:
        """Run it; see `run`."""
        return Measured(
            self._core.run(
                *_directories(dir),
                keep=check_flag("keep", keep),
                sample_hz=check_whole("sample_hz", sample_hz, least=1, most=MOST_SAMPLE_HZ),
                trace=check_flag("trace", trace),
                progress=check_progress(progress),
            )
        )


def _directories(dir: Directories) -> tuple[str | None, list[tuple[str, str]]]:
    """Give the directory of all hosts, and those of some."""
    if not isinstance(dir, Mapping):
        return check_path("dir", dir), []
    if not dir:
        raise ArgumentError("dir={} names no directory; name one for each host, or one for all")
    return None, [
        (check_text("a host of dir", host), check_path(f"dir[{written(host)}]", path))
        for host, path in dir.items()
    ]


def run(
    scenario: Scenario,
    *,
    dir: Directories,
    keep: bool = False,
    sample_hz: int = DEFAULT_SAMPLE_HZ,
    trace: bool = False,
    residency: str | None = None,
    per_call: int | None = None,
    record: str = "all",
    progress: Stages | None = None,
) -> Measured:
    """Run a scenario for real: the same operations, by this machine's kernel.

    A folder is made in `dir`, each mount a folder in it, and nothing else is touched. The files that the
    scenario begins with are written, evicted and looked at first. The folder is removed afterwards, also
    after Ctrl-C; the next one in the same directory removes the files of a killed run.

    Parameters
    ----------
    scenario : Scenario
        Its machine says where files are. Memory, disks and settings are this machine's, which plays all
        hosts.
    dir : path-like, or mapping of path-like
        A directory on the disk to be measured, or directories by host. Those of hosts that share files must
        show the same: an exported directory, and a mount of it. A host without one sees what a host sees that
        shares files with it.
    keep : bool
        Leave the files where they are, and say where in ``kept``.
    sample_hz : int
        How often to look at the machine, per second; 1 to 200.
    trace : bool
        Record the kernel's events of write-back, for the tables `trace` and `bdi`; needs root, tracefs.
    residency : {"end", "operation"}, optional
        As for `simulate`. Looking after each operation takes time between the operations.
    per_call : int, optional
        Note the time of every so many calls of each read and write, for the table `calls`; 1 is each call.
        Each time takes 16 bytes of memory, which are there before time 0.
    record : str
        As for `simulate`: "all" keeps a row of each operation, "slow:10ms" of those that take as long, and
        "histogram" of the 100 slowest, so that memory does not grow with their number; "auto" is "all" up to
        200,000 operations, and "histogram" of more. All are counted.
    progress : callable, optional
        Called with the action, how much of it is done, and of how much (None if not known).

    Returns
    -------
    Measured
        A `Result` of the model "measured".

    Raises
    ------
    ScenarioError
        Scenarios that one machine cannot run: memory cgroups, `drop_caches` of one of several hosts.
    ProbeError
        A directory cannot be used, a host has none, or the kernel refused something.
    SimulationError
        The workload cannot go on, as in a simulation.
    KeyboardInterrupt
        Ctrl-C was pressed.
    """
    return Plan(scenario, residency=residency, per_call=per_call, record=record).run(
        dir, keep=keep, sample_hz=sample_hz, trace=trace, progress=progress
    )
