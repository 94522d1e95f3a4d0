"""`pagecast cache` on real files: what it says is what the kernel says, also when something is in the way."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pagecast._core import MemoryGroup
from pagecast.errors import NotAllowedError
from pagecast.exit_codes import ExitCode
from tests.cli.mounts import in_own_mounts
from tests.cli.stopping import ENDINGS, stop
from tests.cli.unprivileged import Unprivileged, skip_unless_root
from tests.disk import folder_on_disk, patiently

COMMAND = [sys.executable, "-m", "pagecast", "cache"]
SIZES = {"data/a": 1_000_000, "data/b": 300_001, "data/sub/c": 5000, "data/sub/empty": 0}


@pytest.fixture
def on_disk(pagecast, monkeypatch):
    """The command line in a folder on a disk, with some files in `data` that are cached and not dirty."""
    with folder_on_disk(pagecast.folder) as folder:
        pagecast.folder = folder
        monkeypatch.chdir(folder)
        (folder / "data" / "sub").mkdir(parents=True)
        for name, size in SIZES.items():
            write(folder / name, size)
        yield pagecast


def write(path: Path, size: int) -> None:
    """Write a file, and let the disk have it."""
    with path.open("wb") as file:
        file.write(b"\x07" * size)
        file.flush()
        os.fsync(file.fileno())


def document(pagecast, *arguments, code=ExitCode.OK):
    """Run a command of `pagecast cache` with --json."""
    verb, *rest = arguments
    outcome = pagecast("cache", verb, "--json", *rest)
    assert (outcome.code, outcome.stdout.count("\n")) == (code, 1), outcome
    found = json.loads(outcome.stdout)
    assert found["schema_version"] == 1
    return found


def cached(pagecast, *paths):
    return document(pagecast, "status", *paths)["totals"]["cached_bytes"]


@patiently
def test_what_was_written_is_cached(on_disk):
    found = document(on_disk, "status", "data")
    assert {row["path"]: row["size_bytes"] for row in found["files"]} == SIZES
    assert found["totals"]["size_bytes"] == found["totals"]["cached_bytes"] == sum(SIZES.values())
    assert all(row["cached_bytes"] <= row["size_bytes"] for row in found["files"])
    assert found["files"][0]["path"] == "data/a"
    assert found["problems"] == []


@patiently
def test_evict_then_warm(on_disk):
    done = document(on_disk, "evict", "data")
    assert done["is_cold"]
    assert (done["totals"]["cached_before_bytes"], done["totals"]["cached_after_bytes"]) == (1_305_001, 0)
    assert cached(on_disk, "data") == 0
    outcome = on_disk("cache", "evict", "data")
    assert (outcome.code, outcome.stderr) == (ExitCode.OK, "")
    assert outcome.stdout == "4 files cold: 0 B dropped, 0 B cached (verified).\n"
    outcome = on_disk("cache", "warm", "data")
    assert (outcome.code, outcome.stderr) == (ExitCode.OK, "")
    assert outcome.stdout == "4 files warm: 1.31 MB cached (verified); 1.31 MB of it was read.\n"
    assert document(on_disk, "warm", "data")["is_warm"]


def test_evict_says_that_others_lose_their_cache_too(on_disk):
    outcome = on_disk("cache", "evict", "data/a")
    assert outcome.stdout == (
        "1 file cold: 1 MB dropped, 0 B cached (verified).\n"
        "Other users of these files have lost their cached pages, too.\n"
    )


def test_dirty_data_is_made_durable_first(on_disk):
    (on_disk.folder / "dirty").write_bytes(b"\x01" * 3_000_000)
    done = document(on_disk, "evict", "dirty")
    assert done["is_cold"]
    assert (on_disk.folder / "dirty").read_bytes() == b"\x01" * 3_000_000


@pytest.mark.parametrize("verb", ["evict", "warm", "lock"])
@patiently
def test_dry_run_changes_nothing(verb, on_disk):
    if verb != "evict":
        on_disk("cache", "evict", "data")
    before = cached(on_disk, "data")
    outcome = on_disk("cache", verb, "data", "--dry-run")
    assert (outcome.code, outcome.stderr) == (ExitCode.OK, "")
    assert outcome.stdout.endswith("Nothing was done.\n")
    assert document(on_disk, verb, "data", "--dry-run")["dry_run"] is True
    assert cached(on_disk, "data") == before


@patiently
def test_status_for_people(on_disk, matches):
    on_disk("cache", "evict", "data")
    on_disk("cache", "warm", "data/b")
    matches(on_disk("cache", "status", "data", "--sort", "path"))


def test_top_and_sort(on_disk):
    found = document(on_disk, "status", "data", "--top", "2", "--sort", "size")
    assert [row["path"] for row in found["files"]] == ["data/a", "data/b"]
    assert (found["totals"]["files"], found["left_out"]["rows"]) == (4, 2)
    outcome = on_disk("cache", "status", "data", "--top", "1", "--sort", "path")
    assert "… and 3 more files; --all shows them." in outcome.stdout
    outcome = on_disk("cache", "status", "data", "--top", "1", "--all")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "--all and --top exclude each other" in outcome.stderr


@patiently
def test_a_picture_shows_which_parts_are_cached(on_disk):
    write(on_disk.folder / "long", 40 << 20)
    on_disk("cache", "evict", "long")
    with (on_disk.folder / "long").open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
        os.pread(file.fileno(), 10 << 20, 10 << 20)
    row = document(on_disk, "status", "long", "--cells", "4")["files"][0]
    assert row["cells"] == [0.0, 1.0, 0.0, 0.0]
    assert row["cached_bytes"] == 10 << 20
    outcome = on_disk("cache", "status", "long", "--cells", "8")
    assert "··██····  long" in outcome.stdout


@pytest.mark.parametrize("verb", ["status", "evict", "warm"])
@patiently
def test_mincore_does_as_well_and_says_what_it_does_not_know(verb, on_disk):
    found = document(on_disk, verb, "data", "--method", "mincore")
    assert {row["method"] for row in found["files"]} == {"mincore"}
    if verb == "status":
        assert found["totals"]["cached_bytes"] == sum(SIZES.values())
        assert found["totals"]["dirty_bytes"] is None
        outcome = on_disk("cache", "status", "data", "--method", "mincore")
        assert "asked with mincore, dirty, written-back and evicted bytes are not known" in outcome.stdout


def test_names_of_any_bytes(on_disk):
    folder = on_disk.folder / "odd"
    folder.mkdir()
    for name in (b"caf\xe9", b"a\nb\x1b[1m"):
        (folder / os.fsdecode(name)).write_bytes(b"x")
    outcome = on_disk("cache", "status", "odd")
    assert outcome.code == ExitCode.OK
    assert "odd/caf\\xe9" in outcome.stdout
    assert "odd/a\\nb\\x1b[1m" in outcome.stdout
    paths = {os.fsencode(row["path"]) for row in document(on_disk, "status", "odd")["files"]}
    assert paths == {b"odd/caf\xe9", b"odd/a\nb\x1b[1m"}
    assert document(on_disk, "evict", "odd/caf\udce9")["is_cold"]


def test_a_file_counts_once_under_all_its_names(on_disk):
    os.link("data/a", "data/again")
    os.symlink("a", "data/link")
    outcome = on_disk("cache", "status", "data", "data/a")
    assert "4 files, 1.31 MB: 1.31 MB cached (100 %)" in outcome.stdout
    assert outcome.stderr == (
        "pagecast: 1 symbolic link not followed; --follow does\n"
        "pagecast: 2 names of files that are counted under another name\n"
    )


def test_a_huge_sparse_file(on_disk):
    with (on_disk.folder / "sparse").open("wb") as file:
        file.truncate(1 << 42)
        file.seek(1 << 41)
        file.write(b"x" * 100_000)
    assert document(on_disk, "status", "sparse", "--cells", "16")["totals"]["size_bytes"] == 1 << 42
    assert document(on_disk, "evict", "sparse")["is_cold"]
    warm = document(on_disk, "warm", "sparse")
    assert warm["is_warm"]
    assert warm["totals"]["data_bytes"] < 200_000


WRONG_PATHS = {
    "nowhere": "there is no such file or directory; check the name",
    "loop": "too many symbolic links; they lead back to themselves",
    "pipe": "is a named pipe; only files and block devices are in the page cache",
    "socket": "is a socket; only files and block devices are in the page cache",
    "hollow": "there is no file in it that could be cached; name a file, or a directory with files",
    "/dev/null": "is a character device; only files and block devices are in the page cache",
    "/proc/cpuinfo": "is on proc, whose files are made up when they are read and are never in the page cache",
    "x" * 300: "the path is too long for the kernel; go to a directory on the way and start from there",
}


@pytest.mark.parametrize("verb", ["status", "evict", "warm", "lock", "cold"])
@pytest.mark.parametrize("path", WRONG_PATHS)
def test_a_path_that_cannot_be_used(verb, path, pagecast):
    os.symlink("loop", "loop")
    os.mkfifo("pipe")
    os.mkdir("hollow")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        outcome = pagecast("cache", verb, path, *(["--", "true"] if verb == "cold" else []))
    assert (outcome.code, outcome.stdout) == (ExitCode.BAD_INPUT, "")
    assert outcome.stderr == f"pagecast: error: {path}: {WRONG_PATHS[path]}\n"


def test_a_link_that_leads_back_ends(on_disk):
    os.symlink("..", "data/sub/up")
    os.symlink("nowhere", "data/dangling")
    outcome = on_disk("cache", "status", "data", "--follow")
    assert outcome.code == ExitCode.CHECK_FAILED
    assert outcome.stderr == (
        "pagecast: 1 symbolic link to directories that were looked at already\n"
        "pagecast: data/dangling: there is no such file or directory; check the name\n"
    )


@pytest.fixture
def in_memory():
    """A file in a folder of shared memory."""
    folder = Path("/dev/shm")
    if not os.access(folder, os.W_OK):
        pytest.skip("there is no /dev/shm")
    path = folder / f"pagecast-test-{os.getpid()}"
    path.write_bytes(b"x" * 100_000)
    yield path
    path.unlink()


def test_in_memory_nothing_can_be_evicted(in_memory, pagecast):
    outcome = pagecast("cache", "evict", str(in_memory))
    assert outcome.code == ExitCode.CHECK_FAILED
    assert outcome.stdout == "Not cold: 100 kB of 1 file were cached, 100 kB stayed.\n"
    assert outcome.stderr == f"pagecast: {in_memory}: 100 kB stayed: tmpfs keeps its files in memory only\n"
    outcome = pagecast("cache", "status", str(in_memory))
    assert "tmpfs at /dev/shm keeps its files in memory only" in outcome.stderr
    outcome = pagecast("cache", "cold", str(in_memory), "--", "true")
    assert outcome.code == ExitCode.CHECK_FAILED
    assert f"cold run 1 was not cold: {in_memory}: 100 kB stayed" in outcome.stderr


def locking(folder: Path, *paths: str) -> subprocess.Popen:
    """Start `pagecast cache lock` and wait until it holds."""
    process = subprocess.Popen([*COMMAND, "lock", *paths], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().endswith("locked in memory until Ctrl-C.\n")
    return process


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_what_is_locked_stays_and_its_holder_is_named(ending, on_disk):
    process = locking(on_disk.folder, "data/a")
    outcome = on_disk("cache", "evict", "data/a")
    process.send_signal(ending)
    process.communicate(timeout=30)
    assert process.returncode == ExitCode.OK
    assert outcome.code == ExitCode.CHECK_FAILED
    assert "data/a: 1 MB stayed: locked in memory by" in outcome.stderr
    assert f"(process {process.pid})" in outcome.stderr
    assert document(on_disk, "evict", "data/a")["is_cold"]


@patiently
def test_cold_and_warm_runs_alternate_and_are_what_they_are_called(on_disk):
    found = document(on_disk, "cold", "data/a", "--runs", "2", "--", "cat", "data/a")
    runs = found["runs"]
    assert [(each["state"], each["repetition"]) for each in runs] == [
        ("cold", 1), ("warm", 1), ("cold", 2), ("warm", 2)
    ]  # fmt: skip
    for each in runs:
        assert each["is_prepared"]
        assert each["exit_code"] == 0
        assert each["read_calls_bytes"] >= 1_000_000
        assert each["cached_before_bytes"] == (0 if each["state"] == "cold" else 1_000_000)
        assert each["cached_after_bytes"] == 1_000_000
    assert all(each["device_read_bytes"] >= 1_000_000 for each in runs if each["state"] == "cold")
    assert runs[3]["device_read_bytes"] < 500_000
    assert found["summary"]["cold"]["median_device_share"] > 0.5
    assert found["command"] == ["cat", "data/a"]


@patiently
def test_cold_for_people(on_disk):
    outcome = on_disk("cache", "cold", "data", "--show-output", "--", "sh", "-c", "cat data/b; echo said")
    assert outcome.code == ExitCode.OK
    assert "from memory" in outcome.stdout
    assert outcome.stdout.count("cold run 1") == 1
    assert outcome.stderr.count("said") == 2
    assert "said" not in outcome.stdout.split("\n", 1)[1]


def test_a_command_that_fails_is_a_failed_check(on_disk):
    outcome = on_disk("cache", "cold", "data/a", "--", "sh", "-c", "exit 3")
    assert outcome.code == ExitCode.CHECK_FAILED
    assert "sh ended with 3 in cold run 1; --ignore-failure if that is no failure" in outcome.stderr
    outcome = on_disk("cache", "cold", "data/a", "--ignore-failure", "--", "sh", "-c", "exit 3")
    assert outcome.code == ExitCode.OK


WRONG_COMMANDS = {
    ("data",): "there is no COMMAND; write it after the paths and `--`; try pagecast cache cold --help",
    ("data", "--", "no-such-command"): (
        "no-such-command: the command cannot be started (No such file or directory (os error 2)); "
        "check its name, and that it is executable"
    ),
    ("data", "--", "data/a"): (
        "data/a: the command cannot be started (Permission denied (os error 13)); "
        "check its name, and that it is executable"
    ),
    ("data", "--memory", "40", "--", "true"): (
        "invalid value for '--memory': `40` has no unit; write for example \"40 GB\"; "
        "try pagecast cache cold --help"
    ),
}


@pytest.mark.parametrize("arguments", WRONG_COMMANDS)
@patiently
def test_a_command_that_cannot_be_run(arguments, on_disk):
    outcome = on_disk("cache", "cold", *arguments)
    assert (outcome.code, outcome.stdout) == (ExitCode.BAD_INPUT, "")
    assert outcome.stderr == f"pagecast: error: {WRONG_COMMANDS[arguments]}\n"
    assert cached(on_disk, "data") == sum(SIZES.values())


def test_more_memory_than_there_is_limits_nothing(on_disk):
    outcome = on_disk("cache", "cold", "data", "--memory", "900 TB", "--", "true")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "a limit of 900 TB limits nothing: this machine has" in outcome.stderr


def test_a_cgroup_limits_what_stays_cached(on_disk):
    try:
        MemoryGroup(1 << 30).close()
    except NotAllowedError as error:
        pytest.skip(f"no memory cgroup: {error}")
    write(on_disk.folder / "large", 64 << 20)
    found = document(on_disk, "cold", "large", "--memory", "16 MiB", "--", "cat", "large")
    cold, warm = found["runs"]
    assert found["memory_bytes"] == 16 << 20
    assert cold["cached_after_bytes"] <= 16 << 20
    # A second pass over a file that is larger than the memory finds next to nothing.
    assert warm["device_read_bytes"] > 32 << 20


def test_a_limit_of_too_little_memory_ends_the_command(on_disk):
    try:
        MemoryGroup(1 << 30).close()
    except NotAllowedError as error:
        pytest.skip(f"no memory cgroup: {error}")
    hog = "x = bytearray(200_000_000)"
    outcome = on_disk("cache", "cold", "data", "--memory", "64 MiB", "--", sys.executable, "-c", hog)
    assert outcome.code == ExitCode.CHECK_FAILED
    assert "ended with 137 in cold run 1" in outcome.stderr
    assert "killed for want of memory" in outcome.stderr


def test_drop_asks_and_says_what_it_would_do(pagecast):
    outcome = pagecast("cache", "drop", "--dry-run")
    assert outcome.code == ExitCode.OK
    assert outcome.stdout.endswith("Nothing was done.\n")
    assert document(pagecast, "drop", "--dry-run")["now"]["cached_bytes"] > 0
    outcome = pagecast("cache", "drop")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "add --yes" in outcome.stderr or "needs root" in outcome.stderr


def test_watch_measures_again_until_it_is_stopped(on_disk):
    process = subprocess.Popen(
        [*COMMAND, "status", "data", "--watch", "--every", "0.05"],
        cwd=on_disk.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = [process.stdout.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    assert (process.communicate(timeout=30)[1], process.returncode) == ("", ExitCode.OK)
    assert all("4 files, 1.31 MB:" in line for line in lines)


def test_watch_ends_when_nobody_reads(on_disk):
    process = subprocess.Popen(
        [*COMMAND, "status", "data", "--watch", "--every", "0.05", "--json"],
        cwd=on_disk.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert json.loads(process.stdout.readline())["totals"]["files"] == 4
    process.stdout.close()
    assert process.wait(30) == ExitCode.OK
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize("ending", ENDINGS)
def test_ctrl_c_ends_the_command_that_runs(ending, on_disk):
    process = subprocess.Popen(
        [*COMMAND, "cold", "data", "--", "sh", "-c", "touch running; sleep 100; true"],
        cwd=on_disk.folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (on_disk.folder / "running").exists():
        time.sleep(0.02)
    stop(process, ending)


def test_on_overlay_the_file_below_is_what_counts(on_disk):
    script = (
        "mkdir low up work top; cp data/a low/a; sync; "
        "mount -t overlay -o lowerdir=low,upperdir=up,workdir=work o top || exit 77; "
        f"{sys.executable} -m pagecast cache status top/a --json; "
        f"{sys.executable} -m pagecast cache evict top/a --json"
    )
    ended = in_own_mounts(script, on_disk.folder, "overlay")
    before, after = map(json.loads, ended.stdout.splitlines())
    assert before["files"][0]["method"] == "mincore"
    assert before["totals"]["cached_bytes"] == 1_000_000
    assert after["is_cold"]
    assert "lies over other file systems" in before["file_systems"][0]["caution"]


@pytest.fixture
def unprivileged(on_disk):
    """The command line as a user without rights."""
    skip_unless_root()
    # The interpreter's own files may not be readable for that user: let everything be imported before.
    on_disk("cache", "status", "data")
    on_disk("cache", "cold", "data", "--", "true")
    on_disk("cache", "warm", "data", "--dry-run")
    on_disk("cache", "lock", "data", "--dry-run")
    return Unprivileged(on_disk, "cache")


@patiently
def test_without_rights_on_own_files(unprivileged):
    found = json.loads(unprivileged("status", "data", "--json").stdout)
    assert found["totals"]["cached_bytes"] == sum(SIZES.values())
    for method in ("cachestat", "mincore"):
        outcome = unprivileged("evict", "data", "--method", method, "--json")
        assert (outcome.code, json.loads(outcome.stdout)["is_cold"]) == (ExitCode.OK, True)
        outcome = unprivileged("warm", "data", "--method", method, "--json")
        assert (outcome.code, json.loads(outcome.stdout)["is_warm"]) == (ExitCode.OK, True)
    outcome = unprivileged("cold", "data/a", "--json", "--", "cat", "data/a")
    assert outcome.code == ExitCode.OK
    cold, warm = json.loads(outcome.stdout)["runs"]
    assert cold["is_prepared"]
    assert min(cold["read_calls_bytes"], warm["read_calls_bytes"], cold["device_read_bytes"]) >= 1_000_000


def test_without_rights_to_files_of_others(unprivileged):
    for name, mode in (("secret", 0o600), ("shown", 0o644)):
        write(unprivileged.folder / "data" / name, 10_000)
        (unprivileged.folder / "data" / name).chmod(mode)
    denied = "permission denied; become its owner or root, or ask for the right to read it"
    not_told = "the kernel says what is cached only to the owner and to those who may write"
    for method in ("cachestat", "mincore"):
        outcome = unprivileged("status", "data", "--method", method)
        assert outcome.code == ExitCode.CHECK_FAILED
        assert f"data/secret: {denied}\n" in outcome.stderr
        # Kernels before 6.15 tell everybody by cachestat.
        assert not_told in outcome.stderr or method == "cachestat"
    outcome = unprivileged("status", "data/secret")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stderr == f"pagecast: error: data/secret: {denied}\n"
    outcome = unprivileged("evict", "data/shown", "--method", "mincore")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "was dropped but is not verified" in outcome.stderr


def test_without_rights_to_lock_to_drop_or_to_limit(unprivileged):
    outcome = unprivileged("lock", "data", lock_limit=8192)
    assert outcome.code == ExitCode.BAD_INPUT
    assert "RLIMIT_MEMLOCK is 8.19 kB; raise it with `ulimit -l`" in outcome.stderr
    outcome = unprivileged("drop", "--yes")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stderr.startswith("pagecast: error: dropping all caches needs root (")
    outcome = unprivileged("cold", "data", "--memory", "1 GiB", "--", "true")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "run it as root, or let systemd limit all of it" in outcome.stderr
