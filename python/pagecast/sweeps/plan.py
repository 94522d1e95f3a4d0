"""Plans a sweep: its design, and the task that its points have in common."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pagecast._core import __version__
from pagecast.arguments import check_mapping, check_whole, check_word, listed
from pagecast.errors import ArgumentError, PagecastError
from pagecast.measures import Measure
from pagecast.measures.language import measure_list
from pagecast.models import MODELS
from pagecast.sweeps.design import Design, make_design
from pagecast.sweeps.point import Task
from pagecast.sweeps.source import Source

__all__ = ["SweepPlan", "make_plan"]

_DEFAULT_MEASURE = "makespan"


@dataclass(frozen=True)
class SweepPlan:
    """A sweep before it is done.

    Attributes
    ----------
    design : Design
    task : Task
    """

    design: Design
    task: Task

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of its table."""
        return ("point", *self.design.names, *(measure.name for measure in self.task.measures), "error")

    @cached_property
    def machine_hash(self) -> str:
        """A hash of the machine of the first point; ``""`` if its scenario cannot be understood."""
        with suppress(PagecastError):
            return self.task.scenario(self.design.overrides(0)).machine_hash
        return ""

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Everything needed to repeat it, beside the design and the measures."""
        return {
            "pagecast_version": __version__,
            "scenario": self.task.origin,
            "machine_hash": self.machine_hash,
            "model": self.task.model,
            "seed": self.task.seed,
        }

    @cached_property
    def digest(self) -> str:
        """A hash of all that the rows depend on: two sweeps with one digest have the same rows."""
        parts = [
            __version__,
            self.task.text.decode(errors="surrogateescape").encode("utf-8", "backslashreplace").decode(),
            self.machine_hash,
            self.task.overrides,
            self.task.model,
            self.task.seed,
            [(measure.name, measure.text) for measure in self.task.measures],
            self.design.names,
            [self.design.overrides(point) for point in range(len(self.design.points))],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def make_plan(
    source: Source,
    *,
    vary: Mapping[str, object] | None = None,
    measure: Sequence[str | Measure] = (),
    sample: str | None = None,
    model: str | None = None,
    seed: int = 0,
) -> SweepPlan:
    """Plan a sweep; what is not given is that of the table ``[sweep]`` of the scenario.

    Parameters
    ----------
    source : Source
    vary : mapping of str to str or sequence, optional
    measure : sequence of str or Measure
        ``makespan`` if there is none in the table either.
    sample : str, optional
    model : str, optional
        By default the first one that the scenario names.
    seed : int

    Returns
    -------
    SweepPlan

    Raises
    ------
    ArgumentError, MeasureError
        Something cannot be understood.
    ScenarioError
        The scenario of the first point cannot be understood.
    """
    given = check_mapping("vary", vary, "{'machine.vm.dirty_bytes': '64MB..8GB:log:12'}")
    wanted = [measure] if isinstance(measure, str) else listed("measure", measure)
    design = make_design(given or source.vary, sample or source.sample)
    task = Task(
        source.text,
        source.origin,
        source.base_dir,
        source.overrides,
        "",
        check_whole("seed", seed, least=0, most=2**64 - 1),
        tuple(measure_list(wanted or source.measure or [_DEFAULT_MEASURE])),
    )
    columns = SweepPlan(design, task).columns
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise ArgumentError(f"two columns are called `{twice}`; give the measure a name: other = MEASURE")
    chosen = model or source.model or task.scenario(design.overrides(0)).models[0]
    return SweepPlan(design, replace(task, model=check_word("model", chosen, MODELS)))
