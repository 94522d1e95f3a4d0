"""The disks' own counters tell what part of what was written lately went to a disk."""

import pytest

from pagecast.validation.writeout import Writeout

MIB = 1 << 20


@pytest.fixture
def disks(tmp_path):
    """Make a disk with a partition, and another that is mounted as a whole."""
    proc, sys = tmp_path / "proc", tmp_path / "sys"
    (proc / "self").mkdir(parents=True)
    (proc / "self/mountinfo").write_text(
        "21 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw\n"
        "22 21 0:5 / /proc rw - proc proc rw\n"
        "23 21 252:0 / /mnt rw - ext4 /dev/zram0 rw\n"
    )
    for place, number in (("vda", "254:0"), ("vda/vda1", "254:1"), ("zram0", "252:0")):
        (sys / "block" / place).mkdir(parents=True)
        (sys / "block" / place / "dev").write_text(number + "\n")
    (sys / "block/vda/vda1/partition").write_text("1\n")
    (sys / "dev/block").mkdir(parents=True)
    for number, place in (("254:0", "vda"), ("254:1", "vda/vda1"), ("252:0", "zram0")):
        (sys / "dev/block" / number).symlink_to(sys / "block" / place)

    def wrote(vda, zram):
        for place, mib in (("vda", vda), ("zram0", zram)):
            (sys / "block" / place / "stat").write_text(f"1 2 3 4 5 6 {mib * MIB // 512} 8 9 10 11\n")

    return Writeout(proc, sys), wrote


def test_it_is_what_was_written_since_the_first_look(disks):
    writeout, wrote = disks
    assert writeout.share("254:0") is None
    wrote(1000, 0)
    writeout.look(100.0)
    assert writeout.share("254:0") is None
    wrote(1030, 10)
    writeout.look(100.0)
    assert writeout.share("254:0") == 0.75
    assert writeout.share("252:0") == 0.25
    assert writeout.share("252:0", more_bytes=20 * MIB) == 0.5


def test_half_is_forgotten_every_three_seconds(disks):
    writeout, wrote = disks
    wrote(0, 0)
    writeout.look(0.0)
    wrote(64, 0)
    writeout.look(0.0)
    assert writeout.share("252:0") == 0.0
    wrote(64, 16)
    writeout.look(6.0)
    assert writeout.share("252:0") == 0.5, "16 of 16 MiB, and a quarter of 64 is left"


def test_of_a_disk_without_a_file_system_and_of_idle_ones_nothing_is_known(disks):
    writeout, wrote = disks
    wrote(0, 0)
    writeout.look(0.0)
    assert writeout.share("254:0") is None
    assert writeout.share("254:1") is None, "a partition is part of its disk"
    assert writeout.share(None) is None


def test_a_place_that_tells_nothing_is_no_error(tmp_path):
    writeout = Writeout(tmp_path, tmp_path)
    writeout.look(0.0)
    assert writeout.share("254:0") is None
