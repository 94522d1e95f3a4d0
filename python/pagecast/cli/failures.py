"""Messages and exit codes of a command that fails."""

import errno
import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress

import click
from click.shell_completion import shell_complete

from pagecast._core import __version__
from pagecast.errors import FigureWarning, PagecastError, SimulationError
from pagecast.exit_codes import ExitCode
from pagecast.stopping import Stopped, interrupted_by_signals

__all__ = ["COMPLETION", "NAME", "run"]

NAME = "pagecast"
COMPLETION = "_PAGECAST_COMPLETE"
"""The variable in which a shell asks for completions."""

_LONGEST_WORD = 1024
"""Characters of one word that a message shows: four times the longest name of a file (`NAME_MAX`)."""


def run(command: click.Command, arguments: Sequence[str]) -> int:
    """Run a command; every way it can end becomes one exit code and at most one message on stderr.

    Parameters
    ----------
    command : click.Command
    arguments : sequence of str

    Returns
    -------
    int
        One of `ExitCode`.
    """
    if sys.stdout is None:
        _say("standard output is closed; send it to a file or to /dev/null")
        return ExitCode.BAD_INPUT
    with interrupted_by_signals() as stopped, warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", FigureWarning)
        return _run(command, arguments, stopped)


def _run(command: click.Command, arguments: Sequence[str], stopped: Stopped) -> int:
    try:
        if instruction := os.environ.get(COMPLETION):
            return shell_complete(command, {}, NAME, COMPLETION, instruction)
        # Not `command.main`: it ends with 1 when a pipe is closed, and that is no error.
        with command.make_context(NAME, list(arguments)) as context:
            code = _invoked(command, context)
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return ExitCode.BAD_INPUT
    except click.ClickException as error:
        _say(_in_one_line(error))
        return ExitCode.BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except BrokenPipeError:
        _drop_stdout()
        return ExitCode.OK
    except SystemExit:
        raise
    except BaseException as error:  # a broken promise of the core (a Rust panic) is no `Exception`
        # On its way an interruption may have become another failure.
        return _interrupted() if stopped.is_heard else _failure(error)


def _invoked(command: click.Command, context: click.Context) -> int:
    """Do what the context says; gives the exit code, with what is printed perhaps still in a buffer."""
    try:
        command.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return ExitCode.OK


def _interrupted() -> int:
    with suppress(OSError):  # a terminal that is gone
        click.echo("\npagecast: interrupted", err=True)  # the terminal's ^C has a line of its own
    return ExitCode.INTERRUPTED


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    with suppress(OSError):
        click.echo(f"pagecast: warning: {message}", err=True)


def _in_one_line(error: click.ClickException) -> str:
    """Print the mistake that click found in our style: the mistake, then the remedy."""
    text = error.format_message().rstrip(".").replace(". Did you mean", "; did you mean")
    text = re.sub(r"\. \(Did you mean one of: (.*)\)$", r"; did you mean one of \1", text)
    text = text[:1].lower() + text[1:]
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return text
    joint = " Try" if text.endswith("?") else "; try"
    return f"{text}{joint} {error.ctx.command_path} --help"


def _failure(error: BaseException) -> int:
    if isinstance(error, SimulationError):
        _say(str(error))
        return ExitCode.SIMULATION_FAILED
    if isinstance(error, PagecastError):
        _say(str(error))
        return ExitCode.BAD_INPUT
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        _drop_stdout()
        _say(f"the output cannot be written ({error.strerror})")
        return ExitCode.BAD_INPUT
    return _unforeseen(error)


def _unforeseen(error: BaseException) -> int:
    if os.environ.get("PAGECAST_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    python = ".".join(map(str, sys.version_info[:3]))
    _say(
        f"this is a mistake in pagecast, not yours: {type(error).__name__}: {error}",
        f"Please report it with the command, its input and this line: pagecast {__version__}, "
        f"Python {python}, {sys.platform}. PAGECAST_DEBUG=1 shows where it happened.",
    )
    return ExitCode.UNFORESEEN


def _say(text: str, *more: str) -> None:
    with suppress(OSError):  # nobody listens; the exit code still tells
        click.echo("\n".join(map(_readable, (f"pagecast: error: {text}", *more))), err=True)


def _readable(line: str) -> str:
    """Write control characters out, and of a very long word only its beginning."""
    line = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line)
    return re.sub(rf"(\S{{{_LONGEST_WORD}}})\S+", r"\1...", line)


def _drop_stdout() -> None:
    """Let nothing more go to stdout, so that Python does not complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
