"""``pagecast schema``: an editor completes and checks scenarios with it."""

import json

import click

from pagecast._core import json_schema
from pagecast.sweep_table import SWEEP_SCHEMA

__all__ = ["command"]


@click.command("schema")
def command() -> None:
    """Print the JSON schema of a scenario.

    \b
    For editors with TOML support (taplo, Even Better TOML):
      pagecast schema > scenario.schema.json
      and in the first line of a scenario: #:schema ./scenario.schema.json
    """
    document = json.loads(json_schema())
    document["properties"]["sweep"] = SWEEP_SCHEMA
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
