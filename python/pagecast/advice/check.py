"""The command that checks a suggestion once its lines are pasted, for the case that advice was asked for."""

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from pagecast.api import Scenario
from pagecast.arguments import shown
from pagecast.errors import ScenarioError
from pagecast.running import Plan
from pagecast.workloads import Reading

if TYPE_CHECKING:
    from pagecast.advice.search import Suggestion
    from pagecast.sweeps.source import Source

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """The case that advice was asked for.

    Attributes
    ----------
    scenario : path-like
        Its file, as the command line names it.
    machine : str or None
    overrides : sequence of str
        After ``--set``.
    reading : Reading
    seed : int
    source : Source
        The text that was read.
    """

    scenario: "str | os.PathLike[str]"
    machine: str | None
    overrides: Sequence[str]
    reading: Reading
    seed: int
    source: "Source"

    def command(self, suggestion: "Suggestion") -> str:
        """Give the command that checks settings once they are made.

        Parameters
        ----------
        suggestion : Suggestion

        Returns
        -------
        str
            ``pagecast validate``, or ``pagecast simulate`` where `is_run` is false: its figures are to be
            held against those of the programs themselves.
        """
        name = shown(self.scenario)
        if self.is_run(suggestion):
            words = ["validate", name, "--dir", "DIR"]
        else:
            words = ["simulate", name, "--model", "kernel"]
            words += ["--seed", str(self.seed)] if self.seed else []
        words += ["--machine", self.machine] if self.machine is not None else []
        words += _options(self.reading)
        for text in (*self.overrides, *dict.fromkeys(suggestion.overrides)):
            words += ["--set", text]
        return shlex.join(["pagecast", *words])

    def is_run(self, suggestion: "Suggestion") -> bool:
        """Tell whether ``pagecast validate`` takes it: one host, no cgroups, and no memory to buy."""
        if any(".memory.size=" in text for text in suggestion.overrides):
            return False
        source = self.source
        overrides = [*source.overrides, *suggestion.overrides]
        scenario = Scenario.from_toml(
            source.text, origin=source.origin, base_dir=source.base_dir, set=overrides
        )
        try:
            return len(Plan(scenario).hosts) == 1
        except ScenarioError:
            return False


def _options(reading: Reading) -> Iterator[str]:
    """Give the options that say how a workload is read, where they are not the defaults."""
    for field in fields(Reading):
        value = getattr(reading, field.name)
        if value != field.default:
            yield f"--{field.name.replace('_', '-')}"
            if value is not True:
                yield str(value)
