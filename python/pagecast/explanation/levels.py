"""Gives levels of memory, flushers and disks in a span of time, from `timeline`, `events` and `devices`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pagecast.spans import event_spans

if TYPE_CHECKING:
    from pagecast.explanation.saved import SavedResult
    from pagecast.result import Columns, Result

    Tables: TypeAlias = Result | SavedResult

__all__ = ["AtRisk", "DiskLoad", "Levels", "at_risk_at", "disk_loads", "levels_at", "named_spans"]

_NAMES = ("dirty", "writeback", "background_threshold", "setpoint", "dirty_limit")


@dataclass(frozen=True)
class Levels:
    """Dirty memory of a host, and its limits, at an instant; None where the model does not know a level.

    `task_rate_bytes_per_s` is the rate of each throttled writer; None where nobody is throttled.
    """

    host: str
    dirty_bytes: int | None = None
    writeback_bytes: int | None = None
    background_threshold_bytes: int | None = None
    setpoint_bytes: int | None = None
    dirty_limit_bytes: int | None = None
    task_rate_bytes_per_s: float | None = None


@dataclass(frozen=True)
class DiskLoad:
    """The load of a disk in the windows of `devices` that a span touches.

    Attributes
    ----------
    host, device : str
    begin_s, end_s : float
        Of the windows.
    read_bytes_per_s, write_bytes_per_s : float
    utilisation : float
        Share of the time in which it had a request.
    mean_depth : float
        Requests at it, waiting or served.
    background_since_s : float or None
        Since when its flusher writes because it is over its background threshold; None if it does not.
    """

    host: str
    device: str
    begin_s: float
    end_s: float
    read_bytes_per_s: float
    write_bytes_per_s: float
    utilisation: float
    mean_depth: float
    background_since_s: float | None = None


@dataclass(frozen=True)
class AtRisk:
    """Bytes of a disk that a power cut would lose at an instant: columns of `Result.at_risk`."""

    host: str
    device: str
    at_risk_bytes: int
    memory_bytes: int
    disk_cache_bytes: int
    uncommitted_bytes: int
    files: int
    names: int


def levels_at(result: "Tables", host: str, at_s: float) -> Levels:
    """Give the levels of a host at an instant.

    Parameters
    ----------
    result : Result or SavedResult
    host : str
    at_s : float

    Returns
    -------
    Levels
    """
    table = result.timeline
    rows = np.flatnonzero(np.array([name == host for name in table["host"]], dtype=bool))
    if not rows.size:
        return Levels(host)
    time_s = table["time_s"][rows]
    found: dict[str, Any] = {}
    for name in _NAMES:
        column = f"{name}_bytes"
        if column in table:
            found[column] = round(_value(time_s, table[column][rows], at_s, evenly=result.changes_evenly))
    if "task_rate_bytes_per_s" in table:
        rate = float(_value(time_s, table["task_rate_bytes_per_s"][rows], at_s, evenly=False))
        found["task_rate_bytes_per_s"] = None if math.isnan(rate) else rate
    return Levels(host, **found)


def at_risk_at(result: "Tables", at_s: float) -> list[AtRisk]:
    """Give the bytes of each disk that a power cut would lose then; none where the result does not know them.

    Parameters
    ----------
    result : Result or SavedResult
    at_s : float

    Returns
    -------
    list of AtRisk
    """
    table = result.at_risk
    names = [each.name for each in fields(AtRisk)[2:]]
    found: dict[tuple[str, str], AtRisk] = {}
    for row, disk in enumerate(zip(table["host"], table["device"], strict=True)):
        is_past = table["time_s"][row] <= at_s
        if is_past or disk not in found:
            found[disk] = AtRisk(*disk, *(int(table[name][row]) if is_past else 0 for name in names))
    return list(found.values())


def disk_loads(result: "Tables", begin_s: float, end_s: float, host: str | None = None) -> list[DiskLoad]:
    """Give what each disk did in a span.

    Parameters
    ----------
    result : Result or SavedResult
    begin_s, end_s : float
    host : str, optional
        Of one host alone.

    Returns
    -------
    list of DiskLoad
        Disks that did nothing are left out.
    """
    table = result.devices
    is_in = (table["time_s"] <= end_s) & (table["time_s"] + table["window_s"] > begin_s)
    background = named_spans(result, "background", begin_s, end_s, "host", "device")
    found: dict[tuple[str, str], list[int]] = {}
    for row in np.flatnonzero(is_in).tolist():
        found.setdefault((table["host"][row], table["device"][row]), []).append(row)
    loads = []
    for (of, device), rows in found.items():
        load = _load(table, of, device, rows, background)
        if (host is None or of == host) and load.utilisation > 0:
            loads.append(load)
    return loads


def named_spans(
    result: "Tables", what: str, begin_s: float, end_s: float, *by: Any
) -> dict[tuple[str, ...], tuple[float, float]]:
    """Give who was in a state in a span of time, and from when to when; see `pagecast.spans.event_spans`."""
    found = {}
    for names, spans in event_spans(result, what, *by).items():  # type: ignore[arg-type]
        touching = [(first, last) for first, last in spans if first <= end_s and last >= begin_s]
        if touching:
            found[names] = touching[0][0], touching[-1][1]
    return found


def _load(
    table: "Columns",
    host: str,
    device: str,
    rows: list[int],
    background: Mapping[tuple[str, ...], tuple[float, float]],
) -> DiskLoad:
    window_s = table["window_s"][rows]
    total_s = float(window_s.sum())
    begin_s = float(table["time_s"][rows].min())
    since = background.get((host, device))
    return DiskLoad(
        host,
        device,
        begin_s,
        begin_s + total_s,
        float(table["read_bytes"][rows].sum()) / total_s,
        float(table["write_bytes"][rows].sum()) / total_s,
        float((table["utilisation"][rows] * window_s).sum()) / total_s,
        float((table["mean_depth"][rows] * window_s).sum()) / total_s,
        None if since is None else since[0],
    )


def _value(time_s: Any, values: Any, at_s: float, *, evenly: bool) -> float:
    if evenly:
        return float(np.interp(at_s, time_s, values))
    return float(values[max(int(np.searchsorted(time_s, at_s, side="right")) - 1, 0)])
