"""The spread of a value: what a later round finds, from the rounds that there were."""

import math
import tomllib

import numpy as np
import pytest

import pagecast as pc
from pagecast.calibration.fits import estimate
from pagecast.calibration.spreads import MOST, spread_of_rounds
from pagecast.calibration.values.value import Value, show_time


def test_ninety_of_a_hundred_later_rounds_lie_within():
    rng = np.random.default_rng(1)
    for n in (3, 5, 8, 15):
        within = []
        for _ in range(2000):
            *rounds, later = np.exp(rng.normal(0.0, 0.05, n + 1)).tolist()
            factor = later / np.median(rounds)
            within.append(abs(math.log(factor)) <= math.log1p(spread_of_rounds(rounds)))
        assert np.mean(within) == pytest.approx(0.9, abs=0.02), n


def test_one_disturbed_round_of_many_does_not_count():
    quiet = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.0]
    assert spread_of_rounds([*quiet, 9.0]) < 0.06


@pytest.mark.parametrize("rounds", [[], [1.0], [0.0, 0.0], [-1.0, -2.0, 0.5]])
def test_nothing_is_known_of_one_round_or_of_nothing(rounds):
    assert spread_of_rounds(rounds) is None


def test_no_value_is_known_worse_than_within_a_factor_of_two():
    assert spread_of_rounds([1.0, 100.0]) == MOST == 1.0


def value(rounds, key="memory.cost.call", unit="s"):
    return Value(key, '"1 us"', "", estimate(rounds), unit, show_time)


def test_a_time_is_known_no_better_than_the_clock():
    assert value([40e-9] * 6).range == pytest.approx(1 / 40)
    assert value([1.0] * 6).range == 5e-4


def test_what_drifts_may_drift_on():
    drifting = value([1.0, 1.02, 1.04, 1.06, 1.08, 1.1])
    assert drifting.range >= drifting.estimate.drift > 0.09


def test_a_figure_without_a_key_has_no_range():
    assert value([1.0] * 6, key="").range is None


@pytest.mark.parametrize("name", pc.list_machines())
def test_a_shipped_range_has_its_source_beside_it(name):
    from pagecast.api import machine_path

    text = machine_path(name).read_text()
    ranges = tomllib.loads(text).get("uncertainty", {})
    for key in ranges:
        [line] = [line for line in text.splitlines() if line.startswith(f'"{key}" = ')]
        assert line.partition(" # ")[2].strip(), key
