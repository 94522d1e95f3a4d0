"""Calibrates a platform by its own case m_memory: a file rewritten, re-read in the cache and removed.

Seconds per byte y of calls of S bytes follow y = call / S + 1 / copy rate, one `call` for reading and
writing; least squares of relative errors over all call sizes. The first write of the case, before any mark,
makes new pages of new blocks; the one after the mark `over` makes new pages where the file has blocks.
Its time beyond rewriting is `page_insert`, and that of the first beyond this `block_reserve`.
Recordings without the mark tell only the sum, which is `page_insert` then. Finding a page is part of the
copy rates here, as both grow with bytes. The first read with the largest calls touches a new buffer: that
is `fault`. Removing the file takes all its pages out of the cache: `page_remove`.

Free and file pages together are the size of the memory. The kernel's reserve, which is not dirtyable, is
the difference to the dirty limit of the same moment. Left out: that reading and writing have different
costs per call.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from pagecast.calibration.costs import CallCosts, fit_calls, per_page
from pagecast.studies.live_kernel.program import MAIN
from pagecast.studies.live_kernel.recordings import KIB, PAGE_BYTES, Call, Recording

__all__ = ["CASE", "Calibration", "CopyCosts", "MemorySize", "calibrate", "memory_of"]

CASE: Final = "m_memory"
"""The case that is not judged."""

OVER: Final = "over"
"""The mark before a write over a file that is not cached."""

LEAST_REMOVAL_S: Final = 1e-3
"""Removing a file in less than this says nothing of its pages."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Results of m_memory for a platform; None where it was not recorded so that it could."""

    costs: "CopyCosts | None"
    memory: "MemorySize | None"

    def values(self) -> dict[str, str]:
        """Give the keys and values of the machine."""
        known = (each for each in (self.memory, self.costs) if each is not None)
        return {key: value for each in known for key, value in each.values().items()}


@dataclass(frozen=True, slots=True)
class MemorySize:
    """What programs and the page cache can use, and what of it is never dirtyable (None: not to be found)."""

    size_bytes: int
    reserve_bytes: int | None

    def values(self) -> dict[str, str]:
        """Give the keys and values of the machine."""
        amounts = {"memory.size": self.size_bytes, "memory.reserve": self.reserve_bytes}
        return {key: f"{amount / KIB:.0f} KiB" for key, amount in amounts.items() if amount is not None}


@dataclass(frozen=True, slots=True)
class CopyCosts:
    """``[memory.cost]`` of a machine file; None is what the recording does not tell."""

    call_s: float
    page_insert_s: float
    block_reserve_s: float | None
    fault_s: float
    copy_read_bytes_per_s: float
    copy_write_bytes_per_s: float
    page_remove_s: float | None

    def values(self) -> dict[str, str]:
        """Give the keys and values of the machine."""
        told = {"block_reserve": self.block_reserve_s, "page_remove": self.page_remove_s}
        of = {
            "call": f"{1e9 * self.call_s:.0f} ns",
            "page_insert": f"{1e9 * self.page_insert_s:.0f} ns",
            "page_lookup": "0 ns",
            "fault": f"{1e9 * self.fault_s:.0f} ns",
            "copy_read": f"{self.copy_read_bytes_per_s / 1e6:.1f} MB/s",
            "copy_write": f"{self.copy_write_bytes_per_s / 1e6:.1f} MB/s",
        } | {name: f"{1e9 * seconds:.0f} ns" for name, seconds in told.items() if seconds is not None}
        return {f"memory.cost.{name}": value for name, value in of.items()}


def calibrate(recordings: Iterable[Recording], *, share: float | None) -> Calibration:
    """Calibrate a platform.

    Parameters
    ----------
    recordings : iterable of Recording
        Of a platform; those of other cases are left alone.
    share : float or None
        Of the dirtyable memory that the dirty limit is, as `pagecast.calibration.fits.limit_share` has it.

    Returns
    -------
    Calibration
        Without costs if the case was not recorded, or not with reads and writes of several call sizes;
        without memory if it was not sampled.
    """
    of = [recording for recording in recordings if recording.case == CASE]
    return Calibration(_costs(of), memory_of(of, share=share))


def memory_of(recordings: Iterable[Recording], *, share: float | None) -> MemorySize | None:
    """Take medians over all samples of memory and of its reserve; `share` as in `calibrate`."""
    levels = [recording.levels for recording in recordings if recording.levels is not None]
    usable = np.concatenate([each.usable_bytes for each in levels] or [np.empty(0)])
    limits = np.concatenate([each.limit_bytes for each in levels] or [np.empty(0)])
    if not len(usable) or np.isnan(usable).any():
        return None
    reserve = None if share is None else max(int(np.median(usable - limits / share)), 0)
    return MemorySize(int(np.median(usable)), reserve)


def _costs(recordings: Iterable[Recording]) -> CopyCosts | None:
    new: list[Call] = []
    over: list[Call] = []
    removals: list[float] = []
    found: dict[tuple[str, float], list[float]] = defaultdict(list)
    first_touches: list[tuple[Call, float]] = []
    for recording in recordings:
        removals += _removals(recording)
        for phase in _phases(recording):
            if phase.label is None:
                new += phase.calls
                continue
            if phase.label == OVER:
                over += phase.calls
                continue
            for call in phase.calls:
                found[call.kind, call.bytes / call.calls].append(call.duration_s / call.bytes)
            if phase.calls and phase.calls[0].kind == "read":
                others = [call.duration_s / call.bytes for call in phase.calls[1:]]
                first_touches += [(phase.calls[0], float(np.median(others)))] if others else []
    typical = {key: float(np.median(seconds)) for key, seconds in found.items()}
    if len({size for kind, size in typical if kind == "read"}) < 2 or not any(
        kind == "write" for kind, _ in typical
    ):
        return None
    costs = fit_calls(typical)
    made_s, put_s = (_inserted(costs, calls) for calls in (new, over))
    return CopyCosts(
        call_s=costs.call_s,
        page_insert_s=min(made_s, put_s) if over else made_s,
        block_reserve_s=max(made_s - put_s, 0.0) if over else None,
        fault_s=_fault(first_touches),
        copy_read_bytes_per_s=1 / costs.bytes_s["read"],
        copy_write_bytes_per_s=1 / costs.bytes_s["write"],
        page_remove_s=per_page(removals, PAGE_BYTES) if removals else None,
    )


def _inserted(costs: CallCosts, calls: list[Call]) -> float:
    """Give the seconds per page that writes take beyond rewriting."""
    return _not_negative(
        costs.beyond("write", duration_s=call.duration_s, calls=call.calls, size=call.bytes)
        for call in calls
        if call.kind == "write"
    )


def _removals(recording: Recording) -> list[float]:
    """Give the seconds per byte of removing the file that the set-up made, all of it in the cache."""
    new = [call for call in _phases(recording)[0].calls if call.kind == "write"]
    removed = [
        call for call in recording.calls if call.kind == "unlink" and call.duration_s >= LEAST_REMOVAL_S
    ]
    sizes = [sum(each.bytes for each in new if each.file == call.file) for call in removed]
    return [call.duration_s / size for call, size in zip(removed, sizes, strict=True) if size]


@dataclass(slots=True)
class _Phase:
    label: str | None
    calls: list[Call]


def _phases(recording: Recording) -> list[_Phase]:
    """Split the reads and writes of the case at its marks."""
    phases = [_Phase(None, [])]
    for call in recording.calls:
        if call.process == MAIN and call.kind == "mark":
            phases.append(_Phase(call.file, []))
        elif call.kind in ("read", "write") and call.bytes > 0:
            phases[-1].calls.append(call)
    return phases


def _fault(first_touches: list[tuple[Call, float]]) -> float:
    """Seconds per page of a buffer that the largest call touches first."""
    largest = max((call.bytes / call.calls for call, _ in first_touches), default=0.0)
    return _not_negative(
        call.duration_s / call.bytes - typical
        for call, typical in first_touches
        if call.bytes / call.calls == largest
    )


def _not_negative(beyond: Iterable[float]) -> float:
    """Seconds per page; 0 where nothing is known."""
    found = per_page(beyond, PAGE_BYTES)
    return 0.0 if math.isnan(found) else max(found, 0.0)
