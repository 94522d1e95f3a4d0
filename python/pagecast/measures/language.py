"""Reads measures, the names of single figures of a result.

::

    p99(db fsync)                 percentile of the durations; also p50, p99.9, mean, min, max, sum, count
    bytes(backup write)           what the operations moved
    rate(backup write /data/*)    the same by the time from the first start to the last end
    makespan, makespan(backup)    when the last process ends; from the first start to the last end of one
    peak(dirty), peak(cached h1)  the highest level of a column of `timeline`, of any host or of one
    cached(/data/table)           how much of a file is in memory at the end, of all hosts or of one
    share(throttled, db write)    share of a part in the durations
    at_risk                       the most that a power cut would lose

Operations are named by process, kind and, where it matters, path; ``*`` stands for anything.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from pagecast.arguments import check_text, shown
from pagecast.errors import MeasureError

__all__ = ["STATISTICS", "Measure", "Operations", "matching", "measure_list", "parse_measure"]

STATISTICS: Final = {"mean": "s", "min": "s", "max": "s", "sum": "s", "count": "", "bytes": "bytes"} | {
    "rate": "bytes_per_s"
}
"""Functions of operations beside percentiles, and their units."""

_FUNCTIONS: Final = ("p50", "p90", "p99", *STATISTICS, "makespan", "peak", "cached", "share", "at_risk")
_FORM = re.compile(
    r"\s*(?:(?P<alias>[A-Za-z]\w*)\s*=\s*)?(?P<function>\w[\w.]*)\s*(?:\((?P<inside>.*)\))?\s*"
)
_PERCENTILE = re.compile(r"p(\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Operations:
    """Which operations: patterns of process, kind and path, in which ``*`` stands for anything."""

    process: str
    operation: str
    path: str = "*"

    def __str__(self) -> str:
        path = "" if self.path == "*" else f" {self.path}"
        return f"{self.process} {self.operation}{path}"


@dataclass(frozen=True)
class Measure:
    """One figure of a result.

    Attributes
    ----------
    text : str
        As it was written, without its name.
    name : str
        The name of its column; it ends in the unit.
    function : str
        ``percentile``, one of `STATISTICS`, ``makespan``, ``peak``, ``cached``, ``share`` or ``at_risk``.
    unit : str
        ``s``, ``bytes``, ``bytes_per_s``, ``share``, or ``""`` for a count.
    percent : float or None
        Of a percentile.
    operations : Operations or None
    subject : str
        Level of `timeline` or part of a duration, without its unit; or the path of a file.
    host : str or None
    """

    text: str
    name: str
    function: str
    unit: str
    percent: float | None = None
    operations: Operations | None = None
    subject: str = ""
    host: str | None = None

    @property
    def needs_at_risk(self) -> bool:
        """Whether the simulation must record what is at risk."""
        return self.function == "at_risk"

    @property
    def more_is_better(self) -> bool:
        """Whether a higher value is the better one, as of a rate."""
        return self.function in ("rate", "bytes", "count", "cached")


def matching(pattern: str, names: Iterable[str]) -> set[str]:
    """Give the names that match a pattern, in which ``*`` stands for anything."""
    if "*" not in pattern:
        return {pattern} & {*names}
    form = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    return {name for name in names if form.fullmatch(name)}


def parse_measure(text: str) -> Measure:
    """Read a measure, such as ``p99(db fsync)`` or ``latency = p99(db fsync)``.

    Parameters
    ----------
    text : str

    Returns
    -------
    Measure

    Raises
    ------
    MeasureError
        It cannot be understood.
    """
    form = _FORM.fullmatch(check_text("measure", text))
    if form is None:
        raise MeasureError(
            f"measure `{shown(text)}`: write for example p99(db fsync), makespan or peak(dirty)"
        )
    function, inside = form["function"], form["inside"]
    percentile = _PERCENTILE.fullmatch(function)
    reader = _READERS.get("p" if percentile else function)
    if reader is None:
        near = get_close_matches(function, _FUNCTIONS, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(_FUNCTIONS)}"
        raise MeasureError(f"measure `{shown(text)}`: there is no `{shown(function)}`; {hint}")
    written = function if inside is None else f"{function}({' '.join(inside.split())})"
    return reader(_Parts(written, form["alias"], function, None if inside is None else inside.strip()))


def measure_list(texts: Sequence[str | Measure]) -> list[Measure]:
    """Read several measures, whose names differ.

    Parameters
    ----------
    texts : sequence of str or Measure

    Returns
    -------
    list of Measure

    Raises
    ------
    MeasureError
        One cannot be understood, or two have one name.
    """
    measures = [text if isinstance(text, Measure) else parse_measure(text) for text in texts]
    seen: dict[str, Measure] = {}
    for measure in measures:
        if measure.name in seen:
            raise MeasureError(
                f"measures `{seen[measure.name].text}` and `{measure.text}` are both called "
                f"`{measure.name}`; give one a name: other = {measure.text}"
            )
        seen[measure.name] = measure
    return measures


@dataclass(frozen=True)
class _Parts:
    """A measure, split at its brackets."""

    text: str
    alias: str | None
    function: str
    inside: str | None

    def name(self, unit: str) -> str:
        """Give the name of the column: the words of the measure, and its unit at the end."""
        plain = self.alias or re.sub(r"\W+", "_", self.text.replace("*", " all ")).strip("_")
        has_unit = not unit or plain == unit or plain.startswith("share_") or plain.endswith(f"_{unit}")
        return plain if has_unit else f"{plain}_{unit}"

    def words(self, text: str | None) -> list[str]:
        """Split at blanks; a name with blanks has quotes."""
        try:
            return shlex.split(text or "")
        except ValueError:
            raise MeasureError(f"measure `{shown(self.text)}`: a quote is not closed") from None

    def operations(self, text: str | None) -> Operations:
        """Read PROCESS OPERATION [PATH]."""
        words = self.words(text)
        if len(words) not in (2, 3):
            raise self.wrong("PROCESS OPERATION [PATH]", f"{self.function}(db fsync)")
        return Operations(*words)

    def wrong(self, wanted: str, example: str) -> MeasureError:
        """Say what belongs between the brackets."""
        return MeasureError(f"measure `{shown(self.text)}`: needs {wanted}; write for example {example}")


def _percentile(parts: _Parts) -> Measure:
    percent = float(parts.function[1:])
    if not 0 < percent <= 100:
        raise MeasureError(f"measure `{shown(parts.text)}`: a percentile is above 0 and at most 100")
    operations = parts.operations(parts.inside)
    return Measure(parts.text, parts.name("s"), "percentile", "s", percent=percent, operations=operations)


def _statistic(parts: _Parts) -> Measure:
    unit = STATISTICS[parts.function]
    operations = parts.operations(parts.inside)
    return Measure(parts.text, parts.name(unit), parts.function, unit, operations=operations)


def _makespan(parts: _Parts) -> Measure:
    words = parts.words(parts.inside)
    if parts.inside is not None and len(words) != 1:
        raise parts.wrong("one PROCESS, or no brackets", "makespan(backup)")
    operations = Operations(words[0], "*") if words else None
    return Measure(parts.text, parts.name("s"), "makespan", "s", operations=operations)


def _peak(parts: _Parts) -> Measure:
    words = parts.words(parts.inside)
    if len(words) not in (1, 2):
        raise parts.wrong("LEVEL [HOST]", "peak(dirty)")
    level, host = words[0].removesuffix("_bytes"), words[1] if len(words) > 1 else None
    return Measure(parts.text, parts.name("bytes"), "peak", "bytes", subject=level, host=host)


def _cached(parts: _Parts) -> Measure:
    words = parts.words(parts.inside)
    if len(words) not in (1, 2):
        raise parts.wrong("PATH [HOST]", "cached(/data/table)")
    path, host = words[0], words[1] if len(words) > 1 else None
    return Measure(parts.text, parts.name("bytes"), "cached", "bytes", subject=path, host=host)


def _share(parts: _Parts) -> Measure:
    part, comma, of = (parts.inside or "").partition(",")
    part = part.strip().replace(" ", "_").removesuffix("_s")
    if not part or not comma:
        raise parts.wrong("PART, PROCESS OPERATION [PATH]", "share(throttled, backup write)")
    operations = parts.operations(of)
    return Measure(parts.text, parts.name("share"), "share", "share", operations=operations, subject=part)


def _at_risk(parts: _Parts) -> Measure:
    if parts.inside:
        raise parts.wrong("nothing between brackets", "at_risk")
    return Measure(parts.text, parts.name("bytes"), "at_risk", "bytes")


_READERS: Final[dict[str, Callable[[_Parts], Measure]]] = {
    "p": _percentile,
    **dict.fromkeys(STATISTICS, _statistic),
    "makespan": _makespan,
    "peak": _peak,
    "cached": _cached,
    "share": _share,
    "at_risk": _at_risk,
}
