"""Figures: the right data, one colour for one thing, no global state."""

import numpy as np
import pytest

import pagecast as pc
from pagecast.plot.style import LEVEL_COLOURS, LIMIT_COLOURS, MODEL_COLOURS, PART_COLOURS
from pagecast.spans import throttled_spans

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

DRAW = (
    pc.plot.timeline,
    pc.plot.parts,
    pc.plot.cache_content,
    pc.plot.bdi,
    pc.plot.devices,
    pc.plot.latency,
    pc.plot.rates,
)


@pytest.fixture
def result(scenario):
    """The small scenario under the published model, with residency after each operation."""
    return pc.simulate(scenario, model="wrench", residency="operation")


@pytest.fixture
def ax():
    """Axes of a figure that nobody shows."""
    return Figure().add_subplot()


@pytest.mark.parametrize("draw", DRAW)
def test_given_axes_are_used_and_no_style_is_set(draw, result, ax):
    before = dict(matplotlib.rcParams)
    assert draw(result, ax=ax) is ax
    assert dict(matplotlib.rcParams) == before
    assert "wrench" in ax.get_title()


@pytest.mark.parametrize("draw", DRAW)
def test_new_axes_are_made(draw, result):
    import matplotlib.pyplot as plt

    assert draw(result).get_title()
    plt.close("all")


@pytest.mark.parametrize("draw", DRAW)
def test_a_result_without_files_can_be_drawn(draw, machine, ax):
    draw(pc.simulate(pc.Scenario(machine, processes={"app": [pc.exit()]}), model="no-cache"), ax=ax)


def test_timeline_draws_each_level_in_its_unit(result, ax):
    pc.plot.timeline(result, ax=ax)
    lines = {line.get_label(): line for line in ax.lines}
    assert {name: to_hex(line.get_color()) for name, line in lines.items()} == {
        name: colour.lower() for name, colour in LEVEL_COLOURS.items()
    }
    cached = result.timeline["cached_bytes"] / 1e9
    np.testing.assert_allclose(lines["cached"].get_ydata()[: len(cached)], cached)
    assert lines["cached"].get_ydata()[-1] == cached[-1]
    assert lines["cached"].get_xdata()[-1] == result.end_s
    assert ax.get_ylabel() == "memory (GB)"


def test_levels_are_steps_where_they_change_at_rows_alone(result, throttled):
    def shapes(of):
        ax = Figure().add_subplot()
        return {line.get_drawstyle() for line in pc.plot.timeline(of, ax=ax).lines}

    assert (shapes(result), shapes(throttled)) == ({"steps-post"}, {"default"})


def test_timeline_draws_limits_as_thin_labelled_lines(throttled, ax):
    pc.plot.timeline(throttled, ax=ax)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["cached", "dirty", "background threshold", "set point", "dirty limit", "throttled"]
    lines = {line.get_label(): line for line in ax.lines}
    limit = throttled.timeline["dirty_limit_bytes"] / 1e9
    np.testing.assert_allclose(lines["dirty limit"].get_ydata()[: len(limit)], limit)
    thickest = max(lines[name].get_linewidth() for name in legend[2:5])
    assert thickest < min(lines[name].get_linewidth() for name in legend[:2])


def test_a_hard_limit_that_is_another_is_drawn(machine, ax):
    app = [pc.write("/data/a", size_bytes=2e9), pc.alloc(2e9), pc.write("/data/b", size_bytes=1e9)]
    pc.plot.timeline(pc.simulate(pc.Scenario(machine, processes={"app": app}), model="kernel"), ax=ax)
    assert "hard limit" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_limits_far_above_all_levels_are_not_drawn(machine, ax):
    scenario = pc.Scenario(machine, processes={"app": [pc.write("/data/out", size_bytes=1e8)]})
    pc.plot.timeline(pc.simulate(scenario, model="kernel"), ax=ax)
    assert [line.get_label() for line in ax.lines] == ["cached", "dirty"]


def test_levels_that_tell_nothing_have_no_line(machine, ax):
    """A picture of a backup had a line for anonymous memory at 0, and one for used memory over `cached`."""

    def drawn(*app):
        result = pc.simulate(pc.Scenario(machine, processes={"app": [*app]}), model="kernel")
        ax.clear()
        lines = {line.get_label() for line in pc.plot.timeline(result, ax=ax).lines}
        return [level for level in LEVEL_COLOURS if level in lines]

    write, alloc = pc.write("/data/out", size_bytes=1e8), pc.alloc(1e9)
    assert drawn(write) == ["cached", "dirty"]
    assert drawn(alloc, pc.sleep(1)) == ["used", "anonymous"]
    assert drawn(write, alloc, pc.sleep(1)) == ["used", "anonymous", "cached", "dirty"]
    assert drawn(pc.compute(1.0)) == [*LEVEL_COLOURS], "memory stays empty"


def test_timeline_shades_the_time_in_which_somebody_is_throttled(throttled, ax):
    pc.plot.timeline(throttled, ax=ax)
    shaded = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in ax.patches]
    spans = throttled_spans(throttled, "machine")
    second_s = next(begin_s for begin_s, _ in spans if begin_s > 10.0)
    np.testing.assert_allclose(shaded, [spans[0], (second_s, spans[-1][1])])


def test_parts_stack_up_to_the_durations(result, ax):
    pc.plot.parts(result, ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        *("app  read in", "app  compute", "app  write out", "app  fsync out")
    ]
    ends = np.zeros(4)
    for bar in ax.patches:
        row = round(bar.get_y() + bar.get_height() / 2)
        ends[row] = max(ends[row], bar.get_x() + bar.get_width())
    np.testing.assert_allclose(ends, result.operations["duration_s"])


def test_parts_of_many_operations_are_added_up(machine, ax):
    scenario = pc.Scenario(machine, processes={"app": [pc.compute(1.0), pc.sleep(0.5)] * 30})
    pc.plot.parts(pc.simulate(scenario, model="no-cache"), ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["compute ×30", "sleep ×30"]
    assert ", summed over 60 operations," in ax.get_title()


def test_parts_of_many_processes_say_so(machine, ax):
    processes = {f"app{k}": [pc.compute(1.0)] for k in range(50)}
    pc.plot.parts(pc.simulate(pc.Scenario(machine, processes=processes), model="no-cache"), ax=ax)
    assert ", summed over 50 processes," in ax.get_title()


def test_cache_content_has_a_bar_after_each_file_operation(result, ax):
    pc.plot.cache_content(result, ax=ax)
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        "app read in",
        "app write out",
        "app fsync out",
        "end",
    ]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["/data/in", "/data/out"]
    tops = [bar.get_y() + bar.get_height() for bar in ax.patches]
    assert max(tops) == pytest.approx(3.0)


def test_cache_content_of_many_files_is_drawn_as_few(machine, ax):
    files = {f"/data/app{k}/in": pc.File(size_bytes=1e8, cached_bytes=1e8) for k in range(20)}
    scenario = pc.Scenario(machine, processes={"app": [pc.compute(1.0)]}, files=files)
    pc.plot.cache_content(pc.simulate(scenario, model="wrench"), ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["/data/app{n}/in"]
    assert max(bar.get_width() for bar in ax.patches) == pytest.approx(2.0)


def test_cache_content_at_the_end_has_a_bar_for_each_file(scenario, ax):
    pc.plot.cache_content(pc.simulate(scenario, model="wrench"), ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["/data/in", "/data/out"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2.0, 0.0, 1.0, 0.0])
    assert ax.get_title().startswith("Files in memory at the end")
    below, above = ax.get_ylim()
    assert (below + above) / 2 == pytest.approx(0.5), "two bars are in the middle"


def test_a_model_without_a_cache_says_so(scenario, ax):
    pc.plot.cache_content(pc.simulate(scenario, model="no-cache"), ax=ax)
    assert [text.get_text() for text in ax.texts] == ["no-cache keeps no file in memory"]


@pytest.mark.parametrize(
    ("model", "said", "drawn"),
    [
        ("wrench", [], ["used", "anonymous", "cached", "dirty"]),
        ("endless-cache", ["endless-cache has no dirty memory"], ["used", "anonymous", "cached"]),
        ("no-cache", ["no-cache has no cached and no dirty memory"], ["used", "anonymous"]),
    ],
)
def test_timeline_says_what_a_model_does_not_know(scenario, ax, model, said, drawn):
    result = pc.simulate(scenario, model=model)
    pc.plot.timeline(result, ax=ax)
    assert [text.get_text() for text in ax.texts] == said
    assert [line.get_label() for line in ax.lines] == drawn
    assert ax.get_xlim() == (0, result.end_s)


def test_used_is_drawn_over_cached_and_thinner(result, ax):
    pc.plot.timeline(result, ax=ax)
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["used"].get_zorder() > lines["cached"].get_zorder()
    assert lines["used"].get_linewidth() < lines["cached"].get_linewidth()


@pytest.mark.parametrize("colours", [{**LEVEL_COLOURS, **LIMIT_COLOURS}, MODEL_COLOURS, PART_COLOURS])
def test_no_two_things_have_one_colour(colours):
    assert len({*colours.values()}) == len(colours)


def test_each_part_has_a_colour(result):
    assert [f"{part}_s" for part in PART_COLOURS] == [name for name in result.parts if name.endswith("_s")]


def test_each_model_has_a_colour():
    assert {*pc.MODELS} <= {*MODEL_COLOURS}


@pytest.mark.parametrize("draw", [pc.plot.timeline, pc.plot.cache_content])
def test_a_host_that_is_not_there_is_named(draw, result, ax):
    with pytest.raises(ValueError, match=r"there is no host 'nowhere'; there are machine"):
        draw(result, ax=ax, host="nowhere")


def test_limits_beside_memory_cgroups_are_those_of_the_host(tmp_path, ax):
    (tmp_path / "cgroup.toml").write_text("""\
cores = 2
memory = { size = "16 GB", read = "4 GB/s", write = "2 GB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data".disk = "ssd"
cgroup.batch.memory.max = "4 GB"
""")
    app = pc.Process([pc.write("/data/out", size_bytes=8e9)], cgroup="batch")
    scenario = pc.Scenario(pc.load_machine(tmp_path / "cgroup.toml"), processes={"app": app})
    pc.plot.timeline(pc.simulate(scenario), ax=ax)
    assert "dirty limit of the host" in [line.get_label() for line in ax.lines]
