"""Cached bytes of each file: after each operation where the scenario asks for it, and at the end."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pagecast.comparison.levels import CachedBytes, looks_at_files
from pagecast.validation.room import ALL, Room

if TYPE_CHECKING:
    from pagecast.result import Result
    from pagecast.running import Measured

__all__ = ["CachedFile", "cached_files"]


@dataclass(frozen=True, slots=True)
class CachedFile(CachedBytes):
    """Cached bytes of a file in one repetition, found and forecast.

    `process` and `index` say after which operation; "" and -1 stand for the end.
    """

    case: str
    repetition: int
    process: str
    index: int
    path: str
    model: str
    measured_bytes: int
    forecast_bytes: int
    memory_bytes: float


def cached_files(
    case: str, repetition: int, measured: "Measured", forecast: "Result", room: Room = ALL
) -> Iterator[CachedFile]:
    """Put the cached bytes of each file beside their forecast; nothing if the model does not know.

    Deviations are shares of the memory that there is: of the machine, or of the memory cgroup of the run.
    """
    from pagecast.result import is_modelled

    if not is_modelled(forecast.model, "cached"):
        return
    memory = min(room.memory_bytes, float(measured.samples["mem_total_bytes"][0]))
    expected = looks_at_files(forecast)
    for (process, index, path), found in looks_at_files(measured).items():
        if (process, index, path) in expected:
            yield CachedFile(
                case, repetition, process, index, path, forecast.model,
                found, expected[process, index, path], memory,
            )  # fmt: skip
