"""Searches settings: each knob alone, those that matter together, then without what the best does not need.

The joint search is differential evolution (Storn and Price 1997, as `scipy.optimize` has it) over the numbers
of settings. The points depend on the seed and the budget alone, not on the number of workers.
"""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pagecast.advice.knob import Knob, Setting
from pagecast.measures import Measure, Want
from pagecast.progress import Progress, teller
from pagecast.sweeps.local import run_here
from pagecast.sweeps.point import Outcome, Task

__all__ = ["Advice", "Suggestion", "search"]

Choice = tuple[int, ...]
"""The setting of each knob, from 1; 0 leaves it as it is."""

_SAME = 0.01
"""A knob that changes no wish by more than this has no effect here."""

_FAILED = 1e6
_PRUNING = 0.1
"""Share of the budget that is kept for leaving settings out again."""

_POPULATION = 12
_MISSED = 0.01
"""Penalty of each want that is not fulfilled, beside its excess over the limit."""

_HALF_COST = 10.0
"""A cost with half of that penalty; no cost reaches all of it, so that no want is given up."""


@dataclass(frozen=True)
class Suggestion:
    """Settings, and what they give.

    Attributes
    ----------
    settings : tuple of Setting
        Empty for the scenario as it is.
    values : tuple of float or None
        One for each want, in the unit of its measure.
    is_met : tuple of bool
        Whether each want is fulfilled.
    makespans : dict of str to float
        Of each process, as a multiple of that without the settings.
    at_risk_bytes : int or None
        The most that a power cut would lose.
    penalty : float
        Sum of the excess over all limits, and a small part for what the settings cost.
    ranges : tuple of tuple of float or None
        With ``uncertain=N`` the 90 % range of each value; None where half of the draws cannot go on.
    """

    settings: tuple[Setting, ...]
    values: tuple[float | None, ...]
    is_met: tuple[bool, ...]
    makespans: dict[str, float]
    at_risk_bytes: int | None
    penalty: float
    ranges: tuple[tuple[float, float] | None, ...] = ()

    @property
    def overrides(self) -> tuple[str, ...]:
        """Those of all settings, as for ``--set``."""
        return tuple(text for setting in self.settings for text in setting.overrides)


@dataclass(frozen=True)
class Advice:
    """The suggestions of a search, and the settings that it tried.

    Attributes
    ----------
    wants : tuple of Want
    present : Suggestion
        Without any setting.
    suggestions : tuple of Suggestion
        The best first; those that fulfil all wants before others.
    alone : tuple of tuple of str, Setting and tuple of float or None
        Each setting that was tried alone: its knob, and the value of each want.
    without_effect : tuple of str
        Knobs that change no want by 1 %.
    failures : dict of str to str
        Settings that cannot be, and why.
    simulations : int
    is_stopped : bool
        Whether it was interrupted.
    not_tried : tuple of str
        Knobs that the scenario leaves no way to try, and why.
    draws : int
        Behind each range; 0 where none was drawn.
    """

    wants: tuple[Want, ...]
    present: Suggestion
    suggestions: tuple[Suggestion, ...]
    alone: tuple[tuple[str, Setting, tuple[float | None, ...]], ...]
    without_effect: tuple[str, ...]
    failures: dict[str, str]
    simulations: int
    is_stopped: bool = False
    not_tried: tuple[str, ...] = ()
    draws: int = 0

    @property
    def is_met(self) -> bool:
        """Whether some suggestion, or the scenario as it is, fulfils all wants."""
        return all(self.present.is_met) or any(all(each.is_met) for each in self.suggestions)


class _SpentError(Exception):
    """The budget is used up."""


@dataclass
class _Search:
    """The points that have been simulated."""

    task: Task
    wants: Sequence[Want]
    knobs: Sequence[Knob]
    budget: int
    workers: int | None
    tell: Progress
    known: dict[Choice, Outcome] = field(default_factory=dict)
    limit: int = 0

    def simulate(self, choices: Iterable[Choice], what: str) -> None:
        """Simulate points that are not known yet, as many as the budget lets."""
        todo = [choice for choice in dict.fromkeys(choices) if choice not in self.known]
        room = self.limit - len(self.known)
        points = [(number, self.overrides(choice)) for number, choice in enumerate(todo[:room])]
        for number, outcome in run_here(self.task, points, workers=self.workers) if points else ():
            self.known[todo[number]] = outcome
            self.tell(
                len(self.known) / self.budget, f"{what}: {len(self.known):,} of {self.budget:,} simulations"
            )
        if len(todo) > room:
            raise _SpentError

    def overrides(self, choice: Choice) -> tuple[str, ...]:
        return tuple(text for setting in self.settings(choice) for text in setting.overrides)

    def settings(self, choice: Choice) -> tuple[Setting, ...]:
        return tuple(knob.settings[at - 1] for knob, at in zip(self.knobs, choice, strict=True) if at)

    def values(self, choice: Choice) -> dict[str, Any] | None:
        outcome = self.known[choice]
        if outcome.error:
            return None
        return {of.name: value for of, value in zip(self.task.measures, outcome.values, strict=True)}

    def wanted(self, choice: Choice) -> tuple[float | None, ...]:
        values = self.values(choice)
        return tuple(None if values is None else values[want.measure.name] for want in self.wants)

    @property
    def nothing(self) -> Choice:
        return (0,) * len(self.knobs)

    def has_effect(self, choice: Choice) -> bool:
        pairs = zip(self.wanted(self.nothing), self.wanted(choice), strict=True)
        return any(
            after is not None and (before is None or abs(after - before) > _SAME * max(abs(before), 1e-12))
            for before, after in pairs
        )

    def suggestion(self, choice: Choice) -> Suggestion:
        """Judge a point that did not fail."""
        values, present = self.values(choice), self.values(self.nothing)
        assert values is not None, "points that failed are no suggestions"
        assert present is not None, "the scenario as it is did not fail"
        wanted = self.wanted(choice)
        limits = self.wanted(self.nothing)
        rows = list(zip(self.wants, wanted, limits, strict=True))
        makespans = {
            of.operations.process: values[of.name] / present[of.name]
            for of in self.task.measures
            if of.function == "makespan" and of.operations is not None and present[of.name]
        }
        excess = sum(max(want.excess(value, base), 0.0) for want, value, base in rows)
        slower = sum(max(factor - 1, 0.0) for factor in makespans.values())
        at_risk, at_risk_now = values.get("at_risk_bytes"), present.get("at_risk_bytes")
        risk = at_risk / at_risk_now if at_risk is not None and at_risk_now else 0.0
        effort = sum(knob.effort for knob, at in zip(self.knobs, choice, strict=True) if at)
        is_met = tuple(want.holds(value, base) for want, value, base in rows)
        cost = effort + slower + risk
        return Suggestion(
            self.settings(choice),
            wanted,
            is_met,
            makespans,
            at_risk,
            min(excess, _FAILED) + _MISSED * (len(is_met) - sum(is_met) + cost / (cost + _HALF_COST)),
        )

    def penalty(self, choice: Choice) -> float:
        if self.known[choice].error:
            return _FAILED
        return self.suggestion(choice).penalty


def search(
    task: Task,
    wants: Sequence[Want],
    knobs: Sequence[Knob],
    *,
    baseline: Outcome,
    budget: int,
    seed: int,
    workers: int | None = None,
    progress: Progress | None = None,
    most: int = 5,
) -> Advice:
    """Search settings that fulfil wants.

    Parameters
    ----------
    task : Task
        Its measures have those of the wants, and makespans and ``at_risk`` as costs.
    wants : sequence of Want
    knobs : sequence of Knob
    baseline : Outcome
        Of the scenario as it is; it did not fail.
    budget : int
        Simulations at most.
    seed : int
        Of the search.
    workers : int, optional
        As for `pagecast.sweeps.local.run_here`.
    progress : callable, optional
    most : int
        Suggestions at most.

    Returns
    -------
    Advice
    """
    state = _Search(task, wants, knobs, budget, workers, teller(progress))
    state.known[state.nothing] = baseline
    state.limit = budget - round(_PRUNING * budget)
    is_stopped = False
    tried: set[int] = set()
    try:
        try:
            _one_at_a_time(state, tried)
            _jointly(state, seed)
        except _SpentError:
            pass
        state.limit = budget
        with contextlib.suppress(_SpentError):
            _prune(state)
    except KeyboardInterrupt:
        is_stopped = True
    return _advice(state, tried, most, is_stopped=is_stopped)


def _single(state: _Search, knob: int, at: int) -> Choice:
    choice = [*state.nothing]
    choice[knob] = at
    return tuple(choice)


def _one_at_a_time(state: _Search, tried: set[int]) -> None:
    """Try the ends of each knob, then what lies between for those that have an effect."""
    ends = {
        number: {1, len(knob.settings)} if knob.is_ordered else set(range(1, len(knob.settings) + 1))
        for number, knob in enumerate(state.knobs)
    }
    for number, numbers in ends.items():
        state.simulate([_single(state, number, at) for at in sorted(numbers)], "each knob alone")
        tried.add(number)
    state.simulate(
        [
            _single(state, number, at)
            for number in _mattering(state)
            for at in range(1, len(state.knobs[number].settings) + 1)
        ],
        "each knob alone",
    )


def _mattering(state: _Search) -> list[int]:
    return [
        number
        for number, knob in enumerate(state.knobs)
        if any(
            (choice := _single(state, number, at)) in state.known and state.has_effect(choice)
            for at in range(1, len(knob.settings) + 1)
        )
    ]


def _jointly(state: _Search, seed: int) -> None:
    """Search the knobs that have an effect together, until the budget is used up."""
    from scipy.optimize import differential_evolution

    numbers = _mattering(state)
    if len(numbers) < 2:
        return
    sizes = [len(state.knobs[number].settings) for number in numbers]

    def choice_of(column: Any) -> Choice:
        choice = [*state.nothing]
        for number, at in zip(numbers, column, strict=True):
            choice[number] = round(float(at))
        return tuple(choice)

    def penalties(columns: Any) -> Any:
        choices = [choice_of(column) for column in np.atleast_2d(columns.T)]
        state.simulate(choices, "together")
        return np.array([state.penalty(choice) for choice in choices])

    differential_evolution(
        penalties,
        [(0, size) for size in sizes],
        init=_first_population(state, numbers, sizes, seed),
        integrality=np.ones(len(numbers), dtype=bool),
        maxiter=10_000,
        rng=np.random.default_rng(seed),
        polish=False,
        tol=0,
        vectorized=True,
        updating="deferred",
        callback=_until(state),
    )


def _until(state: _Search) -> Any:
    """Stop when several generations in a row have brought no point that is not known."""
    seen = [len(state.known)]

    def callback(intermediate_result: Any) -> bool:
        seen.append(len(state.known))
        return len(seen) > 5 and seen[-1] == seen[-5]

    return callback


def _first_population(state: _Search, numbers: list[int], sizes: list[int], seed: int) -> Any:
    """Give the best setting of each knob alone, pairs of these, and random points."""
    best: list[tuple[float, int, int]] = []
    for at, number in enumerate(numbers):
        singles = [
            (state.penalty(one), k)
            for k in range(1, sizes[at] + 1)
            if (one := _single(state, number, k)) in state.known
        ]
        penalty, setting = min(singles)
        best.append((penalty, at, setting))
    best.sort()
    population = []
    for first in range(len(best)):
        for second in range(first, len(best)):
            point = [0] * len(numbers)
            for _, at, setting in (best[first], best[second]):
                point[at] = setting
            population.append(point)
    population = population[:_POPULATION]
    rng = np.random.default_rng([seed, 1])
    while len(population) < _POPULATION + 4:
        population.append([int(rng.integers(0, size + 1)) if rng.random() < 0.4 else 0 for size in sizes])
    return np.array(population, dtype=float)


def _prune(state: _Search) -> None:
    """Leave out, one by one, the settings that the best points do not need."""
    in_files = _best_in_files(state)
    for best in [*_ranked(state)[:3], *([in_files] if in_files is not None else [])]:
        choice = best
        while sum(at > 0 for at in choice) > 1:
            without = [
                tuple(0 if k == number else at for k, at in enumerate(choice))
                for number, chosen in enumerate(choice)
                if chosen
            ]
            state.simulate(without, "what is not needed")
            better = min(without, key=state.penalty)
            if state.penalty(better) > state.penalty(choice):
                break
            choice = better


def _ranked(state: _Search) -> list[Choice]:
    """Give the points with an effect, the best first."""
    fine = [
        choice for choice, outcome in state.known.items() if not outcome.error and state.has_effect(choice)
    ]
    return sorted(fine, key=lambda choice: (state.penalty(choice), choice))


def _chosen(state: _Search, most: int) -> list[Choice]:
    """Choose what is told: all that fulfil the wants, else the closest; and the best that files alone set."""
    ranked = _ranked(state)
    met = [choice for choice in ranked if all(state.suggestion(choice).is_met)]
    chosen: list[Choice] = []
    for choice in met or ranked:
        # Another value of the same knobs, or more knobs than a better one needs, is no other advice.
        if len(chosen) < most and not any(_changed(better) <= _changed(choice) for better in chosen):
            chosen.append(choice)
    in_files = _best_in_files(state)
    return chosen if in_files is None or in_files in chosen else [*chosen[: most - 1], in_files]


def _best_in_files(state: _Search) -> Choice | None:
    """Find the best point whose settings are lines of files alone: no program and no hardware changes."""
    return next(
        (
            choice
            for choice in _ranked(state)
            if all(line.file for setting in state.settings(choice) for line in setting.lines)
        ),
        None,
    )


def _changed(choice: Choice) -> set[int]:
    return {number for number, at in enumerate(choice) if at}


def _advice(state: _Search, tried: set[int], most: int, *, is_stopped: bool) -> Advice:
    present = state.suggestion(state.nothing)
    better_ones = [
        each for each in map(state.suggestion, _chosen(state, most)) if each.penalty < present.penalty
    ]
    alone = []
    failures = {}
    for number, knob in enumerate(state.knobs):
        for at, setting in enumerate(knob.settings, 1):
            outcome = state.known.get(_single(state, number, at))
            if outcome is not None and outcome.error:
                failures[setting.text] = outcome.error
            elif outcome is not None:
                alone.append((knob.name, setting, state.wanted(_single(state, number, at))))
    mattering = set(_mattering(state))
    is_refused = {
        number
        for number, knob in enumerate(state.knobs)
        if all(setting.text in failures for setting in knob.settings)
    }
    return Advice(
        tuple(state.wants),
        present,
        tuple(better_ones),
        tuple(alone),
        tuple(state.knobs[number].name for number in sorted(tried - mattering - is_refused)),
        failures,
        len(state.known),
        is_stopped,
    )


def measures_of(wants: Sequence[Want], costs: Sequence[Measure]) -> tuple[Measure, ...]:
    """Give the measures of wants and of costs, each once."""
    return tuple({of.name: of for of in [*(want.measure for want in wants), *costs]}.values())
