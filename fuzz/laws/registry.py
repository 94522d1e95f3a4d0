"""Which kinds of scenarios there are, and which laws each is held against."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fuzz.laws import beside, conservation, identity, lonely, monotonicity, whole
from fuzz.laws.chance import Chance
from fuzz.laws.document import Table
from fuzz.laws.simulating import Case, Simulator

Law = Callable[[Case, Simulator], Iterator[str]]


@dataclass(frozen=True)
class Kind:
    """A way to draw scenarios, how many of a hundred are drawn so, and their laws by name."""

    draw: Callable[[Chance], Table]
    of_a_hundred: int
    laws: dict[str, Law]
    is_shrunk: bool = True


KINDS = {
    "whole": Kind(
        whole.scenario,
        70,
        {
            "conservation": conservation.law,
            "determinism": identity.determinism,
            "permutation": identity.permutation,
            "units": identity.units,
            "independence": identity.independence,
        },
    ),
    "reader": Kind(
        lonely.reader,
        12,
        {
            "conservation": conservation.law,
            "faster disk": monotonicity.faster_disk,
            "quicker disk": monotonicity.quicker_disk,
            "more memory": monotonicity.more_memory_for_a_reader,
        },
    ),
    "writer": Kind(
        lonely.writer,
        12,
        {
            "conservation": conservation.law,
            "faster disk": monotonicity.faster_disk,
            "more memory": monotonicity.more_memory_for_a_writer,
        },
    ),
    "beside": Kind(
        beside.scenario,
        6,
        {
            "wait is the queue": beside.wait_is_the_queue,
            "wait of memory": beside.wait_of_memory,
            "wait beside a cgroup": beside.wait_beside_cgroup,
            "wait of calls": beside.wait_of_calls,
        },
        is_shrunk=False,  # it is small, and with less it is no such scenario
    ),
}


def draw(seed: int, number: int) -> Case:
    """Draw the scenario of that number: the same whatever was drawn before."""
    chance = Chance(f"{seed}/{number}")
    place = chance.randrange(100)
    for name, kind in KINDS.items():
        place -= kind.of_a_hundred
        if place < 0:
            return Case(name, seed, number, kind.draw(chance))
    raise AssertionError("the kinds make up a hundred")
