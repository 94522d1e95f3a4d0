"""Takes curves out of each draw, memory over time and percentiles of durations, and makes bands of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.plot.latency import percentile_steps
from pagecast.plot.operation_groups import Groups, groups
from pagecast.result import is_modelled

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = [
    "HIGH",
    "LEVELS",
    "LOW",
    "MOST_HOSTS",
    "Curves",
    "Lines",
    "curves_of",
    "latency_bands",
    "level_bands",
]

LOW: Final = 0.05
HIGH: Final = 0.95
"""A range of 90 %."""

LEVELS: Final = ("dirty", "cached")

MOST_HOSTS: Final = 8
"""Of more, no levels are kept."""

POINTS: Final = 200
"""Of a band."""

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Lines:
    """The lines of the figure of percentiles, and how many operations each has in the forecast itself."""

    groups: Groups
    counts: tuple[int, ...]

    @classmethod
    def of(cls, forecast: "Result") -> "Lines":
        """Take them from the forecast that no draw has changed."""
        found = groups(forecast)
        places = found.of(forecast.latency)
        counts = (int(forecast.latency["count"][places == at].sum()) for at in range(len(found.labels)))
        return cls(found, tuple(counts))

    def positions(self, place: int) -> _Floats:
        """Give the positions on an axis of percentiles, 100 / (100 - percent), up to that of the longest."""
        return np.geomspace(1.0, 2.0 * max(self.counts[place], 1), POINTS)


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves of a draw.

    Attributes
    ----------
    end_s : float
    levels : dict
        By host and level: shape (`POINTS`,), at even times from 0 to `end_s`.
    durations : dict
        By number of the line: shape (`POINTS`,), at `Lines.positions`.
    """

    end_s: float
    levels: dict[tuple[str, str], _Floats]
    durations: dict[int, _Floats]


def curves_of(result: "Result", lines: Lines) -> Curves:
    """Take the curves out of the result of a draw."""
    return Curves(result.end_s, _levels(result), _durations(result, lines))


def _levels(result: "Result") -> dict[tuple[str, str], _Floats]:
    table = result.timeline
    at = np.linspace(0.0, result.end_s, POINTS)
    hosts = np.array(table["host"], dtype=object)
    names = list(dict.fromkeys(table["host"]))
    found = {}
    for host in names if len(names) <= MOST_HOSTS else []:
        rows = np.flatnonzero(hosts == host)
        time_s = table["time_s"][rows]
        for level in LEVELS:
            if is_modelled(result.model, level):
                values = table[f"{level}_bytes"][rows].astype(np.float64)
                found[host, level] = _at(at, time_s, values, evenly=result.changes_evenly)
    return found


def _at(at: _Floats, time_s: _Floats, values: _Floats, *, evenly: bool) -> _Floats:
    if evenly:
        return np.interp(at, time_s, values)
    return values[np.clip(np.searchsorted(time_s, at, side="right") - 1, 0, None)]


def _durations(result: "Result", lines: Lines) -> dict[int, _Floats]:
    table = result.latency_bins
    places = lines.groups.of(table)
    found = {}
    for place in range(len(lines.counts)):
        rows = np.flatnonzero(places == place)
        if len(rows):
            order = rows[np.argsort(table["duration_s"][rows], kind="stable")]
            heights, edges = percentile_steps(table["duration_s"][order], table["count"][order])
            at = np.searchsorted(edges, lines.positions(place), side="right") - 1
            found[place] = heights[np.clip(at, 0, len(heights) - 1)]
    return found


def level_bands(draws: Sequence[Curves], stretched: _Floats) -> dict[str, Any]:
    """Give the bands of levels of memory over time.

    Parameters
    ----------
    draws : sequence of Curves
    stretched : ndarray
        How many times as long each draw takes by the error of the model; its curves stretch with it.

    Returns
    -------
    dict
        Columns `time_s`, `host`, and `dirty_low_bytes`, `dirty_high_bytes`, `cached_low_bytes`,
        `cached_high_bytes`. After the end of a draw its last level holds. Levels that the model does not know
        have no columns.
    """
    ends = np.array([draw.end_s for draw in draws]) * stretched
    time_s = np.linspace(0.0, float(np.quantile(ends, HIGH)), POINTS)
    hosts = list(dict.fromkeys(host for host, _ in draws[0].levels))
    columns: dict[str, list[_Floats]] = {}
    for host in hosts:
        for level in LEVELS:
            if (host, level) in draws[0].levels:
                lines = [
                    np.interp(time_s, np.linspace(0.0, end_s, POINTS), draw.levels[host, level])
                    for draw, end_s in zip(draws, ends.tolist(), strict=True)
                ]
                for name, share in (("low", LOW), ("high", HIGH)):
                    of = np.quantile(lines, share, axis=0)
                    columns.setdefault(f"{level}_{name}_bytes", []).append(of)
    return {
        "time_s": np.tile(time_s, len(hosts)),
        "host": [host for host in hosts for _ in range(POINTS)],
        **{name: np.rint(np.concatenate(of)).astype(np.int64) for name, of in columns.items()},
    }


def latency_bands(draws: Sequence[Curves], lines: Lines, changed: Sequence[_Floats]) -> dict[str, Any]:
    """Give the bands of percentiles of durations.

    Parameters
    ----------
    draws : sequence of Curves
    lines : Lines
    changed : sequence of ndarray
        For each line what the durations of each draw are multiplied by.

    Returns
    -------
    dict
        Columns `operations` (the label of the line), `position` on the axis of percentiles, which is
        100 / (100 - percent), `low_s`, `high_s`.
    """
    label: list[str] = []
    columns: dict[str, list[_Floats]] = {"position": [], "low_s": [], "high_s": []}
    for place, name in enumerate(lines.groups.labels):
        of = [
            factor * draw.durations[place]
            for draw, factor in zip(draws, changed[place], strict=True)
            if place in draw.durations
        ]
        if of:
            label += [name] * POINTS
            columns["position"].append(lines.positions(place))
            columns["low_s"].append(np.quantile(of, LOW, axis=0))
            columns["high_s"].append(np.quantile(of, HIGH, axis=0))
    curves = {name: np.concatenate(of or [np.empty(0)]) for name, of in columns.items()}
    return {"operations": label} | curves
