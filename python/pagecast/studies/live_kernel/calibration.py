"""What copying costs on a platform, from its own case m_memory: a file rewritten and re-read in the cache.

Seconds per byte y of calls of S bytes follow y = call / S + 1 / copy rate, one `call` for reading and
writing; least squares of relative errors over all call sizes. The first write of the case, before any mark,
makes new pages: what it takes beyond rewriting is `page_insert`. Finding a page is part of the copy rates
here, as both grow with bytes. The first read with the largest calls touches a new buffer: that is `fault`.
Left out: that reading and writing have different costs per call.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from pagecast.studies.live_kernel.program import MAIN
from pagecast.studies.live_kernel.recordings import PAGE_BYTES, Call, Recording

__all__ = ["CASE", "CopyCosts", "calibrate"]

CASE: Final = "m_memory"
"""The case that is not judged."""


@dataclass(frozen=True, slots=True)
class CopyCosts:
    """What a machine file says under ``[memory.cost]``."""

    call_s: float
    page_insert_s: float
    fault_s: float
    copy_read_bytes_per_s: float
    copy_write_bytes_per_s: float

    def values(self) -> dict[str, str]:
        """Give the keys and values of the machine."""
        return {
            "memory.cost.call": f"{1e9 * self.call_s:.0f} ns",
            "memory.cost.page_insert": f"{1e9 * self.page_insert_s:.0f} ns",
            "memory.cost.page_lookup": "0 ns",
            "memory.cost.fault": f"{1e9 * self.fault_s:.0f} ns",
            "memory.cost.copy_read": f"{self.copy_read_bytes_per_s / 1e6:.1f} MB/s",
            "memory.cost.copy_write": f"{self.copy_write_bytes_per_s / 1e6:.1f} MB/s",
        }


def calibrate(recordings: Iterable[Recording]) -> CopyCosts | None:
    """Find the costs of a platform.

    Parameters
    ----------
    recordings : iterable of Recording
        Of a platform; those of other cases are left alone.

    Returns
    -------
    CopyCosts or None
        None if the case was not recorded, or not with reads and writes of several call sizes.
    """
    new: list[Call] = []
    found: dict[tuple[str, float], list[float]] = defaultdict(list)
    first_touches: list[tuple[Call, float]] = []
    for recording in recordings:
        if recording.case != CASE:
            continue
        for phase in _phases(recording):
            if phase.label is None:
                new += phase.calls
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
    call_s, read_s, write_s = _fit(typical)
    return CopyCosts(
        call_s=call_s,
        page_insert_s=_page_insert(new, call_s, write_s),
        fault_s=_fault(first_touches),
        copy_read_bytes_per_s=1 / read_s,
        copy_write_bytes_per_s=1 / write_s,
    )


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


def _fit(typical: dict[tuple[str, float], float]) -> tuple[float, float, float]:
    """Fit the cost of a call, and the seconds per byte of reading and of writing."""
    rows = [[1 / size, float(kind == "read"), float(kind == "write")] for kind, size in typical]
    seconds = np.array(list(typical.values()))
    solution, *_ = np.linalg.lstsq(np.array(rows) / seconds[:, None], np.ones(len(seconds)), rcond=None)
    call_s, read_s, write_s = map(float, solution)
    if call_s < 0 or min(read_s, write_s) <= 0:  # no cost per call to be seen: the mean of each kind
        of = {kind: [y for (name, _), y in typical.items() if name == kind] for kind in ("read", "write")}
        return 0.0, float(np.mean(of["read"])), float(np.mean(of["write"]))
    return call_s, read_s, write_s


def _page_insert(new: list[Call], call_s: float, write_s: float) -> float:
    """Seconds per page that writing new pages takes beyond copying."""
    beyond = [
        (call.duration_s - call.calls * call_s - call.bytes * write_s) * PAGE_BYTES / call.bytes
        for call in new
        if call.kind == "write"
    ]
    return max(float(np.median(beyond)), 0.0) if beyond else 0.0


def _fault(first_touches: list[tuple[Call, float]]) -> float:
    """Seconds per page of a buffer that the largest call touches first."""
    if not first_touches:
        return 0.0
    largest = max(call.bytes / call.calls for call, _ in first_touches)
    beyond = [
        (call.duration_s / call.bytes - typical) * PAGE_BYTES
        for call, typical in first_touches
        if call.bytes / call.calls == largest
    ]
    return max(float(np.median(beyond)), 0.0)
