"""The Python side of real runs: `pagecast.run`."""

import numpy as np
import pytest

import pagecast as pc
from pagecast.running import Plan
from tests.disk import folder_on_disk


@pytest.fixture
def there(tmp_path):
    """A directory on a disk."""
    with folder_on_disk(tmp_path) as folder:
        place = folder / "there"
        place.mkdir()
        yield place
        assert list(place.iterdir()) == [], "nothing is left"


def program():
    yield pc.read("/data/in", call_bytes=100_000)
    for k in range(3):
        yield pc.write(f"/data/out{k}", size_bytes=50_000)
        yield pc.fsync(f"/data/out{k}")
    yield pc.sleep(0.03)


def test_a_generator_is_asked_ahead_and_run(machine, there):
    scenario = pc.Scenario(machine, processes={"app": program}, files={"/data/in": 250_000})
    plan = Plan(scenario)
    assert (plan.operations, plan.prepared_bytes, plan.written_bytes) == (8, 250_000, 150_000)
    assert plan.paths["/data/out1"].as_posix() == "data/out1"
    result = plan.run(there)
    assert (result.model, result.is_measured) == ("measured", True)
    assert result.operations["operation"] == ["read", *["write", "fsync"] * 3, "sleep"]
    assert result.end_s == result.operations["end_s"][-1] >= 0.03
    assert result.operations["bytes"][0] == 250_000
    assert result.files["path"] == ["/data/in", "/data/out0", "/data/out1", "/data/out2"]
    assert 0 <= result.sampler_share < 1


def test_figures_and_files_are_those_of_a_simulation(machine, there, tmp_path):
    scenario = pc.Scenario(machine, processes={"app": program}, files={"/data/in": 250_000})
    result = pc.run(scenario, dir=there, sample_hz=100, residency="operation")
    assert set(result.files["index"]) == {*range(7), -1}, "after each operation on a file"
    for draw in (pc.plot.timeline, pc.plot.parts, pc.plot.cache_content):
        assert "forecast" not in draw(result).get_title()
    result.save(tmp_path / "saved")
    header = (tmp_path / "saved" / "file_samples.csv").read_text().splitlines()[0]
    assert header == "time_s,path,cached_bytes,dirty_bytes,writeback_bytes"
    # Several looks may be at one moment, but time does not go back.
    assert (np.diff(result.samples["time_s"]) > 0).all()


def test_every_way_to_write_and_to_make_durable_is_run(machine, there):
    def program():
        yield pc.open("/data/f", create=True, flags=["O_APPEND", "O_DSYNC"])
        yield pc.write("/data/f", size_bytes=10_000, call_bytes=1000)
        yield pc.write("/data/f", size_bytes=5000, offset_bytes=0)
        yield pc.close("/data/f")
        yield pc.write("/data/f", size_bytes=8192, offset_bytes=4096, call_bytes=4096, vector=4)
        yield pc.sync_file_range("/data/f", flags=["WAIT_BEFORE", "WRITE", "WAIT_AFTER"])
        yield pc.sync_file_range("/data/f", flags=["WRITE"], offset_bytes=4096, size_bytes=4096)
        yield pc.readahead("/data/f")
        yield pc.syncfs("/data")
        yield pc.open("/data/f", flags=["O_DIRECT"])
        yield pc.read("/data/f")
        yield pc.read("/data/f", call_bytes=4096)
        yield pc.read("/data/f", offset_bytes=8192, size_bytes=8192, vector=2)
        yield pc.write("/data/f", size_bytes=4096)

    scenario = pc.Scenario(machine, processes={"app": program})
    found = pc.run(scenario, dir=there).operations
    forecast = pc.simulate(scenario, model="kernel").operations
    for column in ("operation", "path", "offset_bytes", "bytes"):
        assert list(found[column]) == list(forecast[column])
    assert list(found["bytes"][10:13]) == [15_000, 15_000, 6808]
    assert found["offset_bytes"][2] == 10_000


def test_every_way_to_copy_is_run(machine, there):
    ways = ["read_write", "sendfile", "copy_file_range"]

    def program():
        for by in ways:
            yield pc.copy("/data/f", f"/data/{by}", by=by, call_bytes=100_000)
            yield pc.copy("/data/f", f"/data/{by}", by=by, offset_bytes=8192, size_bytes=10_000)
            yield pc.read(f"/data/{by}")

    scenario = pc.Scenario(machine, processes={"app": program}, files={"/data/f": 250_000})
    plan = Plan(scenario)
    assert plan.written_bytes == 3 * 260_000
    run = plan.run(there)
    found, forecast = run.operations, pc.simulate(scenario, model="kernel").operations
    for column in ("operation", "path", "offset_bytes", "bytes"):
        assert list(found[column]) == list(forecast[column])
    assert sorted(run.files["path"]) == sorted(["/data/f", *(f"/data/{by}" for by in ways)])
    assert list(run.files["size_bytes"]) == [250_000] * 4


def residency(files):
    """Give the cached and dirty bytes of each file."""
    rows = zip(files["path"], files["cached_bytes"], files["dirty_bytes"], strict=True)
    return {path: (cached, dirty) for path, cached, dirty in rows}


def test_mappings_are_real_ones(machine, there):
    def program():
        yield pc.mmap_read("/data/in")
        yield pc.mmap_read("/data/in", offset_bytes=5000, size_bytes=10_000, advice="random")
        yield pc.open("/data/out", create=True)
        yield pc.truncate("/data/out", size_bytes=3_000_001)
        yield pc.mmap_write("/data/out")
        yield pc.msync("/data/out", offset_bytes=4096, size_bytes=100)
        yield pc.msync("/data/out")
        yield pc.mmap_write("/data/in", offset_bytes=1, size_bytes=1, advice="sequential")
        yield pc.msync("/data/in", is_async=True)
        yield pc.munmap("/data/in")
        yield pc.mmap("/data/in")
        yield pc.mmap_read("/data/in")
        yield pc.mmap_write("/data/in", offset_bytes=4098, size_bytes=2, advice="random")
        yield pc.truncate("/data/in", size_bytes=2_600_000)
        yield pc.mmap_read("/data/in", offset_bytes=610 * 4096)
        yield pc.mmap("/data/in")
        yield pc.mmap_read("/data/in", advice="sequential")
        yield pc.munmap("/data/in")

    scenario = pc.Scenario(machine, processes={"app": program}, files={"/data/in": 610 * 4096})
    forecast = pc.simulate(scenario, model="kernel")
    # Another program's sync(2) may clean the pages before they are looked at; hardly five times.
    for _ in range(5):
        result = pc.run(scenario, dir=there)
        if residency(result.files)["/data/in"][1] > 0:
            break
    for column in ("operation", "path", "offset_bytes", "bytes"):
        assert list(result.operations[column]) == list(forecast.operations[column])
    served = result.operations["from_cache_bytes"] + result.operations["from_device_bytes"]
    assert list(served) == list(result.operations["bytes"])
    for files in (result.files, forecast.files):
        at_end = residency(files)
        assert at_end["/data/out"][1] == 0, "it was made durable"
        assert at_end["/data/out"][0] >= 3_000_000
        assert 0 < at_end["/data/in"][1] <= 2 * 4096, "two pages are dirty"


def test_what_is_beyond_the_end_of_a_mapping_is_refused_before_it_is_touched(machine, there):
    def program():
        yield pc.mmap_write("/data/in", offset_bytes=2000, size_bytes=1)

    scenario = pc.Scenario(machine, processes={"app": program}, files={"/data/in": 2000})
    said = []
    for call in (lambda: pc.run(scenario, dir=there), lambda: pc.simulate(scenario, model="kernel")):
        with pytest.raises(
            pc.errors.BeyondEndError, match=r"a mmap_write of 1 B .* ends in SIGBUS"
        ) as caught:
            call()
        said.append(str(caught.value).split(" at ")[0])
    assert said[0] == said[1]


def test_pages_that_are_not_kept_are_gone_or_that_is_not_to_be_had(machine, there):
    def program():
        yield pc.open("/data/f", create=True, flags=["RWF_DONTCACHE"])
        yield pc.write("/data/f", size_bytes=1 << 20)
        yield pc.fsync("/data/f")
        yield pc.read("/data/f")

    scenario = pc.Scenario(machine, processes={"app": program})
    refusal, cached = "", 0
    try:
        cached = pc.run(scenario, dir=there).files["cached_bytes"][-1]
    except pc.SimulationError as error:
        refusal = str(error)
    # On another kernel, or another file system, it is refused.
    assert cached < 1 << 20
    assert not refusal or "with RWF_DONTCACHE" in refusal
    assert not refusal or "fails with EOPNOTSUPP on Linux" in refusal


def test_a_program_that_fails_is_named_before_anything_is_made(machine, there):
    def broken():
        yield pc.write("/data/out", size_bytes=10)
        raise RuntimeError("no more")

    with pytest.raises(pc.errors.ProgramError, match="process `broken` failed") as caught:
        pc.run(pc.Scenario(machine, processes={"broken": broken}), dir=there)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_wrong_arguments_are_named(machine, there):
    scenario = pc.Scenario(machine, processes={"app": program}, files={"/data/in": 250_000})
    with pytest.raises(ValueError, match="sample_hz=0 is not from 1 to 200"):
        pc.run(scenario, dir=there, sample_hz=0)
    with pytest.raises(ValueError, match="per_call=0 is not a number of calls from 1"):
        pc.run(scenario, dir=there, per_call=0)
    with pytest.raises(TypeError, match="is a str, not a Scenario"):
        pc.run("x.toml", dir=there)
