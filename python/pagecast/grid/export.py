"""A grid as JSON, CSV and figures in a folder."""

import csv
import json
import os
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pagecast.export import PROVENANCE, new_directory
from pagecast.grid.result import Grid

__all__ = ["SCHEMA_VERSION", "document", "save"]

SCHEMA_VERSION = 1
"""It grows when a key is renamed or removed."""


def document(grid: Grid, reference: str | None) -> dict[str, Any]:
    """Give everything as JSON has it.

    Parameters
    ----------
    grid : Grid
    reference : str or None
        The source that others are compared with, if there is one.
    """
    errors = [] if reference is None else grid.errors(reference)
    compared = [
        {
            "source": one.source,
            "reference": reference,
            "test": one.test,
            "n": one.cells,
            "mean_error": one.mean,
            "mean_abs_error": one.mean_abs,
            "worst_error": one.worst,
            "worst_file_bytes": one.worst_cell.file_bytes,
            "worst_record_bytes": one.worst_cell.record_bytes,
        }
        for one in errors
    ]
    return {"schema_version": SCHEMA_VERSION, **grid.to_dict(), "errors": compared}


def save(
    grid: Grid, directory: str | os.PathLike[str], *, reference: str | None, replace: bool = False
) -> None:
    """Write ``grid.json`` and ``grid.csv``, and figures where matplotlib is installed.

    Parameters
    ----------
    grid : Grid
    directory : path-like
    reference : str or None
        As for `document`.
    replace : bool
        An earlier output of pagecast may be there.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    found = document(grid, reference)
    with new_directory(directory, replace=replace) as folder:
        for name, content in (("grid.json", found), (PROVENANCE, found["provenance"])):
            text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
            (folder / name).write_text(text + "\n", encoding="utf-8")
        with (folder / "grid.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(found["rows"])
            writer.writerows(zip(*found["rows"].values(), strict=True))
        if find_spec("matplotlib") is not None:
            _draw(grid, folder, reference)


def _draw(grid: Grid, folder: Path, reference: str | None) -> None:
    from pagecast.grid.drawing import error_maps, heat_maps, surfaces
    from pagecast.plot.saving import optional_files, save_figure

    for number, source in enumerate(grid.sources, 1):
        figures = {"heat_map": partial(heat_maps, grid, source), "surface": partial(surfaces, grid, source)}
        if reference not in (None, source):
            figures["error"] = partial(error_maps, grid, source, str(reference))
        plain = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in source)
        for name, draw in figures.items():
            files = [folder / f"{name}_{number}_{plain}.{ending}" for ending in ("png", "svg")]
            with optional_files(f"{name} of {source}", *files):
                figure = draw()
                save_figure(figure, files[0], dpi=150)
                save_figure(figure, files[1], metadata={"Date": None})
