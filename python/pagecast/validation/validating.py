"""Cases forecast, run on this machine and compared.

The steps, in this order: every case is checked, and then forecast under every model, before anything is
written, so that a bad one is found at once. Then each is run, several times; and the model `kernel` is asked
again for each run, with the memory that was left before it and what the kernel had learnt of the disk.
"""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pagecast.api import Scenario, simulate
from pagecast.arguments import check_path, listed, texts, written
from pagecast.comparison.rows import main_model
from pagecast.errors import ArgumentTypeError, PagecastError, ScenarioError
from pagecast.progress import Progress, Stages, teller
from pagecast.running import DEFAULT_SAMPLE_HZ, Plan, check_tracing
from pagecast.uncertainty.totals import range_of_scenario
from pagecast.validation.case import Case
from pagecast.validation.doing import MODELS, RUNS, Doing, Run, Settings
from pagecast.validation.gathering import gather, other_memory
from pagecast.validation.learning import COSTED, Learning
from pagecast.validation.outcome import Outcome
from pagecast.validation.room import ALL, Room

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["MODELS", "Settings", "Validation", "case_of", "validate"]


def one_host(scenario: Scenario) -> Plan:
    """Plan a scenario of one host: the links and disks of several are not this machine's.

    Raises
    ------
    ScenarioError
        There are several, or one machine cannot run it.
    """
    plan = Plan(scenario)
    if len(plan.hosts) > 1:
        raise ScenarioError(
            f"{scenario.origin}: a scenario of {len(plan.hosts)} hosts ({', '.join(plan.hosts)}) cannot be "
            "validated on one machine; give it one [machine], or play it: pagecast run"
        )
    return plan


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
        Omissions that are known before, with reasons.
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
        make_plan: Callable[[Scenario], Plan] = one_host,
        simulate: "Callable[..., Result]" = simulate,
    ) -> None:
        self.name = name
        self.settings = settings
        self._simulate = simulate
        self._failures: list[str] = []
        self._left_out = list(left_out)
        self._doing: list[Doing] = []
        self._room = ALL
        self._learning = Learning()
        for case in cases:
            try:
                self._doing.append(Doing(case, make_plan(case.scenario)))
            except PagecastError as error:
                if len(cases) == 1:
                    raise
                self._failures.append(f"{case.name}: {error}")

    @property
    def cases(self) -> tuple[Case, ...]:
        """Those that can be run."""
        return tuple(doing.case for doing in self._doing)

    @property
    def planned(self) -> tuple[Doing, ...]:
        """The same, with the needs of a run of each."""
        return tuple(self._doing)

    @property
    def failures(self) -> tuple[str, ...]:
        """Cases that cannot be run or forecast, and why."""
        return tuple(self._failures)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Omissions, as far as they are known."""
        return tuple(self._left_out)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings before the runs, as far as `check` has seen."""
        found = (other_memory(doing.case, self._room) for doing in self._doing)
        return tuple(dict.fromkeys(filter(None, (self._room.caution, *found))))

    @property
    def runs_done(self) -> int:
        """How many runs have ended."""
        return sum(len(doing.runs) for doing in self._doing)

    @property
    def written_bytes(self) -> int:
        """Bytes that all runs write together."""
        return self.settings.runs * sum(doing.written_bytes for doing in self._doing)

    @property
    def space_bytes(self) -> int:
        """The most that a run takes on the disk."""
        return max((doing.plan.space_bytes for doing in self._doing), default=0)

    @property
    def memory_bytes(self) -> int:
        """The most that the programs of a run hold of memory."""
        return max((doing.plan.memory_bytes for doing in self._doing), default=0)

    @property
    def expected_s(self) -> float:
        """How long all runs take by their forecasts, with making the files that they begin with."""
        return self.settings.runs * sum(doing.expected_s for doing in self._doing)

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
            No case can be run there, or nothing can be traced and ``trace`` is asked for.
        """
        if self.settings.trace:
            check_tracing()
        place: dict[str, Any] = {}
        self._room = Room.here(dir)

        def check(doing: Doing) -> None:
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
        tell = teller(progress)
        order, models = list(self._doing), self.settings.models

        def forecast(doing: Doing) -> None:
            for model in models:
                at = order.index(doing) + models.index(model) / len(models)
                tell(at / len(order), f"forecasting {doing.case.name} by {model}")
                try:
                    doing.first[model] = self._simulate(
                        self._room.of(doing.case.scenario, model), model=model
                    )
                except PagecastError as error:
                    if model == main:
                        raise
                    self._left_out.append(f"{doing.case.name} under {model}: {error}")

        self._try_all(forecast)

    def _try_all(self, do: Callable[[Doing], None]) -> None:
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
        """Run all cases and forecast each run; finished runs stay if it is interrupted.

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
        if self._room is ALL:
            self._room = Room.here(dir)
        if not all(doing.first for doing in self._doing):
            self.forecast()
        tell = teller(progress)
        whole_s = self.settings.runs * sum(doing.weight_s for doing in self._doing)
        done_s = 0.0
        for doing in self._doing:
            for repetition in range(1, self.settings.runs + 1):
                what = f"{doing.case.name}, run {repetition} of {self.settings.runs}"

                def stage(
                    name: str, done: int, total: int | None, what: str = what, at: float = done_s
                ) -> None:
                    tell(at / whole_s, f"{what}: {name}")

                tell(done_s / whole_s, what)
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

    def _run_once(self, doing: Doing, dir: str | os.PathLike[str], stage: Stages) -> None:
        settings = self.settings
        scenario = Room.here(dir).of(doing.case.scenario, COSTED)
        self._learning.before(doing.plan)
        measured = doing.plan.run(dir, sample_hz=settings.sample_hz, trace=settings.trace, progress=stage)
        learnt = self._learning.after(doing.plan, measured, scenario.machine)
        forecasts = dict(doing.first)
        if COSTED in forecasts and (learnt or scenario is not doing.case.scenario):
            forecasts[COSTED] = self._simulate(scenario, model=COSTED, options=learnt)
        if COSTED in forecasts and settings.uncertain is not None and not doing.runs:
            doing.range_of_total = range_of_scenario(
                scenario,
                forecasts[COSTED],
                draws=settings.uncertain,
                options=learnt,
                simulate=self._simulate,
                tell=lambda _, what: stage(what, 0, None),
            )
        # All of it at once: Ctrl-C leaves no run without its forecasts.
        doing.runs.append(Run(measured, learnt, forecasts))

    def outcome(self, *, command: str = "", overrides: Sequence[str] = ()) -> Outcome:
        """Compare the finished runs.

        Parameters
        ----------
        command : str
            The command that made the report.
        overrides : sequence of str
            Overrides in the report.

        Returns
        -------
        Outcome
        """
        return gather(
            self.name,
            self._doing,
            self.settings,
            self._room,
            failures=self._failures,
            left_out=self._left_out,
            command=command,
            overrides=overrides,
        )


def validate(
    scenario: "Scenario | Case | Sequence[Case]",
    *,
    dir: str | os.PathLike[str],
    name: str = "",
    runs: int = RUNS,
    models: Sequence[str] = (),
    sample_hz: int = DEFAULT_SAMPLE_HZ,
    trace: bool = False,
    uncertain: int | None = None,
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
        Name of the whole in the outcome; where the scenario comes from if not given.
    runs : int
        How often each is run; the spread of several says what the measurement is worth.
    models : sequence of str
        "kernel" and the two rivals "no-cache" and "endless-cache" if not given. The first that is no rival
        is judged.
    sample_hz : int
        How often to look at the machine, per second; 1 to 200.
    trace : bool
        Record the kernel's events of write-back; needs root, tracefs. The model `kernel` gets the kernel's
        estimates of the disk from before.
    uncertain : int, optional
        So many draws give the total under `kernel` a 90 % range, which is judged, too.
    progress : callable, optional
        Called with the fraction done, 0 to 1, and the next action.

    Returns
    -------
    Outcome
        ``is_within`` says whether every case is forecast within its tolerance, and ranges hold enough cases.

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
    dir = check_path("dir", dir)
    chosen = tuple(dict.fromkeys(texts("models", models))) or MODELS
    settings = Settings(runs=runs, models=chosen, sample_hz=sample_hz, trace=trace, uncertain=uncertain)
    validation = Validation(cases, name=name or cases[0].scenario.origin, settings=settings)
    validation.check(dir)
    validation.run(dir, progress=progress)
    return validation.outcome()


def _cases(scenario: "Scenario | Case | Sequence[Case]") -> list[Case]:
    if isinstance(scenario, Scenario):
        return [case_of(scenario)]
    cases = [scenario] if isinstance(scenario, Case) else listed("scenario", scenario)
    if not cases:
        raise ScenarioError("there is no case to validate")
    if strange := [each for each in cases if not isinstance(each, Case)]:
        what = f"{written(strange[0])} is a {type(strange[0]).__name__}, not a Case; give Case(...)"
        raise ArgumentTypeError(what)
    names = [case.name for case in cases]
    if twice := [each for each in names if names.count(each) > 1]:
        raise ScenarioError(f"two cases are called {twice[0]!r}; rename one of them")
    return cases


def case_of(scenario: Scenario) -> Case:
    """Make a case of a scenario, with the tolerance that it asks for itself."""
    return Case(scenario.origin, "", scenario, scenario.tolerance)
