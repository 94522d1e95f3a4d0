"""Hold the throttling law against published events, limits and throughputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagecast.comparison.provenance import provenance
from pagecast.comparison.rows import Row, to_json
from pagecast.errors import StudyError
from pagecast.progress import Progress, teller
from pagecast.studies.asked import check_seeds, experiments_of
from pagecast.studies.kernel_law import law, throughput
from pagecast.studies.kernel_law.law import Event, Threshold
from pagecast.studies.kernel_law.throughput import Simulate, Throughput, simulate_case

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["EXPERIMENTS", "MODELS", "KernelLawOutcome", "run"]

EXPERIMENTS: Final = ("law", "throughput")

MODELS: Final = ("kernel",)
"""The law is that of one model."""

MACHINE: Final = "one disk of 60 MiB/s"

SOURCE: Final = "messages on kernel mailing lists, 2010 to 2025, named in the tables of --data"


@dataclass(frozen=True, slots=True)
class KernelLawOutcome:
    """What came out; what was not asked for is empty."""

    experiments: tuple[str, ...]
    events: tuple[Event, ...]
    thresholds: tuple[Threshold, ...]
    throughputs: tuple[Throughput, ...]
    provenance: dict[str, object]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were asked."""
        return MODELS

    @property
    def rows(self) -> tuple[Row, ...]:
        """A row of each published throughput: seconds for 1 GiB."""
        return tuple(_row(one) for one in self.throughputs)

    def to_json(self) -> dict[str, object]:
        """Give the rows, their summary and the provenance, and what is compared beside times."""
        return to_json(self.rows, self.provenance) | {
            "events": [
                {
                    "event": one.number,
                    "printed_task_ratelimit_pages_per_s": one.printed,
                    "task_ratelimit_pages_per_s": one.ours,
                    "real_error": one.real_error,
                    "printed_period_ms": one.period[0],
                    "period_ms": one.period[1],
                    "printed_pause_ms": one.pause[0],
                    "pause_ms": one.pause[1],
                }
                for one in self.events
            ],
            "thresholds": [
                {
                    "set": one.of,
                    "row": one.row,
                    "limit_pages": one.limit_pages,
                    "background_pages": one.background_pages,
                    "dirtyable_pages": one.dirtyable_pages,
                }
                for one in self.thresholds
            ],
        }

    def print_to(self, console: "Console") -> None:
        """Print the tables for a reader at a terminal."""
        from pagecast.studies.kernel_law.terminal import print_outcome

        print_outcome(self, console)

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file; needs matplotlib and jinja2."""
        from pagecast.report import write
        from pagecast.studies.kernel_law.report import build

        write(build(self), path)


def run(
    *,
    experiments: Sequence[str] = (),
    models: Sequence[str] = (),
    machine: str | None = None,
    data: Path | None = None,
    seeds: int | None = None,
    overrides: Sequence[str] = (),
    command: str = "",
    progress: Progress | None = None,
    simulate: Simulate = simulate_case,
) -> KernelLawOutcome:
    """Evaluate the law and simulate the published cases.

    Parameters
    ----------
    experiments : sequence of str
        "law", "throughput"; nothing means both.
    models : sequence of str
        Only "kernel".
    machine : None
        The cases say what the machines are.
    data : Path
        The folder of published figures. Nothing is shipped that could stand for it.
    seeds : int, optional
        Only 1: nothing here is random.
    overrides : sequence of str
        ``key=value`` for every scenario, such as ``machine.kernel.hz=250``.
    command : str
        What the report names as the command that made it.
    progress : callable, optional
    simulate : callable, optional
        How a case is forecast; tests put their own in its place.

    Returns
    -------
    KernelLawOutcome

    Raises
    ------
    StudyError
        The figures are not there or cannot be understood, or the study does not have what was asked.
    ScenarioError
        An override cannot be understood.
    """
    check_seeds("kernel-law", seeds)
    chosen = experiments_of("kernel-law", experiments, EXPERIMENTS)
    if unknown := [model for model in models if model not in MODELS]:
        raise StudyError(f"kernel-law is about the law of the model kernel, not about {unknown[0]}")
    if machine is not None:
        raise StudyError(
            f"kernel-law has its machines from the published cases; leave --machine {machine} out"
        )
    if data is None:
        raise StudyError("kernel-law needs the published figures; name their folder with --data DIR")
    has_law = "law" in chosen
    events = law.events(data) if has_law else []
    thresholds = law.thresholds(data) if has_law else []
    found = throughput.cases(data) if "throughput" in chosen else []
    tell = teller(progress)
    throughputs = []
    for done, one in enumerate(throughput.forecast(found, tuple(overrides), simulate)):
        tell(done / len(found), f"{one.case.filesystem}, {one.case.writers} writers")
        throughputs.append(one)
    tell(1.0, "")
    return KernelLawOutcome(
        chosen,
        tuple(events),
        tuple(thresholds),
        tuple(throughputs),
        provenance(
            "kernel-law",
            source=SOURCE,
            command=command,
            machines={("throughput", MACHINE): throughputs[0].machine_hash} if throughputs else {},
            seeds=1,
            overrides=overrides,
            data=data,
            left_out=(),
        ),
    )


def _row(one: Throughput) -> Row:
    seconds = 1024 / one.case.most_mib_per_s
    return Row(
        "throughput",
        one.case.name,
        repetition=None,
        process=None,
        operation="write back 1 GiB",
        model=MODELS[0],
        machine=MACHINE,
        role="calibration" if one.case.is_most else "judged",
        measured_s=seconds / one.case.published,
        forecast_s=seconds / one.forecast,
    )
