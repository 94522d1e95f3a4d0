"""The report of a validation: figures hold what they should, plateaus, one file that needs nothing else."""

import mmap
import re
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest

import pagecast as pc
from pagecast.comparison.plateaus import plateau_sentences, plateau_table
from pagecast.plot.style import MEASURED_COLOUR, MODEL_COLOURS
from pagecast.result import Columns
from pagecast.throttling import forecast
from pagecast.validation import Case, Tolerance, Validated
from pagecast.validation.plateaus import settled
from pagecast.validation.validating import Settings, Validation

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from pagecast.report.html import render  # noqa: E402
from pagecast.validation.drawing import (  # noqa: E402
    MOST_OPERATIONS,
    memory_figure,
    operations,
    over_time,
    writer_rates,
)
from pagecast.validation.report import build  # noqa: E402

MODELS = ("kernel", "no-cache", "endless-cache")
SLOWER = 1.02
"""The kernel of these tests has a base rate that is so much lower than is forecast."""


class Run:
    """A forecast that passes for a real run; its kernel has a lower base rate, and traces each check."""

    is_measured = True
    model = "measured"
    made_by = "measured"
    processor_pressure = 0.25
    learnt = None
    prepared_s = 0.0

    def __init__(self, forecast, *, traced=True):
        self._forecast = forecast
        self._traced = traced

    def __getattr__(self, name):
        return getattr(self._forecast, name)

    def table(self, name):
        return getattr(self, name)

    @property
    def provenance(self):
        return {"kernel": "Linux 6.18", "machine": "x86_64", "file_system": "ext4"}

    @cached_property
    def operations(self):
        columns = {name: self._forecast.operations[name] for name in self._forecast.operations}
        seen = {"call_bytes": columns["bytes"], "run_queue_s": 0.25 * columns["duration_s"]}
        return Columns(columns | seen)

    @cached_property
    def samples(self):
        return Columns({"mem_total_bytes": np.array([10_000_000_000])})

    @cached_property
    def file_samples(self):
        levels = self._forecast.timeline
        time_s, rows = np.unique(levels["time_s"], return_index=True)
        cached, dirty = levels["cached_bytes"][rows], levels["dirty_bytes"][rows]
        sizes = {"cached_bytes": cached, "dirty_bytes": dirty, "writeback_bytes": np.zeros_like(dirty)}
        return Columns({"time_s": time_s, "path": ["/data/f"] * len(rows), **sizes})

    @cached_property
    def trace(self):
        met = forecast(self._forecast) if self._traced else None
        rows = [] if met is None else np.flatnonzero(np.isfinite(met.task_rate_bytes_per_s))
        return Columns(
            {
                "time_s": np.array([met.time_s[row] for row in rows]),
                "event": ["balance_dirty_pages"] * len(rows),
                "text": [self._check(met, row, before) for before, row in pairwise([0, *rows])],
            }
        )

    @staticmethod
    def _check(met, row, before):
        pages = {
            name: round(getattr(met, f"{name}_bytes")[row] / mmap.PAGESIZE)
            for name in ("limit", "setpoint", "dirty")
        }
        rates = {
            "dirty_ratelimit": round(met.base_rate_bytes_per_s[row] / SLOWER / 1024),
            "task_ratelimit": round(met.task_rate_bytes_per_s[row] / 1024),
        }
        dirtied = round((met.dirtied_bytes[row] - met.dirtied_bytes[before]) / mmap.PAGESIZE)
        numbers = pages | rates | {"dirtied": dirtied, "pause": 10}
        return "bdi 254:0: " + " ".join(f"{name}={number}" for name, number in numbers.items())


def validated_of(scenario, *, traced=True, name="plain"):
    forecasts = {model: (pc.simulate(scenario, model=model),) * 2 for model in MODELS}
    runs = tuple(Run(forecasts["kernel"][0], traced=traced) for _ in range(2))
    return Validated(Case(name, "It writes.", scenario, Tolerance()), runs, forecasts)


@pytest.fixture
def writing(machine):
    """A scenario that writes several times what may be dirty."""
    app = [pc.write("/data/f", size_bytes=4e9), pc.fsync("/data/f")]
    return pc.Scenario(machine, processes={"app": app})


class Plan:
    """What a run would need: nothing."""

    def __init__(self, scenario):
        self._scenario = scenario
        self.paths = {"/data/f": None}
        self.prepared_bytes = self.written_bytes = self.space_bytes = self.memory_bytes = 0

    def run(self, dir, **_):
        return Run(pc.simulate(self._scenario, model="kernel"))


@pytest.fixture
def outcome(writing, scenario):
    """Two cases, two runs each."""
    cases = [
        Case(name, f"What {name} does.", of, Tolerance()) for name, of in (("a", writing), ("b", scenario))
    ]
    validation = Validation(cases, name="both", settings=Settings(runs=2, trace=True), make_plan=Plan)
    validation.forecast()
    validation.run("/nowhere")
    return validation.outcome(command="pagecast validate both.toml --dir /nowhere")


@pytest.fixture
def ax():
    return Figure().add_subplot()


def labels(ax):
    return [line.get_label() for line in ax.lines if not line.get_label().startswith("_")]


def test_a_plateau_has_the_error_that_was_put_in(writing):
    pairs = settled([validated_of(writing)])
    assert [(pair.case, pair.repetition, pair.model) for pair in pairs] == [
        ("plain", 1, "kernel"),
        ("plain", 2, "kernel"),
    ]
    assert pairs[0].error("dirty_bytes") == pytest.approx(0, abs=0.001)
    assert pairs[0].error("throughput_bytes_per_s") == pytest.approx(0, abs=0.005)
    assert pairs[0].error("base_rate_bytes_per_s") == pytest.approx(SLOWER - 1, abs=0.001)
    told = pairs[0].as_dict()
    assert told["error"]["base_rate_bytes_per_s"] == pytest.approx(SLOWER - 1, abs=0.001)
    assert set(told["measured"]) == set(told["forecast"]) == set(told["error"])


def test_plateaus_are_told_and_listed(writing):
    pairs = settled([validated_of(writing)])
    (sentence,) = plateau_sentences(pairs)
    assert sentence.startswith(
        "While writers were throttled, kernel was off in the median of 2 traced runs by "
    )
    assert (
        "that as a part of the set point, by 2.0 % (worst +2.0 %) in the base rate, and by 0.0 % (worst"
        in sentence
    )
    table = plateau_table(pairs)
    assert table.rows[0][:3] == ("plain, run 1", "kernel", "dirty")
    rate = next(row for row in table.rows if row[2] == "base rate")
    assert rate[-1] == "+2.0"
    assert re.fullmatch(r"\d+\.\d MB/s", rate[3])


def test_writers_that_stood_still_have_no_error(writing):
    pair = settled([validated_of(writing)])[0]
    stopped = replace(pair, measured=replace(pair.measured, task_rate_bytes_per_s=0.0))
    assert stopped.as_dict()["error"]["task_rate_bytes_per_s"] is None
    assert [row[-1] for row in plateau_table([stopped]).rows if row[2] == "rate of a writer"] == ["?"]


def test_without_a_trace_there_is_no_plateau(writing):
    pairs = settled([validated_of(writing, traced=False)])
    assert (pairs, plateau_table(pairs), plateau_sentences(pairs)) == ((), None, ())


def test_dirty_memory_is_points_lines_and_thin_lines(writing, ax):
    over_time(ax, validated_of(writing), "dirty")
    points = [line for line in ax.lines if line.get_linestyle() == "None"]
    assert [to_hex(line.get_color()) for line in points] == [MEASURED_COLOUR.lower()] * 2, "one for each run"
    thick = {line.get_label(): line for line in ax.lines if line.get_label() in MODELS}
    assert set(thick) == {"kernel"}, "the rivals have no dirty memory"
    assert to_hex(thick["kernel"].get_color()) == MODEL_COLOURS["kernel"].lower()
    assert {"background threshold", "set point", "dirty limit", "the same, kernel"} <= set(labels(ax))
    assert "GB" in ax.get_ylabel()


def test_cached_memory_has_no_limits(writing, ax):
    over_time(ax, validated_of(writing), "cached")
    assert set(labels(ax)) == {"measured", "kernel", "endless-cache"}


def test_memory_that_stays_clean_has_no_scale_of_parts_of_a_byte(machine, ax):
    past = [pc.open("/data/f", create=True, flags=["O_DIRECT"]), pc.write("/data/f", size_bytes=2**20)]
    over_time(ax, validated_of(pc.Scenario(machine, processes={"app": past}), traced=False), "dirty")
    assert ax.get_ylim() == (0, 1)
    assert [*ax.get_yticks()] == [0]


def test_a_run_too_short_to_be_looked_at_says_so(writing, ax):
    validated = validated_of(writing)
    for run in validated.measured:
        run.end_s = -1.0  # all samples are later
    over_time(ax, validated, "cached")
    assert ax.get_title() == "Page cache (not measured)"
    assert set(labels(ax)) == {"kernel", "endless-cache"}


def test_rates_are_those_of_writers_and_the_base(writing, ax):
    writer_rates(ax, validated_of(writing))
    assert labels(ax) == ["measured", "its base rate", "kernel", "its base rate"]
    assert "MB/s" in ax.get_ylabel()


def test_rates_are_drawn_where_they_were_traced(writing, scenario):
    assert len(memory_figure(validated_of(writing)).axes) == 3
    assert len(memory_figure(validated_of(writing, traced=False)).axes) == 2


def test_operations_have_a_point_for_each_run_and_model(outcome, ax):
    rows = [row for row in outcome.rows if row.case == "b"]
    operations(ax, rows)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["total", "app  read 1", "app  write 1", "app  fsync 1"]
    of_model = {line.get_label(): len(line.get_xdata()) for line in ax.lines if line.get_label() in MODELS}
    assert of_model == dict.fromkeys(MODELS, 2 * len(names))


def test_of_many_operations_the_longest_are_drawn(machine, ax):
    sizes = [1e8 * (1 + k % 30) for k in range(40)]
    app = [pc.read(f"/data/f{k}") for k in range(40)]
    files = {f"/data/f{k}": size for k, size in enumerate(sizes)}
    many = pc.Scenario(machine, processes={"app": app}, files=files)
    validation = Validation(
        [Case("many", "", many, Tolerance())], name="m", settings=Settings(runs=1), make_plan=Plan
    )
    validation.forecast()
    validation.run("/nowhere")
    operations(ax, validation.outcome().rows)
    assert len(ax.get_yticklabels()) == MOST_OPERATIONS
    assert "app  read 30" in [label.get_text() for label in ax.get_yticklabels()]


def test_the_report_begins_with_the_verdict_and_has_each_case(outcome):
    report = build(outcome)
    assert report.conclusion[0].startswith("kernel forecasts all 2 cases within the tolerance")
    assert any("in the median; the worst is" in sentence for sentence in report.conclusion)
    assert any("by 2.0 % (worst +2.0 %) in the base rate" in sentence for sentence in report.conclusion)
    assert [section.heading for section in report.sections][:3] == ["All cases", "a", "b"]
    facts = dict(report.facts)
    assert facts["Command"] == "pagecast validate both.toml --dir /nowhere"
    assert facts["Runs of each case"] == "2"
    assert facts["Kernel"] == "Linux 6.18"
    assert facts["Waiting for a processor"] == "25.0 % of the time, in the worst run"
    case = report.sections[1]
    assert [figure.name for figure in case.figures] == ["Memory over time", "Operations"]
    assert case.text == ["What a does.", "Within the tolerance: total time +0.0 % of at most 10.0 %."]


def test_the_report_is_one_file_that_loads_nothing(outcome):
    html = render(build(outcome))
    assert html.count("<svg") == 4
    assert not re.search(r'(?:src|href)="(?!#)', html)
    assert "url(http" not in html
    assert "<script" not in html
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids)), "figures do not share ids"


def test_plateaus_are_in_the_json(outcome):
    told = outcome.to_json()["plateaus"]
    assert [(each["case"], each["repetition"]) for each in told] == [("a", 1), ("a", 2)]
