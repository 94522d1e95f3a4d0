"""Forecast the published cases over NFS."""

from typing import Final

from pagecast.comparison.rows import Row
from pagecast.errors import StudyError
from pagecast.studies.nfs.forecast import Forecast, disk_rate, forecast, simulate_case
from pagecast.studies.nfs.outcome import NfsOutcome
from pagecast.studies.nfs.published import Case, cases, reference
from pagecast.studies.nfs.report import PRESENTATION
from pagecast.studies.skeleton import Asked, Study
from pagecast.studies.tables import folder_of

__all__ = ["STUDY"]

MODEL: Final = "kernel"
"""Limits of dirty memory and COMMITs are those of one model."""

EXPERIMENT: Final = "throughput"

MACHINE: Final = "a client of 32 GiB and a server over Gigabit Ethernet"


def _forecast(asked: Asked) -> NfsOutcome:
    if unknown := [model for model in asked.models if model != MODEL]:
        raise StudyError(f"nfs is about the model kernel, not about {unknown[0]}")
    published = cases(folder_of(asked))
    server = reference(published)
    merged = [case for case in published if case.version]
    disk_mib_per_s = disk_rate(server, overrides=asked.overrides, simulate=asked.simulate)
    forecasts = tuple(
        forecast(case, disk_mib_per_s=disk_mib_per_s, overrides=asked.overrides, simulate=asked.simulate)
        for case in asked.steps(merged, lambda case: case.name)
    )
    return NfsOutcome(
        presentation=PRESENTATION,
        models=asked.models,
        server=server,
        disk_mib_per_s=disk_mib_per_s,
        forecasts=forecasts,
        patches=tuple(case for case in published if not case.version),
        rows=tuple(_row(one, server) for one in forecasts),
        provenance=asked.provenance({(EXPERIMENT, MACHINE): forecasts[0].machine_hash}),
    )


def _row(one: Forecast, server: Case) -> Row:
    return Row(
        EXPERIMENT,
        one.case.name,
        repetition=None,
        process=None,
        operation="write back 1 GiB",
        model=MODEL,
        machine=MACHINE,
        role="calibration" if one.case == server else "judged",
        measured_s=1024 / one.case.mib_per_s,
        forecast_s=1024 / one.mib_per_s,
    )


STUDY: Final = Study(
    name="nfs",
    source="messages on kernel mailing lists, October 2011, named in the table of --data",
    experiments=(EXPERIMENT,),
    models=(MODEL,),
    forecast=_forecast,
    simulate=simulate_case,
)
