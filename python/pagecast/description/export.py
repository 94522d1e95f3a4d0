"""A description as JSON, CSV, figures and a report in a folder."""

import json
import os
from importlib.util import find_spec
from pathlib import Path

from pagecast.description.describing import TABLES, Description
from pagecast.export import PROVENANCE, new_directory, save_csv

__all__ = ["save"]


def save(description: Description, directory: str | os.PathLike[str], *, replace: bool = False) -> None:
    """Write ``description.json``, a CSV for each table and, with matplotlib, figures and a report.

    Parameters
    ----------
    description : Description
    directory : path-like
    replace : bool
        An earlier output of pagecast may be there.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    document = description.to_dict()
    with new_directory(directory, replace=replace) as folder:
        for name, content in (("description.json", document), (PROVENANCE, document["provenance"])):
            text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
            (folder / name).write_text(text + "\n", encoding="utf-8")
        for name in TABLES:
            save_csv(description.table(name), folder / f"{name}.csv")
        if find_spec("matplotlib") is not None:
            _draw(description, folder)


def _draw(description: Description, folder: Path) -> None:
    from matplotlib.figure import Figure

    from pagecast.description.drawing import FIGURES
    from pagecast.description.report import write_report
    from pagecast.plot.saving import optional_files, save_figure

    for name, draw in FIGURES.items():
        files = [folder / f"{name}.{ending}" for ending in ("png", "svg")]
        with optional_files(name, *files):
            figure = Figure(figsize=(9, 4.2), layout="constrained")
            draw(description, figure.add_subplot())
            save_figure(figure, files[0], dpi=150)
            save_figure(figure, files[1], metadata={"Date": None})
    if find_spec("jinja2") is not None:
        report = folder / "report.html"
        with optional_files(report.name, report):
            write_report(description, report)
