"""Forecasts held against this machine: scenarios simulated, run, and compared."""

from pagecast.comparison.levels import Level
from pagecast.comparison.standing import Check, Standing
from pagecast.comparison.verdicts import LevelVerdict, Verdict
from pagecast.tolerance import Tolerance
from pagecast.validation.case import Case, Validated
from pagecast.validation.details import RunOperation
from pagecast.validation.forecasting import Estimate, estimate, fitting
from pagecast.validation.methods import methods
from pagecast.validation.outcome import Outcome
from pagecast.validation.scale import Scale
from pagecast.validation.suite import standard
from pagecast.validation.validating import validate

__all__ = [
    "Case",
    "Check",
    "Estimate",
    "Level",
    "LevelVerdict",
    "Outcome",
    "RunOperation",
    "Scale",
    "Standing",
    "Tolerance",
    "Validated",
    "Verdict",
    "estimate",
    "fitting",
    "methods",
    "standard",
    "validate",
]
