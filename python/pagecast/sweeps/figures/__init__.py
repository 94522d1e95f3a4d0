"""Figures of a sweep; needs matplotlib.

Each function draws into the given axes or into new ones and returns them.
"""

from pagecast.sweeps.figures.heatmap import heatmap
from pagecast.sweeps.figures.lines import lines
from pagecast.sweeps.figures.pareto import pareto
from pagecast.sweeps.figures.tornado import tornado

__all__ = ["heatmap", "lines", "pareto", "tornado"]
