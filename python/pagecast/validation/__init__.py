"""Forecasts held against this machine: scenarios simulated, run, and compared."""

from pagecast.validation.case import Case, Tolerance, Validated
from pagecast.validation.outcome import Level, Outcome, Verdict
from pagecast.validation.validating import validate

__all__ = ["Case", "Level", "Outcome", "Tolerance", "Validated", "Verdict", "validate"]
