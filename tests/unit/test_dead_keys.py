"""Keys of a machine that are given and change nothing: they are named, and they do change nothing."""

import pytest

import pagecast
from pagecast.cli.notices import of_forecasts, of_machine
from tests.unit.test_notices import HOSTS, MACHINE, notices, scenario

WRITE = '{ write = "/d/g", size = "1500 MB", call = "1 MiB" }'
READ = '{ read = "/d/f", size = "1 GB" }'
THROUGH = HOSTS.replace('nfs = "s:/e"', 'nfs = "s:/e", write_mode = "through"')


def end_s(*arguments, **keywords):
    return pagecast.simulate(scenario(*arguments, **keywords)).end_s


@pytest.mark.parametrize("part", ["dirty", "dirty_background"])
def test_a_ratio_beside_bytes(part):
    in_bytes, ratio = f"machine.vm.{part}_bytes=300 MB", f"machine.vm.{part}_ratio=5"
    assert end_s(WRITE, set=[in_bytes]) == end_s(WRITE, set=[in_bytes, ratio])
    [found] = of_machine(scenario(WRITE, set=[in_bytes, ratio]))
    assert found == f"machine.vm.{part}_ratio has no effect under `kernel`: {part}_bytes replaces it."
    for alone in (in_bytes, ratio):
        assert list(of_machine(scenario(WRITE, set=[alone]))) == []


def test_a_ratio_in_the_file_counts_as_given_unless_the_machine_is_replaced(tmp_path):
    text = f"{MACHINE}[machine.vm]\ndirty_ratio = 20\ndirty_bytes = '300 MB'\n"
    assert len(list(of_machine(scenario(WRITE, text)))) == 1
    other = tmp_path / "other.toml"
    other.write_text(
        f"{MACHINE}[machine.vm]\ndirty_bytes = '300 MB'\n".replace("machine.", "").replace("[machine]", "")
    )
    replaced = f"machine={{ from = '{other}' }}"
    assert list(of_machine(scenario(WRITE, text, set=[replaced]))) == []
    [found] = of_machine(scenario(WRITE, text, set=[replaced, "machine.vm.dirty_ratio=10"]))
    assert found.startswith("machine.vm.dirty_ratio has no effect")


def test_a_text_with_a_byte_order_mark_or_in_toml_1_1():
    both = f"{MACHINE}[machine.vm]\ndirty_ratio = 20\ndirty_bytes = '300 MB'\n"
    assert len(list(of_machine(scenario(WRITE, f"\ufeff{both}")))) == 1
    assert list(of_machine(scenario(WRITE.replace(", size", ",\n size"), both))) == [], "it is not understood"


def test_dirty_limits_of_a_client_that_writes_through():
    limits = ["host.c.vm.dirty_bytes=10 MB", "host.c.vm.dirty_expire_centisecs=100"]
    assert end_s(WRITE, THROUGH) == end_s(WRITE, THROUGH, set=limits)
    [found] = notices(WRITE, THROUGH, set=limits)
    assert found.startswith("host.c.vm.dirty_bytes, dirty_expire_centisecs: no effect, as every mount is NFS")
    assert notices(WRITE, HOSTS, set=limits) == []
    assert notices(WRITE, THROUGH, set=["host.s.vm.dirty_bytes=1 MB"]) == []
    assert notices(WRITE, THROUGH, set=["host.c.vm.dirty_bytes=1 MB"]) == [], "less than a call writes"


def test_dirty_limits_count_for_what_is_dirty_at_first():
    asked = pagecast.Scenario.from_toml(
        f'{THROUGH}[[file]]\npath = "/d/f"\nsize = "1 GB"\ncached = "1 GB"\ndirty = "1 GB"\n'
        '[[process]]\nname = "p"\ndo = [{ sleep = "1 s" }]\n',
        set=["host.c.vm.dirty_bytes=1 MB"],
    )
    assert list(of_forecasts(asked, [pagecast.simulate(asked)])) == []


def test_read_ahead_where_nothing_is_read():
    key = "machine.disk.ssd.read_ahead_kb=4096"
    assert end_s(WRITE) == end_s(WRITE, set=[key])
    assert notices(WRITE, set=[key]) == [
        "machine.disk.ssd.read_ahead_kb has no effect: nothing was read from the disk."
    ]
    assert notices(READ, set=[key]) == []
    assert notices(WRITE) == []


def test_a_cgroup_without_a_process():
    text = f"{MACHINE}[machine.cgroup.a]\nmemory.max = '1 GB'\n[machine.cgroup.b]\nmemory.max = '1 GB'\n"
    asked = f'{text}[[process]]\nname = "q"\ncgroup = "a"\ndo = [{{ sleep = "1 s" }}]\n'
    [found] = of_machine(scenario(WRITE, asked))
    assert found == "machine.cgroup.b has no effect: no process is in it."
    assert list(of_machine(scenario(WRITE, asked, set=["process.p.cgroup=b"]))) == []
    several = asked.replace('"q"', '"q{n}"\ncount = 2').replace('cgroup = "a"', 'cgroup = "{of}"')
    parameter = '[parameter]\nof = "a"\n'
    assert list(of_machine(scenario(WRITE, f"{parameter}{several}"))) == []


def test_a_disk_without_a_mount():
    disk = "machine.disk.hdd={ size = '1 TB', read = '100 MB/s', write = '100 MB/s' }"
    [found] = of_machine(scenario(WRITE, set=[disk]))
    assert found == "machine.disk.hdd has no effect: no mount is on it."
    journal = ['machine.mount./d.journal={ size = "64 MiB" }', "machine.mount./d.journal_device=hdd"]
    assert list(of_machine(scenario(WRITE, set=[disk, *journal]))) == []


@pytest.mark.parametrize("key", ["machine.mount./other", 'machine.mount."/other"'])
def test_a_mount_that_nothing_is_on(key):
    other = f"{key}={{ disk = 'ssd' }}"
    assert notices(WRITE, set=[other]) == [
        'machine.mount."/other" has no effect: no operation and no file is on it.'
    ]
    assert notices(f"{WRITE}, {{ sync = true }}", set=[other]) == []
    assert notices(f'{WRITE}, {{ write = "/other/f", size = "1 MB" }}', set=[other]) == []


def test_a_mount_of_another_host_is_used():
    assert notices(WRITE, HOSTS) == []
    assert notices(READ, HOSTS, set=["host.s.mount./e.commit=1 ms"]) == []
