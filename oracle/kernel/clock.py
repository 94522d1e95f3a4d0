"""Time in jiffies.

Source: kernel/time/timer.c (calc_index, calc_wheel_index): a timer never fires early. It is put into a level
of the wheel by how far off it is, level n has steps of 8^n jiffies from 63 * 8^(n - 1) on, and it fires at
the end of the step. So a sleep of 2 jiffies takes 2 to 3, and one of 5 s up to 5.12 s at 250 Hz.
"""

from ..engine import NS, Engine, Sleep


class Clock:
    def __init__(self, engine: Engine, hz: int, has_wheel: bool = True):
        self.engine, self.hz, self.has_wheel = engine, hz, has_wheel

    def now(self) -> int:
        return self.engine.now_ns * self.hz // NS

    def of_centisecs(self, centisecs: int) -> int:
        return centisecs * self.hz // 100

    def fires_ns(self, jiffies: int) -> int:
        """When a timer fires that is set to so many jiffies from now."""
        step = 1
        while self.has_wheel and jiffies >= 63 * step:
            step *= 8
        expiry = ((self.now() + jiffies) // step + 1) * step
        return -(-expiry * NS // self.hz)

    def sleep(self, jiffies: int) -> Sleep:
        return Sleep(self.fires_ns(jiffies))


def log2(n: int) -> int:
    """The kernel's ilog2, 0 for 0."""
    return max(0, n.bit_length() - 1)


def power_of_2_from(n: int) -> int:
    """The kernel's roundup_pow_of_two."""
    return 1 << (n - 1).bit_length()
