"""Recordings of file operations: read in other formats, kept as a table or in binary form."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from pagecast._core import Recording, read_recording
from pagecast.arguments import check_path, shown
from pagecast.errors import OutputError, ScenarioError
from pagecast.stopping import finished_first
from pagecast.workloads import PACKAGES, Reading, format_of_a_package

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ENDINGS", "as_file_of_the_core", "check_output", "read", "save"]

ENDINGS: Final = {".csv": "csv", ".parquet": "parquet", ".pctrace": "trace"}
"""How the name of an output ends, and what is written."""


def read(
    path: str | os.PathLike[str],
    reading: Reading,
    *,
    operations: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Recording:
    """Read a recording.

    Parameters
    ----------
    path : path-like
        ``-`` for standard input.
    reading : Reading
        Its format and columns, and whether what is not understood is passed over.
    operations : int, optional
        Programs are recorded, too, without times: up to so many operations, one of each process in turn.
    progress : callable, optional
        Is called now and then with the share that is read, NaN if that is not known.

    Returns
    -------
    Recording
        In memory or, if it is long, in a file without a name below ``TMPDIR``.

    Raises
    ------
    ScenarioError
        It cannot be read or understood; the message names the line.
    """
    form = format_of_a_package(path, reading.format)
    if form is None:
        return _by_core(path, reading, progress, origin=None, operations=operations)
    package, extra = PACKAGES[form]
    if find_spec(package) is None:
        raise ScenarioError(
            f"{shown(path)}: the Python package {package} reads such files, and is not installed; "
            f"pip install 'pagecast[{extra}]'"
        )
    if form == "parquet":
        return _parquet(path, reading, progress)
    from pagecast.darshan_logs import read_log

    return read_log(path, progress)


def _by_core(
    path: str | os.PathLike[str],
    reading: Reading,
    progress: Callable[[float], None] | None,
    *,
    origin: str | None,
    operations: int | None = None,
) -> Recording:
    return read_recording(
        path,
        origin=origin,
        format=reading.format,
        lenient=reading.lenient,
        columns=reading.columns,
        strace_overhead=reading.strace_overhead,
        system_files=reading.system_files,
        operations=operations,
        progress=progress,
    )


def _parquet(
    path: str | os.PathLike[str], reading: Reading, progress: Callable[[float], None] | None
) -> Recording:
    """Read Parquet as the CSV that pyarrow makes of it, through a pipe."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise ScenarioError(f"{shown(path)}: cannot be read as Parquet ({_first_line(error)})") from None
    read_end, write_end = os.pipe()
    failures: list[Exception] = []
    writer = threading.Thread(target=_write_csv, args=(file, write_end, failures), daemon=True)
    writer.start()
    try:
        as_csv = Reading(
            format="csv" if reading.columns is None else "table",
            lenient=reading.lenient,
            columns=reading.columns,
        )
        recording = _by_core(f"/proc/self/fd/{read_end}", as_csv, progress, origin=shown(path))
    finally:
        os.close(read_end)
        writer.join()
        file.close()
    if failures:
        raise ScenarioError(f"{shown(path)}: cannot be read as Parquet ({_first_line(failures[0])})")
    return recording


def _write_csv(file: "pa.parquet.ParquetFile", write_end: int, failures: list[Exception]) -> None:
    import pyarrow as pa
    import pyarrow.csv

    try:
        with os.fdopen(write_end, "wb") as out, pa.csv.CSVWriter(out, file.schema_arrow) as writer:
            for batch in file.iter_batches():
                writer.write_batch(batch)
    except BrokenPipeError:
        pass  # the reader has found a mistake
    except (OSError, pa.ArrowException) as error:
        if "Broken pipe" not in str(error):
            failures.append(error)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def check_output(out: str | os.PathLike[str], *, replace: bool) -> str:
    """Give what is written to a file, by how its name ends.

    Raises
    ------
    OutputError
        It ends in nothing known, is there already, or cannot be made.
    """
    name = check_path("out", out)
    if name == "-":
        return "csv"
    form = ENDINGS.get(Path(name).suffix)
    if form is None:
        raise OutputError(f"{shown(out)}: ends in none of {', '.join(ENDINGS)}; choose one of these")
    if form == "parquet" and find_spec("pyarrow") is None:
        raise OutputError(f"{shown(out)}: needs the package pyarrow; pip install 'pagecast[tables]'")
    if os.path.isdir(name):
        raise OutputError(f"{shown(out)}: is a directory; name a file")
    if os.path.lexists(name) and not replace:
        raise OutputError(f"{shown(out)}: is there already; choose another name or add --force")
    parent = os.path.dirname(name) or "."
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{shown(out)}: {shown(parent)} is no directory that can be written")
    return form


def save(
    recording: Recording,
    out: str | os.PathLike[str],
    *,
    replace: bool = False,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write a recording to a file that is whole, or is not there.

    Parameters
    ----------
    recording : Recording
    out : path-like
        ``.csv``, ``.parquet`` or ``.pctrace``; ``-`` is CSV to standard output.
    replace : bool
        Another file may be there.
    progress : callable, optional
        Is called now and then with NaN: how much is left is not known.

    Raises
    ------
    OutputError
        It cannot be written.
    ScenarioError
        No table has one of its operations.
    """
    form = check_output(out, replace=replace)
    name = check_path("out", out)
    if name == "-":
        recording.save("csv", progress=progress)
        return
    final = Path(os.path.realpath(name))
    is_replaced = final.is_file() or not final.exists()  # what is no file, such as /dev/stdout, cannot be
    new = final.with_name(f".{final.name[:200]}.{os.getpid()}{final.suffix}") if is_replaced else final
    try:
        try:
            _save_as(form, recording, new, progress)
            with finished_first():
                if is_replaced:
                    new.replace(final)
        finally:
            with finished_first():
                if is_replaced:
                    new.unlink(missing_ok=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{shown(out)}: cannot be written ({reason}); nothing was kept") from None


def _save_as(form: str, recording: Recording, path: Path, progress: Callable[[float], None] | None) -> None:
    if form != "parquet":
        recording.save("csv" if form == "csv" else "trace", path, progress=progress)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            ("time_s", pa.float64()),
            ("duration_s", pa.float64()),
            ("process", pa.string()),
            ("op", pa.string()),
            ("file", pa.string()),
            ("offset_bytes", pa.uint64()),
            ("bytes", pa.uint64()),
            ("call_bytes", pa.uint64()),
            ("to", pa.string()),
            ("fd", pa.uint32()),
            ("depth", pa.uint32()),
            ("by", pa.string()),
            ("flags", pa.string()),
        ]
    )
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in recording.batches():
            writer.write_table(pa.table(batch, schema=schema))


@contextmanager
def as_file_of_the_core(path: str | os.PathLike[str], reading: Reading) -> Iterator[tuple[str, str | None]]:
    """Give a file and a format that the core reads, for as long as the block lasts.

    Parameters
    ----------
    path : path-like
    reading : Reading

    Yields
    ------
    str
        The file itself or, if a Python package reads it, the recording of it in binary form.
    str or None
        Its format.
    """
    if format_of_a_package(path, reading.format) is None:
        yield check_path("path", path), reading.format
        return
    with TemporaryDirectory(prefix="pagecast-") as folder:
        file = os.path.join(folder, f"{Path(path).name}.pctrace")
        recording = read(path, reading)
        try:
            recording.save("trace", Path(file))
        except OSError as error:
            raise OutputError(f"{folder}: cannot be written ({error.strerror}); set TMPDIR") from None
        yield file, None
