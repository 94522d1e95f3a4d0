"""Cases forecast, run on this machine and compared.

What is done, in this order: every case is checked, and then forecast under every model, before anything is
written, so that a bad one is found at once. Then each is run, several times; and the model `kernel` is asked
again for each run if it is known what the kernel had learnt of the disk before.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pagecast._core import format_bytes, parse_bytes
from pagecast.api import Scenario, simulate
from pagecast.errors import PagecastError, ScenarioError
from pagecast.running import DEFAULT_SAMPLE_HZ, Plan
from pagecast.studies.comparison import RIVALS, main_model
from pagecast.studies.machines import described
from pagecast.validation import comparing
from pagecast.validation.case import Case, Validated
from pagecast.validation.learning import COSTED, learnt_options
from pagecast.validation.levels import ALL, LEVELS, Room, away_from_forecast, away_from_run, sees_files
from pagecast.validation.outcome import Level, Outcome
from pagecast.validation.residency import CachedFile, cached_files

if TYPE_CHECKING:
    from pagecast.result import Result
    from pagecast.running import Measured

__all__ = ["MODELS", "Settings", "Validation", "validate"]

MODELS: Final = ("kernel", *RIVALS)
"""The models that are asked by default."""

RUNS: Final = 3
"""How often a case is run by default."""

Progress = Callable[[float, str], object]
"""Is told the fraction done, 0 to 1, and what comes next."""

OTHER_MEMORY: Final = 0.1
"""A forecast with so much more or less memory than there is, is one of another machine."""

_LEAST_WEIGHT_S: Final = 0.5
"""What a run takes at least, for the progress: its files are made and removed too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How cases are validated.

    Attributes
    ----------
    runs : int
        How often each is run.
    models : tuple of str
    sample_hz : int
        How often to look at the machine, per second.
    trace : bool
        Record the kernel's events of write-back; needs root.
    machine : str
        What rows call the machine; where the scenario comes from if it is empty.
    """

    runs: int = RUNS
    models: tuple[str, ...] = MODELS
    sample_hz: int = DEFAULT_SAMPLE_HZ
    trace: bool = False
    machine: str = ""

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ValueError(f"runs={self.runs}: at least 1 is needed")


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """A run, what the kernel had learnt before, and what each model forecasts."""

    measured: "Measured"
    learnt: dict[str, str]
    forecasts: "dict[str, Result]"


@dataclass(slots=True, eq=False)
class _Doing:
    """A case that is being validated."""

    case: Case
    plan: Plan
    first: "dict[str, Result]" = field(default_factory=dict)
    """Under each model, as if nothing were known of the kernel's state."""
    runs: list[_Run] = field(default_factory=list)

    @property
    def weight_s(self) -> float:
        """How long a run may take."""
        return max(_LEAST_WEIGHT_S, *(result.end_s for result in self.first.values()))

    @property
    def validated(self) -> Validated:
        forecasts = {model: tuple(run.forecasts[model] for run in self.runs) for model in self.first}
        return Validated(self.case, tuple(run.measured for run in self.runs), forecasts)

    @property
    def learnt(self) -> list[dict[str, str]]:
        """What was learnt before each run."""
        return [run.learnt for run in self.runs]


class Validation:
    """Cases on their way: `check`, then `forecast`, then `run`, and at any time `outcome`.

    Parameters
    ----------
    cases : sequence of Case
        At least one; no two have the same name.
    name : str
        Of the suite or scenario.
    settings : Settings
    left_out : sequence of str
        What is not compared anyhow, and why.
    make_plan, simulate : callable
        Like `Plan` and `simulate`; tests put their own in their places.

    Raises
    ------
    PagecastError
        The only case is nothing that one machine can run.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        *,
        name: str,
        settings: Settings,
        left_out: Sequence[str] = (),
        make_plan: Callable[[Scenario], Plan] = Plan,
        simulate: "Callable[..., Result]" = simulate,
    ) -> None:
        self.name = name
        self.settings = settings
        self._simulate = simulate
        self._failures: list[str] = []
        self._left_out = list(left_out)
        self._doing: list[_Doing] = []
        self._room = ALL
        for case in cases:
            try:
                self._doing.append(_Doing(case, make_plan(case.scenario)))
            except PagecastError as error:
                if len(cases) == 1:
                    raise
                self._failures.append(f"{case.name}: {error}")

    @property
    def cases(self) -> tuple[Case, ...]:
        """Those that can be run."""
        return tuple(doing.case for doing in self._doing)

    @property
    def failures(self) -> tuple[str, ...]:
        """Cases that cannot be run or forecast, and why."""
        return tuple(self._failures)

    @property
    def runs_done(self) -> int:
        """How many runs have ended."""
        return sum(len(doing.runs) for doing in self._doing)

    @property
    def written_bytes(self) -> int:
        """What all runs write together."""
        plans = (doing.plan for doing in self._doing)
        return self.settings.runs * sum(plan.prepared_bytes + plan.written_bytes for plan in plans)

    @property
    def space_bytes(self) -> int:
        """What a run takes on the disk at most."""
        return max((doing.plan.space_bytes for doing in self._doing), default=0)

    @property
    def memory_bytes(self) -> int:
        """What the programs of a run hold of memory at most."""
        return max((doing.plan.memory_bytes for doing in self._doing), default=0)

    @property
    def expected_s(self) -> float:
        """How long all runs take by their forecasts, without making the files that they begin with."""
        main = main_model(self.settings.models)
        return self.settings.runs * sum(doing.first[main].end_s for doing in self._doing)

    def check(self, dir: str | os.PathLike[str]) -> dict[str, Any]:
        """Check that cases can be run in a directory; changes nothing.

        Parameters
        ----------
        dir : path-like

        Returns
        -------
        dict
            As of `Plan.check`.

        Raises
        ------
        PagecastError
            No case can be run there.
        """
        place: dict[str, Any] = {}

        def check(doing: _Doing) -> None:
            place.update(doing.plan.check(dir))

        self._try_all(check)
        return place

    def forecast(self, *, progress: Progress | None = None) -> None:
        """Forecast every case under every model; only the one that is judged has to manage it.

        Parameters
        ----------
        progress : callable, optional

        Raises
        ------
        PagecastError
            No case can be forecast.
        """
        main = main_model(self.settings.models)
        tell = progress or (lambda fraction, what: None)
        order, models = list(self._doing), self.settings.models

        def forecast(doing: _Doing) -> None:
            for model in models:
                at = order.index(doing) + models.index(model) / len(models)
                tell(at / len(order), f"forecasting {doing.case.name} by {model}")
                try:
                    doing.first[model] = self._simulate(doing.case.scenario, model=model)
                except PagecastError as error:
                    if model == main:
                        raise
                    self._left_out.append(f"{doing.case.name} under {model}: {error}")

        self._try_all(forecast)

    def _try_all(self, do: Callable[[_Doing], None]) -> None:
        """Do something with each case; go on without those that fail, unless all do."""
        last = None
        for doing in list(self._doing):
            try:
                do(doing)
            except PagecastError as error:
                self._failures.append(f"{doing.case.name}: {error}")
                self._doing.remove(doing)
                last = error
        if last is not None and not self._doing:
            raise last

    def run(self, dir: str | os.PathLike[str], *, progress: Progress | None = None) -> None:
        """Run all cases and forecast each run; what is done stays done if it is interrupted.

        What `forecast` has not done is done first.

        Parameters
        ----------
        dir : path-like
            A directory on the disk to be measured.
        progress : callable, optional

        Raises
        ------
        PagecastError
            The only case cannot be run.
        KeyboardInterrupt
            Ctrl-C was pressed; the folder of the run is removed.
        """
        if not all(doing.first for doing in self._doing):
            self.forecast()
        self._room = Room.here(dir)
        tell = progress or (lambda fraction, what: None)
        whole_s = self.settings.runs * sum(doing.weight_s for doing in self._doing)
        done_s = 0.0
        for doing in self._doing:
            for repetition in range(1, self.settings.runs + 1):
                what = f"{doing.case.name}, run {repetition} of {self.settings.runs}"

                def stage(
                    name: str, done: int, total: int | None, what: str = what, at: float = done_s
                ) -> None:
                    tell(at / whole_s, f"{what}: {name}")

                try:
                    self._run_once(doing, dir, stage)
                except PagecastError as error:
                    if len(self._doing) == 1 and not doing.runs:
                        raise
                    self._failures.append(f"{what}: {error}")
                    break
                finally:
                    done_s += doing.weight_s
        tell(1.0, "")

    def _run_once(
        self, doing: _Doing, dir: str | os.PathLike[str], stage: Callable[[str, int, int | None], object]
    ) -> None:
        settings = self.settings
        measured = doing.plan.run(dir, sample_hz=settings.sample_hz, trace=settings.trace, progress=stage)
        learnt = learnt_options(measured, doing.case.scenario.machine, list(doing.plan.paths))
        forecasts = dict(doing.first)
        if learnt and COSTED in forecasts:
            forecasts[COSTED] = self._simulate(doing.case.scenario, model=COSTED, options=learnt)
        # All of it at once: Ctrl-C leaves no run without its forecasts.
        doing.runs.append(_Run(measured, learnt, forecasts))

    def outcome(self, *, command: str = "", overrides: Sequence[str] = ()) -> Outcome:
        """Compare what has been run.

        Parameters
        ----------
        command : str
            What the report names as the command that made it.
        overrides : sequence of str
            What it names as overrides.

        Returns
        -------
        Outcome
        """
        validated = [doing.validated for doing in self._doing if doing.runs]
        levels = {level: [*_levels(validated, level, self._room)] for level in LEVELS}
        main = main_model(self.settings.models)
        verdicts = [comparing.verdict(each, main, levels["dirty"], levels["cached"]) for each in validated]
        left_out = (*dict.fromkeys((*self._left_out, *self._not_compared(validated))),)
        return Outcome(
            name=self.name,
            validated=tuple(validated),
            models=self.settings.models,
            rows=tuple(
                row
                for each in validated
                for row in comparing.rows(self.name, each, self._machine_of(each.case))
            ),
            dirty=tuple(levels["dirty"]),
            cached=tuple(levels["cached"]),
            verdicts=tuple(verdict for verdict in verdicts if verdict is not None),
            left_out=left_out,
            provenance=self._provenance(command, overrides, left_out),
            failures=tuple(self._failures),
            files=tuple(file for each in validated for file in _files(each)),
        )

    def _machine_of(self, case: Case) -> str:
        return self.settings.machine or f"of {case.scenario.origin}"

    def _not_compared(self, validated: Sequence[Validated]) -> Iterator[str]:
        for each in validated:
            name = each.case.name
            if not all(map(sees_files, each.measured)):
                yield f"{name}: cached memory; the kernel did not tell what is cached of its files"
            if comparing.total_s(each.measured[0]) == 0:
                yield f"{name}: it does nothing with files"
        yield from self._other_memory(validated)
        unknown = [doing.case.name for doing in self._doing if doing.runs and not all(doing.learnt)]
        if unknown and COSTED in self.settings.models:
            yield (
                "what the kernel had learnt of the disk before, which only root sees (--trace, or debugfs): "
                f"{COSTED} begins as after a boot"
            )

    def _other_memory(self, validated: Sequence[Validated]) -> Iterator[str]:
        """Say where the forecast has another memory than the runs had."""
        usable = self._room.usable_bytes
        for each in validated:
            memory = parse_bytes(described(each.case.scenario.machine)["memory"]["size"])
            if usable and abs(memory / usable - 1) > OTHER_MEMORY:
                yield (
                    f"what else takes memory: the forecast has {format_bytes(memory)}, of this machine "
                    f"{format_bytes(round(usable))} were free or held files; calibrate it as it is now"
                )

    def _provenance(
        self, command: str, overrides: Sequence[str], left_out: Sequence[str]
    ) -> dict[str, object]:
        from pagecast.studies.provenance import provenance

        done = [doing for doing in self._doing if doing.runs]
        known = done[0].runs[0].measured.provenance if done else {}
        of_runs = ("kernel", "machine", "processors", "file_system", "sample_hz")
        machines = {
            (self.name, self._machine_of(doing.case)): doing.case.scenario.machine_hash for doing in done
        }
        return provenance(
            "validate",
            source="runs on this machine",
            command=command,
            machines=machines,
            seeds=1,
            overrides=overrides,
            data=None,
            left_out=left_out,
        ) | {
            "runs": self.settings.runs,
            "measured_on": {name: known[name] for name in of_runs if name in known},
            "learnt": {doing.case.name: doing.learnt for doing in done},
        }


def _levels(validated: Sequence[Validated], level: str, room: Room) -> Iterator[Level]:
    """Hold a level of each run against its forecasts, and against the next run of the same case."""
    for each in validated:
        name, runs = each.case.name, each.measured
        for forecasts in each.forecasts.values():
            for repetition, (run, forecast) in enumerate(zip(runs, forecasts, strict=True), start=1):
                if (found := away_from_forecast(name, repetition, run, forecast, level, room)) is not None:
                    yield found
        others = [*runs[1:], runs[0]] if len(runs) > 1 else []
        for repetition, (run, other) in enumerate(zip(runs, others, strict=False), start=1):
            if (found := away_from_run(name, repetition, run, other, level, room)) is not None:
                yield found


def _files(validated: Validated) -> Iterator[CachedFile]:
    """Hold what was cached of each file against the forecasts of its run."""
    for forecasts in validated.forecasts.values():
        for repetition, (run, forecast) in enumerate(
            zip(validated.measured, forecasts, strict=True), start=1
        ):
            yield from cached_files(validated.case.name, repetition, run, forecast)


def validate(
    scenario: "Scenario | Case | Sequence[Case]",
    *,
    dir: str | os.PathLike[str],
    name: str = "",
    runs: int = RUNS,
    models: Sequence[str] = (),
    sample_hz: int = DEFAULT_SAMPLE_HZ,
    trace: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Forecast scenarios, run them on this machine, and compare.

    Each is forecast under each model and run several times, as `run` does. Compared are the time of each
    operation and of all together, and dirty and cached memory over time.

    Parameters
    ----------
    scenario : Scenario, Case or sequence of Case
        A `Scenario` is a case with its own tolerance.
    dir : path-like
        A directory on the disk to be measured; see `run`.
    name : str
        What the outcome calls the whole; where the scenario comes from if not given.
    runs : int
        How often each is run; the spread of several says what the measurement is worth.
    models : sequence of str
        "kernel" and the two rivals "no-cache" and "endless-cache" if not given. The first that is no rival
        is judged.
    sample_hz : int
        How often to look at the machine, per second; 1 to 200.
    trace : bool
        Record the kernel's events of write-back; needs root, tracefs. The model `kernel` is told what the
        kernel had learnt of the disk before.
    progress : callable, optional
        Called with the fraction done, 0 to 1, and what comes next.

    Returns
    -------
    Outcome
        ``is_within`` says whether every case is forecast within its tolerance.

    Raises
    ------
    ScenarioError
        No case, or two of one name; what one machine does not have.
    ProbeError
        The directory cannot be used, or the kernel refused something.
    SimulationError
        The only case cannot go on. One of several is told in ``failures`` instead.
    KeyboardInterrupt
        Ctrl-C was pressed.
    """
    cases = _cases(scenario)
    chosen = tuple(dict.fromkeys(models)) or MODELS
    settings = Settings(runs=runs, models=chosen, sample_hz=sample_hz, trace=trace)
    validation = Validation(cases, name=name or cases[0].scenario.origin, settings=settings)
    validation.check(dir)
    validation.run(dir, progress=progress)
    return validation.outcome()


def _cases(scenario: "Scenario | Case | Sequence[Case]") -> list[Case]:
    if isinstance(scenario, Scenario):
        return [case_of(scenario)]
    cases = [scenario] if isinstance(scenario, Case) else list(scenario)
    if not cases:
        raise ScenarioError("there is no case to validate")
    if strange := [each for each in cases if not isinstance(each, Case)]:
        raise TypeError(f"{strange[0]!r} is a {type(strange[0]).__name__}, not a Case; give Case(...)")
    names = [case.name for case in cases]
    if twice := [each for each in names if names.count(each) > 1]:
        raise ScenarioError(f"two cases are called {twice[0]!r}; rename one of them")
    return cases


def case_of(scenario: Scenario) -> Case:
    """Make a case of a scenario, with the tolerance that it asks for itself."""
    return Case(scenario.origin, "", scenario, scenario.tolerance)
