"""A knob: something that can be set, its values, and the lines that set it on a real machine."""

from dataclasses import dataclass

__all__ = ["DISK", "NETWORK_SERVER", "Knob", "Line", "Setting"]

DISK = "sdX"
"""Stands for the name that the kernel gives a disk, which no scenario knows."""

NETWORK_SERVER = "SERVER"
"""Stands for the name of a file server in a line of fstab."""


@dataclass(frozen=True)
class Line:
    """A line to paste.

    Attributes
    ----------
    file : str
        Where it belongs; ``""`` for what no file does.
    text : str
        May be several lines.
    section : str
        The header that it needs in that file, such as ``[Service]``.
    now : str
        A command that does the same until the next boot; ``""`` if there is none.
    cgroup : str
        A command that writes the file of the cgroup which systemd would write; ``""`` for other lines.
    host : str
        The one it belongs to; ``""`` where there is one host.
    """

    file: str
    text: str
    section: str = ""
    now: str = ""
    cgroup: str = ""
    host: str = ""


@dataclass(frozen=True)
class Setting:
    """One value of a knob.

    Attributes
    ----------
    text : str
        As a person reads it: "dirty_bytes 256 MiB".
    overrides : tuple of str
        As for ``--set``.
    lines : tuple of Line
    """

    text: str
    overrides: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Knob:
    """A setting that an administrator can change, and its values.

    Attributes
    ----------
    name : str
        Unique.
    settings : tuple of Setting
        Other values than the present one; in order where they have one.
    is_ordered : bool
        Whether the first and the last value tell whether it has an effect at all.
    effort : float
        Of changing it, beside others: 1 for a line in a file, 2 for a program, 5 for hardware.
    """

    name: str
    settings: tuple[Setting, ...]
    is_ordered: bool = True
    effort: float = 1.0
