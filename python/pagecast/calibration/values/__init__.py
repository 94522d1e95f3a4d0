"""The values of a machine file, from facts and measurements; each with where it comes from.

Costs are fitted in every round, and the median of the rounds is taken: so the interval of a cost that comes
from several cells is that of the cost, not of the cells.
"""

from collections.abc import Iterator

from pagecast.calibration.facts import Facts
from pagecast.calibration.measure import Measurements
from pagecast.calibration.rounds import Rounds
from pagecast.calibration.values.cawl import cawl_values
from pagecast.calibration.values.disk import disk_values
from pagecast.calibration.values.figures import figures_of
from pagecast.calibration.values.memory import memory_values
from pagecast.calibration.values.mounts import mount_values
from pagecast.calibration.values.told import facts_of
from pagecast.calibration.values.value import Value

__all__ = ["Value", "facts_of", "figures_of", "values_of"]


def values_of(measurements: Measurements, facts: Facts) -> Iterator[Value]:
    """Give the keys that were measured.

    Parameters
    ----------
    measurements : Measurements
    facts : Facts
        Of the same machine.

    Yields
    ------
    Value
        In the order of the file; values that could not be measured are left out.
    """
    rounds = Rounds(measurements)
    yield from memory_values(rounds, facts)
    yield from disk_values(rounds)
    yield from mount_values(rounds)
    yield from cawl_values(rounds, facts)
