"""The authors' own predictions, repeated by the model alone."""

import numpy as np
import pytest

from pagecast.studies import cawl
from pagecast.studies.cawl.calibration import calibration, options
from pagecast.studies.cawl.conclusion import conclusion
from pagecast.studies.cawl.forecast import simulate_series
from pagecast.studies.cawl.predictions import DIFFERENCES, deviations, predicted_s
from pagecast.studies.cawl.results import deviations_table
from pagecast.studies.cawl.series import Point, all_series, shipped_points
from pagecast.studies.cawl.states import MACHINES
from tests.unit.cawl.conftest import half_a_second


@pytest.fixture(scope="module")
def found():
    """All series, against the shipped means of the predictions."""
    return {each.series: each for each in deviations(all_series().values(), shipped_points())}


def test_every_series_is_repeated_with_the_options_of_the_program(found):
    assert {*found} == {*all_series()}
    assert max(each.program for each in found.values()) < 0.005


def test_the_paper_is_right_where_it_agrees_with_the_program(found):
    assert max(each.where_agreeing for each in found.values()) < 0.01
    assert all(each.agreeing > 0 for each in found.values())


def test_where_they_do_not_agree_an_option_says_why(found):
    """On host1 with the calibration A the paper's rate of writing back is the program's."""
    assert {
        found[name].differs_in for name in ("h1_async_p0", "h1_libc_p0.5", "nv_async_p0", "nv_random_b")
    } == {
        ("throttling",),
        ("throttling", "bw_sync"),
        (),
    }
    for each in found.values():
        if not each.differs_in:
            assert each.agreeing == each.points
            assert each.paper < 0.01


def test_known_predictions_come_back():
    """First writes, some while writing back, and throttled ones, as published (to a microsecond)."""
    seconds = predicted_s(all_series()["h1_async_p0"], DIFFERENCES)
    assert seconds[[0, 60]] == pytest.approx([0.562677, 0.671398], abs=1e-6)
    seconds = predicted_s(all_series()["nv_async_p0"], DIFFERENCES)
    assert seconds[[0, 20]] == pytest.approx([0.454065, 0.609645], abs=2e-6)
    assert seconds[50:].min() > 2 * 0.609645


def test_a_stream_writes_when_its_buffer_is_full():
    seconds = predicted_s(all_series()["nv_libc_512b"])
    assert list(np.flatnonzero(seconds > 1e-6)) == list(range(7, 128, 8))
    assert np.round(seconds[7] * 1e6) == 3


def test_each_prediction_of_nothing_is_left_out():
    series = all_series()["h1_direct_1k"]
    points = {series.name: [Point(1, 1, 0.1, 0.0), Point(2, 2, 0.1, 2e-4)]}
    (found,) = deviations([series], points)
    assert (found.points, found.agreeing) == (1, 1)
    assert found.program == pytest.approx((2e-4 - float(predicted_s(series)[1]) - 0.5e-6) / 2e-4)


def test_the_calibration_is_that_of_the_group():
    assert calibration(all_series()["nv_async_p0"])["limit_bg"] == 19.444e9
    assert calibration(all_series()["nv_random_a"])["limit_bg"] == 19.5387e9
    known = options(all_series()["h1_libc_p1"])
    assert (known["bw_ramdisk"], known["sc_w"], known["limit_hard"]) == (
        "1854906000 B/s",
        "7e-07 s",
        "158984500000 B",
    )
    assert "bw_sync" not in known, "the paper has no such rate"


def test_the_engine_gives_what_the_model_alone_gives():
    series = all_series()["nv_async_p0.5"]
    result = simulate_series(series, model="cawl", machine=MACHINES["N"], overrides=())
    seconds = result.operations["duration_s"][1::2]
    assert seconds == pytest.approx(predicted_s(series), abs=1e-6)
    assert result.timeline["dirty_bytes"].max() <= 38.888e9


def test_the_program_can_be_asked_for_under_the_engine():
    series = all_series()["nv_async_p0"]
    overrides = ["model.cawl.throttling=harmonic", "model.cawl.bw_sync=414.15 MB/s"]
    result = simulate_series(series, model="cawl", machine=MACHINES["N"], overrides=overrides)
    assert result.operations["duration_s"] == pytest.approx(predicted_s(series, DIFFERENCES), abs=1e-6)


def test_on_another_machine_the_parameters_follow_from_it():
    series = all_series()["nv_random_b"]
    result = simulate_series(series, model="cawl", machine="cawl-host1", overrides=())
    assert result.options == {}
    assert result.operations["duration_s"][0] == pytest.approx(2**30 / 1908.3e6, rel=1e-3)


def test_the_report_has_a_row_for_each_series():
    outcome = cawl.run(models=["kernel", "cawl"], simulate=half_a_second)
    rows = deviations_table(outcome).rows
    assert [row[0] for row in rows] == [each.name for each in outcome.series] or len(rows) == 51
    assert len(outcome.to_json()["predictions"]) == 51
    assert conclusion(outcome)[-1].startswith("The authors' predictions are repeated to 0.5 % where")
