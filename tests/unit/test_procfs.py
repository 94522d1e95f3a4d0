"""What is read from /proc and /sys."""

import pytest

from pagecast import procfs


@pytest.fixture
def told(tmp_path):
    """Make a file of a text."""

    def make(text):
        (tmp_path / "told").write_text(text)
        return tmp_path / "told"

    return make


def mountinfo(tmp_path, told):
    """Make a proc whose mounts are these."""
    (tmp_path / "self").mkdir()
    (tmp_path / "self/mountinfo").write_bytes(told)
    return tmp_path


def test_counts_are_by_the_name_of_their_line(told):
    lines = procfs.lines(told("MemFree:   1024 kB\nActive(file): 7 kB\nnr_dirty 5\npos:\t0\nflags: none\n\n"))
    assert procfs.counts(lines) == {"MemFree": 1024, "Active(file)": 7, "nr_dirty": 5, "pos": 0}


@pytest.mark.parametrize(
    ("text", "number", "chosen"), [("7\n", 7, None), ("[a] b", None, "a"), ("", None, None)]
)
def test_what_a_file_says(told, text, number, chosen):
    assert procfs.number(told(text)) == number
    assert procfs.chosen(told(text)) == chosen


def test_what_cannot_be_read_says_nothing(tmp_path):
    nowhere = tmp_path / "none"
    assert procfs.text(nowhere) is procfs.number(nowhere) is procfs.chosen(nowhere) is None
    assert procfs.lines(nowhere) == procfs.mounted(nowhere) == []
    assert procfs.block_device("8:1", str(nowhere), nowhere) is None


def test_a_mount_has_its_names_and_the_options_of_both(tmp_path):
    told = b"22 21 8:1 / /my\\040data rw,noatime shared:1 master:2 - ext4 /dev/a\\134b rw,data=ordered\n"
    (one,) = procfs.mounted(mountinfo(tmp_path, told))
    assert one == procfs.Mounted(22, "8:1", "/my data", "ext4", "/dev/a\\b", "rw,noatime,data=ordered")


def test_a_mount_may_have_any_name(tmp_path):
    told = (
        "1 0 8:1 / /a\u2028b\x0bc rw - ext4 /dev/sda1 rw\n".encode()
        + b"2 1 8:2 / /\xff rw - xfs /dev/sdb rw\n"
    )
    assert [each.point for each in procfs.mounted(mountinfo(tmp_path, told))] == ["/a\u2028b\x0bc", "/\udcff"]


def test_a_file_system_with_a_number_of_its_own_is_on_the_device_that_is_mounted(tmp_path):
    device = tmp_path / "devices/block/sda/sda1"
    device.mkdir(parents=True)
    (tmp_path / "dev/block").mkdir(parents=True)
    (tmp_path / "dev/block/8:1").symlink_to(device)
    (tmp_path / "dev/block/1:3").symlink_to(device)
    assert procfs.block_device("8:1", "none", tmp_path) == device
    assert procfs.block_device("0:40", "/dev/null", tmp_path) == device, "its number is 1:3"
    assert procfs.block_device("0:40", "none", tmp_path) is None
