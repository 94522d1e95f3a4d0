"""``pagecast schema``: an editor completes and checks scenarios with it."""

import click

from pagecast._core import json_schema

__all__ = ["command"]


@click.command("schema")
def command() -> None:
    """Print the JSON schema of a scenario.

    \b
    For editors with TOML support (taplo, Even Better TOML):
      pagecast schema > scenario.schema.json
      and in the first line of a scenario: #:schema ./scenario.schema.json
    """
    click.echo(json_schema(), nl=False)
