"""A small machine and a small scenario."""

import pytest

import pagecast as pc

MACHINE = """\
[machine]
cores = 4
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""


@pytest.fixture
def machine(tmp_path):
    """A host with 4 cores, 10 GB of memory and a disk."""
    (tmp_path / "machine.toml").write_text(MACHINE)
    return pc.load_machine(tmp_path / "machine.toml")


@pytest.fixture
def scenario(machine):
    """Read 2 GB, compute, write 1 GB, fsync."""

    def app():
        yield pc.read("/data/in", buffer="fresh")
        yield pc.compute(3.0)
        yield pc.write("/data/out", size_bytes=1e9)
        yield pc.fsync("/data/out")

    return pc.Scenario(machine, processes={"app": app}, files={"/data/in": 2e9})


@pytest.fixture
def throttled(machine):
    """Writes beyond what may be dirty, with a pause, under the kernel's own rules."""
    app = [pc.write("/data/out", size_bytes=3e9), pc.sleep(10.0), pc.write("/data/more", size_bytes=2e9)]
    return pc.simulate(pc.Scenario(machine, processes={"app": app}), model="kernel")
