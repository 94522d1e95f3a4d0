"""Forecast the measured series of writes and hold the forecasts against them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagecast.comparison.provenance import provenance
from pagecast.comparison.rows import Row, to_json
from pagecast.progress import Progress, teller
from pagecast.studies.asked import check_seeds, experiments_of, models_of
from pagecast.studies.cawl import recordings
from pagecast.studies.cawl.alone import unpublished
from pagecast.studies.cawl.forecast import SeriesRun, Simulate, run_series, simulate_series
from pagecast.studies.cawl.predictions import Deviation, deviations
from pagecast.studies.cawl.rows import Points, rows
from pagecast.studies.cawl.series import EXPERIMENTS, MODELS, Series, all_series, shipped_points

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["CawlOutcome", "run"]

DRAWN_MODELS: Final = ("kernel", "cawl")
"""The models that are drawn of series of which nothing was published."""

SOURCE: Final = (
    "Gholami, Schintke: CAWL: A Cache-aware Write Performance Model of Linux Systems, 2023; "
    "data: github.com/gongotar/iomodel at c1671d2e"
)


@dataclass(frozen=True, slots=True)
class CawlOutcome:
    """What came out: a `SeriesRun` per series and model, and the rows.

    `deviations` are those of the model `cawl`, if it was asked, from what its authors predicted. `alone` are
    runs of series of which nothing was published. `points` are the measured times, of each write with
    ``--data`` (`is_full`), else of blocks of writes.
    """

    experiments: tuple[str, ...]
    models: tuple[str, ...]
    overrides: tuple[str, ...]
    runs: tuple[SeriesRun, ...]
    alone: tuple[SeriesRun, ...]
    points: Points
    is_full: bool
    rows: tuple[Row, ...]
    deviations: tuple[Deviation, ...]
    left_out: tuple[str, ...]
    provenance: dict[str, object]

    def to_json(self) -> dict[str, object]:
        """Give the rows, their summary and the provenance, and how far `cawl` is from the predictions."""
        deviations = [each.as_dict() for each in self.deviations]
        return to_json(self.rows, self.provenance) | {"predictions": deviations}

    def print_to(self, console: "Console") -> None:
        """Print the tables for a reader at a terminal."""
        from pagecast.studies.cawl.terminal import print_outcome

        print_outcome(self, console)

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file; needs matplotlib and jinja2."""
        from pagecast.report import write
        from pagecast.studies.cawl.report import build

        write(build(self), path)

    @property
    def series(self) -> list[Series]:
        """The series that were forecast, each once."""
        return list({run.series.name: run.series for run in self.runs}.values())

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that were simulated."""
        return tuple(dict.fromkeys(run.machine for run in self.runs))


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
    simulate: Simulate = simulate_series,
) -> CawlOutcome:
    """Forecast the series and compare.

    Parameters
    ----------
    experiments : sequence of str
        "buffered" and "other"; nothing means both.
    models : sequence of str
        Nothing means `MODELS`.
    machine : str, optional
        A shipped machine or a machine file for all series; by default each has its own.
    data : Path, optional
        Folder with the full recordings; without it, rows are means over blocks of writes.
    seeds : int, optional
        Only 1: nothing here is random.
    overrides : sequence of str
        ``key=value`` for every machine and model, such as ``machine.vm.dirty_ratio=10``.
    command : str
        What the report names as the command that made it.
    progress : callable, optional
    simulate : callable, optional
        How a series is forecast; tests put their own in its place.

    Returns
    -------
    CawlOutcome

    Raises
    ------
    StudyError
        An experiment or the recordings are not there.
    ScenarioError
        The machine or an override cannot be understood.
    """
    check_seeds("cawl", seeds)
    chosen = experiments_of("cawl", experiments, EXPERIMENTS)
    models = models_of(models, MODELS)
    points: Points = recordings.points(data) if data else shipped_points()
    tell = teller(progress)
    asked = [each for each in all_series().values() if each.experiment in chosen and each.name in points]
    imagined = unpublished().values() if "buffered" in chosen and machine is None else ()
    plan = [(each, model) for each in asked for model in models]
    plan += [(each, model) for each in imagined for model in models if model in DRAWN_MODELS]
    done: list[SeriesRun] = []
    for each, model in plan:
        tell(len(done) / len(plan), f"{each.name}, {model}")
        done.append(run_series(each, model=model, machine=machine, overrides=overrides, simulate=simulate))
    runs = [run for run in done if run.series.name in points]
    alone = [run for run in done if run.series.name not in points]
    tell(1.0, "")
    left_out = tuple(_left_out(points, chosen, is_full=data is not None))
    return CawlOutcome(
        experiments=chosen,
        models=models,
        overrides=tuple(overrides),
        runs=tuple(runs),
        alone=tuple(alone),
        points=points,
        is_full=data is not None,
        rows=tuple(rows(runs, points)),
        deviations=deviations(asked, points) if "cawl" in models else (),
        left_out=left_out,
        provenance=provenance(
            "cawl",
            source=SOURCE,
            command=command,
            machines={
                **{(each.series.experiment, each.machine): each.machine_hash for each in runs},
                **{("drawn only", each.machine): each.machine_hash for each in alone},
            },
            seeds=1,
            overrides=overrides,
            data=data,
            left_out=left_out,
        ),
    )


def _left_out(points: Points, chosen: Sequence[str], *, is_full: bool) -> Iterator[str]:
    missing = [
        name for name, each in all_series().items() if each.experiment in chosen and name not in points
    ]
    if missing:
        yield f"series that are not in the recordings: {', '.join(missing)}"
    if not is_full:
        yield "single writes, which need --data; rows are means over several"
