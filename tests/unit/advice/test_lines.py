"""Lines to paste: those of every knob are accepted by the tools that read them."""

import re
import shutil
import subprocess

import pytest

import pagecast as pc
from pagecast.advice.knob import Line, Setting
from pagecast.advice.knobs import udev_line
from pagecast.advice.lines import pastes
from pagecast.advice.search import Suggestion
from tests.unit.advice.conftest import BESIDE, SEVERAL, knobs_of


def suggestion(*settings):
    return Suggestion(settings, (), (), {}, None, 0.0)


@pytest.fixture(scope="module")
def knobs(tmp_path_factory):
    """All knobs of both scenarios."""
    found = []
    for number, text in enumerate((BESIDE, SEVERAL)):
        path = tmp_path_factory.mktemp("knobs") / f"{number}.toml"
        path.write_text(text)
        scenario = pc.Scenario.load(path)
        found += knobs_of(scenario, path.read_bytes())
    return found


@pytest.fixture(scope="module")
def lines(knobs):
    return [line for knob in knobs for setting in knob.settings for line in setting.lines]


def test_every_setting_has_a_line_and_every_line_of_a_disk_a_command(knobs):
    assert len({knob.name for knob in knobs}) == len(knobs)
    for knob in knobs:
        for setting in knob.settings:
            assert setting.lines, setting.text
            for line in setting.lines:
                assert line.now or not line.file
                assert line.cgroup or not line.now.startswith("systemctl ")


def test_overrides_are_understood(tmp_path, knobs):
    paths = [tmp_path / "beside.toml", tmp_path / "several.toml"]
    for path, text in zip(paths, (BESIDE, SEVERAL), strict=True):
        path.write_text(text)
    for knob in knobs:
        for setting in knob.settings:
            of_several = any(text.startswith("host.") or "process.app" in text for text in setting.overrides)
            assert pc.Scenario.load(paths[of_several], set=setting.overrides).machine_hash


def test_lines_of_sysctl_name_settings_of_the_kernel(lines):
    found = {line.text.split(" = ")[0] for line in lines if line.file.startswith("/etc/sysctl.d")}
    assert found == {
        "vm.dirty_bytes",
        "vm.dirty_background_bytes",
        "vm.dirty_expire_centisecs",
        "vm.dirty_writeback_centisecs",
    }


def test_rules_of_udev_have_matches_and_one_assignment(lines):
    rule = re.compile(r'(?:[A-Z]+=="[^"]+", )+ATTR\{queue/[a-z_]+\}="[a-z0-9-]+"')
    rules = [line.text for line in lines if line.file.startswith("/etc/udev")]
    assert rules
    assert all(rule.fullmatch(each) for each in rules)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_takes_the_properties(tmp_path, lines):
    properties = dict.fromkeys(line.text for line in lines if line.file.startswith("/etc/systemd"))
    assert len(properties) > 5
    unit = tmp_path / "backup.service"
    unit.write_text("[Service]\nType=oneshot\nExecStart=/bin/true\n" + "\n".join(properties) + "\n")
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--generators=no", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{unit}:" not in ended.stderr, ended.stderr
    assert ended.returncode == 0, ended.stderr


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_refuses_a_property_that_is_none(tmp_path):
    unit = tmp_path / "backup.service"
    unit.write_text("[Service]\nType=oneshot\nExecStart=/bin/true\nMemoryMax=much\n")
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--generators=no", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Invalid memory limit 'much'" in ended.stderr


@pytest.mark.skipif(not shutil.which("findmnt"), reason="findmnt is not installed")
def test_findmnt_takes_the_lines_of_fstab(tmp_path, lines):
    found = dict.fromkeys(line.text for line in lines if line.file == "/etc/fstab")
    assert len(found) > 5
    for text in found:
        table = tmp_path / "fstab"
        table.write_text(f"{text}\n")
        ended = subprocess.run(
            ["findmnt", "--verify", "--tab-file", table], capture_output=True, text=True, check=False
        )
        # The disk and the directory are not there; what remains is what it says about the line.
        assert "0 parse errors" in ended.stdout + ended.stderr, ended.stdout
        assert not re.search(r"\[[EW]\].*(option|fstype|line)", ended.stdout), ended.stdout


def test_lines_of_one_file_stand_together_below_their_section():
    one, two = (
        Setting(text, (f"k={text}",), (Line("/etc/u.conf", text, "[Service]", f"set {text}"),))
        for text in ("MemoryMax=1", "IOSchedulingClass=idle")
    )
    (paste,) = pastes(suggestion(one, two))
    assert paste.lines == ("[Service]", "MemoryMax=1", "IOSchedulingClass=idle")
    assert paste.now == ("set MemoryMax=1", "set IOSchedulingClass=idle")


def test_lines_of_two_hosts_stand_apart():
    settings = [
        Setting(host, (), (Line("/etc/sysctl.d/a.conf", f"k = {host}", host=host),)) for host in ("a", "b")
    ]
    assert [(each.host, each.lines) for each in pastes(suggestion(*settings))] == [
        ("a", ("k = a",)),
        ("b", ("k = b",)),
    ]


def test_a_client_has_dirty_limits_in_seconds_of_the_disk_of_its_server(knobs):
    (knob,) = (each for each in knobs if each.name == "vm.dirty_bytes on client")
    assert knob.settings[0].text == "dirty_bytes 38 MiB on client"
    assert knob.settings[0].overrides == (f"host.client.vm.dirty_bytes={38 << 20} B",)
    assert knob.settings[0].lines[0].host == "client"


def test_options_of_one_mount_are_one_line():
    settings = [
        Setting(option, (), (Line("/etc/fstab", f"/dev/sdX /data ext4 defaults,{option} 0 2"),))
        for option in ("commit=30", "data=writeback")
    ]
    (paste,) = pastes(suggestion(*settings))
    assert paste.lines == ("/dev/sdX /data ext4 defaults,commit=30,data=writeback 0 2",)
    assert paste.now == ("umount /data && mount -t ext4 -o defaults,commit=30,data=writeback /dev/sdX /data",)


def test_a_scheduler_comes_before_what_it_sets_anew():
    settings = [
        Setting(name, (), (udev_line(f"queue/{name}", value),))
        for name, value in (("nr_requests", 4), ("scheduler", "bfq"))
    ]
    (paste,) = pastes(suggestion(*settings))
    assert ["scheduler" in line for line in paste.lines] == [True, False]
    assert paste.now == (
        "echo bfq > /sys/block/sdX/queue/scheduler",
        "echo 4 > /sys/block/sdX/queue/nr_requests",
    )


def test_a_limit_of_a_unit_is_one_of_a_cgroup(knobs):
    (knob,) = (each for each in knobs if each.name == "io.max rbps of backup on ssd")
    (paste,) = pastes(suggestion(knob.settings[0]))
    assert paste.now == (
        "systemctl set-property --runtime backup.service 'IOReadBandwidthMax=/dev/sdX 50000000'",
    )
    assert paste.cgroup == ('echo "$(cat /sys/block/sdX/dev) rbps=50000000" > /sys/fs/cgroup/backup/io.max',)
    assert paste.needs_disk
