"""The study's errors: published outputs must give the averages that the authors quote."""

import pytest

from pagecast.comparison.rows import summarise
from pagecast.errors import StudyError
from pagecast.studies import load, wrench_cache
from pagecast.studies.wrench_cache.forecast import durations
from pagecast.studies.wrench_cache.published import deviations, published_rows, vintage_of

QUOTED = [
    ("1", "camera_ready", "WRENCH-cache", 31.54),
    ("1", "camera_ready", "pysim", 36.11),
    ("1", "camera_ready", "WRENCH", 345.66),
    ("1", "v1", "WRENCH-cache", 38.60),
    ("1", "v1", "pysim", 46.25),
    ("4", "camera_ready", "WRENCH-cache", 47.12),
    ("4", "v1", "WRENCH-cache", 47.12),
    ("4", "camera_ready", "WRENCH", 336.58),
]


@pytest.mark.parametrize(("experiment", "vintage", "simulator", "percent"), QUOTED)
def test_published_outputs_give_the_quoted_averages(experiment, vintage, simulator, percent):
    by_model = {s.model: s for s in summarise(published_rows([experiment], vintage))}
    assert 100 * by_model[simulator].mean_abs_error == pytest.approx(percent, abs=0.005)


@pytest.mark.parametrize(
    ("experiment", "simulator", "percent"),
    [("2", "WRENCH-cache", 395), ("2", "WRENCH", 4036), ("3", "WRENCH-cache", 40), ("3", "WRENCH", 144)],
)
def test_errors_of_concurrent_applications_are_those_recomputed_from_the_recordings(
    experiment, simulator, percent
):
    by_model = {s.model: s for s in summarise(published_rows([experiment], "camera_ready"))}
    assert 100 * by_model[simulator].mean_abs_error == pytest.approx(percent, abs=0.5)


def test_a_simulator_that_gives_the_published_outputs_has_their_errors(outcome):
    ours = {(s.experiment, s.model): s.mean_abs_error for s in summarise(outcome.rows)}
    assert 100 * ours["1", "wrench"] == pytest.approx(31.54, abs=0.005)
    assert 100 * ours["4", "no-cache"] == pytest.approx(336.58, abs=0.005)


def test_a_simulator_that_gives_the_published_outputs_does_not_deviate(outcome):
    found = deviations(outcome.runs, "camera_ready")
    assert [(d.experiment, d.model, d.n) for d in found] == [
        ("1", "wrench", 24), ("1", "no-cache", 24), ("2", "wrench", 192), ("2", "no-cache", 192),
        ("3", "wrench", 192), ("3", "no-cache", 192), ("4", "wrench", 8), ("4", "no-cache", 8),
    ]  # fmt: skip
    assert max(d.worst for d in found) < 1e-12


def test_there_is_a_row_for_each_measured_point_and_model(outcome):
    points = {number: [r for r in outcome.rows if r.experiment == number] for number in "1234"}
    assert {number: len(rows) for number, rows in points.items()} == {"1": 48, "2": 180, "3": 384, "4": 16}


def test_rows_of_one_application_name_repetition_and_process(outcome):
    row = next(r for r in outcome.rows if (r.case, r.operation) == ("50 GB", "write 2"))
    assert (row.repetition, row.process, row.measured_s) == (1, "task2", 18.449)
    row = next(r for r in outcome.rows if (r.case, r.operation) == ("nighres", "read 4"))
    assert (row.repetition, row.process, row.measured_s) == (1, "step4", 0.122372)


def test_rows_of_many_applications_are_means(outcome):
    row = next(r for r in outcome.rows if (r.case, r.operation) == ("16 applications", "read 1"))
    assert (row.experiment, row.repetition, row.process) == ("2", None, None)
    assert row.measured_s == pytest.approx(83.21, abs=0.01)


def test_measurements_that_made_the_machine_file_are_marked(forecaster):
    outcome = wrench_cache.run(
        experiments=["1"], models=["wrench"], machine="wrench-cluster", seeds=1, simulate=forecaster
    )
    marked = [(row.case, row.operation) for row in outcome.rows if row.role == "calibration"]
    assert marked == [("20 GB", "read 1"), ("20 GB", "write 1")]


def test_several_seeds_give_mean_and_range(forecaster):
    def slower_with_each_seed(*case, seed, **rest):
        result = forecaster(*case, seed=seed, **rest)
        result.operations["end_s"] = [end + seed for end in result.operations["end_s"]]
        return result

    outcome = wrench_cache.run(experiments=["1"], models=["wrench"], seeds=3, simulate=slower_with_each_seed)
    row = outcome.rows[0]
    assert row.forecast_range_s == pytest.approx((row.forecast_s - 1, row.forecast_s + 1))


def test_a_step_lasts_from_its_first_start_to_its_last_end_and_applications_are_averaged():
    table = {
        "process": ["app1.task1", "app1.task1", "app2.task1", "app2.task1"],
        "operation": ["read", "read", "compute", "read"],
        "start_s": [0.0, 5.0, 0.0, 1.0],
        "end_s": [2.0, 6.0, 1.0, 3.0],
    }
    assert durations(table) == {"read 1": (6.0 + 2.0) / 2}


def test_the_vintage_of_published_outputs_follows_the_model(forecaster):
    assert vintage_of([]) == "camera_ready"
    assert vintage_of(["parameter.apps=3", 'model.wrench.vintage="v1"']) == "v1"
    assert vintage_of(["model.wrench.vintage=v1"]) == "v1"


def test_an_unknown_experiment_is_refused_with_those_there_are():
    with pytest.raises(StudyError, match="no experiment '5'; it has 1, 2, 3, 4"):
        wrench_cache.run(experiments=["5"])


def test_an_unknown_study_is_refused_with_those_there_are():
    with pytest.raises(StudyError, match="no study 'wrench'; there is wrench-cache"):
        load("wrench")


def test_a_study_is_found_by_its_name():
    assert load("wrench-cache").experiments == ("1", "2", "3", "4")
