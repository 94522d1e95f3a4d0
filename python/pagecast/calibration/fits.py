"""Fits values to repeated measurements: a value with its interval, and costs of calls and bytes.

The interval is that of the median, from order statistics: of n rounds the k-th smallest and the k-th largest,
with the largest k for which a binomial of n fair coins is outside with 5 % or less. It assumes nothing of how
noise is distributed, only that rounds are independent. With fewer than six rounds there is none.
(David and Nagaraja, Order Statistics, section 7.1.)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from pagecast.calibration.spreads import spread_of_rounds

__all__ = [
    "LEAST_ROUNDS",
    "Bucket",
    "Estimate",
    "Marks",
    "Steady",
    "estimate",
    "find_beginning",
    "find_bucket",
    "find_write_cache",
    "fit_steady",
    "held_rate",
    "limit_share",
]

Marks: TypeAlias = Sequence[tuple[float, int]]
"""How far a stream was: seconds and bytes since its beginning."""

LEAST_MARKS: Final = 5
"""What a stream did for fewer marks is no level of its rate."""

LEAST_ROUNDS: Final = 6
"""With fewer, not even the smallest and the largest make an interval of 95 %."""

CONFIDENCE: Final = 0.95

UNSURE_FACTOR: Final = 2.0
UNSURE_NOISE: Final = 0.5
"""Half of the rounds of a normal one are then within a factor of two."""
WIDE: Final = 0.25
"""A value that may be off by more than this part of it is named when a calibration ends."""

PLAIN_PERCENT_BEFORE: Final = (4, 7)
"""Later kernels round limits down to 4096ths of the dirtyable memory."""

PAGE_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median over rounds, and how far it may be off."""

    value: float
    low: float | None
    high: float | None
    """95 %; None with fewer than six rounds."""
    n: int
    noise: float
    """Spread of the rounds as a fraction of the median: interquartile range by 1.349, as of a normal one."""
    drift: float
    """How much it changes from the first to the last round, as a fraction of the median (Theil and Sen)."""
    is_drifting: bool
    """Whether Kendall's rank correlation with the round is beyond chance (5 %)."""
    later: float | None = None
    """90 of 100 later rounds are at most 1 + this times away; None where that cannot be said."""

    @property
    def is_unsure(self) -> bool:
        """Whether its interval is wider than `UNSURE_FACTOR`; without one, whether noise is that large."""
        if self.low is None or self.high is None:
            return self.noise > UNSURE_NOISE
        return self.value != 0 and (self.low <= 0 or self.high > UNSURE_FACTOR * self.low)

    @property
    def spread(self) -> float:
        """Half of its interval as a part of the value, or the noise without one; 0 of a value of 0."""
        if self.low is None or self.high is None:
            return self.noise
        return (self.high - self.low) / 2 / abs(self.value) if self.value else 0.0

    @property
    def is_wide(self) -> bool:
        """Whether its spread is more than `WIDE`."""
        return self.is_unsure or self.spread > WIDE


def estimate(rounds: Sequence[float]) -> Estimate:
    """Take the median over the rounds.

    Parameters
    ----------
    rounds : sequence of float, length n >= 1
        In the order of time; NaN where a round gave nothing.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        No round gave anything.
    """
    values = np.array([each for each in rounds if not math.isnan(each)])
    n = len(values)
    if n == 0:
        raise ValueError("no round gave a value")
    ordered = np.sort(values)
    rank = _rank(n)
    middle = float(np.median(values))
    scale = abs(middle) or 1.0
    lower, upper = np.percentile(values, [25, 75])
    slopes = _slopes(values)
    return Estimate(
        value=middle,
        low=None if rank is None else float(ordered[rank]),
        high=None if rank is None else float(ordered[n - 1 - rank]),
        n=n,
        noise=float(upper - lower) / 1.349 / scale,
        drift=float(np.median(slopes)) * (n - 1) / scale if len(slopes) else 0.0,
        is_drifting=_is_drifting(slopes, n),
        later=spread_of_rounds(values.tolist()),
    )


def _rank(n: int) -> int | None:
    """Say how many of each end may be left out (see the module)."""
    outside, rank = 0.0, None
    for k in range(n // 2):
        outside += 2 * math.comb(n, k) / 2**n
        if outside > 1 - CONFIDENCE:
            break
        rank = k
    return rank


def _slopes(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    earlier, later = np.triu_indices(len(values), 1)
    return (values[later] - values[earlier]) / (later - earlier)  # type: ignore[no-any-return]


def _is_drifting(slopes: np.ndarray[Any, Any], n: int) -> bool:
    """Tell whether more pairs go one way than chance lets (normal approximation of Kendall's S)."""
    if n < LEAST_ROUNDS:
        return False
    deviation = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return bool(abs(np.sign(slopes).sum()) - 1 > 1.96 * deviation)


def limit_share(vm: Mapping[str, float], version: str) -> float | None:
    """Give the dirty limit of a host as a share of the dirtyable memory.

    Parameters
    ----------
    vm : mapping
        Kernel settings by name.
    version : str
        Of the kernel, such as "4.18".

    Returns
    -------
    float or None
        None if the limit is a size.
    """
    if vm.get("dirty_bytes", 0) or not vm.get("dirty_ratio", 0):
        return None
    percent = float(vm["dirty_ratio"])
    major, minor = map(int, version.split(".")[:2])
    is_plain = (major, minor) < PLAIN_PERCENT_BEFORE
    return percent / 100 if is_plain else (percent * PAGE_BYTES // 100) / PAGE_BYTES


@dataclass(frozen=True, slots=True)
class Steady:
    """How a stream went on after its beginning; how far ahead of that rate it was, on average and at most."""

    rate_bytes_per_s: float
    ahead_s: float
    most_ahead_s: float


def fit_steady(marks: Marks, *, from_s: float) -> Steady | None:
    """Find the rate of a stream without its beginning.

    A limiter lets pass at once the bytes that it has saved up, or those of the present slice of time. So
    the bytes moved are no line from 0; but from a moment on it is one on the average (least squares).

    Parameters
    ----------
    marks : sequence of (seconds, bytes)
        How far the stream was, since its beginning.
    from_s : float
        Where the line begins.

    Returns
    -------
    Steady or None
        None with fewer than six marks from there on, or where nothing moves.
    """
    times = np.array([time for time, _ in marks])
    moved = np.array([float(size) for _, size in marks])
    later = times >= from_s
    if later.sum() < LEAST_ROUNDS:
        return None
    rate, before = map(float, np.polyfit(times[later], moved[later], 1))
    if rate <= 0:
        return None
    return Steady(rate, max(before / rate, 0.0), max(float(np.max(moved / rate - times)), 0.0))


@dataclass(frozen=True, slots=True)
class Bucket:
    """A limiter that lets pass `burst_bytes` faster after idle time, then `rate_bytes_per_s`."""

    burst_bytes: float
    burst_rate_bytes_per_s: float
    rate_bytes_per_s: float
    dropped_s: float


def find_bucket(marks: Marks) -> Bucket | None:
    """Find out whether a stream became slower at one moment and stayed so.

    Two levels of rate, split where the squared deviations from both means are least.

    Parameters
    ----------
    marks : sequence of (seconds, bytes)
        How far the stream was, since its beginning, about evenly spaced.

    Returns
    -------
    Bucket or None
        None if the rate did not fall below two thirds, or if the step explains less than half of its
        variance.
    """
    levels = _Levels.of(marks)
    if levels is None or not levels.is_lower or levels.left > np.var(levels.rates) / 2:
        return None
    return levels.bucket(marks)


def find_beginning(marks: Marks) -> Bucket | None:
    """Find out whether a stream was faster at its beginning, be that ever so short a part of it.

    Parameters
    ----------
    marks : sequence of (seconds, bytes)
        How far the stream was, since its beginning, about evenly spaced.

    Returns
    -------
    Bucket or None
        None if the rate did not fall below two thirds, if either level lasts for fewer than five marks, or if
        not three quarters of what came before are faster than three quarters of what came after.
    """
    levels = _Levels.of(marks)
    if levels is None or not levels.is_lower:
        return None
    before, after = levels.rates[: levels.split], levels.rates[levels.split :]
    lasts = min(len(before), len(after)) >= LEAST_MARKS
    return levels.bucket(marks) if lasts and np.percentile(before, 25) > np.percentile(after, 75) else None


@dataclass(frozen=True, slots=True)
class _Levels:
    """A stream as two levels of rate."""

    times: np.ndarray[Any, Any]
    rates: np.ndarray[Any, Any]
    """Between marks."""
    split: int
    """Of these belong to the first level."""
    left: float
    """Variance that both together leave."""

    @classmethod
    def of(cls, marks: Marks) -> "_Levels | None":
        times = np.array([0.0, *(time for time, _ in marks)])
        rates = np.diff(np.array([0.0, *(moved for _, moved in marks)])) / np.diff(times)
        if len(rates) < 2 * LEAST_ROUNDS:
            return None

        def left(at: int) -> float:
            return float(np.var(rates[:at]) * at + np.var(rates[at:]) * (len(rates) - at)) / len(rates)

        split = min(range(2, len(rates) - 2), key=left)
        return cls(times, rates, split, left(split))

    @property
    def fast(self) -> float:
        return float(np.median(self.rates[: self.split]))

    @property
    def slow(self) -> float:
        return float(np.median(self.rates[self.split :]))

    @property
    def is_lower(self) -> bool:
        return self.slow < self.fast * 2 / 3

    def bucket(self, marks: Marks) -> Bucket:
        # The step lies somewhere in the stretch before or after the split: what is counted goes beyond it.
        after = self.split + 1
        moved = marks[after - 1][1]
        burst_bytes = moved - self.slow * float(self.times[after])
        return Bucket(burst_bytes, self.fast, self.slow, float(self.times[self.split]))


def find_write_cache(streams: Sequence[Marks]) -> list[Bucket]:
    """Find out whether streams of writes are faster at their beginning, each after idle time.

    If they are so again, the cache that takes the beginning is emptied meanwhile.

    Parameters
    ----------
    streams : sequence of sequence of (seconds, bytes)
        How far each stream was, since its beginning.

    Returns
    -------
    list of Bucket
        Those of the streams that are alike: of two or more, and of most. Else none.
    """
    found = [bucket for marks in streams if (bucket := find_beginning(marks)) is not None]
    if not found:
        return []
    middle = float(np.median([bucket.burst_bytes for bucket in found]))
    alike = [bucket for bucket in found if middle / 2 <= bucket.burst_bytes <= 2 * middle]
    return alike if len(alike) > max(1, len(streams) / 2) else []


def held_rate(marks: Marks) -> float:
    """Give the rate of the second half of a stream; NaN of one that has hardly begun.

    Parameters
    ----------
    marks : sequence of (seconds, bytes)
        How far the stream was, since its beginning.

    Returns
    -------
    float
        Bytes per second.
    """
    if len(marks) < 2 * LEAST_MARKS:
        return math.nan
    end_s, all_bytes = marks[-1]
    begin_s, before = next((time, moved) for time, moved in marks if moved >= all_bytes / 2)
    return (all_bytes - before) / (end_s - begin_s)
