"""`pagecast plan stripe`: throughput over strip size, stripe count and servers, and its knee."""

import json

import pytest
from click.testing import CliRunner

import pagecast as pc
from pagecast.cli import cli
from pagecast.errors import ScenarioError
from pagecast.striping import StripePlan, StripePoint, plan_stripe

MEMORY = 'memory = { size = "2 GiB", read = "10 GB/s", write = "10 GB/s" }'
SERVERS = ("io1", "io2", "io3")


@pytest.fixture
def scenario(tmp_path):
    """One client reads 300 MB from three servers, whose disks are slower than its link."""
    text = 'network = { topology = "star", rate = "150 MB/s", latency = "20 us" }\n'
    striped = ", ".join(f'"{name}:/data"' for name in SERVERS)
    text += f'[host.client]\ncores = 2\n{MEMORY}\nmount."/pvfs".striped = [{striped}]\n'
    for name in SERVERS:
        text += f'[host.{name}]\ncores = 2\n{MEMORY}\nmount."/data".disk = "hdd"\n'
        text += 'disk.hdd = { size = "1 TB", read = "75 MB/s", write = "75 MB/s" }\n'
    text += '[[file]]\npath = "/pvfs/f"\nsize = "300 MB"\n'
    text += '[[process]]\nname = "p"\ndo = [ { read = "/pvfs/f" } ]\n'
    path = tmp_path / "scenario.toml"
    path.write_text(text)
    return path


def test_servers_help_up_to_the_link_of_the_client(scenario):
    plan = plan_stripe(scenario, strip_bytes=[1 << 20], servers=[1, 2, 3])
    one, two, three = (point.bytes_per_s for point in plan.points)
    assert one == pytest.approx(75e6, rel=0.1)
    assert two == pytest.approx(2 * one, rel=0.15)
    assert three == pytest.approx(150e6, rel=0.1)


def test_the_knee_is_the_fewest_servers_that_are_nearly_as_fast_as_any():
    points = [StripePoint(64, count, rate) for count, rate in ((1, 50.0), (2, 96.0), (4, 100.0))]
    assert StripePlan("kernel", tuple(points)).knee(64) == 2


def test_by_default_the_number_of_servers_doubles_up_to_all(scenario):
    plan = plan_stripe(scenario, strip_bytes=[65_536, 1 << 20])
    assert [(point.strip_bytes, point.servers) for point in plan.points] == [
        (strip, count) for strip in (65_536, 1 << 20) for count in (1, 2, 3)
    ]


def test_a_file_on_one_server_is_as_fast_as_its_disk(scenario):
    plan = plan_stripe(scenario, strip_bytes=[1 << 20], stripe_counts=[1, 2], servers=[1, 3])
    assert [(point.stripe_count, point.servers) for point in plan.points] == [(1, 1), (1, 3), (2, 3)]
    one, one_of_three, two_of_three = (point.bytes_per_s for point in plan.points)
    assert one_of_three == pytest.approx(one, rel=0.01)
    assert two_of_three == pytest.approx(2 * one, rel=0.15)


def test_a_knee_is_that_of_its_stripe_count():
    rates = {(1, 1): 50.0, (1, 2): 50.0, (2, 2): 100.0}
    points = [StripePoint(64, servers, rate, stripe) for (stripe, servers), rate in rates.items()]
    plan = StripePlan("kernel", tuple(points))
    assert (plan.knee(64, 1), plan.knee(64, 2)) == (1, 2)


@pytest.mark.parametrize(
    "operation",
    [
        '{ fopen = "/pvfs/f", mode = "r" }, { fread = "/pvfs/f", call = "1 MiB" }',
        '{ fopen = "/pvfs/new", mode = "w" }, { fwrite = "/pvfs/new", size = "300 MB", call = "1 MiB" }',
        '{ copy = "/pvfs/f", to = "/pvfs/new", by = "read_write", call = "1 MiB" }',
        '{ read = "/pvfs/f", call = "1 MB", pattern = { writes = "50 %" } }',
    ],
)
def test_every_operation_that_moves_bytes_counts(scenario, operation):
    scenario.write_text(scenario.read_text().replace('{ read = "/pvfs/f" }', operation))
    (point,) = plan_stripe(scenario, strip_bytes=[65_536], servers=[3]).points
    result = pc.simulate(pc.Scenario.load(scenario), model="kernel")
    assert point.bytes_per_s == pytest.approx(300e6 / result.end_s, rel=0.05)


def test_a_scenario_without_striped_mounts_and_too_many_servers_are_refused(scenario, tmp_path):
    with pytest.raises(ScenarioError, match="has only 3"):
        plan_stripe(scenario, strip_bytes=[1 << 20], servers=[4])
    with pytest.raises(ScenarioError, match="--count 3: a file is on 2 servers at most"):
        plan_stripe(scenario, strip_bytes=[1 << 20], stripe_counts=[3], servers=[1, 2])
    local = tmp_path / "local.toml"
    local.write_text(
        f'[machine]\ncores = 1\n{MEMORY}\n[[process]]\nname = "p"\ndo = [ {{ sleep = "1 s" }} ]\n'
    )
    with pytest.raises(ScenarioError, match="has no striped mount"):
        plan_stripe(local, strip_bytes=[1 << 20])


def test_the_command_prints_a_table_or_json(scenario):
    asked = ["plan", "stripe", str(scenario), "--strip", "1MiB", "--model", "kernel"]
    table = CliRunner().invoke(cli, asked)
    assert table.exit_code == 0
    assert "1 MiB" in table.output
    assert "*" in table.output
    assert "count" not in table.output
    document = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).output)
    assert sum(point["is_knee"] for point in document["points"]) == 1


def test_the_command_has_a_line_for_each_stripe_count(scenario):
    asked = ["plan", "stripe", str(scenario), "--strip", "1MiB", "--count", "1", "--count", "3"]
    table = CliRunner().invoke(cli, asked)
    assert table.exit_code == 0
    assert "by strip size, stripe count and servers" in table.output
    assert table.output.count("1 MiB") == 2
    points = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).output)["points"]
    assert [point["stripe_count"] for point in points if point["is_knee"]] == [1, 3]


def test_what_clients_asked_of_servers_is_saved(scenario, tmp_path):
    result = pc.simulate(pc.Scenario.load(scenario), model="kernel")
    result.save(tmp_path / "out")
    rows = (tmp_path / "out/payloads.csv").read_text().splitlines()
    assert len(rows) == 1 + len(SERVERS)
    assert rows[0].startswith("client,server,payloads,bytes,")
    assert sum(result.payloads["bytes"]) == 300_000_000
