"""Which pages the faults of a mapping bring into memory: `kernel` beside the real one."""

import os
from pathlib import Path

import pytest

import pagecast as pc
from tests.disk import TRIES, folder_on_disk

MIB = 1 << 20
MACHINE = """\
cores = 2
memory = {{ size = "20 GB", read = "10 GB/s", write = "10 GB/s" }}
disk.ssd = {{ size = "1 TB", read = "1 GB/s", write = "1 GB/s", read_ahead_kb = {read_ahead_kb} }}
mount."/data".disk = "ssd"
"""


@pytest.fixture
def there(tmp_path):
    """A directory on a disk."""
    with folder_on_disk(tmp_path) as folder:
        place = folder / "there"
        place.mkdir()
        yield place


def read_ahead_kb(folder):
    """What the kernel reads ahead on the disk of a folder; None where it does not say."""
    device = os.stat(folder).st_dev
    path = Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
    return int(path.read_text()) if path.exists() else None


def cached_after(scenario, there=None):
    """Give the cached bytes of the file at the end: after a run in a directory, or as forecast."""
    result = pc.run(scenario, dir=there) if there else pc.simulate(scenario, model="kernel")
    return result.files["cached_bytes"][result.files["path"].index("/data/f")]


def touches(verb, count, step, size, advice):
    """Make a program that touches a piece of a file at every step."""

    def program():
        for k in range(1, count + 1):
            yield verb("/data/f", offset_bytes=k * step, size_bytes=size, advice=advice)
        # What is on its way comes.
        yield pc.sleep(0.3)

    return program


PATTERNS = {
    "far apart": (pc.mmap_read, 5, 16 * MIB, 4096, "normal"),
    "at random": (pc.mmap_read, 10, 8 * MIB, 4096, "random"),
    "from mark to mark": (pc.mmap_read, 70, MIB, 4096, "normal"),
    "pieces": (pc.mmap_read, 5, 16 * MIB, 70_000, "sequential"),
    "a stretch": (pc.mmap_read, 1, 20 * MIB, 40 * MIB, "normal"),
    "written": (pc.mmap_write, 30, 2 * MIB, 4096, "normal"),
    "written at random": (pc.mmap_write, 30, 2 * MIB, 4096, "random"),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_faults_bring_the_pages_that_they_bring_on_this_kernel(name, there, tmp_path):
    pattern = PATTERNS[name]
    known = 0 if pattern[-1] == "random" else read_ahead_kb(there)
    (tmp_path / "machine.toml").write_text(MACHINE.format(read_ahead_kb=known or 0))
    machine = pc.load_machine(tmp_path / "machine.toml")
    scenario = pc.Scenario(machine, processes={"p": touches(*pattern)}, files={"/data/f": 128 * MIB})
    forecast = cached_after(scenario)
    found = []
    # There are machines that take back page cache at any moment.
    while len(found) < TRIES and forecast not in found:
        found.append(cached_after(scenario, there))
    # Where the kernel does not say what it reads ahead it is something.
    assert forecast in found or (known is None and min(found) > forecast)
