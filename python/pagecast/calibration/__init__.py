"""Makes a machine file of the machine that this runs on: facts read, rates and costs measured."""

import os
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pagecast import _core, procfs
from pagecast._core import format_bytes
from pagecast.api import MACHINE_DIR
from pagecast.arguments import check_flag, check_path, check_progress, check_word, shown
from pagecast.calibration.facts import Facts, read_facts
from pagecast.calibration.functions import WRITTEN_BYTES, Tracer, find_tracer, function_times
from pagecast.calibration.machine_file import Provenance, has_changed, source_of, write_machine
from pagecast.calibration.measure import Measurements, measure
from pagecast.calibration.plan import EFFORTS, Plan, plan_for
from pagecast.calibration.values import Value, facts_of, figures_of, values_of
from pagecast.calibration.written import written_so_far_bytes
from pagecast.errors import NotAllowedError, ProbeError
from pagecast.progress import Progress

__all__ = ["Calibrated", "Survey", "Value", "calibrate", "facts_at", "has_changed", "source_of", "survey"]

IN_MEMORY = ("tmpfs", "ramfs", "hugetlbfs", "devtmpfs")
ELSEWHERE = ("nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "lustre", "afs")
BUSY = 0.1
"""A machine on which copies wait more than this is not the one that is to be described."""
GROUP_SHARE = 4
"""Files of a group with a limit stay below this part of it."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The known values before anything is measured, and the plan."""

    directory: Path
    facts: Facts
    plan: Plan
    tracer: Tracer | None = None
    """The tracer that times functions of the kernel, if that is wanted."""

    @property
    def traced_bytes(self) -> int:
        """Bytes written at most while functions are timed."""
        return 0 if self.tracer is None else WRITTEN_BYTES

    @property
    def cautions(self) -> list[str]:
        """Warning about the file system."""
        kind = self.facts.mount.kind
        if kind in ELSEWHERE:
            return [f"{kind} is on another machine: the disk is that machine, with its cache and the network"]
        if kind.startswith("fuse"):
            return [f"{kind} is served by a program: the device of the file is that program"]
        if self.facts.device is None:
            return [f"{kind} shows no device: the values of disks in /sys are left out"]
        if self.facts.device.name.startswith("loop") and not _is_direct(self.facts.device.name):
            return [f"{self.facts.device.name} stands on a file, whose pages are cached as well"]
        return []


@dataclass(frozen=True)
class Calibrated:
    """A machine that was calibrated."""

    survey: Survey
    measurements: Measurements
    values: tuple[Value, ...]
    """The keys of the machine file, facts too."""
    figures: tuple[Value, ...]
    """Other measurements."""
    toml: str
    """The machine file."""
    written_bytes: int | None = None
    """Bytes written to the disk; None where the kernel does not tell."""

    @cached_property
    def machine(self) -> _core.Machine:
        """The machine for `pagecast.Scenario`."""
        return _core.Machine.from_toml(
            self.toml.encode(errors="surrogateescape"),
            "calibrated machine",
            base_dir=os.curdir,
            machine_dir=os.fspath(MACHINE_DIR),
        )

    @property
    def warnings(self) -> list[str]:
        """Reasons why the values are less certain."""
        found = []
        if not self.measurements.is_direct:
            found.append("O_DIRECT is refused: device rates are through the page cache, evicted and synced")
        if lost := self.measurements.lost:
            found.append(
                f"cached pages were taken away by something else: {lost} measurements had to be repeated"
            )
        busy = self.measurements.waited_s / max(self.measurements.copied_s, 1e-9)
        if busy > BUSY:
            found.append(
                f"copies waited {100 * busy:.0f} % of the time for a processor: something else is running; "
                "costs of copies leave that out, rates of the device do not"
            )
        found += [
            f"the rate of a long {what} fell while something waited for a processor: that is not taken for "
            "a limiter or a write cache; calibrate when the machine is idle"
            for what in self.measurements.unsure
        ]
        rounds, wanted = self.measurements.rounds, self.survey.plan.least_rounds
        if rounds < wanted:
            found.append(
                f"only {rounds} of {wanted} rounds in the time: "
                "this machine is slow, or busy; calibrate when it is idle, without --quick"
            )
        for value in self.values:
            if value.estimate is not None and value.estimate.is_drifting and abs(value.estimate.drift) > 0.1:
                found.append(f"{value.key} changed by {100 * value.estimate.drift:+.0f} % meanwhile")
        if wide := [_with_spread(value) for value in self.values if value.is_wide]:
            found.append(
                f"measured with a wide spread: {', '.join(wide)}; "
                "calibrate when the machine is idle, for longer"
            )
        return found


def _with_spread(value: Value) -> str:
    """Give a value and how far it may be off: "disk.latency 60.2 us (±31 %)"."""
    assert value.estimate is not None
    spread = 100 * value.estimate.spread
    return f"{value.key} {value.plain} ({f'±{spread:.0f}' if spread < 100 else 'more than ±100'} %)"


def _is_direct(loop: str) -> bool:
    """Say whether a loop device goes past the page cache of its file."""
    return procfs.number(procfs.SYS / "block" / loop / "loop/dio") == 1


def facts_at(directory: Path) -> Facts:
    """Read the properties of this machine and of the disk below a directory.

    Parameters
    ----------
    directory : Path
        On the disk to be measured; this user may write there.

    Returns
    -------
    Facts

    Raises
    ------
    ProbeError
        If it is no directory, is in memory or may not be written to.
    """
    _core.Calibration.check(directory, 0)
    try:
        facts = read_facts(directory)
    except PermissionError as error:
        raise NotAllowedError(
            f"{shown(directory)}: cannot be looked at ({error.strerror}); become its owner"
        ) from None
    except OSError as error:
        raise ProbeError(f"{shown(directory)}: the kernel does not name its device ({error})") from None
    if facts.mount.kind in IN_MEMORY:
        raise ProbeError(
            f"{shown(directory)}: is on {facts.mount.kind}, which keeps its files in memory only: there is "
            "no device to measure; name a directory on a disk"
        )
    return facts


def survey(directory: str | os.PathLike[str], *, effort: str = "normal", ftrace: bool = False) -> Survey:
    """Plan the measurements in a directory, and change nothing.

    Parameters
    ----------
    directory : path
        On the disk to be measured; this user may write there.
    effort : str
        "quick", "normal" or "thorough".
    ftrace : bool
        Whether functions of the kernel are timed, too.

    Returns
    -------
    Survey

    Raises
    ------
    ProbeError
        If it is no directory, is in memory, may not be written to or has too little room.
        With `ftrace`: no tracefs with function_graph, or it is in use.
    NotAllowedError
        With `ftrace`: this is not root.
    ArgumentError
        Another effort.
    """
    check_word("effort", effort, EFFORTS)
    check_flag("ftrace", ftrace)
    path = Path(check_path("directory", directory))
    facts = facts_at(path)
    limits = [group.limit_bytes // GROUP_SHARE for group in facts.groups]
    background = facts.memory.background_bytes
    plan = plan_for(
        effort,
        cores=facts.cores,
        background_bytes=min((each for each in (background, *limits) if each), default=None),
        limit_bytes=None if limits else facts.memory.limit_bytes,
        free_bytes=facts.mount.free_bytes,
    )
    _core.Calibration.check(path, plan.room_bytes)
    return Survey(path, facts, plan, find_tracer() if ftrace else None)


def calibrate(
    directory: str | os.PathLike[str],
    *,
    effort: str = "normal",
    ftrace: bool = False,
    progress: Progress | None = None,
) -> Calibrated:
    """Measure the machine that this runs on, in a folder that is gone afterwards.

    Parameters
    ----------
    directory : path
        On the disk to be measured; this user may write there.
    effort : str
        "quick" (below a minute), "normal" or "thorough" (looks for limiters too).
    ftrace : bool
        Whether functions of the kernel are timed, too; needs root. Settings of tracefs are put back.
    progress : callable, optional
        Is called with the fraction done and the present action.

    Returns
    -------
    Calibrated

    Raises
    ------
    ProbeError
        As `survey`, or if the kernel refuses something on the way.

    Notes
    -----
    `pagecast.calibration.survey` says before how much is written. Each value is the median over rounds,
    with an interval that assumes nothing of the noise.
    """
    check_progress(progress)
    return calibrate_as(
        survey(directory, effort=effort, ftrace=ftrace),
        command=f"calibrate(effort={effort!r}{', ftrace=True' if ftrace else ''})",
        progress=progress,
    )


def calibrate_as(found: Survey, *, command: str, progress: Progress | None = None) -> Calibrated:
    """Carry out a survey; `command` is noted in the file as its origin."""
    before = written_so_far_bytes()
    probe = _core.Calibration(found.directory, found.plan.room_bytes)
    try:
        direct = probe.accepts_direct()
        measurements = measure(probe, found.plan, direct=direct, seed=int(time.time()), progress=progress)
    finally:
        probe.close()
    if found.tracer is not None:
        measurements.functions = function_times(found.tracer, found.directory, progress=progress)
    after = written_so_far_bytes()
    written = None if before is None or after is None else after - before
    return replace(_calibrated(found, measurements, command), written_bytes=written)


def _calibrated(found: Survey, measurements: Measurements, command: str) -> Calibrated:
    facts = found.facts
    values = (*facts_of(facts), *values_of(measurements, facts))
    figures = tuple(figures_of(measurements))
    plan = found.plan
    done = (
        f"{len(plan.copy_calls)} call sizes on {format_bytes(plan.copy_bytes)} for each thread, "
        f"{len(plan.device_calls)} on {format_bytes(measurements.file_bytes)} of the device"
    )
    measured = Calibrated(found, measurements, values, figures, "")
    provenance = Provenance(
        command=command,
        version=_core.__version__,
        date=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        rounds=measurements.rounds,
        elapsed_s=measurements.elapsed_s,
        notes=(done, *found.cautions, *measured.warnings),
    )
    return replace(measured, toml=write_machine(facts, values, figures, provenance))
