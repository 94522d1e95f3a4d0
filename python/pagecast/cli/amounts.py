"""Times, rates and shares as a person at a terminal reads them; ``--json`` has the exact numbers."""

from rich.cells import cell_len

from pagecast._core import format_rate
from pagecast.durations import seconds

__all__ = ["between", "rate", "seconds", "seconds_and_more", "shares", "shortened"]

_LONG = ((2 * 86400, 86400, "days"), (2 * 3600, 3600, "h"), (2 * 60, 60, "min"))
"""From how many seconds on another unit helps, its seconds, and its name."""

_SMALL_SHARE = 0.01


def seconds_and_more(time_s: float) -> str:
    """Give a time, a long one in minutes, hours or days as well."""
    for least, scale, unit in _LONG:
        if time_s >= least:
            return f"{seconds(time_s)} ({time_s / scale:.1f} {unit})"
    return seconds(time_s)


def rate(bytes_per_s: float) -> str:
    """Give a rate with three significant digits: "468 MB/s"."""
    return format_rate(float(f"{bytes_per_s:.3g}"))


def between(least: str, greatest: str) -> str:
    """Give two amounts as "14 to 16 GB", with a common unit once; nothing if they are the same."""
    if least == greatest:
        return ""
    value, unit = least.split()
    return f"{value if unit == greatest.split()[1] else least} to {greatest}"


def shares(parts_s: dict[str, float]) -> list[str]:
    """Say where the time went, in whole percent, largest first.

    Parts below 1 % are not named; with them it is 100 % in all.
    """
    total = sum(parts_s.values())
    parts = sorted(((part / total, name) for name, part in parts_s.items() if part > 0), reverse=True)
    large = [(share, name.replace("_", " ")) for share, name in parts if share >= _SMALL_SHARE]
    *percents, _ = _percents([*(share for share, _ in large), 1 - sum(share for share, _ in large)])
    is_all = len(large) == len(parts)
    return [
        f"{name} {percent if percent < 100 or is_all else '>99'} %"
        for (_, name), percent in zip(large, percents, strict=True)
    ]


def shortened(path: str, width: int) -> str:
    """Replace the middle of a path that is too long; the end says most."""
    if cell_len(path) <= width:
        return path
    head = max(width - 1, 0) // 3
    return f"{path[:head]}…{path[head - width + 1 :]}"


def _percents(fractions: list[float]) -> list[int]:
    """Round so that the sum stays 100: those with the largest remainders are rounded up."""
    floors = [int(100 * fraction) for fraction in fractions]
    by_remainder = sorted(range(len(floors)), key=lambda k: floors[k] - 100 * fractions[k])
    for k in by_remainder[: max(100 - sum(floors), 0)]:
        floors[k] += 1
    return floors
