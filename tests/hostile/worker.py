"""Runs hostile inputs, each in a process of its own with limits.

Inputs come on stdin, outcomes go to stdout, both pickled. The process imports pagecast once and forks
for each input, which takes milliseconds.
"""

import importlib.util
import os
import pickle
import resource
import signal
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["LIMIT_BYTES", "LIMIT_S", "Input", "Outcome", "main"]

LIMIT_S = 20
"""Of processor time, as a busy machine says nothing; so long thrice by the clock, for who sleeps."""

LIMIT_BYTES = 2 * 10**9
_TOLD_BYTES = 20_000


@dataclass(frozen=True)
class Input:
    """A command line, or code for the Python interface, and the folder in which it runs.

    Attributes
    ----------
    files : dict
        What is in the folder: bytes of a file, None for a directory, a str for where a link leads.
    """

    name: str
    arguments: tuple[str, ...] = ()
    code: str = ""
    files: dict[str, bytes | str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How an input ended: negative codes are signals."""

    code: int
    time_s: float
    most_bytes: int
    stdout: str
    stderr: str
    left: tuple[str, ...]
    """What is in the folder afterwards and was not there before."""


def main() -> None:
    """Run what comes on stdin."""
    inputs: list[Input] = pickle.load(sys.stdin.buffer)
    _import_all()
    outcomes = list(map(_run, inputs))
    pickle.dump(outcomes, sys.stdout.buffer)


def _import_all() -> None:
    from pagecast.cli import COMMANDS

    ours = (
        "cache",
        "calibration",
        "cli.failures",
        "cli.summary",
        "outputs",
        "running",
        "studies",
        "validation",
    )
    for module in (*COMMANDS.values(), "numpy", *(f"pagecast.{name}" for name in ours)):
        importlib.import_module(module)
    for module in ("pagecast.plot", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"):
        if importlib.util.find_spec("matplotlib") is not None:
            importlib.import_module(module)


def _run(one: Input) -> Outcome:
    with (
        tempfile.TemporaryDirectory() as place,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        folder = Path(place) / "folder"
        folder.mkdir()
        for name, content in one.files.items():
            _make(folder / name, content)
        before = _names(folder)
        child = os.fork()
        if child == 0:
            os._exit(_be_hostile(one, folder, out.fileno(), err.fileno()))
        _, status, usage = os.wait4(child, 0)
        time_s = usage.ru_utime + usage.ru_stime
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(_TOLD_BYTES).decode(errors="backslashreplace"))
        code = os.waitstatus_to_exitcode(status)
        left = tuple(sorted(_names(folder) - before))
        return Outcome(code, time_s, usage.ru_maxrss * 1024, texts[0], texts[1], left)


def _make(path: Path, content: bytes | str | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if content is None:
        path.mkdir()
    elif isinstance(content, str):
        path.symlink_to(content)
    else:
        path.write_bytes(content)


def _names(folder: Path) -> set[str]:
    return {
        os.fsencode(path.relative_to(folder)).decode(errors="backslashreplace") for path in folder.rglob("*")
    }


def _be_hostile(one: Input, folder: Path, out: int, err: int) -> int:
    """Run an input in this process; gives its exit code."""
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    # Memory that is only reserved counts as well, as of the allocator: what is there already comes on top.
    reserved = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (reserved + LIMIT_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(3 * LIMIT_S)
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 1))
    try:
        code = _call(one.code) if one.code else _command(one.arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="backslashreplace"))
        return 99
    return code


def _command(arguments: tuple[str, ...]) -> int:
    from pagecast.cli import cli
    from pagecast.cli.failures import run

    return run(cli, arguments)


def _call(code: str) -> int:
    """Run code; an error of ours ends as in the command, and any other one is a mistake of ours."""
    from pagecast.errors import PagecastError

    try:
        exec(code, {})
    except PagecastError as error:
        print(f"pagecast: error: {error}", file=sys.stderr)
        return 2
    return 0
