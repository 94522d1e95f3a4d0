"""Calibrates the time of a disk's requests by the case m_disk: 4 KiB past the page cache, one at a time.

What a request takes beside the call and its bytes is the device's time and the processor's for submitting and
ending it. Means over all calls, as a row of the recording sums several up. A disk that serves requests
(`service`) has one time for both directions, the mean of the two.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import mean
from typing import Any, Final

from pagecast._core import parse_bytes
from pagecast.studies.live_kernel.recordings import Recording

__all__ = ["CASE", "latencies"]

CASE: Final = "m_disk"
"""The case that is not judged."""

BLOCK: Final = 4096

KEYS: Final = {"read": "latency", "write": "write_latency"}
SERVICE: Final = "service"
"""Its preparation by the processor is one more call."""


def latencies(
    recordings: Iterable[Recording],
    disk: str,
    described: Mapping[str, Any],
    *,
    call_s: float,
    copy_bytes_per_s: float,
) -> dict[str, str]:
    """Give the keys of a machine that m_disk tells; nothing if it was not recorded.

    Parameters
    ----------
    recordings : iterable of Recording
        Of a platform; those of other cases are left alone.
    disk : str
        Its name in the machine.
    described : mapping
        The table of that disk.
    call_s : float
        What a call takes without a request.
    copy_bytes_per_s : float
        Rate at which a disk in memory that serves requests copies their bytes.
    """
    seconds: dict[str, list[float]] = defaultdict(list)
    for recording in recordings:
        if recording.case == CASE:
            for kind, per_call_s in _calls(recording).items():
                seconds[kind].append(per_call_s)
    # What passes a limiter takes no time for its bytes.
    limiter = (described.get(key, "0 s") for key in ("burst", "limit_interval"))
    is_limited = any(not time.startswith("0 ") for time in limiter)
    found = {}
    for kind, key in KEYS.items():
        if seconds[kind]:
            bytes_s = 0.0 if is_limited else BLOCK / parse_bytes(described[kind].removesuffix("/s"))
            found[key] = max(min(seconds[kind]) - call_s - bytes_s, 0.0)
    if found and not described.get("service", "0 ns").startswith("0 "):
        found = {SERVICE: max(mean(found.values()) - call_s - is_limited * BLOCK / copy_bytes_per_s, 0.0)}
    return {f"disk.{disk}.{key}": f"{1e9 * time_s:.0f} ns" for key, time_s in found.items()}


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
