"""Rates over file size and record size as iozone has them: forecast, measured, or read from a result."""

from pagecast.grid.kinds import TESTS
from pagecast.grid.plan import Cell, GridPlan
from pagecast.grid.reading import read_rates
from pagecast.grid.result import Grid
from pagecast.grid.running import measure, simulate

__all__ = ["TESTS", "Cell", "Grid", "GridPlan", "measure", "read_rates", "simulate"]
