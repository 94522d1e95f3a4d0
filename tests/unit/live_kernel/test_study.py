"""The study on made-up recordings, simulated for real: rows, levels, tables, report."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import pagecast as pc
from pagecast.comparison import machines
from pagecast.comparison.machines import described
from pagecast.errors import StudyError
from pagecast.studies import load
from pagecast.studies.live_kernel import run
from pagecast.studies.live_kernel.conclusion import conclusion
from pagecast.studies.live_kernel.figures import draw
from pagecast.studies.live_kernel.forecast import initial_state, simulate_case
from pagecast.studies.live_kernel.results import calibration_table, dirty_table, summary_table, times_table
from tests.unit.live_kernel.recorder import A_WRITE, FSYNC_S, LIMIT_KIB, MIB, USABLE_KIB, record, write_table

MODELS = ["wrench", "no-cache", "endless-cache"]


@pytest.fixture
def outcome(data, machine):
    return run(data=data, machine=machine, models=MODELS, command="a test")


def row(outcome, *, case, operation, model="no-cache", repetition=1, process=None):
    key = (case, operation, model, repetition, process)
    found = [r for r in outcome.rows if (r.case, r.operation, r.model, r.repetition, r.process) == key]
    assert len(found) == 1
    return found[0]


def printed(outcome, width=100):
    console = Console(file=io.StringIO(), width=width)
    outcome.print_to(console)
    return console.file.getvalue()


def test_there_is_a_row_of_each_case_and_of_each_phase_over_half_a_second(outcome):
    of = [(r.case, r.operation, r.process) for r in outcome.rows if r.model == "wrench" and r.repetition == 1]
    assert of == [
        ("a_write", "total", None), ("a_write", "second", None),
        ("b_both", "total", None),
        ("b_both", "both", "one"), ("b_both", "both", "two"), ("b_both", "both", None),
        ("m_memory", "total", None),
    ]  # fmt: skip


def test_a_phase_is_compared_with_its_operations_without_sleeping(outcome):
    found = row(outcome, case="a_write", operation="total")
    assert found.measured_s == pytest.approx(FSYNC_S + 0.0781, abs=1e-3)
    assert found.forecast_s == pytest.approx(1.0, abs=1e-3)  # 100 MiB at 100 MiB/s; no fsync without a cache


def test_a_phase_of_a_concurrent_process_is_compared_with_its_own(outcome):
    found = row(outcome, case="b_both", operation="both", process="two")
    assert found.forecast_s == pytest.approx(8 * 2 / 100, abs=1e-3)  # shares the disk with the other process
    assert row(outcome, case="b_both", operation="both").forecast_s == pytest.approx(0.28, abs=1e-3)


def test_the_calibration_case_is_not_judged(outcome):
    assert {r.case: r.role for r in outcome.rows} == {
        "a_write": "judged", "b_both": "judged", "m_memory": "calibration",
    }  # fmt: skip


def test_dirty_memory_is_compared_after_the_first_mark(outcome):
    level = next(each for each in outcome.dirty if (each.case, each.repetition) == ("a_write", 1))
    # Nothing is dirty in the recording; the model has up to 100 MiB, the whole limit, until the fsync ends.
    assert level.model == "wrench"
    assert level.deviations.max() > 0.5
    assert 0 < level.share_within < 1
    assert not any(each.model == "no-cache" for each in outcome.dirty)


def test_the_forecast_starts_where_the_recording_does(outcome):
    for one in outcome.runs:
        assert one.level_time_s[0] <= one.recording.first_mark_s


def test_cached_files_are_compared_at_each_look(outcome):
    found = {each.model: each for each in outcome.cached if each.repetition == 1}
    assert {*found} == {"wrench", "endless-cache"}
    assert (found["wrench"].label, found["wrench"].file) == ("after_write", "f")
    assert found["wrench"].measured_bytes == found["wrench"].forecast_bytes == 100 * MIB
    assert found["wrench"].memory_bytes == 2**30


def test_json_has_rows_and_levels(outcome):
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert {*document} == {
        "schema_version",
        "provenance",
        "rows",
        "summary",
        "dirty_levels",
        "cached_files",
        "plateaus",
    }
    assert {row["experiment"] for row in document["rows"]} == {"tiny"}
    assert document["dirty_levels"][0]["case"] == "a_write"


def test_the_kernel_model_gets_costs_and_initial_state(data, machine):
    asked, sizes = [], []

    def forecast(program, *, machine, model, options):
        asked.append(options)
        sizes.append(described(machine)["memory"])
        return SimpleNamespace(**{
            name: getattr(simulate_case(program, machine=machine, model="wrench", options={}), name)
            for name in ("operations", "parts", "timeline", "files", "machine_hash")
        }, model=model)  # fmt: skip

    outcome = run(
        data=data, machine=machine, models=["kernel"], simulate=forecast,
        overrides=["model.kernel.vintage=none", "model.wrench.chunk=1 MB"],
    )  # fmt: skip
    assert asked[0] == {
        "write_bandwidth": "51200 KiB/s",
        "dirty_ratelimit": "30720 KiB/s",
        "dirty_limit": "42708 KiB",
        "writeout_fraction": "d 100 %",
        "vintage": "none",
    }
    assert sizes[0]["size"] == "1024 MB"
    assert sizes[0]["cost"]["page_remove"] == "250 ns"
    assert asked[2] == {"write_bandwidth": "51200 KiB/s", "vintage": "none"}
    assert outcome.rows[0].model == "kernel"


def test_nothing_learnt_is_nothing_said(machine):
    empty = SimpleNamespace(
        write_bandwidth_bytes_per_s=None,
        dirty_ratelimit_bytes_per_s=None,
        dirty_limit_bytes=None,
        writeout_fraction=None,
        completions_bytes=None,
    )
    assert initial_state(empty, machines.load(machine)) == {}


def test_a_disk_that_was_written_to_has_its_part_of_the_dirty_limit(machine):
    """Without it, the kernel would write what is below the background threshold at the first wake-up."""
    known = SimpleNamespace(
        write_bandwidth_bytes_per_s=None,
        dirty_ratelimit_bytes_per_s=None,
        dirty_limit_bytes=None,
        writeout_fraction=0.63,
        completions_bytes=None,
    )
    assert initial_state(known, machines.load(machine)) == {"writeout_fraction": "d 63 %"}
    known.writeout_fraction = 1.0
    assert initial_state(known, machines.load(machine)) == {"writeout_fraction": "d 100 %"}


def test_how_little_was_written_lately_is_told(machine):
    known = SimpleNamespace(
        write_bandwidth_bytes_per_s=None, dirty_ratelimit_bytes_per_s=None, dirty_limit_bytes=None,
        writeout_fraction=1.0, completions_bytes=4 * 2**20,
    )  # fmt: skip
    assert initial_state(known, machines.load(machine)) == {
        "writeout_fraction": "d 100 %",
        "completions": "4096 KiB",
    }


def test_a_case_that_cannot_be_said_is_named_and_left_out(tmp_path, machine):
    record(tmp_path / "d" / "tiny", {"a_write": A_WRITE, "odd": A_WRITE.replace("f wct", "f w")})
    outcome = run(data=tmp_path / "d", machine=machine)
    assert {r.case for r in outcome.rows} == {"a_write"}
    left_out = "tiny, odd: line 5 opens MNT/f, which nothing before it makes"
    assert [line for line in outcome.left_out if "odd" in line] == [left_out]
    assert outcome.provenance["left_out"] == list(outcome.left_out)
    assert "Left out: tiny, odd: line 5 opens" in printed(outcome, width=200)


def test_a_case_that_cannot_go_on_is_named_and_left_out(data, machine):
    outcome = run(data=data, machine=machine, overrides=["machine.disk.d.size=50 MiB"])
    assert any(line.startswith("tiny, a_write under no-cache: ") for line in outcome.left_out)
    assert "a_write" not in {r.case for r in outcome.rows}


def test_a_process_that_the_steps_do_not_have_is_named(tmp_path, machine):
    folder = record(tmp_path / "tiny", {"a_write": A_WRITE})
    row = {"case": "a_write", "rep": 1, "proc": "p0", "t_start_s": 0, "op": "mark", "file": "first"}
    row |= {"bytes": 0, "duration_s": 0, "calls": 1}
    stranger = row | {"proc": "x", "t_start_s": 1, "op": "fsync", "file": "f", "duration_s": 2}
    write_table(folder / "io.csv.gz", [row, stranger])
    outcome = run(data=folder, machine=machine, models=["no-cache"])
    assert "tiny, a_write: phase first of process x, which is in the recording, but not in the steps" in (
        outcome.left_out
    )


def test_one_machine_for_several_platforms_is_said(tmp_path, machine):
    for name in ("one", "two"):
        record(tmp_path / "d" / name, {"a_write": A_WRITE})
    outcome = run(data=tmp_path / "d", machine=machine)
    assert outcome.platforms == ("one", "two")
    assert any(f"{machine} stands for all 2 platforms" in line for line in outcome.left_out)
    assert run(data=tmp_path / "d", machine=machine, experiments=["two"]).platforms == ("two",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": None}, "live-kernel needs recordings; name their folder with --data DIR"),
        ({"machine": None}, "platform tiny has no shipped machine; describe it in a file"),
        ({"experiments": ["big"]}, "the recordings have no platform 'big'; they have tiny"),
        ({"seeds": 3}, "live-kernel has nothing that is random; leave --seeds 3 out"),
    ],
)
def test_what_is_missing_or_unknown_is_an_error(data, machine, options, message):
    with pytest.raises(StudyError, match=message):
        run(**({"data": data, "machine": machine} | options))


def test_a_machine_needs_the_mount_of_a_disk(data, tmp_path):
    (tmp_path / "bare.toml").write_text(
        'cores = 1\nmemory = { size = "1 GiB", read = "1 GB/s", write = "1 GB/s" }\n'
    )
    with pytest.raises(StudyError, match="the machine has no mount of a disk"):
        run(data=data, machine=str(tmp_path / "bare.toml"))


def test_the_shipped_machines_are_found_by_platform(tmp_path):
    record(tmp_path / "d" / "guest612-zram-2g", {"a_write": A_WRITE})
    outcome = run(data=tmp_path / "d", models=["no-cache"])
    assert outcome.machines == ("live-guest612",)


def test_the_terminal_shows_times_levels_and_a_conclusion(outcome):
    text = printed(outcome)
    assert "tiny: seconds in system calls, and error in %" in text
    assert "m_memory*" in text
    assert "Dirty memory: samples within 10 % of the limit" in text
    assert "Cached files: looks within 5 % of the memory" in text
    assert " ".join(text.split()).endswith(conclusion(outcome)[-1])


def test_the_terminal_fits_into_80_columns(outcome):
    assert "…" not in printed(outcome, width=80)


def test_tables_have_all_models(outcome):
    assert {"wrench", "no-\ncache", "endless-\ncache"} <= {*times_table(outcome, "tiny").columns}
    assert [line[1] for line in summary_table(outcome).rows if line] == MODELS
    assert {line[2] for line in dirty_table(outcome).rows} == {"wrench"}
    assert calibration_table(outcome).columns == ("key", "tiny")
    assert calibration_table(outcome).rows[:3] == [
        ("memory.size", "1000000 KiB"),
        ("memory.reserve", f"{USABLE_KIB - LIMIT_KIB * 4096 / 819:.0f} KiB"),
        ("memory.cost.call", "2000 ns"),
    ]


def test_the_conclusion_counts_close_cases(outcome):
    first, dirty, cached, *_ = conclusion(outcome)
    assert first.startswith(
        "wrench forecasts the total time of 0 of 2 judged cases within 10 %; the worst is "
    )
    assert dirty.startswith("The dirty memory of wrench is within 10 % of the limit at ")
    assert cached == "The cached bytes of a file are within 5 % of the memory at 2 of 2 looks."


def test_the_report_draws_dirty_memory(outcome, tmp_path):
    outcome.write_report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "<svg" in text
    assert "a test" in text


def test_limits_and_rates_are_drawn_beside_the_traced_ones(data, machine):
    outcome = run(data=data, machine=machine, models=["kernel"])
    levels, rate = (ax for ax in draw(outcome, "tiny").axes if ax.get_title().startswith("a_write"))
    labels = [line.get_label() for line in levels.lines]
    assert labels[:5] == ["measured", "dirty limit", "set point", "kernel", "limit and set point, kernel"]
    (run_of,) = (
        one for one in outcome.runs if (one.recording.case, one.recording.repetition) == ("a_write", 1)
    )
    limit = next(line for line in levels.lines if line.get_label().startswith("limit and"))
    np.testing.assert_allclose(limit.get_ydata(), run_of.limits.dirty_limit_bytes / MIB)
    assert rate.get_title() == "a_write: rate of a throttled writer"
    assert [line.get_label() for line in rate.lines] == ["measured", "kernel"]


def test_the_study_is_found_by_its_name(data, machine):
    assert load("live-kernel").run(data=data, machine=machine, models=["no-cache"]).rows


def test_progress_is_told(data, machine):
    told = []
    run(data=data, machine=machine, models=["no-cache"], progress=lambda *what: told.append(what))
    assert told[0] == (0.0, "tiny, a_write, no-cache")
    assert told[-1][0] == 1.0
    assert np.all(np.diff([fraction for fraction, _ in told]) > 0)


def test_the_real_models_are_there():
    assert {*MODELS} <= {*pc.MODELS}
