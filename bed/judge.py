"""``python -m bed judge``: does a report of recordings hold? For scripts that stop if it does not."""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bed.packages import BedError

__all__ = ["act", "errors"]


def errors(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Give the signed error of the total time of each judged case under `kernel`, over its repetitions.

    Parameters
    ----------
    rows : iterable of mapping
        Those of ``results.json``.
    """
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        if (row["model"], row["operation"], row["role"]) == ("kernel", "total", "judged"):
            sums[row["case"]][0] += row["measured_s"]
            sums[row["case"]][1] += row["forecast_s"]
    return {case: forecast_s / measured_s - 1 for case, (measured_s, forecast_s) in sums.items()}


def act(words: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bed judge",
        description="Say how far off the total time of each case is in a report of "
        "`pagecast reproduce live-kernel`; ends with 1 if one is further off than allowed.",
    )
    parser.add_argument("report", type=Path, metavar="REPORT", help="the folder that --out named")
    parser.add_argument("--within", type=float, default=10.0, metavar="PERCENT")
    options = parser.parse_args(words)
    results = options.report / "results.json"
    try:
        found = errors(json.loads(results.read_text())["rows"])
    except (OSError, ValueError, KeyError) as error:
        raise BedError(f"{results}: no report of `pagecast reproduce live-kernel` ({error!r})") from error
    if not found:
        raise BedError(f"{results}: no case is judged in it; record one beside m_memory")
    for case, off in found.items():
        print(f"{case}: {100 * off:+.1f} %")
    if far := [case for case, off in found.items() if abs(off) > options.within / 100]:
        raise BedError(f"further off than {options.within:g} %: {', '.join(far)}")
    return 0
