"""The disk in memory: what is held, and that everything is undone. Devices are made as root only."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bed import holding
from bed.disk import Bed, check_memory, plan
from bed.packages import BedError
from bed.undoing import Undo

BED = Bed(
    kind="queue", size_mib=64, write_bytes_per_s=1 << 20, read_bytes_per_s=1 << 20, queue=8, left_mib=512
)


def meminfo(available_kib, swap_kib=0):
    return f"MemTotal: 9 kB\nMemAvailable: {available_kib} kB\nSwapTotal: {swap_kib} kB\nHugePages_Total: 0\n"


def test_what_is_beyond_the_wanted_memory_is_held():
    assert holding.held_bytes(meminfo(3 << 20), 1024) == 2 << 30
    assert holding.held_bytes(meminfo(1 << 20), 1024) == 0
    assert holding.available_mib(meminfo(1 << 20)) == 1024


def test_what_cannot_be_held_is_said():
    with pytest.raises(BedError, match="only 1024 MiB are available; --leave 1025 is more"):
        holding.held_bytes(meminfo(1 << 20), 1025)
    with pytest.raises(BedError, match="swapoff -a"):
        holding.held_bytes(meminfo(1 << 20, swap_kib=4), 512)


def test_a_disk_has_its_memory_before_the_rest_is_held():
    """What runs write is noise: zram would take the memory that is to be left for it."""
    check_memory(meminfo((512 + 64) << 10), BED)
    with pytest.raises(BedError, match=r"a disk of 64 MiB and --leave 512 .* largest --size is 63"):
        check_memory(meminfo((512 + 63) << 10), BED)
    check_memory(meminfo(0), replace(BED, left_mib=None))
    files_of_one_byte = replace(BED, is_filled=False)
    check_memory(meminfo(512 << 10), files_of_one_byte)
    assert not any("noise" in line for line in plan(Path("/x"), files_of_one_byte))
    lines = plan(Path("/x"), BED)
    assert any("noise" in line for line in lines)


def test_a_plan_leaves_out_what_is_not_asked_for():
    lines = plan(Path("/x"), Bed("zram", 64, 1 << 20, 1 << 20, 8, None))
    assert not any("loop" in line or "anonymous" in line or "noise" in line for line in lines)
    assert any("8 requests" in line for line in plan(Path("/x"), BED))


def test_a_folder_is_removed_if_it_is_there(tmp_path):
    undo = Undo(tmp_path / "undo.json")
    folder = tmp_path / "instance"
    folder.mkdir()
    undo.note("rmdir", str(folder))
    assert undo.all() == []
    assert not folder.exists()
    undo.note("rmdir", str(folder))
    assert undo.all() == [], "it is gone already"


def test_steps_are_undone_last_first_and_the_note_goes(tmp_path):
    target, note = tmp_path / "value", tmp_path / "undo.json"
    undo = Undo(note)
    undo.note("write", str(target), "first")
    undo.note("write", str(target), "second")
    assert note.exists()
    assert undo.all() == []
    assert target.read_text() == "first"
    assert not note.exists()


def test_what_a_killed_run_left_is_undone_by_the_next(tmp_path):
    target, note = tmp_path / "value", tmp_path / "undo.json"
    Undo(note).note("write", str(target), "back")
    next_run = Undo(note)
    assert next_run.left_over()
    assert next_run.all() == []
    assert target.read_text() == "back"
    assert not Undo(note).left_over()


def test_a_note_of_before_the_machines_last_start_is_no_command(tmp_path):
    note = tmp_path / "undo.json"
    note.write_text(json.dumps({"boot": "another", "steps": [["write", str(tmp_path / "value"), "back"]]}))
    assert not Undo(note).left_over()
    note.write_text("{half a no")
    assert not Undo(note).left_over()


def test_what_is_gone_already_needs_no_undoing(tmp_path):
    undo = Undo(tmp_path / "undo.json")
    undo.note("umount", str(tmp_path))
    undo.note("detach", "/dev/loop99999")
    undo.note("remove", "99999")
    undo.note("kill", str(os.getpid()), "not when this process was started")
    assert undo.all() == []


def test_what_cannot_be_undone_is_named_and_stays_noted(tmp_path):
    note = tmp_path / "undo.json"
    undo = Undo(note)
    undo.note("write", str(tmp_path / "no" / "folder"), "x")
    (problem,) = undo.all()
    assert "no/folder" in problem
    assert note.exists()


def test_a_host_gets_only_the_largest_blocks_back_and_then_as_before(tmp_path, monkeypatch):
    order = tmp_path / "page_reporting_order"
    monkeypatch.setattr(holding, "_REPORTING", order)
    undo = Undo(tmp_path / "undo.json")
    assert holding._keep_from_host(undo) == 4 << 20
    assert not order.exists(), "a kernel without it gives nothing back"
    order.write_text("9\n")
    assert holding._keep_from_host(undo) == 4 << 20
    assert order.read_text() == "10"
    assert undo.all() == []
    assert order.read_text() == "9"


@pytest.mark.parametrize("left", [0, 64 << 20])
def test_the_holder_ends_when_nobody_waits_for_it(left):
    holder = subprocess.Popen(
        [sys.executable, "-m", "bed.holder", str(8 << 20), str(left), str(4 << 20)],
        cwd=Path(__file__).parents[3], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout.readline() == b"held\n"
    resident_kib = next(
        int(line.split()[1])
        for line in Path(f"/proc/{holder.pid}/status").read_text().splitlines()
        if line.startswith("RssAnon:")
    )
    assert 8 << 10 <= resident_kib <= (24 << 10) + (left >> 10) // 64, "what is left is free, but for pieces"
    holder.stdin.close()
    assert holder.wait(timeout=20) == 0
    holder.stdout.close()
