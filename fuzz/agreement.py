"""How many of new cases `kernel` and the oracle part on, by more than tests/property/agreement.py allows.

The two differ in how fine they are: rates and bytes here, units and pauses there. Within a few per cent they
agree on nearly every case; where a threshold is met or missed by a hair, what comes after differs. Each of
those could be given an allowance of its own. Instead they are counted: no more than `MOST_PARTED` may part.
"""

import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import count

import hypothesis
from hypothesis import strategies as st

from tests.property.agreement import compare
from tests.property.kernel_cases import DRAWN, Case

MOST_PARTED = 0.02
LEAST_CASES = 200
BATCH = 50


@dataclass
class Tally:
    """How many cases were compared, and of those that part: why, and the scenario."""

    cases: int = 0
    parted: list[tuple[str, str]] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count the cases of another, too."""
        self.cases += other.cases
        self.parted += other.parted

    def agrees(self) -> bool:
        """Tell whether few enough part: a single one of a few cases would be many."""
        return len(self.parted) <= MOST_PARTED * max(self.cases, LEAST_CASES)


def run(seed: int, seconds: float) -> bool:
    """Compare new cases for so long; print what parts, and tell whether few do."""
    tally = Tally()
    for each in batches(seed, time.monotonic() + seconds):
        for why, scenario in each.parted:
            print(f"{scenario}\n# parts: {why}\n", flush=True)
        tally.add(each)
    print(f"agreement: {len(tally.parted)} of {tally.cases} cases of seed {seed} part")
    if not tally.agrees():
        print(
            f"at most {MOST_PARTED:.0%} may: repeat with python fuzz/run.py --class agreement --seed {seed}"
        )
    return tally.agrees()


def batches(seed: int, until: float) -> Iterator[Tally]:
    """Compare a batch on each processor, again and again."""
    seeds, jobs = random.Random(seed), os.cpu_count() or 1
    with ProcessPoolExecutor(jobs) as pool:
        for number in count():
            if number > 0 and time.monotonic() > until:
                return
            yield from pool.map(batch, [seeds.randrange(2**32) for _ in range(jobs)])


def batch(seed: int) -> Tally:
    """Compare some cases of all kinds."""
    tally = Tally()

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=BATCH,
        phases=[hypothesis.Phase.generate],
        derandomize=False,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=st.one_of(list(DRAWN.values())))
    def draw(case: Case) -> None:
        tally.cases += 1
        try:
            compare(case)
        except AssertionError as error:
            tally.parted.append((str(error).splitlines()[0], case.to_toml()))

    draw()
    return tally
