"""The tables of the study, for the terminal and the report."""

from collections.abc import Iterator
from statistics import mean

from pagecast.comparison.shapes import shapes_table
from pagecast.report.document import Table
from pagecast.studies.pvfs.outcome import PvfsOutcome

__all__ = ["tables"]


def tables(outcome: PvfsOutcome) -> Iterator[Table]:
    """Make the tables of all that was asked for."""
    for way in ("read", "write"):
        if outcome.by_block:
            yield _blocks_table(outcome, way)
    if outcome.by_file:
        yield _files_table(outcome)
    yield shapes_table(outcome.shapes)


def _blocks_table(outcome: PvfsOutcome, way: str) -> Table:
    blocks = list(next(iter(outcome.by_block.values())))
    return Table(
        title=f"Throughput of each client in KiB/s, {way}s, by block in KiB (mean of the clients)",
        columns=("clients", *(str(block) for block in blocks)),
        rows=[
            (str(clients), *(f"{mean(curve[block][way]):,.0f}" for block in blocks))
            for clients, curve in outcome.by_block.items()
        ],
        text_columns=1,
    )


def _files_table(outcome: PvfsOutcome) -> Table:
    return Table(
        title="Throughput of one client in KiB/s, blocks of 64 KiB, by file in KiB",
        columns=("file", "read", "write"),
        rows=[
            (f"{file:,}", *(f"{mean(one[way]):,.0f}" for way in ("read", "write")))
            for file, one in outcome.by_file.items()
        ],
        text_columns=1,
    )
