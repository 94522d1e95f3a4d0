"""Cases: operations on a live kernel, step by step, in a file of one command a line.

The language is that of the recordings: `COMMANDS` has every command with its arguments. Sizes take k, m and g
(binary); "#" begins a comment. Between ``proc NAME`` and ``endproc`` are the steps of a concurrent process.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pagecast.errors import StudyError

__all__ = ["COMMANDS", "CURRENT", "FLAGS", "Case", "Step", "parse", "read_case"]

COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "open": ("handle", "path", "flags"),
    "write": ("handle", "offset", "size", "call"),
    "read": ("handle", "offset", "size", "call"),
    "fwrite": ("handle", "size", "call", "buffer"),
    "fread": ("handle", "size", "call", "buffer"),
    "fsync": ("handle",),
    "fdatasync": ("handle",),
    "close": ("handle",),
    "unlink": ("path",),
    "rename": ("path", "to"),
    "mkdir": ("path",),
    "owrite": ("handle", "size", "call", "around_bytes", "pause_us"),
    "snap": ("label",),
    "sync": (),
    "drop": (),
    "dontneed": ("handle",),
    "sleep": ("ms",),
    "spin": ("ms",),
    "stat": ("label", "path"),
    "mark": ("label",),
    "proc": ("label",),
    "endproc": (),
    "wait": (),
    "sh": ("command",),
}
"""The arguments of each command."""

FLAGS: Final = "rwctdsS"
"""What opening may be told: read, write, create, truncate, O_DIRECT, O_SYNC, O_DSYNC."""

CURRENT: Final = -1
"""The offset that means the current position."""

_POWERS: Final = {"k": 2**10, "m": 2**20, "g": 2**30}


@dataclass(frozen=True, slots=True)
class Step:
    """One command: its arguments by name, its line and text, and for `proc` the steps of the process."""

    command: str
    arguments: dict[str, Any]
    line: int
    text: str
    steps: tuple["Step", ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A case: its name, where it was read, and its steps."""

    name: str
    origin: str
    steps: tuple[Step, ...]


def read_case(path: Path) -> Case:
    """Read a case from a file ``NAME.pct``.

    Raises
    ------
    StudyError
        The file cannot be read or understood; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: cannot be read ({error})") from error
    return parse(text, name=path.stem, origin=str(path))


def parse(text: str, *, name: str, origin: str) -> Case:
    """Understand the text of a case.

    Parameters
    ----------
    text : str
    name : str
    origin : str
        Name of the text in messages.

    Raises
    ------
    StudyError
        A command or an argument that does not exist, `proc` inside `proc`, or one without its `endproc`.
    """
    lines = ((number, line.partition("#")[0].split()) for number, line in enumerate(text.splitlines(), 1))
    words = ((number, found) for number, found in lines if found)
    return Case(name, origin, tuple(_steps(words, origin, inside=None)))


def _steps(lines: Iterator[tuple[int, list[str]]], origin: str, *, inside: int | None) -> Iterator[Step]:
    """Read steps up to the end, or up to the `endproc` of the `proc` whose line is `inside`."""
    for number, (command, *values) in lines:
        where = f"{origin}:{number}"
        arguments = _arguments(command, values, where)
        if command == "endproc":
            if inside is None:
                raise StudyError(f"{where}: `endproc` without a `proc` above it")
            return
        if command == "proc" and inside is not None:
            raise StudyError(f"{where}: `proc` inside the `proc` of line {inside}; write `endproc` first")
        steps = tuple(_steps(lines, origin, inside=number)) if command == "proc" else ()
        yield Step(command, arguments, number, " ".join([command, *values]), steps)
    if inside is not None:
        raise StudyError(f"{origin}:{inside}: `proc` without an `endproc` below it")


def _arguments(command: str, values: list[str], where: str) -> dict[str, Any]:
    if command not in COMMANDS:
        nearest = get_close_matches(command, COMMANDS, n=1)
        hint = f"did you mean `{nearest[0]}`?" if nearest else f"there are {', '.join(COMMANDS)}"
        raise StudyError(f"{where}: there is no command `{command}`; {hint}")
    names = COMMANDS[command]
    if command == "sh" and values:
        values = [" ".join(values)]
    if len(values) != len(names):
        usage = " ".join([command, *(name.upper() for name in names)])
        raise StudyError(f"{where}: `{command}` has {len(values)} arguments; write `{usage}`")
    return {name: _value(name, value, where) for name, value in zip(names, values, strict=True)}


def _value(name: str, text: str, where: str) -> object:
    match name:
        case "size" | "call" | "buffer" | "around_bytes":
            return _size(text, where)
        case "offset":
            return CURRENT if text == str(CURRENT) else _size(text, where)
        case "ms":
            return _milliseconds(text, where)
        case "pause_us":
            return _size(text, where)
        case "flags":
            if unknown := [flag for flag in text if flag not in FLAGS]:
                raise StudyError(f"{where}: there is no flag `{unknown[0]}`; flags are {', '.join(FLAGS)}")
            return text
        case _:
            return text


def _size(text: str, where: str) -> int:
    digits, power = (text[:-1], _POWERS[text[-1].lower()]) if text[-1:].lower() in _POWERS else (text, 1)
    if not (digits.isascii() and digits.isdigit()):
        raise StudyError(f"{where}: `{text}` is no size; write bytes, or a number with k, m or g")
    return int(digits) * power


def _milliseconds(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise StudyError(f"{where}: `{text}` is no time; write milliseconds")
    return value
