"""``pagecast sweep``: simulate a scenario with many values of its keys, ask the results, draw them."""

import click

from pagecast.cli.options import lazy_group

__all__ = ["command"]

COMMANDS = ("run", "query", "plot")
"""In the order of the help; each is a module below with a click command `command`."""


class _SweepGroup(lazy_group("pagecast.cli.sweep", COMMANDS)):  # type: ignore[misc]
    """`pagecast sweep SCENARIO` is short for `pagecast sweep run SCENARIO`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*COMMANDS, *ctx.help_option_names):
            args = ["run", *args]
        rest: list[str] = super().parse_args(ctx, args)
        return rest


@click.group("sweep", cls=_SweepGroup, short_help="Simulate a scenario with many values of its keys.")
def command() -> None:
    """Simulate a scenario with many values of its keys, and compare.

    `pagecast sweep SCENARIO` is short for `pagecast sweep run SCENARIO`, whose options are in
    `pagecast sweep run --help`.

    \b
    Examples:
      pagecast sweep scenario.toml --vary machine.vm.dirty_bytes=64MB..8GB:log:12 --measure 'p99(db fsync)'
      pagecast sweep scenario.toml --vary machine.memory.size=16GB,32GB,64GB --out results --plot memory.png
      pagecast sweep query results 'select * from sweep order by p99_db_fsync_s limit 5'
      pagecast sweep plot results --kind tornado -o tornado.png
    """
