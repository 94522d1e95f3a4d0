"""The error of the model: what is learned, what stands for kinds with few cases, what a file holds."""

import math

import numpy as np
import pytest

from pagecast.comparison.rows import Row
from pagecast.errors import ArgumentError, StudyError
from pagecast.studies.learning import learn, learn_into
from pagecast.uncertainty.model_error import Learned, ModelError, read_learned, shipped, write_learned


def learned(platform="p", kind="read", errors=(0.0,)):
    return Learned.of(platform, kind, [(f"case {number}", error) for number, error in enumerate(errors)])


def row(measured_s, forecast_s, *, case="c", kind="read", **others):
    fixed = {"process": None, "operation": "total", "model": "kernel", "machine": "m", "role": "judged"}
    of = {"experiment": "p", "case": case, "repetition": 1, **fixed, "kind": kind, **others}
    return Row(**of, measured_s=measured_s, forecast_s=forecast_s)


def test_a_forecast_that_was_too_long_makes_times_shorter():
    error = ModelError((learned(errors=[math.log(1.25)] * 40),))
    assert error.factors("read", 20, 0) == pytest.approx([0.8] * 20)


def test_many_cases_of_a_kind_outweigh_others():
    error = ModelError((learned(errors=[0.0] * 200), learned(kind="nfs", errors=[1.0] * 200)))
    assert np.quantile(error.quantiles("read", [0.05, 0.95]), (0, 1)).tolist() == pytest.approx([0, 0])


def test_of_few_cases_the_range_is_as_wide_as_that_of_all():
    error = ModelError((learned(errors=[0.0]), learned(kind="nfs", errors=[-1.0, 1.0] * 50)))
    low, high = error.quantiles("read", [0.05, 0.95])
    assert low < -0.8
    assert high > 0.8


def test_nothing_learned_is_no_error():
    assert ModelError(()).factors("read", 3, 0) == [1, 1, 1]


def test_a_platform_is_left_out_with_all_its_kinds():
    error = ModelError((learned("a"), learned("a", "nfs"), learned("b")))
    assert error.without({"a"}).platforms == ("b",)


def test_judged_totals_under_kernel_are_learned():
    rows = [
        row(1.0, 2.0), row(1.0, 4.0, case="d"), row(1.0, 9.0, role="calibration"),
        row(1.0, 9.0, model="no-cache"), row(1.0, 9.0, operation="read"), row(1.0, 9.0, kind=None),
    ]  # fmt: skip
    [found] = learn(rows)
    assert (found.platform, found.kind, found.cases, found.totals) == ("p", "read", 2, 2)
    assert [found.quantiles[0], found.quantiles[-1]] == pytest.approx([math.log(2), math.log(4)])


def test_a_platform_replaces_itself_in_a_file(tmp_path):
    path = tmp_path / "errors.csv"
    path.write_text(write_learned([learned("p", errors=[0.5]), learned("q", errors=[0.25])]))
    path.write_text(learn_into(path, [row(1.0, 2.0)]))
    found = {each.platform: each.quantiles[0] for each in read_learned(path).learned}
    assert found == pytest.approx({"p": math.log(2), "q": 0.25}, abs=1e-4)


def test_rows_without_a_kind_teach_nothing(tmp_path):
    with pytest.raises(StudyError, match="nothing to learn"):
        learn_into(tmp_path / "errors.csv", [row(1.0, 2.0, kind=None)])


@pytest.mark.parametrize("text", ["", "platform,kind\n", "# only a comment\n"])
def test_a_file_of_something_else_is_refused(tmp_path, text):
    path = tmp_path / "errors.csv"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=r"errors\.csv: holds no errors of the model"):
        read_learned(path)


def test_the_shipped_errors_are_of_several_platforms():
    assert len(shipped().platforms) >= 9
    assert shipped().cases >= 31
    assert all(abs(error) < 1 for each in shipped().learned for error in each.quantiles)
