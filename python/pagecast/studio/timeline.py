"""The memory of a host over time as a page draws it: levels, limits, both lists, throttled spans."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.plot.levels import levels_to_draw
from pagecast.plot.limits import LIMIT_NAMES, limits_in_reach
from pagecast.plot.style import BLUE, LEVEL_COLOURS, LIMIT_COLOURS, LIMIT_LINES, ORANGE, SKY
from pagecast.repeated import generic_name
from pagecast.result import is_modelled
from pagecast.spans import Spans, event_spans
from pagecast.studio.thinning import kept_rows

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["throttled", "timeline"]

_LEVELS: Final = {
    "cached": ("cached", LEVEL_COLOURS["cached"], 3.0, ()),
    "anonymous": ("anonymous", LEVEL_COLOURS["anonymous"], 1.6, (8, 3, 2, 3)),
    "dirty": ("dirty", LEVEL_COLOURS["dirty"], 2.0, ()),
    "writeback": ("under write-back", ORANGE, 1.6, (4, 3)),
}
"""Name, colour, width and dashes of a level, by its column without ``_bytes``."""

_LISTS: Final = {
    "active": ("active list", BLUE, 2.0, ()),
    "inactive": ("inactive list", SKY, 2.0, (6, 3)),
}

_MOST_PROCESSES: Final = 12
_MOST_SPANS: Final = 400
_HAIR: Final = 0.001
"""Spans with less of the axis between them are one."""


def timeline(result: "Result", host: str | None) -> dict[str, Any]:
    """Give the levels of a host.

    Parameters
    ----------
    result : Result
    host : str or None
        The first one if it is none of the result.

    Returns
    -------
    dict
        `hosts`, `host`, `end_s`, `is_stepped`, `time_s`, and `memory` and `lists`: series with `name`,
        `colour`, `width`, `dash` and `values` in bytes. `at_end` are the bytes of lists that a model tells at
        the end alone, by name. `missing` are the levels that the model has not; those that are 0 throughout
        are left out.
    """
    table = result.timeline
    hosts: list[str] = [*dict.fromkeys(table["host"])]
    chosen = host if host is not None and host in hosts else next(iter(hosts), "")
    mine = np.array([name == chosen for name in table["host"]], dtype=bool)
    time_s = table["time_s"][mine]

    def known(levels: dict[str, Any]) -> dict[str, NDArray[np.int64]]:
        names = (name for name in levels if f"{name}_bytes" in table and is_modelled(result.model, name))
        return {name: table[f"{name}_bytes"][mine] for name in names}

    levels, lists = known(_LEVELS), known(_LISTS)
    top = max((float(values.max(initial=0)) for values in levels.values()), default=0.0)
    limits = limits_in_reach(result, mine, top)
    rows = kept_rows([*levels.values(), *lists.values(), *limits.values()])
    if len(time_s) and time_s[-1] < result.end_s:  # the last level holds up to the end
        time_s, rows = np.append(time_s, result.end_s), np.append(rows, len(time_s))

    def series(name: str, colour: str, width: float, dash: object, values: NDArray[Any]) -> dict[str, Any]:
        shown = values[np.minimum(rows, len(values) - 1)]
        return {"name": name, "colour": colour, "width": width, "dash": dash, "values": shown.tolist()}

    return {
        "hosts": hosts,
        "host": chosen,
        "end_s": result.end_s,
        "is_stepped": not result.changes_evenly,
        "time_s": np.round(time_s[rows], 6).tolist() if len(time_s) else [],
        "memory": [
            *(series(*_LEVELS[name], values) for name, values in levels_to_draw(levels).items()),
            *(
                series(LIMIT_NAMES[name], LIMIT_COLOURS[name], 1.2, _dashes(LIMIT_LINES[name]), values)
                for name, values in limits.items()
            ),
        ],
        "lists": [series(*_LISTS[name], values) for name, values in lists.items()],
        "at_end": {} if lists else _lists_at_end(result, chosen),
        "missing": [_LEVELS[name][0] for name in _LEVELS if name not in levels],
    }


def _lists_at_end(result: "Result", host: str) -> dict[str, int]:
    """Add up the blocks of each list; nothing where some blocks are left out."""
    if result.blocks_left_out:
        return {}
    table = result.blocks
    found: dict[str, int] = {}
    for of, name, size in zip(table["host"], table["list"], table["bytes"].tolist(), strict=True):
        if of == host:
            found[name] = found.get(name, 0) + size
    return found


def throttled(result: "Result", host: str) -> dict[str, Any]:
    """Give the time in which each process of a host was throttled.

    Returns
    -------
    dict
        `processes` with `name`, `total_s` and `spans`, those throttled for longest first, and `left_out`, how
        many have no row. Of many processes copies are one: the longest time of them, and the spans in which
        any of them was throttled.
    """
    spans = event_spans(result, "throttling", "host", "process")
    mine = {process: found for (of, process), found in spans.items() if of == host}
    total_s = {process: sum(end - begin for begin, end in found) for process, found in mine.items()}
    if len(mine) > _MOST_PROCESSES:
        mine, total_s = _copies_as_one(mine, total_s)
    longest = sorted(mine, key=lambda process: -total_s[process])
    return {
        "processes": [
            {
                "name": process,
                "total_s": total_s[process],
                "spans": _few(mine[process], _HAIR * result.end_s),
            }
            for process in longest[:_MOST_PROCESSES]
        ],
        "left_out": max(len(mine) - _MOST_PROCESSES, 0),
    }


def _copies_as_one(
    spans: dict[str, Spans], total_s: dict[str, float]
) -> tuple[dict[str, Spans], dict[str, float]]:
    together: dict[str, Spans] = {}
    longest_s: dict[str, float] = {}
    for process, found in spans.items():
        name = generic_name(process)
        together[name] = together.get(name, []) + found
        longest_s[name] = max(longest_s.get(name, 0.0), total_s[process])
    return {name: _union(found) for name, found in together.items()}, longest_s


def _union(spans: Spans) -> Spans:
    found: Spans = []
    for begin_s, end_s in sorted(spans):
        if found and begin_s <= found[-1][1]:
            begin_s, before_s = found.pop()
            end_s = max(end_s, before_s)
        found.append((begin_s, end_s))
    return found


def _few(spans: Spans, least_s: float) -> Spans:
    joined: Spans = []
    for begin_s, end_s in spans:
        first_s = joined.pop()[0] if joined and begin_s - joined[-1][1] < least_s else begin_s
        joined.append((round(first_s, 6), round(end_s, 6)))
    return joined if len(joined) <= _MOST_SPANS else _few(joined, 2 * least_s)


def _dashes(line: object) -> tuple[float, ...]:
    """Give a line style of matplotlib as lengths in pixels."""
    return tuple(2 * length for length in line[1]) if isinstance(line, tuple) else ()
