"""What came out, in three sentences."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pagecast.studies.comparison import Row, judged, main_model, summarise
from pagecast.studies.wrench_cache.experiments import MEASURED_MACHINE
from pagecast.studies.wrench_cache.published import REPEATED_BY, deviations, published_rows

if TYPE_CHECKING:
    from pagecast.studies.wrench_cache.study import WrenchCacheOutcome

__all__ = ["conclusion"]


def conclusion(outcome: "WrenchCacheOutcome") -> tuple[str, str, str]:
    """Say how closely published outputs are repeated, how far from the cluster that is, and what rivals have.

    Parameters
    ----------
    outcome : WrenchCacheOutcome

    Returns
    -------
    tuple of str
        A sentence each.
    """
    model = main_model(outcome.models)
    return _repeated(outcome, model), _against_the_cluster(outcome, model), _rivals(outcome, model)


def _repeated(outcome: "WrenchCacheOutcome", model: str) -> str:
    found = [one for one in deviations(outcome.runs, outcome.vintage) if one.model == model]
    if not found:
        return (
            f"{model} was asked on {_machines(outcome)}, for which the authors published nothing to repeat."
        )
    count = sum(one.n for one in found)
    mean = sum(one.mean * one.n for one in found) / count
    far = sum(one.far for one in found)
    return (
        f"On the machine as the authors describe it, {model} repeats their published outputs of "
        f"{found[0].simulator} ({outcome.vintage}) to {100 * mean:.2f} % on average; "
        f"{far} of {count} operations are more than 15 % off."
    )


def _against_the_cluster(outcome: "WrenchCacheOutcome", model: str) -> str:
    rows = _of(model, outcome.rows)
    theirs = published_rows(outcome.experiments, outcome.vintage)
    simulator = next((name for name, ours in REPEATED_BY.items() if ours == model), "")
    text = f"Against the measured cluster its mean absolute error is {_errors(rows)}"
    if len(judged(rows)) < len(rows):
        text += f"; without the measurements that the machine was made from, {_errors(judged(rows))}"
    if published := _of(simulator, theirs):
        text += f"; that of the published {simulator} is {_errors(published)}"
    return text + "."


def _rivals(outcome: "WrenchCacheOutcome", model: str) -> str:
    said = [f"{name} has {_errors(_of(name, outcome.rows))}" for name in outcome.models if name != model]
    text = "; ".join([f"Of the rivals, {said[0]}", *said[1:]] if said else ["No rival was asked"])
    if MEASURED_MACHINE in outcome.machines:
        return f"{text}; all on {_machines(outcome)}."
    return f"{text}; --machine {MEASURED_MACHINE} asks the same of the machine as it was measured."


def _machines(outcome: "WrenchCacheOutcome") -> str:
    return ", ".join(outcome.machines)


def _of(model: str, rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.model == model]


def _errors(rows: Iterable[Row]) -> str:
    """Give the mean error in each experiment, "31.5 % in Exp 1 and 47.1 % in Exp 4"."""
    *first, last = [f"{100 * one.mean_abs_error:.1f} % in Exp {one.experiment}" for one in summarise(rows)]
    return f"{', '.join(first)} and {last}" if first else last
