"""Draws have the distribution that a spread says, and depend on nothing but the seed and their name."""

import numpy as np
import pytest

from pagecast.uncertainty.draws import factors, fractions, scalings


def test_a_factor_has_the_spread_as_its_percentiles():
    drawn = factors(0.2, 10_000, "a")
    low, middle, high = np.quantile(drawn, (0.05, 0.5, 0.95))
    assert [low, middle, high] == pytest.approx([1 / 1.2, 1, 1.2], rel=1e-3)


def test_a_few_draws_have_them_too():
    assert np.quantile(factors(0.2, 50, "a"), (0.05, 0.95)) == pytest.approx([1 / 1.2, 1.2], rel=0.02)


def test_each_part_of_the_range_is_drawn_once():
    assert sorted(int(40 * part) for part in fractions(40, "a")) == list(range(40))


def test_a_stream_depends_on_its_name():
    assert fractions(20, "a") == fractions(20, "a") != fractions(20, "b")


def test_another_key_does_not_change_the_draws_of_the_first():
    one = [("h", "memory.write", 0.1)]
    alone, beside = (scalings(keys, ["h"], 5, 7) for keys in (one, [*one, ("h", "memory.read", 0.2)]))
    assert [draw[0] for draw in beside] == [draw[0] for draw in alone]


def test_hosts_are_named_by_their_numbers():
    drawn = scalings([("b", "memory.write", 0.1)], ["a", "b"], 2, 0)
    assert [[key[:2] for key in draw] for draw in drawn] == [[(1, "memory.write")]] * 2


def test_a_machine_without_ranges_is_drawn_as_it_is():
    assert scalings([], ["a"], 3, 0) == [[], [], []]
