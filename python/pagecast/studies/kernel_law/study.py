"""Hold the throttling law against published events, limits and throughputs."""

from pathlib import Path
from typing import Final

from pagecast.comparison.rows import Row
from pagecast.errors import StudyError
from pagecast.studies.kernel_law import law, throughput
from pagecast.studies.kernel_law.outcome import KernelLawOutcome
from pagecast.studies.kernel_law.report import PRESENTATION
from pagecast.studies.kernel_law.throughput import Throughput, simulate_case
from pagecast.studies.skeleton import Asked, Study
from pagecast.studies.tables import folder_of

__all__ = ["STUDY"]

MODEL: Final = "kernel"
"""The law is that of one model."""

MACHINE: Final = "disks that turn 7200 times a minute"


def _forecast(asked: Asked) -> KernelLawOutcome:
    """Evaluate the law and simulate the published cases, which say what the machines are."""
    if unknown := [model for model in asked.models if model != MODEL]:
        raise StudyError(f"kernel-law is about the law of the model kernel, not about {unknown[0]}")
    data = folder_of(asked)
    has_law = "law" in asked.experiments
    events = law.events(data) if has_law else []
    thresholds = law.thresholds(data) if has_law else []
    eras = [experiment for experiment in throughput.ERAS if experiment in asked.experiments]
    throughputs = {experiment: _throughputs(asked, data, experiment) for experiment in eras}
    asked.tell(1.0, "")
    return KernelLawOutcome(
        presentation=PRESENTATION,
        experiments=asked.experiments,
        models=asked.models,
        events=tuple(events),
        thresholds=tuple(thresholds),
        throughputs=throughputs.get("throughput", ()),
        foreground=throughputs.get("foreground", ()),
        rows=tuple(_row(experiment, one) for experiment, found in throughputs.items() for one in found),
        provenance=asked.provenance(
            {
                (experiment, MACHINE): found[0].machine_hash
                for experiment, found in throughputs.items()
                if found
            }
        ),
    )


def _throughputs(asked: Asked, data: Path, experiment: str) -> tuple[Throughput, ...]:
    """Simulate the published cases of an experiment."""
    found = throughput.cases(data, experiment)
    throughputs = []
    for done, one in enumerate(throughput.forecast(found, asked.overrides, asked.simulate)):
        asked.tell(done / len(found), f"{one.case.filesystem}, {one.case.writers} writers")
        throughputs.append(one)
    return tuple(throughputs)


def _row(experiment: str, one: Throughput) -> Row:
    seconds = 1024 / one.case.most_mib_per_s
    return Row(
        experiment,
        one.case.name,
        repetition=None,
        process=None,
        operation="write back 1 GiB",
        model=MODEL,
        machine=MACHINE,
        role="calibration" if one.case.is_most else "judged",
        measured_s=seconds / one.case.published,
        forecast_s=seconds / one.forecast,
    )


STUDY: Final = Study(
    name="kernel-law",
    source="messages on kernel mailing lists, 2010 to 2025, named in the tables of --data",
    experiments=("law", "throughput", "foreground"),
    models=(MODEL,),
    forecast=_forecast,
    simulate=simulate_case,
)
