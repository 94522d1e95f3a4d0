"""Simulate the published cases, and take throughputs and COMMITs out of the results."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.api import Scenario, simulate
from pagecast.studies.nfs.published import MIB, Case

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["Forecast", "Simulate", "disk_rate", "forecast", "simulate_case"]

CLIENT: Final = "client"

BEGIN_S: Final = 10.0
END_S: Final = 40.0
"""Bytes written in between count."""

SCENARIO: Final = Path(__file__).parent / "scenario.toml"

Simulate = Callable[..., "Result"]
"""Like `simulate_case`; tests put their own in its place."""

PILOT_S: Final = 4.0
"""A first run writes what was published to take so long, and the limit of dirty memory."""
MOST_GROWTH: Final = 10.0
"""A next run writes so many times as much, at most."""

STEPS: Final = 6
"""So many rates of the server's disk are tried."""


@dataclass(frozen=True)
class Forecast:
    """A case and its forecast: MiB/s written back, and MiB and round trip of a COMMIT.

    The size is None if there was no COMMIT, the round trip also if no run keeps every answer.
    """

    case: Case
    mib_per_s: float
    commit_mib: float | None
    round_trip_s: float | None
    machine_hash: str


def simulate_case(
    case: Case, *, disk_mib_per_s: float, size_mib: float, overrides: tuple[str, ...]
) -> "Result":
    """Simulate a case under the model `kernel`; its writers write so much in all."""
    settings = (
        f'host.client.vm.dirty_bytes="{case.limit_bytes} B"',
        f"host.client.vm.dirty_background_ratio={case.background_percent}",
        f'host.client.memory.size="{case.memory_mib} MiB"',
        f'host.client.kernel.version="{case.version}"',
        *(f'host.server.disk.hdd.{way}="{disk_mib_per_s:.2f} MiB/s"' for way in ("read", "write")),
        f"parameter.writers={case.writers}",
        f'parameter.call="{case.call_bytes} B"',
        f'parameter.size="{round(size_mib / case.writers)} MiB"',
    )
    return simulate(Scenario.load(SCENARIO, set=[*settings, *overrides]), model="kernel")


def disk_rate(case: Case, *, overrides: tuple[str, ...], simulate: Simulate) -> float:
    """Give the MiB/s of the server's disk with which a case has the throughput that was published of it.

    The first guess is the rate of a COMMIT. A few COMMITs fall into the time that is looked at, so that the
    forecast does not grow evenly with the disk: of the rates tried the nearest is taken.
    """
    rate = case.commits.mib_per_s if case.commits else case.mib_per_s
    tried: list[tuple[float, float]] = []
    for _ in range(STEPS):
        found = forecast(case, disk_mib_per_s=rate, overrides=overrides, simulate=simulate)
        tried.append((abs(found.mib_per_s - case.mib_per_s), rate))
        rate *= case.mib_per_s / found.mib_per_s
    return min(tried)[1]


def forecast(
    case: Case, *, disk_mib_per_s: float, overrides: tuple[str, ...], simulate: Simulate
) -> Forecast:
    """Simulate a case and look at it from 10 to 40 s."""
    # A run ends when all is written, and one that is slower than was published takes so much longer. A short
    # one comes first.
    size_mib = PILOT_S * case.mib_per_s + case.limit_bytes / MIB
    round_trip_s = None
    while True:
        result = simulate(case, disk_mib_per_s=disk_mib_per_s, size_mib=size_mib, overrides=overrides)
        round_trip_s = _round_trip_s(result) or round_trip_s
        ended_s = float(np.asarray(result.timeline["time_s"], float)[-1])
        if ended_s >= END_S:
            break
        size_mib *= min(1.25 * END_S / ended_s, MOST_GROWTH)
    commits = _commits_s(result)
    times, durable = _durable(result)
    # Events beyond a number are not kept, so sizes are those of the time that they cover.
    end = min(END_S, float(commits[-1])) if len(commits) else END_S
    begin = min(BEGIN_S, end / 2)
    counted = int(np.count_nonzero((commits > begin) & (commits <= end)))
    size = float(np.diff(np.interp((begin, end), times, durable))[0]) / counted if counted else None
    return Forecast(
        case,
        mib_per_s=_rate(times, durable),
        commit_mib=size,
        round_trip_s=round_trip_s,
        machine_hash=str(result.provenance["machine_hash"]),
    )


def _commits_s(result: "Result") -> NDArray[np.float64]:
    """Give when COMMITs were sent."""
    names, times = (np.asarray(result.events[name]) for name in ("event", "time_s"))
    found: NDArray[np.float64] = times[names == "nfs commit"].astype(float)
    return found


def _durable(result: "Result") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give times in s, and the MiB durable then: dirtied less those dirty, which unstable ones count as."""
    timeline = result.timeline
    of_client = np.asarray(timeline["host"]) == CLIENT
    times, dirtied, dirty = (
        np.asarray(timeline[name], float)[of_client] for name in ("time_s", "dirtied_bytes", "dirty_bytes")
    )
    return times, (dirtied - dirty) / MIB


def _answers(durable: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give the rows at which bytes become durable: COMMITs are answered."""
    return np.flatnonzero(np.diff(durable) > 0) + 1


def _round_trip_s(result: "Result") -> float | None:
    """Give the mean time from the sending of a COMMIT to its answer, over a whole run.

    A long run keeps neither all events nor all rows of memory: None if some COMMIT or answer is not there.
    """
    sent = _commits_s(result)
    times, durable = _durable(result)
    answered = times[_answers(durable)]
    if result.events_left_out or not len(sent) or len(sent) != len(answered):
        return None
    return float((answered - sent).mean())


def _rate(times: NDArray[np.float64], durable: NDArray[np.float64]) -> float:
    """Give MiB/s from 10 to 40 s, between the first and the last moment at which some became durable.

    A COMMIT makes up to half of a gibibyte durable at once: whole seconds would hold one more or one less.
    """
    more = _answers(durable)
    within = more[(times[more] >= BEGIN_S) & (times[more] <= END_S)]
    if len(within) < 2:
        begin, end = np.interp((BEGIN_S, END_S), times, durable)
        return float(end - begin) / (END_S - BEGIN_S)
    first, last = within[0], within[-1]
    return float((durable[last] - durable[first]) / (times[last] - times[first]))
