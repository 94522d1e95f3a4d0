"""The points of a sweep: every combination of values, or a Latin hypercube.

A Latin hypercube of N points has one point in each N-th of every range (McKay, Beckman and Conover 1979);
`scipy.stats.qmc` draws it.
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pagecast.arguments import check_mapping, check_text, shown
from pagecast.errors import ArgumentError
from pagecast.extras import require
from pagecast.sweeps.axis import Axis, Setting, axis_names, make_axis

__all__ = ["Design", "make_design"]

_MOST_POINTS = 10_000_000

_SAMPLE = re.compile(r"latin:(\d+)(?::(\d+))?")


@dataclass(frozen=True)
class Design:
    """Keys, their values, and the points.

    Attributes
    ----------
    axes : tuple of Axis
    names : tuple of str
        A column for each axis.
    points : tuple of tuple of Setting
        Shape (points, axes).
    sample : str
        ``latin:N:SEED``; ``""`` for a grid.
    """

    axes: tuple[Axis, ...]
    names: tuple[str, ...]
    points: tuple[tuple[Setting, ...], ...]
    sample: str = ""

    def overrides(self, point: int) -> tuple[str, ...]:
        """Give a point as texts for ``--set``."""
        return tuple(
            f"{axis.key}={setting.text}" for axis, setting in zip(self.axes, self.points[point], strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """Give it for JSON, without the points."""
        axes = [
            {
                "key": axis.key,
                "column": name,
                "unit": axis.unit,
                "is_log": axis.is_log,
                "values": [setting.value for setting in axis.settings],
            }
            for axis, name in zip(self.axes, self.names, strict=True)
        ]
        return {"axes": axes, "sample": self.sample, "points": len(self.points)}


def make_design(vary: Mapping[str, object], sample: str | None = None) -> Design:
    """Read what is varied.

    Parameters
    ----------
    vary : mapping of str to str or sequence
        Values by key, as for `pagecast.sweeps.axis.make_axis`.
    sample : str, optional
        ``latin:N`` or ``latin:N:SEED``; every combination if not given.

    Returns
    -------
    Design
        The first key of a grid changes last.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        A key, its values or the sample cannot be understood.
    MissingPackageError
        A sample needs scipy.
    """
    specs = check_mapping("vary", vary, "{'machine.vm.dirty_bytes': '64MB..8GB:log:12'}")
    if not specs:
        raise ArgumentError(
            "nothing is varied; add --vary KEY=VALUES, such as --vary machine.vm.dirty_bytes=64MB..8GB:log:12"
        )
    axes = tuple(make_axis(key, spec) for key, spec in specs.items())
    names = tuple(axis_names(axes))
    if sample is not None:
        count, seed = _read_sample(sample)
        return Design(axes, names, _latin(axes, count, seed), f"latin:{count}:{seed}")
    for axis in axes:
        if not axis.settings:
            key = shown(axis.key)
            raise ArgumentError(f"vary {key}: how many values? Write for example {key}=LOW..HIGH:log:5")
    if math.prod(len(axis.settings) for axis in axes) > _MOST_POINTS:
        raise ArgumentError(
            f"the grid has over {_MOST_POINTS:,} points; take fewer values, or --sample latin:1000"
        )
    return Design(axes, names, tuple(itertools.product(*(axis.settings for axis in axes))))


def _read_sample(sample: str) -> tuple[int, int]:
    form = _SAMPLE.fullmatch(check_text("sample", sample).strip())
    if form is None or not 1 <= int(form[1]) <= _MOST_POINTS:
        raise ArgumentError(
            f"sample `{shown(sample)}` is not known; write latin:100, or latin:100:7 with a seed"
        )
    return int(form[1]), int(form[2] or 0)


def _latin(axes: Sequence[Axis], count: int, seed: int) -> tuple[tuple[Setting, ...], ...]:
    require("scipy", "sweep", "a Latin hypercube")
    from scipy.stats import qmc

    fractions = qmc.LatinHypercube(d=len(axes), rng=seed).random(count).tolist()
    return tuple(
        tuple(axis.at(fraction) for axis, fraction in zip(axes, row, strict=True)) for row in fractions
    )
