"""Scenarios on ext3 under the model `petri`: its tables, and beside `kernel` where both have one rule."""

import json

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import ArgumentError, ScenarioError, UnknownModelError

PART_TOLERANCE_S = 1e-12


def scenario(program, files="", machine='machine.from = "dell-pe1850"', overrides=()):
    """Give a scenario of one process on `dell-pe1850`, whose disk has a cache of writes."""
    text = f'{machine}\n{files}\n[[process]]\nname = "app"\ndo = [ {program} ]\n'
    return pc.Scenario.from_toml(text, origin="test", set=list(overrides))


RANDOM = '{way} = "/in", size = "{size}", call = "8 KiB", pattern = {{ random = "uniform"{more} }}'


def existing(path, size, cached="0 B"):
    """Give a file before time 0."""
    return f'[[file]]\npath = "{path}"\nsize = "{size}"\ncached = "{cached}"\n'


def both(of):
    """Give the results of the nets and of the kernel."""
    return pc.simulate(of, model="petri"), pc.simulate(of)


def durations(result):
    """Give the durations of operations in the order of the program."""
    return [float(each) for each in result.operations["duration_s"]]


def sums(table):
    """Give the sum of the parts of each row."""
    return sum(table[name] for name in table if name.endswith("_s"))


WHOLE = scenario(
    '{ write = "/out", size = "4 MiB", call = "64 KiB" }, { sleep = "1 s" }, { fsync = "/out" }, '
    '{ read = "/in", call = "64 KiB" }, { compute = "2 s" }, { drop_caches = true }, '
    '{ read = "/out", call = "16 KiB" }',
    existing("/in", "8 MiB"),
)


# The tables


def test_parts_add_up_to_each_operation():
    result = pc.simulate(WHOLE, model="petri")
    assert result.model == "petri"
    assert result.operations["operation"] == pc.simulate(WHOLE).operations["operation"]
    assert np.allclose(sums(result.parts), result.operations["duration_s"], rtol=0, atol=PART_TOLERANCE_S)
    assert np.allclose(sums(result.latency_parts), result.latency["total_s"], rtol=0, atol=PART_TOLERANCE_S)


def test_operations_follow_one_another():
    table = pc.simulate(WHOLE, model="petri").operations
    assert table["start_s"][0] == 0
    assert list(table["start_s"][1:]) == list(table["end_s"][:-1])
    assert np.allclose(table["end_s"] - table["start_s"], table["duration_s"], rtol=0, atol=PART_TOLERANCE_S)


def test_the_tables_are_those_of_the_engine():
    net, kernel = both(WHOLE)
    assert net.tables == kernel.tables
    for name in net.tables:
        expected = set(kernel.table(name)) if name != "timeline" else set(net.timeline) & set(kernel.timeline)
        assert set(net.table(name)) == expected, name
        for column in net.table(name):
            assert getattr(net.table(name)[column], "dtype", list) == getattr(
                kernel.table(name)[column], "dtype", list
            ), (name, column)
    json.dumps(net.to_dict(), allow_nan=False)


def test_bytes_are_from_the_cache_or_from_the_disk():
    table = pc.simulate(WHOLE, model="petri").operations
    is_read = np.array(table["operation"]) == "read"
    moved = table["from_cache_bytes"] + table["from_device_bytes"]
    assert list(moved[is_read]) == list(table["bytes"][is_read])
    assert list(table["from_device_bytes"][is_read]) == [8 << 20, 4 << 20]


def test_rates_have_all_bytes():
    result = pc.simulate(WHOLE, model="petri")
    rates = result.rates
    moved = float((rates["bytes_per_s"] * rates["window_s"]).sum())
    assert moved == pytest.approx(float(result.operations["bytes"].sum()))
    assert rates["ended"].sum() == len(result.operations)


def test_levels_of_memory_over_time():
    result = pc.simulate(WHOLE, model="petri")
    timeline = result.timeline
    assert timeline["cached_bytes"].max() == 12 << 20
    assert timeline["dirty_bytes"].max() == 4 << 20
    assert timeline["dirty_bytes"][-1] == 0
    assert list(result.files["cached_bytes"]) == [0, 4 << 20]
    assert [result.files["path"][at] for at in (0, 1)] == ["/in", "/out"]


def test_files_after_each_operation():
    result = pc.simulate(WHOLE, model="petri", residency="operation")
    of_write = [at for at, index in enumerate(result.files["index"]) if index == 0]
    assert [result.files["dirty_bytes"][at] for at in of_write] == [0, 4 << 20]
    assert [*result.files["process"][-2:]] == ["", ""]


def test_the_same_seed_gives_the_same_tables():
    one, other = (pc.simulate(WHOLE, model="petri", seed=4).to_dict() for _ in range(2))
    assert one == other


def test_calls_of_a_pattern_count_one_by_one():
    of = scenario(
        f"{{ {RANDOM.format(way='read', size='1 MiB', more='')} }}",
        existing("/in", "8 MiB", "8 MiB"),
    )
    latency = pc.simulate(of, model="petri").latency
    assert list(latency["count"]) == [128]
    assert latency["p99_s"][0] == pytest.approx(2 * 6.338e-6, rel=0.01)


# Beside the kernel


def test_copies_take_the_same_time():
    """Cached reads and writes into the cache, in calls that fit into L2 and in some that do not."""
    program = ", ".join(
        f'{{ {way} = "/in", size = "16 MiB", call = "{call} KiB" }}'
        for way in ("read", "write")
        for call in (4, 64, 256, 1024)
    )
    net, kernel = both(scenario(program, existing("/in", "16 MiB", "16 MiB")))
    assert durations(net) == pytest.approx(durations(kernel), rel=0.005)


def test_a_cold_read_from_a_disk_that_only_transfers():
    overrides = ('machine.disk.sda.latency="0 s"', 'machine.disk.sda.seek="0 s"')
    of = scenario('{ read = "/in", call = "64 KiB" }', existing("/in", "16 MiB"), overrides=overrides)
    net, kernel = both(of)
    assert durations(net) == pytest.approx(durations(kernel), rel=0.01)


def test_cold_random_reads():
    """The net prefetches 16 KiB at least, of which the disk transfers more than the kernel asks for."""
    program = RANDOM.format(way="read", size="2 MiB", more="")
    net, kernel = both(scenario(f"{{ {program} }}", existing("/in", "64 MiB")))
    assert durations(net) == pytest.approx(durations(kernel), rel=0.05)


def test_an_fsync_of_a_disk_without_a_cache():
    """The net positions once; `kernel` writes back without positions, and has more blocks in a commit."""
    program = '{ write = "/out", size = "32 MiB", call = "64 KiB" }, { fsync = "/out" }'
    net, kernel = both(scenario(program, overrides=['machine.disk.sda.write_cache.size="1 B"']))
    assert durations(net) == pytest.approx(durations(kernel), rel=0.05)


# What is refused


def refused(of):
    """Give the message."""
    with pytest.raises(ScenarioError) as caught:
        pc.simulate(of, model="petri")
    return str(caught.value)


@pytest.mark.parametrize(
    ("program", "files", "message"),
    [
        (
            '{ write = "/a", size = "1 MiB" }, { rename = "/a", to = "/b" }',
            "",
            "`rename` of app is in no net",
        ),
        ('{ open = "/in", flags = ["O_DIRECT"] }, { read = "/in" }', existing("/in", "1 MiB"), "O_DIRECT"),
        (
            '{ write = "/a", size = "1 MiB" }, { read = "/in" }',
            existing("/in", "1 MiB"),
            "/in is read from the disk while pages are dirty; end the writes with an fsync",
        ),
        (
            '{ write = "/a", size = "1 MiB" }, { write = "/b", size = "1 MiB" }',
            "",
            "/b is written while other pages are dirty",
        ),
        (
            '{ read = "/in", offset = "4 MiB", size = "1 MiB" }, { fsync = "/in" }, { read = "/in" }',
            existing("/in", "8 MiB"),
            "other pages of it than its first ones are cached",
        ),
        (
            '{ read = "/in" }',
            existing("/in", "8 MiB", "8 MiB").replace("cached", 'dirty = "1 MiB"\ncached'),
            "dirty at time 0",
        ),
        (
            '{ read = "/in" }',
            existing("/in", "8 MiB", "8 MiB") + existing("/other", "8 MiB"),
            "of several files a part is cached",
        ),
        (
            f"{{ {RANDOM.format(way='read', size='1 MiB', more=', depth = 4')} }}",
            existing("/in", "8 MiB"),
            "a `pattern` has a depth",
        ),
    ],
)
def test_a_program_that_no_net_plays(program, files, message):
    assert message in refused(scenario(program, files))


def test_a_machine_that_is_no_ext3():
    of = scenario('{ write = "/a", size = "1 MiB" }', overrides=['machine.mount."/".type="ext4"'])
    assert '/a is on / of type "ext4"; the nets are of "ext3"' in refused(of)


def test_several_processes_and_all_reasons_at_once():
    text = 'machine.from = "dell-pe1850"\n' + "".join(
        f'[[process]]\nname = "{name}"\ndo = [ {{ write = "/{name}", size = "1 MiB" }}, '
        f'{{ rename = "/{name}", to = "/{name}2" }} ]\n'
        for name in ("a", "b")
    )
    message = refused(pc.Scenario.from_toml(text, origin="two.toml"))
    assert message.startswith("two.toml: the model petri cannot play this: ")
    assert "there are 2 processes with operations (a, b)" in message
    assert "`rename` of a is in no net" in message


def test_keys_that_are_left_out_are_named():
    result = pc.simulate(scenario('{ write = "/a", size = "1 MiB" }'), model="petri")
    assert result.left_out == ("write_cache of the disk",)
    assert pc.simulate(scenario('{ write = "/a", size = "1 MiB" }')).left_out == ()


# Options


def test_values_of_the_nets_are_options():
    of = scenario('{ read = "/in", call = "64 KiB" }', existing("/in", "4 MiB"))
    plain, slow = (
        pc.simulate(of, model="petri", options=options).end_s for options in ({}, {"disk_page_ns": 688400})
    )
    assert slow > 5 * plain


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"disk": 1}, UnknownModelError, "petri has no option `disk`; its options are ageing_ns"),
        ({"file_pages": 1}, UnknownModelError, "petri has no option `file_pages`"),
        ({"ageing_ns": "1 s"}, ArgumentError, "is no whole number"),
    ],
)
def test_options_that_cannot_be(options, error, message):
    with pytest.raises(error, match=message):
        pc.simulate(scenario('{ write = "/a", size = "1 MiB" }'), model="petri", options=options)


def test_the_engine_alone_does_not_ask_the_nets():
    from pagecast import api

    with pytest.raises(UnknownModelError, match="`petri` answers a whole scenario"):
        api.simulate(scenario('{ write = "/a", size = "1 MiB" }'), model="petri")


def test_what_a_power_cut_loses_needs_the_kernel():
    with pytest.raises(ArgumentError, match="needs the model kernel"):
        pc.simulate(scenario('{ write = "/a", size = "1 MiB" }'), model="petri", at_risk=True)


def test_a_program_in_python():
    def app():
        yield pc.write("/out", size_bytes=1 << 20, call_bytes=1 << 16)
        yield pc.fsync("/out")

    of = pc.Scenario(pc.load_machine("dell-pe1850"), processes={"app": app})
    assert pc.simulate(of, model="petri").operations["operation"] == ["write", "fsync"]


def test_writes_to_a_file_with_o_sync_are_durable_one_by_one():
    """Each call waits for its data and a commit record, and each of both for a position."""
    opened = '{ open = "/out", create = true, flags = ["O_SYNC"] }'
    result = pc.simulate(
        scenario(f'{opened}, {{ write = "/out", size = "64 KiB", call = "8 KiB" }}'), model="petri"
    )
    call_s = 2 * 0.8138e-3 + 3 * 68.84e-6 + 2 * 13.077e-6
    assert durations(result)[1] == pytest.approx(8 * call_s, rel=0.001)
    assert result.parts["journal_s"][1] == pytest.approx(8 * (0.8138e-3 + 68.84e-6), rel=0.001)
