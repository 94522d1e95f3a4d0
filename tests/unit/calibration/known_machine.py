"""A machine whose costs are known exactly, with noise from a seed; it takes no time to measure it."""

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from pagecast.calibration.measure import Copied, Mapped, Moved

PAGE_BYTES = 4096


@dataclass
class KnownMachine:
    """Answers like `pagecast._core.Calibration`; its clock goes forward by what it says."""

    call_s: float = 1e-6
    read_byte_s: float = 1e-10
    write_byte_s: float = 2e-10
    insert_s: float = 400e-9
    folio_s: float = 0.0
    """Of each new folio, which is as large as the call, up to 2 MiB."""
    fault_s: float = 300e-9
    map_s: float = 3e-6
    around_s: float = 2e-6
    """Of a fault that maps 64 KiB or a longer folio to be read,"""
    folio_map_s: float = 90e-9
    """of each further folio that it maps,"""
    mkwrite_s: float = 150e-9
    """of a page that is made writable, and of the fault for it."""
    mkwrite_fault_s: float = 700e-9
    maps_folios: bool = False
    can_map: bool = True
    remove_s: float = 100e-9
    latency_s: float = 100e-6
    device_read_byte_s: float = 2e-9
    device_write_byte_s: float = 4e-9
    sync_s: float = 3e-3
    reported_s: float = 0.0
    """Of a page that the host had taken back."""
    commit_s: float = 2e-3
    free_s: float = 4e-6
    """Of each block, besides its page,"""
    file_free_s: float = 2e-3
    """and of each file,"""
    free_within_s: float = math.inf
    """as long as it is no older."""
    memory_byte_s: float = 5e-11
    buffer_bytes: int | None = 4096
    background_bytes: int = 1 << 30
    """From here on the flusher slows writers of new pages down."""
    flushing_factor: float = 0.8
    sharing: str = "time"
    bucket_bytes: int = 0
    """What is moved at ten times the rate after idle time."""
    cache_bytes: int = 0
    """What writes go into at ten times their rate; it is emptied at their rate."""
    noise: float = 0.0
    """Standard deviation of what anything takes, as a fraction."""
    drift: float = 0.0
    """By how much everything becomes slower with each second."""
    cores: int = 2
    wait_s: float = 0.0
    """How long copies and streams wait for a processor."""
    lost: int = 0
    """So many copies have to be read from the device first."""
    seed: int = 1
    now: float = 0.0
    read_bytes: int = 0
    is_put: tuple[float, int] = (0.0, 0)
    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._room = float(self.cache_bytes)
        self._emptied_at = 0.0

    def clock(self) -> float:
        """Give the seconds since the machine was made."""
        return self.now

    def device_read_bytes(self) -> int:
        """Give what was read from the device."""
        return self.read_bytes

    def rest(self, seconds: float) -> None:
        """Let time pass, in which a bucket is filled again."""
        self.now += seconds

    def _took(self, seconds: float) -> float:
        seconds *= max(self._random.gauss(1.0, self.noise), 0.1) * (1 + self.drift * self.now)
        self.now += seconds
        return seconds

    def streams(
        self,
        streams: Sequence[tuple[bool, int, int, int, int | None]],
        *,
        direct: bool,
        most_bytes: int,
        most_s: float,
        mark_s: float,
        durable: bool = False,
    ) -> list[Moved]:
        """Share the device as `sharing` says."""
        assert direct
        answers: list[Moved] = []
        writes = {is_write for is_write, *_ in streams}
        slower = 2.0 if self.sharing == "time" and len(writes) == 2 else 1.0
        for is_write, _, length, call, _ in streams:
            assert call <= length
            byte_s = (self.device_write_byte_s if is_write else self.device_read_byte_s) * slower
            one = self.latency_s * slower + byte_s * call + (self.sync_s if durable else 0.0)
            calls = max(1, min(int(most_s / one) + 1, -(-most_bytes // call)))
            if is_write and self.cache_bytes:
                answers.append(self._into_cache(call, most_bytes, most_s, mark_s))
                continue
            marks: list[tuple[float, int]] = []
            if mark_s < most_s:
                marks, calls = self._marks(call, byte_s, most_s, mark_s), 1
            fast = min(calls * call, self.bucket_bytes)
            took = self._took(calls * one - 0.9 * fast * byte_s) if not marks else marks[-1][0]
            answers.append((calls * call, calls, took + self.wait_s, self.wait_s, marks))
        return answers

    def _marks(self, call: int, byte_s: float, most_s: float, mark_s: float) -> list[tuple[float, int]]:
        fast_s = self.bucket_bytes * byte_s / 10
        at = [mark_s * (number + 1) for number in range(int(most_s / mark_s))]
        fast = [min(time, fast_s) / (byte_s / 10) for time in at]
        rates = [max(self._random.gauss(1.0, self.noise), 0.1) for _ in at]
        moved = [burst + max(time - fast_s, 0) / byte_s for time, burst in zip(at, fast, strict=True)]
        steps = [later - before for before, later in itertools.pairwise([0.0, *moved])]
        noisy = itertools.accumulate(step * rate for step, rate in zip(steps, rates, strict=True))
        return [(time, int(size)) for time, size in zip(at, noisy, strict=True)]

    def _into_cache(self, call: int, most_bytes: int, most_s: float, mark_s: float) -> Moved:
        begun, done, marks = self.now, 0, [(0.0, 0)]
        while done < most_bytes and self.now - begun < most_s:
            self._write(call)
            done += call
            if self.now - begun - marks[-1][0] >= mark_s:
                marks.append((self.now - begun, done))
        return done, done // call, self.now - begun, 0.0, marks[1:]

    def _write(self, size: int) -> float:
        """Write into the cache, which was emptied meanwhile, and what it has no room for to the device."""
        emptied = (self.now - self._emptied_at) / self.device_write_byte_s
        self._room = min(self._room + emptied, self.cache_bytes)
        fast = min(self._room / 0.9, size)
        self._room -= 0.9 * fast
        took = self._took((0.1 * fast + size - fast) * self.device_write_byte_s)
        self._emptied_at = self.now
        return took

    def copies(
        self, file_bytes: int, call_bytes: int, *, threads: int = 1, huge: bool = False
    ) -> list[Copied]:
        """Charge calls, bytes and pages; no thread disturbs another."""
        if self.lost:
            self.lost -= 1
            self.read_bytes += file_bytes
        calls, pages = file_bytes / call_bytes, file_bytes / PAGE_BYTES
        write = calls * self.call_s + file_bytes * self.write_byte_s
        read = calls * self.call_s + file_bytes * self.read_byte_s
        fault = self.fault_s * pages / (10 if huge else 1)
        new = self.insert_s * pages + self.folio_s * file_bytes / min(call_bytes, 2 << 20)
        steps = (write + new, write, read, read + fault, self.remove_s * pages)
        answers: list[Copied] = []
        for _ in range(threads):
            first, again, read_s, fresh, remove = map(self._took, steps)
            answers.append((first, again, read_s, fresh, remove, self.wait_s))
        return answers

    def mappings(self, file_bytes: int, call_bytes: int) -> Mapped | None:
        """Charge what calls do, and faults instead of calls."""
        if not self.can_map:
            return None
        folio = min(call_bytes, 2 << 20) if self.maps_folios else PAGE_BYTES
        calls = file_bytes / (1 << 20) * self.call_s
        read, write = file_bytes * self.read_byte_s, file_bytes * self.write_byte_s
        each_s = self.around_s + max(65_536 / min(call_bytes, 2 << 20) - 1, 0) * self.folio_map_s
        arounds = file_bytes / max(folio, 65_536) * each_s
        faults = file_bytes / folio * self.mkwrite_fault_s
        pages = file_bytes / PAGE_BYTES * self.mkwrite_s
        page = self.map_s + self.around_s + PAGE_BYTES * self.read_byte_s
        first, second, third, fourth, fifth = map(
            self._took, (calls + read, calls + write, read + arounds, write + pages + faults, page)
        )
        return first, second, third, fourth, fifth

    def syncs(self, waiting: str, *, block_bytes: int, most: int, most_s: float) -> list[float]:
        """Charge one sync."""
        self.calls.append(waiting)
        return [self._took(self.sync_s + (self.commit_s if waiting == "append" else 0.0))]

    def drain(self, bytes: int) -> tuple[Moved, float]:
        """Write back at the rate of the device."""
        took = self._write(bytes) if self.cache_bytes else self._took(bytes * self.device_write_byte_s)
        return (bytes, 1, took, 0.0, []), self._cut(bytes, self.free_s)

    def put(self, bytes: int) -> None:
        """Write at the rate of the device."""
        self.drain(bytes)
        self.is_put = (self.now, bytes)

    def cut(self) -> float:
        """Cut what was put, which may be old."""
        put, size = self.is_put
        return self._cut(size, self.free_s if self.now - put <= self.free_within_s else self.free_s / 20)

    def _cut(self, bytes: int, free_s: float) -> float:
        return self._took(self.file_free_s + bytes / PAGE_BYTES * (self.remove_s + free_s))

    def fill(self, bytes: int, mark_bytes: int) -> Moved:
        """Write new pages, more slowly beside the flusher."""
        begun, done, marks = self.now, 0, []
        while done < bytes:
            size = min(mark_bytes, bytes - done)
            alone = (self.write_byte_s + self.insert_s / PAGE_BYTES) * size
            self._took(alone if done < self.background_bytes else alone / self.flushing_factor)
            done += size
            marks.append((self.now - begun, done))
        return bytes, bytes >> 20, self.now - begun, 0.0, marks

    def memory(self, bytes: int, call_bytes: int) -> float:
        """Charge the bytes."""
        return self._took(bytes * self.memory_byte_s)

    def stream_buffer(self) -> int | None:
        """Say what it is."""
        return self.buffer_bytes

    def touches(self, bytes: int, piece_bytes: int) -> tuple[list[float], list[float]]:
        """Take more for what the host had, which is all but the first quarter."""
        pages = piece_bytes / PAGE_BYTES
        count = bytes // piece_bytes
        first = [self.fault_s + (self.reported_s if at >= count // 4 else 0.0) for at in range(count)]
        again = [self.fault_s] * count
        return [self._took(pages * each) for each in first], [self._took(pages * each) for each in again]

    def beside(self, dirty_bytes: int, most_bytes: int) -> tuple[Moved, Moved, Moved]:
        """Slow the writer down by the factor."""
        alone = (self.write_byte_s + self.insert_s / PAGE_BYTES) * dirty_bytes
        return (
            (dirty_bytes, 100, self._took(alone), 0.0, []),
            (dirty_bytes, 100, self._took(alone / self.flushing_factor), 0.0, []),
            self.drain(dirty_bytes)[0],
        )
