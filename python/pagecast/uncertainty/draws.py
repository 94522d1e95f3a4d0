"""Draws factors for the values of a machine: log-normal, stratified, each from a random stream of its own.

N draws take one value from each N-th of the distribution (a Latin hypercube: McKay, Beckman and Conover
1979), so that 50 draws give steady 5th and 95th percentiles. A stream depends on the seed and its name alone:
another uncertain key does not change the draws of the others.
"""

import math
import random
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

__all__ = ["factors", "fractions", "scalings"]

_P95: Final = NormalDist().inv_cdf(0.95)


def fractions(draws: int, stream: str) -> list[float]:
    """Draw fractions between 0 and 1, one in each N-th, in random order.

    Parameters
    ----------
    draws : int
    stream : str
        Names the random stream.

    Returns
    -------
    list of float
        One for each draw; never 0 or 1.
    """
    rng = random.Random(stream)  # noqa: S311
    parts = list(range(draws))
    rng.shuffle(parts)
    return [(part + min(max(rng.random(), 1e-9), 1 - 1e-9)) / draws for part in parts]


def factors(spread: float, draws: int, stream: str) -> list[float]:
    """Draw factors of a value, log-normal with median 1.

    Parameters
    ----------
    spread : float
        In 90 of 100 cases the factor lies between 1 / (1 + spread) and 1 + spread.
    draws : int
    stream : str

    Returns
    -------
    list of float
    """
    sigma = math.log1p(spread) / _P95
    return [math.exp(sigma * NormalDist().inv_cdf(part)) for part in fractions(draws, stream)]


def scalings(
    uncertainty: Sequence[tuple[str, str, float]], hosts: Sequence[str], draws: int, seed: int
) -> list[list[tuple[int, str, float]]]:
    """Draw the machines: what the value of each uncertain key is multiplied by.

    Parameters
    ----------
    uncertainty : sequence of tuple of str, str and float
        Host, key and spread.
    hosts : sequence of str
        The names of all hosts, in their order.
    draws : int
    seed : int

    Returns
    -------
    list of list of tuple of int, str and float
        For each draw the number of the host, the key and the factor. Values are independent of each other,
        also those of two hosts of one kind.
    """
    columns = [
        [(hosts.index(host), key, factor) for factor in factors(spread, draws, f"{seed} {host} {key}")]
        for host, key, spread in uncertainty
    ]
    return [[column[draw] for column in columns] for draw in range(draws)]
