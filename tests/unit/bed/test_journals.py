"""Cases of journals, and the file systems on which they are recorded."""

from dataclasses import replace

import pytest

import pagecast as pc
from bed import journals
from bed.guest import FileSystem, NullDisk, Settings, kernel_line
from bed.machine import machine_of, name_of
from bed.programs import cases_of
from pagecast.studies.live_kernel.case import parse
from pagecast.studies.live_kernel.program import translate

from .test_machine import MADE, PLATFORM

ON_NULL = replace(MADE, disk="null", null=NullDisk(size=1024, cache_size=64))


@pytest.mark.parametrize("name", journals.CASES)
def test_each_case_is_understood_and_forecast(name, tmp_path):
    """By the study and as a scenario, on a disk with a journal: as many durable calls as the text has."""
    text = journals.text_of(name, 64)
    machine, scenario = tmp_path / "machine.toml", tmp_path / "scenario.toml"
    machine.write_text(machine_of(ON_NULL, PLATFORM))
    (tmp_path / "case.pct").write_text(text)
    scenario.write_text('[machine]\nfrom = "machine.toml"\n[[process]]\nfrom = "case.pct"\n')
    assert translate(parse(text, name=name, origin=name)).lines
    done = list(pc.simulate(pc.Scenario.load(scenario), model="kernel").operations["operation"])
    for sync in ("fsync", "fdatasync"):
        assert done.count(sync) == text.count(f"{sync} 0\n")


def test_a_stream_is_four_times_the_journal():
    assert "write 0 0 256m 1m" in journals.text_of("stream4j", 64)


def test_cases_are_asked_for_by_name_and_a_script_of_ones_own_is_played(tmp_path):
    own = tmp_path / "mine.pct"
    own.write_text("sync\n")
    found = cases_of(["append_fsync", str(own)], None, 64)
    assert list(found) == ["append_fsync", "mine"]
    assert found["mine"].steps == "sync\n"
    assert not found["append_fsync"].files


def test_a_file_system_is_named_described_and_told_to_the_guest(tmp_path):
    journal = FileSystem("ext4", ("data=journal", "nobarrier"), 64)
    made = replace(ON_NULL, file_system=journal)
    assert name_of(made, PLATFORM) == "guest612-null-ext4-journal-nobarrier-journal64m-size1024m-cache64m-2g"
    others = ({"cache_size": 0}, {"completion_nsec": 400_000}, {"fua": 0}, {"mbps": 50}, {"size": 768})
    nulls = [made.null, *(replace(made.null, **each) for each in others)]
    names = {name_of(replace(made, null=null), PLATFORM) for null in nulls}
    assert len(names) == 6
    assert name_of(replace(MADE, disk="null", null=NullDisk()), PLATFORM) == "guest612-null-2g"
    text = machine_of(made, PLATFORM)
    path = tmp_path / "machine.toml"
    path.write_text(text)
    pc.load_machine(path)
    assert 'journal = { size = "64 MiB", data = "journal", barrier = false }' in text
    assert 'flush = "112000 ns"' in text
    assert "flush" not in machine_of(replace(made, null=NullDisk()), PLATFORM)
    plain = machine_of(replace(ON_NULL, file_system=FileSystem("ext3", ("nodelalloc",))), PLATFORM)
    assert 'type = "ext3"\njournal = {  }\ndelalloc = false\n' in plain
    line = kernel_line(Settings(disk="null", file_system=journal), "x")
    assert line.endswith(
        "BED_FS=ext4 BED_MOUNT=noatime,data=journal,nobarrier BED_JOURNAL=64 BED_JOURNAL_DEVICE=0 BED_NFS="
    )


def test_a_journal_may_be_a_disk_of_its_own(tmp_path):
    """Like that of the files, but for its size."""
    made = replace(ON_NULL, file_system=FileSystem("ext4", (), 64, has_journal_device=True))
    assert "-ext4-journaldevice64m-size1024m-" in name_of(made, PLATFORM)
    path = tmp_path / "machine.toml"
    path.write_text(machine_of(made, PLATFORM))
    pc.load_machine(path)
    assert '[disk.log]\nsize = "64 MiB"\n' in path.read_text()
    assert 'journal = { size = "64 MiB" }\njournal_device = "log"\n' in path.read_text()
    told = kernel_line(Settings(disk="null", file_system=made.file_system), "x")
    assert told.endswith("BED_JOURNAL=64 BED_JOURNAL_DEVICE=1 BED_NFS=")
