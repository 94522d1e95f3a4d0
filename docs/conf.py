"""Sphinx builds the site from Markdown; `make docs` treats a warning as an error."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

import pagecast
from pagecast.cli import cli

sys.path.insert(0, str(Path(__file__).parent))
from figures import draw
from headers import HEADER, reference

project = "pagecast"
author = copyright = "The pagecast authors"
release = version = pagecast.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "_generated"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the NumPy sections name the types
numpydoc_show_class_members = False

html_theme = "furo"
html_title = "pagecast"
html_static_path = ["_static"]
html_css_files = ["wide.css"]


def helps(command: click.Command, name: str) -> Iterator[str]:
    """Write the help of a command and of all below it."""
    settings = {"terminal_width": 88}
    context = click.Context(command, info_name=name, **settings | command.context_settings)
    yield f"## `{name}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            assert below is not None, "a group has the commands that it lists"
            yield from helps(below, f"{name} {each}")


generated = Path(__file__).parent / "_generated"
generated.mkdir(exist_ok=True)
(generated / "cli.md").write_text("\n".join(helps(cli, "pagecast")))
(generated / "pagecast-h.md").write_text(reference(HEADER.read_text()))
draw(generated)
