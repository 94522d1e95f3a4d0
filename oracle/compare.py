"""Compare the oracle with the published outputs: `python -m oracle.compare --data DIR`.

DIR holds the tables of the WRENCH-cache reference data (published_sim.csv, published_sim_exp2_exp3.csv.gz). Per experiment, vintage and
operation it prints the mean over the cases of |ours - published| / published, the worst case, and the share of cases
above 15 %. A case of Exp 2 and 3 is a number of applications: first its mean over the applications is compared; "one by one" compares the
sorted durations of the single applications (which of them is which depends on how ties are broken).
"""

import argparse
import csv
import gzip
import os

from . import experiments, run

SIMULATOR = {"wrench": "wrench_cache", "no-cache": "wrench"}
OPERATIONS = [f"{kind} {k}" for k in (1, 2, 3) for kind in ("read", "write")]


def published(data):
    """(experiment, vintage, simulator, case, operation) -> [duration, ...]; the vintage "both" counts for each."""
    table = {}
    for name in ("published_sim.csv", "published_sim_exp2_exp3.csv.gz"):
        path = os.path.join(data, name)
        with gzip.open(path, "rt") if name.endswith(".gz") else open(path, newline="") as file:
            for row in csv.DictReader(file):
                case = row["size_gb"] if row["experiment"] == "exp1" else row["n_apps"]
                for vintage in ("camera_ready", "v1") if row["vintage"] == "both" else (row["vintage"],):
                    key = row["experiment"], vintage, row["simulator"], case, f"{row['op']} {row['task']}"
                    table.setdefault(key, []).append(float(row["duration_s"]))
    return table


def ours(scenario, model, options):
    durations = {}
    for done in run(scenario, model, **options).operations:
        if done.op.label:
            durations.setdefault(done.op.label, []).append(done.duration_s)
    return durations


def cases(experiment, applications):
    if experiment == "exp1":
        return [(str(gb), experiments.exp1(gb)) for gb in (20, 50, 75, 100)]
    if experiment == "exp4":
        return [("1", experiments.exp4())]
    return [(str(n), getattr(experiments, experiment)(n)) for n in applications]


def compare(table, experiment, vintage, model, applications, per_case):
    options = {"vintage": vintage} if model == "wrench" else {}
    found = {}
    for case, scenario in cases(experiment, applications):
        durations = ours(scenario, model, options)
        for operation, values in durations.items():
            theirs = table.get((experiment, vintage, SIMULATOR[model], case, operation))
            if theirs is None:
                continue
            mean = abs(sum(values) / sum(theirs) - 1)
            single = [abs(a / b - 1) for a, b in zip(sorted(values), sorted(theirs))]
            found.setdefault(operation, []).append((mean, case, single))
            if per_case:
                print(
                    f"    {experiment} {case:>3} {operation:8} published {sum(theirs) / len(theirs):12.6f} s,"
                    f" ours {sum(values) / len(values):12.6f} s, {100 * (sum(values) / sum(theirs) - 1):+9.4f} %"
                )
    for operation in sorted(found, key=lambda o: (o.split()[1], o)):
        rows = found[operation]
        worst = max(rows)
        single = [d for _, _, ds in rows for d in ds]
        print(
            f"{experiment} {vintage:12} {model:9} {operation:8} {len(rows):3} cases: mean {100 * sum(r[0] for r in rows) / len(rows):8.4f} %,"
            f" worst {100 * worst[0]:8.4f} % (case {worst[1]}), above 15 %: {100 * sum(r[0] > 0.15 for r in rows) / len(rows):5.1f} %;"
            f" one by one: mean {100 * sum(single) / len(single):8.4f} %, above 15 %: {100 * sum(d > 0.15 for d in single) / len(single):5.1f} %",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(prog="python -m oracle.compare", description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, metavar="DIR", help="folder of the reference tables")
    parser.add_argument("--exp", type=int, action="append", choices=(1, 2, 3, 4), help="only this experiment")
    parser.add_argument("--vintage", action="append", choices=("camera_ready", "v1"))
    parser.add_argument("--model", action="append", choices=tuple(SIMULATOR))
    parser.add_argument(
        "--applications", default="1-32", metavar="A-B", help="range of Exp 2 and 3 (default 1-32)"
    )
    parser.add_argument("--per-case", action="store_true", help="print every case too")
    arguments = parser.parse_args()
    first, _, last = arguments.applications.partition("-")
    table = published(arguments.data)
    for model in arguments.model or ["wrench"]:
        for experiment in arguments.exp or (1, 2, 3, 4):
            for vintage in arguments.vintage or ("camera_ready", "v1"):
                compare(
                    table,
                    f"exp{experiment}",
                    vintage,
                    model,
                    range(int(first), int(last or first) + 1),
                    arguments.per_case,
                )


if __name__ == "__main__":
    main()
