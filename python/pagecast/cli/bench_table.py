"""The benchmark as a table for a person; ``--json`` has every number."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from pagecast.benchmark.plan import call_text
from pagecast.cli.amounts import rate

if TYPE_CHECKING:
    from pagecast.benchmark import Benchmark, Measurement

__all__ = ["print_table"]

_WIDE = 120
"""From so many columns on there is room for the memory of the machine."""

_MUCH = 0.1
"""So much of the time nobody minds."""

_ABOVE = "!"
_CUT = "~"
_UNPREPARED = "?"


def print_table(done: "Benchmark") -> None:
    """Print cells, then the rates that they are compared with."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from pagecast.cli.summary import new_console
    from pagecast.report.terminal import print_plain

    console = new_console()
    has_fio = any(one.fio_rates for one in done.measurements)
    is_wide = console.width >= _WIDE
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    names = ["", "call", "threads", "rate", "spread", "from", "of copying", "durable"]
    names += [*(["fio"] if has_fio else []), *(["Cached", "Buffers"] if is_wide else [])]
    for name in names:
        is_text = name in ("", "from")
        table.add_column(name, justify="left" if is_text else "right", no_wrap=is_text)
    order = sorted(done.measurements, key=lambda one: (one.cell.target, one.cell.direction, one.cell.access))
    for (target, access), group in groupby(order, key=lambda one: (one.cell.target, one.cell.access)):
        table.add_section()
        on = "" if target == "file" else ", device"
        table.add_row(Text(f"{access.replace('-', ' ')}{on}"))
        rows = sorted(group, key=lambda one: (one.cell.mode, one.cell.threads, one.cell.call_bytes))
        for one in rows:
            table.add_row(*map(Text, _cells(one, has_fio)[: len(names)]))
    print_plain(table, console)
    for line in _below(done):
        print_plain(line, console)
    if not is_wide:
        print_plain(f"Cached and Buffers before and after: on {_WIDE} columns, or with --json.", console)


def _cells(one: "Measurement", has_fio: bool) -> list[str]:
    cell, last = one.cell, one.repetitions[-1]
    marks = "".join(
        mark
        for mark, is_set in (
            (_ABOVE, one.is_above_device),
            (_CUT, not one.is_whole),
            (_UNPREPARED, not one.is_prepared),
        )
        if is_set
    )
    durable = one.durable_bytes_per_s
    fio = [rate(_median(one.fio_rates)) if one.fio_rates else ""] if has_fio else []
    return [
        f" {cell.mode}",
        cell.call_text,
        str(cell.threads),
        f"{rate(one.bytes_per_s)}{f' {marks}' if marks else ''}",
        _spread(one),
        _served(one),
        "" if one.efficiency is None else f"{100 * one.efficiency:.0f} %",
        "" if durable is None else rate(durable),
        *fio,
        _change(last.cached_before_bytes, last.cached_after_bytes),
        _change(last.buffers_before_bytes, last.buffers_after_bytes),
    ]


def _median(values: Sequence[float]) -> float:
    import statistics

    return statistics.median(values)


def _spread(one: "Measurement") -> str:
    return f"{100 * one.spread:.0f} %" if len(one.repetitions) > 1 else ""


def _served(one: "Measurement") -> str:
    """Name the source that served most of it, and its share."""
    if one.device_share is None:
        return "not known"
    share = one.device_share if one.served_by == "device" else 1 - one.device_share
    percent = min(round(100 * share), 99) if share < 1 else 100
    return f"{one.served_by} {percent} %"


def _change(before: int, after: int) -> str:
    """Give two levels of memory in one unit: "58.2 > 64.1 MB"."""
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if max(before, after) >= scale:
            return f"{before / scale:.3g} > {after / scale:.3g} {unit}"
    return f"{before} > {after} B"


def _below(done: "Benchmark") -> Iterator[str]:
    copies = sorted(done.copies, key=lambda one: (one.direction, one.threads, one.call_bytes))
    for direction, group in groupby(copies, key=lambda one: one.direction):
        rates = ", ".join(
            f"{rate(one.bytes_per_s)} ({call_text(one.call_bytes)}, {one.threads})" for one in group
        )
        where = "from large memory to a small buffer" if direction == "read" else "from a small buffer"
        yield f"Copying of memory as a {direction} does, {where} (call, threads): {rates}"
    for target, most in done.device_rates().items():
        said = " and ".join(f"{direction} {rate(value)}" for direction, value in sorted(most.items()))
        name = done.place["device"] if target == "file" else done.place["block_device"]
        yield f"The device{f' ({name})' if name else ''} with O_DIRECT, at most: {said}"
    yield "Settings: " + ", ".join(f"{name} = {value}" for name, value in done.settings.items())
    if done.changed_settings:
        back = ", ".join(f"{name} = {value}" for name, value in done.changed_settings.items())
        yield f"Changed for the benchmark and put back: {back}"
    waited = max(one.processor_wait_share for one in done.measurements)
    if waited >= _MUCH:
        yield (
            f"Others wanted the processors: threads had none for up to {100 * waited:.0f} % of the time; "
            "on a quiet machine memory serves more"
        )
    yield from _legend(done.measurements)


def _legend(measurements: Sequence["Measurement"]) -> Iterator[str]:
    if any(one.is_above_device for one in measurements):
        yield f"{_ABOVE} faster than the device with O_DIRECT: not the speed of the device"
    if any(not one.is_whole for one in measurements):
        yield f"{_CUT} ended at the limit of time before all was moved"
    if any(not one.is_prepared for one in measurements):
        yield f"{_UNPREPARED} the files were not cached, or not cold, as they should have been"
    if any(one.is_above_device is None for one in measurements):
        yield "The mode direct is left out, so the rate of the device is not known, and no number is marked."
