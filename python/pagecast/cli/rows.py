"""The operations of several results, collected into the rows of one table."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from pagecast._core import format_bytes
from pagecast.api import Scenario
from pagecast.cli.amounts import rate, seconds, shares
from pagecast.distinct import first_rows, numbered
from pagecast.repeated import common_path, generic_name
from pagecast.result import Result

__all__ = ["Forecast", "Operations", "Row"]

_Integers: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"

_NUMBER = re.compile(r"\d+")

_BOOKKEEPING = ("open", "close", "signal", "alloc", "free", "exit")
"""Nobody asks how long these take, unless they take time."""


@dataclass(frozen=True)
class Forecast:
    """The operations of one row under one model, added up."""

    count: int
    time_s: float
    bytes: int
    parts_s: dict[str, float]

    def time(self) -> str:
        """Give the mean over the operations."""
        return seconds(self.time_s / self.count) if self.count else ""

    def rate(self) -> str:
        """Give the bytes by the time; nothing where there are none."""
        return rate(self.bytes / self.time_s) if self.bytes and self.time_s > 0 else ""

    def parts(self, operation: str) -> list[str]:
        """Give the share of each part; nothing for a compute that is nothing but computing."""
        taken = {name: part for name, part in self.parts_s.items() if part > 0}
        return [] if list(taken) in ([], [operation]) else shares(taken)


@dataclass(frozen=True)
class Row:
    """An operation, or several like it of processes whose names differ in a number only, or of a loop."""

    process: str
    operation: str
    path: str
    forecasts: list[Forecast]

    def count(self) -> int:
        """Give the number of operations, of the model that has most."""
        return max(forecast.count for forecast in self.forecasts)

    def size(self) -> str:
        """Give the bytes of one operation."""
        size = next(forecast.bytes // forecast.count for forecast in self.forecasts if forecast.count)
        return format_bytes(size) if size else ""


class Operations:
    """Operations by row, in the order of processes and of their programs.

    There may be millions, so they stay in arrays until they are shown.

    Parameters
    ----------
    scenario : Scenario
    results : sequence of Result
        One per model.
    together : bool
        Operations of processes whose names differ in a number only share a row.
    loops : bool
        Operations of one program share a row if they are of one kind and their paths differ in numbers only.
    every : bool
        Instantaneous bookkeeping, such as an open, has rows too.
    """

    def __init__(
        self, scenario: Scenario, results: Sequence[Result], *, together: bool, loops: bool, every: bool
    ) -> None:
        names = {process: generic_name(process) if together else process for process in scenario.processes}
        self._names = list(dict.fromkeys(names.values()))
        self._kinds = list(
            dict.fromkeys(kind for result in results for kind in result.operations["operation"])
        )
        self._indices = 1 + max(int(result.operations["index"].max(initial=0)) for result in results)
        self._results = results
        numbers = {name: number for number, name in enumerate(self._names)}
        places = {process: numbers[name] for process, name in names.items()}
        keys = [self._keys(result, places) for result in results]
        if loops:
            keys = self._first_of_loops(keys)
        self._all_keys, groups = np.unique(np.concatenate(keys), return_inverse=True)
        self._groups = np.split(groups, np.cumsum([len(key) for key in keys])[:-1])
        shown = self._matters() | every
        self._shown = np.flatnonzero(shown)
        self.hidden = max((int(np.sum(~shown[groups])) for groups in self._groups), default=0)
        """How many operations have no row."""

    def __len__(self) -> int:
        return len(self._shown)

    def rows(self, most: int | None) -> list[Row]:
        """Give the first rows, or all of them."""
        shown = self._shown[:most]
        forecasts = [self._forecasts(number, shown) for number in range(len(self._results))]
        paths = self._paths(shown)
        rows = []
        for number, key in enumerate(self._all_keys[shown].tolist()):
            place, kind = key // (self._indices * len(self._kinds)), key % len(self._kinds)
            of_models = [of_model[number] for of_model in forecasts]
            rows.append(Row(self._names[place], self._kinds[kind], paths[number], of_models))
        return rows

    def _matters(self) -> Any:
        """Tell which rows are worth showing: all but bookkeeping that takes no time under any model."""
        bookkeeping = [number for number, kind in enumerate(self._kinds) if kind in _BOOKKEEPING]
        matters = ~np.isin(self._all_keys % max(len(self._kinds), 1), bookkeeping)
        for number, result in enumerate(self._results):
            matters |= self._sum(number, result.operations["duration_s"]) > 0
        return matters

    def _keys(self, result: Result, places: dict[str, int]) -> _Integers:
        """Give a number for each operation, made of its place among processes and programs, and its kind."""
        kinds = {kind: number for number, kind in enumerate(self._kinds)}
        place = _numbers_of(result.operations["process"], places)
        kind = _numbers_of(result.operations["operation"], kinds)
        index: _Integers = result.operations["index"]
        return (place * self._indices + index) * len(kinds) + kind

    def _first_of_loops(self, keys: list[_Integers]) -> list[_Integers]:
        """Give each operation the key of the first of its kind, and with such a path, in its program."""
        paths, rows = numbered([path for result in self._results for path in result.operations["path"]])
        alike, numbers = numbered([_NUMBER.sub("{n}", path) for path in paths])
        key = np.concatenate(keys)
        step = self._indices * len(self._kinds)
        place_and_kind = key // step * len(self._kinds) + key % len(self._kinds)
        loops, loop = np.unique(place_and_kind * len(alike) + numbers[rows], return_inverse=True)
        first = np.full(len(loops), np.iinfo(np.int64).max)
        np.minimum.at(first, loop, key)
        return np.split(first[loop], np.cumsum([len(of_result) for of_result in keys])[:-1])

    def _sum(self, number: int, column: Any) -> Any:
        return np.bincount(self._groups[number], weights=column, minlength=len(self._all_keys))

    def _forecasts(self, number: int, shown: _Integers) -> list[Forecast]:
        operations, parts = self._results[number].operations, self._results[number].parts
        count = np.bincount(self._groups[number], minlength=len(self._all_keys))[shown].tolist()
        time_s = self._sum(number, operations["duration_s"])[shown].tolist()
        size = self._sum(number, operations["bytes"])[shown].tolist()
        names = [name for name in parts if name.endswith("_s")]
        parts_s = np.array([self._sum(number, parts[name])[shown] for name in names]).T.tolist()
        short = [name.removesuffix("_s") for name in names]
        return [
            Forecast(
                count[row],
                time_s[row],
                int(size[row]),
                dict(zip(short, parts_s[row], strict=True)),
            )
            for row in range(len(shown))
        ]

    def _paths(self, shown: _Integers) -> list[str]:
        """Give the path of each row, or the common part of its paths."""
        texts = [path for result in self._results for path in result.operations["path"]]
        groups = np.concatenate(self._groups)
        first = first_rows(groups, numbered(texts)[1])
        paths: dict[int, list[str]] = {group: [] for group in shown.tolist()}
        for group, row in zip(groups[first].tolist(), first.tolist(), strict=True):
            if group in paths:
                paths[group].append(texts[row])
        return [reduce(common_path, of_group) for of_group in paths.values()]


def _numbers_of(column: Sequence[str], numbers: dict[str, int]) -> _Integers:
    return np.fromiter(map(numbers.__getitem__, column), dtype=np.int64, count=len(column))
