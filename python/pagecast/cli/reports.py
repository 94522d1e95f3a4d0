"""The ``--out`` folder of `pagecast reproduce` and `pagecast validate`: results, provenance, a report."""

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import click

from pagecast.arguments import shown

__all__ = ["Reported", "save", "tell_saved"]


class Reported(Protocol):
    """Anything that can be saved."""

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
            from pagecast.plot.saving import optional_files

            report = folder / "report.html"
            with optional_files(report.name, report):
                outcome.write_report(report)


def tell_saved(out: Path) -> None:
    """Say where a report and its results are."""
    report = out / "report.html"
    told = f"The report is {shown(report)}, with its results beside it" if report.exists() else None
    click.echo(told or f"Results are in {shown(out)}", err=True)
