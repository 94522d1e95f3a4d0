"""No file outside of the scenario's folder is read."""

import os

import pytest

from pagecast.errors import ScenarioError
from pagecast.studio.session import Session
from tests.unit.studio.conftest import SCENARIO, asked

MACHINE = """\
cores = 2
memory = { size = "4 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""
PROCESS = '[[process]]\nname = "app"\ndo = [ { write = "/data/x", size = "1 GB" } ]\n'


@pytest.fixture
def outside(tmp_path):
    """Give the path of a machine beside the folder, and make the folder."""
    (tmp_path / "folder").mkdir()
    path = tmp_path / "outside.toml"
    path.write_text(MACHINE)
    return path


def answer(folder, text, *overrides):
    path = folder / "scenario.toml"
    path.write_text(text)
    return Session(path).forecast(asked(*overrides))


def test_a_machine_of_the_folder_is_read(outside):
    folder = outside.parent / "folder"
    (folder / "m.toml").write_text(MACHINE)
    assert "error" not in answer(folder, f'machine.from = "m.toml"\n{PROCESS}')
    assert "error" not in answer(folder, f'machine.from = "./m.toml"\n{PROCESS}')
    assert "error" not in answer(folder, f'machine.from = "wrench-cluster"\n{PROCESS}')


@pytest.mark.parametrize(
    "override",
    [
        "machine.from=../outside.toml",
        "machine={ from = '../outside.toml' }",
        "machine.from='../{name}'",
        "machine.disk.ssd.from=../outside.toml",
        "process.reader={ name = 'reader', from = '../outside.toml' }",
        "process.reader.from=../outside.toml",
        "network={ platform = '../outside.toml' }",
        "network.platform=/etc/hostname",
        "machine.from=link.toml",
    ],
)
def test_what_the_page_sets_stays_in_the_folder(override, outside):
    folder = outside.parent / "folder"
    os.symlink(outside, folder / "link.toml")
    text = SCENARIO.replace("[parameter]", '[parameter]\nname = "outside.toml"')
    found = answer(folder, text, override)
    assert "is outside of" in found["error"]["message"] or "the key ends" in found["error"]["message"]
    assert "timeline" not in found


def test_what_the_scenario_names_stays_in_the_folder(outside):
    folder = outside.parent / "folder"
    found = answer(folder, f'machine.from = "../outside.toml"\n{PROCESS}')
    assert "is outside of" in found["error"]["message"]
    (folder / "m.toml").write_text('from = "../outside.toml"\n')
    assert "is outside of" in answer(folder, f'machine.from = "m.toml"\n{PROCESS}')["error"]["message"]


def test_what_a_job_file_includes_stays_in_the_folder(outside):
    folder = outside.parent / "folder"
    (folder / "job.fio").write_text("include ../outside.toml\n[a]\nrw=read\nsize=1m\n")
    found = answer(folder, f'[machine]\n{MACHINE}[[process]]\nname = "fio"\nfrom = "job.fio"\n')
    assert "is outside of" in found["error"]["message"]


def test_text_that_is_no_toml_is_not_given_to_the_core(outside):
    found = answer(outside.parent / "folder", 'machine = { from = "../outside.toml",\n\n')
    assert (found["error"]["file"], found["error"]["line"]) == ("scenario.toml", 1)
    with pytest.raises(ScenarioError, match="there is no such file"):
        Session(outside.parent / "nothing.toml").watched.read()
