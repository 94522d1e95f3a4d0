"""Runs many scenarios, and prints how many, which laws were checked how often, and what broke them."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count, islice
from threading import local

from fuzz.laws.document import to_toml
from fuzz.laws.looking import Failure, Looker, Outcome, alike

mine = local()
MOST_SHRUNK = 12
BATCH = 8


@dataclass
class Tally:
    """How many scenarios were looked at, how often each law was checked and broken, and what was shown."""

    seed: int
    kinds: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    shown: set[tuple[str, str]] = field(default_factory=set)

    def add(self, outcome: Outcome) -> None:
        """Count what came of a scenario, and print what it breaks."""
        self.kinds[outcome.case.kind] += 1
        self.checked += outcome.checked
        for failure in outcome.failures:
            self.broken[failure.law] += 1
            place = f"scenario {outcome.case.number} of seed {self.seed}"
            print(f'{place} breaks "{failure.law}": {failure.what}', flush=True)
            if alike(failure) not in self.shown and len(self.shown) < MOST_SHRUNK:
                self.shown.add(alike(failure))
                show(outcome, failure)

    def print(self, took_s: float) -> None:
        """Print all counts."""
        drawn = ", ".join(f"{number} {kind}" for kind, number in self.kinds.items())
        done = f"{self.checked['ends']} simulations, {took_s:.0f} s"
        print(f"{self.kinds.total()} scenarios of seed {self.seed} ({drawn}), {done}")
        for law, number in sorted(self.checked.items()):
            print(f"  {law:22} checked {number:7} times, broken {self.broken[law]}")


def run(seed: int, numbers: Sequence[int] | None, seconds: float, jobs: int) -> bool:
    """Look at the scenarios of these numbers, or for so long or until Ctrl-C; tell whether all laws hold."""
    begun, tally = time.monotonic(), Tally(seed)
    try:
        for outcome in outcomes(seed, numbers, begun + seconds, jobs):
            tally.add(outcome)
    except KeyboardInterrupt:
        print("interrupted")
    tally.print(time.monotonic() - begun)
    return not tally.broken


def outcomes(seed: int, numbers: Sequence[int] | None, until: float, jobs: int) -> Iterator[Outcome]:
    """Look at one scenario after the other, several at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        for batch in batched(numbers if numbers is not None else count(), BATCH * jobs):
            if numbers is None and batch[0] > 0 and time.monotonic() > until:
                return
            yield from pool.map(lambda number: looker().look((seed, number)), batch)


def batched(numbers: Iterable[int], size: int) -> Iterator[list[int]]:
    """Give so many at a time (as `itertools.batched` does since Python 3.12)."""
    each = iter(numbers)
    while batch := list(islice(each, size)):
        yield batch


def looker() -> Looker:
    """Give the process that looks for this thread."""
    if not hasattr(mine, "looker"):
        mine.looker = Looker()
    return mine.looker


def show(outcome: Outcome, failure: Failure) -> None:
    """Print the scenario that breaks a law, made smaller, and what looks at it again."""
    smaller, case = looker().shrink(outcome, failure), outcome.case
    print(f'# breaks "{failure.law}":\n{to_toml(smaller)}')
    print(
        f"repeat with: python fuzz/run.py --class laws --seed {case.seed} --number {case.number}", flush=True
    )
