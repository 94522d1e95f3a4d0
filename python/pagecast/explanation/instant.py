"""Explains an instant: operations under way, dirty memory against its limits, disks and whom they served."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pagecast.durations import seconds
from pagecast.errors import ArgumentError
from pagecast.explanation.levels import (
    AtRisk,
    DiskLoad,
    Levels,
    at_risk_at,
    disk_loads,
    levels_at,
    named_spans,
)

if TYPE_CHECKING:
    from pagecast.explanation.levels import Tables

__all__ = ["Doing", "InstantExplained", "explain_instant"]

_LEAST = 0.005
"""Shorter waits, as a share of the time of operations, are not named."""


@dataclass(frozen=True)
class Doing:
    """An operation that was under way.

    Attributes
    ----------
    process, host, operation, path : str
    start_s, end_s : float
    part : str
        That most of its time went to; ``""`` if it took none.
    """

    process: str
    host: str
    operation: str
    path: str
    start_s: float
    end_s: float
    part: str


@dataclass(frozen=True)
class InstantExplained:
    """An instant: operations under way, dirty memory, disks.

    Attributes
    ----------
    at_s : float
    doing : tuple of Doing
        By process; a process with no operation under way is not there.
    levels : tuple of Levels
        One for each host.
    disks : tuple of DiskLoad
        In the window of `devices` around the instant.
    served : dict of str to float
        Whom operations waited behind in that window, as "PROCESS's PATH", and for how long in all; what is
        less than 0.5 % of the time of operations on files there is left out.
    throttled : tuple of str
        Processes that were throttled.
    is_complete : bool
        Whether each operation has a row.
    at_risk : tuple of AtRisk
        Bytes that a power cut would lose, for each disk; empty where the result has no `Result.at_risk`.
    """

    at_s: float
    doing: tuple[Doing, ...]
    levels: tuple[Levels, ...]
    disks: tuple[DiskLoad, ...]
    served: dict[str, float]
    throttled: tuple[str, ...]
    is_complete: bool
    at_risk: tuple[AtRisk, ...] = ()

    @property
    def text(self) -> str:
        """All of it in sentences."""
        from pagecast.explanation.wording import words_of_instant

        return "\n".join(words_of_instant(self))

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        return asdict(self)


def explain_instant(result: "Tables", at_s: float) -> InstantExplained:
    """Explain an instant.

    Parameters
    ----------
    result : Result or SavedResult
    at_s : float
        0 to the end.

    Returns
    -------
    InstantExplained

    Raises
    ------
    ArgumentError
        The instant is not within the result.
    """
    if not 0 <= at_s <= result.end_s:
        raise ArgumentError(f"at {at_s:g} s: the result goes from 0 s to {seconds(result.end_s)}")
    table = result.operations
    near = np.flatnonzero((table["start_s"] <= at_s) & (table["end_s"] > at_s)).tolist()
    names = [name for name in result.parts if name.endswith("_s")]
    doing = []
    for row in near:
        longest = max(names, key=lambda name: float(result.parts[name][row]))
        doing.append(
            Doing(
                table["process"][row],
                table["host"][row],
                table["operation"][row],
                table["path"][row],
                float(table["start_s"][row]),
                float(table["end_s"][row]),
                longest.removesuffix("_s") if result.parts[longest][row] > 0 else "",
            )
        )
    throttled = named_spans(result, "throttling", at_s, at_s, "process")
    disks = disk_loads(result, at_s, at_s)
    begin_s = min((disk.begin_s for disk in disks), default=at_s)
    end_s = max((disk.end_s for disk in disks), default=at_s)
    return InstantExplained(
        at_s,
        tuple(sorted(doing, key=lambda each: (each.host, each.process, each.start_s))),
        tuple(levels_at(result, host, at_s) for host in dict.fromkeys(result.timeline["host"])),
        tuple(disks),
        _served(result, begin_s, end_s),
        tuple(sorted(who for (who,) in throttled)),
        result.has_all_operations,
        tuple(at_risk_at(result, at_s)),
    )


def _served(result: "Tables", begin_s: float, end_s: float) -> dict[str, float]:
    """Give the part of waits that falls into a window, an operation's being spread evenly over its time."""
    operations, waits = result.operations, result.waits
    inside_s = np.minimum(operations["end_s"], end_s) - np.maximum(operations["start_s"], begin_s)
    share_of: dict[tuple[str, int], float] = {}
    on_files_s = 0.0
    for row in np.flatnonzero(inside_s > 0).tolist():
        duration_s = operations["end_s"][row] - operations["start_s"][row]
        key = operations["process"][row], int(operations["index"][row])
        share_of[key] = float(inside_s[row] / duration_s)
        on_files_s += float(inside_s[row]) if operations["path"][row] else 0.0
    found: dict[str, float] = {}
    for at, key in enumerate(zip(waits["process"], waits["index"].tolist(), strict=True)):
        if key in share_of:
            process, path = waits["behind_process"][at], waits["behind_path"][at]
            whose = f"{process}'s {path}" if process else path
            found[whose] = found.get(whose, 0.0) + share_of[key] * float(waits["waited_s"][at])
    longest = sorted(found.items(), key=lambda each: -each[1])
    return {whose: each_s for whose, each_s in longest if each_s >= _LEAST * on_files_s}
