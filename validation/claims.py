"""Every claim of pagecast, checked by itself: what is claimed, the tolerance, what came out.

    python validation/claims.py [--write]

Runs the study `wrench-cache` as often as the claims need, and prints the table of claims and that of errors.
With `--write` it puts them into docs/validation/claims.md and README.md; else it compares them with what is
there. Ends with 1 if a claim fails without a written reason, or a page is out of date.
Leaves out speed: benches/simulate.py has the limits of that beside its cases.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pagecast.studies.comparison import Row, judged, summarise
from pagecast.studies.wrench_cache.published import Deviation, deviations, published_rows
from pagecast.studies.wrench_cache.study import WrenchCacheOutcome, run

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "validation" / "claims.md"
README = ROOT / "README.md"

REPRODUCE = "pagecast reproduce wrench-cache"
V1 = "model.wrench.vintage=v1"
MEASURED = "wrench-cluster"


@dataclass(frozen=True)
class Claim:
    """One claim: `measure` gives what to show and whether it holds; `reason` explains a known failure."""

    text: str
    tolerance: str
    measure: Callable[[], tuple[str, bool]]
    command: str
    reason: str = ""


@cache
def study(*, vintage: str = "camera_ready", machine: str | None = None) -> WrenchCacheOutcome:
    """Run the study once for each setting."""
    if vintage == "v1":
        return run(experiments=["1"], models=["wrench"], overrides=[V1])
    return run(machine=machine)


def mean_error(outcome: WrenchCacheOutcome, experiment: str, model: str) -> float:
    """Give the mean absolute error in percent."""
    found = [each for each in summarise(outcome.rows) if (each.experiment, each.model) == (experiment, model)]
    return 100 * found[0].mean_abs_error


def near(experiment: str, model: str, theirs: float, points: float, vintage: str = "camera_ready") -> Claim:
    """Claim that our error against the cluster is within so many points of the authors' simulator's."""

    def measure() -> tuple[str, bool]:
        ours = mean_error(study(vintage=vintage), experiment, model)
        return f"{ours:.2f} %", abs(ours - theirs) <= points

    option, name = (f" --set {V1}", f"`{model}` (v1)") if vintage == "v1" else ("", f"`{model}`")
    return Claim(
        f"Exp {experiment}: error of {name} against the cluster; its original has {theirs:.2f} %",
        f"within {points:g} points",
        measure,
        f"{REPRODUCE} --exp {experiment} --model {model}{option}",
    )


def deviation(experiment: str) -> Deviation:
    """Give how far `wrench` is from the published outputs."""
    found = deviations(study().runs, "camera_ready")
    return next(each for each in found if (each.experiment, each.model) == (experiment, "wrench"))


def repeats(experiment: str, percent: float) -> Iterator[Claim]:
    """Claim that `wrench` repeats the published outputs, on the mean and in nearly every operation."""
    command = f"{REPRODUCE} --exp {experiment} --model wrench"

    def mean() -> tuple[str, bool]:
        value = 100 * deviation(experiment).mean
        return f"{value:.3f} %", value <= percent

    def far() -> tuple[str, bool]:
        found = deviation(experiment)
        value = 100 * found.far / found.n
        return f"{value:.2f} %", value <= 5

    yield Claim(
        f"Exp {experiment}: mean deviation of `wrench` from the published WRENCH-cache outputs",
        f"<= {percent:g} %",
        mean,
        command,
    )
    yield Claim(f"Exp {experiment}: operations that deviate by more than 15 %", "<= 5 %", far, command)


CLAIMS = [
    *(
        claim
        for experiment, percent in (("1", 5), ("2", 10), ("3", 10), ("4", 10))
        for claim in repeats(experiment, percent)
    ),
    near("1", "wrench", 31.54, 2),
    near("1", "wrench", 38.60, 2, vintage="v1"),
    near("4", "wrench", 47.12, 2),
    near("1", "no-cache", 345.66, 0.5),
    near("4", "no-cache", 336.58, 0.5),
]


def claims_table() -> tuple[str, bool]:
    """Check all claims; give the table, and whether all that should hold do."""
    lines = ["| claim | tolerance | result | verdict | command |", "|---|---|--:|---|---|"]
    fine = True
    for claim in CLAIMS:
        value, holds = claim.measure()
        fine = fine and (holds or bool(claim.reason))
        verdict = "holds" if holds else f"**fails**{': ' if claim.reason else ''}{claim.reason}"
        command = f"`{claim.command}`" if claim.command else ""
        lines.append(f"| {claim.text} | {claim.tolerance} | {value} | {verdict} | {command} |")
    return "\n".join(lines), fine


def accuracy_table() -> str:
    """Write the mean absolute errors of all models and of the authors' simulators."""
    groups: list[tuple[str, str, list[Row]]] = [
        ("published", "", list(study().rows)),
        ("published", " (the authors' outputs)", published_rows(study().experiments, "camera_ready")),
        ("measured", "", list(study(machine=MEASURED).rows)),
        ("measured", ", judged rows only", judged(study(machine=MEASURED).rows)),
    ]
    lines = ["| machine | model | Exp 1 | Exp 2 | Exp 3 | Exp 4 |", "|---|---|--:|--:|--:|--:|"]
    for machine, note, rows in groups:
        errors: dict[str, dict[str, float]] = {}
        for each in summarise(rows):
            errors.setdefault(each.model, {})[each.experiment] = each.mean_abs_error
        for model, by_experiment in errors.items():
            cells = [f"{by_experiment[n]:.1%}" if n in by_experiment else "" for n in "1234"]
            lines.append(f"| {machine} | {model}{note} | {' | '.join(cells)} |".replace("%", " %"))
    return "\n".join(lines)


def page(claims: str, accuracy: str) -> str:
    """Write the whole page of claims."""
    return "\n\n".join(
        [
            "# Claims",
            "Made by `make validate`; do not edit. Tolerances were set before the results were looked at.",
            claims,
            "## Mean absolute error against the measured cluster",
            "Averaged within a case, then over the cases. *published* is the machine as the authors' "
            "simulators describe it, *measured* the same cluster as it was measured. *Judged rows only* "
            "leaves out the rows whose own measured value went into the machine file.",
            accuracy + "\n",
        ]
    )


def in_readme(accuracy: str) -> str:
    """Give README.md with this table between its two marks."""
    text = README.read_text()
    before, rest = text.split("<!-- accuracy -->")
    after = rest.split("<!-- end of accuracy -->")[1]
    return f"{before}<!-- accuracy -->\n{accuracy}\n<!-- end of accuracy -->{after}"


def main() -> int:
    """Check the claims and the pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the tables into the pages")
    options = parser.parse_args()
    claims, fine = claims_table()
    accuracy = accuracy_table()
    print(f"{claims}\n\n{accuracy}")
    for path, wanted in ((PAGE, page(claims, accuracy)), (README, in_readme(accuracy))):
        if options.write:
            path.write_text(wanted)
        elif path.read_text() != wanted:
            print(f"{path.relative_to(ROOT)} is out of date; run `make validate`", file=sys.stderr)
            fine = False
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
