"""The controls come from the knobs of an administrator, and each value of them can be set."""

import pytest

import pagecast as pc
from pagecast.advice.finding import find_hosts, find_knobs, largest_processes, used_disks
from pagecast.studio.controls import controls
from tests.unit.advice.conftest import SEVERAL
from tests.unit.studio.conftest import SCENARIO


def described(text):
    """Give the scenario's knobs and controls."""
    scenario = pc.Scenario.from_toml(text)
    result = pc.simulate(scenario)
    hosts = find_hosts(scenario, used_disks(result))
    knobs = [*find_knobs(hosts, text.encode(), (), largest_processes(result))]
    return knobs, controls(hosts, knobs)


@pytest.fixture(scope="module")
def found():
    return described(SCENARIO)


def by_id(found, name):
    return next(each for each in found if each["id"] == name)


def test_a_slider_has_its_range_and_unit(found):
    memory = by_id(found[1], "machine.memory.size")
    assert (memory["label"], memory["group"], memory["present"]) == ("memory size", "Memory", "4 GB")
    assert (memory["low"], memory["high"], memory["is_log"], memory["form"]) == (0.25e9, 16e9, True, "size")
    ratio = by_id(found[1], "machine.vm.dirty_ratio")
    assert (ratio["present"], ratio["unit"], ratio["is_log"]) == ("20", "%", False)
    ahead = by_id(found[1], "machine.disk.ssd.read_ahead_kb")
    assert (ahead["low"], ahead["high"], ahead["unit"], ahead["group"]) == (0, 8192, "KiB", "Disk ssd")


def test_what_is_not_set_says_so(found):
    assert by_id(found[1], "machine.vm.dirty_bytes")["present"] is None


def test_every_knob_has_a_control(found):
    knobs, drawn = found
    keys = {each["key"] for each in drawn if each["kind"] == "slider"}
    options = {
        override for each in drawn for option in each.get("options", ()) for override in option["overrides"]
    }
    for knob in knobs:
        for setting in knob.settings:
            first = setting.overrides[0]
            assert first.partition("=")[0] in keys or first in options, knob.name


def test_the_flags_of_a_program_are_one_choice(found):
    flags = by_id(found[1], "flags of writer{n}")
    assert [option["text"] for option in flags["options"]] == [
        "O_DIRECT for writes",
        "RWF_DONTCACHE for writes",
    ]
    assert flags["group"] == "Process writer{n}"


@pytest.mark.parametrize("text", [SCENARIO, SEVERAL], ids=["one host", "several hosts"])
def test_every_control_can_be_set(text):
    _, drawn = described(text)
    assert len({each["id"] for each in drawn}) == len(drawn)
    forms = {"size": "B", "rate": "B/s", "time": "s", "number": ""}
    for each in drawn:
        if each["kind"] == "choice":
            tries = [option["overrides"] for option in each["options"]]
        else:
            low = max(each["low"], each["high"] / 100)
            tries = [[f"{each['key']}={low:.0f} {forms[each['form']]}", *each["beside"]]]
        for overrides in tries:
            pc.Scenario.from_toml(text, set=overrides)


def test_bytes_and_nanoseconds_read_well():
    """A machine says `1706549248 B`, which fits into no field."""
    text = SCENARIO.replace('size = "4 GB"', 'size = "1706549248 B"').replace("200 MB/s", "104857600 B/s")
    text = text.replace("journal = {}", 'journal = { commit_interval = "1500 ms" }')
    _, drawn = described(text)
    present = {each["label"]: each["present"] for each in drawn}
    assert present["memory size"] == "1.707 GB"
    assert present["write rate"] == "100 MiB/s"
    assert present["commit"] == "1.5 s"


def test_hosts_have_controls_of_their_own():
    _, drawn = described(SEVERAL)
    groups = {each["group"] for each in drawn}
    assert {"Memory on client", "Memory on server", "Disk ssd on server", "Mount /nfs on client"} <= groups
    threads = next(each for each in drawn if each["label"] == "nfsd threads")
    assert threads["key"] == "host.server.nfsd.threads"
