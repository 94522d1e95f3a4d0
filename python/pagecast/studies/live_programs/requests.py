"""Calibrates the latency of a disk by the case m_disk: requests of 4 KiB past the page cache, one at a time.

What a request takes beside the call and its bytes is the device's time and the processor's for submitting and
ending it. Of a disk with `service`, which says the device's time, the rest is the processor's. Means over all
calls, as a row of the recording sums several up.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pagecast._core import parse_bytes
from pagecast.durations import seconds_of
from pagecast.studies.live_kernel.recordings import Recording

__all__ = ["CASE", "latencies"]

CASE: Final = "m_disk"
"""The case that is not judged."""

BLOCK: Final = 4096

KEYS: Final = {"read": "latency", "write": "write_latency"}

OF_REQUEST: Final = "memory.cost.request"
"""The processor's time for a request of a disk with `service`."""


def latencies(
    recordings: Iterable[Recording], disk: str, machine: Mapping[str, Any], *, call_s: float
) -> dict[str, str]:
    """Give the keys of a machine that m_disk tells; nothing if it was not recorded.

    Parameters
    ----------
    recordings : iterable of Recording
        Of a platform; those of other cases are left alone.
    disk : str
        Its name in the machine.
    machine : mapping
        The tables of the machine, as it is described.
    call_s : float
        What a call takes without a request.
    """
    seconds: dict[str, list[float]] = defaultdict(list)
    for recording in recordings:
        if recording.case == CASE:
            for kind, per_call_s in _calls(recording).items():
                seconds[kind].append(per_call_s)
    described = machine["disk"][disk]
    service_s = seconds_of(described.get("service", "0 s"))
    # What passes a limiter takes no time for its bytes.
    limited_s = (seconds_of(described.get(key, "0 s")) for key in ("burst", "limit_interval"))
    is_limited = any(limited_s)
    found: dict[str, float] = {}
    for kind, key in KEYS.items():
        if seconds[kind]:
            bytes_s = 0.0 if is_limited else BLOCK / _rate(described[kind])
            found[f"disk.{disk}.{key}"] = max(min(seconds[kind]) - call_s - bytes_s, 0.0)
    if service_s and found:
        # A limited disk in memory copies the bytes.
        copied_s = BLOCK / _rate(machine["memory"]["write"]) if is_limited else 0.0
        mean_s = sum(found.values()) / len(found)
        found[OF_REQUEST] = max(mean_s - service_s - copied_s, 0.0)
    return {key: f"{1e9 * time_s:.0f} ns" for key, time_s in found.items()}


def _rate(text: str) -> float:
    return parse_bytes(text.removesuffix("/s"))


def _calls(recording: Recording) -> dict[str, float]:
    """Give the mean time of a call of each phase."""
    sums: dict[str, list[float]] = {}
    phase = None
    for call in recording.calls:
        if call.kind == "mark":
            phase = call.file
        elif phase == call.kind and call.calls > 1:
            of = sums.setdefault(call.kind, [0.0, 0.0])
            of[0] += call.duration_s
            of[1] += call.calls
    return {kind: total_s / calls for kind, (total_s, calls) in sums.items()}
