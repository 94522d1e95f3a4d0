"""Sums a calibration up in a few lines."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pagecast._core import format_bytes

if TYPE_CHECKING:
    from pagecast.calibration import Calibrated

__all__ = ["summary_lines"]


def summary_lines(done: "Calibrated") -> Iterator[str]:
    """Say the numbers that matter most, with a question mark where they are not sure.

    Parameters
    ----------
    done : Calibrated

    Yields
    ------
    str
        A line about the disk, one about memory, one about limits, and one about written bytes.
    """
    sure = {value.key: value.estimate is None or not value.estimate.is_unsure for value in done.values}
    texts = {value.key: value.plain for value in done.values if value.key}

    def told(what: str, key: str) -> list[str]:
        return [f"{what} {texts[key]}{'' if sure[key] else ' (?)'}"] if key in texts else []

    device = done.survey.facts.device
    disk = [
        *told("reads", "disk.read"),
        *told("writes", "disk.write"),
        *told("a request takes", "disk.latency"),
        *told("a flush", "disk.flush"),
        *told("a commit", "mount.commit"),
        *told("a burst of", "disk.burst"),
        *told("its write cache", "disk.write_cache"),
    ]
    yield f"disk {device.name if device else '(unknown)'}: {', '.join(disk)}"
    copies = [
        *told("one thread reads", "memory.cost.copy_read"),
        *told("writes", "memory.cost.copy_write"),
        *told("a new page takes", "memory.cost.page_insert"),
        *told("a call", "memory.cost.call"),
    ]
    yield f"page cache: {', '.join(copies)}"
    memory = done.survey.facts.memory
    limits = [f"{format_bytes(memory.usable_bytes)} for files and programs"]
    if memory.limit_bytes is not None and memory.background_bytes is not None:
        limits.append(f"write-back begins at {format_bytes(memory.background_bytes)} of dirty memory")
        limits.append(f"its limit is {format_bytes(memory.limit_bytes)}")
    yield f"memory: {', '.join(limits)}"
    if done.written_bytes is not None:
        yield f"{format_bytes(done.written_bytes)} were written to the disk"
