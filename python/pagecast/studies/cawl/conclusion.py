"""Sums the study up in three sentences."""

from collections.abc import Iterator

from pagecast.comparison.rows import judged, main_model
from pagecast.studies.cawl.outcome import CawlOutcome
from pagecast.studies.cawl.results import all_rows, errors_of
from pagecast.studies.cawl.rows import CAWL
from pagecast.studies.cawl.series import all_series

__all__ = ["conclusion"]


def conclusion(outcome: CawlOutcome) -> tuple[str, ...]:
    """Say how far the model is from the measured writes, and how far CAWL and the rivals are."""
    rows = all_rows(outcome, "buffered")
    if not rows:
        return ()
    errors = errors_of(rows)
    model = main_model(outcome.models)
    unit = "a write" if outcome.is_full else "the mean of 5 or 25 writes in a row"
    count = len({row.case for row in rows})
    sentences = [
        f"Over {count} buffered series, {model} errs by {_percent(errors[model][0])} on {unit} and by "
        f"{_percent(errors[model][1])} on the total time of a series; the authors' CAWL by "
        f"{_percent(errors[CAWL][0])} and {_percent(errors[CAWL][1])}."
    ]
    without = [row for row in judged(rows) if row.model == model]
    if 0 < len(without) < sum(row.model == model for row in rows):
        mean, total = errors_of(without)[model]
        sentences.append(
            f"Without the series that the machines were calibrated on it is {_percent(mean)} and "
            f"{_percent(total)}."
        )
    others = {
        name: f"{name} has {_percent(errors[name][0])} and {_percent(errors[name][1])}"
        for name in outcome.models
        if name != model
    }
    if "cawl" in others:
        sentences.append(f"As the paper has it, {others.pop('cawl')}.")
    if others:
        sentences.append(f"Of the rivals, {'; '.join(others.values())}.")
    return (*sentences, *_repeated(outcome))


def _repeated(outcome: CawlOutcome) -> Iterator[str]:
    """Give the distance of the model `cawl` from its authors' predictions."""
    main = [each for each in outcome.deviations if all_series()[each.series].experiment == "buffered"]
    if not main:
        return
    program = max(each.program for each in main)
    agreeing = max(each.where_agreeing for each in main if each.where_agreeing is not None)
    yield (
        f"The authors' predictions are repeated to {_percent(agreeing)} where paper and released program "
        f"agree, and to {_percent(program)} with the options of the program (means of the worst series)."
    )


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"
