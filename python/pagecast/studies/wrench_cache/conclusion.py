"""Sums the study up in two or three sentences."""

from collections.abc import Iterable

from pagecast.comparison.rows import Row, judged, main_model, summarise
from pagecast.studies.wrench_cache.experiments import MEASURED_MACHINE
from pagecast.studies.wrench_cache.memory import Levels
from pagecast.studies.wrench_cache.outcome import WrenchCacheOutcome
from pagecast.studies.wrench_cache.published import REPEATED_BY, deviations, published_rows
from pagecast.studies.wrench_cache.tables import long_writes

__all__ = ["conclusion"]


def conclusion(outcome: WrenchCacheOutcome) -> tuple[str, ...]:
    """Say how far the main model is from the cluster, how far the others are, and how closely they repeat."""
    model = main_model(outcome.models)
    sentences = (
        _against_the_cluster(outcome, model),
        _beside_times(outcome, model),
        _others(outcome, model),
        _repeated(outcome),
    )
    return tuple(sentence for sentence in sentences if sentence)


def _against_the_cluster(outcome: WrenchCacheOutcome, model: str) -> str:
    rows = _of(model, outcome.rows)
    text = (
        f"On {outcome.machine_of(model)} the mean absolute error of {model} against the measured cluster is "
        f"{_errors(rows)}"
    )
    if 0 < len(judged(rows)) < len(rows):
        without = _errors(judged(rows))
        said = "the same" if without == _errors(rows) else without
        text += f"; without the measurements that the machine was made from, {said}"
    simulator = next((name for name, ours in REPEATED_BY.items() if ours == model), "")
    if published := _of(simulator, published_rows(outcome.experiments, outcome.vintage)):
        text += f"; that of the published {simulator} is {_errors(published)}"
    return text + "."


def _beside_times(outcome: WrenchCacheOutcome, model: str) -> str:
    """Give the other results of the main model: memory, files, long writes, the producing rate."""
    parts = []
    if levels := [one for one in outcome.memory if one.model == model]:
        dirty, cached = Levels.within(levels)
        parts.append(
            f"in Exp 1 dirty memory is within 10 % of the limit at {100 * dirty:.1f} % of the moments, "
            f"cached within 5 % of the memory at {100 * cached:.1f} %"
        )
    if files := [one for one in outcome.cached_files if one.model == model]:
        within = sum(one.is_within for one in files)
        parts.append(f"{within} of {len(files)} amounts cached of a file are within 5 % of the memory")
    if runs := [run for run in outcome.with_long_writes() if run.model == model]:
        away = max(abs(run.long_writes - long_writes()[run.case]) for run in runs)
        parts.append(f"in Exp 2 the share of writes over 5 s is at most {away:.2f} off")
    if producing := [one for one in outcome.producing if one.run.model == model]:
        error = 100 * producing[0].mean_abs_error
        parts.append(
            f"with the producing rate of step 1 the error in the other steps of Exp 4 is {error:.1f} %"
        )
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _others(outcome: WrenchCacheOutcome, model: str) -> str:
    """Give the results of the other models, machine by machine: errors on two machines are no comparison."""
    parts = []
    for machine in outcome.machines:
        asked = [name for name in outcome.models if name != model and outcome.machine_of(name) == machine]
        said = [f"{name} has {_errors(_of(name, outcome.rows))}" for name in asked]
        parts += [f"on {machine}, {'; '.join(said)}"] if said else []
    text = "; ".join(parts) if parts else "no other model was asked"
    if any(outcome.machine_of(name) != MEASURED_MACHINE for name in outcome.models):
        text += f"; --machine {MEASURED_MACHINE} asks all of them of the machine as it was measured"
    return f"{text[0].upper()}{text[1:]}."


def _repeated(outcome: WrenchCacheOutcome) -> str:
    """Say how closely the first of the models that others have published repeats their outputs."""
    found = deviations(outcome.runs, outcome.vintage)
    first = next((name for name in outcome.models if any(one.model == name for one in found)), None)
    of = [one for one in found if one.model == first]
    if not of:
        return ""
    count = sum(one.n for one in of)
    mean = sum(one.mean * one.n for one in of) / count
    return (
        f"On the machine as the authors describe it, {first} repeats their published outputs of "
        f"{of[0].simulator} ({outcome.vintage}) to {100 * mean:.2f} % on average; "
        f"{sum(one.far for one in of)} of {count} operations are more than 15 % off."
    )


def _of(model: str, rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.model == model]


def _errors(rows: Iterable[Row]) -> str:
    """Give the mean error in each experiment, "31.5 % in Exp 1 and 47.1 % in Exp 4"."""
    *first, last = [f"{100 * one.mean_abs_error:.1f} % in Exp {one.experiment}" for one in summarise(rows)]
    return f"{', '.join(first)} and {last}" if first else last
