"""`pagecast run` on a real disk: the tables of a simulation, and nothing left behind whatever happens."""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from pagecast.exit_codes import ExitCode
from tests.cli.mounts import in_own_mounts
from tests.cli.stopping import ENDINGS, stop
from tests.cli.unprivileged import Unprivileged, skip_unless_root
from tests.disk import folder_on_disk

COMMAND = [sys.executable, "-m", "pagecast", "run"]
MACHINE = """\
models = ["kernel"]
[machine]
cores = 2
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "900 TB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""
SMALL = (
    MACHINE
    + """\
[[file]]
path = "/data/in"
size = "2 MB"
[[process]]
name = "app"
do = [
  { read = "/data/in", call = "64 KiB" },
  { compute = "10 ms" },
  { write = "/data/out", size = "3 MB", call = "1 MiB" },
  { fsync = "/data/out" },
  { signal = "written" },
]
[[process]]
name = "reader"
do = [
  { wait = "written" },
  { read = "/data/out", buffer = "fresh" },
  { unlink = "/data/out" },
  { sleep = "60 ms" },
]
"""
)
LONG = (
    MACHINE
    + "[[process]]\nname = 'p'\ndo = [ { write = '/data/out', size = '2 MB' }, { sleep = '100 s' } ]\n"
)


@pytest.fixture
def on_disk(pagecast, monkeypatch):
    """The command line in a folder on a disk, with scenarios and a directory `there` to run them in."""
    with folder_on_disk(pagecast.folder) as folder:
        pagecast.folder = folder
        monkeypatch.chdir(folder)
        (folder / "small.toml").write_text(SMALL)
        (folder / "long.toml").write_text(LONG)
        (folder / "there").mkdir()
        yield pagecast


def left(on_disk):
    """Give what is in the directory of the runs."""
    return sorted(path.name for path in (on_disk.folder / "there").iterdir())


def start(on_disk, *, nohup=False):
    """Start a run that lasts long, and wait until its program has written."""
    process = subprocess.Popen(
        [*(["nohup"] if nohup else []), *COMMAND, "long.toml", "--dir", "there"],
        cwd=on_disk.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any(file.stat().st_size for file in (on_disk.folder / "there").glob("*/data/out")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    return process


def test_tables_are_those_of_a_simulation(on_disk):
    measured = on_disk("run", "small.toml", "--dir", "there", "--json")
    forecast = on_disk("simulate", "small.toml", "--json")
    assert (measured.code, left(on_disk)) == (ExitCode.OK, [])
    measured, forecast = json.loads(measured.stdout), json.loads(forecast.stdout)
    run, simulated = measured["runs"][0], forecast["runs"][0]
    assert (run["model"], measured["schema_version"]) == ("measured", forecast["schema_version"])
    for name in ("operations", "parts", "timeline", "bdi", "devices", "files", "events"):
        more = ("call_bytes", "run_queue_s") if name == "operations" else ()
        assert [*run[name]] == [*simulated[name], *more], name
    by_process = [
        sorted(
            zip(
                *(table["operations"][key] for key in ("process", "index", "operation", "path", "bytes")),
                strict=True,
            )
        )
        for table in (run, simulated)
    ]
    assert by_process[0] == by_process[1]
    assert set(run) - set(simulated) == {"calls", "samples", "file_samples", "trace"}
    assert measured["provenance"]["kernel"].startswith("Linux ")


def test_calls_have_their_times_and_add_up_to_their_operations(on_disk):
    run = json.loads(on_disk("run", "small.toml", "--dir", "there", "--json", "--per-call", "2").stdout)
    tables = {
        name: [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        for name, table in run["runs"][0].items()
        if name in ("operations", "calls")
    }
    calls = {}
    for row in tables["calls"]:
        calls.setdefault((row["process"], row["index"]), []).append(row)
    moved = [row for row in tables["operations"] if row["operation"] in ("read", "write")]
    assert set(calls) == {(row["process"], row["index"]) for row in moved}
    for whole in moved:
        rows = calls[whole["process"], whole["index"]]
        assert {(row["operation"], row["path"]) for row in rows} == {(whole["operation"], whole["path"])}
        assert sum(row["bytes"] for row in rows) == whole["bytes"]
        assert rows[0]["offset_bytes"] == whole["offset_bytes"]
        assert whole["start_s"] <= rows[0]["start_s"] <= rows[-1]["end_s"] <= whole["end_s"]
        assert all(one["end_s"] == next["start_s"] for one, next in itertools.pairwise(rows))
    # 2 MB in calls of 64 KiB, 3 MB in calls of 1 MiB, and a whole file in one.
    assert [sum(row["calls"] for row in rows) for rows in calls.values()] == [31, 3, 1]
    assert [row["calls"] for row in calls["app", 2]] == [2, 1]


def test_operations_add_up_and_follow_each_other(on_disk):
    run = json.loads(on_disk("run", "small.toml", "--dir", "there", "--json").stdout)["runs"][0]
    operations, parts = run["operations"], run["parts"]
    rows = [dict(zip(operations, row, strict=True)) for row in zip(*operations.values(), strict=True)]
    assert [row["end_s"] for row in rows] == sorted(row["end_s"] for row in rows)
    for number, row in enumerate(rows):
        split = sum(values[number] for name, values in parts.items() if name.endswith("_s"))
        assert split == pytest.approx(row["duration_s"], abs=1e-8)
        assert 0 <= row["run_queue_s"] <= row["duration_s"]
        if row["operation"] in ("read", "write"):
            assert row["from_cache_bytes"] + row["from_device_bytes"] == row["bytes"]
    named = {(row["process"], row["operation"]): row for row in rows}
    assert {key: row["call_bytes"] for key, row in named.items() if row["call_bytes"]} == {
        ("app", "read"): 64 << 10,
        ("app", "write"): 1 << 20,
        ("reader", "read"): 3_000_000,
    }
    assert named["app", "read"]["from_device_bytes"] > 1_000_000, "the file was cold"
    assert named["app", "compute"]["duration_s"] >= 0.01
    assert named["reader", "sleep"]["duration_s"] >= 0.06
    assert named["reader", "wait"]["end_s"] >= named["app", "fsync"]["end_s"]
    assert run["files"]["path"] == ["/data/in"], "the other one was removed"


def test_mapped_files_have_the_rows_of_their_forecast(on_disk):
    text = MACHINE + (
        "[[file]]\npath = '/data/in'\nsize = '2 MB'\n[[process]]\nname = 'app'\ndo = [ "
        "{ mmap_read = '/data/in' }, { mmap_write = '/data/in', offset = '1 MB', size = '64 KiB' }, "
        "{ msync = '/data/in' } ]\n"
    )
    (on_disk.folder / "mapped.toml").write_text(text)
    run = json.loads(on_disk("run", "mapped.toml", "--dir", "there", "--json").stdout)["runs"][0]
    forecast = json.loads(on_disk("simulate", "mapped.toml", "--json").stdout)["runs"][0]
    for column in ("operation", "path", "offset_bytes", "bytes"):
        assert run["operations"][column] == forecast["operations"][column]
    assert run["operations"]["operation"] == ["mmap_read", "mmap_write", "msync"]


def test_the_machine_is_looked_at(on_disk):
    outcome = on_disk("run", "small.toml", "--dir", "there", "--json", "--sample-hz", "100")
    run = json.loads(outcome.stdout)["runs"][0]
    samples = run["samples"]
    assert len(samples["time_s"]) >= 3
    assert samples["time_s"] == sorted(samples["time_s"])
    assert samples["nr_dirtied_bytes"][-1] > samples["nr_dirtied_bytes"][0]
    assert all(dirty < 2**40 for dirty in run["timeline"]["dirty_bytes"])
    assert "of one processor" in outcome.stderr


def test_initial_files_are_as_the_scenario_says(on_disk):
    text = MACHINE + (
        "[[file]]\npath = '/data/f'\nsize = '4 MiB'\ncached = '2 MiB'\ndirty = '1 MiB'\n"
        "[[process]]\nname = 'p'\ndo = [ { sleep = '10 ms' } ]\n"
    )
    (on_disk.folder / "warm.toml").write_text(text)
    outcome = on_disk("run", "warm.toml", "--dir", "there", "--json", "--keep")
    files = json.loads(outcome.stdout)["runs"][0]["files"]
    assert (files["size_bytes"], files["cached_bytes"]) == ([4 << 20], [2 << 20])
    assert files["dirty_bytes"][0] in (0, 1 << 20), "0 where the kernel does not tell"
    (kept,) = left(on_disk)
    assert f"The files are in {on_disk.folder / 'there' / kept}" in outcome.stderr
    content = (on_disk.folder / "there" / kept / "data" / "f").read_bytes()
    assert len(content) == 4 << 20
    assert len(set(content)) == 256
    assert sorted(os.listdir(on_disk.folder / "there" / kept)) == ["data"], "no marker is left in it"
    on_disk("run", "warm.toml", "--dir", "there", "--json")
    assert left(on_disk) == [kept]


def test_copies_are_what_they_were_made_from(on_disk):
    ways = ["read_write", "sendfile", "copy_file_range"]
    copies = ", ".join(
        f"{{ copy = '/data/f', to = '/data/{by}', by = '{by}', call = '3 MiB' }}" for by in ways
    )
    text = MACHINE + (
        f"[[file]]\npath = '/data/f'\nsize = '9999999 B'\n[[process]]\nname = 'p'\ndo = [ {copies} ]\n"
    )
    (on_disk.folder / "copies.toml").write_text(text)
    outcome = on_disk("run", "copies.toml", "--dir", "there", "--json", "--keep")
    operations = json.loads(outcome.stdout)["runs"][0]["operations"]
    assert operations["bytes"] == [9_999_999] * 3
    (kept,) = left(on_disk)
    data = on_disk.folder / "there" / kept / "data"
    source = (data / "f").read_bytes()
    assert all((data / by).read_bytes() == source for by in ways)


def test_a_copy_that_cannot_be_is_refused_with_the_words_of_a_simulation(on_disk):
    text = MACHINE + (
        "[[file]]\npath = '/data/f'\nsize = '1 MiB'\n[[process]]\nname = 'p'\n"
        "do = [ { open = '/data/f', flags = ['O_DIRECT'] },\n"
        "  { copy = '/data/f', to = '/data/g', by = 'sendfile' } ]\n"
    )
    (on_disk.folder / "direct.toml").write_text(text)
    simulated = on_disk("simulate", "direct.toml")
    run = on_disk("run", "direct.toml", "--dir", "there")
    assert simulated.code == run.code != ExitCode.OK
    for outcome in (simulated, run):
        assert "process `p` copies /data/f to /data/g by sendfile" in outcome.stderr
        assert "one of them is open with O_DIRECT" in outcome.stderr
    assert left(on_disk) == []


def test_dry_run_says_what_would_be_written_and_writes_nothing(on_disk):
    outcome = on_disk("run", "small.toml", "--dir", "there", "--dry-run")
    assert (outcome.code, outcome.stdout, left(on_disk)) == (ExitCode.OK, "", [])
    assert (
        "2 files, 2 MB to write before the start, 3 MB by the programs; 5 MB of disk at most ("
        in outcome.stderr
    )


def test_results_are_saved_as_those_of_a_simulation(on_disk):
    outcome = on_disk("run", "small.toml", "--dir", "there", "--out", "results")
    assert outcome.code == ExitCode.OK
    assert "Totals" in outcome.stdout
    names = {path.name for path in (on_disk.folder / "results" / "measured").iterdir()}
    assert {"operations.csv", "timeline.csv", "samples.csv", "file_samples.csv", "trace.json"} <= names


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_when_it_is_stopped(ending, on_disk):
    stop(start(on_disk), ending)
    assert left(on_disk) == []


SLOW_DISK = """\
THROTTLE=/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device
test -w $THROTTLE && mkdir memory disk && mount -t tmpfs tmpfs memory && truncate -s 600M memory/image \
  && mkfs.ext4 -q memory/image && mount -o loop memory/image disk || exit 77
number=$(mountpoint -d disk)
trap 'echo $number 0 > $THROTTLE' EXIT
echo $number 5000000 > $THROTTLE || exit 77
# Its dirty limit is its own, too.
echo 1 > /sys/class/bdi/$number/strict_limit && echo 5000000 > /sys/class/bdi/$number/max_bytes || exit 77
"""
"""A disk in memory that writes 5 MB/s, and of which 5 MB may be dirty."""


def test_a_write_that_is_held_up_is_broken_off(on_disk):
    """A write(2) of 500 MB would hold the run for 100 s."""
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("only root can make a slow disk, with mkfs.ext4")
    (on_disk.folder / "x.toml").write_text(
        MACHINE + "[[process]]\nname = 'p'\ndo = [ { write = '/data/out', size = '500 MB' } ]\n"
    )
    script = SLOW_DISK + (
        f"{sys.executable} -m pagecast run x.toml --dir disk & run=$!\n"
        "until [ -s disk/pagecast-run-*/data/out ]; do sleep 0.1; done; sleep 1; kill -TERM $run; "
        "begun=$(date +%s); wait $run; code=$?\n"
        "echo $(($(date +%s) - begun)); ls disk; exit $code"
    )
    ended = in_own_mounts(script, on_disk.folder, "a slow loop device")
    assert ended.returncode == ExitCode.INTERRUPTED, ended.stderr
    seconds, *names = ended.stdout.split()
    assert int(seconds) < 20, ended.stderr
    assert names == ["lost+found"]


def test_nohup_is_not_stopped_by_a_terminal_that_closes(on_disk):
    process = start(on_disk, nohup=True)
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    stop(process, signal.SIGTERM)
    assert left(on_disk) == []


def test_what_a_killed_run_left_goes_with_the_next(on_disk):
    for number in range(4):
        process = (
            start(on_disk)
            if number == 0
            else subprocess.Popen(
                [*COMMAND, "small.toml", "--dir", "there"], cwd=on_disk.folder, stderr=subprocess.PIPE
            )
        )
        time.sleep(random.Random(number).uniform(0, 0.6) if number else 0)
        process.kill()
        process.communicate()
        if number == 0:
            assert len(left(on_disk)) == 1
    (on_disk.folder / "there" / "pagecast-run-of-mine").mkdir()
    assert on_disk("run", "small.toml", "--dir", "there").code == ExitCode.OK
    assert left(on_disk) == ["pagecast-run-of-mine"], "and nothing else"


def test_runs_beside_each_other_leave_each_other_alone(on_disk):
    process = start(on_disk)
    assert on_disk("run", "small.toml", "--dir", "there").code == ExitCode.OK
    assert len(left(on_disk)) == 1
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert left(on_disk) == []


def refused(on_disk, *arguments, code=ExitCode.BAD_INPUT):
    """Give the one line that a run ends with."""
    outcome = on_disk("run", *arguments)
    assert (outcome.code, outcome.stdout) == (code, ""), outcome
    assert left(on_disk) == []
    return outcome.stderr.splitlines()[-1].removeprefix("pagecast: error: ")


def test_directories_that_cannot_be_used(on_disk):
    assert refused(on_disk, "small.toml", "--dir", "none") == (
        "none: there is no such file or directory; check the name"
    )
    assert refused(on_disk, "small.toml", "--dir", "small.toml") == (
        "small.toml: is no directory; name one on the disk to be measured"
    )
    (on_disk.folder / "loop").symlink_to("loop")
    assert refused(on_disk, "small.toml", "--dir", "loop") == (
        "loop: too many symbolic links; they lead back to themselves"
    )
    assert "proc at /proc, which has no device below it" in refused(
        on_disk, "small.toml", "--dir", "/proc/self"
    )


def test_memory_is_no_disk(on_disk):
    if not os.path.ismount("/dev/shm"):
        pytest.skip("/dev/shm is not there")
    assert refused(on_disk, "small.toml", "--dir", "/dev/shm") == (
        "/dev/shm: is on tmpfs at /dev/shm, which has no device below it that could be measured; "
        "name a directory on a disk"
    )


def test_a_name_that_is_not_utf_8(on_disk):
    name = os.fsdecode(b"there/caf\xe9")
    os.mkdir(name)
    outcome = on_disk("run", "small.toml", "--dir", name)
    assert (outcome.code, os.listdir(name)) == (ExitCode.OK, [])
    assert r"in a folder of there/caf\xe9: 2 files" in outcome.stderr
    os.rmdir(name)


def test_what_does_not_fit_is_not_begun(on_disk):
    large = SMALL.replace('"3 MB"', '"800 TB"')
    (on_disk.folder / "large.toml").write_text(large)
    text = refused(on_disk, "large.toml", "--dir", "there")
    assert " are free, and 800 TB would be written; make room" in text
    (on_disk.folder / "memory.toml").write_text(SMALL.replace('sleep = "60 ms"', 'alloc = "9 TB"'))
    text = refused(on_disk, "memory.toml", "--dir", "there", code=ExitCode.SIMULATION_FAILED)
    assert text.startswith("the programs would hold 9 TB of memory, and only ")


NFS = """\
host.client = { from = "wrench-cluster", mount."/n" = { nfs = "server:/data" } }
host.server = { from = "wrench-cluster" }
link.lan = { between = ["client", "server"], rate = "1 GB/s" }
[[file]]
host = "server"
path = "/data/in"
size = "2 MB"
[[process]]
name = "p"
host = "client"
do = [ { read = "/n/in" }, { write = "/n/f", size = "1 MB" } ]
[[process]]
name = "q"
host = "server"
after = ["p"]
do = [ { read = "/data/f" } ]
"""


def played(on_disk, *words):
    outcome = on_disk("run", "nfs.toml", "--json", *words)
    assert outcome.code == ExitCode.OK, outcome.stderr
    columns = json.loads(outcome.stdout)["runs"][0]["operations"]
    names = ("process", "host", "operation", "bytes")
    return outcome.stderr, list(zip(*(columns[name] for name in names), strict=True))


def test_the_hosts_of_a_scenario_are_played_together(on_disk):
    (on_disk.folder / "nfs.toml").write_text(NFS)
    text, rows = played(on_disk, "--dir", "there")
    assert rows == [
        ("p", "client", "read", 2_000_000),
        ("p", "client", "write", 1_000_000),
        ("q", "server", "read", 1_000_000),
    ]
    assert "This machine plays 2 hosts: with its own memory, vm settings and disks" in text
    assert "They share a page cache." in text
    # A link shows the directory of the server, as a mount of it does.
    (on_disk.folder / "mount").symlink_to(on_disk.folder / "there")
    text, again = played(on_disk, "--dir", "server=there", "--dir", "client=mount")
    assert again == rows
    assert "client: in mount, " in text
    assert "server: in there, " in text
    assert played(on_disk, "--dir", "there", "--dir", "client=mount")[1] == rows
    assert os.listdir(on_disk.folder / "there") == []


def test_hosts_that_share_files_need_directories_that_do(on_disk):
    (on_disk.folder / "nfs.toml").write_text(NFS)
    (on_disk.folder / "other").mkdir()
    text = refused(on_disk, "nfs.toml", "--dir", "server=there", "--dir", "client=other")
    assert text.startswith(
        "host `server` shares files with host `client`, and its directory there does not show"
    )
    text = refused(on_disk, "nfs.toml", "--dir", "sever=there")
    assert text == "--dir sever=...: there is no host `sever`; there are client, server"
    assert os.listdir(on_disk.folder / "other") == []


def test_what_one_machine_does_not_have(on_disk):
    drops = NFS.replace("{ read = '/n/in' }", "").replace('{ read = "/n/in" }', "{ drop_caches = true }")
    (on_disk.folder / "nfs.toml").write_text(drops)
    assert refused(on_disk, "nfs.toml", "--dir", "there").startswith(
        "nfs.toml: drop_caches of one of 2 hosts (client, server), which would empty the page cache of all, "
    )
    member = SMALL.replace("[machine]", '[machine]\ncgroup.few = { memory.max = "1 GB" }').replace(
        'name = "app"', 'name = "app"\ncgroup = "few"'
    )
    (on_disk.folder / "cgroup.toml").write_text(member)
    text = refused(on_disk, "cgroup.toml", "--dir", "there")
    assert text.startswith(
        "cgroup.toml: process `app` in a memory cgroup of its own cannot be run for real; leave"
    )


@pytest.mark.parametrize(
    ("operation", "code", "says"),
    [
        (
            "{ read = '/data/in', size = '3 MB' }",
            ExitCode.SIMULATION_FAILED,
            "process `app` reads 3 MB at offset 0 B of /data/in, which has 2 MB at ",
        ),
        (
            "{ unlink = '/data/in' }, { read = '/data/in' }",
            ExitCode.SIMULATION_FAILED,
            "process `app` does a read of /data/in at ",
        ),
        (
            "{ open = '/data/o', create = true, flags = ['O_DIRECT'] }, "
            "{ write = '/data/o', size = '100 B' }",
            ExitCode.SIMULATION_FAILED,
            "process `app` does a write of 100 B at offset 0 of /data/o in calls of 100 B at ",
        ),
        (
            "{ mmap_write = '/data/in', offset = '1 MB', size = '2 MB' }",
            ExitCode.SIMULATION_FAILED,
            "process `app` does a mmap_write of 2 MB at offset 1 MB of /data/in, which has 2 MB at ",
        ),
        (
            "{ wait = 'done' }, { signal = 'begun' }",
            ExitCode.SIMULATION_FAILED,
            "process `app` waits for event `done`, which no process signals any more; "
            "process `reader` waits for event `begun`",
        ),
    ],
)
def test_a_workload_that_cannot_go_on(operation, code, says, on_disk):
    text = MACHINE + (
        "[[file]]\npath = '/data/in'\nsize = '2 MB'\n"
        f"[[process]]\nname = 'app'\ndo = [ {operation} ]\n"
        "[[process]]\nname = 'reader'\ndo = [ { wait = 'begun' }, { signal = 'done' } ]\n"
    )
    if "signal = 'begun'" not in operation:
        text = text.replace("{ wait = 'begun' }, ", "")
    (on_disk.folder / "x.toml").write_text(text)
    assert says in refused(on_disk, "x.toml", "--dir", "there", code=code)


def test_a_full_disk_is_one_message(on_disk):
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("only root can make a small disk, with mkfs.ext4")
    # The disk is full because somebody else fills it meanwhile.
    (on_disk.folder / "x.toml").write_text(
        MACHINE
        + "[[process]]\nname = 'p'\ndo = [ { sleep = '1.5 s' }, { write = '/data/f', size = '30 MB' } ]\n"
    )
    script = (
        "truncate -s 64M image && mkfs.ext4 -q image && mkdir disk && mount -o loop image disk || exit 77; "
        "(while ! ls disk/pagecast-run-* 2>/dev/null; do sleep 0.05; done; "
        "head -c 100000000 /dev/zero > disk/full; sync) >/dev/null 2>&1 & "
        f"{sys.executable} -m pagecast run x.toml --dir disk; code=$?; ls disk; exit $code"
    )
    ended = in_own_mounts(script, on_disk.folder, "a loop device")
    assert ended.returncode == ExitCode.SIMULATION_FAILED, ended.stderr
    assert "process `p`, write of /data/f at 1.5" in ended.stderr
    assert (
        "No space left on device (os error 28); make room, or name a directory on a larger disk"
        in ended.stderr
    )
    assert ended.stdout.split() == ["full", "lost+found"]


def test_without_tracefs_it_is_said_what_to_mount(on_disk):
    script = "umount -q -l -A tracefs debugfs; "
    script += f"{sys.executable} -m pagecast run small.toml --dir there --trace"
    ended = in_own_mounts(script, on_disk.folder, "tracefs")
    assert (ended.returncode, ended.stdout, left(on_disk)) == (ExitCode.BAD_INPUT, "", [])
    assert ended.stderr == (
        "pagecast: error: tracing needs tracefs, which is not mounted (/sys/kernel/tracing/instances: "
        "No such file or directory (os error 2)); mount it "
        "(mount -t tracefs tracefs /sys/kernel/tracing), or leave tracing out\n"
    )


def test_the_kernel_says_what_it_reckons_with(on_disk):
    script = (
        "mount -t tracefs tracefs /sys/kernel/tracing || exit 77; "
        f"{sys.executable} -m pagecast run small.toml --dir there --trace --json; "
        "ls /sys/kernel/tracing/instances | grep pagecast >&2"
    )
    ended = in_own_mounts(script, on_disk.folder, "tracefs")
    trace = json.loads(ended.stdout)["runs"][0]["trace"]
    assert "writeback_single_inode" in trace["event"], "fsync wrote a file"
    assert trace["time_s"] == sorted(trace["time_s"])
    assert "of one processor" in ended.stderr.splitlines()[-1] or "waited" in ended.stderr.splitlines()[-1]


@pytest.fixture
def unprivileged(on_disk):
    """The command line as a user without rights."""
    skip_unless_root()
    # The interpreter's own files may not be readable for that user: let everything be imported before.
    on_disk("run", "small.toml", "--dir", "there")
    on_disk("run", "small.toml", "--dir", "there", "--json")
    return Unprivileged(on_disk, "run")


def test_without_rights(unprivileged):
    outcome = unprivileged("small.toml", "--dir", "there", "--json")
    assert (outcome.code, left(unprivileged)) == (ExitCode.OK, [])
    run = json.loads(outcome.stdout)["runs"][0]
    assert len(run["operations"]["index"]) == 9
    drop = LONG.replace("{ sleep = '100 s' }", "{ drop_caches = true }")
    (unprivileged.folder / "drop.toml").write_text(drop)
    outcome = unprivileged("drop.toml", "--dir", "there")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "dropping all caches needs root (" in outcome.stderr
    assert left(unprivileged) == [], "found out before the start"
    outcome = unprivileged("small.toml", "--dir", "there", "--trace")
    assert (outcome.code, left(unprivileged)) == (ExitCode.BAD_INPUT, [])
    assert "tracing needs " in outcome.stderr, "tracefs where it is not mounted, else root"
    (unprivileged.folder / "there").chmod(0o555)
    outcome = unprivileged("small.toml", "--dir", "there")
    assert outcome.code == ExitCode.BAD_INPUT
    assert (
        "there: cannot be written to (Permission denied (os error 13)); choose another directory"
        in outcome.stderr
    )


def test_wrong_use(on_disk, matches):
    matches(on_disk("run", "small.toml"))


def test_help_of_run(on_disk, matches):
    matches(on_disk("run", "--help"))
