"""The disk in memory, made and undone here. Needs root, zram and the controller blkio of cgroup v1."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bed import disk
from bed.packages import BedError

ROOT = Path(__file__).parents[3]
LIMITS = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")

try:
    disk.check()
except BedError as error:
    pytest.skip(str(error), allow_module_level=True)


def state():
    """Say what the bed changes: block devices, limits, mounts, loop devices on a disk in memory.

    Other tests have loop devices on files meanwhile.
    """
    loops = subprocess.run(["losetup", "--list", "--noheadings"], capture_output=True, text=True, check=True)
    return (
        sorted(os.listdir("/sys/block")),
        LIMITS.read_text(),
        Path("/proc/mounts").read_text(),
        [line for line in loops.stdout.splitlines() if "/dev/zram" in line],
    )


@contextlib.contextmanager
def started(folder, *words):
    """Start the bed, with its command, as a group of processes that ends here."""
    command = [sys.executable, "-m", "bed", "disk", str(folder), "--size", "128", "--write", "16", *words]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("kind", ["zram", "queue"])
def test_a_command_finds_a_disk_of_the_wanted_rate_and_nothing_stays(tmp_path, kind):
    before = state()
    script = (
        'echo "$(stat -f -c %T "$BED_DISK")"; '
        'dd if=/dev/zero of="$BED_DISK/f" bs=1M count=24 oflag=direct 2>/dev/null; exit 7'
    )
    begun = time.monotonic()
    with started(tmp_path, "--kind", kind, "--queue", "16", "--", "sh", "-c", script) as process:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out.strip()) == (7, "ext2/ext3"), err
    # 24 MiB at 16 MiB/s; the throttle lets a tenth of a second's worth pass at first.
    assert time.monotonic() - begun > 24 / 16 - 0.2
    assert state() == before
    assert not (tmp_path / "undo.json").exists()


def test_a_disk_has_its_memory_before_the_rest_is_held(tmp_path, monkeypatch):
    """What a command writes takes nothing of what is left, until it writes more than the disk holds."""
    used = []

    def hold(*_):
        mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
        (device,) = (Path(source).name for source, point, *_ in mounts if point == str(tmp_path / "disk"))
        used.append(int(Path(f"/sys/block/{device}/mm_stat").read_text().split()[2]))

    # Nobody holds anything here: it would be all memory of this machine.
    monkeypatch.setattr(disk, "hold_all_but", hold)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert disk.act([str(tmp_path), "--kind", "zram", "--size", "128", "--leave", "512", "--", "true"]) == 0
    # All but the journal and the inodes, which mke2fs has filled with zeros.
    assert used[0] > 96 << 20


def test_what_the_command_has_started_ends_with_it_and_the_disk_is_given_back_at_once(tmp_path):
    """As with `timeout`: the bed alone is told to end, and whoever has a file open holds its disk."""
    before = state()
    script = 'setsid sh -c "trap : TERM; exec 3>$BED_DISK/held; while :; do sleep 1; done" & echo ready; wait'
    with started(tmp_path, "--", "sh", "-c", script) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
        assert state() == before
        assert not (tmp_path / "undo.json").exists()


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_a_bed_that_was_stopped_is_undone_then_or_by_the_next(tmp_path, way):
    before = state()
    with started(tmp_path, "--", "sh", "-c", "echo ready; sleep 60") as process:
        assert process.stdout.readline() == "ready\n"
        assert state() != before
        os.killpg(process.pid, way)
        process.wait(timeout=30)
    if way == signal.SIGKILL:
        assert state() != before
        with started(tmp_path, "--", "true") as process:
            _, err = process.communicate(timeout=60)
            assert (process.returncode, "undoing what an earlier run has left" in err) == (0, True)
    assert state() == before
