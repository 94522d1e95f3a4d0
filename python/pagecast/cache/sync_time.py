"""Forecasts how long sync(2) takes with so much dirty memory: with that of this machine by default."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagecast import _core, procfs
from pagecast.api import File, Scenario, simulate
from pagecast.arguments import named, shown
from pagecast.errors import ArgumentError, ProbeError

__all__ = ["SyncTime", "sync_time"]

_MOST_NAMES: Final = 12
"""A message lists so many."""


@dataclass(frozen=True)
class SyncTime:
    """A forecast of sync(2).

    Attributes
    ----------
    dirty_bytes : int
        Dirty memory before it.
    disk : str
        The disk that gets it.
    duration_s : float
    """

    dirty_bytes: int
    disk: str
    duration_s: float


def sync_time(
    machine: _core.Machine,
    *,
    dirty_bytes: int | None = None,
    disk: str | None = None,
    proc: Path = procfs.PROC,
) -> SyncTime:
    """Forecast how long sync(2) takes.

    Dirty memory is that of one file, which is written in order.

    Parameters
    ----------
    machine : Machine
        From `load_machine`.
    dirty_bytes : int, optional
        Dirty memory; by default that of this machine now, with what is under writeback.
    disk : str, optional
        The disk that gets it; needed where several disks have a mount.
    proc : Path, optional
        Where procfs is mounted.

    Returns
    -------
    SyncTime

    Raises
    ------
    ArgumentError
        There are several hosts; no disk has a mount, or several have one and none is chosen.
    ProbeError
        This machine does not tell its dirty memory.
    ScenarioError
        So much is not in the memory of the machine, or not on the disk.
    """
    mounts = _mounts(machine)
    chosen = _chosen(mounts, disk)
    if dirty_bytes is None:
        dirty_bytes = _dirty_bytes(proc / "meminfo")
    path = f"{mounts[chosen].rstrip('/')}/dirty"
    file = File(size_bytes=dirty_bytes, cached_bytes=dirty_bytes, dirty_bytes=dirty_bytes)
    scenario = Scenario(machine, processes={"sync": [_core.sync()]}, files={path: file})
    return SyncTime(dirty_bytes, chosen, float(simulate(scenario, model="kernel").end_s))


def _mounts(machine: _core.Machine) -> dict[str, str]:
    """Give the first mount of each disk."""
    described = tomllib.loads(machine.to_toml())
    if "machine" not in described:
        raise ArgumentError("the machine has several hosts; give one")
    found: dict[str, str] = {}
    for path, mount in described["machine"].get("mount", {}).items():
        if "disk" in mount:
            found.setdefault(mount["disk"], path)
    return found


def _chosen(mounts: dict[str, str], disk: str | None) -> str:
    there = named(list(mounts), _MOST_NAMES)
    if not mounts:
        raise ArgumentError('the machine has no mounted disk; add for example mount."/data".disk = "ssd"')
    if disk is None:
        if len(mounts) > 1:
            raise ArgumentError(f"the machine has several disks, {there}; choose one with --disk")
        return next(iter(mounts))
    if disk not in mounts:
        raise ArgumentError(f"there is no mounted disk `{shown(disk)}`; there are {there}")
    return disk


def _dirty_bytes(meminfo: Path) -> int:
    told = procfs.counts(procfs.lines(meminfo))
    if "Dirty" not in told or "Writeback" not in told:
        raise ProbeError(f"{shown(meminfo)}: does not tell Dirty and Writeback; give the bytes with --dirty")
    return procfs.KIB * (told["Dirty"] + told["Writeback"])
