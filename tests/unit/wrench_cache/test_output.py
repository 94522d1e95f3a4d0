"""What the study shows: tables, figures, the report, JSON."""

import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.figure import Figure
from rich.console import Console

from pagecast.studies import wrench_cache
from pagecast.studies.wrench_cache import panels
from pagecast.studies.wrench_cache.conclusion import conclusion
from pagecast.studies.wrench_cache.experiments import EXPERIMENTS
from pagecast.studies.wrench_cache.figures import draw
from pagecast.studies.wrench_cache.forecast import run_case
from pagecast.studies.wrench_cache.memory import content
from pagecast.studies.wrench_cache.recordings import Profile
from pagecast.studies.wrench_cache.report import build
from pagecast.studies.wrench_cache.results import (
    deviation_table,
    operations_table,
    summary_table,
    times_table,
)


@pytest.fixture(scope="module")
def figures(outcome):
    """All figures, and the global style from before they were drawn."""
    before = dict(rcParams)
    return draw(outcome), before


@pytest.fixture(scope="module")
def html(outcome, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    outcome.write_report(path)
    return path.read_text()


def axes():
    return Figure().subplots()


def printed(outcome, width=80):
    console = Console(file=io.StringIO(), width=width)
    outcome.print_to(console)
    return console.file.getvalue()


def test_the_terminal_shows_forecast_measured_and_error(outcome):
    assert re.search(r"50 GB .*\n.*write 1 +18\.74 +10\.39 +-45 +107\.53 +\+474", printed(outcome))


def test_the_terminal_shows_the_rivals_and_the_published_simulators(outcome):
    text = printed(outcome)
    assert re.search(r"1 +wrench +31\.5", text)
    assert re.search(r"1 +pysim \(published\) +36\.1", text)
    assert re.search(r"4 +no-cache +336\.6", text)


def test_the_terminal_fits_into_80_columns(outcome):
    assert "…" not in printed(outcome)


def test_lines_that_are_not_for_a_terminal_have_no_blanks_at_their_ends(outcome):
    assert not re.search(r" +$", printed(outcome), re.MULTILINE)


def test_the_terminal_ends_with_the_conclusion(outcome):
    assert printed(outcome, width=1000).endswith("\n\n" + "\n".join(conclusion(outcome)) + "\n")


def test_the_conclusion_is_made_from_the_numbers(outcome):
    cluster, beside, others, repeated = conclusion(outcome)
    assert beside.startswith("In Exp 1 dirty memory is within 10 % of the limit at ")
    assert "; in Exp 2 the share of writes over 5 s is at most " in beside
    assert "wrench repeats their published outputs of WRENCH-cache (camera_ready) to 0.00 %" in repeated
    assert "0 of 416 operations" in repeated
    assert cluster.startswith(
        "On wrench-cluster-published the mean absolute error of wrench against the measured "
    )
    assert "is 31.5 % in Exp 1, 394.8 % in Exp 2, 40.2 % in Exp 3 and 47.1 % in Exp 4; that of the" in cluster
    assert others.startswith("On wrench-cluster-published, no-cache has 345.7 % in Exp 1,")
    assert others.endswith("; --machine wrench-cluster asks all of them of the machine as it was measured.")


def test_the_conclusion_about_the_measured_machine(forecaster):
    outcome = wrench_cache.run(
        experiments=["1"], models=["wrench"], machine="wrench-cluster", seeds=1, simulate=forecaster
    )
    cluster, _, others = conclusion(outcome)  # the authors published nothing for this machine
    assert "; without the measurements that the machine was made from, " in cluster
    assert others == "No other model was asked."


def test_each_model_is_named_with_the_machine_that_it_was_asked_on(forecaster):
    def forecast(experiment, case, *, model, **rest):
        return forecaster(experiment, case, model="wrench" if model == "kernel" else model, **rest)

    outcome = wrench_cache.run(
        experiments=["1"], models=["no-cache", "kernel", "wrench"], seeds=1, simulate=forecast
    )
    cluster, _, others, repeated = conclusion(outcome)
    assert cluster.startswith(
        "On wrench-cluster the mean absolute error of kernel against the measured cluster is "
    )
    assert others.startswith(
        "On wrench-cluster-published, no-cache has 345.7 % in Exp 1; wrench has 31.5 % in Exp 1"
    )
    assert "the machine as the authors describe it, no-cache repeats" in repeated
    on = "wrench-cluster-published (no-cache, wrench); wrench-cluster (kernel)"
    assert f"CLUSTER 2021) on {on}, seed 0" in printed(outcome, width=200)
    assert build(outcome).sections[1].figures[0].caption.endswith(f" Simulated: {on}.")


def test_seeds_are_run_where_the_disk_of_the_experiment_is_uneven(forecaster):
    def seeds_of(number):
        found = []

        def counting(experiment, case, *, seed, **rest):
            found.append((case.name, seed))
            return forecaster(experiment, case, seed=seed, **rest)

        outcome = wrench_cache.run(
            experiments=[number], models=["wrench"], machine="wrench-cluster", simulate=counting
        )
        assert outcome.seeds == len({seed for _, seed in found})
        return sorted({seed for _, seed in found})

    assert seeds_of("1") == [0, 1, 2, 3, 4]
    assert seeds_of("3") == [0]  # the disk of the server


def test_tables_explain_their_columns(outcome):
    note = summary_table(outcome).note
    for name in summary_table(outcome).columns[2:]:
        assert f"{name}:" in note or f"{name}," in note
    assert deviation_table(outcome).note.startswith("camera_ready: ")


def test_deviations_have_the_same_number_of_digits(outcome):
    assert {len(cell.partition(".")[2]) for row in deviation_table(outcome).rows for cell in row[2:4]} == {2}


def test_simulation_time_is_the_median_of_five_runs(forecaster):
    seeds = []

    def counting(*case, seed, **rest):
        seeds.append(seed)
        return forecaster(*case, seed=seed, **rest)

    options = {"model": "wrench", "machine": None, "overrides": (), "simulate": counting}
    for number, expected in (("1", [0]), ("2", [0] * 5), ("3", [0] * 5)):
        seeds.clear()
        experiment = EXPERIMENTS[number]
        run = run_case(experiment, experiment.cases[0], seeds=range(1), **options)
        assert seeds == expected
        assert run.range_s("read 1") is None
    seeds.clear()
    run_case(EXPERIMENTS["2"], EXPERIMENTS["2"].cases[0], seeds=range(7), **options)
    assert seeds == list(range(7))


def test_captions_say_only_what_is_drawn(outcome, forecaster):
    def caption(of):
        return next(
            figure
            for section in build(of).sections
            for figure in section.figures
            if figure.name == "Figure 4b"
        ).caption

    assert "Points" not in caption(outcome)
    times = np.arange(0.0, 100.0)
    profiles = {"20 GB": Profile(times, times, times, times, times)}
    assert "Points are the kernel's counters" in caption(replace(outcome, profiles=profiles))


def test_the_terminal_says_what_is_left_out(outcome):
    assert "Left out: samples of the memory during Exp 1" in printed(outcome)


def test_a_calibration_row_has_an_asterisk_and_a_note(forecaster):
    outcome = wrench_cache.run(
        experiments=["1"], models=["wrench"], machine="wrench-cluster", seeds=1, simulate=forecaster
    )
    table = times_table(outcome, "1")
    assert table.rows[0][-1] == "+10*"
    assert table.note.startswith("* The machine file was made from this very measurement")


def test_a_table_gives_the_range_over_the_seeds(forecaster):
    def slower_with_each_seed(*case, seed, **rest):
        result = forecaster(*case, seed=seed, **rest)
        result.operations["end_s"] = [end + seed for end in result.operations["end_s"]]
        return result

    outcome = wrench_cache.run(experiments=["4"], models=["wrench"], seeds=3, simulate=slower_with_each_seed)
    assert times_table(outcome, "4").rows[0][3] == "1.63 (0.63 to 2.63)"
    assert times_table(outcome, "4", ranges=False).rows[0][3] == "1.63"


def test_errors_of_each_operation_are_means_over_the_cases(outcome):
    table = operations_table(outcome)
    errors = dict(zip(table.columns, table.rows[0], strict=True))
    assert (errors["exp"], errors["operation"], errors["wrench"]) == ("1", "read 1", "9.9")


def test_json_can_be_written_and_read(outcome):
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert document["provenance"]["machines"][0]["machine"] == "wrench-cluster-published"
    assert len(document["rows"]) == len(outcome.rows)


def test_all_figures_of_the_paper_are_drawn(figures):
    ours = ["4b aligned", "5 by task", "5 long writes", "7 by task"]
    assert sorted(figures[0]) == sorted(["4a", "4b", "4c", "5", "6", "7", "8", *ours])


def test_only_the_figures_of_the_experiments_run_are_drawn(forecaster):
    outcome = wrench_cache.run(experiments=["3"], models=["wrench"], seeds=1, simulate=forecaster)
    assert list(draw(outcome)) == ["7", "7 by task", "8"]


def test_drawing_leaves_the_global_style_alone(figures):
    assert dict(rcParams) == figures[1]


def test_measured_is_points_with_spread_and_simulated_is_lines(outcome):
    ax = panels.time_by_applications(axes(), outcome.of("3", "wrench"), "3", "read total")
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["wrench"].get_linestyle() == "-"
    assert len(lines["wrench"].get_xdata()) == 32
    (measured,) = ax.containers
    points, _, (spread,) = measured
    assert points.get_linestyle() == "None"
    assert len(spread.get_segments()) == 32


def test_the_measured_profile_is_drawn_as_points_where_it_is_known():
    times = np.arange(0.0, 100.0)
    timeline = {"time_s": times} | {f"{name}_bytes": times * 1e9 for name in ("used", "cached", "dirty")}
    assert len(panels.memory_profile(axes(), timeline, 0.0, None).lines) == 3
    ax = panels.memory_profile(axes(), timeline, 0.0, Profile(times, times, times, times, times))
    assert [line.get_linestyle() for line in ax.lines] == ["-", "None"] * 3


def test_cached_files_are_taken_after_reads_and_writes(outcome):
    after = content(outcome.of("1", "wrench")[0].result.files)
    assert after["read 1"] == [20e9, 0, 0, 0]
    assert after["write 2"] == [20e9, 20e9, 20e9, 0]


def test_the_report_begins_with_conclusion_inputs_and_command(html, outcome):
    for text in ("a test", "CLUSTER 2021", *conclusion(outcome)):
        assert text in html.replace("&#39;", "'").replace("\N{NO-BREAK SPACE}", " ")
    assert "Exp 1, 2, 3, 4: wrench-cluster-published, one host (hash 000000000000)" in html


def test_the_report_holds_every_figure_and_needs_nothing_else(html):
    assert html.count("<svg") == 11
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', html.replace("xlink:", ""))
    assert "@import" not in html


def test_the_figures_of_a_report_do_not_share_ids(html):
    found = re.findall(r'<[^>]*\bid="([^"]+)"', html)
    assert len(found) == len(set(found)) > 20


def test_a_report_follows_light_and_dark(html):
    assert "prefers-color-scheme: dark" in html
    assert "#000000" not in html
