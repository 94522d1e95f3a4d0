"""Kinds of operations."""

from typing import Final

__all__ = ["NO_IO"]

NO_IO: Final = frozenset({"alloc", "compute", "exit", "free", "signal", "sleep", "wait"})
"""Operations that are not about files."""
