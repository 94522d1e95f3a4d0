"""One random stream, and the draws that all of a scenario is made of."""

import math
import random
from collections.abc import Sequence
from typing import TypeVar

from fuzz.laws.document import Rate, Size, Time

T = TypeVar("T")

MB = 10**6
MS = 10**6
US = 10**3


class Chance(random.Random):
    """A random stream with the draws that we need."""

    def often(self) -> bool:
        """Three times of four."""
        return self.random() < 0.75

    def sometimes(self) -> bool:
        """Once in four times."""
        return self.random() < 0.25

    def seldom(self) -> bool:
        """Once in twelve times."""
        return self.random() < 1 / 12

    def one_of(self, *values: T) -> T:
        """Draw one of them."""
        return self.choice(values)

    def some_of(self, values: Sequence[T], most: int) -> list[T]:
        """Draw a few, none twice."""
        return self.sample(values, self.randint(0, min(most, len(values))))

    def between(self, least: float, most: float) -> int:
        """Draw a whole number, each order of magnitude as often as the next."""
        return round(math.exp(self.uniform(math.log(least), math.log(most))))

    def size(self, least: int, most: int) -> Size:
        """Draw a size: any byte, whole pages, or round."""
        drawn = self.between(least, most)
        step = self.one_of(1, 4096, MB)
        return Size(max(least, drawn // step * step) if drawn > step else drawn)

    def rate(self, least: int, most: int) -> Rate:
        """Draw a rate: any, or round."""
        drawn = self.between(least, most)
        return Rate(drawn if self.sometimes() else max(least, drawn // MB * MB))

    def time(self, least_ns: int, most_ns: int) -> Time:
        """Draw a time."""
        return Time(self.between(least_ns, most_ns))
