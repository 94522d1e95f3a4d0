"""Says how many recorded cases are close in all."""

from collections.abc import Iterable

from pagecast.comparison.rows import Row

__all__ = ["totals_sentence"]


def totals_sentence(rows: Iterable[Row], model: str, tolerance: float) -> str:
    """Say how many cases a model forecasts within a tolerance, all repetitions together; name the worst."""
    cases: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.model == model:
            cases.setdefault((row.experiment, row.case), []).append(row)
    errors = {
        key: sum(row.forecast_s for row in of) / sum(row.measured_s for row in of) - 1
        for key, of in cases.items()
    }
    if not errors:
        return f"No judged case was forecast under {model}."
    close = sum(abs(error) <= tolerance for error in errors.values())
    (platform, case), worst = max(errors.items(), key=lambda item: abs(item[1]))
    return (
        f"{model} forecasts the total time of {close} of {len(errors)} judged cases within "
        f"{100 * tolerance:.0f} %; the worst is {case} on {platform} with {100 * worst:+.0f} %."
    )
