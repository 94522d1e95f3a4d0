"""Forecasts held against this machine: scenarios simulated, run, and compared."""

from pagecast.validation.case import Case, Tolerance, Validated

__all__ = ["Case", "Tolerance", "Validated"]
