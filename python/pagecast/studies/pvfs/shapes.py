"""What the dissertation says of its PVFS figures, held against forecasts. It prints no throughput.

Each judgement has its tolerance beside it, named before any forecast was looked at.
"""

from collections.abc import Iterator, Mapping
from statistics import mean
from typing import Final

from pagecast.comparison.shapes import Shape

__all__ = ["BLOCKS_KIB", "CLIENTS", "FILES_KIB", "Curve", "Curves", "judge_clients", "judge_files"]

MIB: Final = 1024

CLIENTS: Final = tuple(range(1, 9))

BLOCKS_KIB: Final = tuple(8 << power for power in range(9))
"""8 KiB to 2 MiB, as the axes of Figures 55 to 70."""

FILES_KIB: Final = tuple(64 << power for power in range(0, 15, 1))
"""64 KiB to 1 GiB."""

LEVEL_KIB: Final = 2 * MIB
"""From this size on writes have their level (section 3.3.3)."""

WITHIN: Final = 0.05
"""Rates so near to each other are the same, as in the study of ext3."""

AXES: Final = {("write", 6): 80_000, ("read", 7): 90_000}
"""KB/s up to which the axes of Figures 66 and 67 go, by clients."""

Curve = Mapping[int, dict[str, list[float]]]
"""KiB/s of each client, "read" and "write", by block or file in KiB."""

Curves = Mapping[int, Curve]
"""Curves by the number of clients."""


def judge_clients(curves: Curves) -> Iterator[Shape]:
    """Judge throughput over blocks, for each number of clients."""
    apart = max(
        max(rates) / min(rates) - 1
        for curve in curves.values()
        for one in curve.values()
        for rates in one.values()
    )
    yield Shape(
        "the curves of equal clients coincide, within 5 %",
        "57 to 70",
        f"{100 * apart:.1f} % apart at most",
        apart <= WITHIN,
    )
    for way in ("read", "write"):
        parts = [
            mean(curve[min(curve)][way]) / max(mean(one[way]) for one in curve.values())
            for curve in curves.values()
        ]
        yield Shape(
            f"{way}s of small blocks are slower: at 8 KiB less than half of the fastest block",
            "55 to 70",
            f"{100 * min(parts):.0f} to {100 * max(parts):.0f} % of the fastest",
            max(parts) < 0.5,
        )
    for (way, clients), axis in AXES.items():
        if clients in curves:
            fastest = max(mean(one[way]) for one in curves[clients].values())
            yield Shape(
                f"{way}s of {clients} clients stay below the end of the axis, {axis:,} KB/s",
                "66" if clients == 6 else "67",
                f"{fastest:,.0f} KiB/s at most",
                fastest <= axis,
            )
    for way in ("read", "write"):
        most = {clients: max(mean(one[way]) for one in curve.values()) for clients, curve in curves.items()}
        few, many = most[min(most)], most[max(most)]
        yield Shape(
            f"{way}s get less for each as clients exceed servers: {max(most)} clients less than 3/4 of one "
            "(our expectation)",
            "",
            f"{100 * many / few:.0f} %",
            many < 0.75 * few,
        )


def judge_files(curve: Curve) -> Iterator[Shape]:
    """Judge throughput of one client over the size of its file."""
    reads = {file: mean(one["read"]) for file, one in curve.items()}
    writes = {file: mean(one["write"]) for file, one in curve.items()}
    spread = max(reads.values()) / min(reads.values()) - 1
    yield Shape(
        "reads do not depend on the size of the file, within 5 %",
        "17",
        f"{100 * spread:.1f} % apart",
        spread <= WITHIN,
    )
    short = max(rate for file, rate in writes.items() if file < LEVEL_KIB)
    yield Shape(
        "files of less than 2 MiB are written more slowly than one of 2 MiB",
        "18",
        f"{100 * short / writes[LEVEL_KIB]:.0f} % at most",
        short < writes[LEVEL_KIB],
    )
    level = [rate for file, rate in writes.items() if file >= LEVEL_KIB]
    spread = max(level) / min(level) - 1
    yield Shape(
        "writes have their level from 2 MiB on, within 20 %, the dissertation's own bars",
        "18",
        f"{100 * spread:.1f} % apart",
        spread <= 0.2,
    )
