"""What `pagecast reproduce` and `pagecast validate` leave in ``--out``: results, provenance, a report."""

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import click

__all__ = ["Reported", "save"]


class Reported(Protocol):
    """What can be saved."""

    def to_json(self) -> Mapping[str, object]:
        """Give the document with its provenance."""

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file."""


def save(outcome: Reported, out: Path, *, replace: bool) -> None:
    """Write a directory that appears when everything is in it.

    Parameters
    ----------
    outcome : Reported
    out : Path
    replace : bool
        An earlier output of pagecast may be there.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    from pagecast.export import PROVENANCE, new_directory

    document = outcome.to_json()
    missing = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if missing:
        click.echo(f"No report without {' and '.join(missing)}; pip install 'pagecast[plot]'", err=True)
    with new_directory(out, replace=replace) as folder:
        for name, content in (("results.json", document), (PROVENANCE, document["provenance"])):
            text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
            (folder / name).write_text(text + "\n", encoding="utf-8")
        if not missing:
            outcome.write_report(folder / "report.html")
