"""Full recordings, read from the folder that ``--data`` names: the time of every single write."""

from collections import defaultdict
from pathlib import Path
from typing import Final

from pagecast.errors import StudyError
from pagecast.studies.cawl.series import Point, all_series
from pagecast.studies.recorded import needed, records

__all__ = ["MEASUREMENTS", "points"]

MEASUREMENTS: Final = "measurements"


def points(folder: Path) -> dict[str, tuple[Point, ...]]:
    """Read the time of each write.

    Returns
    -------
    dict
        By series, in time order. Series that are not in the recordings are missing.

    Raises
    ------
    StudyError
        The recording is not there, is malformed, or has a series that this study does not know.
    """
    path = needed(folder, MEASUREMENTS)
    found: dict[str, list[Point]] = defaultdict(list)
    for name, point in records(path, _point):
        found[name].append(point)
    for name, of_series in found.items():
        _check(path, name, of_series)
    return {name: tuple(found[name]) for name in all_series() if name in found}


def _point(row: dict[str, str]) -> tuple[str, Point]:
    number = int(row["index"]) + 1
    return row["series_id"], Point(number, number, float(row["measured_s"]), float(row["cawl_model_s"]))


def _check(path: Path, name: str, of_series: list[Point]) -> None:
    if name not in all_series():
        raise StudyError(f"{path}: series {name!r} is none of this study's; they are in its series.csv")
    if [point.first for point in of_series] != list(range(1, all_series()[name].writes + 1)):
        raise StudyError(
            f"{path}: series {name} has not the writes 1 to {all_series()[name].writes} in their order"
        )
