"""Arguments and options that mean the same in every sub-command."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pagecast._core import MODELS
from pagecast.api import Scenario

__all__ = ["as_json", "load_scenario", "models", "overrides", "scenario"]

_F = TypeVar("_F", bound=Callable[..., Any])


def scenario(function: _F) -> _F:
    """Add the argument SCENARIO."""
    return click.argument("scenario", type=click.Path(allow_dash=True))(function)


def models(function: _F) -> _F:
    """Add ``--model``."""
    return click.option(
        "--model",
        "models",
        multiple=True,
        metavar="NAME",
        shell_complete=lambda *_: list(MODELS),
        help=f"Model to ask; repeat it to compare several. One of {', '.join(MODELS)}.",
    )(function)


def overrides(function: _F) -> _F:
    """Add ``--set``."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help="Replace a value of the scenario, e.g. machine.vm.dirty_ratio=10; can be repeated.",
    )(function)


def as_json(function: _F) -> _F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, to stdout.")(
        function
    )


def load_scenario(name: str, overrides: tuple[str, ...]) -> Scenario:
    """Read a scenario from a file, or from stdin if it is called ``-``."""
    if name != "-":
        return Scenario.load(name, set=overrides)
    text = sys.stdin.buffer.read()
    return Scenario.from_toml(text, origin="<stdin>", base_dir=Path.cwd(), set=overrides)
