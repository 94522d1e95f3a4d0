"""Simulate a series: one process that computes, then writes, again and again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pagecast import _core
from pagecast.api import Scenario, simulate
from pagecast.comparison import machines
from pagecast.studies.cawl.calibration import calibration, options
from pagecast.studies.cawl.levels import Levels, levels_of, thresholds
from pagecast.studies.cawl.series import Point, Series
from pagecast.studies.cawl.states import machine_of
from pagecast.studies.skeleton import Simulate

if TYPE_CHECKING:
    from pagecast._core import Operation
    from pagecast.result import Result

__all__ = ["SeriesRun", "program", "run_series", "simulate_series"]

PATH: Final = "/data/file"
FLAGS: Final[tuple[Literal["O_DIRECT", "O_SYNC"], ...]] = ("O_DIRECT", "O_SYNC")
"""With which series past the page cache were opened."""


@dataclass(frozen=True, slots=True)
class SeriesRun:
    """One series under one model: the seconds of each write, the dirty bytes, and the hash of the machine."""

    series: Series
    model: str
    machine: str
    seconds: NDArray[np.float64]
    levels: Levels | None
    machine_hash: str

    def forecast_s(self, point: Point) -> float:
        """Mean over the writes of a point."""
        return float(np.mean(self.seconds[point.first - 1 : point.last]))


def program(series: Series) -> "list[Operation]":
    """Write the program of a series: of system calls, or of calls to a stream of the C library.

    Random offsets are written in order: they
    do not overlap, and neither model asks where on the disk they are.
    """
    operations = []
    if not series.is_buffered:
        flags = [flag for flag in FLAGS if flag in series.open_flags.split("|")]
        operations.append(_core.open(PATH, create=True, flags=flags))
    if series.is_stream:
        operations.append(_core.fopen(PATH, mode="w", buffer_bytes=series.libc_buffer_bytes))
    if series.header_bytes:
        operations.append(_core.fwrite(PATH, size_bytes=series.header_bytes))
    for size, offset in zip(series.sizes(), series.offsets(), strict=True):
        if series.pause_s:
            operations.append(_core.compute(series.pause_s))
        if series.is_stream:
            operations.append(_core.fwrite(PATH, size_bytes=size))
        elif series.access in ("rewrite", "part rewritten"):
            operations.append(_core.write(PATH, size_bytes=size, offset_bytes=offset))
        else:
            operations.append(_core.write(PATH, size_bytes=size, append=True))
    return operations


def simulate_series(series: Series, *, model: str, machine: str, overrides: Sequence[str]) -> "Result":
    """Simulate one series on a machine under a model.

    On its own machine, `cawl` has the authors' calibration of its group.
    """
    scenario = Scenario(machines.load(machine, overrides=overrides), processes={"writer": program(series)})
    is_calibrated = model == "cawl" and machine == machine_of(series)
    known = options(series) if is_calibrated else {}
    return simulate(scenario, model=model, options={**known, **machines.model_options(model, overrides)})


def run_series(
    series: Series,
    *,
    model: str,
    machine: str | None,
    overrides: Sequence[str],
    simulate: Simulate = simulate_series,
) -> SeriesRun:
    """Forecast one series.

    Parameters
    ----------
    series : Series
    model : str
    machine : str or None
        A shipped name or a path; None is the series' own machine.
    overrides : sequence of str
        ``key=value`` for the machine and the model.
    simulate : callable
        Like `simulate_series`.
    """
    machine = machine or machine_of(series)
    result = simulate(series, model=model, machine=machine, overrides=overrides)
    kinds = np.array(result.operations["operation"])
    # A header was written before them.
    seconds = result.operations["duration_s"][np.isin(kinds, ("write", "fwrite"))][-series.writes :]
    levels = (
        levels_of(result, writes=series.writes, limits=_limits(series, machine))
        if series.is_buffered
        else None
    )
    return SeriesRun(series, model, machine, seconds, levels, result.machine_hash)


def _limits(series: Series, machine: str) -> tuple[float, float]:
    """Give background threshold and set point of a buffered series: recovered, else those of its machine."""
    known = calibration(series)
    if "limit_bg" in known and machine == machine_of(series):
        return known["limit_bg"], (known["limit_bg"] + known["limit_hard"]) / 2
    return thresholds(machine)
