"""Throughput of a scenario over strip size, stripe count and number of servers of its striped mounts."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pagecast.api import Scenario, simulate
from pagecast.arguments import shown
from pagecast.errors import ScenarioError
from pagecast.kinds import MOVE_BYTES
from pagecast.progress import Progress, teller

__all__ = ["StripePlan", "StripePoint", "plan_stripe"]

NEAR: Final = 0.95
"""So much of the highest throughput is enough for the knee."""


@dataclass(frozen=True, slots=True)
class StripePoint:
    """The throughput with a strip size on so many servers.

    A file is on `stripe_count` of them, by default on as many as the scenario says.
    """

    strip_bytes: int
    servers: int
    bytes_per_s: float
    stripe_count: int | None = None


@dataclass(frozen=True, slots=True)
class StripePlan:
    """Throughputs of a scenario under a model, by strip size, stripe count and servers."""

    model: str
    points: tuple[StripePoint, ...]

    def knee(self, strip_bytes: int, stripe_count: int | None = None) -> int:
        """Give the fewest servers with at least 95 % of the highest throughput of a layout."""
        layout = (strip_bytes, stripe_count)
        own = [point for point in self.points if (point.strip_bytes, point.stripe_count) == layout]
        most = max(point.bytes_per_s for point in own)
        return min(point.servers for point in own if point.bytes_per_s >= NEAR * most)

    def to_json(self) -> dict[str, object]:
        """Give the plan as ``--json`` has it."""
        return {
            "schema_version": 1,
            "model": self.model,
            "points": [
                {
                    "strip_bytes": point.strip_bytes,
                    "stripe_count": point.stripe_count,
                    "servers": point.servers,
                    "bytes_per_s": point.bytes_per_s,
                    "is_knee": point.servers == self.knee(point.strip_bytes, point.stripe_count),
                }
                for point in self.points
            ],
        }


def plan_stripe(
    path: str | os.PathLike[str],
    *,
    strip_bytes: Sequence[int],
    stripe_counts: Sequence[int] = (),
    servers: Sequence[int] = (),
    model: str | None = None,
    overrides: Sequence[str] = (),
    progress: Progress | None = None,
) -> StripePlan:
    """Forecast a scenario with each strip size, stripe count and number of servers.

    Parameters
    ----------
    path : path-like
        The scenario. Each striped mount gets the first so many of its servers.
    strip_bytes : sequence of int
    stripe_counts : sequence of int
        A file is on so many servers; there are no points of fewer. Nothing means as the scenario says.
    servers : sequence of int
        Nothing means 1, 2, 4 and so on, and all.
    model : str, optional
        By default the first of the scenario.
    overrides : sequence of str
        ``key=value`` for every forecast.
    progress : callable, optional

    Raises
    ------
    ScenarioError
        The scenario cannot be understood, or has no striped mount, or too few servers.
    """
    scenario = Scenario.load(path, set=overrides)
    mounts = list(_striped(tomllib.loads(scenario.machine.to_toml())))
    if not mounts:
        raise ScenarioError(f'{shown(path)} has no striped mount; add for example striped = ["io0:/data"]')
    most = min(len(each.servers) for each in mounts)
    if too_many := [count for count in servers if count > most]:
        raise ScenarioError(f"--servers {too_many[0]}: a striped mount of {shown(path)} has only {most}")
    counts = sorted(set(servers)) or [*(1 << power for power in range((most - 1).bit_length())), most]
    if too_many := [stripe for stripe in stripe_counts if stripe > counts[-1]]:
        raise ScenarioError(f"--count {too_many[0]}: a file is on {counts[-1]} servers at most")
    model = model or scenario.models[0]
    stripes: Sequence[int | None] = sorted(set(stripe_counts)) or [None]
    plan = [
        (strip, stripe, count)
        for strip in dict.fromkeys(strip_bytes)
        for stripe in stripes
        for count in counts
        if stripe is None or stripe <= count
    ]
    tell = teller(progress)
    points = []
    for done, (strip, stripe, count) in enumerate(plan):
        tell(done / len(plan), f"strips of {strip} bytes, {count} servers")
        changed = [line for mount in mounts for line in mount.changed(strip, stripe, count)]
        result = simulate(Scenario.load(path, set=[*overrides, *changed]), model=model)
        points.append(StripePoint(strip, count, _throughput(result.operations, mounts), stripe))
    tell(1.0, "")
    return StripePlan(model, tuple(points))


@dataclass(frozen=True, slots=True)
class _Mount:
    host: str
    path: str
    servers: tuple[str, ...]
    stripe_count: int | None

    def changed(self, strip_bytes: int, stripe_count: int | None, count: int) -> list[str]:
        """Give the overrides with another layout on the first so many servers."""
        stripe_count = stripe_count or self.stripe_count
        mount = f"host.{json.dumps(self.host)}.mount.{json.dumps(self.path)}"
        lines = [
            f"{mount}.striped={json.dumps(list(self.servers[:count]))}",
            f'{mount}.layout.strip_size="{strip_bytes} B"',
        ]
        if stripe_count is not None:
            lines.append(f"{mount}.layout.stripe_count={min(stripe_count, count)}")
        return lines

    def has(self, host: str, path: str) -> bool:
        return host == self.host and path.startswith(self.path.rstrip("/") + "/")


def _striped(machine: Mapping[str, Any]) -> Iterator[_Mount]:
    for host, described in machine.get("host", {}).items():
        for path, mount in described.get("mount", {}).items():
            if "striped" in mount:
                layout = mount.get("layout", {})
                yield _Mount(host, path, tuple(mount["striped"]), layout.get("stripe_count"))


def _throughput(operations: Any, mounts: Sequence[_Mount]) -> float:
    """Give the bytes that operations below the mounts move in a second; a copy is where it reads.

    The time is that from the start of the first operation there to the end of the last one.
    """
    columns = (operations[name] for name in ("host", "path", "operation", "bytes", "start_s", "end_s"))
    rows = [
        row
        for row in zip(*columns, strict=True)
        if any(mount.has(str(row[0]), str(row[1])) for mount in mounts)
    ]
    moved = sum(int(row[3]) for row in rows if row[2] in MOVE_BYTES)
    if not moved:
        raise ScenarioError("no process reads or writes below a striped mount")
    return moved / (max(float(row[5]) for row in rows) - min(float(row[4]) for row in rows))
