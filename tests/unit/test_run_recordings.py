"""Real runs of programs that look at the clock, and of duplicated descriptors."""

import pytest

import pagecast as pc
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
