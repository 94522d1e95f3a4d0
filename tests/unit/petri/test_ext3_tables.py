"""The nets of ext3 on the random load of the dissertation's Tables 5, 6, 9 and 11, as the docs have it."""

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
