"""Everything that can go wrong and is the user's or the machine's doing.

The compiled core raises these classes too, so one ``except`` clause is enough. A message is one text: the
place (file and line, if there is one), the mistake, and the remedy.
"""

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BeyondEndError",
    "ClusterError",
    "DeadlockError",
    "DiskFullError",
    "FigureWarning",
    "FileMissingError",
    "MeasureError",
    "MissingPackageError",
    "NoMountError",
    "NotAllowedError",
    "OutOfMemoryError",
    "OutputError",
    "PagecastError",
    "PetriNetError",
    "ProbeError",
    "ProgramError",
    "ScenarioError",
    "SimulationError",
    "StudyError",
    "UnknownModelError",
]


class PagecastError(Exception):
    """The base class of all errors of pagecast."""


class ArgumentError(PagecastError, ValueError):
    """An argument with a value that cannot be."""


class ArgumentTypeError(PagecastError, TypeError):
    """An argument of another type than is wanted."""


class ScenarioError(PagecastError, ValueError):
    """A scenario, a machine or an operation that cannot be understood."""


class UnknownModelError(ScenarioError):
    """A model that does not exist, or an option that a model does not have."""


class MeasureError(PagecastError, ValueError):
    """A measure or a condition that cannot be understood, or names what a result does not have."""


class MissingPackageError(PagecastError, ImportError):
    """A Python package that is not installed; the message names the extra that installs it."""


class ClusterError(PagecastError, OSError):
    """A cluster of workers that cannot be reached, or has another version of pagecast."""


class StudyError(PagecastError, ValueError):
    """A study, an experiment or recordings that do not exist."""


class PetriNetError(PagecastError, ValueError):
    """A Petri net that cannot be understood: its file, its pages, or an inscription."""


class SimulationError(PagecastError, RuntimeError):
    """A simulated workload that cannot go on."""


class NoMountError(SimulationError):
    """A path that is under no mount of its host."""


class FileMissingError(SimulationError):
    """A file that does not exist in the simulation."""


class BeyondEndError(SimulationError):
    """A read that goes beyond the end of its file."""


class DiskFullError(SimulationError):
    """More on a simulated disk than fits."""


class OutOfMemoryError(SimulationError):
    """More anonymous memory than the simulated host has."""


class DeadlockError(SimulationError):
    """Processes that wait for each other, or for an event that never comes."""


class ProgramError(SimulationError):
    """A program (a Python generator) that failed; ``__cause__`` is its own exception."""


class OutputError(PagecastError, OSError):
    """Results that cannot be written where they should go, or read where they should be."""


class FigureWarning(UserWarning):
    """A figure or a report that could not be drawn; its values are in the tables."""


class ProbeError(PagecastError, OSError):
    """The real kernel, or a file on it, that does not let itself be measured or changed."""


class NotAllowedError(ProbeError, PermissionError):
    """A right that is missing: to a file, to lock memory, to drop caches, to make a cgroup."""
