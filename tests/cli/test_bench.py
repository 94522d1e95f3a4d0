"""`pagecast bench` on a real disk: what is said before, what each number is called, and nothing is left."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pagecast as pc
from pagecast._core import dirty_settings
from pagecast.exit_codes import ExitCode
from tests.cli.mounts import in_own_mounts
from tests.cli.stopping import ENDINGS, stop
from tests.cli.unprivileged import Unprivileged
from tests.disk import folder_on_disk, patiently

COMMAND = [sys.executable, "-m", "pagecast", "bench"]
SMALL = ("--size", "1 MiB", "--call", "64 KiB", "--threads", "2", "--repetitions", "2")
RECORD = Path("/run/pagecast-vm-settings")
NAME = "vm.dirty_writeback_centisecs"
"""A setting whose change by 1 disturbs nobody."""


@pytest.fixture
def on_disk(pagecast, monkeypatch):
    """The command line in a folder on a disk, with a directory `there` to measure in."""
    with folder_on_disk(pagecast.folder) as folder:
        pagecast.folder = folder
        monkeypatch.chdir(folder)
        (folder / "there").mkdir()
        yield pagecast


def left(on_disk):
    """Give what is in the directory of the benchmark."""
    return sorted(path.name for path in (on_disk.folder / "there").iterdir())


def start(on_disk, *arguments):
    """Start a benchmark that lasts long, and wait until it has made a file."""
    process = subprocess.Popen(
        [*COMMAND, "there", "--size", "4 MiB", "--repetitions", "10000", *arguments],
        cwd=on_disk.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any((on_disk.folder / "there").glob("*/thread.0")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    return process


@patiently
def test_every_number_is_of_memory_or_of_the_device(on_disk):
    outcome = on_disk("bench", "there", *SMALL, "--json")
    document = json.loads(outcome.stdout)
    assert (document["schema_version"], left(on_disk)) == (1, [])
    cells = {(cell["mode"], cell["access"]): cell for cell in document["cells"]}
    assert len(cells) == len(document["cells"]) == 8
    for cell in cells.values():
        assert cell["is_prepared"], cell
        assert cell["memory_share"] == pytest.approx(1 - cell["device_share"])
        assert [one["bytes"] for one in cell["repetitions"]] == [1 << 20] * 2
        assert cell["least_bytes_per_s"] <= cell["bytes_per_s"] <= cell["greatest_bytes_per_s"]
    assert outcome.code == ExitCode.OK
    assert cells["buffered", "read-warm"]["device_share"] == 0
    assert cells["buffered", "read-cold"]["device_share"] == 1
    assert cells["direct", "read-cold"]["device_share"] == 1
    assert cells["direct", "read-warm"]["device_share"] == 1, "past the cache, though it is there"
    assert cells["buffered", "read-warm"]["efficiency"] > 0
    for state, whole in (("read-cold", 0), ("read-warm", 1 << 20), ("overwrite", 1 << 20), ("write-new", 0)):
        for mode in ("buffered", "direct"):
            assert {one["resident_before_bytes"] for one in cells[mode, state]["repetitions"]} == {whole}
    assert cells["buffered", "write-new"]["repetitions"][0]["resident_after_bytes"] == 1 << 20
    assert {*document["settings"]} == {*dirty_settings()}
    assert {copy["direction"] for copy in document["copies"]} == {"read", "write"}


@patiently
def test_the_table_and_the_figures(on_disk):
    outcome = on_disk("bench", "there", *SMALL, "--call", "4 KiB", "--out", "results", "--force")
    assert outcome.code == ExitCode.OK
    lines = outcome.stdout.splitlines()
    assert sum(line.startswith(" buffered ") for line in lines) == 8
    warm = lines.index("read warm") + 1
    assert "memory 100 %" in lines[warm], lines
    assert re.search(r" > [\d.e+]+ [GM]B ", lines[warm]), "Cached before and after"
    assert any(line.startswith("The device") and "with O_DIRECT, at most: read" in line for line in lines)
    assert any(line.startswith("Settings: vm.dirty_background_bytes = ") for line in lines)
    names = {path.name for path in (on_disk.folder / "results").iterdir()}
    assert names == {"results.json", "provenance.json", "rates.svg", "rates.png"}
    again = on_disk("bench", "there", *SMALL, "--out", "results")
    assert "results: is not empty; choose another name or add --force" in again.stderr


def test_from_python(on_disk):
    told = []
    done = pc.bench(
        "there",
        calls=[4096],
        threads=[1],
        modes=["buffered"],
        accesses=["write-new"],
        size_bytes=1 << 20,
        repetitions=1,
        progress=lambda *one: told.append(one),
    )
    (one,) = done.measurements
    assert one.bytes_per_s > 0
    assert one.durable_bytes_per_s <= one.bytes_per_s
    assert one.is_above_device is None, "nothing was measured with O_DIRECT"
    assert told == [(0.0, "buffered write new, 4 KiB, 1 thread")]


def test_a_measurement_ends_at_the_limit(on_disk):
    slow = (
        "--mode",
        "direct",
        "--access",
        "write-new",
        "--threads",
        "1",
        "--call",
        "4 KiB",
        "--repetitions",
        "1",
    )
    outcome = on_disk("bench", "there", *slow, "--size", "256 MiB", "--limit", "0.05", "--json")
    (cell,) = json.loads(outcome.stdout)["cells"]
    assert not cell["is_whole"]
    assert 0 < cell["repetitions"][0]["bytes"] < 256 << 20


def test_dry_run_says_what_would_be_written_and_writes_nothing(on_disk):
    outcome = on_disk("bench", "there", *SMALL, "--dry-run")
    assert (outcome.code, outcome.stdout, left(on_disk)) == (ExitCode.OK, "", [])
    assert (
        "8 cells, 2 times; about 8.39 MB to write and 8.39 MB to read; 1.05 MB at a time (" in outcome.stderr
    )
    document = json.loads(on_disk("bench", "there", *SMALL, "--dry-run", "--json").stdout)
    assert (document["dry_run"], document["written_bytes"], len(document["cells"])) == (True, 8 << 20, 8)


def refused(on_disk, *arguments):
    """Give the one line that a benchmark ends with."""
    outcome = on_disk("bench", *arguments)
    assert (outcome.code, outcome.stdout) == (ExitCode.BAD_INPUT, ""), outcome
    assert left(on_disk) == []
    return outcome.stderr.splitlines()[-1].removeprefix("pagecast: error: ")


def test_what_does_not_fit_is_not_begun(on_disk):
    assert " are free, and 800 TB would be written; make room" in refused(
        on_disk, "there", "--size", "800 TB"
    )
    text = refused(on_disk, "there", "--size", "64 KiB", "--call", "64 KiB", "--threads", "2")
    assert text == (
        "65.54 kB for 2 threads are less than a call of 65.54 kB for each; take a larger size, a smaller "
        "call or fewer threads"
    )


def test_a_disk_that_fills_up_meanwhile_is_one_message(on_disk):
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("only root can make a small disk, with mkfs.ext4")
    # Somebody else takes all room that there is, again and again.
    script = (
        "truncate -s 96M image && mkfs.ext4 -q image && mkdir disk && mount -o loop image disk || exit 77\n"
        "(until ls disk/pagecast-bench-*; do sleep 0.05; done\n"
        " while :; do head -c 4000000 /dev/zero >> disk/full || sleep 0.01; done) >/dev/null 2>&1 &\n"
        "filler=$!\n"
        f"{sys.executable} -m pagecast bench disk --size 32MiB --call 1MiB --threads 1 --repetitions 1000\n"
        "code=$?; kill $filler; ls disk; exit $code"
    )
    ended = in_own_mounts(script, on_disk.folder, "a loop device")
    assert ended.returncode == ExitCode.SIMULATION_FAILED, ended.stderr
    (error,) = [line for line in ended.stderr.splitlines() if line.startswith("pagecast: error: ")]
    assert re.fullmatch(
        r"pagecast: error: disk/pagecast-bench-\d+-0/thread\.0: (write|fsync|fdatasync) failed "
        r"\(No space left on device \(os error 28\)\); make room, or name a directory on a larger disk",
        error,
    )
    assert ended.stdout.split() == ["full", "lost+found"]


def test_directories_that_cannot_be_used(on_disk):
    assert refused(on_disk, "none") == "none: there is no such file or directory; check the name"
    assert "proc at /proc, which has no device below it" in refused(on_disk, "/proc/self")


def test_memory_is_no_disk(on_disk):
    if not os.path.ismount("/dev/shm"):
        pytest.skip("/dev/shm is not there")
    assert refused(on_disk, "/dev/shm") == (
        "/dev/shm: is on tmpfs at /dev/shm, which has no device below it that could be measured; "
        "name a directory on a disk"
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (
            ("--set", "vm.dirty_ration=1"),
            "vm.dirty_ration is no setting that can be changed here; did you mean vm.dirty_ratio?",
        ),
        (
            ("--set", "vm.swappiness=1"),
            "vm.swappiness is no setting that can be changed here; there are vm.dirty_background_",
        ),
        (("--set", "vm.dirty_ratio"), "--set 'vm.dirty_ratio' is no setting; write vm.dirty_ratio=40"),
        (("--set", "vm.dirty_ratio=much"), "--set vm.dirty_ratio: 'much' is no whole number"),
        (("--call", "1000 B"), "a call of 1000 bytes is no multiple of 4096 up to 16777216 (16 MiB)"),
        (
            ("--device", "/dev/null"),
            "the benchmark destroys the content of /dev/null; add --yes if you want that",
        ),
        (
            ("--device", "/dev/null", "--yes"),
            "/dev/null: is no block device; name one whose data you can lose",
        ),
        (("--profile",), "--profile makes a figure; say where with --out"),
    ],
)
def test_wrong_use(wrong, says, on_disk):
    assert says in refused(on_disk, "there", *wrong)


def test_programs_that_are_not_installed(on_disk, monkeypatch):
    monkeypatch.setenv("PATH", str(on_disk.folder))
    assert refused(on_disk, "there", "--with-fio") == (
        "fio is not installed here; install the package fio, or leave --with-fio out"
    )
    assert refused(on_disk, "there", "--profile", "--out", "x") == (
        "perf is not installed here; install it (linux-perf), or leave --profile out"
    )


@pytest.fixture
def stand_in_for_fio(on_disk, monkeypatch):
    """Stands in for fio: what it is asked must fit to the files or the device that are there."""
    (on_disk.folder / "bin").mkdir()
    fio = on_disk.folder / "bin" / "fio"
    fio.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        "if sys.argv[1:] == ['--version']: sys.exit(print('fio-3.0'))\n"
        "given = dict(one[2:].split('=', 1) for one in sys.argv[1:] if '=' in one)\n"
        "jobs = range(int(given['numjobs']))\n"
        "if 'filename' in given:\n"
        "    with open(given['filename'], 'rb') as device: end = device.seek(0, 2)\n"
        "    last = jobs[-1] * int(given['offset_increment']) + int(given['size'])\n"
        "    assert int(given['offset_increment']) == int(given['size']) and last <= end, (last, end)\n"
        "    assert 'directory' not in given and given['allow_file_create'] == '0'\n"
        "    sizes = [None] * 5\n"
        "else:\n"
        "    names = [given['filename_format'].replace('$jobnum', str(job)) for job in jobs]\n"
        "    there = [os.path.join(given['directory'], name) for name in names]\n"
        "    sizes = [os.path.getsize(path) for path in there if os.path.exists(path)]\n"
        "    assert sizes in ([], [int(given['size'])] * len(there)), sizes\n"
        "rates = {given['rw']: {'bw_bytes': 1000 * len(sizes) + int(given['bs']) + int(given['direct'])}}\n"
        "print(json.dumps({'jobs': [rates]}))\n"
    )
    fio.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fio.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("stand_in_for_fio")
def test_fio_measures_the_same_cells(on_disk):
    document = json.loads(on_disk("bench", "there", *SMALL, "--with-fio", "--json").stdout)
    rates = {(cell["mode"], cell["access"]): cell["fio_bytes_per_s"] for cell in document["cells"]}
    assert rates["buffered", "read-warm"] == 2000 + 65536
    assert rates["direct", "overwrite"] == 2000 + 65536 + 1
    assert rates["buffered", "write-new"] == 65536, "the files are not there yet"
    assert document["provenance"]["fio_version"] == "fio-3.0"


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_when_it_is_stopped(ending, on_disk):
    stop(start(on_disk), ending)
    assert left(on_disk) == []


def test_what_a_killed_benchmark_left_goes_with_the_next(on_disk):
    for number in range(3):
        process = start(on_disk)
        time.sleep(random.Random(number).uniform(0, 0.3))
        process.kill()
        process.communicate()
    assert len(left(on_disk)) == 1
    assert on_disk("bench", "there", *SMALL, "--access", "read-cold", "--mode", "direct").code == ExitCode.OK
    assert left(on_disk) == []


@pytest.fixture
def changeable():
    """A setting that may be changed: its value."""
    if os.geteuid() != 0 or not os.access(f"/proc/sys/{NAME.replace('.', '/')}", os.W_OK):
        pytest.skip("only root can change a setting of the kernel")
    before = dirty_settings()
    yield before
    assert dirty_settings() == before
    assert not RECORD.exists()


def test_settings_are_changed_and_put_back(on_disk, changeable):
    value = changeable[NAME] + 1
    few = ("--access", "write-new", "--mode", "buffered", "--json")
    outcome = on_disk("bench", "there", *SMALL, *few, "--set", f"{NAME}={value}")
    document = json.loads(outcome.stdout)
    assert document["settings"][NAME] == value
    assert document["changed_settings"] == {NAME: changeable[NAME]}
    assert dirty_settings() == changeable
    text = refused(on_disk, "there", *SMALL, "--set", f"{NAME}={value}", "--set", "vm.dirty_ratio=101")
    assert text.startswith("vm.dirty_ratio = 101: the kernel does not take it (")
    assert dirty_settings() == changeable, "the first one too"


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_settings_are_put_back_however_it_ends(ending, on_disk, changeable):
    value = changeable[NAME] + 1
    process = start(on_disk, "--set", f"{NAME}={value}")
    assert dirty_settings()[NAME] == value
    busy = on_disk("bench", "there", *SMALL, "--set", f"{NAME}={value + 1}")
    assert "another pagecast has changed settings of this machine" in busy.stderr
    process.send_signal(ending)
    process.communicate(timeout=30)
    if ending == signal.SIGKILL:
        assert dirty_settings()[NAME] == value, "nobody was there to put it back"
        outcome = on_disk("bench", "there", *SMALL, "--access", "read-cold", "--mode", "direct")
        said = f"put back the settings of a killed benchmark: {NAME} = {changeable[NAME]}"
        assert f"pagecast: {said}\n" in outcome.stderr
    assert dirty_settings() == changeable


@pytest.fixture
def device(on_disk):
    """A block device whose data nobody needs."""
    if os.geteuid() != 0 or not shutil.which("losetup"):
        pytest.skip("only root can make a loop device, with losetup")
    with (on_disk.folder / "image").open("wb") as image:
        image.truncate(8 << 20)
    made = subprocess.run(
        ["losetup", "--find", "--show", "image"],
        cwd=on_disk.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("no loop device can be made here")
    yield made.stdout.strip()
    subprocess.run(["losetup", "--detach", made.stdout.strip()], check=True)


@patiently
def test_a_block_device(on_disk, device):
    document = json.loads(on_disk("bench", "there", *SMALL, "--device", device, "--yes", "--json").stdout)
    cells = [cell for cell in document["cells"] if cell["target"] == "device"]
    assert len(cells) == 8
    assert all(cell["is_prepared"] for cell in cells), cells
    warm = next(cell for cell in cells if (cell["mode"], cell["access"]) == ("buffered", "read-warm"))
    assert warm["served_by"] == "memory"
    assert {*document["device_rates"]} == {"file", "device"}
    image = (on_disk.folder / "image").read_bytes()
    assert any(image[: 1 << 20])
    assert not any(image[1 << 20 :]), "no more than was asked for"


@pytest.mark.usefixtures("stand_in_for_fio")
def test_fio_measures_the_device_too(on_disk, device):
    given = ("--device", device, "--yes", "--with-fio", "--json")
    document = json.loads(on_disk("bench", "there", *SMALL, *given).stdout)
    rates = {
        (cell["mode"], cell["access"]): cell["fio_bytes_per_s"]
        for cell in document["cells"]
        if cell["target"] == "device"
    }
    assert len(rates) == 8
    assert {rate for (mode, _), rate in rates.items() if mode == "buffered"} == {5000 + 65536}
    assert {rate for (mode, _), rate in rates.items() if mode == "direct"} == {5000 + 65536 + 1}


def test_a_device_that_is_in_use_is_refused(on_disk, device):
    holder = os.open(device, os.O_RDWR | os.O_EXCL)  # what mount(2) does
    try:
        text = refused(on_disk, "there", *SMALL, "--device", device, "--yes")
    finally:
        os.close(holder)
    assert text == (
        f"{device}: is in use: mounted, swapped to, or part of another device; unmount it first, or "
        "name another"
    )
    text = refused(on_disk, "there", "--size", "16 MiB", "--device", device, "--yes")
    assert text == f"{device}: has 8.39 MB, and 16.78 MB would be written; take a smaller size"


@pytest.fixture
def unprivileged(on_disk):
    """The command line as a user without rights."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; as it is, all other tests run without rights")
    # The interpreter's own files may not be readable for that user: let everything be imported before.
    on_disk("bench", "there", *SMALL)
    return Unprivileged(on_disk, "bench")


def test_without_rights(unprivileged):
    outcome = unprivileged("there", *SMALL, "--json")
    assert outcome.code in (ExitCode.OK, ExitCode.CHECK_FAILED), outcome
    cells = json.loads(outcome.stdout)["cells"]
    assert all(cell["served_by"] in ("memory", "device") for cell in cells)
    assert left(unprivileged) == []
    outcome = unprivileged("there", *SMALL, "--set", "vm.dirty_ratio=20")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "changing kernel settings" in outcome.stderr
    assert "needs root (" in outcome.stderr
    (unprivileged.folder / "there").chmod(0o555)
    outcome = unprivileged("there", *SMALL)
    assert outcome.code == ExitCode.BAD_INPUT
    assert (
        "there: cannot be written to (Permission denied (os error 13)); choose another directory"
        in outcome.stderr
    )


def test_help_of_bench(on_disk, matches):
    matches(on_disk("bench", "--help"))
