"""What a case becomes: a script, the phase of each operation, and what cannot be said."""

import pytest

import pagecast as pc
from pagecast.studies.live_kernel.case import parse
from pagecast.studies.live_kernel.forecast import simulate_case
from pagecast.studies.live_kernel.program import MAIN, UnsupportedError, translate


def program(text, **options):
    return translate(parse(text, name="case", origin="case.pct"), **options)


def phases(text):
    """Give the operations of each process of the scenario, each with its phase and whether it counts."""
    of = program(text)
    machine = pc.load_machine("wrench-cluster")
    table = simulate_case(of, machine=machine, model="wrench", options={}).operations
    found = {}
    rows = zip(*(table[name] for name in ("process", "index", "operation")), strict=True)
    for process, index, operation in sorted(rows):
        found.setdefault(process, []).append((operation, *of.counts(process, int(index), operation)))
    return found


def test_what_is_before_the_first_mark_has_no_phase():
    assert phases("open 0 MNT/a wct\nmark one\nfsync 0\nmark two\nsleep 1") == {
        MAIN: [("open", None, True), ("fsync", "one", True), ("sleep", "two", False)]
    }


def test_without_a_mark_all_is_one_phase():
    assert phases("open 0 MNT/a wct\nfsync 0") == {MAIN: [("open", "all", True), ("fsync", "all", True)]}


def test_a_process_has_the_phase_in_which_it_starts():
    found = phases("mark go\nproc child\nopen 0 MNT/a wct\nendproc\nsleep 1000\nmark end\nwait")
    assert found == {
        MAIN: [("signal", "go", False), ("sleep", "go", False), ("wait", "end", True)],
        "child-1": [
            ("wait", None, True),
            ("open", "go", True),
            ("close", None, True),
            ("signal", None, False),
        ],
    }


def test_processes_of_one_name_are_told_apart_but_recorded_alike():
    found = program("proc a\nsync\nendproc\nwait\nproc a\nsync\nendproc\nwait")
    assert list(found.line_of) == ["a-1", "a-2", MAIN]
    assert {found.line(name, 1).process for name in ("a-1", "a-2")} == {"a"}


def test_looking_at_the_cache_takes_as_long_as_it_was_recorded():
    found = program("open 0 MNT/d/a wct\nstat now MNT/d/a\nstat then MNT/d/a", stat_s={MAIN: [0.25]})
    assert [line.text for line in found.lines] == [
        *("open 0 MNT/d/a wct", "sleep 250.000000", "stat now MNT/d/a", "stat then MNT/d/a"),
    ]
    looks = [found.line(MAIN, index).look for index in range(4)]
    assert looks == [None, None, ("now", "d/a"), ("then", "d/a")]
    assert [found.counts(MAIN, at, "fadvise")[1] for at in (2, 3)] == [False, False]


def test_a_file_that_is_not_there_is_not_looked_at():
    assert program("sync\nstat now MNT/a").line_of == {MAIN: [1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sync\nopen 0 MNT/a r", "line 2 opens MNT/a, which nothing before it makes"),
        (
            "open 0 MNT/a wc\nunlink MNT/a\nopen 0 MNT/a r",
            "line 3 opens MNT/a, which nothing before it makes",
        ),
        ("fsync 1", "case.pct:1: handle `1` is not open"),
        ("open 0 /tmp/a wct", "case.pct:1: `/tmp/a` is not below MNT"),
    ],
)
def test_what_cannot_be_said_names_the_line(text, message):
    with pytest.raises(UnsupportedError, match=message):
        program(text)
