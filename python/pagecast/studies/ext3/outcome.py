"""The outcome of the study."""

from dataclasses import dataclass

from pagecast.comparison import outcome
from pagecast.comparison.shapes import Shape, shapes_json
from pagecast.studies.ext3.published import Figure
from pagecast.studies.ext3.shapes import Rates

__all__ = ["Ext3Outcome", "Reported"]


@dataclass(frozen=True)
class Reported:
    """The forecast of a row by one model. That of a trace is shown only: its requests are ours."""

    figure: Figure
    model: str
    forecast_kib_per_s: float

    @property
    def error(self) -> float:
        """Signed error of the throughput, as the dissertation has it."""
        return self.forecast_kib_per_s / self.figure.measured_kib_per_s - 1


@dataclass(frozen=True, kw_only=True)
class Ext3Outcome(outcome.Outcome):
    """Outcome; parts that were not asked for are empty."""

    experiments: tuple[str, ...]
    machine: str
    tables: tuple[Reported, ...]
    shapes: tuple[Shape, ...]
    curves: dict[str, Rates]

    def beside_times(self) -> dict[str, object]:
        """Give all rows of the tables with the author's model, the curves and their judgement."""
        return {
            "tables": [
                {
                    "table": one.figure.table,
                    "mode": one.figure.mode,
                    "load": one.figure.load,
                    "operation": one.figure.operation,
                    "model": one.model,
                    "measured_kib_per_s": one.figure.measured_kib_per_s,
                    "author_kib_per_s": one.figure.author_kib_per_s,
                    "forecast_kib_per_s": one.forecast_kib_per_s,
                    "error": one.error,
                    "author_error": one.figure.author_error,
                    "fixes": one.figure.fixes or None,
                }
                for one in self.tables
            ],
            "shapes": shapes_json(self.shapes),
            "curves": [
                {
                    "curve": name,
                    "file_kib": file,
                    "block_kib": block,
                    **{f"{way}_kib_per_s": rate for way, rate in one.items()},
                }
                for name, rates in self.curves.items()
                for (file, block), one in rates.items()
            ],
        }
