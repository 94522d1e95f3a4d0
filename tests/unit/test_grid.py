"""Grids of file and record sizes: cells, tests, results of iozone and fio, errors and figures."""

import json

import pytest

import pagecast as pc
from pagecast.errors import ArgumentError, ScenarioError
from pagecast.grid import TESTS, Cell, Grid, GridPlan, measure, read_rates, simulate
from pagecast.grid.kinds import STRIDE_RECORDS, file_of
from pagecast.grid.plan import doubling
from pagecast.grid.result import Row
from tests.disk import folder_on_disk

KIB, MIB = 2**10, 2**20

HEADING = (
    "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite"
    "      read   fwrite frewrite    fread  freread"
)
"""As iozone prints it."""


def table_line(*numbers):
    """Give a line of iozone's table; a test that was left out is a blank of the width of its column."""
    widths = [16, 8, *[9] * 13]
    cells = ("" if number is None else str(number) for number in numbers)
    return "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=False))


TABLE = "\n".join(
    [
        "        Run began: Mon Jan 18 21:50:52 2021",
        "        Output is in kBytes/sec",
        HEADING,
        table_line(64, 4, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 9999, 1009, 1010, 9999, 1012, 9999),
        table_line(128, 4, 2001, 2002, None, None, 2005, 2006),
        "",
        "iozone test complete.",
    ]
)

REPORT = """\
"Writer report"
        "4"  "8"
"64"   1001  2001
"128"   3001  0

"Re-Reader report"
        "4"  "8"
"64"   1004  2004

"Record rewrite report"
        "4"
"64"   9999
"""


def places(machine, test, records, seed=3):
    """Give the records that a test reads or writes, in its order."""
    calls = TESTS[test].calls("/data/f", records * 4 * KIB, 4 * KIB, seed)
    scenario = pc.Scenario(machine, processes={"app": calls}, files={"/data/f": records * 4 * KIB})
    batches = scenario.record(10_000).batches()
    return [offset_bytes // (4 * KIB) for batch in batches for offset_bytes in batch["offset_bytes"]]


def strided_of_iozone(records):
    """Give the records that iozone's strided test reads (`read_stride_perf_test`)."""
    at, passes, found = 0, 0, []
    for _ in range(records):
        found.append(at)
        if at + 1 + STRIDE_RECORDS >= records - 1:
            passes += 1
            at = passes % records if records > STRIDE_RECORDS else 0
        else:
            at += STRIDE_RECORDS
    return found


def plan(**changed):
    return GridPlan(**{"file_bytes": [64 * KIB, 128 * KIB], "record_bytes": [4 * KIB], **changed})


def test_cells_are_those_of_iozone():
    sizes = doubling(64 * KIB, 512 * MIB), doubling(4 * KIB, 16 * MIB)
    cells = GridPlan(file_bytes=sizes[0], record_bytes=sizes[1]).cells
    assert (len(sizes[0]), len(sizes[1])) == (14, 13)
    assert Cell(64 * KIB, 128 * KIB) not in cells, "a file has whole records"
    assert Cell(16 * MIB, 4 * KIB) in cells
    assert Cell(32 * MIB, 32 * KIB) not in cells, "large files have no small records"
    assert Cell(32 * MIB, 64 * KIB) in cells
    every = GridPlan(file_bytes=[32 * MIB], record_bytes=[4 * KIB], every_record=True)
    assert every.cells == [Cell(32 * MIB, 4 * KIB)]


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"tests": ["walk"]}, "tests are some of write, rewrite"),
        ({"record_bytes": [3 * KIB]}, "no file is a multiple of a record"),
        ({"file_bytes": [0]}, "at least one byte"),
    ],
)
def test_plans_that_cannot_be_are_refused(changed, what):
    with pytest.raises(ArgumentError, match=what):
        plan(**changed)


def test_random_tests_touch_each_record_once(machine):
    order = places(machine, "random-read", 100)
    assert sorted(order) == list(range(100))
    assert order == places(machine, "random-read", 100)
    assert order != places(machine, "random-read", 100, seed=4)
    assert order != places(machine, "random-write", 100)


def test_backward_and_strided_tests_have_their_order(machine):
    assert places(machine, "backward-read", 4) == [3, 2, 1, 0]
    for records in (1, 8, 17, 18, 20, 40, 1000):
        strided, wanted = places(machine, "strided-read", records), strided_of_iozone(records)
        assert len(strided) == records
        assert strided[: max(records - 2, 1)] == wanted[: max(records - 2, 1)]
    assert places(machine, "strided-read", 8) == [0] * 8, "a file that is shorter than a stride, as in iozone"


def test_a_test_is_one_operation_however_many_calls_it_has():
    program, phases = plan().program(Cell(2**40, 4 * KIB), "/data")
    assert len(program) < 50
    assert {phase.test.name for phase in phases if phase.first == phase.last} == {*TESTS}


def test_a_cell_is_one_program_of_all_tests():
    program, phases = plan(tests=["read", "fwrite"]).program(Cell(64 * KIB, 4 * KIB), "/data")
    names = [str(each).strip("<").split()[0] for each in program]
    assert [phase.test.name for phase in phases] == ["read", "fwrite"]
    assert [names[phase.first] for phase in phases] == ["read", "fwrite"]
    assert names[0:2] == ["open", "write"], "the file is always written"
    timed = plan(tests=["read", "fwrite"], fsync=True).program(Cell(64 * KIB, 4 * KIB), "/data")[1]
    assert [names[phase.last] for phase in timed] == ["fsync", "fsync"]


def test_a_forecast_has_the_rates_of_the_machine(machine):
    grid = simulate(plan(), machine, directory="/data", models=["no-cache"])
    assert grid.tests == list(TESTS)
    for cell in grid.cells:
        assert grid.rate("no-cache", "write", cell) == pytest.approx(400e6, rel=1e-6)
        assert grid.rate("no-cache", "random-read", cell) == pytest.approx(500e6, rel=1e-6)
    cached = simulate(plan(), machine, directory="/data")
    assert cached.rate("kernel", "reread", Cell(64 * KIB, 4 * KIB)) == pytest.approx(4e9, rel=1e-3)


def test_the_closing_fsync_is_timed_on_demand(machine):
    cell = Cell(64 * KIB, 4 * KIB)
    slow = simulate(plan(fsync=True), machine, directory="/data").rate("kernel", "write", cell)
    assert slow < 400e6 < simulate(plan(), machine, directory="/data").rate("kernel", "write", cell)


def test_a_table_of_iozone_is_read(tmp_path):
    path = tmp_path / "iozone.txt"
    for text in (TABLE, "".join(f"    {line}\n" for line in TABLE.splitlines())):
        path.write_text(text)
        grid = Grid(read_rates(path), {})
        rates = [grid.rate("iozone.txt", test, Cell(64 * KIB, 4 * KIB)) for test in TESTS]
        wanted = [1001, 1002, 1003, 1004, 1005, 1006, 1007, 1009, 1010, 1012]
        assert rates == pytest.approx([KIB * rate for rate in wanted])
        second = {
            row.test: round(row.rate_bytes_per_s / KIB)
            for row in grid.rows
            if row.cell.file_bytes == 128 * KIB
        }
        assert second == {"write": 2001, "rewrite": 2002, "random-read": 2005, "random-write": 2006}


@pytest.mark.parametrize(
    "text", [REPORT, REPORT.replace("   ", ",").replace("  ", ","), REPORT.replace("  ", "\t")]
)
def test_reports_of_iozone_are_read(text, tmp_path):
    path = tmp_path / "report"
    path.write_text(text)
    rows = {
        (row.test, row.cell.file_bytes // KIB, row.cell.record_bytes // KIB): row for row in read_rates(path)
    }
    assert {key: round(row.rate_bytes_per_s / KIB) for key, row in rows.items()} == {
        ("write", 64, 4): 1001,
        ("write", 64, 8): 2001,
        ("write", 128, 4): 3001,
        ("reread", 64, 4): 1004,
        ("reread", 64, 8): 2004,
    }


def test_operations_per_second_become_rates(tmp_path):
    path = tmp_path / "report"
    path.write_text("Output is in operations per second\n" + REPORT)
    assert read_rates(path)[1].rate_bytes_per_s == pytest.approx(2001 * 8 * KIB)


def test_a_result_of_fio_is_read(tmp_path):
    def job(rw, **options):
        rates = {"read": {"bw_bytes": 1000}, "write": {"bw_bytes": 2000}}
        return {"job options": {"rw": rw, **options}, **rates}

    path = tmp_path / "fio.json"
    jobs = [job("randread", bs="4k"), job("write", size="1g"), job("randrw")]
    path.write_text(json.dumps({"global options": {"size": "64k", "bs": "16k"}, "jobs": jobs}))
    found = [(row.test, row.cell, round(row.rate_bytes_per_s)) for row in read_rates(path)]
    assert found == [
        ("random-read", Cell(64 * KIB, 4 * KIB), 1000),
        ("write", Cell(2**30, 16 * KIB), 2000),
    ]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"hello", "has no rates of iozone"),
        (b"\xd0\xcf\x11\xe0rest", "is a binary spreadsheet"),
        (b'"Writer report"\n"4"\n"64" fast', ":3: `fast` is no number"),
        (b'"Writer report"\n"4"\n"64" 1 2', ":3: has 2 rates for 1 record sizes"),
        (b'{"jobs": [', ":1: "),
        (b'{"jobs": 3}', "is no result of fio"),
    ],
)
def test_what_is_no_result_is_refused(content, what, tmp_path):
    path = tmp_path / "result"
    path.write_bytes(content)
    with pytest.raises(ScenarioError, match=what):
        read_rates(path)


def test_errors_are_of_the_time():
    cells = Cell(64 * KIB, 4 * KIB), Cell(128 * KIB, 4 * KIB)
    rows = [Row("kernel", "read", cells[0], 1.5), Row("kernel", "read", cells[1], 0.6)]
    rows += [Row("measured", "read", cells[0], 1.0), Row("measured", "read", cells[1], 1.0)]
    rows += [Row("measured", "write", cells[0], 1.0)]
    (one,) = Grid(rows, {}).errors("measured")
    assert (one.source, one.test, one.cells, one.worst_cell) == ("kernel", "read", 2, cells[0])
    assert (one.mean, one.mean_abs, one.worst) == pytest.approx((0.05, 0.45, 0.5))


def test_figures_are_drawn_of_one_cell_and_of_many(machine, tmp_path):
    pytest.importorskip("matplotlib")
    from pagecast.grid.export import save

    grids = {
        "one": plan(file_bytes=[64 * KIB], tests=["read"]),
        "many": plan(record_bytes=doubling(4 * KIB, 32 * KIB)),
    }
    for name, each in grids.items():
        grid = simulate(each, machine, directory="/data", models=["kernel", "no-cache"])
        save(grid, tmp_path / name, reference="no-cache")
        names = {file.stem for file in (tmp_path / name).glob("*.png")}
        assert names == {
            *(f"{kind}_1_kernel" for kind in ("heat_map", "surface", "error")),
            *(f"{kind}_2_no-cache" for kind in ("heat_map", "surface")),
        }
        document = json.loads((tmp_path / name / "grid.json").read_text())
        assert len(document["rows"]["test"]) == len(grid.rows)
        assert {one["source"] for one in document["errors"]} == {"kernel"}


def test_a_grid_is_measured(tmp_path):
    with folder_on_disk(tmp_path) as folder:
        grid = measure(plan(file_bytes=[64 * KIB]), folder)
        assert [row.test for row in grid.rows] == list(TESTS)
        assert all(row.source == "measured" and row.duration_s > 0 for row in grid.rows)
        assert not [path for path in folder.iterdir() if path.is_dir()], "nothing is left"


def test_the_file_is_below_the_mount():
    assert (file_of("/"), file_of("/data/")) == ("/grid", "/data/grid")
