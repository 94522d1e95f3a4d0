"""The outcome of the study."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pagecast.comparison import outcome
from pagecast.comparison.shapes import Shape, shapes_json
from pagecast.studies.pvfs.plan import Forecasts

__all__ = ["PvfsOutcome"]


@dataclass(frozen=True, kw_only=True)
class PvfsOutcome(outcome.Outcome):
    """Outcome; `forecasts` has the experiments that were asked for, by name; `net_forecasts` those of nets.

    What was not asked for is empty.
    """

    experiments: tuple[str, ...]
    machine: str
    forecasts: Mapping[str, Forecasts]
    shapes: tuple[Shape, ...]
    net_forecasts: Mapping[str, Forecasts]
    net_shapes: tuple[Shape, ...]

    def beside_times(self) -> dict[str, object]:
        """Give the forecasts and their judgement."""
        return {
            "shapes": shapes_json(self.shapes),
            "points": _points(self.forecasts),
            "petri_shapes": shapes_json(self.net_shapes),
            "petri_points": _points(self.net_forecasts),
        }


def _points(found: Mapping[str, Forecasts]) -> list[dict[str, object]]:
    return [
        {"experiment": experiment, **asdict(point), "client": client}
        | {f"{way}_kib_per_s": each[client] for way, each in rates.items()}
        for experiment, forecasts in found.items()
        for point, rates in forecasts.items()
        for client in range(point.clients)
    ]
