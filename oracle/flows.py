"""Flows that share resources: weighted max-min fairness and a clock of whole nanoseconds.

What it models: a transfer of a whole number of bytes that uses one or more resources (the side of a disk,
memory, processors, a link), each with a cost: a flow of rate x uses cost * x of the capacity. Rates are
max-min fair: they are found by progressive filling.
Source: the arithmetic contract in README.md of this folder; max-min fairness as in SimGrid (Casanova et al.).
Leaves out: latency, which whoever starts a flow adds as a timer; weights and caps of single flows, which no
policy here asks for.

The arithmetic is spelled out (which sums are exact, what is rounded where), because another implementation
has to arrive at the same nanosecond.
"""

import math
from collections.abc import Callable, Iterator

ONE = 1 << 52  # a load of 1.0
SLACK_NS = 1 / 1024  # the noise of floating point shall not cost a whole nanosecond

Points = tuple[tuple[int, float], ...]


def capacity_at(points: Points, n: int) -> float:
    """The capacity with n flows: linear between the points, constant outside them."""
    below = [point for point in points if point[0] <= n]
    above = [point for point in points if point[0] > n]
    if not below:
        return above[0][1]
    if not above:
        return below[-1][1]
    (x0, y0), (x1, y1) = below[-1], above[0]
    return y0 + (y1 - y0) * ((n - x0) / (x1 - x0))


class Resource:
    """Something with a capacity in bytes per second, shared by the flows that use it.

    `points` are (number of flows, capacity), ascending; `per_flow_max` limits each flow.
    """

    def __init__(self, name: str, points: Points, per_flow_max: float | None = None):
        self.name, self.points, self.per_flow_max = name, points, per_flow_max
        self.number = -1  # given by the network
        self.flows: list[Flow] = []  # all flows that use it, in order of their numbers
        self.counter = Counter()

    def capacity(self) -> float:
        return capacity_at(self.points, len(self.flows))

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Counter:
    """How many bytes each flow has been served: `served` at `since_ns`, growing by `level` per second."""

    def __init__(self) -> None:
        self.served, self.since_ns, self.level = 0.0, 0, 0.0
        self.bound = 0  # number of flows bound to it

    def now(self, now_ns: int) -> float:
        return self.served + self.level * ((now_ns - self.since_ns) * 1e-9)

    def set_level(self, level: float, now_ns: int) -> None:
        if level != self.level:  # the base moves only when the level changes
            self.served, self.since_ns, self.level = self.now(now_ns), now_ns, level

    def unbind(self, now_ns: int) -> None:
        self.bound -= 1
        if self.bound == 0:  # at once, before anything else starts at this instant
            self.served, self.since_ns, self.level = 0.0, now_ns, 0.0

    def finish_ns(self, tag: float) -> int | None:
        if self.level <= 0.0:
            return None  # blocked
        return self.since_ns + max(0, math.ceil((tag - self.served) / self.level * 1e9 - SLACK_NS))


class Flow:
    """A transfer of `size` bytes over `uses` = [(resource, cost), ...]."""

    def __init__(self, size: int, uses: list[tuple[Resource, float]]):
        self.size, self.uses = size, uses
        self.load = {r: round(cost * ONE) for r, cost in uses}
        self.is_last_first = (
            False  # among those that finish at one instant, such flows come in descending order
        )
        self.on_done: Callable[[], None] | None = None
        self.number = -1
        self.binding: Counter | None = None  # that of the resource which limits it
        self.tag = math.nan  # where that counter will be when the flow is done

    def remaining(self, now_ns: int) -> float:
        if self.binding is None:
            return float(self.size)
        return self.tag - self.binding.now(now_ns)

    def finish_ns(self) -> int | None:
        return self.binding.finish_ns(self.tag) if self.binding is not None else None


class Network:
    """All resources and flows, and what the time is."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.resources: list[Resource] = []
        self.flows: list[Flow] = []  # in order of their numbers
        self.started = 0
        self.is_stale = False  # rates have to be solved again

    def add(self, resource: Resource) -> Resource:
        resource.number = len(self.resources)
        self.resources.append(resource)
        return resource

    def start(self, flow: Flow) -> None:
        """Let a flow in (`size` > 0). It moves from the next `solve` on, which comes before time does."""
        assert flow.size > 0, "a flow of 0 bytes is done at once and never started"
        flow.number = self.started
        self.started += 1
        self.flows.append(flow)
        for r, _ in flow.uses:
            r.flows.append(flow)
        self.is_stale = True

    def leave(self, flow: Flow) -> None:
        """Take a flow out that has finished."""
        self.flows.remove(flow)
        for r, _ in flow.uses:
            r.flows.remove(flow)
        if flow.binding is not None:
            flow.binding.unbind(self.now_ns)
        self.is_stale = True

    def next_finish_ns(self) -> int | None:
        times = [t for f in self.flows if (t := f.finish_ns()) is not None]
        return max(self.now_ns, min(times)) if times else None

    def finished(self) -> list[Flow]:
        """The flows that are done by now, in order of their numbers (those `is_last_first` trade places)."""
        done = [f for f in self.flows if (t := f.finish_ns()) is not None and t <= self.now_ns]
        turned = [i for i, f in enumerate(done) if f.is_last_first]
        for i, f in zip(turned, [done[i] for i in reversed(turned)], strict=True):
            done[i] = f
        return done

    # -- rates ---------------------------------------------------------------------------
    def solve(self) -> None:
        """Find the rates for the flows that are in now. Called after all that happens at an instant."""
        if not self.is_stale:
            return
        self.is_stale = False
        binds: dict[Flow, Counter] = {}
        level: dict[Counter, float] = {}
        for resources, flows in self._components():
            _fill(resources, flows, binds, level)
        moved = [f for f in self.flows if f.binding is not binds[f]]
        left = {f: f.remaining(self.now_ns) for f in moved}  # with the old levels
        for f in moved:
            if f.binding is not None:
                f.binding.unbind(self.now_ns)
        for counter, phi in level.items():
            counter.set_level(phi, self.now_ns)
        for f in moved:
            counter = f.binding = binds[f]
            counter.bound += 1
            if counter.bound == 1:  # nobody else: counts from here
                counter.since_ns = self.now_ns
            f.tag = counter.now(self.now_ns) + left[f]

    def _components(self) -> Iterator[tuple[list[Resource], list[Flow]]]:
        """Groups of resources that are connected through flows, and these flows, in ascending order."""
        seen: set[Resource] = set()
        for first in self.resources:
            if first in seen or not first.flows:
                continue
            group, todo = {first}, [first]
            while todo:
                for f in todo.pop().flows:
                    for r, _ in f.uses:
                        if r not in group:
                            group.add(r)
                            todo.append(r)
            seen |= group
            flows = {f for r in group for f in r.flows}
            yield sorted(group, key=lambda r: r.number), sorted(flows, key=lambda f: f.number)


def _fill(
    resources: list[Resource], flows: list[Flow], binds: dict[Flow, Counter], level: dict[Counter, float]
) -> None:
    """Progressive filling: raise all rates together; what binds first fixes its flows; and so on."""
    rate: dict[Flow, float] = {}
    while len(rate) < len(flows):
        lowest, narrowest = math.inf, None
        for r in resources:
            free = [f for f in r.flows if f not in rate]
            if not free:
                continue
            used = 0.0
            for f in r.flows:
                if f in rate:
                    used += dict(f.uses)[r] * rate[f]
            phi = max(0.0, r.capacity() - used) / (sum(f.load[r] for f in free) * 2.0**-52)
            if r.per_flow_max is not None:
                phi = min(phi, r.per_flow_max)
            if phi < lowest:
                lowest, narrowest = phi, r
        assert narrowest is not None, "every flow uses a resource"
        level[narrowest.counter] = lowest
        for f in [f for f in narrowest.flows if f not in rate]:
            rate[f], binds[f] = lowest, narrowest.counter
