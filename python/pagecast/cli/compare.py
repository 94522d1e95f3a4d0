"""``pagecast compare``: two outputs side by side."""

import json
import shlex
import sys
from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli import options

__all__ = ["command"]


@click.command("compare", short_help="Hold two --out folders against each other.")
@click.argument("a", type=options.FileName())
@click.argument("b", type=options.FileName())
@options.as_json
@click.option("--out", type=options.FileName(), metavar="DIR", help="Write a report and results to DIR.")
@click.option("--force", is_flag=True, help="Replace an earlier output in DIR.")
def command(a: Path, b: Path, as_json: bool, out: Path | None, force: bool) -> None:
    """Show the times of A and B side by side.

    A and B are folders that --out of `simulate`, `run`, `validate` or `reproduce` has made. Each operation
    on files that both have is shown with its time in both and the signed difference, B less A, and so are
    the totals: of the measured operations, and of each model that both have. Percentiles of what is done
    ten times or more follow, those that differ most in sum first. A real run is compared with a forecast.
    It is no check: the exit code is 0 however far they are apart.

    \b
    Examples:
      pagecast simulate scenario.toml --out forecast
      pagecast run scenario.toml --dir /data/scratch --out measured
      pagecast compare measured forecast
      pagecast compare report-of-monday report-of-friday --json | jq .pairs[0].totals
    """
    if out is not None:
        from pagecast.export import check_directory

        check_directory(out, replace=force, remedy="choose another name or add --force")
    from pagecast.outputs import compare

    comparison = compare(a, b, command=shlex.join(["pagecast", *map(shown, sys.argv[1:])]))
    if out is not None:
        from pagecast.cli.reports import save

        save(comparison, out, replace=force)
    if as_json:
        click.echo(json.dumps(comparison.to_json(), ensure_ascii=False, allow_nan=False))
    else:
        from pagecast.cli.summary import new_console

        comparison.print_to(new_console())
    if out is not None:
        from pagecast.cli.reports import tell_saved

        tell_saved(out)
