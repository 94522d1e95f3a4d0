"""Finds the dirty bytes after each write of a simulated series, and where write-back and throttling began."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.comparison import machines
from pagecast.result import is_modelled

if TYPE_CHECKING:
    from pagecast.result import Columns, Result

__all__ = ["Levels", "levels_of", "thresholds"]

FLUSHING: Final = ("background_begins", "background_ends")
THROTTLING: Final = "throttling_begins"

SPELL_S: Final = 1.0
"""Shorter runs of the flusher do not count: on a device that was idle there are some early on."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Dirty memory by bytes written.

    `written_bytes` and `dirty_bytes` have a value for each write, at its end. `flushing_from_bytes` and
    `throttled_from_bytes` are how much had been written when background flushing began, for a second
    or more, and when the writer was first throttled; NaN if that never happened.
    """

    written_bytes: NDArray[np.float64]
    dirty_bytes: NDArray[np.float64]
    flushing_from_bytes: float
    throttled_from_bytes: float


def levels_of(result: "Result", *, writes: int, limits: tuple[float, float]) -> Levels | None:
    """Read the levels of a series.

    Parameters
    ----------
    result : Result
    writes : int
        How many writes, up to the last one, belong to the series.
    limits : tuple of float
        Background threshold and set point in bytes: where flushing and throttling begin under models that
        do not tell.

    Returns
    -------
    Levels or None
        None under models that do not know dirty memory.
    """
    if not is_modelled(result.model, "dirty"):
        return None
    kinds = np.array(result.operations["operation"])
    chosen = np.flatnonzero(np.isin(kinds, ("write", "fwrite")))[-writes:]
    ends = result.operations["end_s"][chosen]
    written = np.cumsum(result.operations["bytes"][chosen]).astype(float)
    dirty = _dirty_at(result, ends)
    if "dirtied_bytes" in result.timeline:
        begins = _flushing_from(result.events), _first(result.events, THROTTLING)
        flushing, throttled = (float(np.interp(at, [0, *ends], [0, *written])) for at in begins)
    else:
        flushing, throttled = (_first_reached(written, dirty, limit) for limit in limits)
    return Levels(written, dirty, flushing, throttled)


def thresholds(machine: str) -> tuple[float, float]:
    """Give background threshold and CAWL's set point of a machine, with all memory free."""
    described = machines.described(machines.load(machine))
    memory = machines.memory_of(machines.load(machine))
    background, dirty = (
        memory * described["vm"][name] / 100 for name in ("dirty_background_ratio", "dirty_ratio")
    )
    return background, (background + dirty) / 2


def _dirty_at(result: "Result", times: NDArray[np.float64]) -> NDArray[np.float64]:
    known_at, dirty = result.timeline["time_s"], result.timeline["dirty_bytes"].astype(float)
    if result.changes_evenly:
        found = np.interp(times, known_at, dirty)
    else:
        found = dirty[np.maximum(np.searchsorted(known_at, times, side="right") - 1, 0)]
    return np.asarray(found, dtype=np.float64)


def _flushing_from(events: "Columns") -> float:
    kinds = np.array(events["event"])
    begins, ends = (events["time_s"][kinds == kind] for kind in FLUSHING)
    lasting = [begin for begin in begins if min(ends[ends > begin], default=np.inf) - begin >= SPELL_S]
    return float(lasting[0]) if lasting else np.nan


def _first(events: "Columns", kind: str) -> float:
    times = events["time_s"][np.array(events["event"]) == kind]
    return float(times[0]) if len(times) else np.nan


def _first_reached(written: NDArray[np.float64], dirty: NDArray[np.float64], limit: float) -> float:
    reached = np.flatnonzero(dirty >= limit)
    return float(written[reached[0]]) if len(reached) else np.nan
