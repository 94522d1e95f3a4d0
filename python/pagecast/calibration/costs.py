"""Derives what calls, bytes and pages of the page cache cost from how long reads and writes took.

`calibrate` and the case m_memory of the live kernels derive their costs here.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

import numpy as np

__all__ = ["CallCosts", "fit_calls", "per_page"]


@dataclass(frozen=True, slots=True)
class CallCosts:
    """Seconds of a call, whatever it does, and of a byte of each kind."""

    call_s: float
    bytes_s: dict[str, float]

    def beyond(self, kind: str, *, duration_s: float, calls: int, size: int) -> float:
        """Give seconds per byte that calls take beyond what they and their bytes cost."""
        return (duration_s - calls * self.call_s - size * self.bytes_s[kind]) / size


def fit_calls(found: Mapping[tuple[str, float], float]) -> CallCosts:
    """Tell costs of calls from costs of bytes.

    Seconds per byte y of calls of S bytes follow y = call / S + byte: one `call` for all kinds, a `byte` for
    each; least squares of relative errors.

    Parameters
    ----------
    found : mapping of (kind, bytes of a call) to seconds per byte
        With two sizes at least.

    Returns
    -------
    CallCosts
        Where no cost of calls is to be seen it is 0, and that of bytes the mean over the sizes.
    """
    kinds = sorted({kind for kind, _ in found})
    rows = [[1 / size, *(float(kind == each) for each in kinds)] for kind, size in found]
    seconds = np.array(list(found.values()))
    solution, *_ = np.linalg.lstsq(np.array(rows) / seconds[:, None], np.ones(len(seconds)), rcond=None)
    call_s, *bytes_s = map(float, solution)
    if call_s < 0 or min(bytes_s) <= 0:
        of = {kind: [y for (name, _), y in found.items() if name == kind] for kind in kinds}
        return CallCosts(0.0, {kind: float(np.mean(of[kind])) for kind in kinds})
    return CallCosts(call_s, dict(zip(kinds, bytes_s, strict=True)))


def per_page(seconds_per_byte: Iterable[float], page_bytes: int) -> float:
    """Give the seconds of a page: the median of what is known, NaN if nothing is."""
    known = [page_bytes * each for each in seconds_per_byte if not math.isnan(each)]
    return median(known) if known else math.nan
