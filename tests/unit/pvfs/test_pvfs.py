"""The study of the dissertation's PVFS: its cluster, what is judged, and what is shown."""

import io
import json
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from pagecast.errors import StudyError
from pagecast.studies import pvfs
from pagecast.studies.pvfs import nets, scenarios
from pagecast.studies.pvfs.plan import (
    BLOCKS_KIB,
    CLIENTS,
    FILES_KIB,
    MEMORY_KIB,
    PLAN,
    TOGETHER_KIB,
    Point,
    as_curves,
)
from pagecast.studies.pvfs.scenarios import CONSTANT, SEARCH
from pagecast.studies.pvfs.shapes import (
    judge_buffer,
    judge_clients,
    judge_files,
    judge_long,
    judge_memory,
    judge_starts,
    over_draws,
)

MACHINE = "dell-pe1850-raid5"
PAGE = Path(__file__).parents[3] / "docs" / "validation" / "pvfs.md"
WAYS = ("read", "write")


def curve(keys, clients, rate):
    return {key: {way: [rate(key)] * clients for way in WAYS} for key in keys}


def rates(clients, file_kib, block_kib, *overrides, search=SEARCH):
    """Forecast one point of the study."""
    case = scenarios.case(clients, file_kib, block_kib)
    result = scenarios.run(
        case, clients=clients, model="kernel", machine=MACHINE, overrides=overrides, search=search
    )
    return scenarios.rates(result, clients, file_kib)


def claims(shapes):
    """Give the first words of each claim that does not hold."""
    return [" ".join(shape.claim.split()[:6]) for shape in shapes if not shape.holds]


def simulated(case, *, clients, model, machine, overrides, search):
    """Every read and write takes a millisecond; an open takes longer, and does not count."""
    rows = [(f"{way[0]}{at}", what) for at in range(clients) for way in WAYS for what in ("open", way)]
    operations = {
        "process": [process for process, _ in rows],
        "operation": [what for _, what in rows],
        "duration_s": [1.0 if what == "open" else 0.001 for _, what in rows],
    }
    return SimpleNamespace(operations=operations, machine_hash="0" * 64)


# What is judged


def test_curves_with_the_shapes_hold_and_flat_ones_do_not():
    shaped = {n: curve(BLOCKS_KIB, n, lambda block, n=n: min(block, 256) * 100 / n) for n in CLIENTS}
    assert all(shape.holds for shape in judge_clients(shaped))
    flat = {n: curve(BLOCKS_KIB, n, lambda _: 95_000.0) for n in CLIENTS}
    assert [shape.holds for shape in judge_clients(flat)] == [True, *[False] * 8]


def test_files_of_another_length_and_rates_beyond_an_axis_are_seen():
    short = {n: curve((256, 2048), n, lambda _: 70_000.0) for n in CLIENTS}
    assert all(shape.holds for shape in judge_long(short, short))
    long = {n: curve((256, 2048), n, lambda block: 91_000.0 if block == 256 else 70_000.0) for n in CLIENTS}
    assert not any(shape.holds for shape in judge_long(short, long))


def test_clients_whose_curves_part_are_seen():
    apart = {n: {8: {"read": [1.0, 1.1], "write": [1.0, 1.0]}} for n in (4, 5)}
    assert not next(iter(judge_clients(apart))).holds


def test_a_client_beyond_the_servers_who_gets_more_is_seen():
    shaped = {n: curve(BLOCKS_KIB, n, lambda block, n=n: min(block, 256) * 100 / n) for n in CLIENTS}
    shaped[7][64]["write"] = [1.01 * rate for rate in shaped[6][64]["write"][:1]] * 7
    missed = [shape for shape in judge_clients(shaped) if not shape.holds]
    assert [shape.found for shape in missed] == ["101 % of one client fewer at most, 7 clients at 64 KiB"]
    assert missed[0].claim.startswith("writes get less for each with every client beyond the servers")


def test_clients_that_do_not_begin_together_are_judged_by_the_mean_of_their_draws():
    draws = {
        Point(n, 64, 64, draw=draw): {way: [100.0 / n + 9 * draw] * n for way in WAYS}
        for n, draw in product((4, 5, 6), (1, 2))
    }
    found = over_draws(draws)
    assert found[4]["read"] == [34.0, 43.0]
    assert [shape.holds for shape in judge_starts(found)] == [True, True]
    found[6]["write"] = [60.0, 20.0]
    assert [shape.holds for shape in judge_starts(found)] == [True, False]


def test_linear_buffers_cost_small_blocks_more():
    lines = {
        (1, CONSTANT): curve((8, 2048), 1, lambda _: 100.0),
        (1, SEARCH): curve((8, 2048), 1, lambda block: 90.0 if block == 8 else 99.5),
    }
    assert [shape.holds for shape in judge_buffer(lines)] == [True, True]
    lines[1, SEARCH] = curve((8, 2048), 1, lambda block: 90.0 if block == 8 else 98.9)
    assert [shape.holds for shape in judge_buffer(lines)] == [False, False]
    lines[1, SEARCH] = lines[1, CONSTANT]
    assert [shape.holds for shape in judge_buffer(lines)] == [False, False], "nothing is no cost"


def test_writes_have_their_level_from_2_mib_on_and_reads_always():
    files = {
        file: {8: {"read": [70_000.0], "write": [50_000.0 if file >= 2048 else 40_000.0]}}
        for file in FILES_KIB
    }
    assert all(shape.holds for shape in judge_files(files))
    flat = {file: curve((8,), 1, lambda _: 1.0) for file in FILES_KIB}
    assert [shape.holds for shape in judge_files(flat)] == [True, False, True]
    files[FILES_KIB[-1]][8] = {"read": [76_000.0], "write": [61_000.0]}
    assert [shape.holds for shape in judge_files(files)] == [False, True, False]


def test_a_drop_at_the_memory_of_the_servers_is_less_than_three_quarters():
    curves = {8: curve(TOGETHER_KIB, 8, lambda together: 10.0 if together < MEMORY_KIB else 7.4)}
    assert [shape.holds for shape in judge_memory(curves)] == [True, True]
    curves = {8: curve(TOGETHER_KIB, 8, lambda together: 10.0 if together < MEMORY_KIB else 7.6)}
    assert [shape.holds for shape in judge_memory(curves)] == [False, False]


# What the forecasts give


def test_each_client_writes_and_then_reads_its_own_file():
    case = scenarios.case(2, 1024, 64)
    result = scenarios.run(case, clients=2, model="kernel", machine=MACHINE, overrides=())
    found = scenarios.rates(result, 2, 1024)
    assert {way: len(each) for way, each in found.items()} == {"write": 2, "read": 2}
    assert found["read"][0] == pytest.approx(found["read"][1], rel=0.05)
    rows = list(zip(result.operations["operation"], result.operations["bytes"], strict=True))
    assert [sum(size for what, size in rows if what == way) for way in ("write", "read")] == [2 << 20] * 2


def test_clients_begin_together_or_at_drawn_times():
    assert "sleep" not in scenarios.case(2, 64, 64)
    drawn = scenarios.case(2, 64, 64, draw=1)
    assert drawn.count("sleep") == 4
    assert drawn == scenarios.case(2, 64, 64, draw=1) != scenarios.case(2, 64, 64, draw=2)


def test_the_servers_are_those_of_the_dissertation():
    text = scenarios.cluster(MACHINE, 1, SEARCH)
    assert text.count('protocol = "request"') == 1
    assert text.count('nfsd.search = "10 us"') == scenarios.SERVERS


def test_clients_keep_the_statements_of_chapter_7():
    curves = {n: {block: rates(n, 4096, block) for block in (8, 2048)} for n in (1, 4, 8)}
    assert claims(judge_clients(curves)) == []


def test_curves_stay_on_the_axes_of_figures_66_and_67():
    short, long = ({n: {256: rates(n, file, 256)} for n in (6, 7)} for file in (16384, 131072))
    on_axes = [shape for shape in judge_long(short, long) if "end of the axis" in shape.claim]
    assert [(shape.figures, shape.holds) for shape in on_axes] == [("66", True), ("67", True)]


def test_small_blocks_pay_the_linear_buffer():
    searches = (CONSTANT, SEARCH, "100 us")
    lines = {
        (n, search): {block: rates(n, 4096, block, search=search) for block in (8, 2048)}
        for n, search in product((1, 8), searches)
    }
    assert claims(judge_buffer(lines)) == []


def test_short_files_are_written_more_slowly_and_read_as_fast():
    files = {file: {64: rates(1, file, 64)} for file in (64, 512, 1024, 2048, 16384)}
    assert claims(judge_files(files)) == []


def test_reads_drop_where_files_exceed_the_memory_of_the_servers():
    """Servers of 64 MiB take no time. Writes do not drop: an array is faster than the server's link."""
    small = [f"host.io{at}.memory.size=64 MiB" for at in range(scenarios.SERVERS)]
    small += [f"host.io{at}.vm.dirty_bytes=8 MiB" for at in range(scenarios.SERVERS)]
    small += [f"host.io{at}.vm.dirty_background_bytes=4 MiB" for at in range(scenarios.SERVERS)]
    half, twice = (rates(8, together * 1024 // 8, 1024, *small) for together in (128, 512))
    curves = {8: {MEMORY_KIB // 2: half, 2 * MEMORY_KIB: twice}}
    assert claims(judge_memory(curves)) == ["writes drop at the memory of"]


# What is shown


def test_the_outcome_is_printed_reported_and_json(tmp_path):
    outcome = pvfs.run(command="a test", models=["kernel"], simulate=simulated)
    console = Console(file=io.StringIO(), width=160)
    outcome.print_to(console)
    text = console.file.getvalue()
    assert "Reads of one client in KiB/s, by file and block in KiB" in text
    assert f"of {len(outcome.shapes)} claims on the shape of the figures hold" in text
    outcome.write_report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().count("<svg") == len(PLAN) - 1, "all but `starts`"
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert len(document["points"]) == sum(point.clients for points in PLAN.values() for point in points)
    assert document["points"][0] == {
        "experiment": "clients",
        "clients": 1,
        "file_kib": 65536,
        "block_kib": 8,
        "search": "10 us",
        "draw": 0,
        "client": 0,
        "read_kib_per_s": pytest.approx(65536e3),
        "write_kib_per_s": pytest.approx(65536e3),
    }
    assert document["rows"] == []


def test_an_experiment_alone_has_its_own_claims():
    outcome = pvfs.run(experiments=["memory"], models=["kernel"], simulate=simulated)
    assert [shape.figures for shape in outcome.shapes] == ["17", "18"]
    assert list(outcome.forecasts) == ["memory"]


def test_a_file_is_at_least_a_block():
    assert all(point.block_kib <= point.file_kib for points in PLAN.values() for point in points)


def test_forecasts_are_sorted_into_curves():
    found = {"read": [1.0], "write": [2.0]}
    points = [Point(1, 64, 8), Point(1, 64, 16), Point(1, 128, 8)]
    curves = as_curves(
        dict.fromkeys(points, found), line=lambda point: point.file_kib, at=lambda point: point.block_kib
    )
    assert curves == {64: {8: found, 16: found}, 128: {8: found}}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"experiments": ["nothing"]}, "has no experiment 'nothing'; it has clients, buffer, starts, "),
        ({"data": "x"}, "leave --data x out"),
        ({"seeds": 2}, "nothing that is random"),
    ],
)
def test_what_the_study_does_not_have_is_refused(asked, message):
    with pytest.raises(StudyError, match=message):
        pvfs.run(**asked)


@pytest.mark.slow
def test_the_page_has_what_the_study_finds():
    page, outcome = PAGE.read_text(), pvfs.run()
    missing = []
    for shape in outcome.shapes:
        row = f"| {shape.figures or 'ours'} | {shape.found} | {'yes' if shape.holds else '**no**'} |"
        missing += [] if row in page else [(shape.claim, row)]
    for shape in outcome.net_shapes:
        end = f"| {shape.found} | {'yes' if shape.holds else '**no**'} |\n"
        missing += [] if end in page else [(shape.claim, end)]
    assert not missing


# The nets


def test_the_nets_are_asked_beside_the_kernel_for_every_experiment_but_starts(monkeypatch):
    asked = []

    def forecast(experiment, point, *, machine, overrides):
        asked.append((experiment, point))
        rates = {way: [1.0] * point.clients for way in WAYS}
        return rates, SimpleNamespace(machine_hash="0" * 64)

    monkeypatch.setattr(nets, "forecast", forecast)
    outcome = pvfs.run(simulate=simulated)
    assert outcome.models == ("kernel", "petri")
    assert {experiment for experiment, _ in asked} == {*PLAN} - {"starts"}
    assert len(outcome.net_shapes) == len(outcome.shapes) - 2
    assert {shape.claim for shape in outcome.net_shapes} < {shape.claim for shape in outcome.shapes}
    console = Console(file=io.StringIO(), width=200)
    outcome.print_to(console)
    text = console.file.getvalue()
    assert f"of {len(outcome.net_shapes)} claims on the shape of the figures hold under petri" in text
    assert "by file and block in KiB, petri" in text
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert len(document["petri_points"]) == sum(point.clients for _, point in asked)
    alone = pvfs.run(models=["petri"], experiments=["memory"])
    assert (alone.models, alone.shapes, len(alone.net_shapes)) == (("petri",), (), 2)


def test_the_nets_keep_the_statements_on_files_and_clients():
    def curves(clients, file_kib, blocks):
        points = [Point(clients, file_kib, block) for block in blocks]
        return {p.block_kib: nets.forecast("clients", p, machine=MACHINE, overrides=())[0] for p in points}

    by_clients = {n: curves(n, 2048, (8, 256)) for n in (1, 2, 8)}
    missed = claims(judge_clients(by_clients))
    assert missed == ["the curves of equal clients coincide,"], "files of 2 MiB are too short for that"
    files = {file: curves(1, file, (64,)) for file in (64, 2048, 8192)}
    assert claims(judge_files(files)) == ["files of less than 2 MiB"]


def test_files_beyond_the_memory_of_the_servers_are_not_cached():
    half, twice = (
        nets.forecast("memory", Point(1, file, 256), machine=MACHINE, overrides=())[0]
        for file in (nets.SIZES.memory_kib // 2, 2 * nets.SIZES.memory_kib)
    )
    assert twice["read"][0] < 0.99 * half["read"][0]
