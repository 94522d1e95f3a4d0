"""The figure of percentiles: a panel for each kind that is done often, a line for each run and model."""

import pytest

import pagecast as pc
from pagecast.plot.style import MEASURED_COLOUR, MODEL_COLOURS
from pagecast.tolerance import Tolerance
from pagecast.validation.case import Case, Validated

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex  # noqa: E402

from pagecast.validation.drawing_latency import MOST_PANELS, latency_figure  # noqa: E402


def validated(machine, processes):
    """Give a case whose two runs are forecasts under kernel."""
    scenario = pc.Scenario(machine, processes=processes)
    run, rival = (pc.simulate(scenario, model=model) for model in ("kernel", "no-cache"))
    forecasts = {"kernel": (run, run), "no-cache": (rival,)}
    return Validated(Case("c", "", scenario, Tolerance()), (run, run), forecasts)


def writer(path, times):
    """Write and fsync a file again and again; more is written, the longer it takes."""
    return [
        step
        for k in range(times)
        for step in (pc.write(path, size_bytes=1e5 + 1e3 * k, append=True), pc.fsync(path))
    ]


def test_each_run_and_model_has_a_line(machine):
    figure = latency_figure(
        validated(machine, {"often": writer("/data/a", 120), "once": writer("/data/b", 9)})
    )
    titles = {ax.get_title(): ax for ax in figure.axes}
    assert {*titles} == {"often  write /data/a", "often  fsync /data/a"}
    colours = [to_hex(step.get_edgecolor()) for step in titles["often  write /data/a"].patches]
    models = [MODEL_COLOURS[model].lower() for model in ("kernel", "kernel", "no-cache")]
    assert colours == [MEASURED_COLOUR, MEASURED_COLOUR, *models]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["measured", "kernel", "no-cache"]


def test_what_takes_most_time_is_drawn(machine):
    processes = {f"p{n}": writer(f"/data/{n}", 100) for n in range(5)}
    figure = latency_figure(validated(machine, processes))
    drawn = [ax for ax in figure.axes if ax.axison]
    assert len(drawn) == MOST_PANELS
    assert {ax.get_title() for ax in drawn} >= {f"p{n}  fsync /data/{n}" for n in range(5)}


def test_without_repeated_operations_there_is_none(machine):
    assert latency_figure(validated(machine, {"once": writer("/data/a", 9)})) is None
