"""How the study is shown: in a terminal, and as a report with the paper's figures redrawn."""

from collections.abc import Callable, Iterator
from typing import Final

from pagecast.comparison.outcome import Presentation
from pagecast.comparison.rows import main_model
from pagecast.report.document import Figure, Report, Section, Table
from pagecast.report.svg import drawn
from pagecast.studies.skeleton import report
from pagecast.studies.wrench_cache.conclusion import conclusion
from pagecast.studies.wrench_cache.experiments import EXPERIMENTS
from pagecast.studies.wrench_cache.figures import makers
from pagecast.studies.wrench_cache.forecast import TIMINGS
from pagecast.studies.wrench_cache.outcome import WrenchCacheOutcome
from pagecast.studies.wrench_cache.results import (
    cached_files_table,
    deviation_table,
    long_writes_table,
    memory_table,
    operations_table,
    producing_table,
    summary_table,
    times_table,
)

__all__ = ["PRESENTATION", "build"]

TableMaker = Callable[[WrenchCacheOutcome], Table | None]

LEAD: Final = (
    "Four experiments of the WRENCH-cache paper, forecast from scenario files and held against the cluster "
    "on which the authors measured them. Measured is points with spread, simulated is lines; hollow "
    "markers are the published results of the authors' own simulators."
)

CAPTIONS: Final = {
    "4a": (
        "Absolute error of each operation of Exp 1. n = 1 run per size; errors below 1 % are drawn at 1 %."
    ),
    "4b": ("Memory during Exp 1 under {model}."),
    "4b aligned": (
        "The same with every operation and the computing in between drawn as long as it took in reality: "
        "points are measured, lines are {model}, the band around a point is the tolerance, 10 % of the dirty "
        "limit and 5 % of the memory. Dirty is without pages under writeback."
    ),
    "4c": (
        "Page cache after each operation of Exp 1 under {model}, files stacked: the upper edge of a band is "
        "the sum up to that file. Points are measured, in another run than the times, and rounded to 0.1 or "
        "1 GB at the source."
    ),
    "5": (
        "Exp 2, local SSD: time that an application reads and writes, mean over the applications. Points "
        "are the mean of 5 repetitions, bars their least and greatest."
    ),
    "5 by task": (
        "Exp 2 task by task. The sums above hide the cached reads, which hardly contend on the real "
        "machine, and writes near the dirty limit, where some applications are throttled and others are "
        "not."
    ),
    "5 long writes": (
        "Exp 2: share of all writes that took more than 5 s. Points are measured, the band around them is "
        "0.15."
    ),
    "6": (
        "Exp 4, Nighres: each step's reads and writes. Measured is the sum of a step's calls, simulated is "
        "from the start of the first to the end of the last. n = 1 run, 3.7 s of input and output in all."
    ),
    "7": (
        "Exp 3, NFS: time that an application reads and writes, mean over the applications. Points are the "
        "mean of 5 repetitions, bars their least and greatest."
    ),
    "7 by task": "Exp 3 task by task. Tasks 2 and 3 differ much between repetitions.",
    "8": (
        "Time to simulate one case. Lines: on this computer, reading the scenario included, median of "
        "{timings} runs, or of fewer where one is long. Markers: published by the authors, whole program, on "
        "theirs."
    ),
}

OF_ONE_MODEL: Final = ("4b", "4b aligned", "4c")
"""Figures of the first model only; the others show all."""

WITH_PROFILES: Final = (
    " Points are the kernel's counters, samples of each second thinned out; cached is without shared memory, "
    "which is 2 to 5 GB; used includes that and about 1 GB of the system."
)
WITHOUT_PROFILES: Final = " The samples of memory are not drawn: they need --data."

PITFALLS: Final = (
    "Exp 1 and Exp 4 were measured once: no spread is known.",
    "Exp 2 was measured for 1, 6 to 16, 21, 26 and 31 applications only; forecasts in between have no row.",
    "Writes near the dirty limit of Exp 2 are two populations: with 26 applications the first write takes "
    "1.2 to 124 s in one repetition, median 1.4 s. The mean over applications, which the paper uses, "
    "describes neither.",
    "The real Nighres reads one file of 590 MB twice in step 3 and computes between its calls; the "
    "simulation, as the paper's, reads all files, then computes, then writes. kernel alone reads that file "
    "twice, too.",
    "Before the experiments the input was written and dropped from the cache, by which a kernel learns its "
    "disk. kernel alone is told; the paper's simulators begin with an empty cache.",
    "The measured computing time grows from 4.4 s alone to 5.2 s (SSD) and 5.8 s (NFS) with the number of "
    "applications; the simulation keeps 4.4 s.",
)


def build(outcome: WrenchCacheOutcome) -> Report:
    """Put the report together."""
    return report(
        outcome,
        title="WRENCH-cache: forecast and measured",
        lead=LEAD,
        sections=_sections(outcome, dict(_figures(outcome))),
        pitfalls=PITFALLS,
        facts=_facts(outcome),
    )


def _figures(outcome: WrenchCacheOutcome) -> Iterator[tuple[str, Figure]]:
    model = main_model(outcome.models)
    for name, draw in makers(outcome).items():
        caption = CAPTIONS[name].format(model=model, timings=max(TIMINGS, outcome.seeds))
        if name == "4b":
            caption += WITH_PROFILES if outcome.profiles else WITHOUT_PROFILES
        on = outcome.machine_of(model) if name in OF_ONE_MODEL else outcome.machines_text
        told = f"{caption} Simulated: {on}."
        for figure in drawn(f"Figure {name}", draw, told, name=f"figure-{name.replace(' ', '-')}"):
            yield name, figure


def _sections(outcome: WrenchCacheOutcome, figures: dict[str, Figure]) -> Iterator[Section]:
    deviation = deviation_table(outcome)
    at_a_glance = [summary_table(outcome), operations_table(outcome), *([deviation] if deviation else [])]
    yield Section("Errors at a glance", tables=at_a_glance)
    plan: dict[str, tuple[str, tuple[str, ...], tuple[TableMaker, ...]]] = {
        "1": (
            "Exp 1: one application",
            ("4a", "4b", "4b aligned", "4c"),
            (memory_table, cached_files_table),
        ),
        "2": (
            "Exp 2: concurrent applications, local SSD",
            ("5", "5 by task", "5 long writes"),
            (long_writes_table,),
        ),
        "3": ("Exp 3: concurrent applications, NFS", ("7", "7 by task"), ()),
        "4": ("Exp 4: Nighres", ("6",), (producing_table,)),
    }
    for number in outcome.experiments:
        heading, names, makers = plan[number]
        more = [table for maker in makers if (table := maker(outcome)) is not None]
        shown = [figures[name] for name in names if name in figures]
        yield Section(heading, figures=shown, tables=[*more, _folded(outcome, number)])
    if "8" in figures:
        yield Section("Simulation time", figures=[figures["8"]])


def _folded(outcome: WrenchCacheOutcome, number: str) -> Table:
    table = times_table(outcome, number)
    return Table(table.title, table.columns, table.rows, table.text_columns, table.note, is_long=True)


def _facts(outcome: WrenchCacheOutcome) -> list[tuple[str, str]]:
    of = outcome.provenance
    return [
        ("Command", str(of["command"])),
        ("Version", f"pagecast {of['pagecast_version']}"),
        ("Models", ", ".join(outcome.models)),
        *(("Machine", text) for text in _machines(outcome)),
        ("Overrides", ", ".join(outcome.overrides) or "none"),
        ("Seeds", "0" if outcome.seeds == 1 else f"0 to {outcome.seeds - 1}"),
        ("Recordings", str(of["data"] or "none; shipped summary tables only")),
        ("Source", str(of["source"])),
    ]


def _machines(outcome: WrenchCacheOutcome) -> Iterator[str]:
    """Name each machine once, with the beginning of its hash and the experiments it was simulated in."""
    experiments: dict[tuple[str, str], list[str]] = {}
    for run in outcome.runs:
        found = experiments.setdefault((run.machine, run.result.provenance["machine_hash"]), [])
        if run.experiment not in found:
            found.append(run.experiment)
    for (machine, digest), numbers in experiments.items():
        hosts = len(EXPERIMENTS[numbers[0]].hosts)
        yield (
            f"Exp {', '.join(numbers)}: {machine}, "
            f"{'one host' if hosts == 1 else f'{hosts} such hosts and the network between them'} "
            f"(hash {digest[:12]})"
        )


SHOWN: Final = {"2": (1, 8, 16, 31), "3": (1, 8, 16, 32)}
"""Numbers of applications that are printed; the report and ``--json`` have all."""


def _headline(outcome: WrenchCacheOutcome) -> str:
    seeds = "seed 0" if outcome.seeds == 1 else f"mean of seeds 0 to {outcome.seeds - 1} (ranges: report)"
    return f"WRENCH-cache (Do et al., CLUSTER 2021) on {outcome.machines_text}, {seeds}"


def _printed(outcome: WrenchCacheOutcome) -> Iterator[Table | None]:
    for number in outcome.experiments:
        yield times_table(outcome, number, applications=SHOWN.get(number, ()), ranges=False)
    more = (memory_table, cached_files_table, long_writes_table, producing_table, deviation_table)
    yield from (maker(outcome) for maker in more)
    yield summary_table(outcome)


PRESENTATION: Final = Presentation(headline=_headline, tables=_printed, conclusion=conclusion, report=build)
