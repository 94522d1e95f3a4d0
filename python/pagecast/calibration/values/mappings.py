"""The keys of a machine file for mapped files: costs of faults, by folios and by pages."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from pagecast.calibration.costs import CallCosts, per_page
from pagecast.calibration.facts import PAGE_BYTES, Facts
from pagecast.calibration.folios import fit_folios, has_large_folios, maps_folios
from pagecast.calibration.measure import Cell
from pagecast.calibration.plan import MIB
from pagecast.calibration.rounds import Rounds, is_known
from pagecast.calibration.values.value import Value, measured, show_call, show_time

__all__ = ["mapping_values"]

AROUND_BYTES: Final = 64 * 1024
"""What a fault maps of folios that are no longer (`fault_around_bytes`)."""


def mapping_values(rounds: Rounds, facts: Facts, fits: Sequence[CallCosts | None]) -> Iterator[Value]:
    """Give the costs of a mapping, of faults to read and to write, by folios and by pages.

    Parameters
    ----------
    rounds : Rounds
    facts : Facts
        Of the same machine.
    fits : sequence of CallCosts or None
        Of the calls of each round.

    Yields
    ------
    Value
        In the order of the file.
    """
    calls = rounds.calls("mapped page")
    if not calls:
        return

    def beyond_calls(way: str) -> list[dict[int, float]]:
        # A mapping has no calls.
        return [
            {call: beyond + (math.nan if fit is None else fit.call_s / MIB) for call, beyond in found.items()}
            for found, fit in zip(rounds.beyond_by_call(f"mapped {way}", f"called {way}"), fits, strict=False)
        ]

    reads = beyond_calls("read")
    arounds = [AROUND_BYTES * found.get(AROUND_BYTES, math.nan) for found in reads]
    pages = rounds.of(Cell("mapped page", AROUND_BYTES))
    alone = [
        page - around - (math.nan if fit is None else PAGE_BYTES * fit.bytes_s["read"])
        for page, around, fit in zip(pages, arounds, fits, strict=False)
    ]
    how = "a cached page of 4 KiB mapped, read and unmapped, without its fault and its bytes"
    yield from measured("memory.cost.mmap", alone, show_time, how, "s")
    how = f"reading a cached file of calls of {show_call(AROUND_BYTES)} through a mapping beyond reading it"
    yield from measured("memory.cost.fault_around", arounds, show_time, f"{how}; each of these", "s")
    if has_large_folios(facts.kernel_version):
        further = AROUND_BYTES / PAGE_BYTES - 1
        folios = [
            (AROUND_BYTES * of.get(PAGE_BYTES, math.nan) - around) / further
            for of, around in zip(reads, arounds, strict=True)
        ]
        how = f"the same of one of calls of {show_call(PAGE_BYTES)} beyond it; each folio of a fault but one"
        yield from measured("memory.cost.folio_map", folios, show_time, how, "s")
    elif is_known(arounds):
        yield Value("memory.cost.folio_map", '"0 ns"', "part of fault_around, as each folio is a page")
    span = f"calls of {show_call(calls[0])} to {show_call(calls[-1])}"
    how = f"writing over cached files of {span} through a mapping beyond writing over them"
    writes = beyond_calls("write")
    if maps_folios(facts.kernel_version):
        found = [fit_folios(of) for of in writes]
        page_s, folio_s = [fit.page_s for fit in found], [fit.folio_s for fit in found]
        yield from measured("memory.cost.page_mkwrite", page_s, show_time, f"{how}; each page", "s")
        yield from measured(
            "memory.cost.fault_mkwrite", folio_s, show_time, f"{how}; each folio beside its pages", "s"
        )
        return
    page_s = [per_page(of.values(), PAGE_BYTES) for of in writes]
    yield from measured("memory.cost.page_mkwrite", page_s, show_time, f"{how}; each page", "s")
    if is_known(page_s):
        yield Value("memory.cost.fault_mkwrite", '"0 ns"', "part of page_mkwrite, as each page has a fault")
