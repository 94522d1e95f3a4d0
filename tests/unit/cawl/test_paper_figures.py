"""The paper's figures redrawn, and the series of which nothing was published."""

import numpy as np
import pytest

from pagecast.studies import cawl
from pagecast.studies.cawl.alone import unpublished
from pagecast.studies.cawl.cost_panels import ALONE
from pagecast.studies.cawl.forecast import run_series, simulate_series
from pagecast.studies.cawl.paper_figures import FIGURES, paper_figures
from pagecast.studies.cawl.series import GIB, all_series
from tests.unit.cawl.conftest import half_a_second


@pytest.fixture(scope="module")
def figures():
    """All figures by number, of real forecasts."""
    outcome = cawl.run(models=["kernel", "cawl", "no-cache"])
    return {figure.number: draw() for figure, draw in paper_figures(outcome)}


def panels(drawn):
    """Give the left axes of the panels by title."""
    return {ax.get_title(): ax for ax in drawn.axes if ax.get_title()}


def lines(ax):
    """Give what is drawn in a panel by its name in the legend."""
    return {line.get_label(): line for line in ax.lines}


def test_every_panel_has_its_series():
    known = {*all_series(), *unpublished()}
    assert {name for figure in FIGURES for name in figure.panels} <= known
    assert {*unpublished()} <= {name for figure in FIGURES for name in figure.panels}


def test_every_figure_of_the_paper_is_drawn(figures):
    assert [*figures] == [figure.number for figure in FIGURES]
    assert {number[0] for number in figures} == {"4", "5", "6", "7", "8", "9"}


def test_measured_stands_beside_the_models_with_units(figures):
    for number in ("4(a)", "4(b)", "5(a)", "5(b)", "6(a)", "7, nvram1", "8(a)", "9"):
        for ax in panels(figures[number]).values():
            assert {"measured", "kernel", "cawl", "no-cache"} <= {*lines(ax)}
            assert ax.get_xlabel().endswith("iB)")
            assert ax.get_ylabel().startswith("time of a write (")


def test_buffered_writes_have_dirty_bytes_on_a_second_axis(figures):
    for number, drawn in figures.items():
        second = [ax for ax in drawn.axes if ax.get_ylabel().startswith("dirty (")]
        is_past_cache = number[0] in "45"
        assert len(second) == (0 if is_past_cache else len(panels(drawn))), number


def test_what_has_no_public_data_says_so(figures):
    for number in ("6(b)", "7, Host 1", "7, Host 2", "8(b)"):
        for ax in panels(figures[number]).values():
            assert ALONE in [text.get_text() for text in ax.texts]
            assert "measured" not in lines(ax)
    assert not any(ax.texts for ax in panels(figures["6(a)"]).values())


def test_the_starts_of_flushing_and_throttling_are_marked(figures):
    drawn = lines(panels(figures["6(a), nvram1"])["nvram1, pause 0 s"])
    at = {name: line.get_xdata()[0] for name, line in drawn.items() if "starts" in name}
    # 18.1 GiB are dirty after the 19th write; then more comes than goes until 27.2 are, 11 writes later.
    assert at["background flushing starts, cawl"] == 19.0
    assert at["throttling starts, cawl"] == 30.0
    assert at["flushing starts, measured"] == 19.0
    assert at["throttling starts, measured"] == 52.0
    assert 18 < at["background flushing starts, kernel"] < 20
    assert 27 < at["throttling starts, kernel"] < 52


def test_a_series_that_is_never_throttled_has_no_mark():
    run = run_series(all_series()["h1_async_p2"], model="kernel", machine=None, overrides=())
    assert np.isnan(run.levels.throttled_from_bytes)


def test_dirty_bytes_are_known_at_the_end_of_each_write():
    run = run_series(all_series()["nv_async_p0"], model="kernel", machine=None, overrides=())
    assert list(run.levels.written_bytes[:2]) == [GIB, 2 * GIB]
    assert run.levels.dirty_bytes[:10] == pytest.approx(run.levels.written_bytes[:10], rel=0.02)
    assert run.levels.dirty_bytes.max() <= 0.2 * 194.44e9


def test_models_without_dirty_memory_have_no_levels():
    run = run_series(all_series()["nv_async_p0"], model="no-cache", machine=None, overrides=())
    assert run.levels is None


@pytest.mark.parametrize(("name", "part"), [("host1_rewrite25_p0", 0.25), ("host1_rewrite75_p0.2", 0.75)])
def test_so_many_writes_go_over_what_is_there(name, part):
    series = unpublished()[name]
    offsets = series.offsets()
    new = len(np.unique(offsets))
    assert new == pytest.approx((1 - part) * series.writes, rel=0.1)
    assert offsets.max() == (new - 1) * GIB, "the file has no holes"
    assert all(offset <= max(offsets[:k]) + GIB for k, offset in enumerate(offsets) if k)


def test_rewriting_reaches_the_file_at_its_offsets():
    series = unpublished()["host2_rewrite75_p0"]
    result = simulate_series(series, model="no-cache", machine="cawl-host2", overrides=())
    assert list(result.operations["offset_bytes"]) == list(series.offsets())


def test_host_2_is_simulated_on_its_own_machine_only():
    outcome = cawl.run(models=["kernel", "endless-cache"], simulate=half_a_second)
    assert {run.machine for run in outcome.alone if run.series.host == "host2"} == {"cawl-host2"}
    assert {run.model for run in outcome.alone} == {"kernel"}
    assert not {row.case for row in outcome.rows} & {*unpublished()}
    on_another = cawl.run(models=["kernel"], machine="cawl-host1", simulate=half_a_second)
    assert on_another.alone == ()
