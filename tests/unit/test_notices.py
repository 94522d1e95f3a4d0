"""What is said of keys that change nothing, and of what a forecast took for granted."""

import pytest

import pagecast
from pagecast.cli.notices import implied_lines, of_forecasts, of_machine, of_overrides

MACHINE = """
[machine]
cores = 4
memory = { size = "4 GB", read = "8 GB/s", write = "5 GB/s" }
[machine.disk.ssd]
size = "500 GB"
read = "520 MB/s"
write = "450 MB/s"
[machine.mount."/d"]
disk = "ssd"
"""
HOSTS = """
[host.c]
cores = 4
memory = { size = "4 GB", read = "8 GB/s", write = "5 GB/s" }
mount."/d" = { nfs = "s:/e" }
[host.s]
cores = 4
memory = { size = "4 GB", read = "8 GB/s", write = "5 GB/s" }
disk.ssd = { size = "500 GB", read = "520 MB/s", write = "450 MB/s" }
mount."/e" = { disk = "ssd" }
[link.l]
between = ["c", "s"]
rate = "1 GB/s"
"""


def scenario(program, machine=MACHINE, *, set=()):
    text = f'{machine}[[file]]\npath = "/d/f"\nsize = "100 GB"\n[[process]]\nname = "p"\ndo = [{program}]\n'
    return pagecast.Scenario.from_toml(text, set=set)


def reads(count, stride):
    return ", ".join(f'{{ read = "/d/f", offset = "{k * stride} B", size = "4 KiB" }}' for k in range(count))


def notices(*arguments, model="kernel", **keywords):
    asked = scenario(*arguments, **keywords)
    return list(of_forecasts(asked, [pagecast.simulate(asked, model=model)]))


HERE_AND_THERE = reads(20, 10**9)


def test_small_random_reads_of_a_disk_without_latency_are_too_fast_and_it_is_said():
    """A forecast of an index that was read page by page had 127,000 reads a second of a disk for 13,000.

    The machine file had no latency, and nothing said so.
    """
    [found] = notices(HERE_AND_THERE)
    assert found.startswith("19 small reads here and there on disk ssd waited for nothing but their bytes")
    assert "machine.disk.ssd.latency" in found


def test_over_nfs_it_is_the_disk_of_the_server():
    [found] = notices(HERE_AND_THERE, HOSTS)
    assert "host.s.disk.ssd.latency" in found


@pytest.mark.parametrize(
    "setting", ["latency='80 us'", "seek='9 ms'", "kind=nvme", "kind=sata-ssd", "kind=hdd"]
)
def test_a_disk_that_has_a_latency_needs_no_notice(setting):
    assert notices(HERE_AND_THERE, set=[f"machine.disk.ssd.{setting}"]) == []


@pytest.mark.parametrize("program", [reads(20, 4096), reads(5, 10**9), '{ read = "/d/f", size = "1 GB" }'])
def test_reads_one_behind_the_other_need_none_and_few_do_not_either(program):
    assert notices(program) == []


def test_models_that_know_no_latency_need_none():
    assert notices(HERE_AND_THERE, model="wrench") == []


COMMITS = '{ repeat = 20, do = [ { write = "/d/log", size = "4 KiB" }, { fsync = "/d/log" } ] }'


def test_fsyncs_without_a_flush_and_a_journal_are_too_fast_and_it_is_said():
    """A forecast of a database had 10 us for each commit on a SATA SSD, and nothing said why."""
    [found] = notices(COMMITS, set=["machine.disk.ssd.kind=sata-ssd"])
    assert found == (
        "20 small fsyncs on disk ssd waited for nothing but their bytes: it has no flush, and /d has no "
        'journal. Set machine.disk.ssd.flush or machine.mount."/d".journal.'
    )


def test_fsyncs_over_nfs_are_those_of_the_disk_of_the_server():
    [found] = notices(COMMITS.replace("fsync", "fdatasync"), HOSTS)
    assert "it has no flush, and /e has no journal. Set host.s.disk.ssd.flush" in found


@pytest.mark.parametrize(
    "setting",
    ["machine.disk.ssd.flush='2 ms'", 'machine.mount."/d".journal={}', "machine.mount.\"/d\".commit='1 ms'"],
)
def test_fsyncs_that_wait_need_no_notice(setting):
    assert notices(COMMITS, set=[setting]) == []


def test_fsyncs_of_many_bytes_or_of_nothing_need_none():
    assert notices(COMMITS.replace("4 KiB", "1 MiB")) == []
    assert notices('{ repeat = 20, do = [ { fsync = "/d/f" } ] }') == []


def test_fsyncs_of_a_tmpfs_need_none():
    machine = f'{MACHINE}[machine.mount."/t"]\ntype = "tmpfs"\n'
    assert notices(COMMITS.replace("/d", "/t"), machine) == []


def test_dirty_limits_of_a_client_of_nfs_count():
    write = '{ write = "/d/g", size = "1500 MB" }'
    seconds = [
        float(
            pagecast.simulate(scenario(write, HOSTS, set=[f"host.c.vm.dirty_ratio={ratio}"])).operations[
                "duration_s"
            ][0]
        )
        for ratio in (12, 80)
    ]
    assert seconds[0] > 4 * seconds[1]
    assert list(of_machine(scenario(write, HOSTS, set=["host.c.vm.dirty_ratio=80"]))) == []


def test_the_type_of_a_file_system_says_where_it_matters_unless_it_does():
    """`type = "xfs"` was set to see what another file system would do, and nothing changed or said so."""
    xfs = 'machine.mount."/d".type=xfs'
    [found] = of_machine(scenario(HERE_AND_THERE, set=[xfs]))
    assert 'machine.mount."/d".type = "xfs" matters only to copy_file_range' in found
    for other in ([xfs, "machine.disk.ssd.kind=nvme"], ['machine.mount."/d".type=btrfs']):
        assert list(of_machine(scenario(HERE_AND_THERE, set=other))) == []


def test_a_setting_of_a_machine_does_not_change_the_one_that_runs(tmp_path):
    """`run --set machine.vm.dirty_ratio=10` ran with the machine's own 20, and said nothing of it."""
    own = tmp_path / "sys/vm/dirty_ratio"
    own.parent.mkdir(parents=True)
    own.write_text("20\n")
    [found] = of_overrides(
        ["machine.vm.dirty_ratio=10", "parameter.apps=3", "model.kernel.backed=1 GB"], tmp_path
    )
    assert found == (
        "--set machine.vm.dirty_ratio is of the machine that is forecast, and no run changes one: this one "
        "has 20; sysctl vm.dirty_ratio=10 sets it, as root."
    )
    assert list(of_overrides(["machine.vm.dirty_ratio=20"], tmp_path)) == [], "it is as it should be"
    [found] = of_overrides(["host.c.memory.size=3 GB"], tmp_path)
    assert found.endswith("this one is as it is.")


def test_a_forecast_says_from_which_free_memory_it_begins_where_the_host_takes_it_back():
    """`simulate` and `validate` began with different memory on the same machine file: 2.49 and 0.78 s.

    One had all free memory at the host, the other had looked what was not. Neither said so.
    """
    reported = "machine.memory.cost.page_reported='1 us'"
    [found] = notices('{ alloc = "1 GB" }', set=[reported])
    assert found.startswith("At time 0 the host of machine has taken all its free memory back")
    assert notices('{ alloc = "1 GB" }', set=[reported, "model.kernel.backed='4 GB'"]) == []


def test_what_the_kind_of_a_disk_gives_is_told():
    machine = scenario(HERE_AND_THERE, set=["machine.disk.ssd.kind=hdd"]).machine
    lines = list(implied_lines(machine))
    assert [line.partition(" by its kind (")[0] for line in lines] == [
        "disk ssd: nr_requests = 64",
        "disk ssd: queue_depth = 32",
        "disk ssd: wbt_lat_usec = 75000",
        "disk ssd: read_ahead_kb = 2560",
        'disk ssd: seek = "12670 us"',
    ]


def test_of_many_hosts_a_few_are_named():
    memory = '{ size = "4 GB", read = "8 GB/s", write = "5 GB/s", cost.page_reported = "1 us" }'
    host = f"cores = 1\nmemory = {memory}\n"
    hosts = "".join(f"[host.h{number}]\n{host}" for number in range(30))
    text = f'{hosts}[[process]]\nname = "p"\nhost = "h0"\ndo = [ {{ alloc = "1 GB" }} ]\n'
    asked = pagecast.Scenario.from_toml(text)
    lines = list(of_forecasts(asked, [pagecast.simulate(asked, model="kernel")]))
    assert (len(lines), lines[-1]) == (5, "… and 26 more such notes.")
