"""Shared by all studies: how one is asked, the loop over its cases, and the frame of its report.

A study is a folder with its own parts: its measurements, the forecast of a case, tables, figures
and sentences. It puts them together as a `Study`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from pagecast.comparison import provenance
from pagecast.comparison.outcome import Outcome
from pagecast.errors import StudyError
from pagecast.progress import Progress, teller
from pagecast.report.document import Report, Section
from pagecast.result import Result

__all__ = ["Asked", "Simulate", "Study", "report"]

Simulate: TypeAlias = Callable[..., Result]
"""Forecasts a case of a study; tests put their own in its place."""

_Outcome = TypeVar("_Outcome", bound=Outcome)
_Step = TypeVar("_Step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The request to a study, as of `Study.run`; what nobody named is filled in.

    `experiments` are empty only where the recordings say which there are.
    """

    study: "Study[Any]"
    experiments: tuple[str, ...]
    models: tuple[str, ...]
    machine: str | None
    data: Path | None
    seeds: int | None
    overrides: tuple[str, ...]
    command: str
    tell: Progress
    simulate: Simulate
    uncertain: int | None = None

    def steps(self, plan: Sequence[_Step], called: Callable[[_Step], str]) -> Iterator[_Step]:
        """Give the steps of a plan one by one, and tell of each before it is done."""
        for done, step in enumerate(plan):
            self.tell(done / len(plan), called(step))
            yield step
        self.tell(1.0, "")

    def provenance(
        self, machines: Mapping[tuple[str, str], str], *, left_out: Iterable[str] = (), seeds: int = 1
    ) -> dict[str, object]:
        """Give everything needed to repeat the run; parameters as of `pagecast.comparison.provenance`."""
        return provenance.provenance(
            self.study.name,
            source=self.study.source,
            command=self.command,
            machines=machines,
            seeds=seeds,
            overrides=self.overrides,
            data=self.data,
            left_out=left_out,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Study(Generic[_Outcome]):
    """A study: what it may be asked for, and what forecasts it.

    Attributes
    ----------
    name : str
        As ``pagecast reproduce`` takes it.
    source : str
        Where the measurements come from.
    experiments : tuple of str
        Nothing where the recordings say which there are.
    models : tuple of str
        Those that are asked by default.
    forecast : callable
        Forecasts the request and compares.
    simulate : callable
        How a case is forecast.
    is_random : bool
        Whether seeds matter.
    has_ranges : bool
        Whether totals can have ranges.
    """

    name: str
    source: str
    experiments: tuple[str, ...] = ()
    models: tuple[str, ...]
    forecast: Callable[[Asked], _Outcome]
    simulate: Simulate
    is_random: bool = False
    has_ranges: bool = False

    def run(
        self,
        *,
        experiments: Sequence[str] = (),
        models: Sequence[str] = (),
        machine: str | None = None,
        data: Path | None = None,
        seeds: int | None = None,
        overrides: Sequence[str] = (),
        command: str = "",
        progress: Progress | None = None,
        simulate: Simulate | None = None,
        uncertain: int | None = None,
    ) -> _Outcome:
        """Run the experiments and compare.

        Parameters
        ----------
        experiments : sequence of str
            Nothing means all of them.
        models : sequence of str
            Nothing means those of the study.
        machine : str, optional
            A shipped machine or a machine file; by default the one that each model is judged on.
        data : Path, optional
            The folder of full recordings. Some studies need it.
        seeds : int, optional
            How many seeds to run and average, where something is random.
        overrides : sequence of str
            ``key=value`` for every scenario, such as ``machine.vm.dirty_ratio=10``.
        command : str
            The command that made the report.
        progress : callable, optional
        simulate : callable, optional
            How a case is forecast instead.
        uncertain : int, optional
            So many draws give each total under `kernel` a 90 % range, where the study has ranges.

        Raises
        ------
        StudyError
            An experiment or the recordings are not there, or the study does not have what was asked.
        ScenarioError
            The machine or an override cannot be understood.
        """
        if seeds is not None and seeds > 1 and not self.is_random:
            raise StudyError(f"{self.name} has nothing that is random; leave --seeds {seeds} out")
        if uncertain is not None and not self.has_ranges:
            raise StudyError(f"{self.name} has no ranges; leave --uncertain {uncertain} out")
        known = self.experiments or tuple(experiments)
        if unknown := [name for name in experiments if name not in known]:
            raise StudyError(f"{self.name} has no experiment {unknown[0]!r}; it has {', '.join(known)}")
        return self.forecast(
            Asked(
                study=self,
                experiments=tuple(name for name in known if name in experiments or not experiments),
                models=tuple(dict.fromkeys(models)) or self.models,
                machine=machine,
                data=data,
                seeds=seeds,
                overrides=tuple(overrides),
                command=command,
                tell=teller(progress),
                simulate=simulate or self.simulate,
                uncertain=uncertain,
            )
        )


def report(
    outcome: Outcome,
    *,
    title: str,
    lead: str,
    sections: Iterable[Section],
    pitfalls: Iterable[str],
    facts: Sequence[tuple[str, str]] | None = None,
) -> Report:
    """Put a report together: its head, the sections of the study, and its pitfalls."""
    left_out = (f"Left out: {line}." for line in outcome.left_out)
    return Report(
        title=title,
        lead=lead,
        conclusion=outcome.conclusion(),
        facts=provenance.facts(outcome.provenance, outcome.models) if facts is None else facts,
        sections=(*sections, Section("What to beware of", text=(*pitfalls, *left_out))),
    )
