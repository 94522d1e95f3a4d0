"""Memory and disk of a run on this machine: the memory that is left, and that of its memory cgroup."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagecast._core import cache_available, format_bytes
from pagecast.comparison.machines import cgroups_of, memory_of

if TYPE_CHECKING:
    from pagecast.api import Scenario

__all__ = ["ALL", "Room"]

KNOW_CGROUPS: Final = ("kernel",)
"""The models that know memory cgroups."""

OTHER_MEMORY: Final = 0.1
"""A machine with so much more or less memory than there is is another machine."""


@dataclass(frozen=True, slots=True)
class Room:
    """Memory and disk of a run on this machine.

    Attributes
    ----------
    memory_bytes : float
        The limit of the memory cgroup that it is in; infinite in none.
    dirty_share : float
        Its part of the kernel's dirty limit; 1 but for cgroups of version 2.
    usable_bytes : int or None
        Free memory and pages of files of the machine; None if that is not known.
    cgroup_version : int or None
        Of the cgroup with that limit; None in none.
    cgroup_bytes : int
        Memory of that cgroup for files and programs of the run: its limit, less the memory of this process
        and of others in it.
    """

    memory_bytes: float = math.inf
    dirty_share: float = 1.0
    usable_bytes: int | None = None
    cgroup_version: int | None = None
    cgroup_bytes: int = 0

    @classmethod
    def here(cls, directory: str | os.PathLike[str]) -> "Room":
        """Ask about the cgroup that this process is in; all of it if nothing can be read."""
        from pagecast.calibration.facts import read_facts

        try:
            facts = read_facts(Path(directory))
        except OSError:
            return cls()
        least = min(facts.groups, key=lambda group: group.limit_bytes, default=None)
        memory = least.limit_bytes if least else math.inf
        limits = [group.limit_bytes for group in facts.groups if group.version > 1]
        usable = facts.memory.usable_bytes
        dirty_share = min(1.0, min(limits, default=math.inf) / usable)
        if least is None:
            return cls(memory, dirty_share, usable)
        left = min(least.limit_bytes, cache_available())
        return cls(memory, dirty_share, usable, least.version, left)

    @property
    def caution(self) -> str | None:
        """Warning about the cgroup before the runs; None in none."""
        if self.cgroup_version is None:
            return None
        return (
            f"this is a memory cgroup of {format_bytes(round(self.memory_bytes))} (version "
            f"{self.cgroup_version}), of which the runs have {format_bytes(self.cgroup_bytes)}; "
            f"{', '.join(KNOW_CGROUPS)} forecasts them in it, other models with all memory"
        )

    def is_of(self, scenario: "Scenario") -> bool:
        """Tell whether the scenario's machine has about the memory that there is: else it is another one."""
        return (
            self.usable_bytes is None
            or abs(memory_of(scenario.machine) / self.usable_bytes - 1) <= OTHER_MEMORY
        )

    def of(self, scenario: "Scenario", model: str) -> "Scenario":
        """Give a scenario its memory and disk: memory as programs leave it now, and the same memory cgroup.

        Only for a model that knows memory cgroups the latter.
        """
        if self.usable_bytes is not None and self.is_of(scenario):
            scenario = scenario.with_memory(self.usable_bytes)
        if self.cgroup_version is None or model not in KNOW_CGROUPS or cgroups_of(scenario.machine):
            return scenario
        return scenario.in_cgroup(self.cgroup_bytes, version=self.cgroup_version)


ALL = Room()
"""No cgroup."""
