"""A database with fsync beside a backup, small enough for a search, and a scenario with NFS and stripes."""

import pytest

import pagecast as pc
from pagecast.advice import advise
from pagecast.advice.finding import find_hosts, find_knobs, largest_processes, used_disks
from pagecast.advice.omissions import omissions

BESIDE = """\
models = ["kernel"]
[machine]
cores = 4
memory = { size = "8 GB", read = "4000 MB/s", write = "2000 MB/s" }
[machine.disk.ssd]
kind = "sata-ssd"
size = "100 GB"
read = "500 MB/s"
write = "400 MB/s"
service = "60 us"
flush = "2 ms"
[machine.mount."/data"]
disk = "ssd"
journal = {}
[[file]]
path = "/data/table"
size = "64 MiB"
cached = "64 MiB"
[[process]]
name = "db"
do = [ { repeat = 15, do = [
  { write = "/data/table", size = "32 KiB" }, { fsync = "/data/table" }, { sleep = "100 ms" },
] } ]
[[process]]
name = "backup"
do = [ { write = "/data/copy", size = "800 MB", call = "1 MiB" }, { fsync = "/data/copy" } ]
"""

WANTS = ("p99(db fsync) < 20 ms", "makespan(backup) < 1.2x")

SEVERAL = """\
models = ["kernel"]
[host.client]
cores = 4
memory = { size = "4 GB", read = "4000 MB/s", write = "2000 MB/s" }
mount."/nfs" = { nfs = "server:/export" }
mount."/wide" = { striped = ["server:/export", "other:/export"] }
[host.server]
cores = 4
memory = { size = "4 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/export" = { disk = "ssd", journal = {} }
[host.other]
cores = 4
memory = { size = "4 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/export" = { disk = "ssd" }
[network]
topology = "star"
transport = "10gbe"
[[process]]
name = "app"
host = "client"
do = [ { write = "/nfs/a", size = "64 MB", call = "1 MiB" }, { fsync = "/nfs/a" },
       { write = "/wide/b", size = "64 MB", call = "1 MiB" } ]
"""


@pytest.fixture(scope="session")
def advice(tmp_path_factory):
    """Ask for advice for the database beside the backup."""
    path = tmp_path_factory.mktemp("advice") / "beside.toml"
    path.write_text(BESIDE)
    return advise(path, want=WANTS, budget=120, workers=1)


def knobs_of(scenario, text, overrides=()):
    """Give all knobs of a scenario with what its forecast used."""
    return [*find_knobs(*place_of(scenario, text, overrides))]


def omissions_of(scenario, text, overrides=()):
    """Give what is not tried of a scenario."""
    return [*omissions(*place_of(scenario, text, overrides))]


def place_of(scenario, text, overrides):
    """Give what knobs are found in."""
    result = pc.simulate(scenario)
    return find_hosts(scenario, used_disks(result)), text, overrides, largest_processes(result)
