"""Random input for a while: scenarios against the obvious oracle and against laws, bytes for the readers.

    python fuzz/run.py [--class laws | oracle | agreement | readers | nets] [--seconds 90] [--from WORD]
    python fuzz/run.py --class laws --scenarios 5000 [--jobs 2] [--seed 7]
    python fuzz/run.py --class laws --seed 7 --number 19

`oracle` runs the property tests of tests/property again and again with new seeds, until the time is over or
one fails. Then it prints the failing sequence, made as short as Hypothesis can, and the seed.

`agreement` compares `kernel` with the oracle, which agree within a few per cent only: it counts the cases
that part (fuzz/agreement.py).

`laws` draws whole scenarios (fuzz/laws) and asks what must hold for each: the same result once more, in
other units and in another order; nothing is lost; on a faster disk or with more memory nothing ends later,
where the kernel's rules say so; a request waits for the queue of its disk alone; and each ends, within 20 s
and 2 GB. What breaks a law is printed as a scenario file, made smaller, with its seed and number.

`readers` changes small files of every format that is read, and makes up bytes: a reader gives a workload or
one message of one line, and does not panic. What breaks that is printed as short as proptest can make it.

`nets` changes small Petri nets, as files and in each inscription: a net is written as it was read and runs,
or it gives one message of one line.

Without a class each gets the same share of the time. With `--from` the seeds follow from a word, CI's from
the name of the tree: what failed there fails here, and what passed passes.

Why not cargo-fuzz: it needs a nightly compiler, and finds what crashes. The core has no unsafe code, and
whether it equals the oracle can only be asked from Python. Sequences of operations reach deeper than
random bytes.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]

READER_CASES = "20000"
"""Of each of three tests: a round takes some seconds."""

NET_CASES = "500"
"""Of each of four tests: a round takes some ten seconds, as every case compiles a net."""

sys.path.insert(0, str(ROOT))

from fuzz import agreement  # noqa: E402
from fuzz.laws import running  # noqa: E402


def main() -> int:
    """Repeat until the time is over."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--class", dest="name", choices=CLASSES, help="only this one")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--seed", type=int, help="run once with this seed: repeats a failure")
    parser.add_argument("--from", dest="word", metavar="WORD", help="draw the seeds from this word")
    parser.add_argument(
        "--scenarios", type=int, metavar="N", help="of `laws`: so many, however long it takes"
    )
    parser.add_argument("--number", type=int, metavar="N", help="of `laws`: this one of the seed's scenarios")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="of `laws`: so many at a time")
    options = parser.parse_args()
    seeds = random.Random(options.word)
    names = [options.name] if options.name else list(CLASSES)
    return int(not all(CLASSES[name](options, seeds, options.seconds / len(names)) for name in names))


def against_laws(options: argparse.Namespace, seeds: random.Random, seconds: float) -> bool:
    """Hold new scenarios against the laws."""
    seed = given_or_next(options, seeds)
    numbers = None
    if options.number is not None:
        numbers = [options.number]
    elif options.scenarios is not None:
        numbers = range(options.scenarios)
    return running.run(seed, numbers, seconds, options.jobs)


def against_the_oracle(options: argparse.Namespace, seeds: random.Random, seconds: float) -> bool:
    """Repeat the property tests with new seeds."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/property"]
    command += ["-n", "auto", "-m", "not slow and not agreement", "--hypothesis-profile=fuzz"]

    def once(seed: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, f"--hypothesis-seed={seed}"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
        )

    return repeat("oracle", once, options, seeds, seconds)


def in_agreement(options: argparse.Namespace, seeds: random.Random, seconds: float) -> bool:
    """Compare new cases with the oracle, and count."""
    return agreement.run(given_or_next(options, seeds), seconds)


def for_the_readers(options: argparse.Namespace, seeds: random.Random, seconds: float) -> bool:
    """Repeat the tests of the core's tests/hostile_recordings.rs with new seeds."""
    tests = ["pagecast-core", "--test", "simulate", "hostile_recordings"]
    return repeat("readers", of_proptest(tests, READER_CASES), options, seeds, seconds)


def for_nets(options: argparse.Namespace, seeds: random.Random, seconds: float) -> bool:
    """Repeat the tests of pagecast-petri's tests/hostile.rs with new seeds."""
    tests = ["pagecast-petri", "--test", "hostile"]
    return repeat("nets", of_proptest(tests, NET_CASES), options, seeds, seconds)


def of_proptest(tests: list[str], cases: str) -> Callable[[int], "subprocess.CompletedProcess[str]"]:
    """Give what calls tests of a package, each with so many cases of a seed."""

    def once(seed: int) -> subprocess.CompletedProcess[str]:
        asked = {"PROPTEST_RNG_SEED": str(seed), "PROPTEST_CASES": cases}
        command = ["cargo", "test", "--quiet", "--package", *tests]
        return subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False, env=os.environ | asked
        )

    return once


def given_or_next(options: argparse.Namespace, seeds: random.Random) -> int:
    """Give the seed that was asked for, or a new one."""
    return options.seed if options.seed is not None else seeds.randrange(2**32)


def repeat(
    name: str,
    once: Callable[[int], "subprocess.CompletedProcess[str]"],
    options: argparse.Namespace,
    seeds: random.Random,
    seconds: float,
) -> bool:
    """Call `once` with new seeds until the time is over or it fails; then say how to call it again."""
    until = time.monotonic() + seconds
    rounds = 0
    while rounds == 0 or (options.seed is None and time.monotonic() < until):
        seed = seeds.randrange(2**32) if options.seed is None else options.seed
        answer = once(seed)
        if answer.returncode != 0:
            print(answer.stdout)
            print(f"repeat with: python fuzz/run.py --class {name} --seed {seed}")
            return False
        rounds += 1
    print(answer.stdout.strip().splitlines()[-1])
    print(f"{name}: {rounds} rounds with new seeds, nothing found")
    return True


CLASSES = {
    "laws": against_laws,
    "oracle": against_the_oracle,
    "agreement": in_agreement,
    "readers": for_the_readers,
    "nets": for_nets,
}


if __name__ == "__main__":
    sys.exit(main())
