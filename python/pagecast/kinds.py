"""Kinds of operations."""

from typing import Final

__all__ = ["MOVE_BYTES", "NO_IO"]

NO_IO: Final = frozenset({"alloc", "compute", "exit", "free", "signal", "sleep", "wait"})
"""Operations that are not about files."""

MOVE_BYTES: Final = frozenset(
    {"read", "write", "readwrite", "fread", "fwrite", "mmap_read", "mmap_write", "copy"}
)
"""Operations that move bytes between a program and a file, or between two files."""
