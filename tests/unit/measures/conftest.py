"""A result with a backup beside a database."""

import pytest

import pagecast as pc

SCENARIO = """\
models = ["kernel"]
[machine]
cores = 4
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
[[process]]
name = "backup"
do = [ { write = "/data/copy", size = "4 GB" } ]
[[process]]
name = "db{n}"
count = 2
do = [ { sleep = "1 s" }, { repeat = 20, do = [
  { write = "/data/wal{n}", size = "1 MB", append = true },
  { fsync = "/data/wal{n}" },
  { sleep = "100 ms" },
] } ]
"""


@pytest.fixture(scope="session")
def backup_result():
    """The same for all tests: it is only read."""
    return pc.simulate(pc.Scenario.from_toml(SCENARIO), at_risk=True)
