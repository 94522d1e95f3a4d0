"""Plans a suite before it is run: room, bytes and time."""

from collections.abc import Sequence
from dataclasses import dataclass

from pagecast import _core
from pagecast._core import format_bytes, fsync, write
from pagecast.api import Scenario, simulate
from pagecast.comparison.machines import mount_of
from pagecast.running import Plan
from pagecast.validation.case import Case
from pagecast.validation.scale import MIB

__all__ = ["Estimate", "estimate", "fitting", "preparing_s"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of one repetition of all cases: its time, its bytes, and the needs of the largest case."""

    cases: int
    duration_s: float
    written_bytes: int
    room_bytes: int


def fitting(cases: Sequence[Case], room_bytes: int) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """Leave out the cases whose files the disk has no room for.

    Parameters
    ----------
    cases : sequence of Case
    room_bytes : int
        As in `Scale`.

    Returns
    -------
    cases : tuple of Case
    left_out : tuple of str
        A sentence for each of the others.
    """
    fit, left_out = [], []
    for case in cases:
        needed = Plan(case.scenario).space_bytes
        if needed <= room_bytes:
            fit.append(case)
        else:
            room = f"needs {format_bytes(needed)}, there are {format_bytes(room_bytes)}"
            left_out.append(f"no room for {case.name}: it {room} on the disk; it is left out")
    return tuple(fit), tuple(left_out)


def estimate(cases: Sequence[Case]) -> Estimate:
    """Forecast the time of one repetition of each case, with the files that it begins with.

    Returns
    -------
    Estimate
        `duration_s` is by the model `kernel`.
    """
    plans = [Plan(case.scenario) for case in cases]
    ran_s = sum(simulate(case.scenario).end_s for case in cases)
    prepared = zip(cases, plans, strict=True)
    prepared_s = sum(preparing_s(case, plan.prepared_bytes) for case, plan in prepared)
    return Estimate(
        cases=len(cases),
        duration_s=ran_s + prepared_s,
        written_bytes=sum(plan.prepared_bytes + plan.written_bytes for plan in plans),
        room_bytes=max((plan.space_bytes for plan in plans), default=0),
    )


def preparing_s(case: Case, size: int) -> float:
    """Forecast how long it takes to write the files of a case before time 0: so many bytes in all."""
    if not size:
        return 0.0
    machine: _core.Machine = case.scenario.machine
    file = f"{mount_of(machine).rstrip('/')}/prepared"
    steps = [write(file, size_bytes=size, call_bytes=MIB), fsync(file)]
    return simulate(Scenario(machine, processes={"prepare": steps})).end_s
