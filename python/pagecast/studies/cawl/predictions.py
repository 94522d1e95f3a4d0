"""The authors' own predictions, repeated by the model alone.

They were made by the released program, which differs from the paper (docs/concepts/cawl.md). So every series
is computed in both readings, from the same calibration, and held against the prediction that stood beside
each measured write. Nothing is fitted here. What the libc buffer held at first the authors' predictions do
not know, so neither do these.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.studies.cawl.calibration import calibration
from pagecast.studies.cawl.rows import Points
from pagecast.studies.cawl.series import Point, Series

if TYPE_CHECKING:
    from pagecast import cawl

__all__ = ["DIFFERENCES", "Deviation", "buffered", "deviations", "predicted_s"]

DIFFERENCES: Final = ("throttling", "bw_sync", "partial")
"""Differences of the released program from the paper, by the options of the model."""

ROUNDING_S: Final = 0.5e-6
"""The predictions are given in whole microseconds; so much counts as no deviation."""

AGREEING: Final = 0.01
"""Both readings agree on a write if they differ by less than this part of it."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far the model is from the authors' predictions of a series, as fractions of them.

    `agreeing` of the `points` are those on which paper and released program agree; `where_agreeing` is the
    mean over them, None if there are none. `paper` and `program` are means over all points, `greatest` is the
    program's greatest one. `differs_in` names the options that make the difference.
    """

    series: str
    points: int
    agreeing: int
    where_agreeing: float | None
    paper: float
    program: float
    greatest: float
    differs_in: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "case": self.series,
            "points": self.points,
            "agreeing_points": self.agreeing,
            "mean_deviation_where_agreeing": self.where_agreeing,
            "mean_deviation_of_paper": self.paper,
            "mean_deviation_of_program": self.program,
            "greatest_deviation_of_program": self.greatest,
            "differs_in": list(self.differs_in),
        }


def deviations(series: Iterable[Series], points: Points) -> tuple[Deviation, ...]:
    """Compare all series of which predictions are known.

    Parameters
    ----------
    series : iterable of Series
    points : mapping
        The predictions, of single writes or of blocks of them, by series.
    """
    return tuple(_deviation(each, points[each.name]) for each in series)


def predicted_s(series: Series, as_released: Sequence[str] = ()) -> NDArray[np.float64]:
    """Compute the seconds of each write of a series.

    Parameters
    ----------
    series : Series
    as_released : sequence of str
        In which of `DIFFERENCES` the released program is followed; elsewhere the paper is.
    """
    if series.is_buffered:
        return buffered(series, as_released)[0]
    return _synchronous(series, as_released).write_all(series.offsets(), series.sizes())


def buffered(
    series: Series, as_released: Sequence[str] = ()
) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
    """Compute the seconds of each buffered write of a series, and the dirty bytes after it."""
    from pagecast import cawl

    known, sizes = calibration(series), series.sizes()
    calls = cawl.SyscallCost(
        **{name: known[name] for name in ("bw_ramdisk", "bw_reduced", "bw_dev", "sc_w")},
        limit_bg=known["limit_bg"],
        limit_hard=known["limit_hard"],
        bw_sync=known["bw_sync"] if "bw_sync" in as_released else None,
        throttling="harmonic" if "throttling" in as_released else "minimum",
    )
    if series.io_method == "fwrite":
        # The rate of copying in memory is not known; it matters for less than the rounding.
        stream = cawl.LibraryCost(calls, bw_mem=known["bw_ramdisk"], bf=series.libc_buffer_bytes or 4096)
        return stream.write_all(sizes, pause_s=series.pause_s)
    return calls.write_all(series.offsets(), sizes, pause_s=series.pause_s)


def _synchronous(series: Series, as_released: Sequence[str]) -> "cawl.DirectCost | cawl.SyncCost":
    from pagecast import cawl

    known = calibration(series)
    if series.is_direct:
        return cawl.DirectCost(bw_dev=known["bw_dev"], sc_sw=known["sc_sw"])
    return cawl.SyncCost(
        bw_ramdisk=known["bw_ramdisk"],
        bw_dev=known["bw_dev"],
        bw_rdev=known["bw_dev"],  # not known; a block takes 2 us at most
        sc_sw=known["sc_sw"],
        partial="page" if "partial" in as_released else "block",
    )


def _deviation(series: Series, points: Sequence[Point]) -> Deviation:
    given = np.array([point.cawl_s for point in points])
    points = [point for point, seconds in zip(points, given, strict=True) if seconds > 0]
    given = given[given > 0]
    paper = _means(predicted_s(series), points)
    program = _means(predicted_s(series, DIFFERENCES), points)
    agree = np.abs(paper - program) < AGREEING * program
    of_paper, of_program = _relative(paper, given), _relative(program, given)
    return Deviation(
        series=series.name,
        points=len(points),
        agreeing=int(agree.sum()),
        where_agreeing=float(of_paper[agree].mean()) if agree.any() else None,
        paper=float(of_paper.mean()),
        program=float(of_program.mean()),
        greatest=float(of_program.max()),
        differs_in=tuple(
            name
            for name in DIFFERENCES
            if np.any(np.abs(_means(predicted_s(series, [name]), points) - paper) >= AGREEING * paper)
        ),
    )


def _means(seconds: NDArray[np.float64], points: Iterable[Point]) -> NDArray[np.float64]:
    return np.array([seconds[point.first - 1 : point.last].mean() for point in points])


def _relative(forecast: NDArray[np.float64], given: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = np.maximum(np.abs(forecast - given) - ROUNDING_S, 0) / given
    return result
