"""Reads the recordings: what the client's processes did, and how many calls of NFS each phase made."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagecast.studies.live_kernel import recordings as live_kernel
from pagecast.studies.live_kernel.recordings import Recording
from pagecast.studies.live_nfs.platform import Platform, read_platform
from pagecast.studies.recorded import find, records

__all__ = ["CALLS", "NfsPlatform", "joined", "phases_of", "platforms"]

CALLS: Final = ("WRITE", "COMMIT", "READ")
"""The calls that are counted: those of data."""

SET_UP: Final = "setup"
"""The name of the steps before the first mark."""

_ENDS: Final = ("close", "fsync")
"""Phases that end what the phase before has begun: what is sent before them is chance."""


@dataclass(frozen=True, slots=True)
class NfsPlatform:
    """A platform: its hosts, its cases and their repetitions.

    Attributes
    ----------
    of : live_kernel.Platform
        Name, cases and repetitions, as those of the study live-kernel.
    described : Platform
    calls : mapping
        By case and phase: how often each of `CALLS` was made in a repetition, on average.
    """

    of: live_kernel.Platform
    described: Platform
    calls: dict[tuple[str, str], dict[str, float]]


def platforms(folder: Path) -> list[NfsPlatform]:
    """Read the platforms of a folder, or the one that the folder itself is.

    Raises
    ------
    StudyError
        There is no platform in the folder, or a file cannot be understood.
    """
    found = []
    for platform in live_kernel.platforms(folder):
        described = read_platform(platform.folder)
        found.append(NfsPlatform(platform, described, _calls(platform.folder)))
    return found


def _calls(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Read the counts, without those of the set-up; phases that end another are added to it."""
    path = find(folder, "phases")
    if path is None:
        return {}
    counts = {key: made for key, made in records(path, _counted) if _is_phase(key[1])}
    by_case: dict[str, list[str]] = defaultdict(list)
    for case, phase in counts:
        by_case[case].append(phase)
    added: dict[tuple[str, str], dict[str, float]] = {}
    for case, phases in by_case.items():
        for phase, whole in joined(phases).items():
            of = added.setdefault((case, whole), dict.fromkeys(CALLS, 0.0))
            for name in CALLS:
                of[name] += counts[case, phase][name]
    return added


def _is_phase(name: str) -> bool:
    return "+" not in name and name != SET_UP


def _counted(row: dict[str, str]) -> tuple[tuple[str, str], dict[str, float]]:
    return (row["case"], row["phase"]), {name: float(row[name] or 0) for name in CALLS}


def joined(phases: list[str]) -> dict[str, str]:
    """Give for each phase the phases that are judged as one: a write, and the fsync and close that end it."""
    groups: list[list[str]] = []
    for phase in phases:
        if groups and phase.startswith(_ENDS):
            groups[-1].append(phase)
        else:
            groups.append([phase])
    return {phase: "+".join(group) for group in groups for phase in group}


def phases_of(recording: Recording) -> list[str]:
    """Give the phases of a repetition, in their order."""
    return [call.file for call in recording.calls if call.kind == "mark"]
