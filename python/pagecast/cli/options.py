"""Arguments and options that mean the same in every sub-command."""

import functools
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click

from pagecast._core import MODELS
from pagecast.api import PETRI, Scenario, load_machine
from pagecast.arguments import shown
from pagecast.errors import ScenarioError
from pagecast.workloads import Reading, as_toml, format_of

__all__ = [
    "FileName",
    "Group",
    "Percent",
    "Seed",
    "Size",
    "Text",
    "all_models",
    "as_json",
    "lazy_group",
    "load_scenario",
    "machine",
    "measured_directories",
    "measured_directory",
    "models",
    "overrides",
    "reading",
    "residency",
    "results",
    "sample_hz",
    "scenario",
]

AS_IT_IS: Final = Reading()
"""By its content and name, as recorded."""

_F = TypeVar("_F", bound=Callable[..., Any])


class Group(click.Group):
    """A group of commands that knows what a mistyped one may have meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of a line."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            nearest = get_close_matches(args[0], known, n=1)
            hint = f"did you mean `{nearest[0]}`?" if nearest else f"there are {', '.join(known)}"
            ctx.fail(f"there is no command `{shown(args[0])}`; {hint}")
        return super().resolve_command(ctx, args)


def lazy_group(package: str, commands: Sequence[str]) -> type[Group]:
    """Make a group whose commands are `command` of modules of a package, imported when asked for.

    The module of `sync-time` is `sync_time`.
    """

    class LazyGroup(Group):
        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(commands)

        def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
            if name not in commands:
                return None
            module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
            found: click.Command = module.command
            return found

    return LazyGroup


class FileName(click.Path):
    """The name of a file or directory, as a `Path`; it need not be UTF-8, but there must be one."""

    def __init__(self, *, allow_dash: bool = False) -> None:
        super().__init__(path_type=Path, allow_dash=allow_dash)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Refuse the empty name, which would mean the current directory."""
        if value == "":
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


class Text(click.types.StringParamType):
    """A text that is no file name; bytes that are not UTF-8 have no meaning here."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse bytes that are not UTF-8."""
        text = str(value)
        if any("\ud800" <= character <= "\udfff" for character in text):
            self.fail(f"`{shown(text)}` is not UTF-8", param, ctx)
        return text


class Size(Text):
    """A size with its unit, as a number of bytes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:  # type: ignore[override]
        """Read "4 KiB"."""
        from pagecast._core import parse_bytes

        if isinstance(value, int):
            return value
        try:
            return parse_bytes(super().convert(value, param, ctx))
        except ScenarioError as error:
            self.fail(str(error), param, ctx)


class Percent(Text):
    """A percentage such as "15 %", as a fraction."""

    name = "percent"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:  # type: ignore[override]
        """Read "15 %"."""
        from pagecast._core import parse_percent

        if isinstance(value, float):
            return value
        try:
            return parse_percent(super().convert(value, param, ctx))
        except ScenarioError as error:
            self.fail(str(error), param, ctx)


class Seed(click.types.IntParamType):
    """A whole number that fits into 64 bits; click would write such a range out."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Refuse a value that does not fit."""
        number = super().convert(value, param, ctx)
        if not 0 <= number < 2**64:
            self.fail(f"{number} is not from 0 to 2^64 - 1", param, ctx)
        return number


def scenario(function: _F) -> _F:
    """Add the argument SCENARIO."""
    return click.argument("scenario", type=FileName(allow_dash=True))(function)


def models(function: _F) -> _F:
    """Add ``--model``: the policies of the engine."""
    return _models(MODELS)(function)


def all_models(function: _F) -> _F:
    """Add ``--model``: the policies of the engine, and the nets."""
    return _models((*MODELS, PETRI))(function)


def _models(names: Sequence[str]) -> Callable[[_F], _F]:
    return click.option(
        "--model",
        "models",
        multiple=True,
        type=Text(),
        metavar="NAME",
        shell_complete=lambda *_: list(names),
        help=f"Model to ask; repeat it to compare several. One of {', '.join(names)}.",
    )


def overrides(function: _F) -> _F:
    """Add ``--set``."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        type=Text(),
        metavar="KEY=VALUE",
        help="Replace a value of the scenario, e.g. machine.vm.dirty_ratio=10; can be repeated.",
    )(function)


def measured_directory(function: _F) -> _F:
    """Add ``--dir``: where something is measured."""
    return click.option(
        "--dir",
        "directory",
        type=FileName(),
        required=True,
        metavar="DIR",
        help="A directory on the disk to be measured. A folder is made in it, and nothing else is touched.",
    )(function)


def measured_directories(function: _F) -> _F:
    """Add ``--dir``: where something is measured, for all hosts or for one."""
    return click.option(
        "--dir",
        "directories",
        type=FileName(),
        multiple=True,
        required=True,
        metavar="[HOST=]DIR",
        help="A directory on the disk to be measured. A folder is made in it, and nothing else is touched. "
        "HOST=DIR is that of one host, e.g. client=/mnt/nfs; can be repeated.",
    )(function)


def sample_hz(function: _F) -> _F:
    """Add ``--sample-hz``."""
    return click.option(
        "--sample-hz",
        type=click.IntRange(min=1, max=200),
        default=20,
        show_default=True,
        metavar="N",
        help="Look at memory, files and device N times a second.",
    )(function)


def as_json(function: _F) -> _F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, to stdout.")(
        function
    )


def residency(function: _F) -> _F:
    """Add ``--residency``."""
    return click.option(
        "--residency",
        type=click.Choice(["end", "operation"]),
        help="When to note how much of each file is in memory: at the end, or after each file operation too.",
    )(function)


def results(function: _F) -> _F:
    """Add ``--out``, ``--force`` and ``--all``: where results go, and how many are shown."""
    for add in (
        click.option(
            "--all",
            "every",
            is_flag=True,
            help="Show every operation, however many, and those that take no time.",
        ),
        click.option("--force", is_flag=True, help="Replace an earlier output in DIR."),
        click.option("--out", type=FileName(), metavar="DIR", help="Write tables, trace and figures to DIR."),
    ):
        function = add(function)
    return function


def machine(what: str) -> Callable[[_F], _F]:
    """Add ``--machine FILE`` to a command that reads a scenario; `what` it is, without a full stop."""
    return click.option(
        "--machine", type=Text(), metavar="FILE", help=f"{what}, instead of [machine] of the scenario."
    )


def reading(function: _F) -> _F:
    """Add the options for a SCENARIO in another format, which come as one `Reading`."""

    @functools.wraps(function)
    def gathered(*args: Any, **kwargs: Any) -> Any:
        names = [field.name for field in fields(Reading)]
        chosen = {name: kwargs.pop(f"reading_{name}") for name in names}
        return function(*args, reading=Reading(**chosen), **kwargs)

    decorated: Any = gathered
    for add in (
        click.option(
            "--core-speed",
            "reading_core_speed",
            type=click.FloatRange(1e-6, 1e6),
            default=1.0,
            metavar="FACTOR",
            help="How many times as fast as the recorded cores of a workflow those of the machine are.",
        ),
        click.option(
            "--machines",
            "reading_machines",
            type=click.Choice(["recorded", "any"]),
            default="recorded",
            help="A task of a workflow runs on the host called like the machine that it was recorded on, or "
            "hosts in turn; or on any with free cores.",
        ),
        click.option(
            "--compute",
            "reading_compute",
            type=click.Choice(["runtime", "cpu"]),
            default="runtime",
            help="A task of a workflow computes for its recorded runtime, or its recorded use of processors.",
        ),
        click.option(
            "--task-order",
            "reading_task_order",
            type=click.Choice(["fifo", "depth", "priority"]),
            default="fifo",
            help="Which ready task of a workflow gets free cores: the first, the one with the longest path "
            "to the end, or the one with the highest priority.",
        ),
        click.option(
            "--columns",
            "reading_columns",
            type=Text(),
            metavar="NAME=N,...",
            help="Columns of a table without a known header: time=0,op=3,offset=4,bytes=5.",
        ),
        click.option(
            "--strace-overhead",
            "reading_strace_overhead",
            type=Text(),
            metavar="TIME",
            help='What strace has added to each call, such as "40 us"; estimated if not given.',
        ),
        click.option(
            "--fio-overhead",
            "reading_fio_overhead",
            type=Text(),
            metavar="TIME",
            help='What fio itself takes for a request of a job, such as "0.5 us"; by default 1.6 times the '
            "cost of a call.",
        ),
        click.option(
            "--system-files",
            "reading_system_files",
            is_flag=True,
            help="Forecast files below /usr, /etc and the like, too, in a recording of strace.",
        ),
        click.option(
            "--cached",
            "reading_cached",
            is_flag=True,
            help="Files of a workload that exist before are in the page cache.",
        ),
        click.option(
            "--lenient",
            "reading_lenient",
            is_flag=True,
            help="Pass over lines and options that are not understood, and say so.",
        ),
        click.option(
            "--replay",
            "reading_replay",
            type=click.Choice(["closed", "open"]),
            default="closed",
            help="An operation of a recording waits for the one before (closed), or begins at its time.",
        ),
        click.option(
            "--pace",
            "reading_pace",
            type=Text(),
            default="recorded",
            metavar="PACE",
            help="Time between operations of a recording: recorded (the default), fast (none), or a factor.",
        ),
        click.option(
            "--files-in",
            "reading_files_in",
            type=Text(),
            metavar="PATH",
            help="Where relative paths and those under no mount are; default / or the first mount.",
        ),
        click.option(
            "--format",
            "reading_format",
            type=Text(),
            metavar="NAME",
            help="Format of a SCENARIO that is none of ours; by default its content and name tell.",
        ),
    ):
        decorated = add(decorated)
    return cast(_F, decorated)


def load_scenario(
    name: Path,
    overrides: tuple[str, ...],
    machine: str | None = None,
    reading: Reading = AS_IT_IS,
    *,
    is_run: bool = False,
) -> Scenario:
    """Read a scenario or a workload of another format from a file, or from stdin if it is called ``-``.

    `machine` stands for that of a scenario; a workload needs one, but for a run.
    """
    form = reading.format or format_of(name)
    if form is not None:
        if machine is None and not is_run:
            raise ScenarioError(
                f"{shown(name)}: a workload ({form}) needs a machine; add --machine FILE, "
                "or a name of `pagecast machine list`"
            )
        return Scenario.from_workload(name, machine=machine, reading=reading, set=overrides)
    if machine is not None:
        load_machine(machine)  # what is wrong in it is its own fault, and not that of the scenario
        overrides = (f"machine={{ from = {as_toml(machine)} }}", *overrides)
    if str(name) != "-":
        return Scenario.load(name, set=overrides)
    if sys.stdin is None:
        raise ScenarioError("<stdin>: is closed; name a file, or send the scenario to it")
    text = sys.stdin.buffer.read()
    return Scenario.from_toml(text, origin="<stdin>", base_dir=Path.cwd(), set=overrides)
