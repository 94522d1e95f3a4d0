"""The loads of the dissertation, as far as its text describes them; what it does not print is ours.

- **Random** (section 5.4, Figure 33): 1,000 requests of 8 KiB at places of a file of 600,000 KiB, each place
  as likely as the others.
- **Traces** (section 5.5): two captured traces that are not published. They begin at random places and become
  sequential, with blocks of mixed sizes. `trace` generates one like them. Ours: as many requests on a file as
  long as the random load, a quarter of them at random, sizes from 4 to 64 KiB, each as likely as the others.

Written and committed before any forecast of these loads was compared with a measured figure.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

__all__ = ["BLOCK_KIB", "FILE_KIB", "REQUESTS", "TRACES", "Request", "trace"]

FILE_KIB: Final = 600_000
REQUESTS: Final = 1000
BLOCK_KIB: Final = 8

TRACES: Final = (1, 2)
"""The numbers of the two traces, which are their seeds."""

RANDOM_PART: Final = 4
"""One request of so many is at a random place; these come first."""

SIZES_KIB: Final = (4, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class Request:
    """A read or write of so many bytes at a place of the file."""

    offset_bytes: int
    size_bytes: int


def trace(number: int) -> list[Request]:
    """Generate a trace: random requests, then one behind the other from where the last of these ended.

    At the end of the file it goes on at the start.
    """
    chance = np.random.default_rng(number)
    requests: list[Request] = []
    at_kib = 0
    for count in range(REQUESTS):
        size_kib = int(chance.choice(SIZES_KIB))
        if count < REQUESTS // RANDOM_PART:
            at_kib = BLOCK_KIB * int(chance.integers((FILE_KIB - max(SIZES_KIB)) // BLOCK_KIB))
        elif at_kib + size_kib > FILE_KIB:
            at_kib = 0
        requests.append(Request(1024 * at_kib, 1024 * size_kib))
        at_kib += size_kib
    return requests
