"""Laws of whole scenarios, the same ones each time; `fuzz/run.py --class laws` draws others.

A trial of 16,000 random scenarios in the field found what tests of single rules had not: waits that depended
on the memory, counters that fell, bytes that were missing from a sum.
"""

from collections.abc import Iterator

import pytest

from fuzz.laws.document import to_toml
from fuzz.laws.looking import Looker
from fuzz.laws.registry import KINDS, draw

SEED = 17
SCENARIOS = 40
NUMBERS = {kind: [number for number in range(SCENARIOS) if draw(SEED, number).kind == kind] for kind in KINDS}


@pytest.fixture(scope="module")
def looker() -> Iterator[Looker]:
    """A process that is killed when a scenario takes more than 20 s or 2 GB."""
    looker = Looker()
    yield looker
    looker.end()


@pytest.mark.parametrize(("kind", "law"), [(kind, law) for kind in KINDS for law in KINDS[kind].laws])
def test_a_law_holds(kind: str, law: str, looker: Looker) -> None:
    for number in NUMBERS[kind]:
        outcome = looker.look((SEED, number), law)
        assert not outcome.failures, (
            f"scenario {number} of seed {SEED} breaks {outcome.failures}:\n{to_toml(outcome.case.document)}"
        )


def test_there_are_scenarios_of_each_kind() -> None:
    assert all(NUMBERS.values())
