"""Results as files, all or nothing."""

import csv
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from pagecast.api import shown
from pagecast.errors import OutputError
from pagecast.result import Columns, Result
from pagecast.trace import save_trace

__all__ = ["check_directory", "new_directory", "save_figures", "save_provenance", "save_run", "save_tables"]

PROVENANCE = "provenance.json"
"""The file by which a directory is known to be one of ours."""


def check_directory(
    directory: str | os.PathLike[str], *, replace: bool = False, remedy: str = "choose another name"
) -> Path:
    """Check that a directory can be made, before any work is done.

    Parameters
    ----------
    directory : path-like
    replace : bool
        An earlier output of pagecast may be there.
    remedy : str
        What to do about one that may not.

    Returns
    -------
    Path
        Absolute.

    Raises
    ------
    OutputError
        There is something else, or it cannot be written.
    """
    if not os.fspath(directory):
        raise OutputError("the name of the directory for the results is empty")
    target = Path(directory).resolve()
    if target.exists() and not target.is_dir():
        raise OutputError(f"{shown(directory)}: is a file, and results need a directory; choose another name")
    if target.is_dir() and any(target.iterdir()):
        if not replace:
            raise OutputError(f"{shown(directory)}: is not empty; {remedy}")
        if not (target / PROVENANCE).is_file():
            raise OutputError(f"{shown(directory)}: holds more than results of pagecast; choose another name")
    parent = next(folder for folder in target.parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{shown(directory)}: {shown(parent)} cannot be written; choose another place")
    return target


@contextmanager
def new_directory(directory: str | os.PathLike[str], *, replace: bool = False) -> Iterator[Path]:
    """Fill a directory that appears under its name when the block ends well, and not at all otherwise.

    Parameters
    ----------
    directory : path-like
    replace : bool
        Replace an earlier output of pagecast.

    Yields
    ------
    Path
        The directory to fill, a temporary sibling.

    Raises
    ------
    OutputError
        It cannot be written: in the way, read-only, disk full.
    """
    target = check_directory(directory, replace=replace)
    folder = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        folder.chmod(0o777 & ~_umask())
        yield folder
        _put_in_place(folder, target)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{shown(directory)}: cannot be written ({reason}); nothing was kept") from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _put_in_place(folder: Path, target: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        folder.rename(target)  # an empty directory gives way to it
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    target.rename(old)
    try:
        folder.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save_run(result: Result, folder: Path) -> None:
    """Write everything that one model gave: tables, trace, and figures where matplotlib is installed.

    Parameters
    ----------
    result : Result
    folder : Path
    """
    save_tables(result, folder)
    save_trace(result, folder / "trace.json")
    save_figures(result, folder)


def save_provenance(results: Sequence[Result], folder: Path) -> None:
    """Write what is needed to repeat the simulations.

    Parameters
    ----------
    results : sequence of Result
        Of one scenario.
    folder : Path
    """
    models = [{"model": result.model, "options": result.options} for result in results]
    text = json.dumps({**results[0].provenance, "models": models}, indent=2, ensure_ascii=False)
    (folder / PROVENANCE).write_text(text + "\n", encoding="utf-8")


def save_tables(result: Result, folder: Path) -> None:
    """Write all tables as CSV, and as Parquet where pyarrow is installed.

    Parameters
    ----------
    result : Result
    folder : Path
    """
    with_parquet = find_spec("pyarrow") is not None
    for name in result.tables:
        table = result.table(name)
        _save_csv(table, folder / f"{name}.csv")
        if with_parquet:
            _save_parquet(table, folder / f"{name}.parquet")


def _save_csv(table: Columns, path: Path) -> None:
    columns = table.to_dict()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _save_parquet(table: Columns, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Few different names, many rows: a dictionary of the names and indices into it is small.
    columns = {
        name: pa.array(table[name], pa.string()).dictionary_encode()
        if isinstance(table[name], list)
        else pa.array(table[name], from_pandas=True)  # NaN is null, as in JSON
        for name in table
    }
    with path.open("wb") as file:  # by its name, Arrow takes UTF-8 only
        pq.write_table(pa.table(columns), file)


def save_figures(result: Result, folder: Path) -> None:
    """Draw the figures as PNG and SVG; without matplotlib there are none.

    What is of a host is drawn of each, one above the other.

    Parameters
    ----------
    result : Result
    folder : Path
    """
    if find_spec("matplotlib") is None:
        return
    from matplotlib.figure import Figure

    from pagecast import plot
    from pagecast.plot.hosts import hosts_figure

    of_all = Figure(figsize=(8, 4.5), layout="constrained")
    plot.parts(result, ax=of_all.add_subplot())
    figures = {"parts": of_all}
    of_host = {"timeline": plot.timeline, "files": plot.cache_content}
    if len(result.devices):
        of_host["devices"] = plot.rates
    for table, draw in of_host.items():
        hosts = list(dict.fromkeys(result.table(table)["host"]))
        figures[draw.__name__] = hosts_figure(draw, result, hosts)
    for name, figure in figures.items():
        figure.savefig(folder / f"{name}.png", dpi=150)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
