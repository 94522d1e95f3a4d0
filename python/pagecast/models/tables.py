"""The tables of a result, made of what a net has found; shapes and columns are those of the core.

What a net does not tell has no rows: `waits`, `bdi`, `devices`, `events` and the tables of links and servers.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.models.played import Played, PlayedOperation
from pagecast.result import Result

__all__ = ["NetTables"]

FIRST_WINDOW_NS: Final = 1_000_000
MOST_WINDOWS: Final = 256
"""Windows of `rates`, as in the core: they double until there are at most so many."""

QUANTILES: Final = {"p50_s": 0.5, "p90_s": 0.9, "p99_s": 0.99, "p99_9_s": 0.999}

Key = tuple[str, str, str]
"""Process, path and kind."""


@dataclass(frozen=True)
class NetTables:
    """What `Result` is made of.

    Attributes
    ----------
    core : Result
        The core's forecast of the scenario; gives what does not depend on times.
    played : Played
    model : str
    options : dict of str to str
    seed : int
    wall_s : float
    """

    core: Result
    played: Played
    model: str
    options: dict[str, str]
    seed: int
    wall_s: float
    memory_bytes: dict[str, int]

    events_left_out: int = 0
    changes_evenly: bool = True
    has_all_operations: bool = True
    blocks_left_out: int = 0

    @property
    def origin(self) -> str:
        """Where the scenario came from."""
        return str(self.core.provenance["scenario"])

    @property
    def machine_hash(self) -> str:
        """A hash of the machine."""
        return self.core.machine_hash

    @property
    def end_s(self) -> float:
        """The time at which the last process ended."""
        return self.played.end_ns / 1e9

    @property
    def slots(self) -> dict[str, int]:
        """Cores that processes hold: none in a net."""
        return {}

    def columns(self, table: str) -> dict[str, Any]:
        """Give a table by its name."""
        make = {
            "operations": self._operations,
            "parts": self._parts,
            "latency": self._latency,
            "latency_bins": self._latency_bins,
            "latency_parts": self._latency_parts,
            "rates": self._rates,
            "timeline": self._timeline,
            "files": self._files,
        }.get(table)
        template = self.core._core.columns(table)
        if make is None:
            return {name: column[:0] for name, column in template.items()}
        made = make()
        return {name: _like(column, made[name]) for name, column in template.items() if name in made}

    @cached_property
    def _ended(self) -> list[PlayedOperation]:
        """The operations in the order of their ends."""
        return sorted(
            self.played.operations, key=lambda each: (each.end_ns, each.start_ns, each.operation.row)
        )

    def _operations(self) -> dict[str, Any]:
        rows = self._ended
        return {
            **self._names(),
            "host": [each.operation.host for each in rows],
            "path": [each.operation.path for each in rows],
            "offset_bytes": [each.operation.offset_bytes for each in rows],
            "bytes": [each.operation.size_bytes for each in rows],
            "start_s": _seconds(each.start_ns for each in rows),
            "end_s": _seconds(each.end_ns for each in rows),
            "duration_s": _seconds(each.end_ns - each.start_ns for each in rows),
            "from_cache_bytes": [each.from_cache_bytes for each in rows],
            "from_device_bytes": [each.from_device_bytes for each in rows],
        }

    def _names(self) -> dict[str, Any]:
        return {
            "process": [each.operation.process for each in self._ended],
            "index": [each.operation.index for each in self._ended],
            "operation": [each.operation.kind for each in self._ended],
        }

    @cached_property
    def _part_names(self) -> list[str]:
        columns = self.core._core.columns("parts")
        return [name.removesuffix("_s") for name in columns if name.endswith("_s")]

    def _parts(self) -> dict[str, Any]:
        return {
            **self._names(),
            **{
                f"{part}_s": _seconds(each.parts.get(part, 0) for each in self._ended)
                for part in self._part_names
            },
        }

    @cached_property
    def _by_key(self) -> dict[Key, list[PlayedOperation]]:
        """Operations by process, path and kind, in the order of the core: sorted."""
        found: dict[Key, list[PlayedOperation]] = defaultdict(list)
        for each in self._ended:
            found[each.operation.process, each.operation.path, each.operation.kind].append(each)
        return dict(sorted(found.items()))

    def _keys(self, counts: Sequence[int] | None = None) -> dict[str, Any]:
        keys = list(self._by_key)
        repeated = (
            keys if counts is None else [k for k, n in zip(keys, counts, strict=True) for _ in range(n)]
        )
        names = ("process", "path", "operation")
        return {name: [key[at] for key in repeated] for at, name in enumerate(names)}

    def _latency(self) -> dict[str, Any]:
        durations = [np.sort(_durations(rows)) for rows in self._by_key.values()]
        first = [min(each.start_ns for each in rows) for rows in self._by_key.values()]
        last = [max(each.end_ns for each in rows) for rows in self._by_key.values()]
        quantiles = {
            name: _seconds(_quantile(each, share) for each in durations) for name, share in QUANTILES.items()
        }
        return {
            **self._keys(),
            "count": [len(each) for each in durations],
            "bytes": [sum(each.operation.size_bytes for each in rows) for rows in self._by_key.values()],
            "total_s": _seconds(int(each.sum()) for each in durations),
            "mean_s": _seconds(int(each.sum()) // len(each) for each in durations),
            "stddev_s": np.array([float(each.std()) / 1e9 for each in durations]),
            "min_s": _seconds(int(each[0]) for each in durations),
            **quantiles,
            "max_s": _seconds(int(each[-1]) for each in durations),
            "first_start_s": _seconds(first),
            "last_end_s": _seconds(last),
        }

    def _latency_bins(self) -> dict[str, Any]:
        bins = [np.unique(_durations(rows), return_counts=True) for rows in self._by_key.values()]
        return {
            **self._keys([len(values) for values, _ in bins]),
            "duration_s": _seconds(int(value) for values, _ in bins for value in values),
            "count": [int(count) for _, counts in bins for count in counts],
        }

    def _latency_parts(self) -> dict[str, Any]:
        return {
            **self._keys(),
            **{
                f"{part}_s": _seconds(
                    sum(each.parts.get(part, 0) for each in rows) for rows in self._by_key.values()
                )
                for part in self._part_names
            },
        }

    def _rates(self) -> dict[str, Any]:
        width_ns = FIRST_WINDOW_NS
        while self.played.end_ns // width_ns >= MOST_WINDOWS:
            width_ns *= 2
        rows = list(_windows(self._ended, width_ns))
        names = ("time_s", "process", "operation", "bytes_per_s", "iops", "ended", "mean_s", "max_s")
        columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
        return {**columns, "window_s": [width_ns / 1e9] * len(rows)}

    def _timeline(self) -> dict[str, Any]:
        levels = self.played.levels
        cached = [level.cached_bytes for level in levels]
        free = [max(0, self.memory_bytes[level.host] - level.cached_bytes) for level in levels]
        return {
            "time_s": _seconds(level.time_ns for level in levels),
            "host": [level.host for level in levels],
            "used_bytes": cached,
            "free_bytes": free,
            "anonymous_bytes": [0] * len(levels),
            "cached_bytes": cached,
            "dirty_bytes": [level.dirty_bytes for level in levels],
        }

    def _files(self) -> dict[str, Any]:
        rows = self.played.files
        names = (
            "process",
            "index",
            "path",
            "host",
            "size_bytes",
            "cached_bytes",
            "dirty_bytes",
            "active_bytes",
        )
        columns = {name: [getattr(row, name) for row in rows] for name in names}
        return {"time_s": _seconds(row.time_ns for row in rows), **columns}


def _like(template: Any, column: Any) -> Any:
    """Give a column the type that the core gives it."""
    return list(column) if isinstance(template, list) else np.asarray(column, dtype=template.dtype)


def _seconds(times_ns: Iterable[int]) -> NDArray[np.float64]:
    return np.array(list(times_ns), dtype=np.float64) / 1e9


def _durations(rows: Iterable[PlayedOperation]) -> NDArray[np.int64]:
    """Give durations; the calls of an operation with a pattern count one by one."""
    return np.array(
        [
            end - start
            for each in rows
            for start, end in (
                each.calls_ns if each.operation.counts_calls else ((each.start_ns, each.end_ns),)
            )
        ],
        dtype=np.int64,
    )


def _quantile(ordered: NDArray[np.int64], share: float) -> int:
    """Give the smallest duration that a share did not exceed."""
    return int(ordered[max(1, int(np.ceil(share * len(ordered)))) - 1])


def _windows(rows: Iterable[PlayedOperation], width_ns: int) -> Iterator[tuple[Any, ...]]:
    """Count bytes and operations in windows, in proportion to the time that they were under way in each."""
    found: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(dict)
    for each in rows:
        windows = found[each.operation.process, each.operation.kind]
        first, last = each.start_ns // width_ns, each.end_ns // width_ns
        duration_ns = each.end_ns - each.start_ns
        for number in range(first, last + 1):
            inside_ns = min((number + 1) * width_ns, each.end_ns) - max(number * width_ns, each.start_ns)
            share = inside_ns / duration_ns if first != last else 1.0
            window = windows.setdefault(number, [0.0, 0.0, 0, 0, 0])
            window[0] += each.operation.size_bytes * share
            window[1] += share
        ended = windows[last]
        ended[2] += 1
        ended[3] += duration_ns
        ended[4] = max(ended[4], duration_ns)
    width_s = width_ns / 1e9
    for (process, kind), windows in sorted(found.items()):
        for number in range(max(windows) + 1):
            moved, count, ends, total_ns, longest_ns = windows.get(number, (0.0, 0.0, 0, 0, 0))
            mean_s = total_ns / ends / 1e9 if ends else np.nan
            longest_s = longest_ns / 1e9 if ends else np.nan
            start_s = number * width_ns / 1e9
            yield start_s, process, kind, moved / width_s, count / width_s, int(ends), mean_s, longest_s
