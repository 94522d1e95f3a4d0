"""Compares forecasts with measurements: rows and their errors, levels of memory, tolerances, outcomes.

Studies and validation stand on this package, and it imports neither of them.
"""
