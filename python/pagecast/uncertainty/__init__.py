"""Ranges of forecasts: machines drawn from the uncertainty of their values, and the error of the model.

`draws` draws factors, `kinds` tells kinds of I/O apart, `model_error` has the errors of the model on recorded
platforms, `figures` names the figures of a result, `curves` takes what pictures show, `running` simulates the
draws, and `simulating` puts them together. Left out: the error of the model for levels of memory.
"""

from pagecast.uncertainty.simulating import MOST_DRAWS, check_has_ranges, ranges_of, simulate, with_ranges

__all__ = ["MOST_DRAWS", "check_has_ranges", "ranges_of", "simulate", "with_ranges"]
