"""How the guest is started, and what its machine file says."""

import itertools
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bed.guest import PROGRAMS, Guest, NullDisk, Settings, command, kernel_line
from bed.packages import BedError, Packages


@pytest.fixture
def packages(tmp_path):
    """Unpacked packages, empty files all; the emulator is a shell script that says what it is told."""
    found = Packages(tmp_path)
    libraries = found.root / "usr" / "lib" / "x86_64-linux-gnu"
    for path in (
        libraries / "libc.so.6", libraries / "qemu" / "accel.so", found.root / "bin" / "busybox",
        found.kernel / "boot" / "vmlinuz-6.12", found.kernel / "lib" / "modules" / "6.12" / "modules.builtin",
    ):  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    builtin = ("9pnet_virtio", "9p", "zram", "loop", "crc32c_generic", "ext4", "null_blk")
    (found.kernel / "lib" / "modules" / "6.12" / "modules.builtin").write_text(
        "".join(f"kernel/{name}.ko\n" for name in builtin)
    )
    (found.root / "sbin").mkdir()
    for program in ("mke2fs", "losetup"):
        (found.root / "sbin" / program).write_bytes(b"\x7fELF\0libc.so.6\0")
    (found.root / "usr" / "bin").mkdir()
    for program in PROGRAMS:
        (found.root / "usr" / "bin" / program).write_bytes(b"\x7fELF\0libc.so.6\0")
    return found


def emulator(packages, script):
    """Put a shell script where the emulator's loader is looked for."""
    path = packages.root / "usr" / "lib" / "x86_64-linux-gnu" / "ld-linux-x86-64.so.2"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_the_clock_counts_instructions_and_nothing_is_taken_from_the_machine(packages, tmp_path):
    emulator(packages, "")
    words = command(packages, Path("vmlinuz"), Path("initramfs"), tmp_path, Settings(memory_mib=768), "a")
    options = dict(itertools.pairwise(words))
    assert options["-icount"] == "shift=0,sleep=off"
    assert options["-accel"] == "tcg,thread=single"
    assert options["-m"] == "768"
    assert "-nodefaults" in words
    assert words[0].startswith(str(packages.root))


def test_the_first_program_is_told_what_was_asked_for():
    settings = Settings(disk="queue", write_bytes_per_s=7, dirty_ratio=30, cgroup_bytes=5, repetitions=2)
    told = kernel_line(settings, "a_case").split()
    for word in ("BED_CASE=a_case", "BED_DISK=queue", "BED_WRITE_BPS=7", "BED_DIRTY_RATIO=30"):
        assert word in told
    assert {"BED_CGROUP_BYTES=5", "BED_REPETITIONS=2"} <= set(told)


def test_every_word_that_the_guest_uses_is_told():
    init = (Path(__file__).parents[3] / "bed" / "guest" / "init").read_text()
    used = set(re.findall(r"\$(BED_\w+)", init))
    told = {
        word.partition("=")[0] for word in kernel_line(Settings(), "a").split() if word.startswith("BED_")
    }
    assert used == told


@pytest.fixture
def guest(packages, tmp_path):
    player = tmp_path / "player"
    player.write_bytes(b"play")
    return Guest(tmp_path, packages, player)


def test_a_guest_that_comes_to_its_end_is_believed(guest, packages, tmp_path):
    emulator(packages, "printf 'bed: done\\r\\n'")
    guest.play("a", "sync\n", Settings(), tmp_path / "out")
    assert b"sync\n" in (tmp_path / "initramfs").read_bytes()


def test_a_disk_of_null_blk_is_told_by_its_attributes_and_comes_with_programs(guest, packages, tmp_path):
    settings = Settings(disk="null", null=NullDisk(mbps=50, hw_queue_depth=8))
    assert "BED_NULL=size=2048,completion_nsec=100000,mbps=50,hw_queue_depth=8" in kernel_line(settings, "a")
    assert " BED_SCHEDULER= " in kernel_line(settings, "a")
    assert " BED_SCHEDULER=bfq " in kernel_line(replace(settings, scheduler="bfq"), "a")
    emulator(packages, "printf 'bed: done\\r\\n'")
    guest.play("a", "sync\n", settings, tmp_path / "out", files={"a.sh": "cp in/a out/a\n"})
    archive = (tmp_path / "initramfs").read_bytes()
    for name in (b"usr/bin/fio", b"usr/bin/strace", b"cases/a.sh", b"usr/lib/git-core/git-upload-pack"):
        assert name in archive
    guest.play("a", "sync\n", Settings(), tmp_path / "out")
    assert b"usr/bin/fio" not in (tmp_path / "initramfs").read_bytes()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'bed: failed in init'", "the guest stopped early"),
        ("echo 'Kernel panic'", "the guest stopped early"),
        ("exit 3", "the emulator failed"),
    ],
)
def test_one_that_does_not_is_an_error_that_names_the_case_and_the_log(
    guest, packages, tmp_path, script, message
):
    emulator(packages, script)
    with pytest.raises(BedError, match=f"a_case: {message}.*console.txt"):
        guest.play("a_case", "sync\n", Settings(), tmp_path / "out")


def test_the_scripts_of_the_guest_are_shell(tmp_path):
    folder = Path(__file__).parents[3] / "bed" / "guest"
    for script in ("init", "disk.sh", "cgroup.sh", "accepted.sh"):
        subprocess.run([shutil.which("sh"), "-n", folder / script], check=True)
