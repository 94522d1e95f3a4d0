"""Forecast the cases of NFS and compare them with the recordings."""

from collections.abc import Iterator, Sequence
from statistics import median_high
from typing import Final

from pagecast.api import simulate
from pagecast.calibration.fits import limit_share
from pagecast.comparison import machines
from pagecast.comparison.rows import RIVALS, TOTAL, Row
from pagecast.errors import ScenarioError, SimulationError, StudyError
from pagecast.studies.live_kernel import calibration
from pagecast.studies.live_kernel.program import MAIN, UnsupportedError
from pagecast.studies.live_kernel.recordings import Recording
from pagecast.studies.live_nfs.calibration import server_costs
from pagecast.studies.live_nfs.forecast import CaseForecast, forecast_case
from pagecast.studies.live_nfs.outcome import CallCount, LiveNfsOutcome
from pagecast.studies.live_nfs.platform import COMMIT_COST, DISK_WRITE, NAME_COSTS
from pagecast.studies.live_nfs.recordings import CALLS, NfsPlatform, joined, phases_of, platforms
from pagecast.studies.live_nfs.report import PRESENTATION
from pagecast.studies.recorded import chosen_of
from pagecast.studies.skeleton import Asked, Study
from pagecast.uncertainty.model_error import MODEL, shipped
from pagecast.uncertainty.totals import range_of_error

__all__ = ["STUDY"]

HEADER_BYTES: Final = 200
"""Of a WRITE beside its data, as `mountstats` counts them."""

LENT: Final = ("memory.cost.", COMMIT_COST)
"""Costs of a platform that others take which have none."""

LEAST_S: Final = 0.5
"""A phase that took less has no row: its repetitions differ too much."""

COSTED: Final = MODEL
"""The model that gets the calibration."""


def _forecast(asked: Asked) -> LiveNfsOutcome:
    """Forecast the recorded cases; an experiment is a platform."""
    if asked.data is None:
        raise StudyError("live-nfs needs recordings; name their folder with --data DIR")
    if asked.machine is not None:
        raise StudyError("live-nfs takes both hosts from platform.txt of the recordings; leave --machine out")
    chosen = chosen_of({platform.of.name: platform for platform in platforms(asked.data)}, asked.experiments)
    values, left_out = _calibrations(chosen)
    rows: list[Row] = []
    counts: list[CallCount] = []
    hashes: dict[tuple[str, str], str] = {}
    plan = [
        (platform, case, model)
        for platform in chosen
        for case in dict.fromkeys(each.case for each in platform.of.recordings)
        for model in asked.models
    ]
    for platform, case, model in asked.steps(plan, lambda of: f"{of[0].of.name}, {of[1]}, {of[2]}"):
        name = platform.of.name
        try:
            one = forecast_case(
                platform.of.cases[case],
                platform.described,
                values=values[name] if model == COSTED else {},
                model=model,
                options=machines.model_options(model, asked.overrides),
                overrides=asked.overrides,
                simulate=asked.simulate,
                dirty_limit_bytes=_dirty_limit(platform, case),
            )
        except UnsupportedError as error:
            left_out.append(f"{name}, {case}: {error}")
        except (ScenarioError, SimulationError) as error:
            left_out.append(f"{name}, {case} under {model}: {error}")
        else:
            hashes[name, PLATFORM_FILE] = one.machine_hash
            for recording in platform.of.recordings:
                if recording.case == case:
                    rows += _rows(name, recording, model, one, asked.uncertain)
            counts += _counts(platform, case, one)
    missing = tuple(dict.fromkeys(left_out))
    return LiveNfsOutcome(
        presentation=PRESENTATION,
        platforms=tuple(platform.of.name for platform in chosen),
        models=asked.models,
        rows=tuple(rows),
        calls=tuple(counts),
        calibrations=values,
        left_out=missing,
        provenance=asked.provenance(hashes, left_out=missing),
    )


def _dirty_limit(platform: NfsPlatform, case: str) -> float | None:
    """Give the client's hard limit before a repetition of a case, the median of those that say it."""
    before = (each.dirty_limit_bytes for each in platform.of.recordings if each.case == case)
    known = [limit for limit in before if limit is not None]
    return median_high(known) if known else None


PLATFORM_FILE: Final = "platform.txt"
"""What the machine of a platform is read from."""


def _calibrations(chosen: Sequence[NfsPlatform]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Calibrate each platform; one without `m_memory` has the costs of the first that has it."""
    found: dict[str, dict[str, str]] = {}
    left_out: list[str] = []
    for platform in chosen:
        client = platform.described.hosts["client"]
        share = limit_share(client["vm"], client["kernel"]["version"])
        of = calibration.calibrate(platform.of.recordings, share=share)
        memory = calibration.memory_of(platform.of.recordings, share=share)
        costs = of.costs.values() if of.costs is not None else {}
        found[platform.of.name] = costs | ({} if memory is None else memory.values()) | _of_server(platform)
    costed = [(name, values) for name, values in found.items() if "memory.cost.call" in values]
    for name, values in found.items():
        if "memory.cost.call" not in values and costed:
            lender, lent = costed[0]
            found[name] = {key: lent[key] for key in lent if key.startswith(LENT)} | values
            left_out.append(f"{name}: calibration on {calibration.CASE}; costs are those of {lender}")
        elif "memory.cost.call" not in values:
            left_out.append(f"{name}: calibration on {calibration.CASE}; calls and pages cost nothing")
    return found, left_out


def _of_server(platform: NfsPlatform) -> dict[str, str]:
    """Give what the server takes for a call, and for the data of a WRITE if it writes past a page cache."""
    of = platform.described
    costs = server_costs(
        platform.of.recordings,
        rate_bytes_per_s=of.rate_bytes_per_s,
        round_trip_s=of.round_trip_s,
        header_bytes=HEADER_BYTES,
        wsize=of.wsize,
        calls_of_unlink=1 if of.vers == "3" else 2,
    )
    values = {} if costs.call_s is None else {"nfsd.call": f"{1e9 * costs.call_s:.0f} ns"}
    if costs.write_s is not None and not of.has_own_server:
        values[DISK_WRITE] = f"{of.wsize / costs.write_s:.0f} B/s"
    if costs.commit_s is not None:
        keys = (COMMIT_COST,) if of.has_own_server else (COMMIT_COST, *NAME_COSTS)
        values |= dict.fromkeys(keys, f"{1e9 * costs.commit_s:.0f} ns")
    return values


def _rows(
    platform: str, recording: Recording, model: str, one: CaseForecast, uncertain: int | None
) -> Iterator[Row]:
    """Make a row of the whole case, and one of each phase with what ends it that is long enough.

    The hosts of a platform have no uncertain values: a range is that of the error of the model alone.
    """
    whole = joined(phases_of(recording))
    measured: dict[tuple[str, str], float] = {}
    forecast: dict[tuple[str, str], float] = {}
    for seconds, added in ((recording.phases(), measured), (one.seconds, forecast)):
        for (process, phase), time_s in seconds.items():
            key = (process, whole.get(phase, phase))
            added[key] = added.get(key, 0.0) + time_s
    times = {key: (time_s, forecast[key]) for key, time_s in measured.items() if key in forecast}
    totals = [
        sum(of for (process, _), of in each.items() if process == MAIN) for each in (measured, forecast)
    ]
    for (process, operation), (measured_s, forecast_s) in {(MAIN, TOTAL): tuple(totals), **times}.items():
        if operation == TOTAL or measured_s > LEAST_S:
            is_total = operation == TOTAL and model == COSTED
            yield Row(
                platform,
                recording.case,
                repetition=recording.repetition,
                process=process if process != MAIN else None,
                operation=operation,
                model=model,
                machine=PLATFORM_FILE,
                role="calibration" if recording.case == calibration.CASE else "judged",
                measured_s=measured_s,
                forecast_s=forecast_s,
                kind="nfs" if is_total else None,
                range_s=_range(platform, forecast_s, uncertain) if is_total and uncertain else None,
            )


def _range(platform: str, forecast_s: float, draws: int) -> tuple[float, float]:
    return range_of_error(forecast_s, "nfs", draws=draws, error=shipped().without({platform}))


def _counts(platform: NfsPlatform, case: str, one: CaseForecast) -> Iterator[CallCount]:
    """Put the counts of calls beside each other, where any was made."""
    if one.calls is None:
        return
    whole = joined(list(one.calls))
    for (of, phase), measured in platform.calls.items():
        parts = [each for each, name in whole.items() if name == phase]
        for call in CALLS:
            forecast = sum(one.calls[part][call] for part in parts)
            if of == case and parts and (measured[call] or forecast):
                yield CallCount(platform.of.name, case, phase, call, measured[call], forecast)


STUDY: Final = Study(
    name="live-nfs",
    source="recordings of NFS on live kernels in the folder of --data",
    models=("kernel", *RIVALS),
    forecast=_forecast,
    simulate=simulate,
    has_ranges=True,
)
