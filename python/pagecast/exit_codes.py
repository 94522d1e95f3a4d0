"""The exit codes of the ``pagecast`` command: few, named, and the same for every sub-command."""

from enum import IntEnum

__all__ = ["ExitCode"]


class ExitCode(IntEnum):
    """Exit codes of ``pagecast``."""

    OK = 0
    """All is well. A closed pipe counts as well: the reader had enough."""

    CHECK_FAILED = 1
    """A check that was asked for failed: a forecast outside its tolerance, for example."""

    BAD_INPUT = 2
    """Wrong use, a scenario that cannot be understood, an output that cannot be written, a missing right."""

    SIMULATION_FAILED = 3
    """The simulated workload cannot go on: deadlock, out of memory, no such file, a full disk."""

    UNFORESEEN = 70
    """A mistake in pagecast itself (``EX_SOFTWARE`` of ``sysexits.h``); please report it."""

    INTERRUPTED = 130
    """Stopped with Ctrl-C (128 + SIGINT, as shells do), SIGTERM or SIGHUP."""
