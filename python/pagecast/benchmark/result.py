"""Results of a benchmark."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pagecast.benchmark.plan import Cell

__all__ = ["Benchmark", "Copy", "Measurement", "Repetition"]


@dataclass(frozen=True)
class Repetition:
    """One measurement of a cell.

    Attributes
    ----------
    bytes : int
        Bytes that all threads moved together.
    duration_s : float
        From the first call to the last.
    is_whole : bool
        Whether all was moved before the limit.
    processor_wait_s : float
        How long threads were ready to run and had no processor, all of them together.
    durable_s : float or None
        Of a write: from the first call until all was durable (fsync).
    is_prepared : bool
        Whether the kernel confirmed before that the files were cached, or not cached, as the cell says.
    device_bytes : int or None
        How much of it the device served; None where the kernel does not say.
    resident_before_bytes, resident_after_bytes : int
        Bytes of the files in the page cache.
    dirty_before_bytes, dirty_after_bytes : int or None
        Bytes of these that were dirty or under write-back; None where only mincore(2) could be asked.
    own_device_read_bytes, own_dirtied_bytes : int or None
        Bytes that the kernel fetched from devices for this process, and bytes that the process made dirty
        or wrote itself.
    whole_device_read_bytes, whole_device_written_bytes : int or None
        Bytes that the disk moved meanwhile, for everybody.
    buffers_before_bytes, buffers_after_bytes, cached_before_bytes, cached_after_bytes : int
        ``Buffers`` and ``Cached`` of the machine.
    """

    bytes: int
    duration_s: float
    is_whole: bool
    processor_wait_s: float
    durable_s: float | None
    is_prepared: bool
    device_bytes: int | None
    resident_before_bytes: int
    dirty_before_bytes: int | None
    resident_after_bytes: int
    dirty_after_bytes: int | None
    own_device_read_bytes: int | None
    own_dirtied_bytes: int | None
    whole_device_read_bytes: int | None
    whole_device_written_bytes: int | None
    buffers_before_bytes: int
    buffers_after_bytes: int
    cached_before_bytes: int
    cached_after_bytes: int

    @property
    def bytes_per_s(self) -> float:
        """The rate at which calls moved bytes."""
        return _rate(self.bytes, self.duration_s)

    @property
    def durable_bytes_per_s(self) -> float | None:
        """The rate at which bytes became durable; None for reads."""
        return None if self.durable_s is None else _rate(self.bytes, self.durable_s)

    @property
    def device_share(self) -> float | None:
        """The share that the device served; memory served the rest."""
        return None if self.device_bytes is None or not self.bytes else self.device_bytes / self.bytes


def _rate(moved: int, duration_s: float) -> float:
    return moved / duration_s if duration_s else 0.0


@dataclass(frozen=True)
class Copy:
    """The rate at which memory is copied, without the kernel.

    Attributes
    ----------
    direction : {"read", "write"}
        From large memory to a small buffer, as a read from the page cache does, or the other way.
    call_bytes, threads : int
    rates : list of float
        Bytes per second, one for each repetition.
    """

    direction: str
    call_bytes: int
    threads: int
    rates: list[float]

    @property
    def bytes_per_s(self) -> float:
        """The median."""
        return statistics.median(self.rates)


@dataclass(frozen=True)
class Measurement:
    """A cell and its measurements.

    Attributes
    ----------
    cell : Cell
    repetitions : list of Repetition
    copy_bytes_per_s : float
        The rate at which memory is copied in the same direction, with the same call size and threads.
    device_bytes_per_s : float or None
        The most that the device was measured to do in this direction: the greatest O_DIRECT rate.
    fio_rates : list of float
        Rates of fio in the same cell, in bytes per second.
    """

    cell: Cell
    repetitions: list[Repetition]
    copy_bytes_per_s: float
    device_bytes_per_s: float | None = None
    fio_rates: list[float] = field(default_factory=list)

    @cached_property
    def rates(self) -> list[float]:
        """Bytes per second, one for each repetition."""
        return [one.bytes_per_s for one in self.repetitions]

    @property
    def bytes_per_s(self) -> float:
        """The median."""
        return statistics.median(self.rates)

    @property
    def durable_bytes_per_s(self) -> float | None:
        """The median rate until all was durable; None for reads."""
        rates = [one.durable_bytes_per_s for one in self.repetitions]
        known = [rate for rate in rates if rate is not None]
        return statistics.median(known) if known else None

    @property
    def spread(self) -> float:
        """Greatest less least rate, as a share of the median."""
        return (max(self.rates) - min(self.rates)) / self.bytes_per_s if self.bytes_per_s else 0.0

    @property
    def device_share(self) -> float | None:
        """The median share that the device served; None where the kernel does not say."""
        shares = [one.device_share for one in self.repetitions]
        known = [share for share in shares if share is not None]
        return statistics.median(known) if known else None

    @property
    def served_by(self) -> str | None:
        """The source of most of the bytes: "device" or "memory"; None where the kernel does not say."""
        share = self.device_share
        return None if share is None else "device" if share >= 0.5 else "memory"

    @property
    def efficiency(self) -> float | None:
        """The rate as a share of that at which memory is copied; None unless memory served it."""
        if self.cell.mode != "buffered" or self.served_by != "memory":
            return None
        return self.bytes_per_s / self.copy_bytes_per_s if self.copy_bytes_per_s else None

    @property
    def is_above_device(self) -> bool | None:
        """Whether it is faster than the device was measured to be; None where that was not measured."""
        if self.device_bytes_per_s is None:
            return None
        return self.cell.mode == "buffered" and self.bytes_per_s > self.device_bytes_per_s

    @property
    def processor_wait_share(self) -> float:
        """The median share of the time for which threads had no processor, as others had it."""
        return statistics.median(
            one.processor_wait_s / (one.duration_s * self.cell.threads) if one.duration_s else 0.0
            for one in self.repetitions
        )

    @property
    def is_prepared(self) -> bool:
        """Whether the kernel confirmed each time that the files were cached, or not, as the cell says."""
        return all(one.is_prepared for one in self.repetitions)

    @property
    def is_whole(self) -> bool:
        """Whether all was moved before the limit, each time."""
        return all(one.is_whole for one in self.repetitions)


@dataclass(frozen=True)
class Benchmark:
    """All that was measured.

    Attributes
    ----------
    measurements : list of Measurement
    copies : list of Copy
    settings : dict
        ``vm.dirty_*`` as they were meanwhile.
    changed_settings : dict
        Changed settings, and their earlier values.
    place : dict
        The directory, its file system and its device: ``directory``, ``file_system``, ``caution``,
        ``device``.
    provenance : dict
        Where and how this was measured.
    notes : list of str
        Warnings.
    """

    measurements: list[Measurement]
    copies: list[Copy]
    settings: dict[str, int]
    changed_settings: dict[str, int]
    place: dict[str, Any]
    provenance: dict[str, Any]
    notes: list[str]

    @property
    def is_prepared(self) -> bool:
        """Whether the cache was in the right state for every cell."""
        return all(one.is_prepared for one in self.measurements)

    def device_rates(self) -> dict[str, dict[str, float]]:
        """Give the greatest O_DIRECT rates in bytes per second, by target and direction."""
        return device_rates(self.measurements)


def device_rates(measurements: Sequence[Measurement]) -> dict[str, dict[str, float]]:
    """Give the greatest median O_DIRECT rates in bytes per second, by target and direction."""
    rates: dict[str, dict[str, float]] = {}
    for one in measurements:
        if one.cell.mode == "direct":
            of_target = rates.setdefault(one.cell.target, {})
            of_target[one.cell.direction] = max(of_target.get(one.cell.direction, 0.0), one.bytes_per_s)
    return rates
