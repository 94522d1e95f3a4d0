"""The page cache benchmark: what memory and what the device serves, and at which rate.

`bench` measures a matrix of cells; what it gives is a `Benchmark`. Nothing here needs root but changed
settings and profiles.
"""

from pagecast.benchmark.measuring import bench
from pagecast.benchmark.plan import ACCESSES, MODES, Cell, Plan
from pagecast.benchmark.result import Benchmark, Copy, Measurement, Repetition

__all__ = [
    "ACCESSES",
    "MODES",
    "Benchmark",
    "Cell",
    "Copy",
    "Measurement",
    "Plan",
    "Repetition",
    "bench",
]
