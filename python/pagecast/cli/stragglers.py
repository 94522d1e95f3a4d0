"""Names the server that striped calls waited for."""

from collections import defaultdict
from collections.abc import Iterator

from pagecast.cli.amounts import seconds
from pagecast.result import Result

__all__ = ["stragglers"]

_MOST: float = 0.5
"""The part of all waiting for the last answer from which on one server is to blame."""

_FAIR: float = 1.5
"""The multiple of its fair share of that from which on a server is named."""


def stragglers(result: Result) -> Iterator[str]:
    """Say which server answered last, where calls waited mostly for one.

    Parameters
    ----------
    result : Result

    Yields
    ------
    str
    """
    rows = result.payloads
    behind: defaultdict[str, float] = defaultdict(float)
    last: defaultdict[str, int] = defaultdict(int)
    for server, time, count in zip(*(rows[name] for name in ("server", "behind_s", "last")), strict=True):
        behind[server] += float(time)
        last[server] += int(count)
    total = sum(behind.values())
    if total == 0:
        return
    slowest = max(behind, key=lambda server: behind[server])
    if behind[slowest] < max(_MOST, _FAIR / len(behind)) * total:
        return
    of_it = [row for row in range(len(rows)) if rows["server"][row] == slowest]
    worst = max(of_it, key=lambda row: float(rows["behind_s"][row]))
    yield (
        f"{result.model}: {last[slowest]:,} of {sum(last.values()):,} calls on several servers waited for "
        f"{slowest} at last, {seconds(behind[slowest])} in all, mostly its {rows['part'][worst]}; "
        f"the busiest link to it is {rows['link'][worst]}."
    )
