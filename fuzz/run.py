"""Random sequences of operations, the fast core against the obvious oracle, for a while.

    python fuzz/run.py [--seconds 60] [--from WORD]

Runs the property tests of tests/property again and again with new seeds, until the time is over or one fails.
Then it prints the failing sequence, made as short as Hypothesis can, and the seed. With `--from` the seeds
follow from a word, CI's from the name of the tree: what failed there fails here, and what passed passes.

Why not cargo-fuzz: it needs a nightly compiler, and finds what crashes. The core has no unsafe code, and
whether it equals the oracle can only be asked from Python. Sequences of operations reach deeper than
random bytes.
"""

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Repeat until the time is over."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, help="run once with this seed: repeats a failure")
    parser.add_argument("--from", dest="word", metavar="WORD", help="draw the seeds from this word")
    options = parser.parse_args()
    seeds = random.Random(options.word)
    until = time.monotonic() + options.seconds
    rounds = 0
    while rounds == 0 or (options.seed is None and time.monotonic() < until):
        seed = seeds.randrange(2**32) if options.seed is None else options.seed
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/property"]
        command += ["--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}"]
        answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if answer.returncode != 0:
            print(answer.stdout)
            print(f"repeat with: python fuzz/run.py --seed {seed}")
            return 1
        rounds += 1
    print(answer.stdout.splitlines()[-1])
    print(f"{rounds} rounds of new random sequences, no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
