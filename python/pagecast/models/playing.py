"""Plays a scenario in nets, and makes a result of it."""

from collections.abc import Callable, Mapping
from time import perf_counter

from pagecast.api import PETRI, Scenario
from pagecast.models.asked import Asked
from pagecast.models.ext3 import play_ext3
from pagecast.models.machine import hosts_of, network_of, quantity
from pagecast.models.programs import programs_of
from pagecast.models.pvfs import is_striped, play_pvfs
from pagecast.models.refusal import Refusal
from pagecast.models.tables import NetTables
from pagecast.models.values import Values
from pagecast.result import Result

__all__ = ["NetResult", "play"]


class NetResult(Result):
    """The result of a scenario that nets have played."""

    def __init__(self, tables: NetTables) -> None:
        super().__init__(tables)
        self._played = tables.played

    @property
    def left_out(self) -> tuple[str, ...]:
        """Keys of the machine that the nets have no place for."""
        return self._played.left_out

    @property
    def draws(self) -> str:
        """What the nets draw by the seed."""
        return self._played.draws


def play(
    scenario: Scenario,
    *,
    seed: int,
    values: Mapping[str, str],
    each_operation: bool,
    progress: Callable[[float, float], object] | None,
) -> NetResult:
    """Play a scenario.

    Parameters
    ----------
    scenario : Scenario
    seed : int
    values : mapping of str to str
        Values of the nets.
    each_operation : bool
        Whether the table `files` has rows after each operation.
    progress : callable, optional

    Returns
    -------
    NetResult

    Raises
    ------
    ScenarioError
        The nets cannot play it; the message has all reasons.
    """
    started = perf_counter()
    refusal = Refusal(scenario.origin)
    programs = programs_of(scenario, refusal, seed=seed)
    hosts = hosts_of(scenario.machine)
    asked = Asked(values=Values(values), seed=seed, each_operation=each_operation, progress=progress)
    if is_striped(programs, hosts):
        played = play_pvfs(scenario, programs, hosts, network_of(scenario.machine), refusal, asked)
    else:
        played = play_ext3(scenario, programs, hosts, refusal, asked)
    memory = {name: int(quantity(host["memory"], "size")) for name, host in hosts.items()}
    tables = NetTables(
        core=programs.result,
        played=played,
        model=PETRI,
        options=dict(values),
        seed=seed,
        wall_s=perf_counter() - started,
        memory_bytes=memory,
    )
    return NetResult(tables)
