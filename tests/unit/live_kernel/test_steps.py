"""Every step of the language, simulated under Linux's own rules: what comes out can be worked out by hand."""

import gzip

import pytest

import pagecast as pc
from pagecast.studies.live_kernel import run
from pagecast.studies.live_kernel.case import COMMANDS, parse
from pagecast.studies.live_kernel.forecast import simulate_case
from pagecast.studies.live_kernel.program import MAIN, translate
from tests.unit.live_kernel.recorder import M_MEMORY, MIB, record

MACHINE = """\
cores = 4
[memory]
size = "4 GiB"
read = "40 GiB/s"
write = "40 GiB/s"
reserve = "0 B"
[memory.cost]
call = "10 us"
page_insert = "1 us"
page_remove = "2 us"
copy_read = "4 GiB/s"
copy_write = "2 GiB/s"
[disk.d]
size = "40 GiB"
read = "200 MiB/s"
write = "100 MiB/s"
sharing = "separate"
[mount."/mnt"]
disk = "d"
"""
"""Up to 400 MiB can be dirty before anything is written or anybody is held back."""

READ, WRITE = 200, 100
COPY_READ, COPY_WRITE = 4096, 2048
INSERT_S, REMOVE_S, CALL_S = 256e-6, 512e-6, 10e-6
"""MiB per second, seconds per MiB of pages, seconds per call."""

MADE = "open 0 MNT/f wct\nwrite 0 0 128m 1m\nfsync 0\nclose 0\nmark it\n"
"""A file of 128 MiB, cached and clean."""


def copied_in(mib, calls, *, new=True):
    return mib / COPY_WRITE + calls * CALL_S + (mib * INSERT_S if new else 0)


def copied_out(mib, calls):
    return mib / COPY_READ + calls * CALL_S


CASES = {
    "O_SYNC": (
        "mark it\nopen 0 MNT/f wcts\nwrite 0 -1 64m 4k",
        64 / WRITE + copied_in(64, 16384),
    ),
    "O_DSYNC in large calls": (
        "mark it\nopen 0 MNT/f wctS\nwrite 0 -1 64m 16m",
        64 / WRITE + copied_in(64, 4),
    ),
    "O_SYNC over what is cached": (
        MADE + "open 0 MNT/f ws\nwrite 0 0 100m 1536k",
        100 / WRITE + copied_in(100, 67, new=False),
    ),
    "O_SYNC with streams": (
        "mark it\nopen 0 MNT/f wcts\nfwrite 0 16m 100 64k",
        16 / WRITE + copied_in(16, 256),
    ),
    "O_DIRECT reads what is cached": (
        MADE + "open 0 MNT/f rd\nread 0 -1 64m 4k\nread 0 -1 1g 16m",
        128 / READ + (16384 + 4) * CALL_S,
    ),
    "O_DIRECT reads what is dirty": (
        "open 0 MNT/f wct\nwrite 0 0 50m 1m\nmark it\nopen 1 MNT/f rd\nread 1 0 50m 1m",
        50 / WRITE + 50 / READ + 50 * CALL_S,
    ),
    "O_DIRECT writes a new file": (
        "mark it\nopen 0 MNT/f wctd\nwrite 0 -1 64m 64k\nfsync 0",
        64 / WRITE + 1024 * CALL_S,
    ),
    "O_DIRECT writes over what is cached, which is read again": (
        MADE + "open 0 MNT/f rwd\nwrite 0 32m 64m 1m\nclose 0\nopen 0 MNT/f r\nread 0 0 128m 1m",
        64 / WRITE + 64 * (CALL_S + REMOVE_S) + 64 / READ + copied_out(64, 64),
    ),
    "O_DIRECT and O_SYNC": (
        "mark it\nopen 0 MNT/f wctds\nwrite 0 -1 64m 1m",
        64 / WRITE + 64 * CALL_S,
    ),
    "a dirty file is removed": (
        "mark it\nopen 0 MNT/f wct\nwrite 0 0 100m 1m\nclose 0\nunlink MNT/f\nsync",
        copied_in(100, 100) + 100 * REMOVE_S,
    ),
    "a file is removed while it is open": (
        "mark it\nopen 0 MNT/f wct\nwrite 0 0 100m 1m\nunlink MNT/f\nfsync 0\nclose 0",
        copied_in(100, 100) + 100 / WRITE + 100 * REMOVE_S,
    ),
    "sync": (
        "mark it\nopen 0 MNT/f wct\nopen 1 MNT/g wct\nwrite 0 0 100m 1m\nwrite 1 0 50m 1m\nsync\nsync",
        copied_in(150, 150) + 150 / WRITE,
    ),
    "fdatasync": (
        "mark it\nopen 0 MNT/f wct\nopen 1 MNT/g wct\nwrite 0 0 100m 1m\nwrite 1 0 50m 1m\nfdatasync 0",
        copied_in(150, 150) + 100 / WRITE,
    ),
    "what is dropped is read again": (
        MADE + "drop\nopen 0 MNT/f r\nread 0 -1 128m 1m\nread 0 0 128m 1m",
        128 * REMOVE_S + 128 / READ + copied_out(128, 128),
    ),
    "dontneed leaves what is in the queue of the disk, 16 requests of 1280 KiB": (
        "open 0 MNT/f wct\nwrite 0 0 100m 1m\nmark it\ndontneed 0\nread 0 0 100m 1m\nfsync 0",
        80 / WRITE + 80 * REMOVE_S + 80 / READ,
    ),
    "dontneed takes what is clean": (
        MADE + "open 0 MNT/f r\ndontneed 0\nread 0 0 128m 4k",
        128 * REMOVE_S + 128 / READ,
    ),
    "what is dirty for 30 s is written": (
        "open 0 MNT/f wct\nwrite 0 0 100m 1m\nmark it\nsleep 40000\nsync",
        0.0,
    ),
    "calls of 4 KiB and of 16 MiB": (
        "mark it\nopen 0 MNT/f wct\nwrite 0 0 64m 4k\nwrite 0 64m 64m 16m\nread 0 0 128m 16m",
        copied_in(64, 16384) + copied_in(64, 4) + copied_out(128, 8),
    ),
    "streams read and write whole buffers": (
        "mark it\nopen 0 MNT/f wct\nfwrite 0 64m 100 4k\nclose 0\nopen 0 MNT/f r\nfread 0 1g 1m 64k",
        copied_in(64, 16384) + copied_out(64, 64),
    ),
    "an empty file": (
        "mark it\nopen 0 MNT/f wct\nread 0 -1 1m 4k\nfsync 0\nfdatasync 0\ndontneed 0\nclose 0\nunlink MNT/f",
        0.0,
    ),
    "names, and calls at intervals": (
        "mark it\nmkdir MNT/d\nopen 0 MNT/f wct\nowrite 0 48m 16m 32m 1000\nclose 0\nrename MNT/f MNT/g\n"
        "snap after\nopen 0 MNT/g r\nread 0 0 32m 16m",
        copied_in(48, 3) - 4096 * 1e-6 + copied_out(32, 2),
    ),
    "processes are waited for": (
        "mark it\nproc a\nopen 0 MNT/f wcts\nwrite 0 -1 32m 16m\nendproc\nproc b\nspin 100\nendproc\nwait",
        32 / WRITE + copied_in(32, 2),
    ),
}  # fmt: skip
"""The steps of a case, and the seconds that its phase takes."""


def phase_s(result, program):
    names = ("process", "index", "operation", "duration_s")
    rows = zip(*(result.operations[name] for name in names), strict=True)
    return sum(
        time_s
        for process, index, operation, time_s in rows
        if process == MAIN and program.counts(process, index, operation) == ("it", True)
    )


def simulated(text, model, tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text(MACHINE)
    program = translate(parse(text, name="case", origin="case.pct"))
    return program, simulate_case(program, machine=pc.load_machine(path), model=model, options={})


@pytest.mark.parametrize("name", CASES)
def test_a_phase_takes_what_can_be_worked_out(name, tmp_path):
    text, expected_s = CASES[name]
    program, result = simulated(text, "kernel", tmp_path)
    assert phase_s(result, program) == pytest.approx(expected_s, rel=0.01, abs=1e-4)


def test_the_cases_have_every_step_of_the_language():
    words = {line.split()[0] for text, _ in CASES.values() for line in text.splitlines()}
    assert {*COMMANDS} - words == {"stat", "sh"}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_every_case_is_digested_under_every_model(ending, tmp_path):
    cases = {f"case{number}": text for number, (text, _) in enumerate(CASES.values())}
    folder = record(tmp_path / "data" / "tiny", {"m_memory": M_MEMORY} | cases)
    for path in (folder / "cases").iterdir():
        path.write_bytes(path.read_text().replace("\n", f"   # a comment{ending}{ending}").encode())
    (tmp_path / "m.toml").write_text(MACHINE)
    outcome = run(
        data=tmp_path / "data",
        machine=str(tmp_path / "m.toml"),
        models=["kernel", "wrench", "no-cache", "endless-cache"],
    )
    assert outcome.left_out == ()
    assert {one.recording.case for one in outcome.runs} == {"m_memory", *cases}
    assert len(outcome.runs) == 4 * (1 + len(cases))


def test_a_folder_may_have_the_calls_alone(tmp_path):
    """One platform that nobody knows, without traces, samples and looks, and its table not compressed."""
    folder = record(tmp_path / "odd platform", {"only": CASES["sync"][0]}, traced=())
    with gzip.open(folder / "io.csv.gz", "rt") as file:
        (folder / "io.csv").write_text(file.read())
    for path in folder.glob("*.csv.gz"):
        path.unlink()
    (tmp_path / "m.toml").write_text(MACHINE)
    outcome = run(data=folder, machine=str(tmp_path / "m.toml"), models=["kernel"])
    assert outcome.platforms == ("odd platform",)
    assert [one.recording.case for one in outcome.runs] == ["only"]
    assert outcome.runs[0].total_s == pytest.approx(1.6, rel=0.1)
    assert any("costs are those of the machine file" in line for line in outcome.left_out)


def test_who_reads_directly_and_who_reads_through_the_cache_have_the_file_open_at_once(tmp_path):
    text = MADE + "open 0 MNT/f r\nopen 1 MNT/f rd\nread 1 0 64m 1m\nread 0 0 64m 1m\nread 1 0 64m 1m"
    _, result = simulated(text, "kernel", tmp_path)
    reads = [index for index, name in enumerate(result.operations["operation"]) if name == "read"]
    assert [int(result.operations["from_device_bytes"][index]) for index in reads] == [64 * MIB, 0, 64 * MIB]
