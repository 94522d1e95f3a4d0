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
    """Simulate a scenario under one model, without ranges.

    Parameters, result and errors are those of `pagecast.uncertainty.simulate`, which is `pagecast.simulate`.
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
