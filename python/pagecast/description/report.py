"""A description as tables for the terminal, and as one HTML file."""

import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pagecast._core import __version__, format_bytes
from pagecast.description.describing import CLASSES, Description, size_text
from pagecast.report import Figure, Report, Section, Table, write

__all__ = ["conclusion", "summary_tables", "write_report"]

_MOST_ROWS = 10
"""Rows of a table in the terminal."""

_MOST_IN_REPORT = 200

_HIT_RATIOS = (0.5, 0.9, 0.99)
"""Of the most that is possible: the memory for so much of it is told."""


def conclusion(description: Description) -> list[str]:
    """Say what matters, a sentence each.

    Parameters
    ----------
    description : Description

    Returns
    -------
    list of str
    """
    totals = description.totals
    if totals["requests"] == 0:
        return ["Nothing is read or written."]
    lines = [
        f"{_count(totals['reads'], 'read', 's')} of {format_bytes(totals['read_bytes'])} and "
        f"{_count(totals['writes'], 'write', 's')} of {format_bytes(totals['written_bytes'])}, "
        f"by {_count(totals['all_processes'], 'process', 'es')}, "
        f"to {_count(totals['all_files'], 'file', 's')}{_in_time(totals['duration_s'])}."
    ]
    shares = [f"{100 * share:.3g} % {name}" for name, share in description.shares.items() if share > 0]
    lines.append(f"Of the requests, {', '.join(shares)}.")
    about = "" if totals["is_exact"] else "about "
    what = "objects" if description.level == "objects" else "bytes"
    lines.append(f"They use {about}{format_bytes(totals['footprint_bytes'])} of different {what}.")
    lines.extend(_memory(description))
    return lines


def _memory(description: Description) -> list[str]:
    """Say how much memory an LRU cache needs for most of the hits that are possible."""
    curve = description.table("hit_ratio")
    most = float(curve["hit_ratio"][-1]) if len(curve) else 0.0
    if most == 0.0:
        return ["No page is used twice: no page cache has a hit."]
    needed = []
    for part in _HIT_RATIOS:
        at = int((curve["hit_ratio"] >= part * most).argmax())
        needed.append(f"{format_bytes(int(curve['memory_bytes'][at]))} for {100 * part:.0f} %")
    unsure = (
        f" (standard error up to {100 * float(curve['error'].max()):.1g} %)" if _is_sampled(curve) else ""
    )
    return [
        f"At most {100 * most:.3g} % of the pages are hits{unsure}; of these, LRU needs {', '.join(needed)}."
    ]


def _is_sampled(curve: "object") -> bool:
    return bool(curve["error"].any())  # type: ignore[index]


def _count(number: int, what: str, plural: str) -> str:
    return f"{number:,} {what}{plural if number != 1 else ''}"


def _in_time(duration_s: float | None) -> str:
    return "" if not duration_s else f", in {duration_s:,.4g} s"


def summary_tables(description: Description, *, most: int = _MOST_ROWS) -> list[Table]:
    """Give the tables that fit into a terminal.

    Parameters
    ----------
    description : Description
    most : int
        Rows of each.

    Returns
    -------
    list of Table
    """
    if description.totals["requests"] == 0:
        return []
    tables = [_classes(description), _sizes(description, most)]
    if len(description.table("operations")):
        tables.append(_operations(description, most))
    if len(description.table("files")) > 1:
        tables.append(_parties(description, "files", most))
    if len(description.table("processes")) > 1:
        tables.append(_parties(description, "processes", most))
    return tables


def _classes(description: Description) -> Table:
    table = description.table("classes")
    requests, moved = table["requests"], table["bytes"]
    rows = [
        [
            name,
            f"{requests[at]:,}",
            f"{100 * requests[at] / max(requests.sum(), 1):.1f} %",
            format_bytes(int(moved[at])),
            f"{100 * moved[at] / max(moved.sum(), 1):.1f} %",
        ]
        for at, name in enumerate(table["class"])
    ]
    note = (
        "A request belongs to the run of a process in a file that it is part of: alone it is random, one of "
        "2 to 7 mixed, one of 8 or more sequential; of 1 MiB or more it is large sequential."
    )
    return Table("Classes of requests", ["class", "requests", "", "bytes", ""], rows, note=note)


def _sizes(description: Description, most: int) -> Table:
    table = description.table("sizes")
    count = table["reads"] + table["writes"]
    chosen = sorted((-count).argsort(kind="stable")[:most].tolist())
    rows = [
        [
            size_text(int(table["bytes"][at])),
            f"{table['reads'][at]:,}",
            f"{table['writes'][at]:,}",
            f"{100 * count[at] / max(count.sum(), 1):.1f} %",
        ]
        for at in chosen
    ]
    more = len(table) - len(rows)
    note = f"{more:,} more sizes are less frequent." if more else ""
    return Table("Sizes of requests", ["size", "reads", "writes", "share"], rows, note=note)


def _operations(description: Description, most: int) -> Table:
    table = description.table("operations")
    order = (-table["count"]).argsort(kind="stable")[:most].tolist()
    rows = [[table["operation"][at], f"{table['count'][at]:,}"] for at in order]
    return Table("Other operations", ["operation", "count"], rows)


def _parties(description: Description, name: str, most: int) -> Table:
    table = description.table(name)
    rows = []
    for at in range(min(most, len(table))):
        requests = sum(int(table[each][at]) for each in CLASSES)
        rows.append(
            [
                table["name"][at],
                f"{table['reads'][at]:,}",
                format_bytes(int(table["read_bytes"][at])),
                f"{table['writes'][at]:,}",
                format_bytes(int(table["written_bytes"][at])),
                *(f"{100 * int(table[each][at]) / max(requests, 1):.0f} %" for each in CLASSES),
            ]
        )
    more = description.totals[f"all_{name}"] - len(rows)
    note = f"{more:,} more move less." if more > 0 else ""
    head = [name, "reads", "bytes", "writes", "bytes", "random", "mixed", "sequential", "large"]
    title = "Files that move most" if name == "files" else "Processes that move most"
    return Table(title, head, rows, note=note, is_long=len(rows) > 2 * _MOST_ROWS)


def write_report(description: Description, path: Path) -> None:
    """Write one self-contained HTML file; needs matplotlib and jinja2.

    Parameters
    ----------
    description : Description
    path : Path
        An existing file is replaced.
    """
    totals = description.totals
    sections = [
        Section("Where requests go", figures=_figure(description, "places", _places_caption(description))),
        Section(
            "How much memory would serve them",
            text=[
                "A page of 4 KiB is a hit in an LRU cache of at least the different bytes that were used "
                "since its last use. Reads and writes are uses. The kernel's page cache is near this, but "
                "reads ahead, keeps two lists, and writes back: pagecast simulate forecasts that."
            ],
            figures=[
                *_figure(description, "hit_ratio", _hits_caption(description)),
                *_figure(description, "working_set", "Different bytes in each window, and up to its end."),
            ],
        ),
        Section(
            "What requests are like",
            figures=_figure(description, "sizes", "How many requests have each size."),
            tables=summary_tables(description, most=_MOST_IN_REPORT),
        ),
    ]
    facts = [
        ("source", description.source),
        ("requests", f"{totals['requests']:,}"),
        ("made by", f"pagecast {__version__}"),
        ("command", shlex.join(["pagecast", *sys.argv[1:]])),
        *(("note", note) for note in description.notes),
    ]
    report = Report(
        title=f"What {Path(description.source).name} reads and writes",
        lead="The statistics of a recording, whatever machine it runs on.",
        conclusion=conclusion(description),
        facts=facts,
        sections=sections if totals["requests"] else (),
    )
    write(report, path)


def _places_caption(description: Description) -> str:
    shown, requests = len(description.table("points")), description.totals["requests"]
    which = "Every request" if shown == requests else f"{shown:,} of the {requests:,} requests, evenly chosen"
    return (
        f"{which}: its offset in its file against its number. Streams are lines, random requests are clouds."
    )


def _hits_caption(description: Description) -> str:
    totals = description.totals
    if totals["is_exact"]:
        return "Exact: all pages are counted."
    return (
        f"From a sample of {100 * totals['sampled']:.2g} % of the pages; the bands are two standard errors "
        "to each side."
    )


def _figure(description: Description, name: str, caption: str) -> Sequence[Figure]:
    from matplotlib.figure import Figure as Drawing

    from pagecast.description.drawing import FIGURES
    from pagecast.report.svg import drawn

    def draw(name: str) -> Drawing:
        figure = Drawing(figsize=(9, 4.2), layout="constrained")
        FIGURES[name](description, figure.add_subplot())
        return figure

    return drawn(name.replace("_", " "), partial(draw, name), caption, name=f"describe-{name}")
