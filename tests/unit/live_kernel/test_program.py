"""What steps become: operations, phases, processes, and what cannot be said."""

import pytest

import pagecast as pc
from pagecast.studies.live_kernel.case import parse
from pagecast.studies.live_kernel.program import MAIN, UnsupportedError, translate

MIB = 2**20


def program(text, **options):
    return translate(parse(text, name="case", origin="case.pct"), mount="/data", **options)


def operations(text, process=MAIN):
    return program(text).operations()[process]


def test_reads_and_writes_keep_offset_size_and_call():
    found = operations("open 0 MNT/a wc\nwrite 0 4k 2m 1m\nread 0 0 1m 64k")
    assert found == [
        pc.open("/data/a", create=True),
        pc.write("/data/a", offset_bytes=4096, size_bytes=2 * MIB, call_bytes=MIB),
        pc.read("/data/a", offset_bytes=0, size_bytes=MIB, call_bytes=65536),
    ]


def test_a_position_moves_with_offset_minus_one_only():
    found = operations("open 0 MNT/a wct\nwrite 0 -1 1m 1m\nwrite 0 0 3m 1m\nwrite 0 -1 1m 1m")
    assert found[3] == pc.write("/data/a", offset_bytes=MIB, size_bytes=MIB, call_bytes=MIB)


def test_opening_again_starts_at_the_beginning():
    found = operations("open 0 MNT/a wct\nwrite 0 -1 1m 1m\nclose 0\nopen 0 MNT/a r\nread 0 -1 1m 1m")
    assert found[-1] == pc.read("/data/a", offset_bytes=0, size_bytes=MIB, call_bytes=MIB)


def test_reading_stops_at_the_end_of_the_file():
    text = "open 0 MNT/a wct\nwrite 0 0 3m 1m\nread 0 2m 5m 1m\nread 0 3m 1m 1m"
    assert operations(text)[2:] == [
        pc.read("/data/a", offset_bytes=2 * MIB, size_bytes=MIB, call_bytes=MIB),
    ]


def test_truncating_empties_the_file():
    text = "open 0 MNT/a wct\nwrite 0 0 3m 1m\nclose 0\nopen 0 MNT/a rwt\nread 0 0 1m 1m"
    assert operations(text)[-1] == pc.open("/data/a", truncate=True)


def test_a_call_is_no_larger_than_what_is_written():
    found = operations("open 0 MNT/a wct\nwrite 0 0 1m 16m")
    assert found[1] == pc.write("/data/a", size_bytes=MIB, call_bytes=MIB)


def test_streams_make_calls_of_their_own():
    found = operations("open 0 MNT/a rwct\nfwrite 0 8m 100 4096\nclose 0\nopen 0 MNT/a r\nfread 0 8m 1m 64k")
    assert found[1] == pc.write("/data/a", size_bytes=8 * MIB, call_bytes=4096)
    assert found[-1] == pc.read("/data/a", size_bytes=8 * MIB, call_bytes=MIB)


def test_a_file_that_is_removed_while_it_is_open_goes_at_its_last_close():
    text = "open 0 MNT/a wct\nopen 1 MNT/a r\nunlink MNT/a\nfsync 0\nclose 0\n"
    text += "dontneed 1\nclose 1\nunlink MNT/a"
    assert operations(text)[2:] == [
        pc.fsync("/data/a"),
        pc.close("/data/a"),
        pc.fadvise("/data/a", advice="dontneed"),
        pc.close("/data/a"),
        pc.unlink("/data/a"),
    ]


def test_a_new_file_of_the_name_of_one_that_is_still_open_is_another():
    text = "open 0 MNT/a wct\nunlink MNT/a\nopen 1 MNT/a wct\n"
    text += "write 0 0 1m 1m\nwrite 1 0 1m 1m\nstat now MNT/a"
    found = program(text)
    paths = [each.operation.path for each in found.processes[MAIN]]
    assert paths == ["/data/a", "/data/a#2", "/data/a", "/data/a#2", "/data/a#2"]
    assert found.stats[0].file == "a"


def test_a_process_that_ends_closes_what_it_has_open():
    text = "proc p\nopen 0 MNT/a wct\nunlink MNT/a\nendproc\nwait"
    assert operations(text, "p")[-2:] == [pc.unlink("/data/a"), pc.signal("end p")]


def test_an_open_file_of_the_parent_is_open_in_the_child_too():
    text = "open 0 MNT/a wct\nunlink MNT/a\nproc p\nclose 0\nendproc\nwait\nclose 0"
    assert pc.unlink("/data/a") not in operations(text, "p")
    assert operations(text)[-1] == pc.unlink("/data/a")


@pytest.mark.parametrize(
    ("letters", "flags"), [("wcd", ["O_DIRECT"]), ("wcs", ["O_SYNC"]), ("wcdS", ["O_DIRECT", "O_DSYNC"])]
)
def test_a_file_is_opened_with_flags(letters, flags):
    assert operations(f"open 0 MNT/a {letters}") == [pc.open("/data/a", create=True, flags=flags)]


def test_each_handle_reads_and_writes_as_it_was_opened():
    text = (
        "open 0 MNT/a wct\nopen 1 MNT/a rd\nread 1 0 4k 4k\nwrite 0 0 1m 1m\nwrite 0 1m 1m 1m\n"
        "read 1 0 4k 4k\nclose 1\nread 0 0 4k 4k"
    )
    plain, direct = pc.open("/data/a"), pc.open("/data/a", flags=["O_DIRECT"])
    found = operations(text)[2:]
    assert [each.name for each in found] == ["open", "write", "write", "open", "read", "close", "read"]
    assert [each for each in found if each.name == "open"] == [plain, direct]


@pytest.mark.parametrize(
    ("step", "moved"),
    [
        ("write 1 0 1m 4k", MIB),
        ("write 1 0 10000 4k", 8192),  # the last call is refused
        ("write 1 0 1000 4k", 0),
        ("write 1 100 1m 4k", 0),
        ("write 1 0 1m 1000", 0),
        ("read 1 0 100m 4k", 10000),  # the last call ends at the end of the file
        ("read 1 0 9000 4k", 8192),
        ("read 1 100 9000 4k", 0),
        ("read 1 0 100m 1000", 0),
    ],
)
def test_what_is_not_whole_blocks_is_refused_with_o_direct(step, moved):
    text = "open 0 MNT/a wct\nwrite 0 0 10000 4k\nclose 0\nopen 1 MNT/a rwd\n" + step
    found = operations(text)[4:]
    make = pc.write if step.startswith("write") else pc.read
    call = min(4096, moved)
    assert found == ([make("/data/a", size_bytes=moved, call_bytes=call)] if moved else [])


def test_a_process_opens_what_it_has_inherited_as_its_parent_has_it():
    text = "open 0 MNT/a wcs\nproc p\nwrite 0 0 1m 1m\nendproc\nwait"
    assert operations(text, "p")[1] == pc.open("/data/a", flags=["O_SYNC"])


def test_other_steps_have_an_operation_each():
    text = "open 0 MNT/a wct\nfsync 0\nfdatasync 0\nsync\ndontneed 0\ndrop\nsleep 1500\nspin 250\nclose 0\n"
    text += "unlink MNT/a\nunlink MNT/a"
    assert operations(text)[1:] == [
        pc.fsync("/data/a"),
        pc.fdatasync("/data/a"),
        pc.sync(),
        pc.fadvise("/data/a", advice="dontneed"),
        pc.drop_caches(),
        pc.sleep(1.5),
        pc.compute(0.25),
        pc.close("/data/a"),
        pc.unlink("/data/a"),
    ]


def test_what_is_before_the_first_mark_has_no_phase():
    planned = program("open 0 MNT/a wct\nmark one\nfsync 0\nmark two\nsleep 1").processes[MAIN]
    assert [(each.phase, each.is_timed) for each in planned] == [(None, True), ("one", True), ("two", False)]


def test_without_a_mark_all_is_one_phase():
    assert {each.phase for each in program("open 0 MNT/a wct\nfsync 0").processes[MAIN]} == {"all"}


def test_a_process_starts_at_its_place_and_is_waited_for():
    found = program("mark go\nproc child\nopen 0 MNT/a wct\nendproc\nsleep 1000\nwait")
    assert found.operations() == {
        MAIN: [pc.signal("start child"), pc.sleep(1.0), pc.wait("end child")],
        "child": [
            pc.wait("start child"),
            pc.open("/data/a", create=True, truncate=True),
            pc.signal("end child"),
        ],
    }
    assert [each.phase for each in found.processes["child"]] == [None, "go", None]


def test_a_process_has_the_open_files_of_its_parent():
    text = "open 0 MNT/a wct\nwrite 0 -1 1m 1m\nproc child\nwrite 0 -1 1m 1m\nendproc\nwrite 0 -1 1m 1m"
    second = pc.write("/data/a", offset_bytes=MIB, size_bytes=MIB, call_bytes=MIB)
    assert operations(text, "child")[1] == second
    assert operations(text)[-1] == second


def test_processes_of_one_name_are_told_apart_but_recorded_alike():
    found = program("proc a\nsync\nendproc\nwait\nproc a\nsync\nendproc\nwait")
    assert list(found.processes) == [MAIN, "a", "a.2"]
    assert found.recorded_name["a.2"] == "a"


def test_looking_at_the_cache_takes_as_long_as_it_was_recorded():
    found = program("open 0 MNT/d/a wct\nstat now MNT/d/a\nstat then MNT/d/a", stat_s={MAIN: [0.25]})
    assert found.operations()[MAIN][1] == pc.sleep(0.25)
    assert [(stat.index, stat.label, stat.file) for stat in found.stats] == [
        (2, "now", "d/a"),
        (3, "then", "d/a"),
    ]
    assert not any(each.is_timed for each in found.processes[MAIN][1:])


def test_a_file_that_is_not_there_is_not_looked_at():
    assert program("stat now MNT/a").stats == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sync\nopen 0 MNT/a r", "line 2 opens /data/a, which nothing before it makes"),
        ("fsync 1", "line 1 uses handle 1, which is not open"),
        ("open 0 /tmp/a wct", "line 1 uses /tmp/a, which is not below MNT"),
    ],
)
def test_what_cannot_be_said_names_the_line(text, message):
    with pytest.raises(UnsupportedError, match=message):
        program(text)


def test_a_case_can_be_simulated():
    text = "open 0 MNT/a wct\nproc child\nopen 0 MNT/b wct\nwrite 0 0 1m 4k\nfsync 0\nendproc\nwait\nsync"
    scenario = pc.Scenario(pc.load_machine("wrench-cluster"), processes=program(text).operations())
    assert len(pc.simulate(scenario, model="wrench").operations) == 9
