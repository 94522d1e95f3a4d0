"""Make the small tables of this folder out of the full recordings.

Usage: ``python make_tables.py RECORDINGS`` with the folder that ``pagecast reproduce cawl --data`` takes.
What it reads, where the numbers come from and what to beware of is in README.md beside this file.
Standard library only, so that it runs without pagecast.
"""

import csv
import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
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
        blocks(recordings, {str(row[0]): is_main(row) for row in all_series}),
    )


def series(recordings: Path) -> Iterator[list[object]]:
    """What each series was, and at which write its phases began."""
    levels = {row["series_id"]: row for row in read_table(recordings / "inferred_levels.csv")}
    for row in read_table(recordings / "scenarios.csv"):
        level = levels.get(row["series_id"], {})
        yield [
            row["series_id"], row["host"], row["cawl_config"][0], row["open_flags"], row["io_method"],
            row["access"], row["pause_s"], row["libc_buffer_bytes"], row["chunk_bytes"],
            row["size_min_bytes"], row["n_ops"], level.get("flush_start_op", ""),
            level.get("throttled_op", ""),
        ]  # fmt: skip


def is_main(row: list[object]) -> bool:
    """Tell the buffered series of 100 or 800 writes of 1 GiB from the others."""
    of = dict(zip(SERIES, row, strict=True))
    is_whole = of["chunk_bytes"] == str(GIB) and of["open_flags"] == "buffered"
    return is_whole and int(str(of["writes"])) in MAIN_WRITES


def blocks(recordings: Path, main_series: dict[str, bool]) -> Iterator[list[object]]:
    """Mean seconds of blocks of writes: 25 or 5 writes each of the main series, quarters of the others."""
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in read_table(recordings / "measurements.csv.gz"):
        times[row["series_id"]].append((float(row["measured_s"]), float(row["cawl_model_s"])))
    for name, values in times.items():
        count = len(values)
        length = (25 if count == max(MAIN_WRITES) else 5) if main_series[name] else -(-count // 4)
        for first in range(0, count, length):
            block = values[first : first + length]
            means = (f"{sum(column) / len(block):.9f}" for column in zip(*block, strict=True))
            yield [name, first + 1, first + len(block), *means]


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
