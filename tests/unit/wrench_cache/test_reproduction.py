"""The shipped scenarios, simulated for real: the published outputs are repeated within what we promise."""

import pytest

from pagecast.comparison.rows import summarise
from pagecast.studies import wrench_cache
from pagecast.studies.wrench_cache.published import deviations

PROMISED_MEAN = {"1": 0.05, "2": 0.10, "3": 0.10, "4": 0.10}
PROMISED_SHARE_FAR = 0.05


@pytest.fixture(scope="module")
def outcome():
    return wrench_cache.run(models=["wrench", "no-cache"])


@pytest.fixture(scope="module")
def errors(outcome):
    return {(s.experiment, s.model): 100 * s.mean_abs_error for s in summarise(outcome.rows)}


@pytest.mark.parametrize("experiment", ["1", "2", "3", "4"])
@pytest.mark.parametrize("model", ["wrench", "no-cache"])
def test_published_outputs_are_repeated(outcome, experiment, model):
    (found,) = (
        d for d in deviations(outcome.runs, "camera_ready") if (d.experiment, d.model) == (experiment, model)
    )
    assert found.mean <= PROMISED_MEAN[experiment]
    assert found.far <= PROMISED_SHARE_FAR * found.n


def test_errors_against_the_cluster_are_those_of_the_published_simulators(errors):
    assert errors["1", "wrench"] == pytest.approx(31.5, abs=2)
    assert errors["1", "no-cache"] == pytest.approx(345.7, abs=0.5)
    assert errors["4", "wrench"] == pytest.approx(47.1, abs=2)
    assert errors["4", "no-cache"] == pytest.approx(336.6, abs=0.5)


def test_the_older_vintage_has_its_own_error():
    outcome = wrench_cache.run(experiments=["1"], models=["wrench"], overrides=["model.wrench.vintage=v1"])
    (summary,) = summarise(outcome.rows)
    assert 100 * summary.mean_abs_error == pytest.approx(38.6, abs=2)
    (found,) = deviations(outcome.runs, "v1")
    assert found.mean <= PROMISED_MEAN["1"]


def test_the_measured_machine_is_closer_to_the_cluster_than_the_published_one(errors):
    outcome = wrench_cache.run(experiments=["1"], models=["wrench"], machine="wrench-cluster", seeds=1)
    (summary,) = summarise(outcome.rows)
    assert 100 * summary.mean_abs_error < errors["1", "wrench"]


def test_what_is_cached_of_each_file_is_what_the_authors_published(outcome):
    from pagecast.studies.wrench_cache.memory import content
    from pagecast.studies.wrench_cache.tables import cached_files

    for run in outcome.of("1", "wrench"):
        for operation, amounts in content(run.result.files).items():
            published = cached_files()["wrench_cache_camera_ready"][run.case, operation]
            assert amounts == pytest.approx(published, abs=1e9), (run.case, operation)
