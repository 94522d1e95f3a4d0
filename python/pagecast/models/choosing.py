"""Chooses what answers a scenario: the engine with a policy, or a net for the whole of it."""

from collections.abc import Callable, Mapping
from typing import Final

from pagecast import _core, api
from pagecast.api import PETRI, Scenario
from pagecast.arguments import check_progress, check_type, check_whole, check_word
from pagecast.errors import ArgumentError
from pagecast.result import Result

__all__ = ["MODELS", "PETRI", "simulate"]

MODELS: Final = (*_core.MODELS, PETRI)
"""The policies of the engine, and the nets."""


def simulate(
    scenario: Scenario,
    *,
    model: str = "kernel",
    seed: int = 0,
    options: Mapping[str, object] | None = None,
    residency: str | None = None,
    record: str = "all",
    at_risk: bool = False,
    threads: int | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> Result:
    """Simulate a scenario under one model.

    Parameters
    ----------
    scenario : Scenario
    model : str
        One of `MODELS`, by default Linux's own rules; or "petri", the nets of ext3 and PVFS.
    seed : int
        Of all random streams; only machines with uneven devices, or with `service_read`
        or `service_write`, draw random numbers, and the nets of PVFS.
    options : mapping of str, optional
        Options of the model, with units: ``{"chunk": "100 MB"}``; they come before those of the scenario.
        Of "petri" they are values of the net: ``{"prefetch_pages": 8}``.
    residency : {"end", "operation"}, optional
        When the table `files` is filled; the value of the scenario if not given, "end" by default.
    record : str
        Which operations have rows: "all"; "slow:10ms" those that take that long; "histogram" the 100 slowest,
        so that memory does not grow with their number; "auto" all up to 200,000, of more the 100 slowest.
        `Result.latency` and `Result.rates` count all of them. "petri" has rows of all.
    at_risk : bool
        Whether the result has what a power cut would lose at each moment, `Result.at_risk`.
    threads : int, optional
        How many threads share the hosts that have nothing to do with each other; one per processor if not
        given. The result does not depend on it.
    progress : callable, optional
        Called at most ten times a second with the fraction done (NaN if not known) and the simulated seconds.

    Returns
    -------
    Result

    Raises
    ------
    UnknownModelError
        No such model or option.
    ScenarioError
        The nets cannot play the scenario; the message has all reasons.
    ArgumentError, ArgumentTypeError
        A seed that 64 bits do not hold, or no thread; an argument of another type.
    RecursionError
        A program simulates a scenario whose program simulates a scenario, and so on, 50 deep.
    SimulationError
        The workload cannot go on: a deadlock, a read beyond the end of a file, not enough memory.
    KeyboardInterrupt
        Ctrl-C was pressed.
    """
    if model != PETRI:
        return api.simulate(
            scenario,
            model=model,
            seed=seed,
            options=options,
            residency=residency,
            record=record,
            at_risk=at_risk,
            threads=threads,
            progress=progress,
        )
    from pagecast.models.playing import play

    check_type("scenario", scenario, Scenario, "Scenario(...) or Scenario.load(...)")
    if at_risk:
        raise ArgumentError("at_risk=True needs the model kernel; petri does not know what a power cut loses")
    return play(
        scenario,
        seed=check_whole("seed", seed, least=0, most=2**64 - 1),
        values=api.model_options(options),
        each_operation=check_word("residency", residency or "end", api.RESIDENCIES) == "operation",
        progress=check_progress(progress),
    )
