"""Real runs of programs that look at the clock, of descriptors, and of names."""

import shutil

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


def test_a_job_of_a_rate_does_not_sleep_after_its_runtime(there, tmp_path):
    job = "[j]\ndirectory=/data\nrw=read\nsize=64k\nbs=4k\ntime_based\nruntime=1\nrate_iops=100\n"
    (tmp_path / "rate.fio").write_text(job)
    scenario = pc.Scenario.from_workload(tmp_path / "rate.fio", machine="wrench-cluster")
    table = pc.run(scenario, dir=there).operations
    assert sum(operation == "read" for operation in table["operation"]) >= 100
    assert "sleep" not in table["operation"], "the rate alone fills the time"


@pytest.mark.parametrize("engine", ["psync", "libaio"])
def test_a_runtime_that_nothing_paces_ends(there, tmp_path, engine):
    job = "[j]\ndirectory=/data\nrw=randrw\nsize=1m\nbs=4k\ntime_based\nruntime=1\n"
    (tmp_path / "time.fio").write_text(f"{job}ioengine={engine}\niodepth=4\n")
    scenario = pc.Scenario.from_workload(tmp_path / "time.fio", machine="wrench-cluster")
    plan = Plan(scenario, record="histogram")
    assert (plan.is_open_ended, plan.space_bytes) == (True, 1 << 20)
    result = plan.run(there)
    assert 1 <= result.end_s < 3
    assert len(result.operations) == 100, "the slowest"
    assert sum(result.latency["count"]) > 1000


def test_a_rate_that_the_program_cannot_hold_ends_with_its_runtime(there, tmp_path):
    job = "[j]\ndirectory=/data\nrw=write\nsize=64m\nbs=4k\nfsync=1\ntime_based\nruntime=1\n"
    (tmp_path / "rate.fio").write_text(f"{job}rate_iops=1000000\n")
    scenario = pc.Scenario.from_workload(tmp_path / "rate.fio", machine="wrench-cluster")
    assert 1 <= pc.run(scenario, dir=there).end_s < 5


def test_a_stonewalled_job_has_its_whole_runtime(there, tmp_path):
    job = "[global]\ndirectory=/data\nsize=64k\nbs=4k\nrw=read\ntime_based\nruntime=1\nrate_iops=50\n"
    (tmp_path / "two.fio").write_text(f"{job}[a]\n[b]\nstonewall\n")
    scenario = pc.Scenario.from_workload(tmp_path / "two.fio", machine="wrench-cluster")
    assert 1.9 <= pc.run(scenario, dir=there).end_s < 4


def test_a_program_is_asked_when_the_operation_before_has_ended(there):
    asked = []

    def app():
        for k in range(3):
            asked.append(k)
            yield pc.write("/data/f", size_bytes=1000)
            yield pc.sleep(0.05)

    scenario = pc.Scenario(pc.load_machine("wrench-cluster"), processes={"app": app})
    plan = Plan(scenario)
    assert (plan.operations, asked) == (6, [0, 1, 2])
    assert plan.run(there).operations["bytes"].tolist() == [1000, 0] * 3
    assert asked == [0, 1, 2] * 2, "once for its needs, and once as it goes"


def test_a_program_may_name_files_on_its_way(there):
    runs = iter(range(2))

    def app():
        yield pc.write(f"/data/new{next(runs)}/f", size_bytes=1000)

    scenario = pc.Scenario(pc.load_machine("wrench-cluster"), processes={"app": app})
    assert pc.run(scenario, dir=there).operations["path"] == ["/data/new1/f"]


def test_a_program_that_fails_on_its_way_is_named(there):
    runs = iter(range(2))

    def app():
        if next(runs) == 1:
            raise RuntimeError("no more")
        yield pc.write("/data/f", size_bytes=1000)

    scenario = pc.Scenario(pc.load_machine("wrench-cluster"), processes={"app": app})
    with pytest.raises(pc.errors.ProgramError, match="app") as failure:
        pc.run(scenario, dir=there)
    assert "no more" in str(failure.value.__cause__)


def test_names_are_changed_for_real(there, tmp_path):
    (tmp_path / "names.toml").write_text("""\
[machine]
from = "wrench-cluster"
[[file]]
path = "/data/in"
size = "100 kB"
[[process]]
name = "app"
do = [
    { mkdir = "/data/d" },
    { write = "/data/d/new", size = "30 kB" },
    { rename = "/data/d/new", to = "/data/in" },
    { read = "/data/in" },
    { link = "/data/in", to = "/data/d/second" },
    { unlink = "/data/in" },
    { stat = "/data/d/second" },
    { truncate = "/data/d/second", size = "10 kB" },
    { fallocate = "/data/d/second", size = "1 MB", mode = "keep_size" },
    { read = "/data/d/second" },
    { mkdir = "/data/d/empty" },
    { rmdir = "/data/d/empty" },
]
""")
    plan = Plan(pc.Scenario.load(tmp_path / "names.toml"))
    result = plan.run(there, keep=True)
    assert result.operations["bytes"].tolist() == [0, 30_000, 0, 30_000, 0, 0, 0, 0, 0, 10_000, 0, 0]
    kept = result.kept
    assert sorted(str(path.relative_to(kept)) for path in kept.rglob("*")) == [
        "data",
        "data/d",
        "data/d/second",
    ]
    shutil.rmtree(kept)


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ('{ rename = "/data/x", to = "/data/y" }', "a rename of /data/x at"),
        ('{ mkdir = "/data/d" }, { mkdir = "/data/d" }', "mkdir of /data/d at"),
        ('{ write = "/data/d/f", size = "1 kB" }, { rmdir = "/data/d" }', "Directory not empty"),
        (
            '{ write = "/data/f", size = "1 kB" }, { link = "/data/in", to = "/data/f" }',
            "a link to /data/f at",
        ),
        ('{ read = "/data/in", fd = 3 }', "a read of /data/in through descriptor 3 at"),
    ],
)
def test_a_name_that_cannot_be_changed_is_told(there, tmp_path, operations, message):
    (tmp_path / "wrong.toml").write_text(f"""\
[machine]
from = "wrench-cluster"
[[file]]
path = "/data/in"
size = "1 kB"
[[process]]
name = "app"
do = [ {operations} ]
""")
    scenario = pc.Scenario.load(tmp_path / "wrong.toml")
    with pytest.raises(pc.errors.PagecastError) as failure:
        pc.run(scenario, dir=there)
    assert message in str(failure.value)


def test_nothing_outside_is_renamed(there, tmp_path):
    """A link that somebody puts into the folder meanwhile leads nowhere."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("mine")

    def app():
        yield pc.write("/data/d/f", size_bytes=10)
        for folder in there.glob("pagecast-run-*/data"):
            (folder / "out").symlink_to(outside)
        yield pc.rename("/data/d/f", "/data/out/f")

    scenario = pc.Scenario(pc.load_machine("wrench-cluster"), processes={"app": app})
    with pytest.raises(pc.errors.PagecastError):
        pc.run(scenario, dir=there)
    assert (outside / "f").read_text() == "mine"


def test_duplicated_descriptors_share_their_position(there, tmp_path):
    (tmp_path / "twice.toml").write_text("""\
[machine]
from = "wrench-cluster"
[[file]]
path = "/data/in"
size = "100 kB"
[[process]]
name = "app"
do = [
    { open = "/data/in", fd = 3 },
    { dup = "/data/in", fd = 3, to_fd = 4 },
    { read = "/data/in", fd = 3, size = "60 kB" },
    { close = "/data/in", fd = 3 },
    { read = "/data/in", fd = 4, size = "60 kB" },
]
""")
    result = pc.run(pc.Scenario.load(tmp_path / "twice.toml"), dir=there)
    assert result.operations["bytes"].tolist() == [0, 0, 60_000, 0, 40_000]
