"""Compare the oracle with the published outputs: `python -m oracle.compare --data DIR`.

What it shows: per experiment, vintage and operation the mean over the cases of |ours - published| /
published, the worst case, and the share of cases above 15 %. A case of Exp 2 and 3 is a number of
applications: first its mean over the applications is compared; "one by one" compares the sorted durations of
the single applications (which of them is which depends on how ties are broken).
Source: DIR holds the tables of the WRENCH-cache reference data (published_sim.csv and
published_sim_exp2_exp3.csv.gz).
Leaves out: measured times; `pagecast reproduce` compares with those.
"""

import argparse
import csv
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import experiments, run
from .scenario import Scenario

SIMULATOR = {"wrench": "wrench_cache", "no-cache": "wrench"}
FAR = 0.15

Published = dict[tuple[str, str, str, str, str], list[float]]
"""Durations by experiment, vintage, simulator, case and operation."""


def published(data: Path) -> Published:
    """Read the tables; the vintage "both" counts for each."""
    table: Published = {}
    for name in ("published_sim.csv", "published_sim_exp2_exp3.csv.gz"):
        path = data / name
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(newline="") as file:
            for row in csv.DictReader(file):
                case = row["size_gb"] if row["experiment"] == "exp1" else row["n_apps"]
                operation = f"{row['op']} {row['task']}"
                for vintage in ("camera_ready", "v1") if row["vintage"] == "both" else (row["vintage"],):
                    key = row["experiment"], vintage, row["simulator"], case, operation
                    table.setdefault(key, []).append(float(row["duration_s"]))
    return table


def ours(scenario: Scenario, model: str, options: dict[str, str]) -> dict[str, list[float]]:
    """Give the durations by operation."""
    durations: dict[str, list[float]] = {}
    for done in run(scenario, model, **options).operations:
        if done.op.label:
            durations.setdefault(done.op.label, []).append(done.duration_s)
    return durations


def cases(experiment: str, applications: Sequence[int]) -> Iterator[tuple[str, Scenario]]:
    if experiment == "exp1":
        yield from ((str(gb), experiments.exp1(gb)) for gb in (20, 50, 75, 100))
    elif experiment == "exp4":
        yield "1", experiments.exp4()
    else:
        yield from ((str(n), getattr(experiments, experiment)(n)) for n in applications)


def compare(
    table: Published, experiment: str, vintage: str, model: str, applications: Sequence[int], per_case: bool
) -> None:
    options = {"vintage": vintage, "remote_memory": "server"} if model == "wrench" else {}
    means: dict[str, list[tuple[float, str]]] = {}  # deviation and case, by operation
    singles: dict[str, list[float]] = {}
    for case, scenario in cases(experiment, applications):
        for operation, values in ours(scenario, model, options).items():
            theirs = table.get((experiment, vintage, SIMULATOR[model], case, operation))
            if theirs is None:
                continue
            deviation = sum(values) / sum(theirs) - 1
            means.setdefault(operation, []).append((abs(deviation), case))
            pairs = zip(sorted(values), sorted(theirs), strict=True)
            singles.setdefault(operation, []).extend(abs(a / b - 1) for a, b in pairs)
            if per_case:
                times = [sum(each) / len(each) for each in (theirs, values)]
                print(f"    {experiment} {case:>3} {operation:8} published {times[0]:12.6f} s,", end=" ")
                print(f"ours {times[1]:12.6f} s, {100 * deviation:+9.4f} %")
    for operation in sorted(means, key=lambda name: name.split()[::-1]):
        worst, worst_case = max(means[operation])
        print(f"{experiment} {vintage:12} {model:9} {operation:8}", end=" ")
        print(
            f"{len(means[operation]):3} cases: {_summary([each for each, _ in means[operation]])},", end=" "
        )
        print(f"worst {100 * worst:8.4f} % (case {worst_case});", end=" ")
        print(f"one by one: {_summary(singles[operation])}", flush=True)


def _summary(deviations: list[float]) -> str:
    mean, far = sum(deviations) / len(deviations), sum(each > FAR for each in deviations) / len(deviations)
    return f"mean {100 * mean:8.4f} %, above {100 * FAR:.0f} %: {100 * far:5.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m oracle.compare", description="Compare with published outputs."
    )
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="folder of the reference tables"
    )
    parser.add_argument("--exp", type=int, action="append", choices=(1, 2, 3, 4), help="only this experiment")
    parser.add_argument("--vintage", action="append", choices=("camera_ready", "v1"))
    parser.add_argument("--model", action="append", choices=tuple(SIMULATOR))
    parser.add_argument("--applications", default="1-32", metavar="A-B", help="of Exp 2 and 3 (default 1-32)")
    parser.add_argument("--per-case", action="store_true", help="print every case too")
    arguments = parser.parse_args()
    first, _, last = arguments.applications.partition("-")
    table = published(arguments.data)
    for model in arguments.model or ["wrench"]:
        for experiment in arguments.exp or (1, 2, 3, 4):
            for vintage in arguments.vintage or ("camera_ready", "v1"):
                applications = range(int(first), int(last or first) + 1)
                compare(table, f"exp{experiment}", vintage, model, applications, arguments.per_case)


if __name__ == "__main__":
    main()
