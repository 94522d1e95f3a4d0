"""The laws' own tools: units, shrinking, and the process that may be killed."""

from fuzz.laws.chance import Chance
from fuzz.laws.document import Rate, Size, Table, Time, any_units, to_toml
from fuzz.laws.identity import permuted
from fuzz.laws.looking import Looker
from fuzz.laws.registry import KINDS, draw
from fuzz.laws.shrinking import shrunk
from fuzz.laws.simulating import Case
from pagecast import Scenario

DOCUMENT: Table = {
    "machine": {
        "cores": 4,
        "memory": {"size": Size(2_000_000_000), "read": Rate(4_030_000_000), "write": Rate(3_000_000_000)},
        "disk": {"d0": {"size": Size(10**12), "read": Rate(123_456_789), "write": Rate(200_000_000)}},
        "mount": {"/d0": {"disk": "d0"}},
    },
    "file": [{"path": "/d0/a", "size": Size(1_234_567)}, {"path": "/d0/b", "size": Size(5)}],
    "process": [
        {"name": "p", "do": [{"read": "/d0/a"}, {"repeat": 3, "do": [{"compute": Time(1_500_001)}]}]},
        {"name": "q", "do": [{"read": "/d0/b"}, {"sleep": Time(10**9)}]},
    ],
}


def test_every_unit_says_the_same() -> None:
    hashes = {
        Scenario.from_toml(to_toml(DOCUMENT, any_units(Chance(seed)))).machine_hash for seed in range(20)
    }
    assert len(hashes) == 1
    texts = {to_toml(DOCUMENT, any_units(Chance(seed))) for seed in range(20)}
    assert len(texts) == 20


def test_a_number_draws_the_same_scenario_whatever_was_drawn_before() -> None:
    alone = draw(7, 3)
    assert [draw(7, number) for number in range(4)][3] == alone


def test_drawn_scenarios_can_be_read() -> None:
    cases = [draw(7, number) for number in range(60)]
    assert {case.kind for case in cases} == set(KINDS)
    for case in cases:
        Scenario.from_toml(to_toml(case.document))


def test_what_does_not_matter_is_left_out() -> None:
    def still_reads_a(document: Table) -> bool:
        steps = [step for process in document["process"] for step in process["do"]]
        return any(step.get("read") == "/d0/a" for step in steps) and document["machine"].get("cores", 1) > 1

    smaller = shrunk(DOCUMENT, still_reads_a)
    assert smaller["process"] == [{"name": "p", "do": [{"read": "/d0/a"}]}]
    assert smaller["file"] == []
    assert smaller["machine"]["cores"] == 2
    assert DOCUMENT["machine"]["cores"] == 4, "what was drawn stays"


def test_the_other_way_round_twice_is_the_same_again() -> None:
    assert permuted(permuted(DOCUMENT)) == DOCUMENT
    assert list(permuted(DOCUMENT)["process"]) == DOCUMENT["process"][::-1]


def test_who_takes_too_long_is_killed_and_the_next_one_looked_at() -> None:
    looker = Looker()
    many = {"repeat": 300_000, "do": [{"read": "/d0/b"}]}
    long = Case("reader", 7, 0, {**DOCUMENT, "process": [{"name": "p", "do": [many]}]})
    [failure] = looker.look(long, "conservation", seconds=0.05).failures
    assert failure.law == "ends"
    assert failure.what == "killed after 0.05 s of processor time, under kernel"
    assert not looker.look(Case("reader", 7, 0, DOCUMENT), "conservation").failures
    looker.end()
