"""The writeback state of one disk as seen by one host: counts, bandwidth, rate of its writers, share.

Source: mm/page-writeback.c (__wb_update_bandwidth, wb_update_write_bandwidth, wb_update_dirty_ratelimit,
__wb_calc_thresh as of 6.14, wb_dirty_limits, __bdi_set_max_ratio, wb_bandwidth_estimate_start);
mm/backing-dev.c. Rates are in pages/s, ratios in millionths.
"""

from .clock import Clock, power_of_2_from
from .fractions import FULL, Fractions
from .limits import HardLimit, Limits
from .settings import PAGE, Bdi, Options

WHOLE = 1_000_000  # 100 * BDI_RATIO_SCALE


def millionths(percent: float) -> int:
    return round(percent * 10_000)


class Wb:
    def __init__(
        self,
        number: int,
        clock: Clock,
        fractions: Fractions,
        options: Options,
        bdi: Bdi,
        all_min_ratios: int,
    ):
        self.number, self.clock, self.fractions = number, clock, fractions
        self.min_ratio, self.max_ratio = millionths(bdi.min_ratio), millionths(bdi.max_ratio)
        self.all_min_ratios, self.is_strict = all_min_ratios, bdi.strict_limit
        self.most = FULL * self.max_ratio // WHOLE  # max_prop_frac
        self.interval = max(clock.hz // 5, 1)
        self.reclaimable = self.in_flight = 0  # pages that are dirty, under writeback
        self.dirtied = self.written = 0  # pages, ever
        self.files_in_flight = 0
        self.share = fractions.share()
        self.bandwidth = self.average = options.bandwidth_bytes_per_s // PAGE
        self.ratelimit = self.balanced = options.ratelimit_bytes_per_s // PAGE
        self.stamp = self.dirtied_then = self.written_then = 0
        self.is_exceeded = False

    @property
    def dirty(self) -> int:
        return self.reclaimable + self.in_flight

    def part_of(self, limit: int, dirty: int) -> int:
        """This disk's part of a limit when so much is dirty on the host; an idle disk gets a little."""
        numerator, denominator = self.fractions.of(self.share, self.clock.now())
        part = limit * (WHOLE - self.all_min_ratios) // WHOLE * numerator // denominator
        part += limit * self.min_ratio // WHOLE
        if limit > dirty:
            part = max(part, (limit - dirty) // (100 if self.is_strict else 8))
        return min(part, limit * self.max_ratio // WHOLE)

    def limits_of(self, limits: Limits, dirty: int) -> Limits:
        """This disk's part of both limits."""
        part = self.part_of(limits.limit, dirty)
        return Limits(part, part * limits.background // limits.limit if limits.limit else 0)

    # -- the estimate --------------------------------------------------------------------
    def start_estimate(self) -> None:
        """Pages are about to be submitted: forget the time in which there were none."""
        now = self.clock.now()
        if self.files_in_flight == 0 and now > self.stamp + self.clock.hz:
            self._stamp(now)

    def is_due(self) -> bool:
        return self.clock.now() > self.stamp + self.interval

    def update(self) -> None:
        """Measure the bandwidth since the last time."""
        now = self.clock.now()
        self._update_bandwidth(max(now - self.stamp, 1))
        self._stamp(now)

    def update_throttled(self, limits: Limits, hard: HardLimit, dirty: int, position: int) -> None:
        """The same from a throttled writer, who also moves the hard limit and the rate."""
        now = self.clock.now()
        elapsed = max(now - self.stamp, 1)
        hard.update(now, limits.limit, dirty)
        if self.is_strict:
            own = self.limits_of(limits, dirty)
            self._update_ratelimit(elapsed, self.dirty, position, own.freerun)
        else:
            self._update_ratelimit(elapsed, dirty, position, (limits.freerun + hard.at(limits.limit)) // 2)
        self._update_bandwidth(elapsed)
        self._stamp(now)

    def _stamp(self, now: int) -> None:
        self.stamp, self.dirtied_then, self.written_then = now, self.dirtied, self.written

    def _update_bandwidth(self, elapsed: int) -> None:
        period = power_of_2_from(3 * self.clock.hz)
        written = (self.written - self.written_then) * self.clock.hz
        old, average = self.bandwidth, self.average
        if elapsed > period:
            self.bandwidth = written // elapsed
            self.average = max(self.bandwidth, 1)
            return
        new = (written + old * (period - elapsed)) // period
        if average > old >= new:
            average -= (average - old) >> 3
        if average < old <= new:
            average += (old - average) >> 3
        self.bandwidth, self.average = new, max(average, 1)

    def _update_ratelimit(self, elapsed: int, dirty: int, position: int, setpoint: int) -> None:
        dirty_rate = (self.dirtied - self.dirtied_then) * self.clock.hz // elapsed
        task_rate = (self.ratelimit * position >> 10) + 1
        balanced = min(task_rate * self.average // (dirty_rate | 1), self.average)
        step = 0
        if dirty < setpoint:
            step = max(0, min(self.balanced, balanced, task_rate) - self.ratelimit)
        else:
            step = max(0, self.ratelimit - max(self.balanced, balanced, task_rate))
        shift = self.ratelimit // (2 * step + 1)
        step = -(-(step >> shift) // 8) if shift < 64 else 0
        self.ratelimit = max(1, self.ratelimit + (step if self.ratelimit < balanced else -step))
        self.balanced = balanced
