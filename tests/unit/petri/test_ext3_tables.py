"""The nets of ext3 on the loads of the dissertation's Tables 5 to 12, as the docs have them."""

import pytest

from pagecast.studies.ext3.nets import rate_kib_per_s
from pagecast.studies.ext3.published import RANDOM, figures

FIGURES = {figure.table: figure for figure in figures() if figure.load == RANDOM}


@pytest.mark.parametrize("table", [5, 6, 11])
def test_a_row_fixes_a_value(table):
    assert rate_kib_per_s(FIGURES[table]) == pytest.approx(FIGURES[table].measured_kib_per_s, rel=0.001)


def test_the_judged_row_is_missed_as_the_docs_say():
    assert rate_kib_per_s(FIGURES[9]) == pytest.approx(147_992, rel=0.001)
    assert rate_kib_per_s(FIGURES[9], journal_pages=1024) == pytest.approx(108_522, rel=0.001)


@pytest.mark.parametrize(("table", "rate"), [(7, 648_547), (8, 149_191), (12, 13_529)])
def test_a_trace_is_a_list_of_calls(table, rate):
    figure = next(one for one in figures() if one.table == table and one.load == "trace 1")
    assert rate_kib_per_s(figure) == pytest.approx(rate, rel=0.001)
