"""Reads what iozone and fio have measured.

Source: the outputs of iozone 3.4 and 3.5 (`iozone.c`: the columns of a line, `dump_report`), and fio's JSON.
Left out: iozone's binary spreadsheet (``-b``), throughput mode (``-t``), fio jobs that read and write.
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pagecast.api import read_input
from pagecast.arguments import shown
from pagecast.errors import ScenarioError
from pagecast.grid.kinds import TESTS
from pagecast.grid.plan import Cell
from pagecast.grid.result import Row

__all__ = ["read_rates"]

KIB: Final = 1024

_REPORT: Final = re.compile(r'^"?([A-Z][\w -]*?) report"?[\s,;]*$')
_COLUMNS: Final = re.compile(r"^( *)kB  reclen    write  rewrite")
_FIO_TESTS: Final = {"write": "write", "read": "read", "randread": "random-read", "randwrite": "random-write"}
_FIRST, _WIDTH, _HEAD = 24, 9, 14
"""Where the first rate of a line begins, how wide each is, and the blanks before kB."""


def read_rates(path: Path) -> list[Row]:
    """Read the rates of a result.

    Parameters
    ----------
    path : Path
        What iozone printed (``-a``, ``-R``), or its reports as CSV; or fio's output as JSON.

    Returns
    -------
    list of Row
        Their source is the name of the file.

    Raises
    ------
    ScenarioError
        It cannot be read, or is none of these; the message names the line.
    """
    raw = read_input(path)
    if raw.startswith(b"\xd0\xcf\x11\xe0") or raw[:2] == b"\t\x00":
        raise ScenarioError(
            f"{shown(path)}: is a binary spreadsheet; give what iozone printed (-R), or save the sheet as CSV"
        )
    text = raw.decode(errors="replace")
    rows = list(_fio(path, text) if text.lstrip().startswith("{") else _iozone(path, text))
    if not rows:
        raise ScenarioError(f"{shown(path)}: has no rates of iozone (-a or -R) and is no JSON of fio")
    return rows


def _iozone(path: Path, text: str) -> Iterator[Row]:
    """Give the rates of the reports, or of the table above them where there are none."""
    in_operations = "Output is in operations per second" in text
    lines = text.splitlines()
    found = list(_reports(path, lines)) or list(_table(path, lines))
    for test, file_kib, record_kib, rate in found:
        cell = Cell(file_kib * KIB, record_kib * KIB)
        bytes_per_s = rate * (cell.record_bytes if in_operations else KIB)
        yield Row(path.name, test, cell, cell.file_bytes / bytes_per_s)


def _reports(path: Path, lines: list[str]) -> Iterator[tuple[str, int, int, float]]:
    """Read the sections such as "Writer report": a line of record sizes, then a line for each file size."""
    names = {test.report: test.name for test in TESTS.values()}
    test: str | None = None
    records: list[int] = []
    for number, line in enumerate(lines, 1):
        if heading := _REPORT.match(line.strip()):
            test, records = names.get(heading[1]), []
            continue
        cells = [cell for cell in _cells(line) if cell]
        if test is None or not cells:
            test = None if not cells and records else test
            continue
        values = [_number(path, number, cell) for cell in cells]
        if not records:
            records = [int(value) for value in values]
        elif len(values) > len(records) + 1:
            raise ScenarioError(
                f"{shown(path)}:{number}: has {len(values) - 1} rates for {len(records)} record sizes"
            )
        else:
            # The first record sizes may be missing: iozone writes 0 for what it has left out.
            for record, rate in zip(records, values[1:], strict=False):
                if rate > 0 and values[0] > 0 and record > 0:
                    yield test, int(values[0]), record, rate


def _cells(line: str) -> list[str]:
    """Split a line of a report: blanks, tabs, commas or semicolons between cells, with or without quotes."""
    if "," in line or ";" in line:
        return [cell.strip() for cell in next(csv.reader([line], delimiter="," if "," in line else ";"))]
    return [cell.strip('"') for cell in line.split()]


def _table(path: Path, lines: list[str]) -> Iterator[tuple[str, int, int, float]]:
    """Read the table that iozone prints as it goes; a test that was left out is a blank of its width."""
    names = {test.column: test.name for test in TESTS.values()}
    indent: int | None = None
    for number, line in enumerate(lines, 1):
        if heading := _COLUMNS.match(line):
            indent = len(heading[1]) - _HEAD
        elif indent is not None and re.fullmatch(r"[\s\d.]+", line) and line.strip():
            found = [(match.end() - indent, match[0]) for match in re.finditer(r"[\d.]+", line)]
            if len(found) < 3:
                continue
            file_kib, record_kib = (int(_number(path, number, found[at][1])) for at in (0, 1))
            for end, value in found[2:]:
                test = names.get(round((end - _FIRST) / _WIDTH) - 1)
                rate = _number(path, number, value)
                if test is not None and rate > 0 and file_kib > 0 and record_kib > 0:
                    yield test, file_kib, record_kib, rate


def _number(path: Path, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ScenarioError(f"{shown(path)}:{line}: `{shown(text)}` is no number") from None


def _fio(path: Path, text: str) -> Iterator[Row]:
    """Give the rates of jobs that read or write alone."""
    try:
        document: dict[str, Any] = json.loads(text)
        options = document.get("global options", {})
        jobs = document["jobs"]
        for job in jobs:
            yield from _job(path, {**options, **job.get("job options", {})}, job)
    except json.JSONDecodeError as error:
        where = f"{shown(path)}:{error.lineno}"
        raise ScenarioError(f"{where}: {error.msg}; fio writes JSON with --output-format=json") from None
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise ScenarioError(f"{shown(path)}: is no result of fio as JSON ({error})") from None


def _job(path: Path, options: dict[str, Any], job: dict[str, Any]) -> Iterator[Row]:
    test = _FIO_TESTS.get(str(options.get("rw", options.get("readwrite", "read"))))
    if test is None or "size" not in options:
        return
    size, record = (_fio_bytes(str(text)) for text in (options["size"], options.get("bs", "4k")))
    rate = float(job["write" if test.endswith("write") else "read"]["bw_bytes"])
    if rate > 0 and size > 0 and record > 0:
        yield Row(path.name, test, Cell(size, record), size / rate)


def _fio_bytes(text: str) -> int:
    """Read a size as fio has it: "4k" is 4 KiB, "1G" 1 GiB (kb_base=1024)."""
    match = re.fullmatch(r"(\d+)\s*([kmgt]?)(i?b)?", text.strip().lower())
    if match is None:
        raise ValueError(f"`{text}` is no size")
    return int(match[1]) << 10 * " kmgt".index(match[2] or " ")
