"""A database with fsync beside a backup, on a disk that goes request by request."""

import pytest

import pagecast as pc

SCENARIO = """\
models = ["kernel"]
[machine]
cores = 4
memory = { size = "4 GB", read = "4000 MB/s", write = "2000 MB/s" }
[machine.disk.ssd]
size = "100 GB"
read = "500 MB/s"
write = "400 MB/s"
service = "60 us"
flush = "2 ms"
[machine.mount."/data"]
disk = "ssd"
journal = {}
[[file]]
path = "/data/db"
size = "100 MB"
cached = "100 MB"
[[process]]
name = "db"
do = [ { repeat = 30, do = [ { write = "/data/db", size = "8 KiB" }, { fsync = "/data/db" }, { sleep = "100 ms" } ] } ]
[[process]]
name = "backup"
start = "1 s"
do = [ { write = "/data/copy", size = "2 GB", call = "1 MiB" } ]
"""  # noqa: E501


@pytest.fixture(scope="session")
def beside():
    """The result of the scenario."""
    return pc.simulate(pc.Scenario.from_toml(SCENARIO))
