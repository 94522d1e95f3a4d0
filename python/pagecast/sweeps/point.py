"""Simulates one point of a sweep; the same on this machine and on a worker of a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

from pagecast._core import __version__
from pagecast.api import Scenario
from pagecast.errors import MeasureError, PagecastError, SimulationError
from pagecast.measures import Measure, evaluate
from pagecast.models import simulate

__all__ = ["Outcome", "Task"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a point.

    Attributes
    ----------
    values : tuple of int, float or None
        One for each measure; empty if it failed.
    error : str
        Why it failed; ``""`` if it did not.
    kind : str
        Of a failure: ``scenario``, ``simulation``, ``measure``, ``worker`` (its process ended), or
        ``unforeseen`` (a mistake in pagecast).
    version : str
        Of pagecast where it was simulated.
    """

    values: tuple[int | float | None, ...]
    error: str = ""
    kind: str = ""
    version: str = __version__


@dataclass(frozen=True)
class Task:
    """All that the points of a sweep have in common.

    Attributes
    ----------
    text : bytes
        The scenario, as TOML.
    origin, base_dir : str
        As for `Scenario.from_toml`.
    overrides : tuple of str
        As for ``--set``; those of the point follow.
    model : str
    seed : int
    measures : tuple of Measure
    """

    text: bytes
    origin: str
    base_dir: str
    overrides: tuple[str, ...]
    model: str
    seed: int
    measures: tuple[Measure, ...]

    def scenario(self, overrides: Sequence[str]) -> Scenario:
        """Read the scenario of a point.

        Parameters
        ----------
        overrides : sequence of str

        Raises
        ------
        ScenarioError
            It cannot be understood.
        """
        return Scenario.from_toml(
            self.text, origin=self.origin, base_dir=self.base_dir, set=[*self.overrides, *overrides]
        )

    def outcome(self, overrides: Sequence[str]) -> Outcome:
        """Simulate a point; a failure is an outcome, too.

        Parameters
        ----------
        overrides : sequence of str
            Of the point.

        Returns
        -------
        Outcome
        """
        try:
            result = simulate(
                self.scenario(overrides),
                model=self.model,
                seed=self.seed,
                record="histogram",
                at_risk=any(measure.needs_at_risk for measure in self.measures),
                threads=1,
            )
            return Outcome(tuple(evaluate(self.measures, result)))
        except MeasureError as error:
            return Outcome((), str(error), "measure")
        except SimulationError as error:
            return Outcome((), str(error), "simulation")
        except PagecastError as error:
            return Outcome((), str(error), "scenario")
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a broken promise of the core (a Rust panic) is no `Exception`
            return Outcome((), f"a mistake in pagecast: {type(error).__name__}: {error}", "unforeseen")
