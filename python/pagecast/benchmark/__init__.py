"""The page cache benchmark: rates of memory and of the device.

`bench` measures a matrix of cells; it gives a `Benchmark`. Nothing here needs root but changed
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
