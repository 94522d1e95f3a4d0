"""Rows of this study: a forecast for a measured point, of any origin."""

from pagecast.comparison.rows import Row
from pagecast.studies.wrench_cache.experiments import CALIBRATION, EXPERIMENTS
from pagecast.studies.wrench_cache.tables import Key, measured

__all__ = ["row"]


def row(
    key: Key,
    *,
    model: str,
    machine: str,
    forecast_s: float,
    forecast_range_s: tuple[float, float] | None = None,
) -> Row:
    """Hold a forecast against the measured time of the same experiment, case and operation."""
    experiment, case, operation = key
    prefix = EXPERIMENTS[experiment].process
    return Row(
        experiment,
        case,
        repetition=1 if prefix else None,
        process=f"{prefix}{operation.split()[1]}" if prefix else None,
        operation=operation,
        model=model,
        machine=machine,
        role="calibration" if key in CALIBRATION.get(machine, ()) else "judged",
        measured_s=measured()[key].mean_s,
        forecast_s=forecast_s,
        forecast_range_s=forecast_range_s,
    )
