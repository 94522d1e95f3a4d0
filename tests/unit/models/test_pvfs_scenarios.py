"""Clients of a striped mount under the model `petri`: its tables, and beside `kernel`."""

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import ScenarioError
from pagecast.models.pvfs import client_times_ns
from pagecast.studies.pvfs.scenarios import CONSTANT, cluster

MACHINE = "dell-pe1850-raid5"


def moves(way, clients, file_kib, block_kib, *, cached=True, after=(), existing=True):
    """Give a read or a write of a file by each client."""
    text, waits = "", ", ".join(f'"{name}"' for name in after)
    for at in range(clients):
        path = f"/pvfs/f{at}"
        do = f'{{ {way} = "{path}", size = "{file_kib} KiB", call = "{block_kib} KiB" }}'
        text += f'[[process]]\nname = "{way[0]}{at}"\nhost = "c{at}"\nafter = [ {waits} ]\ndo = [ {do} ]\n'
        if way == "read" and existing:
            level = f'cached = "{file_kib} KiB"\n' if cached else ""
            text += f'[[file]]\npath = "{path}"\nhost = "c{at}"\nsize = "{file_kib} KiB"\n{level}'
    return text


def scenario(text, clients=1, *, search=CONSTANT, replaced=()):
    """Give the cluster of the study with programs."""
    hosts = cluster(MACHINE, clients, search)
    for old, new in replaced:
        assert old in hosts
        hosts = hosts.replace(old, new)
    return pc.Scenario.from_toml(hosts + text, origin="test")


def durations(result):
    return [float(each) for each in result.operations["duration_s"]]


# The tables


def test_parts_add_up_and_rounds_follow_one_another():
    text = moves("write", 2, 512, 64) + moves("read", 2, 512, 64, after=("w0", "w1"), existing=False)
    result = pc.simulate(scenario(text, 2), model="petri")
    parts = sum(result.parts[name] for name in result.parts if name.endswith("_s"))
    assert np.allclose(parts, result.operations["duration_s"], rtol=0, atol=1e-12)
    assert result.operations["process"] == ["w0", "w1", "r0", "r1"]
    begins, ends = result.operations["start_s"], result.operations["end_s"]
    assert list(begins) == [0, 0, ends[1], ends[1]]
    assert list(result.operations["from_device_bytes"]) == [0] * 4
    assert result.timeline["dirty_bytes"][-4:].sum() == 2 * 512 * 1024


def test_a_cold_read_waits_for_the_disks_of_servers():
    cold, warm = (
        pc.simulate(scenario(moves("read", 1, 1024, 256, cached=cached)), model="petri")
        for cached in (False, True)
    )
    saved = durations(cold)[0] - durations(warm)[0]
    assert cold.parts["device_read_s"][0] == pytest.approx(saved, rel=0.01)
    assert cold.operations["from_device_bytes"][0] == 1024 * 1024
    assert warm.parts["device_read_s"][0] == 0


def test_times_of_clients_alone_are_those_of_the_result():
    of = scenario(moves("read", 2, 512, 64), 2)
    result = pc.simulate(of, model="petri")
    by_process = dict(zip(result.operations["process"], durations(result), strict=True))
    assert [time / 1e9 for time in client_times_ns(of, {})] == [by_process["r0"], by_process["r1"]]


# Beside the kernel


@pytest.mark.parametrize("way", ["read", "write"])
@pytest.mark.parametrize("block_kib", [8, 64, 256, 1024])
def test_one_client(way, block_kib):
    of = scenario(moves(way, 1, 1024, block_kib))
    assert durations(pc.simulate(of, model="petri")) == pytest.approx(durations(pc.simulate(of)), rel=0.05)


@pytest.mark.parametrize(("clients", "block_kib"), [(2, 64), (4, 64), (4, 256), (8, 256)])
def test_reads_of_several_clients(clients, block_kib):
    of = scenario(moves("read", clients, 1024, block_kib), clients)
    net, kernel = (np.mean(durations(pc.simulate(of, model=model))) for model in ("petri", "kernel"))
    assert net == pytest.approx(kernel, rel=0.1)


# What is refused


@pytest.mark.parametrize(
    ("text", "replaced", "message"),
    [
        (
            moves("write", 1, 512, 64).replace(" } ]", ' }, { fsync = "/pvfs/f0" } ]'),
            (),
            "`fsync` of w0 is in no net",
        ),
        (moves("write", 1, 512, 64), [(', protocol = "request"', "")], 'layout = { protocol = "request" }'),
        (moves("write", 1, 500, 64), (), "make its size a multiple of `call`"),
        (moves("write", 1, 512, 64), [("1gbe", "10gbe")], "whole nanoseconds for a byte"),
    ],
)
def test_what_no_net_plays(text, replaced, message):
    with pytest.raises(ScenarioError, match="the model petri cannot play this") as caught:
        pc.simulate(scenario(text, replaced=replaced), model="petri")
    assert message in str(caught.value)


def test_clients_that_differ():
    text = moves("write", 2, 512, 64).replace('"/pvfs/f1", size = "512 KiB"', '"/pvfs/f1", size = "1024 KiB"')
    with pytest.raises(ScenarioError, match="clients differ in what they do"):
        pc.simulate(scenario(text, 2), model="petri")


def test_servers_that_differ():
    text = moves("write", 1, 512, 64) + "[host.io1.memory]\nsize = '1 GiB'\n"
    with pytest.raises(ScenarioError, match="the servers differ"):
        pc.simulate(scenario(text), model="petri")
