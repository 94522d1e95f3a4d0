"""The tables of the study, and its sentences."""

from collections.abc import Iterable, Sequence
from statistics import mean
from typing import TypeVar

from pagecast.comparison.rows import main_model
from pagecast.report.document import Table
from pagecast.studies.live_programs.outcome import (
    P50_TOLERANCE,
    RATE_TOLERANCE,
    WALL_TOLERANCE,
    CommandPoint,
    FioPoint,
    LiveProgramsOutcome,
)  # fmt: skip

__all__ = ["calibration_table", "command_table", "conclusion", "fio_table"]

MIB = 2**20

OFF = ("read B", "written B", "reads", "writes")
"""What is counted of a trace and of the run without strace."""

_Point = TypeVar("_Point", FioPoint, CommandPoint)


def fio_table(outcome: LiveProgramsOutcome, platform: str) -> Table:
    """Make the table of fio's numbers, and the errors of each model: means over the repetitions."""
    groups = _grouped(
        (each for each in outcome.fio if each.platform == platform),
        lambda of: (of.run.case, of.measured.name),
    )
    lines: list[Sequence[str] | None] = []
    for (case, name), points in groups.items():
        first = next(iter(points.values()))
        cells = [f"{mean(of.measured.rate_bytes_per_s for of in first) / MIB:.1f}"]
        cells += [
            _microseconds(mean(getattr(of.measured, key) for of in first)) for key in ("p50_s", "p99_s")
        ]
        for model in outcome.models:
            cells += _fio_errors(points.get(model, []))
        lines.append((case, name, *cells))
    models = [f"{model}\n{what}" for model in outcome.models for what in ("MiB/s %", "p50 %", "p99 x")]
    return Table(
        title=f"{platform}: fio's numbers, and errors of the forecasts of the same job files",
        columns=("case", "job", "MiB/s", "p50 us", "p99 us", *models),
        rows=lines,
        text_columns=2,
        note="Means over the repetitions. p50 and p99: latency of completion. p99 x: forecast / measured.",
    )


def _fio_errors(points: Sequence[FioPoint]) -> list[str]:
    if not points:
        return ["", "", ""]
    rate = mean(of.rate_error for of in points)
    p50, p99 = (
        mean(getattr(of.forecast, key) for of in points) / mean(getattr(of.measured, key) for of in points)
        for key in ("p50_s", "p99_s")
    )
    return [f"{100 * rate:+.0f}", f"{100 * (p50 - 1):+.0f}", f"{p99:.2f}"]


def _microseconds(time_s: float) -> str:
    return f"{1e6 * time_s:.1f}" if time_s < 1e-3 else f"{1e6 * time_s:.0f}"


def command_table(outcome: LiveProgramsOutcome, platform: str) -> Table:
    """Make the table of commands: wall times without and with strace, and forecasts from the traces."""
    groups = _grouped(
        (each for each in outcome.commands if each.platform == platform),
        lambda of: (of.command.case, of.command.state),
    )
    lines: list[Sequence[str] | None] = []
    for (case, state), points in groups.items():
        first = next(iter(points.values()))
        measured = mean(of.command.wall_s for of in first)
        traced = mean(of.command.traced_s for of in first)
        cells = [f"{1e3 * measured:.1f}", f"{100 * (traced / measured - 1):+.0f}"]
        for model in outcome.models:
            of_model = points.get(model, [])
            forecast = mean(of.forecast.wall_s for of in of_model) if of_model else None
            cells += ["", ""] if forecast is None else _milliseconds(forecast, measured)
        lines.append((case, state, *cells, *_off(first[0])))
    models = [name for model in outcome.models for name in (f"{model}\nms", "%")]
    return Table(
        title=f"{platform}: commands without strace, and forecasts from a trace",
        columns=("case", "state", "ms", "strace %", *models, *(f"{what}\noff by" for what in OFF)),
        rows=lines,
        text_columns=2,
        note="Means over the repetitions. strace %: how much longer the same run with strace took. off by: "
        "bytes and calls of the trace less those that /proc/PID/io counted of the run without strace.",
    )


def _milliseconds(forecast_s: float, measured_s: float) -> list[str]:
    return [f"{1e3 * forecast_s:.1f}", f"{100 * (forecast_s / measured_s - 1):+.0f}"]


def _off(of: CommandPoint) -> list[str]:
    names = ("read_bytes", "write_bytes", "read_calls", "write_calls")
    return [str(getattr(of.forecast, name) - getattr(of.command, name)) for name in names]


def _grouped(points: Iterable[_Point], key: object) -> dict[tuple[str, str], dict[str, list[_Point]]]:
    assert callable(key), "points are grouped by a function of them"
    groups: dict[tuple[str, str], dict[str, list[_Point]]] = {}
    for point in points:
        groups.setdefault(key(point), {}).setdefault(point.model, []).append(point)
    return groups


def calibration_table(outcome: LiveProgramsOutcome, platform: str) -> Table:
    """Make the table of what was calibrated."""
    return Table(
        title=f"{platform}: calibrated on m_memory and m_disk",
        columns=("key", "value"),
        rows=list(outcome.calibrations[platform].items()),
        note="They replace those of the machine file under the model kernel; no other model knows them.",
    )


def conclusion(outcome: LiveProgramsOutcome) -> tuple[str, ...]:
    """Say how many numbers are close, of the first model and of the others."""
    model = main_model(outcome.models)
    names = (model, *(name for name in outcome.models if name != model))
    return tuple(sentence for name in names for sentence in _sentences(outcome, name))


def _sentences(outcome: LiveProgramsOutcome, model: str) -> Iterable[str]:
    if fio := [point for point in outcome.fio if point.model == model]:
        rates = sum(abs(point.rate_error) <= RATE_TOLERANCE for point in fio)
        medians = sum(abs(of.forecast.p50_s / of.measured.p50_s - 1) <= P50_TOLERANCE for of in fio)
        yield (
            f"{model} forecasts the bandwidth of {rates} of {len(fio)} jobs within "
            f"{100 * RATE_TOLERANCE:.0f} %, and the median latency of {medians} within "
            f"{100 * P50_TOLERANCE:.0f} %."
        )
    if commands := [point for point in outcome.commands if point.model == model]:
        close = sum(abs(point.error) <= WALL_TOLERANCE for point in commands)
        worst = max(commands, key=lambda point: abs(point.error))
        yield (
            f"{model} forecasts the time of {close} of {len(commands)} runs of commands within "
            f"{100 * WALL_TOLERANCE:.0f} %; the worst is {worst.command.case}, {worst.command.state}, with "
            f"{100 * worst.error:+.0f} %."
        )
