"""Forecasts under any model: the engine with a policy, or the Petri nets of ext3 and PVFS."""

from pagecast.models.choosing import MODELS, PETRI, simulate

__all__ = ["MODELS", "PETRI", "simulate"]
