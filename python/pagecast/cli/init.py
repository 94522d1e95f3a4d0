"""``pagecast init``: a commented scenario to start from."""

from pathlib import Path

import click

from pagecast.api import shown
from pagecast.cli.options import FileName
from pagecast.errors import OutputError

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
    try:
        with file.open("w" if force else "x", encoding="utf-8") as output:
            output.write(text)
    except FileExistsError:
        raise OutputError(f"{shown(file)}: is there already; choose another name or add --force") from None
    except OSError as error:
        raise OutputError(f"{shown(file)}: cannot be written ({error.strerror})") from None
    click.echo(f"Wrote {shown(file)}. Next: pagecast simulate {shown(file)}", err=True)
