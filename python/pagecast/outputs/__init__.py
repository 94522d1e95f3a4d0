"""Reads the ``--out`` folder of a command again: two of them side by side."""

from pagecast.outputs.comparison import Comparison, Difference, Pair, compare
from pagecast.outputs.reading import Output, Times, read

__all__ = ["Comparison", "Difference", "Output", "Pair", "Times", "compare", "read"]
