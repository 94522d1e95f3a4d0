"""Two outputs side by side: each operation that both have, and what the second takes longer."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pagecast import _core
from pagecast.arguments import counted, shown
from pagecast.comparison.operations import LEAST_S
from pagecast.comparison.rows import MEASURED, SCHEMA_VERSION, main_model
from pagecast.errors import OutputError
from pagecast.outputs.percentiles import PercentileDifference, side_by_side
from pagecast.outputs.reading import Key, Output, Times, read

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Comparison", "Difference", "Pair", "compare"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A time in both; `process` and `operation` are empty of the total of a case."""

    case: str
    process: str
    operation: str
    path: str
    call_bytes: int
    a_s: float
    b_s: float

    @property
    def difference_s(self) -> float:
        """How much longer the second one takes; negative if it is sooner done."""
        return self.b_s - self.a_s

    @property
    def relative(self) -> float | None:
        """The same by the first; None where that takes no time."""
        return self.difference_s / self.a_s if self.a_s > 0 else None

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "case": self.case,
            "process": self.process,
            "operation": self.operation,
            "path": self.path,
            "call_bytes": self.call_bytes,
            "a_s": self.a_s,
            "b_s": self.b_s,
            "difference_s": self.difference_s,
            "relative": self.relative,
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """One model, or what was measured, of each output.

    `operations` are those that both have, in the order of the first; `totals` are of cases that both have.
    `only_a` and `only_b` are the seconds of what has no partner; nothing is in them where one output has slow
    operations alone. `percentiles` are of what both do often, the greatest difference first.
    """

    a: str
    b: str
    operations: tuple[Difference, ...]
    totals: tuple[Difference, ...]
    only_a: Mapping[Key, float]
    only_b: Mapping[Key, float]
    percentiles: tuple[PercentileDifference, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "a": self.a,
            "b": self.b,
            "operations": [each.as_dict() for each in self.operations],
            "totals": [each.as_dict() for each in self.totals],
            "percentiles": [each.as_dict() for each in self.percentiles],
            "only_a": _alone(self.only_a),
            "only_b": _alone(self.only_b),
        }


def _alone(only: Mapping[Key, float]) -> list[dict[str, object]]:
    return [
        {"case": case, "process": process, "operation": operation, "time_s": time_s}
        for (case, process, operation), time_s in only.items()
    ]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two outputs, and each pair of times that can be held against each other."""

    a: Output
    b: Output
    pairs: tuple[Pair, ...]
    provenance: Mapping[str, Any]

    def to_json(self) -> dict[str, object]:
        """Give everything; only what JSON can hold."""
        return {
            "schema_version": SCHEMA_VERSION,
            "provenance": dict(self.provenance),
            "pairs": [pair.as_dict() for pair in self.pairs],
        }

    def conclusion(self) -> tuple[str, ...]:
        """Say of each pair how far the totals are apart."""
        return tuple(
            sentence for pair in self.pairs for sentence in _sentences(pair, self.a.name, self.b.name)
        )

    def print_to(self, console: "Console") -> None:
        """Print the tables for a reader at a terminal."""
        from pagecast.outputs.showing import print_comparison

        print_comparison(self, console)

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file; needs jinja2."""
        from pagecast.outputs.showing import report
        from pagecast.report import write

        write(report(self), path)


def compare(a: str | os.PathLike[str], b: str | os.PathLike[str], *, command: str = "") -> Comparison:
    """Hold two folders that ``--out`` has made against each other.

    Compared is what both have, model by model, and what was measured; where they have none in common, such
    as the folder of a real run and that of its forecast, what was measured or else the model that is no
    rival of each. Where both have one case, its name does not matter.

    Parameters
    ----------
    a, b : path-like
    command : str
        What the provenance names as the command that asked for it.

    Returns
    -------
    Comparison

    Raises
    ------
    OutputError
        One is not there or holds no times of operations, or they have no operation in common.
    """
    first, second = read(a), read(b)
    common = [name for name in first.times if name in second.times]
    chosen = [(name, name) for name in common] or [(_main(first), _main(second))]
    pairs = tuple(_pair(names, first.times[names[0]], second.times[names[1]]) for names in chosen)
    if not any(pair.operations or pair.percentiles for pair in pairs):
        raise OutputError(
            f"{shown(a)} and {shown(b)}: have no operation in common; processes and operations must have the "
            "same names and order"
        )
    provenance = {
        "pagecast_version": _core.__version__,
        "command": command,
        "a": {"directory": first.name, **first.provenance},
        "b": {"directory": second.name, **second.provenance},
    }
    return Comparison(first, second, pairs, provenance)


def _main(output: Output) -> str:
    return MEASURED if MEASURED in output.times else main_model(list(output.times))


def _pair(names: tuple[str, str], a: Times, b: Times) -> Pair:
    if len(a.totals_s) == len(b.totals_s) == 1:
        case = next(iter(a.totals_s)) or next(iter(b.totals_s))
        a, b = _called(a, case), _called(b, case)
    details = [*b.paths.items(), *a.paths.items()], [*b.call_bytes.items(), *a.call_bytes.items()]
    paths = {key: path for key, path in details[0] if path}
    # Only a real run tells the size of calls.
    calls = {key: call for key, call in details[1] if call}
    both = [key for key in a.seconds if key in b.seconds]
    return Pair(
        *names,
        tuple(
            Difference(*key, paths.get(key, ""), calls.get(key, 0), a.seconds[key], b.seconds[key])
            for key in both
        ),
        tuple(
            Difference(case, "", "", "", 0, total_s, b.totals_s[case])
            for case, total_s in a.totals_s.items()
            if case in b.totals_s
        ),
        _alone_in(a.seconds, b.seconds),
        _alone_in(b.seconds, a.seconds),
        side_by_side(a.percentiles, b.percentiles),
    )


def _alone_in(one: Mapping[Key, float], other: Mapping[Key, float]) -> dict[Key, float]:
    """Give what has no partner; where there is none at all, nothing is known of partners."""
    return {key: time_s for key, time_s in one.items() if key not in other} if other else {}


def _called(times: Times, case: str) -> Times:
    """Give the times of a single case another name for it."""

    def again(of: Mapping[Key, Any]) -> dict[Key, Any]:
        return {(case, process, operation): value for (_, process, operation), value in of.items()}

    totals = dict.fromkeys([case], next(iter(times.totals_s.values())))
    percentiles = {(case, *key[1:]): of for key, of in times.percentiles.items()}
    return Times(again(times.seconds), totals, again(times.paths), again(times.call_bytes), percentiles)


MOST_NAMED: Final = 5
"""Of operations that one output has alone, so many are named."""


def _sentences(pair: Pair, a: str, b: str) -> Iterator[str]:
    what = pair.a if pair.a == pair.b else f"{pair.b} against {pair.a}"
    a_s, b_s = (sum(getattr(total, side) for total in pair.totals) for side in ("a_s", "b_s"))
    by = f" ({100 * (b_s / a_s - 1):+.1f} %)" if a_s > 0 else ""
    cases = "" if len(pair.totals) < 2 else f" of {counted(pair.totals, 'case')}"
    yield f"{what}: the total time{cases} is {a_s:.4g} s in {a} and {b_s:.4g} s in {b}{by}."
    for side, only in ((a, pair.only_a), (b, pair.only_b)):
        # What is shorter has no row in a validation either.
        if long := [key for key, time_s in only.items() if time_s >= LEAST_S]:
            named = ", ".join(" ".join(filter(None, key)) for key in long[:MOST_NAMED])
            more = ", ..." if len(long) > MOST_NAMED else ""
            alone = f"{counted(long, 'operation')} in {side} alone: {named}{more}"
            yield f"{what}: {alone}. The total of {side} has that in it."


def longest(operations: Sequence[Difference], most: int | None) -> list[Difference]:
    """Choose those that differ most, and leave them in their order."""
    chosen = sorted(range(len(operations)), key=lambda at: abs(operations[at].difference_s), reverse=True)[
        :most
    ]
    return [operations[at] for at in sorted(chosen)]
