"""The lines of a suggestion, by file, and the commands that do the same now."""

from collections.abc import Sequence
from dataclasses import dataclass

from pagecast.advice.knob import DISK, Line
from pagecast.advice.knobs import fstab_line
from pagecast.advice.search import Suggestion

__all__ = ["Paste", "pastes"]

_FSTAB = "/etc/fstab"


@dataclass(frozen=True)
class Paste:
    """The lines of one file of a host.

    Attributes
    ----------
    host : str
        ``""`` where there is one host.
    file : str
        ``""`` for what no file does: a flag of a program, memory to buy.
    lines : tuple of str
        With the headers of sections.
    now : tuple of str
        Commands that do the same until the next boot.
    cgroup : tuple of str
        Commands that do the same for a process in a cgroup that is not systemd's.
    """

    host: str
    file: str
    lines: tuple[str, ...]
    now: tuple[str, ...]
    cgroup: tuple[str, ...] = ()

    @property
    def needs_disk(self) -> bool:
        """Whether a line has the placeholder of a disk's name."""
        return any(DISK in text for text in (*self.lines, *self.now, *self.cgroup))


def pastes(suggestion: Suggestion) -> tuple[Paste, ...]:
    """Give the lines of all settings, those of one file of a host together.

    Parameters
    ----------
    suggestion : Suggestion

    Returns
    -------
    tuple of Paste
    """
    by_file: dict[tuple[str, str], list[Line]] = {}
    for setting in suggestion.settings:
        for line in setting.lines:
            by_file.setdefault((line.host, line.file), []).append(line)
    return tuple(
        _paste(host, file, _joined_mounts(lines) if file == _FSTAB else sorted(lines, key=_is_no_scheduler))
        for (host, file), lines in by_file.items()
    )


def _paste(host: str, file: str, lines: Sequence[Line]) -> Paste:
    now, cgroup = (
        tuple(dict.fromkeys(text for text in texts if text))
        for texts in ((line.now for line in lines), (line.cgroup for line in lines))
    )
    return Paste(host, file, _texts(lines), now, cgroup)


def _is_no_scheduler(line: Line) -> bool:
    """Sort a scheduler first: with it the kernel sets nr_requests and write-back throttling anew."""
    return "queue/scheduler" not in line.text


def _texts(lines: Sequence[Line]) -> tuple[str, ...]:
    """Give lines below the headers of their sections."""
    sections: dict[str, list[str]] = {}
    for line in lines:
        texts = sections.setdefault(line.section, [])
        if line.text not in texts:
            texts.append(line.text)
    return tuple(
        text for section, texts in sections.items() for text in ([section, *texts] if section else texts)
    )


def _joined_mounts(lines: Sequence[Line]) -> list[Line]:
    """Make one line of fstab of those for one mount."""
    mounts: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        source, path, kind, _, *rest = line.text.split(" ")
        mounts.setdefault((source, path, kind, *rest), []).append(line)
    return [
        own[0] if len(own) == 1 else fstab_line(" ".join((source, path, kind, _options(own), *rest)))
        for (source, path, kind, *rest), own in mounts.items()
    ]


def _options(lines: Sequence[Line]) -> str:
    """Give the options of several lines of a mount, each once."""
    return ",".join(dict.fromkeys(option for line in lines for option in line.text.split(" ")[3].split(",")))
