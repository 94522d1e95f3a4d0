"""The ``pagecast`` command: a table of contents; each sub-command is one file."""

import importlib
from typing import Any

import click

from pagecast._core import __version__
from pagecast.cli.options import Group

__all__ = ["cli"]

COMMANDS = {
    "simulate": "pagecast.cli.simulate",
    "run": "pagecast.cli.run",
    "validate": "pagecast.cli.validate",
    "compare": "pagecast.cli.compare",
    "bench": "pagecast.cli.bench",
    "grid": "pagecast.cli.grid",
    "sweep": "pagecast.cli.sweep",
    "explain": "pagecast.cli.explain",
    "advise": "pagecast.cli.advise",
    "studio": "pagecast.cli.studio",
    "check": "pagecast.cli.check",
    "formats": "pagecast.cli.formats",
    "convert": "pagecast.cli.convert",
    "describe": "pagecast.cli.describe",
    "generate": "pagecast.cli.generate",
    "init": "pagecast.cli.init",
    "machine": "pagecast.cli.machine",
    "plan": "pagecast.cli.plan",
    "petri": "pagecast.cli.petri",
    "reproduce": "pagecast.cli.reproduce",
    "cache": "pagecast.cli.cache",
    "calibrate": "pagecast.cli.calibrate",
    "schema": "pagecast.cli.schema",
    "completion": "pagecast.cli.completion",
}
"""In the order of the help; each module has a click command `command`, imported when it is needed."""


class _LazyGroup(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[name]).command
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(__version__, prog_name="pagecast", message="%(prog)s %(version)s")
def cli(**_: Any) -> None:
    """Forecast Linux file I/O through the page cache.

    \b
    Examples:
      pagecast init scenario.toml                     write a commented scenario to start from
      pagecast simulate scenario.toml                 how long each read and write takes, and why
      pagecast simulate scenario.toml --set machine.vm.dirty_ratio=10 --model wrench
      pagecast run scenario.toml --dir scratch        the same on this machine's kernel, in a temporary folder
      pagecast validate scenario.toml --dir scratch   both, and the error of the forecast
      pagecast sweep scenario.toml --vary machine.vm.dirty_bytes=64MB..8GB:log:12
      pagecast explain scenario.toml                  what slow operations waited for, and behind whom
      pagecast advise scenario.toml --want 'p99(db fsync) < 20 ms'
      pagecast studio scenario.toml                   the same with sliders, in a browser
      pagecast compare before after                   two outputs of these commands side by side
      pagecast describe app.strace                    what a recording is like, and the memory it wants
      pagecast grid --machine m.toml                  rates over file and record size, as iozone
      pagecast reproduce wrench-cache                 forecasts beside measured times
      pagecast cache status data                      files in the page cache of this machine
      pagecast calibrate /data -o machine.toml        a machine file of this machine

    Results go to stdout, all else to stderr. Exit codes: 0 fine, 1 a check failed, 2 wrong use or bad input,
    3 the simulated workload cannot go on, 70 a mistake in pagecast, 130 interrupted.
    """
