"""The values of a key."""

import pytest

from pagecast.errors import ArgumentError, ArgumentTypeError
from pagecast.sweeps.axis import axis_names, make_axis


def values(spec):
    return [setting.value for setting in make_axis("a.b", spec).settings]


def texts(spec):
    return [setting.text for setting in make_axis("a.b", spec).settings]


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("1..4:4", [1, 2, 3, 4]),
        ("1..4:lin:4", [1, 2, 3, 4]),
        ("4..256:log:4", [4, 16, 64, 256]),
        ("1..100:log:3", [1, 10, 100]),
        ("0..1:3", [0, 1]),  # whole ends, whole values
        ("0.0..1.0:3", [0.0, 0.5, 1.0]),
        ("64MB..8GB:log:3", [64_000_000, 715_500_000, 8_000_000_000]),
        ("10 ms..1 s:log:3", [0.01, 0.1, 1.0]),
        ("100 MB/s..400 MB/s:2", [100_000_000, 400_000_000]),
        ("5 %..20 %:4", [0.05, 0.1, 0.15, 0.2]),
    ],
)
def test_a_range(spec, wanted):
    assert values(spec) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("1,2,3", [1, 2, 3]),
        ("1, 2.5", [1.0, 2.5]),
        ("16GB,32 GiB", [16_000_000_000, 34_359_738_368]),
        ("true,false", [True, False]),
        ("ext4,xfs", ["ext4", "xfs"]),
        ("\"a,b\",'c'", ["a,b", "c"]),
        ("[1,2],[3]", ["[1,2]", "[3]"]),
        ("../a.toml,../b.toml", ["../a.toml", "../b.toml"]),
        ("5.10,16GB", ["5.10", "16GB"]),
        ([1, 2], [1, 2]),
        (["16 GB", "32 GB"], [16_000_000_000, 32_000_000_000]),
        ([True, False], [True, False]),
        ([0.5, 1], [0.5, 1.0]),
    ],
)
def test_a_list(spec, wanted):
    found = values(spec)
    assert found == wanted
    assert [type(value) for value in found] == [type(value) for value in wanted]


def test_values_are_written_as_after_set():
    assert texts("64MB..8GB:log:2") == ["64000000 B", "8000000000 B"]
    assert texts("10 ms..1 s:2") == ["0.01 s", "1 s"]
    assert texts("100 MB/s..400 MB/s:2") == ["100000000 B/s", "400000000 B/s"]
    assert texts("5 %..20 %:2") == ["5 %", "20 %"]
    assert texts("16GB,32 GiB") == ["16GB", "32 GiB"]
    assert texts([True]) == ["true"]


def test_a_column_is_called_by_the_last_two_words_and_the_unit():
    axes = [
        make_axis("machine.vm.dirty_bytes", "1GB,2GB"),
        make_axis("machine.memory.size", "1GB,2GB"),
        make_axis("machine.disk.ssd.write", ["1 GB/s"]),
        make_axis('machine.mount."/data".sync', "true,false"),
    ]
    assert axis_names(axes) == ["vm_dirty_bytes", "memory_size_bytes", "ssd_write_bytes_per_s", "data_sync"]
    alike = [make_axis("host.a.memory.size", "1GB"), make_axis("host.b.memory.size", "1GB")]
    assert axis_names(alike) == ["host_a_memory_size_bytes", "host_b_memory_size_bytes"]


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("", "a value is empty"),
        ("1,,2", "a value is empty"),
        ("8GB..64MB:3", "the second end is not above the first one; swap them"),
        ("1GB..2:3", "the ends have different units"),
        ("1GB..big:3", "`big` is no number"),
        ("0..8:log:3", "equal factors begin above 0"),
        ("1..8:1", "a range has 2 to 100000 values"),
        ("1,2,1", "1 is there twice"),
    ],
)
def test_what_cannot_be_varied(spec, what):
    with pytest.raises(ArgumentError) as caught:
        make_axis("a.b", spec)
    assert what in str(caught.value)


@pytest.mark.parametrize("spec", [None, 3, [None], {"a": 1}])
def test_what_has_another_type(spec):
    with pytest.raises(ArgumentTypeError):
        make_axis("a.b", spec)
