"""Thinned series keep their peaks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagecast.studio.thinning import kept_rows


def test_few_rows_stay():
    assert kept_rows([np.arange(5)], 10).tolist() == [0, 1, 2, 3, 4]


def test_a_peak_of_one_row_stays():
    values = np.zeros(100_000)
    values[54_321] = 1
    assert 54_321 in kept_rows([values, -np.arange(100_000)], 500)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=400), st.integers(30, 60))
def test_extremes_and_ends_stay(values, most):
    columns = [np.array(values), np.array(values)[::-1] ** 2]
    rows = kept_rows(columns, most)
    assert len(rows) <= most
    assert (np.diff(rows) > 0).all()
    assert {0, len(values) - 1} <= {*rows.tolist()}
    for column in columns:
        kept = column[rows]
        assert (kept.min(), kept.max()) == (column.min(), column.max())


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_any_rows(n):
    assert kept_rows([np.zeros(n)], 10).tolist() == [*range(n)]
    assert kept_rows([], 10).tolist() == []
