"""How busy a machine may be while it is measured."""

from typing import Final

__all__ = ["MUCH_WAITING"]

MUCH_WAITING: Final = 0.1
"""For so much of the time something may wait for a processor (``/proc/pressure/cpu``) without being told."""
