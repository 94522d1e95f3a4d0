"""Make the small tables of this folder out of the full recordings.

Usage: ``python make_tables.py RECORDINGS`` with the folder that ``pagecast reproduce wrench-cache --data``
takes. README.md beside this file has its input, the sources of the numbers, and their pitfalls.
Standard library only, so that it runs without pagecast.
"""

import csv
import gzip
import itertools
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
TASKS = ("1", "2", "3")
VARIANTS = {"2": "cleared", "3": "nfs"}
LONG_S = 5.0
WINDOW_S = 10.0  # at most

Record = dict[str, str]
Key = tuple[str, str, str]  # experiment, case, operation
Span = tuple[str, str, str, str, str]  # experiment, case, operation, repetition or simulator, application


def main(recordings: Path) -> None:
    """Write the seven tables."""
    write_table(
        "measured.csv",
        ["experiment", "case", "operation", "mean_s", "min_s", "max_s", "repetitions"],
        measured(recordings),
    )
    write_table(
        "makespans.csv",
        ["experiment", "case", "mean_s", "min_s", "max_s", "repetitions"],
        makespans(recordings),
    )
    write_table("long_writes.csv", ["case", "share", "writes"], long_writes(recordings))
    write_table("published.csv", ["experiment", "case", "operation", *PUBLISHED], published(recordings))
    write_table("published_run_times.csv", ["experiment", "applications", *RUN_TIMES], run_times(recordings))
    write_table(
        "cached_files.csv",
        ["source", "case", "operation", *(f"f{k}_bytes" for k in range(1, 5))],
        cached_files(recordings),
    )
    write_table(
        "memory.csv",
        ["case", "span", "start_s", "end_s", "dirty_bytes", "cached_bytes", "dirtyable_bytes"],
        memory(recordings),
    )


# Measured times -----------------------------------------------------------------------------------


def measured(recordings: Path) -> Iterator[list[object]]:
    """Mean over the applications of a repetition, then mean, least and greatest over the repetitions."""
    operations = [
        *read_table(recordings / "exp1_real.csv"),
        *(r for r in read_table(recordings / "exp2_real.csv.gz") if r["variant"] == VARIANTS["2"]),
        *(r for r in read_table(recordings / "exp3_real.csv.gz") if r["variant"] == VARIANTS["3"]),
        *read_table(recordings / "exp4_real.csv"),
    ]
    seconds: dict[Span, float] = defaultdict(float)
    for record in operations:  # a call each in Exp 4, whose durations add up; an operation each elsewhere
        experiment, case, operation = key(record)
        seconds[experiment, case, operation, record["rep"], record["app"]] += float(record["duration_s"])
    for (experiment, case, operation), repetitions in means_of_repetitions(seconds).items():
        mean = sum(repetitions) / len(repetitions)
        spread = (mean, min(repetitions), max(repetitions))
        yield [experiment, case, operation, *(round(value, 6) for value in spread), len(repetitions)]


def means_of_repetitions(seconds: dict[Span, float]) -> dict[Key, list[float]]:
    """One mean over applications per repetition; for Exp 2 and 3 also of the sum over the tasks."""
    totals: dict[Span, float] = defaultdict(float)
    for (experiment, case, operation, repetition, application), value in seconds.items():
        if experiment in VARIANTS:
            totals[experiment, case, operation[:-1] + "total", repetition, application] += value
    applications: dict[tuple[Key, str], list[float]] = defaultdict(list)
    for (*of, repetition, _), value in {**seconds, **totals}.items():
        applications[(of[0], of[1], of[2]), repetition].append(value)
    repetitions: dict[Key, list[float]] = defaultdict(list)
    for (which, _), values in applications.items():
        repetitions[which].append(sum(values) / len(values))
    return dict(sorted(repetitions.items(), key=lambda item: order(item[0])))


def makespans(recordings: Path) -> Iterator[list[object]]:
    """From the start of the first application to the end of the last, Exp 2 and 3."""
    seconds: dict[tuple[str, int], list[float]] = defaultdict(list)
    for record in read_table(recordings / "exp2_exp3_runs.csv"):
        experiment = record["experiment"].removeprefix("exp")
        if record["variant"] == VARIANTS[experiment]:
            seconds[experiment, int(record["n_apps"])].append(float(record["makespan_s"]))
    for (experiment, applications), values in sorted(seconds.items()):
        mean = sum(values) / len(values)
        spread = (round(value, 6) for value in (mean, min(values), max(values)))
        yield [experiment, f"{applications} applications", *spread, len(values)]


def long_writes(recordings: Path) -> Iterator[list[object]]:
    """Share of the writes of Exp 2 that took more than 5 s, over all tasks, applications and repetitions."""
    writes: dict[int, list[float]] = defaultdict(list)
    for record in read_table(recordings / "exp2_real.csv.gz"):
        if record["variant"] == VARIANTS["2"] and record["op"] == "write":
            writes[int(record["n_apps"])].append(float(record["duration_s"]))
    for applications, seconds in sorted(writes.items()):
        share = sum(value > LONG_S for value in seconds) / len(seconds)
        yield [f"{applications} applications", round(share, 6), len(seconds)]


# What the authors' simulators gave ----------------------------------------------------------------

PUBLISHED = [
    "wrench_s",
    "wrench_cache_camera_ready_s",
    "wrench_cache_v1_s",
    "pysim_camera_ready_s",
    "pysim_v1_s",
]


def published(recordings: Path) -> Iterator[list[object]]:
    """First start to last end of an application's reads (or writes) in a task, mean over the applications."""
    spans: dict[Span, tuple[float, float]] = {}
    for name in ("published_sim.csv", "published_sim_exp2_exp3.csv.gz"):
        for record in read_table(recordings / name):
            start, end = float(record["start_s"]), float(record["end_s"])
            for column in columns_of(record):
                span = (*key(record), column, record["app"])
                first, last = spans.get(span, (start, end))
                spans[span] = (min(first, start), max(last, end))
    durations: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (experiment, case, operation, column, _), (start, end) in spans.items():
        durations[experiment, case, operation][column].append(end - start)
    for which in sorted(durations, key=order):
        by_column = durations[which]
        yield [*which, *(mean_text(by_column.get(column, [])) for column in PUBLISHED)]


def columns_of(record: Record) -> list[str]:
    """The columns that a published operation belongs to; plain WRENCH did not change between the vintages."""
    simulator, vintage = record["simulator"], record["vintage"]
    if simulator == "wrench":
        return ["wrench_s"]
    vintages = ("camera_ready", "v1") if vintage == "both" else (vintage,)
    return [f"{simulator}_{name}_s" for name in vintages]


RUN_TIMES = [
    "wrench_camera_ready_s",
    "wrench_cache_camera_ready_s",
    "wrench_v1_s",
    "wrench_cache_v1_s",
]


def run_times(recordings: Path) -> Iterator[list[object]]:
    """Wall-clock time of the authors' simulators."""
    table: dict[tuple[str, int], dict[str, str]] = defaultdict(dict)
    for record in read_table(recordings / "published_sim_runtime.csv"):
        column = f"{record['simulator']}_{record['vintage']}_s"
        table[record["experiment"][-1], int(record["n_apps"])][column] = (
            f"{float(record['host_runtime_s']):g}"
        )
    for (experiment, applications), row in sorted(table.items()):
        yield [experiment, applications, *(row[column] for column in RUN_TIMES)]


# What was in the page cache -----------------------------------------------------------------------


def cached_files(recordings: Path) -> Iterator[list[object]]:
    """Bytes of the four files in the page cache after each operation of Exp 1."""
    table: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for record in read_table(recordings / "exp1_cached_files.csv"):
        source = "measured" if record["source"] == "real" else f"{record['source']}_{record['vintage']}"
        operation = f"{record['after_op']} {record['after_task']}"
        table[source, f"{record['size_gb']} GB", operation].append(record["cached_bytes"])
    for which, amounts in table.items():
        yield [*which, *amounts]


def memory(recordings: Path) -> Iterator[list[object]]:
    """Means over windows of each operation of Exp 1 and of the computing in between."""
    samples: dict[str, list[Record]] = defaultdict(list)
    for record in read_table(recordings / "exp1_memprof_real.csv.gz"):
        samples[record["size_gb"]].append(record)
    operations: dict[str, list[Record]] = defaultdict(list)
    for record in read_table(recordings / "exp1_real.csv"):
        operations[record["size_gb"]].append(record)
    for size, records in operations.items():
        for span, start, end in spans(records):
            count = math.ceil((end - start) / WINDOW_S)
            edges = [start + (end - start) * k / count for k in range(count + 1)]
            for window in itertools.pairwise(edges):
                inside = [one for one in samples[size] if window[0] <= float(one["time_s"]) < window[1]]
                yield [f"{size} GB", span, *(round(edge, 3) for edge in window), *mean_levels(inside)]


def spans(operations: list[Record]) -> Iterator[tuple[str, float, float]]:
    """Reads, computing and writes one after the other; a read is followed by the write of its task."""
    read_until = 0.0
    for record in operations:
        start, end = float(record["start_s"]), float(record["end_s"])
        if record["op"] == "write":
            yield f"compute {record['task']}", read_until, start
        yield f"{record['op']} {record['task']}", start, end
        read_until = end


def mean_levels(samples: list[Record]) -> Iterator[int]:
    """Dirty, cached and dirtyable bytes."""
    for columns in (["dirty_bytes"], ["file_cache_bytes"], ["free_bytes", "file_cache_bytes"]):
        total = sum(float(sample[column]) for sample in samples for column in columns)
        yield round(total / len(samples))


# Reading and writing ------------------------------------------------------------------------------


def key(record: Record) -> Key:
    """Experiment, case and operation in the words of ``pagecast reproduce --json``."""
    experiment = record["experiment"].removeprefix("exp")
    case = {"1": f"{record.get('size_gb')} GB", "4": "nighres"}.get(
        experiment, f"{record['n_apps']} applications"
    )
    return experiment, case, f"{record['op']} {record['task']}"


def order(of: Key) -> tuple[str, int, str, str]:
    """By experiment, then size or number of applications, then task, then kind (totals last)."""
    experiment, case, operation = of
    kind, task = operation.split()
    number = case.split()[0]
    return experiment, int(number) if number.isdigit() else 0, task, kind


def mean_text(values: list[float]) -> str:
    """Mean in seconds with microseconds; empty if there is nothing."""
    return f"{sum(values) / len(values):.6f}" if values else ""


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
