"""Measures: single figures of a result, such as ``p99(db fsync)``, and conditions on them.

`language` reads a measure, `evaluate` computes it, `want` reads a condition and judges a value.
"""

from pagecast.measures.evaluate import evaluate
from pagecast.measures.language import Measure, parse_measure
from pagecast.measures.want import Want, parse_want

__all__ = ["Measure", "Want", "evaluate", "parse_measure", "parse_want"]
