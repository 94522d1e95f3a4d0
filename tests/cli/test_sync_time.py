"""``pagecast cache sync-time``: one line, or JSON."""

import json

from pagecast.exit_codes import ExitCode

ASKED = ("cache", "sync-time", "--machine", "wrench-cluster")


def test_sync_time_is_one_line(pagecast):
    outcome = pagecast(*ASKED, "--disk", "ssd", "--dirty", "5GB")
    assert (outcome.code, outcome.stderr) == (ExitCode.OK, "")
    assert outcome.stdout == "sync takes 9.69 s: 5 GB of dirty memory go to ssd\n"


def test_sync_time_takes_the_dirty_memory_of_this_machine(pagecast):
    found = json.loads(pagecast(*ASKED, "--disk", "ssd", "--json").stdout)
    assert (found["schema_version"], found["disk"]) == (1, "ssd")
    assert found["dirty_bytes"] % 1024 == 0


def test_sync_time_needs_a_machine_and_one_disk(pagecast):
    for arguments, what in ((ASKED[:2], "'--machine'"), (ASKED, "several disks, ssd, nfs")):
        outcome = pagecast(*arguments)
        assert (outcome.code, outcome.stdout) == (ExitCode.BAD_INPUT, "")
        assert what in outcome.stderr


def test_help_of_sync_time(pagecast, matches):
    matches(pagecast("cache", "sync-time", "--help"))
