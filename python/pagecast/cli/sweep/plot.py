"""``pagecast sweep plot``: draw a sweep."""

from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.cli.sweep.drawing import KINDS, check_picture, default_kind, save_picture

__all__ = ["command"]

_TAKES = {
    "lines": ("x", "y", "by"),
    "heatmap": ("x", "y", "value"),
    "tornado": ("value",),
    "pareto": ("x", "y"),
}


@click.command("plot")
@click.argument("directory", metavar="DIR", type=options.FileName())
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="lines: a measure over a key; heatmap: over two; tornado: which key matters most; pareto: two "
    "measures against each other.  [default: lines; tornado of three keys and more]",
)
@click.option(
    "-o",
    "--output",
    type=options.FileName(),
    metavar="FILE",
    help="The picture (.png, .svg or .pdf).  [default: DIR.png]",
)
@click.option("--x", type=options.Text(), metavar="NAME", help="Key across; of pareto a measure.")
@click.option("--y", type=options.Text(), metavar="NAME", help="Measure; of heatmap a key.")
@click.option("--by", type=options.Text(), metavar="KEY", help="Key whose values have a line each (lines).")
@click.option("--value", type=options.Text(), metavar="MEASURE", help="Measure (heatmap and tornado).")
def command(
    directory: Path,
    kind: str | None,
    output: Path | None,
    x: str | None,
    y: str | None,
    by: str | None,
    value: str | None,
) -> None:
    """Draw the sweep in DIR.

    Keys and measures are named as in the command that made it, or by their columns.

    \b
    Examples:
      pagecast sweep plot results --kind lines --x machine.vm.dirty_bytes --by machine.memory.size
      pagecast sweep plot results --kind heatmap --value 'p99(db fsync)'
      pagecast sweep plot results --kind tornado
      pagecast sweep plot results --kind pareto --x 'makespan(backup)' --y 'p99(db fsync)' -o front.svg
    """
    from pagecast.sweeps.table import load_table

    path = output or Path(f"{directory.name or 'sweep'}.png")
    check_picture(path)
    table = load_table(directory)
    kind = kind or default_kind(table)
    given = {"x": x, "y": y, "by": by, "value": value}
    chosen = {name: text for name, text in given.items() if text is not None}
    strange = next((name for name in chosen if name not in _TAKES[kind]), None)
    if strange is not None:
        takes = ", ".join(f"--{name}" for name in _TAKES[kind])
        raise click.UsageError(f"{kind} has no --{strange}; it has {takes}", click.get_current_context())
    save_picture(table, path, kind=kind, **chosen)
    click.echo(f"The picture is {shown(path)}", err=True)
