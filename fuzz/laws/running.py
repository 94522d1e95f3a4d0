"""Runs many scenarios, and prints how many, which laws were checked how often, and what broke them."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from threading import local

from fuzz.laws.document import to_toml
from fuzz.laws.looking import Failure, Looker, Outcome, alike

mine = local()
MOST_SHRUNK = 12
BATCH = 8


def run(seed: int, numbers: Sequence[int] | None, seconds: float, jobs: int) -> bool:
    """Look at the scenarios of these numbers, or for so long; tell whether all laws hold."""
    begun = time.monotonic()
    kinds: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    shown: set[tuple[str, str]] = set()
    for outcome in outcomes(seed, numbers, begun + seconds, jobs):
        kinds[outcome.case.kind] += 1
        checked += outcome.checked
        for failure in outcome.failures:
            broken[failure.law] += 1
            number = outcome.case.number
            print(f'scenario {number} of seed {seed} breaks "{failure.law}": {failure.what}', flush=True)
            if alike(failure) not in shown and len(shown) < MOST_SHRUNK:
                shown.add(alike(failure))
                show(outcome, failure)
    took = time.monotonic() - begun
    drawn = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    print(f"{kinds.total()} scenarios of seed {seed} ({drawn}), {checked['ends']} simulations, {took:.0f} s")
    for law, number in sorted(checked.items()):
        print(f"  {law:22} checked {number:7} times, broken {broken[law]}")
    return not broken


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
