"""``pagecast init``: a commented scenario to start from."""

from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli.options import FileName

__all__ = ["command"]

STARTER = Path(__file__).with_name("starter.toml")


@click.command("init")
@click.argument("file", type=FileName(allow_dash=True), default=Path("scenario.toml"))
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
def command(file: Path, force: bool) -> None:
    """Write a commented scenario to start from.

    FILE is scenario.toml if not given; - is stdout.

    \b
    Examples:
      pagecast init
      pagecast init my.toml && pagecast simulate my.toml
    """
    text = STARTER.read_text(encoding="utf-8")
    if str(file) == "-":
        click.echo(text, nl=False)
        return
    from pagecast.export import write_file

    write_file(file, text.encode(), replace=force)
    click.echo(f"Wrote {shown(file)}. Next: pagecast simulate {shown(file)}", err=True)
