"""Make the small tables of this folder out of the full recordings.

Usage: ``python make_tables.py RECORDINGS`` with the folder that ``pagecast reproduce cawl --data`` takes.
README.md beside this file has its input, the sources of the numbers, and their pitfalls.
Standard library only, so that it runs without pagecast.
"""

import csv
import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).parent
GIB = 2**30
MAIN_WRITES = (100, 800)
"""How many writes the main series have; series of 1 GiB writes with another number were trials."""

Record = dict[str, str]

SERIES = [
    "series_id", "host", "group", "open_flags", "io_method", "access", "pause_s", "libc_buffer_bytes",
    "chunk_bytes", "size_min_bytes", "writes", "flush_start_write", "throttled_write",
]  # fmt: skip


def main(recordings: Path) -> None:
    """Write the two tables."""
    all_series = list(series(recordings))
    write_table("series.csv", SERIES, all_series)
    write_table(
        "blocks.csv",
        ["series_id", "first_write", "last_write", "measured_s", "cawl_s"],
        blocks(recordings, all_series),
    )


def series(recordings: Path) -> Iterator[list[object]]:
    """Description of each series, and the first write of each of its phases."""
    levels = {row["series_id"]: row for row in read_table(recordings / "inferred_levels.csv")}
    for row in read_table(recordings / "scenarios.csv"):
        level = levels.get(row["series_id"], {})
        yield [
            row["series_id"], row["host"], row["cawl_config"][0], row["open_flags"], row["io_method"],
            row["access"], row["pause_s"], row["libc_buffer_bytes"], row["chunk_bytes"],
            row["size_min_bytes"], row["n_ops"], level.get("flush_start_op", ""),
            level.get("throttled_op", ""),
        ]  # fmt: skip


def blocks(recordings: Path, all_series: Iterable[list[object]]) -> Iterator[list[object]]:
    """Mean seconds of blocks of writes, measured and predicted."""
    rows = {str(row[0]): dict(zip(SERIES, map(str, row), strict=True)) for row in all_series}
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in read_table(recordings / "measurements.csv.gz"):
        times[row["series_id"]].append((float(row["measured_s"]), float(row["cawl_model_s"])))
    for name, values in times.items():
        first = 0
        for length in block_lengths(rows[name], [measured for measured, _ in values]):
            block = values[first : first + length]
            means = (f"{sum(column) / length:.9f}" for column in zip(*block, strict=True))
            yield [name, first + 1, first + length, *means]
            first += length


def block_lengths(series: dict[str, str], measured: list[float]) -> list[int]:
    """Say how many writes each block of a series has.

    25 or 5 of main series. Of small fwrites each that took time, and those between two of them. Of the others
    as many as make 16 blocks where sizes grow, 8 past the page cache and else 4; the last may be shorter.
    """
    size, count = series["chunk_bytes"], len(measured)
    if series["io_method"] == "fwrite" and int(size) < int(series["libc_buffer_bytes"]):
        runs = ((took, len(list(run))) for took, run in groupby(seconds > 0 for seconds in measured))
        return [length for took, run in runs for length in ([1] * run if took else [run])]
    is_buffered = series["open_flags"] == "buffered"
    if size == str(GIB) and is_buffered and count in MAIN_WRITES:
        length = 25 if count == max(MAIN_WRITES) else 5
    else:
        length = -(-count // (16 if not size else 4 if is_buffered else 8))
    return [min(length, count - first) for first in range(0, count, length)]


def read_table(path: Path) -> Iterator[Record]:
    """Rows of a CSV file, gzipped or not."""
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        yield from csv.DictReader(file)


def write_table(name: str, header: list[str], rows: Iterable[list[object]]) -> None:
    """Write one table beside this script."""
    with (HERE / name).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
