"""The throttling of writers: as the kernel traced it in a real run, and as a model forecasts it.

A real run has it with ``trace=True``: each check of a writer is an event `balance_dirty_pages`
(include/trace/events/writeback.h). The device is the one whose writers made the most pages dirty; writes to
other devices are left out. Left out as well: memory cgroups with dirty limits of their own, and repeated
checks of a writer that waits for long for the same pages.
"""

import mmap
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.result import Columns

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = [
    "CHECK",
    "SETTLING_S",
    "Floats",
    "Plateau",
    "Throttling",
    "forecast",
    "limit_before_bytes",
    "of_checks",
    "plateau",
    "throttling",
]

APART_S: Final = 1.0
"""Two throttled spans less than this apart are one, as in the events of a forecast."""

SETTLING_S: Final = 2.0
"""So long after throttling begins, rates still change: each 0.2 s, an eighth of what is
wrong with the base rate is made good at most (`wb_update_dirty_ratelimit`).
"""

LEAST_S: Final = 1.0
"""A shorter level after that is no plateau."""

CHECK: Final = ("limit", "setpoint", "dirty", "dirty_ratelimit", "task_ratelimit", "dirtied", "pause")
"""What is read of a check, under the kernel's names and in its units: pages, KiB/s, milliseconds."""

_KIB: Final = 1024
_NUMBER: Final = re.compile(r"(\w+)=(-?\d+)")
_DEVICE: Final = re.compile(r"bdi (\S+):")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Throttling:
    """The throttling of writers over time: arrays of one length n, but for `is_held`.

    `dirty_bytes` counts pages under writeback too. `base_rate_bytes_per_s` is the kernel's `dirty_ratelimit`,
    `task_rate_bytes_per_s` its `task_ratelimit`: what each writer may make dirty. `dirtied_bytes` is all
    that was made dirty so far. `is_held`, shape (n - 1,), tells whether writers were held back
    from one row to the next.
    """

    time_s: Floats
    dirty_bytes: Floats
    limit_bytes: Floats
    setpoint_bytes: Floats
    base_rate_bytes_per_s: Floats
    task_rate_bytes_per_s: Floats
    dirtied_bytes: Floats
    is_held: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Plateau:
    """The level of dirty memory and rates while writers are throttled.

    `settled_s` is for how long they were, less the first `SETTLING_S` of each time. Levels and rates are
    medians over that; `throughput_bytes_per_s` are the bytes dirtied in it. `position` is dirty memory as a
    part of the set point: limits move when other programs take memory, and dirty memory follows.
    """

    settled_s: float
    dirty_bytes: float
    position: float
    setpoint_bytes: float
    limit_bytes: float
    base_rate_bytes_per_s: float
    task_rate_bytes_per_s: float
    throughput_bytes_per_s: float


def throttling(result: "Result") -> Throttling | None:
    """Give the throttling of writers, measured or forecast.

    Parameters
    ----------
    result : Result
        Of one host.

    Returns
    -------
    Throttling or None
        None if the model knows nothing of it, a real run was not traced, or nobody was held back.
    """
    found = _traced(result) if result.is_measured else forecast(result)
    return found if found is not None and found.is_held.any() else None


def plateau(met: Throttling | None) -> Plateau | None:
    """Say where dirty memory and rates settle.

    Parameters
    ----------
    met : Throttling or None
        None where nobody was held back, or nothing is known of it.

    Returns
    -------
    Plateau or None
        None if nobody was held back for long enough: `LEAST_S` more than `SETTLING_S`.
    """
    if met is None:
        return None
    is_settled = _settled(met)
    lasted_s = np.diff(met.time_s)[is_settled]
    settled_s = float(lasted_s.sum())
    if settled_s < LEAST_S:
        return None

    def median(values: Floats) -> float:
        return _median(((values[:-1] + values[1:]) / 2)[is_settled], lasted_s)

    return Plateau(
        settled_s,
        dirty_bytes=median(met.dirty_bytes),
        position=median(met.dirty_bytes / met.setpoint_bytes),
        setpoint_bytes=median(met.setpoint_bytes),
        limit_bytes=median(met.limit_bytes),
        base_rate_bytes_per_s=median(met.base_rate_bytes_per_s),
        task_rate_bytes_per_s=median(met.task_rate_bytes_per_s),
        throughput_bytes_per_s=float(np.diff(met.dirtied_bytes)[is_settled].sum()) / settled_s,
    )


def _settled(met: Throttling) -> NDArray[np.bool_]:
    """Tell from which row to the next writers have been held back for long enough; of shape (n - 1,)."""
    begins = met.is_held & ~np.append(False, met.is_held[:-1])
    began_s = np.maximum.accumulate(np.where(begins, met.time_s[:-1], -np.inf))
    settled: NDArray[np.bool_] = met.is_held & (met.time_s[:-1] - began_s >= SETTLING_S)
    return settled


def _median(values: Floats, weights: Floats) -> float:
    """Give the value below which half of the weight is; NaN does not count."""
    values, weights = values[np.isfinite(values)], weights[np.isfinite(values)]
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])


def of_checks(
    time_s: Sequence[float], checks: Sequence[Sequence[float]], *, page_bytes: int = mmap.PAGESIZE
) -> Throttling:
    """Put checks of writers together.

    Parameters
    ----------
    time_s : sequence of float, length n
        They do not decrease.
    checks : sequence of sequence of float, length n
        Each has the values of `CHECK`, NaN where they are not known.
    page_bytes : int

    Returns
    -------
    Throttling
        Nobody is held back where not all of a check is known.
    """
    rows = np.array([list(check) for check in checks], dtype=float)
    columns = dict(zip(CHECK, rows.T, strict=True))
    times = np.array(time_s, dtype=float)
    return Throttling(
        times,
        dirty_bytes=columns["dirty"] * page_bytes,
        limit_bytes=columns["limit"] * page_bytes,
        setpoint_bytes=columns["setpoint"] * page_bytes,
        base_rate_bytes_per_s=columns["dirty_ratelimit"] * _KIB,
        task_rate_bytes_per_s=columns["task_ratelimit"] * _KIB,
        dirtied_bytes=np.cumsum(columns["dirtied"]) * page_bytes,
        is_held=_between(times, (columns["pause"] > 0) & np.isfinite(rows).all(axis=1)),
    )


def _traced(result: "Result") -> Throttling | None:
    checks = _checks(result.table("trace"))
    return of_checks(*zip(*checks, strict=True)) if checks else None


def _between(time_s: Floats, is_back: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which times from row to row are between two rows `is_back` that are `APART_S` apart at most."""
    back_s = np.append(time_s[is_back], np.inf)
    before = np.cumsum(is_back)[:-1]  # how many of them are at a row or before it
    previous_s = np.append(-np.inf, back_s)[before]
    between: NDArray[np.bool_] = back_s[before] - previous_s <= APART_S
    return between


def limit_before_bytes(measured: "Result") -> float | None:
    """Give the limit in force before a traced run, which only throttled writers move.

    Parameters
    ----------
    measured : Result
        A real run.

    Returns
    -------
    float or None
        `limit` of the first `global_dirty_state`; None if nothing was traced.
    """
    trace = measured.table("trace")
    events = zip(trace["event"], trace["text"], strict=True)
    first = next((text for event, text in events if event == "global_dirty_state"), None)
    return None if first is None else float(_numbers(first)["limit"] * mmap.PAGESIZE)


def _numbers(text: str) -> dict[str, int]:
    return {name: int(number) for name, number in _NUMBER.findall(text)}


def _checks(trace: Columns) -> list[tuple[float, list[float]]]:
    """Give time and `CHECK` of each check on the device whose writers made the most pages dirty."""
    checks: dict[str, list[tuple[float, list[float]]]] = {}
    dirtied: Counter[str] = Counter()
    for time_s, event, text in zip(trace["time_s"], trace["event"], trace["text"], strict=True):
        device = _DEVICE.match(text)
        if event != "balance_dirty_pages" or device is None:
            continue
        numbers = _numbers(text)
        checks.setdefault(device[1], []).append((float(time_s), [numbers[name] for name in CHECK]))
        dirtied[device[1]] += numbers["dirtied"]
    return checks[dirtied.most_common(1)[0][0]] if checks else []


def forecast(result: "Result") -> Throttling | None:
    """Give what a model says that writers meet, also if nobody is held back; None if it knows nothing."""
    table = result.timeline
    if "task_rate_bytes_per_s" not in table or not len(result.bdi):
        return None
    task_rate = table["task_rate_bytes_per_s"]
    is_back = np.isfinite(task_rate)
    return Throttling(
        table["time_s"],
        dirty_bytes=table["dirty_bytes"].astype(float),
        limit_bytes=table["hard_limit_bytes"].astype(float),
        setpoint_bytes=table["setpoint_bytes"].astype(float),
        base_rate_bytes_per_s=_base_rate(result, table["time_s"]),
        task_rate_bytes_per_s=task_rate,
        dirtied_bytes=table["dirtied_bytes"].astype(float),
        is_held=(is_back[:-1] & is_back[1:]) | _between(table["time_s"], is_back),
    )


def _base_rate(result: "Result", time_s: Floats) -> Floats:
    """Give the base rate of the device that most is written to, at these times."""
    table = result.bdi
    dirty = Counter[str]()
    for device, level in zip(table["device"], table["dirty_bytes"].tolist(), strict=True):
        dirty[device] += level
    device = dirty.most_common(1)[0][0]
    rows = np.flatnonzero(np.array(table["device"]) == device)
    last = np.maximum(np.searchsorted(table["time_s"][rows], time_s, side="right") - 1, 0)
    rates: Floats = table["dirty_ratelimit_bytes_per_s"][rows][last]
    return rates
