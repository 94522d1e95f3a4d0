"""A scenario that is simulated in a few milliseconds."""

import pytest

SCENARIO = """\
models = ["kernel"]
[machine]
cores = 4
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
[[process]]
name = "app"
do = [ { write = "/data/out", size = "1 GB" }, { fsync = "/data/out" } ]
"""

VARY = {"machine.vm.dirty_bytes": "64MB..1GB:log:4", "machine.disk.ssd.write": ["200 MB/s", "400 MB/s"]}
MEASURES = ("p99(app fsync)", "makespan", "peak(dirty)")


@pytest.fixture
def path(tmp_path):
    """The scenario as a file."""
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    return tmp_path / "scenario.toml"
