"""How long operations take: percentiles, rates over time, and what is kept of each operation."""

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import ScenarioError

MACHINE = """
cores = 4
memory = { size = "4 GB", read = "2 GB/s", write = "2 GB/s" }
disk.ssd = { size = "1 TB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""

SCENARIO = f"""
machine = {{ {", ".join(line for line in MACHINE.splitlines() if line)} }}
[[file]]
path = "/data/in"
size = "2 GB"
[[process]]
name = "writer{{n}}"
count = 3
do = [
  {{ repeat = 100, do = [
    {{ write = "/data/o{{n}}", size = "7 MB", append = true }},
    {{ fsync = "/data/o{{n}}" }},
  ] }},
]
[[process]]
name = "reader"
do = [
  {{ open = "/data/in", fd = 3 }},
  {{ repeat = 300, do = [ {{ read = "/data/in", fd = 3, size = "1 MB" }} ] }},
]
"""


@pytest.fixture(scope="module")
def scenario():
    return pc.Scenario.from_toml(SCENARIO)


@pytest.fixture(scope="module")
def whole(scenario):
    return pc.simulate(scenario)


def rows(result):
    latency = result.latency
    keys = zip(latency["process"], latency["path"], latency["operation"], strict=True)
    return {key: row for row, key in enumerate(keys)}


def test_percentiles_are_those_of_the_operations(whole):
    operations = whole.operations
    keys = [*zip(operations["process"], operations["path"], operations["operation"], strict=True)]
    for key, row in rows(whole).items():
        durations = operations["duration_s"][[each == key for each in keys]]
        assert whole.latency["count"][row] == len(durations)
        for name, percent in (("p50_s", 50), ("p90_s", 90), ("p99_s", 99), ("p99_9_s", 99.9), ("max_s", 100)):
            exact = np.percentile(durations, percent, method="inverted_cdf")
            assert whole.latency[name][row] == pytest.approx(exact, rel=1e-3, abs=1e-9), (key, name)
        assert whole.latency["mean_s"][row] == pytest.approx(durations.mean())
        assert whole.latency["stddev_s"][row] == pytest.approx(durations.std(), rel=1e-2, abs=1e-9)


@pytest.mark.parametrize("record", ["histogram", "slow:20ms"])
def test_what_is_kept_changes_no_sum(scenario, whole, record):
    other = pc.simulate(scenario, record=record)
    assert other.end_s == whole.end_s
    assert whole.has_all_operations
    assert not other.has_all_operations
    for table in ("latency", "latency_bins", "latency_parts", "rates"):
        mine, theirs = getattr(other, table), getattr(whole, table)
        for name in theirs:
            same = np.array_equal(mine[name], theirs[name])
            assert same or np.allclose(mine[name], theirs[name], rtol=1e-9, equal_nan=True), (table, name)


def test_the_slowest_are_kept_with_their_parts(scenario, whole):
    few = pc.simulate(scenario, record="histogram")
    assert len(few.operations) == 100
    assert few.slowest(10).to_dict() == whole.slowest(10).to_dict()
    slowest = whole.slowest(3)
    assert list(slowest["duration_s"]) == sorted(whole.operations["duration_s"], reverse=True)[:3]
    parts = sum(slowest[name] for name in whole.parts if name.endswith("_s"))
    assert parts == pytest.approx(slowest["duration_s"])


def test_only_slow_operations_have_rows(scenario, whole):
    slow = pc.simulate(scenario, record="slow:20ms")
    assert len(slow.operations) == (whole.operations["duration_s"] >= 0.02).sum() > 0


def test_few_operations_all_have_rows_by_themselves(scenario, whole):
    assert pc.simulate(scenario, record="auto").to_dict() == whole.to_dict()


def readers(hosts, reads):
    """Three processes that read one page each, again and again, on one host or on three apart."""
    table = "".join(f"[host.h{number}]\n{MACHINE}" for number in range(hosts))
    for number in range(3):
        table += (
            f'[[process]]\nname = "p{number}"\nhost = "h{number % hosts}"\ndo = [\n'
            f'  {{ write = "/data/{number}", size = "1 MB" }},\n'
            f'  {{ repeat = {reads}, do = [ {{ read = "/data/{number}", offset = "0 B", '
            'size = "4 KiB" } ] },\n]\n'
        )
    return pc.Scenario.from_toml(table)


@pytest.mark.parametrize("hosts", [1, 3])
def test_of_many_operations_the_slowest_have_rows_by_themselves(hosts):
    scenario = readers(hosts, 66_666)  # with the writes, one more than 200,000
    chosen, few = (pc.simulate(scenario, record=record) for record in ("auto", "histogram"))
    assert (len(chosen.operations), chosen.has_all_operations) == (100, False)
    assert chosen.latency["count"].sum() == 200_001
    for table in ("operations", "parts", "latency", "rates"):
        assert getattr(chosen, table).to_dict() == getattr(few, table).to_dict()
    assert pc.simulate(readers(hosts, 66_665), record="auto").has_all_operations


def test_rates_hold_all_bytes(whole):
    rates = whole.rates
    for process in ("writer1", "reader"):
        of = np.array(rates["process"]) == process
        moved = (rates["bytes_per_s"] * rates["window_s"])[of].sum()
        done = np.array(whole.operations["process"]) == process
        assert moved == pytest.approx(whole.operations["bytes"][done].sum())


def test_the_same_seed_gives_the_same_bytes(scenario):
    one, other = (pc.simulate(scenario, record="histogram").to_dict() for _ in range(2))
    assert one == other


def test_a_wrong_word_is_refused(scenario):
    with pytest.raises(
        ScenarioError, match='record="some" is none of "all", "auto", "slow:TIME" and "histogram"'
    ):
        pc.simulate(scenario, record="some")
    with pytest.raises(ScenarioError, match="does not start with a finite number"):
        pc.simulate(scenario, record="slow:soon")


def test_repeated_operations_have_percentiles_without_rows(scenario, whole):
    few = pc.simulate(scenario, record="histogram")
    found = {
        tuple(row[:3]): row[3]
        for row in zip(*(few.repeated[name] for name in ("process", "operation", "path", "n")), strict=True)
    }
    assert found["reader", "read", "/data/in"] == 300


def test_the_calls_of_a_pattern_count_one_by_one():
    text = SCENARIO.split("[[process]]")[0] + (
        '[[process]]\nname = "p"\ndo = [ { read = "/data/in", size = "40 MB", call = "4 KiB", '
        'pattern = { random = "uniform", writes = "25 %" } } ]'
    )
    scenario = pc.Scenario.from_toml(text)
    for record in ("all", "histogram"):
        latency = pc.simulate(scenario, record=record).latency
        assert latency["operation"] == ["read", "write"]
        assert latency["bytes"].sum() == 40e6
        assert 0.2 < latency["count"][1] / latency["count"].sum() < 0.3
