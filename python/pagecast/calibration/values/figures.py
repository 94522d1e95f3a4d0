"""Measurements without a key in a machine file."""

from collections.abc import Iterator

from pagecast.calibration.facts import PAGE_BYTES
from pagecast.calibration.fits import estimate
from pagecast.calibration.long_streams import LONG_CALL_BYTES
from pagecast.calibration.measure import BLOCK_BYTES, Cell, Measurements
from pagecast.calibration.plan import MIB
from pagecast.calibration.rounds import Rounds, is_known, rates_of
from pagecast.calibration.values.disk import held_rates
from pagecast.calibration.values.functions import function_figures
from pagecast.calibration.values.value import (
    Value,
    show_call,
    show_part,
    show_rate,
    show_size,
    show_time,
)

__all__ = ["figures_of"]


def figures_of(measurements: Measurements) -> Iterator[Value]:
    """Give the measurements without a key.

    Parameters
    ----------
    measurements : Measurements

    Yields
    ------
    Value
        With an empty key; `how` describes it.
    """
    rounds = Rounds(measurements)
    for what in ("device read", "device write"):
        for streams in measurements.plan.streams:
            for call in rounds.calls(what, streams):
                many = f", {streams} at once" if streams > 1 else ""
                yield from _figure(
                    rounds, Cell(what, call, streams), f"{what}, calls of {show_call(call)}{many}"
                )
    for what in ("random read", "random write"):
        yield from _figure(rounds, Cell(what, BLOCK_BYTES), f"{what}, 4 KiB, one at a time")
    for what in ("both read", "both write"):
        yield from _figure(
            rounds, Cell(what, MIB), f"{what.removeprefix('both ')} beside the other, calls of 1 MiB"
        )
    held = held_rates(rounds)
    if is_known(held):
        most = show_size(measurements.plan.long_bytes)
        what = f"second half of direct writes of up to {most}, calls of {show_call(LONG_CALL_BYTES)}"
        yield Value("", show_rate(estimate(held).value), what, estimate(held), "B/s", show_rate)
    yield from _figure(
        rounds, Cell("drain"), f"write-back of {show_call(measurements.drain_bytes)} of new pages"
    )
    for what in ("fsync", "O_DSYNC"):
        found = rounds.of(Cell(what, BLOCK_BYTES))
        if is_known(found):
            middle = estimate(found)
            yield Value("", show_time(middle.value), f"{what} of a block of 4 KiB", middle, "s", show_time)
    smallest = min(rounds.calls("new"), default=0)
    pairs = zip(rounds.of(Cell("new", smallest)), rounds.of(Cell("again", smallest)), strict=False)
    small = [PAGE_BYTES * (new - again) for new, again in pairs]
    if is_known(small):
        middle = estimate(small)
        what = f"a new page beyond rewriting it, calls of {show_call(smallest)}"
        yield Value("", show_time(middle.value), what, middle, "s", show_time)
    beside = rounds.of(Cell("beside write-back"))
    if is_known(beside):
        what = "of the speed of writing new pages is left while others of the file are written back"
        yield Value("", show_part(estimate(beside).value), what, estimate(beside), "", show_part)
    yield from function_figures(measurements.functions)
    call = min(MIB, measurements.plan.copy_bytes)
    for threads in measurements.plan.threads:
        many = f", {threads} threads" if threads > 1 else ""
        yield from _figure(
            rounds, Cell("new", call, threads), f"writing new pages, calls of {show_call(call)}{many}"
        )


def _figure(rounds: Rounds, cell: Cell, what: str) -> Iterator[Value]:
    found = rates_of(rounds.of(cell))
    if is_known(found):
        middle = estimate(found)
        yield Value("", show_rate(middle.value), what, middle, "B/s", show_rate)
