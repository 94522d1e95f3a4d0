"""Values are set as the core sets them, and written into the text so that it reads the same."""

import tomllib

import pytest

import pagecast as pc
from pagecast.errors import ScenarioError
from pagecast.studio.copies import as_toml
from pagecast.studio.document import applied
from pagecast.studio.toml_edit import edited
from tests.unit.studio.conftest import SCENARIO

INLINE = """\
models = ["kernel"]
machine = { cores = 4, memory = { size = "4 GB", read = "4 GB/s", write = "2 GB/s" }, \
disk.ssd = { size = "1 TB", read = "500 MB/s", write = "400 MB/s" }, mount."/data" = { disk = "ssd" } }
process = [ { name = "a.b", do = [ { write = "/data/x", size = "1 GB" } ] } ]
"""

SHIPPED = """\
[[process]] # a comment with [brackets]
name = "app"
do = [
  { write = "/data/x", size = "1 GB" }, # one ]
]
[machine]
from = "wrench-cluster-published"
"""

OVERRIDES = [
    ("machine.memory.size=8 GB",),
    ("machine.vm.dirty_ratio=5", "machine.vm.dirty_background_ratio=2"),
    ("machine.vm.dirty_bytes=64 MiB",),
    ("machine.disk.ssd.read=300 MB/s",),
    ("machine.disk.ssd.read_ahead_kb=512", "machine.disk.ssd.nr_requests=8"),
    ("machine.kernel.version=5.10",),
    ("machine.kernel.version='6.1'",),
    ('machine.mount."/data".journal.commit_interval=1 s',),
    ("machine.mount./data.write_mode=through",),
    ("machine.cores=8", "machine.cores=6"),
]


@pytest.mark.parametrize("text", [SCENARIO, INLINE, SHIPPED], ids=["tables", "inline", "shipped"])
@pytest.mark.parametrize("overrides", OVERRIDES, ids=" ".join)
def test_the_text_describes_the_same_machine(text, overrides, tmp_path):
    path = tmp_path / "scenario.toml"
    found = as_toml(text.encode(), path, overrides)
    assert tomllib.loads(found) == applied(tomllib.loads(text), overrides)
    wanted = pc.Scenario.from_toml(text, set=overrides)
    assert pc.Scenario.from_toml(found).machine.to_toml() == wanted.machine.to_toml()


@pytest.mark.parametrize(
    "overrides",
    [
        ("parameter.size=100 MB",),
        ("process.writer{n}.count=3",),
        ("process.reader.start=1 s", "file./data/in.cached=100 MB"),
        ('process."reader".do=[{ read = "/data/in" }]',),
        ("models=['kernel']",),
    ],
)
def test_the_text_has_the_same_programs(overrides, tmp_path):
    found = as_toml(SCENARIO.encode(), tmp_path / "x.toml", overrides)
    results = [
        pc.simulate(scenario, model="kernel").operations.to_dict()
        for scenario in (pc.Scenario.from_toml(found), pc.Scenario.from_toml(SCENARIO, set=overrides))
    ]
    assert results[0] == results[1]


def test_comments_and_layout_stay():
    found = edited(
        SCENARIO, ("machine.vm.dirty_ratio=5", "machine.vm.dirty_bytes=64 MiB", "parameter.size=1 GB")
    )
    assert found == SCENARIO.replace("dirty_ratio = 20", "dirty_ratio = 5").replace(
        "[machine.vm]\n", '[machine.vm]\ndirty_bytes = "64 MiB"\n'
    ).replace('size = "2 GB"  ', 'size = "1 GB"  ')


def test_a_table_that_is_not_there_comes_at_the_end_or_beside_its_parent():
    assert edited(SHIPPED, ("machine.vm.dirty_ratio=5",)) == SHIPPED.replace(
        "[machine]\n", "[machine]\nvm.dirty_ratio = 5\n"
    )
    assert edited("models = ['kernel']\n", ("machine.cores=2",)) == (
        "models = ['kernel']\n\n[machine]\ncores = 2\n"
    )


def test_what_has_no_place_is_written_anew():
    """A new rate takes the curve beside it away, which no place of the text does."""
    text = SCENARIO.replace('service = "60 us"', 'read_at = { "1" = "500 MB/s", "4" = "550 MB/s" }')
    found = edited(text, ("machine.disk.ssd.read=300 MB/s",))
    assert "read_at" not in found
    assert tomllib.loads(found) == applied(tomllib.loads(text), ("machine.disk.ssd.read=300 MB/s",))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("machine.cores", "there is no `=`"),
        ("machine..cores=1", "is no key"),
        ("machine.'cores=1", "there is no `=`"),
        ("process.nobody.count=2", "there is no `nobody`; there are writer{n}, reader"),
        ("process.reader=2", "the key ends at `reader`"),
        ("models.x=2", "there is no `x`"),
        ("machine.cores.x=2", "is inside a value, which has no keys"),
        ("machine={ from = '/etc/passwd', }x", "the value is no TOML"),
        ("machine.cores=1\ny=2", "the value is more than one line"),
        ("machine.description=a\nb", "the value is no TOML"),
    ],
)
def test_what_sets_nothing_is_said(override, message):
    with pytest.raises(ScenarioError) as failed:
        applied(tomllib.loads(SCENARIO), (override,))
    assert str(failed.value).startswith("--set machine.desc" if "desc" in override else "--set ")
    assert message in str(failed.value)


def test_the_document_stays_as_it_was():
    document = tomllib.loads(SCENARIO)
    applied(
        document, ("machine.vm.dirty_ratio=5", "process.reader.start=1 s", "machine.disk.ssd.read=1 MB/s")
    )
    assert document == tomllib.loads(SCENARIO)
