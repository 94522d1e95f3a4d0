"""The tables of the study, for the terminal and the report."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import mean
from typing import Final, TypeVar

from pagecast.comparison.shapes import shapes_table
from pagecast.report.document import Table
from pagecast.studies.pvfs.outcome import PvfsOutcome
from pagecast.studies.pvfs.plan import (
    GIB,
    MIB,
    Curve,
    Forecasts,
    as_curves,
    by_clients,
)
from pagecast.studies.pvfs.shapes import WAYS, over_draws

__all__ = ["size", "tables"]

_Line = TypeVar("_Line", bound=tuple[str, ...])


def tables(outcome: PvfsOutcome) -> Iterator[Table]:
    """Make the tables of all that was asked for."""
    for experiment, forecasts in outcome.forecasts.items():
        yield from _OF[experiment](forecasts)
    for experiment, forecasts in outcome.net_forecasts.items():
        for table in _OF[experiment](forecasts):
            yield replace(table, title=f"{table.title}, petri")
    yield _shapes(outcome)


def _shapes(outcome: PvfsOutcome) -> Table:
    """Make the table of claims: beside the verdict of the engine that of the nets, where they are judged."""
    if not outcome.shapes or not outcome.net_shapes:
        return shapes_table(outcome.shapes or outcome.net_shapes)
    table = shapes_table(outcome.shapes)
    by_claim = {one.claim: one for one in outcome.net_shapes}
    judged = [by_claim.get(one.claim) for one in outcome.shapes]
    beside = [("", "") if one is None else (one.found, "yes" if one.holds else "no") for one in judged]
    return replace(
        table,
        columns=(*table.columns, "petri", "holds"),
        rows=[(*(row or ()), *more) for row, more in zip(table.rows, beside, strict=True)],
        text_columns=6,
    )


def _clients(forecasts: Forecasts) -> Iterator[Table]:
    curves = {
        (str(clients), size(file)): curve
        for file in dict.fromkeys(point.file_kib for point in forecasts)
        for clients, curve in by_clients(forecasts, file_kib=file).items()
    }
    what = "each client in KiB/s, by clients, file and block in KiB (means)"
    yield from _by_block(what, ("clients", "file"), curves)


def _buffer(forecasts: Forecasts) -> Iterator[Table]:
    curves = as_curves(
        forecasts, line=lambda point: (str(point.clients), point.search), at=lambda point: point.block_kib
    )
    yield from _by_block(
        "each client in KiB/s, by clients, time to pass a request and block in KiB (means)",
        ("clients", "search"),
        curves,
    )


def _starts(forecasts: Forecasts) -> Iterator[Table]:
    yield Table(
        title="Throughput of each client in KiB/s, blocks of 64 KiB, clients do not begin together (draws)",
        columns=("clients", *(f"{way}s, {what}" for way in WAYS for what in ("mean", "least", "most"))),
        rows=[
            (str(clients), *(f"{of(rates[way]):,.0f}" for way in WAYS for of in (mean, min, max)))
            for clients, rates in over_draws(forecasts).items()
        ],
        text_columns=1,
    )


def _files(forecasts: Forecasts) -> Iterator[Table]:
    curves = as_curves(
        forecasts, line=lambda point: (size(point.file_kib),), at=lambda point: point.block_kib
    )
    yield from _by_block("one client in KiB/s, by file and block in KiB", ("file",), curves)


def _memory(forecasts: Forecasts) -> Iterator[Table]:
    curves = as_curves(
        forecasts, line=lambda point: point.clients, at=lambda point: point.clients * point.file_kib
    )
    block = size(next(iter(forecasts)).block_kib)
    yield Table(
        title=f"Throughput of each client in KiB/s, blocks of {block}, by all files together (means)",
        columns=("files", *(f"{way}s of {clients}" for clients in curves for way in WAYS)),
        rows=[
            (size(together), *(_rate(curve, together, way) for curve in curves.values() for way in WAYS))
            for together in next(iter(curves.values()))
        ],
        text_columns=1,
    )


_OF: Final = {"clients": _clients, "buffer": _buffer, "starts": _starts, "files": _files, "memory": _memory}
"""The tables of each experiment."""


def _by_block(what: str, names: tuple[str, ...], curves: Mapping[_Line, Curve]) -> Iterator[Table]:
    """Make a table of curves over blocks for reads, and one for writes."""
    blocks = sorted({block for curve in curves.values() for block in curve})
    for way in WAYS:
        yield Table(
            title=f"{way.capitalize()}s of {what}",
            columns=(*names, *(str(block) for block in blocks)),
            rows=[(*line, *(_rate(curve, block, way) for block in blocks)) for line, curve in curves.items()],
            text_columns=len(names),
        )


def _rate(curve: Curve, at: int, way: str) -> str:
    return f"{mean(curve[at][way]):,.0f}" if at in curve else ""


def size(kib: int) -> str:
    """Give a size in its largest unit."""
    if kib < MIB:
        return f"{kib} KiB"
    return f"{kib // MIB} MiB" if kib < GIB else f"{kib // GIB} GiB"
