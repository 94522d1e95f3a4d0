"""What the page draws after a change: series, spans, distributions and tables of each model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from pagecast.plot.style import PART_COLOURS, model_colour
from pagecast.studio.latencies import latencies
from pagecast.studio.tables import makespans, slowest
from pagecast.studio.timeline import throttled, timeline

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["answer"]

_MOST_PROCESSES: Final = 15
_DASHES: Final = ((), (3, 3), (9, 4), (2, 2, 8, 2))


def answer(results: "Sequence[Result]", host: str | None) -> dict[str, Any]:
    """Put together what the page draws.

    Parameters
    ----------
    results : sequence of Result
        The first one is drawn, the others are compared with it.
    host : str or None
        Whose memory is drawn; the first one if not given.

    Returns
    -------
    dict
        For JSON: `timeline`, `throttled`, `slowest`, `models` and `makespans`.
    """
    main = results[0]
    drawn = timeline(main, host)
    return {
        "timeline": drawn,
        "throttled": throttled(main, drawn["host"]) | {"colour": PART_COLOURS["throttled"]},
        "slowest": slowest(main),
        "models": [
            {
                "model": result.model,
                "colour": model_colour(result.model),
                "dash": _DASHES[min(place, len(_DASHES) - 1)],
                "end_s": result.end_s,
                "operations": int(result.latency["count"].sum()),
                "latency": latencies(result),
            }
            for place, result in enumerate(results)
        ],
        "makespans": _makespans(results),
    }


def _makespans(results: "Sequence[Result]") -> dict[str, Any]:
    found = [makespans(result) for result in results]
    longest = sorted(found[0], key=lambda name: -found[0][name][1])
    return {
        "rows": [
            {
                "process": name,
                "count": found[0][name][0],
                "seconds": [of[name][1] if name in of else None for of in found],
            }
            for name in longest[:_MOST_PROCESSES]
        ],
        "left_out": max(len(longest) - _MOST_PROCESSES, 0),
    }
