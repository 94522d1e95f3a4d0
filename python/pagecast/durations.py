"""Durations as a person reads them."""

__all__ = ["scale_of_time", "seconds", "seconds_of"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def seconds(time_s: float) -> str:
    """Give a time with three significant digits, or in whole seconds from 100 s on."""
    if time_s >= 99.95:
        return f"{time_s:.0f} s"
    rounded = float(f"{time_s:.3g}")
    if rounded <= 0:
        return "0 s"
    scale, unit = scale_of_time(rounded)
    value = rounded / scale
    digits = 0 if unit == "ns" or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def scale_of_time(time_s: float) -> tuple[float, str]:
    """Give the unit in which a time reads best: its seconds, and its name."""
    return next(((scale, unit) for scale, unit in _UNITS if time_s >= scale), _UNITS[-1])


def seconds_of(text: str) -> float:
    """Read a time of a described machine, as `"100 us"`."""
    value, unit = text.split()
    return float(value) * {name: scale for scale, name in _UNITS}[unit]
