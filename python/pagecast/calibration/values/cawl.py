"""The parameters of the model CAWL, as its authors' tool finds them, from the measurements of a calibration.

Gholami, Schintke, *CAWL: A Cache-aware Write Performance Model of Linux Systems*, arXiv 2306.05701, 2023: a
regression over durable direct writes of small and large sizes, writes up to the background threshold and
beyond it, limits from /proc/vmstat, the block from sysfs, the buffer from the C library. Where a parameter is
the same thing as a key of the machine it is that measurement. Where memory is not filled past the threshold
(`--quick`), write-back that is asked for stands in for the flusher.
"""

import math
from collections.abc import Iterator
from typing import Final

from pagecast.calibration.facts import SECTOR_BYTES, Facts
from pagecast.calibration.fits import Marks
from pagecast.calibration.measure import BLOCK_BYTES, Cell
from pagecast.calibration.plan import MIB
from pagecast.calibration.rounds import Rounds, is_known, rates_of
from pagecast.calibration.values.value import (
    Value,
    beyond_noise,
    measured,
    show_call,
    show_rate,
    show_size,
    show_time,
)

__all__ = ["cawl_values"]

BELOW: Final = 0.9
BEYOND: Final = 1.1
"""Of the background threshold: other files are dirty as well, and the flusher needs a moment."""


def cawl_values(rounds: Rounds, facts: Facts) -> Iterator[Value]:
    """Give the keys of `[cawl]`.

    Parameters
    ----------
    rounds : Rounds
    facts : Facts
        Of the same machine.

    Yields
    ------
    Value
        In the order of the file; one without a text could not be measured, and says why.
    """
    buffer = rounds.all.stream_buffer_bytes
    copied = f"copying memory to a buffer of {buffer or BLOCK_BYTES} B"
    yield from measured("cawl.bw_mem", rates_of(rounds.of(Cell("memory"))), show_rate, copied, "B/s")
    yield from _page_cache(rounds, facts)
    yield from _device(rounds, facts)
    if buffer is None:
        yield Value("cawl.bf", "", "not measured: a stream of the C library buffers more than 1 MiB")
    else:
        yield Value("cawl.bf", f'"{buffer} B"', "measured: bytes that a stream takes before it writes some")
    yield from _limits(facts)


def _page_cache(rounds: Rounds, facts: Facts) -> Iterator[Value]:
    plan, background = rounds.all.plan, facts.memory.background_bytes
    fills = rounds.all.fills if background else []
    call = min(MIB, plan.copy_bytes)
    if fills and background:
        free = [_rate_between(marks, 0.0, BELOW * background) for marks in fills]
        how = f"new pages, calls of 1 MiB, up to {show_size(BELOW * background)}, before write-back begins"
        beside = [_rate_between(marks, BEYOND * background, plan.fill_bytes) for marks in fills]
        beyond = f"the same from {show_size(BEYOND * background)} to {show_size(plan.fill_bytes)}, beside it"
    else:
        free = rates_of(rounds.of(Cell("new", call)))
        how = f"new pages, calls of {show_call(call)}, {show_size(plan.copy_bytes)}: below write-back"
        beside = rates_of(rounds.of(Cell("new beside", MIB)))
        beyond = "new pages while others of the file are written back: memory is not filled up to there"
    yield from measured("cawl.bw_ramdisk", free, show_rate, how, "B/s")
    # Noise: beside write-back no page comes sooner.
    slower = [min(pair) for pair in zip(beside, free, strict=False)]
    if is_known(slower):
        yield from measured("cawl.bw_reduced", slower, show_rate, beyond, "B/s")
    else:
        yield Value("cawl.bw_reduced", "", "not measured: write-back was over too soon; it is bw_ramdisk")


def _rate_between(marks: Marks, low: float, high: float) -> float:
    """Give the rate between the first mark from a level on and the last one up to another."""
    of = [(time, moved) for time, moved in [(0.0, 0), *marks] if low <= moved <= high]
    if len(of) < 2:
        return math.nan
    (begun, before), (ended, after) = of[0], of[-1]
    return (after - before) / max(ended - begun, 1e-9)


def _device(rounds: Rounds, facts: Facts) -> Iterator[Value]:
    sizes = rounds.calls("durable write")
    fits = rounds.fitted("durable write")
    past = "O_DIRECT and O_DSYNC" if rounds.all.is_direct else "O_DSYNC, as O_DIRECT is refused here"
    if sizes:
        how = (
            f"writes with {past}, calls of {show_call(sizes[0])} to {show_call(sizes[-1])}, regression: each"
        )
        rates = [math.nan if fit is None else 1 / fit.bytes_s["durable write"] for fit in fits]
        yield from measured("cawl.bw_dev", rates, show_rate, f"{how} byte", "B/s")
    reads = [
        math.nan if fit is None else 1 / fit.bytes_s["device read"] for fit in rounds.fitted("device read")
    ]
    yield from measured("cawl.bw_rdev", reads, show_rate, "as disk.read, one stream", "B/s")
    block = facts.device.logical_block_bytes if facts.device is not None else None
    yield Value("cawl.bs", f'"{block or SECTOR_BYTES} B"', "read: queue/logical_block_size")
    calls = [math.nan if fit is None else fit.call_s for fit in rounds.fitted("read", "again")]
    yield from measured("cawl.sc_w", calls, show_time, "as memory.cost.call", "s")
    if sizes:
        syncs = [math.nan if fit is None else fit.call_s for fit in fits]
        yield from measured("cawl.sc_sw", syncs, show_time, f"{how} call", "s")
    yield from _seek(rounds)


def _seek(rounds: Rounds) -> Iterator[Value]:
    """Give the additional time of a write at a random place."""
    cells = [Cell("random write", BLOCK_BYTES), Cell("device write", BLOCK_BYTES)]
    longer = [BLOCK_BYTES * (far - near) for far, near in zip(*map(rounds.of, cells), strict=False)]
    how = "direct writes of 4 KiB at random places beyond one after the other"
    yield from beyond_noise("cawl.c_sk", longer, how)


def _limits(facts: Facts) -> Iterator[Value]:
    memory = facts.memory
    for name, size, field in (
        ("limit_bg", memory.background_bytes, "nr_dirty_background_threshold"),
        ("limit_hard", memory.limit_bytes, "nr_dirty_threshold"),
    ):
        if size is not None:
            yield Value(f"cawl.{name}", f'"{size} B"', f"read: {field} of /proc/vmstat, in pages of 4 KiB")
    expire = facts.vm.get("dirty_expire_centisecs")
    if expire is not None:
        yield Value("cawl.dirty_expire", f'"{10 * expire} ms"', "read: sysctl vm.dirty_expire_centisecs")
