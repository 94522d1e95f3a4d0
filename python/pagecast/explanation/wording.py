"""Explanations in sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pagecast._core import format_bytes
from pagecast.arguments import named
from pagecast.durations import seconds
from pagecast.quantities import shown_quantity

if TYPE_CHECKING:
    from pagecast.explanation.instant import InstantExplained
    from pagecast.explanation.levels import AtRisk, DiskLoad, Levels
    from pagecast.explanation.operation import OperationExplained, Wait

__all__ = ["SMALL", "behind", "words_of_instant", "words_of_operation"]

_MOST_NAMED = 5
SMALL = 0.005
"""Waits of a smaller share of the operation are not named."""


def words_of_operation(of: "OperationExplained") -> Iterator[str]:
    """Give lines on an operation."""
    number = f" #{of.number}" if of.number is not None else ""
    size = f", {format_bytes(of.bytes)}" if of.bytes else ""
    what = f"{of.process} {of.operation}{number} {of.path}".rstrip()
    yield f"{what}{size}: {seconds(of.duration_s)}, from {of.start_s:.3f} s to {of.end_s:.3f} s"
    if of.count > 1:
        place = "The slowest" if of.rank == 1 else f"Number {of.rank:,} by duration"
        yield (
            f"{place} of {of.count:,} operations {of.operation} of {of.process}; their median is "
            f"{seconds(of.median_s)}."
        )
    yield ""
    yield "It waited for"
    for part, part_s in of.parts.items():
        yield f"  {part.replace('_', ' '):<16}{seconds(part_s):>9}  {100 * part_s / of.duration_s:3.0f} %"
        waits = [wait for wait in of.waits if wait.part == part and wait.waited_s > SMALL * of.duration_s]
        for wait in waits[:_MOST_NAMED]:
            yield f"      {seconds(wait.waited_s)} {behind(wait)}"
    if not of.parts:
        yield "  nothing: it took no time"
    yield ""
    yield from _of_levels(of.levels, "at its start")
    for disk in of.disks:
        yield _of_disk(disk)
    if of.throttled:
        yield f"Throttled meanwhile: {named(of.throttled, _MOST_NAMED)}.{_rate(of.levels)}"
    for other in of.others[:_MOST_NAMED]:
        share = other.beside_s / of.duration_s
        yield f"Meanwhile {other.process} did {other.operation} {other.path}".rstrip() + (
            f" for {100 * share:.0f} % of the time."
        )
    if len(of.others) > _MOST_NAMED:
        yield f"So did {len(of.others) - _MOST_NAMED:,} more."


def words_of_instant(of: "InstantExplained") -> Iterator[str]:
    """Give lines on an instant."""
    yield f"At {of.at_s:g} s"
    yield ""
    width = max((len(each.process) for each in of.doing), default=0)
    for each in of.doing:
        part = f", mostly {each.part.replace('_', ' ')}" if each.part else ""
        what = f"{each.operation} {each.path}".rstrip()
        yield (
            f"  {each.process:<{width}}  {what}, since {each.start_s:.3f} s, "
            f"{seconds(each.end_s - each.start_s)} in all{part}"
        )
    if not of.doing:
        yield "  no operation was under way"
    if not of.is_complete:
        yield "  Slow operations alone have rows; others may have been under way."
    yield ""
    for levels in of.levels:
        yield from _of_levels(levels, "then", with_host=len(of.levels) > 1)
    for disk in of.disks:
        yield _of_disk(disk)
    if of.served:
        total_s = sum(of.served.values())
        whom = [f"{whose} ({100 * each_s / total_s:.0f} %)" for whose, each_s in of.served.items()]
        yield f"Operations around it waited behind {named(whom, _MOST_NAMED)}."
    elif of.disks:
        yield "No operation around it waited for long behind another process's requests."
    if of.throttled:
        rate = _rate(of.levels[0]) if len(of.levels) == 1 else ""
        yield f"Throttled: {named(of.throttled, _MOST_NAMED)}.{rate}"
    for disk_risk in of.at_risk:
        yield _of_risk(disk_risk, with_host=len(of.levels) > 1)


def behind(wait: "Wait") -> str:
    """Say whom an operation waited behind: "behind write-back of backup's /data/copy"."""
    whose = f"{wait.process}'s {wait.path}" if wait.process else wait.path
    return f"behind {wait.work} of {whose}"


def _of_levels(levels: "Levels", when: str, *, with_host: bool = False) -> Iterator[str]:
    if levels.dirty_bytes is None:
        return
    where = f" on {levels.host}" if with_host else ""
    text = f"Dirty memory{where} {when}: {format_bytes(levels.dirty_bytes)}"
    limit = levels.dirty_limit_bytes
    if limit:
        text += f", {100 * levels.dirty_bytes / limit:.0f} % of the limit of {format_bytes(limit)}"
    if levels.background_threshold_bytes is not None and levels.setpoint_bytes is not None:
        side = "above" if levels.dirty_bytes > levels.background_threshold_bytes else "below"
        text += (
            f"; {side} the background threshold of {format_bytes(levels.background_threshold_bytes)}, "
            f"set point {format_bytes(levels.setpoint_bytes)}"
        )
    yield f"{text}."


def _of_disk(disk: "DiskLoad") -> str:
    did = [
        f"{what} {shown_quantity(rate, 'bytes_per_s')}"
        for what, rate in (("wrote", disk.write_bytes_per_s), ("read", disk.read_bytes_per_s))
        if rate > 0
    ]
    text = f"{disk.device} {' and '.join(did) or 'moved nothing'}, "
    text += f"busy {100 * disk.utilisation:.0f} % of the time, "
    text += f"{disk.mean_depth:.1f} requests at it on the average"
    if disk.background_since_s is not None:
        text += f"; its flusher writes in the background since {disk.background_since_s:.2f} s"
    return f"{text}."


def _of_risk(of: "AtRisk", *, with_host: bool) -> str:
    disk = f"{of.device} of {of.host}" if with_host else of.device
    places = [
        f"{format_bytes(size)} {where}"
        for size, where in (
            (of.memory_bytes, "in memory"),
            (of.disk_cache_bytes, "in the cache of the disk"),
            (of.uncommitted_bytes, "in blocks of no committed transaction"),
        )
        if size
    ]
    lost = [f"{format_bytes(of.at_risk_bytes)} of {_counted(of.files, 'file')}"] if places else []
    lost += [_counted(of.names, "change") + " of names"] if of.names else []
    text = f"On {disk} a power cut then would lose {' and '.join(lost) or 'nothing'}"
    return f"{text}: {', '.join(places)}." if places else f"{text}."


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def _rate(levels: "Levels") -> str:
    rate = levels.task_rate_bytes_per_s
    return "" if rate is None else f" Each may write {shown_quantity(rate, 'bytes_per_s')}."
