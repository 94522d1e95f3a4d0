"""Reads the machine of a forecast, named or in a file, with the overrides of the command line."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pagecast._core import parse_bytes
from pagecast.errors import ScenarioError, StudyError
from pagecast.workloads import as_toml

if TYPE_CHECKING:
    from pagecast._core import Machine

__all__ = [
    "cgroups_of", "described", "disk_of", "load", "memory_of", "model_options", "mount_of",
]  # fmt: skip

_NOTHING_TO_DO: Final = '[[process]]\nname = "none"\ndo = [{ exit = true }]\n'


def load(
    machine: str, *, overrides: Sequence[str] = (), values: Mapping[str, str | float] | None = None
) -> "Machine":
    """Read a machine and replace some of its values.

    Parameters
    ----------
    machine : str
        As in `as_toml`.
    overrides : sequence of str
        ``key=value`` as on the command line, such as ``machine.vm.dirty_ratio=10``; they come last.
    values : mapping, optional
        Values by their keys inside the machine: ``{"memory.cost.call": "0.3 us"}``.

    Raises
    ------
    ScenarioError
        There is no such machine, or it or an override cannot be understood.
    """
    from pagecast.api import Scenario, load_machine

    ours = [f"machine.{key}={json.dumps(value)}" for key, value in (values or {}).items()]
    text = f"[machine]\nfrom = {as_toml(machine)}\n{_NOTHING_TO_DO}"
    try:
        return Scenario.from_toml(text, origin="<study>", set=[*ours, *overrides]).machine
    except ScenarioError:
        load_machine(machine)  # what is wrong in it is its own fault, and not that of the overrides
        raise


def described(machine: "Machine") -> dict[str, Any]:
    """Give a machine with one host as nested tables."""
    table: dict[str, Any] = tomllib.loads(machine.to_toml())
    if "machine" not in table:
        raise StudyError("the machine has several hosts; this study wants one")
    host: dict[str, Any] = table["machine"]
    return host


def memory_of(machine: "Machine") -> int:
    """Say how much memory a machine has, in bytes."""
    return parse_bytes(described(machine)["memory"]["size"])


def cgroups_of(machine: "Machine") -> dict[str, int]:
    """Give the memory cgroups of a machine, and the limit of each, in bytes."""
    limits = {name: each["memory"].values() for name, each in described(machine).get("cgroup", {}).items()}
    return {name: parse_bytes(limit) for name, (limit,) in limits.items()}


def mount_of(machine: "Machine") -> str:
    """Find where the disk of a machine is mounted; the first mount of a disk, if there are several."""
    return _first_mount(machine)[0]


def disk_of(machine: "Machine") -> str:
    """Name the disk of `mount_of`."""
    return _first_mount(machine)[1]


def _first_mount(machine: "Machine") -> tuple[str, str]:
    mounts = described(machine).get("mount", {})
    found = [(str(path), str(mount["disk"])) for path, mount in mounts.items() if "disk" in mount]
    if not found:
        raise StudyError('the machine has no mount of a disk; add [mount."/data"] with disk = "NAME"')
    return found[0]


def model_options(model: str, overrides: Sequence[str]) -> dict[str, str]:
    """Pick the options of a model out of overrides, ``model.wrench.chunk=1 GB``."""
    pairs = (override.partition("=") for override in overrides)
    prefix = f"model.{model}."
    return {
        name.strip().removeprefix(prefix): value.strip().strip("\"'")
        for name, _, value in pairs
        if name.strip().startswith(prefix)
    }
