"""The series, the shipped figures, the machines, and recordings."""

import csv
import gzip

import numpy as np
import pytest

import pagecast as pc
from pagecast.comparison.machines import described
from pagecast.comparison.rows import summarise
from pagecast.errors import StudyError
from pagecast.studies import cawl
from pagecast.studies.cawl import make_tables
from pagecast.studies.cawl.forecast import program, run_series, simulate_series
from pagecast.studies.cawl.recordings import MEASUREMENTS, points
from pagecast.studies.cawl.rows import published_rows
from pagecast.studies.cawl.series import HERE, PHASES, Point, all_series, shipped_points
from pagecast.studies.cawl.states import MACHINES, is_calibration, machine_of, parameters
from tests.unit.cawl.conftest import SERIES

GIB = 2**30


def rate(names, first, last):
    """Bytes per second of some writes of several series together, from the shipped means."""
    blocks = [b for name in names for b in shipped_points()[name] if first <= b.first and b.last <= last]
    writes = sum(b.last - b.first + 1 for b in blocks)
    assert writes == len(names) * (last - first + 1)
    return writes * GIB / sum(b.measured_s * (b.last - b.first + 1) for b in blocks)


def test_there_are_22_main_series_and_29_others():
    experiments = [series.experiment for series in all_series().values()]
    assert (experiments.count("buffered"), experiments.count("other")) == (22, 29)
    assert all(series.is_buffered for series in all_series().values() if series.experiment == "buffered")


def test_shipped_blocks_cover_every_write_once():
    for name, series in all_series().items():
        blocks = shipped_points()[name]
        writes = [k for block in blocks for k in range(block.first, block.last + 1)]
        assert writes == list(range(1, series.writes + 1))


def test_the_shipped_tables_are_small():
    assert sum(path.stat().st_size for path in HERE.glob("*.csv")) < 50_000


def test_the_total_of_a_series_is_in_its_blocks():
    total = sum(b.measured_s * (b.last - b.first + 1) for b in shipped_points()["h1_async_p0"])
    assert total == pytest.approx(1483.735, abs=0.001)


def test_cawl_has_the_errors_that_are_known_of_it():
    main = [series for series in all_series().values() if series.experiment == "buffered"]
    (summary,) = summarise(published_rows(main, shipped_points()))
    assert 100 * summary.mean_abs_error == pytest.approx(11.9, abs=0.05)  # 12.8 % write by write


def test_phases_begin_where_they_were_seen():
    series = all_series()["h1_async_p0"]
    assert [series.phase(write) for write in (36, 37, 184, 185)] == [
        PHASES[0], PHASES[1], PHASES[1], PHASES[2],
    ]  # fmt: skip
    assert {all_series()["nv_random_b"].phase(write) for write in (1, 100)} == {PHASES[0]}


def test_an_fwrite_is_one_of_a_stream():
    opened = pc.fopen("/data/file", mode="w", buffer_bytes=4096)
    assert program(all_series()["h1_libc_p0"])[:2] == [opened, pc.fwrite("/data/file", size_bytes=GIB)]
    assert len(program(all_series()["nv_libc_512b"])) == 130


def test_a_buffer_that_is_not_empty_at_first_has_its_header():
    header, first = program(all_series()["h1_libc_100b"])[1:3]
    assert header == pc.fwrite("/data/file", size_bytes=529)
    assert first == pc.fwrite("/data/file", size_bytes=100)


def test_only_the_writes_of_a_series_have_times():
    series = all_series()["h1_libc_512b"]
    run = run_series(series, model="no-cache", machine=None, overrides=[])
    reaches_kernel = np.flatnonzero(run.seconds > 1e-6)
    # As measured: 529 and 7 * 512 bytes are more than 4096.
    assert (len(run.seconds), *reaches_kernel[:2]) == (128, 6, 14)


def test_sizes_of_a_sweep_grow():
    sizes = list(all_series()["h1_direct_sizes_5"].sizes())
    assert sizes == [k * 400 * 2**20 for k in range(1, 6)]


def test_a_program_computes_before_each_write():
    operations = program(all_series()["nv_async_p0.5"])
    assert operations[:2] == [pc.compute(0.5), pc.write("/data/file", size_bytes=GIB, append=True)]
    assert len(operations) == 200


def test_rewriting_starts_at_the_beginning_each_time():
    assert program(all_series()["nv_random_b"]) == [pc.write("/data/file", size_bytes=GIB)] * 100


def test_groups_differ_in_two_rates_only_and_nvram1_has_a_write_cache():
    cache = [f"disk.ssd.write_cache.{key}" for key in ("size", "rate", "drain")]
    for group, machine in MACHINES.items():
        disk, more = ("ssd", cache) if group == "N" else ("raid", [])
        assert parameters(machine) == ["memory.per_thread", f"disk.{disk}.write", *more]
        assert pc.load_machine(machine).hosts == ["machine"]


def test_what_all_states_share_is_no_parameter_of_one():
    assert parameters("cawl-host1") == parameters("cawl-host2") == []


@pytest.mark.parametrize(
    ("machine", "disk", "names", "writes"),
    [
        ("cawl-host1-a", "raid", ["h1_async_p0", "h1_libc_p0"], 800),
        ("cawl-nvram1-n", "ssd", ["nv_async_p0", "nv_async_p0_rep2", "nv_libc_p0"], 100),
    ],
)
def test_drain_rates_are_those_of_the_last_quarter_without_pause(machine, disk, names, writes):
    text = described(pc.load_machine(machine))["disk"][disk]["write"]
    assert text.endswith(" kB/s")
    assert float(text[:-5]) == pytest.approx(rate(names, 3 * writes // 4 + 1, writes) / 1e3, rel=1e-3)


def test_overrides_reach_machine_and_model():
    series = all_series()["nv_random_b"]
    overrides = ["machine.memory.per_thread=1 GiB/s", "model.wrench.chunk=1 GiB"]
    result = simulate_series(series, model="endless-cache", machine="cawl-nvram1-n", overrides=overrides)
    assert result.operations["duration_s"] == pytest.approx([1.0] * 100)
    result = simulate_series(series, model="wrench", machine="cawl-nvram1-n", overrides=overrides)
    assert result.options == {"chunk": "1 GiB"}


def test_recordings_have_a_point_per_write(data):
    found = points(data)
    assert {name: len(of) for name, of in found.items()} == SERIES
    assert all_series()["nv_async_p0.5"].operation(found["nv_async_p0.5"][6]) == "write 7"


def test_a_folder_without_recordings_is_refused_before_anything_is_simulated(tmp_path):
    def never(*_, **__):
        raise AssertionError("nothing may be simulated")

    with pytest.raises(StudyError, match=r"no measurements.csv.gz in it.*can be left out"):
        cawl.run(data=tmp_path, simulate=never)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("h1_async_p3", 0)], "series 'h1_async_p3' is none of this study's"),
        ([("nv_async_p0", 0), ("nv_async_p0", 2)], "series nv_async_p0 has not the writes 1 to 100"),
        ([("nv_async_p0", "first")], r"csv\.gz:2: cannot be read as a recording"),
    ],
)
def test_recordings_of_something_else_are_refused(tmp_path, rows, message):
    with gzip.open(tmp_path / f"{MEASUREMENTS}.csv.gz", "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["series_id", "index", "measured_s", "cawl_model_s"])
        writer.writerows([name, index, 0.4, 0.3] for name, index in rows)
    with pytest.raises(StudyError, match=message):
        points(tmp_path)


def test_tables_are_made_from_recordings(data):
    with (HERE / "series.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    made = list(make_tables.blocks(data, rows))
    assert made[0] == ["nv_async_p0.5", 1, 5, "0.400000000", "0.300000000"]
    # Every second fwrite took no time: each is a block of its own.
    assert [block[1:3] for block in made if block[0] == "nv_libc_512b"][:2] == [[1, 1], [2, 2]]


@pytest.mark.parametrize(
    ("series", "writes", "lengths"),
    [
        ({"io_method": "write", "chunk_bytes": str(GIB), "open_flags": "buffered"}, 800, [25] * 32),
        ({"io_method": "write", "chunk_bytes": str(GIB), "open_flags": "buffered"}, 150, [38, 38, 38, 36]),
        ({"io_method": "write", "chunk_bytes": "1024", "open_flags": "O_SYNC"}, 1024, [128] * 8),
        ({"io_method": "write", "chunk_bytes": "", "open_flags": "O_SYNC"}, 64, [4] * 16),
        ({"io_method": "write", "chunk_bytes": "", "open_flags": "O_SYNC"}, 5, [1] * 5),
    ],
)
def test_blocks_are_as_long_as_the_series_wants(series, writes, lengths):
    assert make_tables.block_lengths(series, [0.1] * writes) == lengths


def test_small_fwrites_that_took_time_stand_alone():
    series = {"io_method": "fwrite", "chunk_bytes": "512", "libc_buffer_bytes": "4096"}
    assert make_tables.block_lengths(series, [0, 0, 3e-6, 4e-6, 0]) == [2, 1, 1, 1]


def test_operations_of_a_sweep_tell_their_sizes():
    series = all_series()
    assert series["h1_sync_sizes"].operation(Point(7, 7, 1, 1)) == "write 7 (224 MiB)"
    assert series["nv_direct_sizes_512"].operation(Point(1, 64, 1, 1)) == "writes 1-64 (0.5 to 32 KiB)"
    assert series["h1_sync_1k"].operation(Point(1, 128, 1, 1)) == "writes 1-128"


def test_every_series_past_the_cache_has_a_machine_of_its_hardware():
    for name, series in all_series().items():
        assert machine_of(series).startswith(f"cawl-{series.host}-"), name


def test_what_went_into_a_machine_is_calibration():
    series = all_series()
    assert [is_calibration(series["h1_sync_sizes"], write) for write in (32, 33)] == [True, False]
    judged = [name for name, each in series.items() if not each.is_buffered and not is_calibration(each)]
    assert len(judged) == 13
