"""The outcome of the study."""

from dataclasses import dataclass

from pagecast.comparison import outcome
from pagecast.comparison.shapes import Shape, shapes_json
from pagecast.studies.pvfs.shapes import Curve, Curves

__all__ = ["PvfsOutcome"]


@dataclass(frozen=True, kw_only=True)
class PvfsOutcome(outcome.Outcome):
    """Outcome; parts that were not asked for are empty."""

    experiments: tuple[str, ...]
    machine: str
    by_block: Curves
    by_file: Curve
    shapes: tuple[Shape, ...]

    def beside_times(self) -> dict[str, object]:
        """Give the curves and their judgement."""
        return {
            "shapes": shapes_json(self.shapes),
            "by_block": [
                {"clients": clients, "block_kib": block, "client": at, **rates}
                for clients, curve in self.by_block.items()
                for block, one in curve.items()
                for at, rates in enumerate(_each(one))
            ],
            "by_file": [{"file_kib": file, **_each(one)[0]} for file, one in self.by_file.items()],
        }


def _each(rates: dict[str, list[float]]) -> list[dict[str, float]]:
    """Give the rates of each client."""
    clients = len(rates["read"])
    return [{f"{way}_kib_per_s": each[at] for way, each in rates.items()} for at in range(clients)]
