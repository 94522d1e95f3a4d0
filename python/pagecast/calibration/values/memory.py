"""The keys of a machine file for its memory: rates of copying, and costs of steps."""

import math
from collections.abc import Iterator
from statistics import median
from typing import Final

from pagecast.calibration.facts import PAGE_BYTES, Facts
from pagecast.calibration.fits import estimate
from pagecast.calibration.folios import fit_folios, has_large_folios
from pagecast.calibration.measure import TOUCHED_BYTES, Cell
from pagecast.calibration.plan import MIB
from pagecast.calibration.rounds import Rounds, is_known, rates_of
from pagecast.calibration.values.functions import function_costs, reserve_s
from pagecast.calibration.values.mappings import mapping_values
from pagecast.calibration.values.value import Value, measured, show_call, show_part, show_rate, show_time

__all__ = ["memory_values"]

HUGE_PAGE_BYTES: Final = 2 * MIB
LEAST_FLUSHING_FACTOR: Final = 0.01
WIDEST_FACTOR: Final = 0.5
"""An interval that is wider than this part of the value says nothing that a forecast should use."""
LARGE_CALL_BYTES: Final = 64 * 1024
"""From here on a page is as cheap as folios make it; smaller calls get folios of their size, and pay more."""
DEAR_FACTOR: Final = 2
"""Memory that a host had taken back takes more than so much longer,"""
LEAST_DEAR: Final = 0.25
"""and is at least this part of what was free for long: programs have used the rest."""


def memory_values(rounds: Rounds, facts: Facts) -> Iterator[Value]:
    """Give the keys of `[memory]` and `[memory.cost]` that were measured.

    Parameters
    ----------
    rounds : Rounds
    facts : Facts
        Of the same machine.

    Yields
    ------
    Value
        In the order of the file.
    """
    yield from _rates(rounds)
    yield from _costs(rounds, facts)


def _rates(rounds: Rounds) -> Iterator[Value]:
    """Give how fast cached pages are copied, by as many threads as were tried."""
    plan = rounds.all.plan
    call = min(MIB, plan.copy_bytes)
    most = plan.threads[-1]
    for key, what, doing in (("read", "read", "re-reading"), ("write", "again", "rewriting")):
        at = {threads: rates_of(rounds.of(Cell(what, call, threads))) for threads in plan.threads}
        who = f"{most} threads together" if most > 1 else "one thread"
        how = f"{doing} cached pages, calls of {show_call(call)}, {who}"
        yield from measured(f"memory.{key}", at[most], show_rate, how, "B/s")
        if most > 1:
            points = {n: estimate(found).value for n, found in at.items() if is_known(found)}
            table = ", ".join(f'"{n}" = "{show_rate(value)}"' for n, value in points.items())
            yield Value(f"memory.{key}_at", f"{{ {table} }}", "measured: the same by so many threads")
    yield Value("memory.sharing", '"time"', "not measured: a processor copies one way at a time")


def _costs(rounds: Rounds, facts: Facts) -> Iterator[Value]:
    """Give the keys of `[memory.cost]`: times of calls, pages and faults, rates of copying."""
    fits = rounds.fitted("read", "again")
    of_calls = [math.nan if fit is None else fit.call_s for fit in fits]
    sizes = rounds.calls("read")
    span = f"calls of {show_call(sizes[0])} to {show_call(sizes[-1])}" if sizes else ""
    yield from measured(
        "memory.cost.call", of_calls, show_time, f"re-reading and rewriting cached pages, {span}", "s"
    )
    yield from _inserting(rounds, facts)
    yield from function_costs(rounds.all.functions)
    yield Value("memory.cost.page_lookup", '"0 ns"', "part of the copy rates, which grow with bytes too")
    faults = rounds.beyond("fresh", "read", PAGE_BYTES)
    yield from measured(
        "memory.cost.fault", faults, show_time, "reading into new memory beyond used, 4 KiB pages", "s"
    )
    if facts.huge_pages == "always":
        huge = rounds.beyond("fresh huge", "read huge", HUGE_PAGE_BYTES)
        yield from measured(
            "memory.cost.fault_huge", huge, show_time, "the same with huge pages, which are on (always)", "s"
        )
    yield from mapping_values(rounds, facts, fits)
    yield from _reported(rounds)
    removes = rounds.per_page("remove", PAGE_BYTES)
    yield from measured(
        "memory.cost.page_remove", removes, show_time, "cutting a cached file to nothing", "s"
    )
    for key, kind in (("copy_read", "read"), ("copy_write", "again")):
        rates = [math.nan if fit is None else 1 / fit.bytes_s[kind] for fit in fits]
        yield from measured(f"memory.cost.{key}", rates, show_rate, f"bytes of the same, {span}", "B/s")
    yield from _flushing(rounds)


def _inserting(rounds: Rounds, facts: Facts) -> Iterator[Value]:
    """Give the cost of new pages, and of folios where they are as large as calls and their cost shows."""
    reserve = reserve_s(rounds.all.functions)
    without = ", without block_reserve" if reserve else ""
    if has_large_folios(facts.kernel_version):
        fits = [fit_folios(beyond) for beyond in rounds.beyond_by_call("new", "again")]
        folios = [fit.folio_s for fit in fits]
        if is_known(folios) and (found := estimate(folios)).value > 0 and not found.is_unsure:
            sizes = rounds.calls("new")
            span = f"calls of {show_call(sizes[0])} to {show_call(sizes[-1])}"
            how = f"new pages beyond rewriting them{without}, {span}; each"
            pages = [fit.page_s - reserve for fit in fits]
            yield from measured("memory.cost.page_insert", pages, show_time, f"{how} page", "s")
            yield from measured(
                "memory.cost.folio_insert", folios, show_time, f"{how} folio beside its pages", "s"
            )
            return
    beyond = rounds.beyond("new", "again", PAGE_BYTES, least_call=LARGE_CALL_BYTES)
    inserts = [each - reserve for each in beyond]
    how = f"new pages beyond rewriting them{without}, calls from {show_call(LARGE_CALL_BYTES)}"
    yield from measured("memory.cost.page_insert", inserts, show_time, how, "s")


def _reported(rounds: Rounds) -> Iterator[Value]:
    """Take what pieces of new memory cost more that are far dearer than just after: their host had them."""
    first, again = rounds.all.touched
    if not again:
        return
    usual = median(again)
    dear = [took for took in first if took > DEAR_FACTOR * usual]
    if len(dear) < LEAST_DEAR * len(first):
        return
    page = PAGE_BYTES / TOUCHED_BYTES
    low, middle, high = (page * (took - usual) for took in (min(dear), median(dear), max(dear)))
    how = f"measured: {show_time(low)} to {show_time(high)} in {len(dear)} of {len(first)} pieces of "
    how += f"{show_call(TOUCHED_BYTES)}; new memory beyond new memory just after"
    yield Value("memory.cost.page_reported", f'"{show_time(middle)}"', how)


def _flushing(rounds: Rounds) -> Iterator[Value]:
    """Give the part of a writer's speed that write-back leaves; nothing where that may be all of it."""
    found = rounds.of(Cell("beside write-back"))
    if not is_known(found):
        return
    share = estimate(found)
    if share.low is None or share.high is None or share.high >= 1:
        return
    if share.high - share.low > WIDEST_FACTOR * share.value:
        return  # it stands among the figures alone
    how = "speed of writing new pages while others of the file are written back, as part of that alone"
    text = show_part(max(share.value, LEAST_FLUSHING_FACTOR))
    yield Value("memory.cost.flushing_factor", text, how, share, "", show_part)
