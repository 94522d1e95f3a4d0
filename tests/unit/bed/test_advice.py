"""Commands of advice in the guest: which there are, how they are run, and what is made of the answers."""

import os
import subprocess

import pytest

from bed.advice_command import GUESTS, SCENARIOS, Answer, answers_of, commands_of, script_of, table
from bed.packages import BedError


@pytest.fixture(scope="module")
def commands():
    """Those of each scenario."""
    return {
        name: commands_of(SCENARIOS / f"{name}.toml", has_disk=settings.nfs is None)
        for name, settings in GUESTS.items()
    }


def command(commands, name, printed):
    (found,) = (each for each in commands[name] if each.printed == printed)
    return found


def test_all_kinds_of_commands_are_among_them(commands):
    printed = [each.printed.split()[0] for name in GUESTS for each in commands[name]]
    assert {*printed} == {"sysctl", "echo", "mount", "umount", "ionice", "exportfs"}
    files = " ".join(each.printed for each in commands["disk"])
    for name in ("read_ahead_kb", "nr_requests", "wbt_lat_usec", "queue/scheduler", "memory.max", "io.max"):
        assert name in files
    assert not any("sdX" in each.printed for each in commands["nfs"])


@pytest.mark.parametrize(
    ("name", "printed", "run", "look", "expected"),
    [
        ("disk", "sysctl vm.dirty_expire_centisecs=100", None, "sysctl -n vm.dirty_expire_centisecs", "100"),
        (
            "disk",
            "echo bfq > /sys/block/sdX/queue/scheduler",
            "echo bfq > /sys/block/nullb0/queue/scheduler",
            "cat /sys/block/nullb0/queue/scheduler",
            "bfq",
        ),
        (
            "disk",
            'echo "$(cat /sys/block/sdX/dev) wbps=10485760" > /sys/fs/cgroup/backup/io.max',
            'echo "$(cat /sys/block/nullb0/dev) wbps=10485760" > /sys/fs/cgroup/backup/io.max',
            "cat /sys/fs/cgroup/backup/io.max",
            "wbps=10485760",
        ),
        ("disk", "mount -o remount,commit=30 /data", None, "grep ' /data ' /proc/mounts", "commit=30"),
        (
            "disk",
            "umount /data && mount -t ext4 -o defaults,data=writeback /dev/sdX /data",
            "umount /data && mount -t ext4 -o defaults,data=writeback /dev/nullb0 /data",
            "grep ' /data ' /proc/mounts",
            "data=writeback",
        ),
        ("disk", "ionice -c 2 -n 7 -p $(pidof backup)", None, "ionice -p $(pidof backup)", "prio 7"),
        (
            "nfs",
            "umount /m && mount -t nfs4 -o defaults,nocto server:/z /m",
            "nsenter --net=/run/netns/cl -- sh -c 'umount /m && mount -t nfs4 "
            "-o addr=10.0.0.1,clientaddr=10.0.0.2,defaults,nocto 10.0.0.1:/ /m'",
            "grep ' /m ' /proc/mounts",
            "nocto",
        ),
    ],
)
def test_a_command_is_run_with_the_names_of_the_guest_and_then_looked_at(
    commands, name, printed, run, look, expected
):
    found = command(commands, name, printed)
    assert (found.run, found.look, found.expected) == (run or printed, look, expected)


def test_the_script_makes_what_commands_name_and_tries_each(commands, tmp_path):
    for name in GUESTS:
        script = tmp_path / name
        script.write_text(script_of(commands[name]))
        subprocess.run(["sh", "-n", script], check=True)
        assert script.read_text().count("\ntry ") == len(commands[name])
    lines = (tmp_path / "disk").read_text().splitlines()
    assert {"make_cgroup backup", "start_program backup"} <= {*lines}
    assert "make_mount /m" in (tmp_path / "nfs").read_text().splitlines()


def test_a_shell_writes_what_is_read(tmp_path, commands):
    """The function `try` of the guest, in a folder of its own."""
    script = script_of([]).partition("# make_cgroup")[2].replace("/tmp/accepted.csv", str(tmp_path / "csv"))
    tries = """\
echo number,code,message,seen >CSV
try 0 'echo 5 > FILE' 'cat FILE'
try 1 'echo "no, \\"never\\"" >&2; exit 3' 'cat FILE'
""".replace("FILE", str(tmp_path / "f")).replace("CSV", str(tmp_path / "csv"))
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "dmesg").write_text("#!/bin/sh\n")
    (bin_ / "dmesg").chmod(0o755)
    path = {"PATH": f"{bin_}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-eu", "-c", f"#{script}{tries}"], check=True, env=path)
    first, second = answers_of(commands["disk"][:2], (tmp_path / "csv").read_text())
    assert (first.code, first.message, first.seen) == (0, "", "5")
    assert (second.code, second.message, second.seen) == (3, "no, 'never'", "5")


def test_a_value_that_is_not_seen_was_not_accepted(commands):
    of_scheduler = command(commands, "disk", "echo bfq > /sys/block/sdX/queue/scheduler")
    assert Answer(of_scheduler, 0, "", "none mq-deadline [bfq] kyber").is_accepted
    of_requests = command(commands, "disk", "echo 512 > /sys/block/sdX/queue/nr_requests")
    refused = Answer(of_requests, 1, "Invalid argument", "64")
    other = Answer(of_requests, 0, "", "128")
    assert not refused.is_accepted
    assert not other.is_accepted
    assert table([refused, other]).splitlines()[2:4] == [
        "| disk nr_requests | `echo 512 > /sys/block/sdX/queue/nr_requests` | 2 | 0 |",
        "- `echo 512 > /sys/block/sdX/queue/nr_requests`: exit code 1, Invalid argument; "
        "then `cat /sys/block/nullb0/queue/nr_requests` says: 64",
    ]


def test_missing_answers_are_an_error(commands):
    with pytest.raises(BedError, match="the guest answered 0 of 51 commands"):
        answers_of(commands["disk"], "number,code,message,seen\n")
