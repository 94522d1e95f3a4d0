"""The study on a made-up platform, simulated for real: hosts, parts, phases, calls."""

import csv
import io
import math
from types import SimpleNamespace

import pytest
from rich.console import Console

from pagecast.api import simulate
from pagecast.errors import StudyError
from pagecast.studies.live_kernel.case import parse
from pagecast.studies.live_kernel.program import UnsupportedError
from pagecast.studies.live_nfs import forecast, run, study
from pagecast.studies.live_nfs.platform import read_platform
from pagecast.studies.live_nfs.program import parts
from pagecast.studies.live_nfs.recordings import joined, platforms
from pagecast.uncertainty.model_error import Learned, ModelError

MIB = 2**20
GOODPUT = 10_000_000 * 1448 / 1514
DISK = 4 * MIB

MEMINFO = "MemFree:  400000 kB\nActive(file):  50000 kB\nInactive(file):  50000 kB\n"
VM = "".join(
    f"vm.{name} = {value}\n"
    for name, value in {
        "dirty_ratio": 20, "dirty_background_ratio": 10, "dirty_expire_centisecs": 3000,
        "dirty_writeback_centisecs": 500, "min_free_kbytes": 4000,
    }.items()
)  # fmt: skip
CLIENT = f"""Linux (none) 6.12.1 #1 SMP x86_64 GNU/Linux
{MEMINFO}{VM}0x0007
\topts:\trw,vers=4.2,rsize=1048576,wsize=524288,hard
configuration: export sync, link 80000000 bit/s, delay 100us each way, vers=4.2
nfsd threads 4
"""
SERVER = f"""--- server (another kernel)
Linux (none) 6.1.2 #1 x86_64 GNU/Linux
wbps={DISK} rbps={DISK} exp=sync
{MEMINFO}{VM}"""

CASE = """drop
sh srv drop > /dev/null
mark write
open 0 MNT/f wct
write 0 0 20m 1m
stat after_write MNT/f
stat srv_after_write SRV/f
mark close
close 0
sh printf Z | dd of=SRV/f bs=1 count=1 conv=notrunc 2>/dev/null
mark again
open 0 MNT/f r
read 0 0 20m 1m
close 0
"""
SECONDS = {"write": 0.1, "close": 7.0, "again": 2.2}
"""What the made-up kernel took for each phase: the link, and then the disk; then the link alone."""


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "made-up"
    (folder / "cases").mkdir(parents=True)
    (folder / "cases" / "c.pct").write_text(CASE)
    (folder / "platform.txt").write_text(CLIENT + SERVER)
    with (folder / "io.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["case", "rep", "proc", "t_start_s", "op", "file", "bytes", "duration_s", "calls"])
        now = 1.0
        for phase, took_s in SECONDS.items():
            rows.writerow(["c", 1, "p0", now, "mark", phase, 0, 0, 1])
            op = {"again": "read"}.get(phase, phase)
            rows.writerow(["c", 1, "p0", now, op, "f", 0, took_s, 1])
            now += took_s
    (folder / "phases.csv").write_text(
        "case,phase,WRITE,COMMIT,READ\nc,setup,9,9,9\nc,write,0,0,0\nc,close,40,1,0\nc,again,0,0,20\nc,write+close,40,1,0\n"
    )
    return folder


def test_both_hosts_and_the_link_are_what_the_platform_says(data):
    of = read_platform(data)
    client, server = of.hosts["client"], of.hosts["server"]
    assert client["mount"]["/n"]["options"] == {
        "rsize": "1048576 B", "wsize": "524288 B", "vers": "4.2",
    }  # fmt: skip
    assert (client["kernel"], server["kernel"]["version"]) == ({"version": "6.12", "lru": "mglru"}, "6.1")
    assert client["memory"]["size"] == "500000 KiB"
    assert server["disk"]["disk"]["write"] == f"{DISK} B/s"
    assert (server["nfsd"], server["mount"]["/export"]["export"]) == ({"threads": 4}, "sync")
    assert of.link["rate"] == f"{GOODPUT:.0f} B/s"


def test_the_mount_believes_attributes_as_long_as_its_options_say(data):
    told = CLIENT.replace("hard", "acregmin=1,acregmax=9,acdirmin=30,hard,noac,nocto")
    (data / "platform.txt").write_text(told + SERVER)
    options = read_platform(data).hosts["client"]["mount"]["/n"]["options"]
    del options["rsize"], options["wsize"], options["vers"]
    assert options == {"acregmin": "1 s", "acregmax": "9 s", "noac": True, "nocto": True}


def test_a_server_in_the_clients_kernel_wants_persistent_memory(data):
    (data / "platform.txt").write_text(CLIENT)
    with pytest.raises(StudyError, match="shares its dirty limit"):
        read_platform(data)
    (data / "platform.txt").write_text(CLIENT + "console=ttyS0 dev=pmem\n")
    assert not read_platform(data).has_own_server


def test_what_the_platform_does_not_say_is_named(data):
    (data / "platform.txt").write_text(CLIENT.replace("link 80000000 bit/s", "no link") + SERVER)
    with pytest.raises(StudyError, match=r"platform\.txt: it does not say the link"):
        read_platform(data)


def test_a_case_is_cut_where_the_server_does_something():
    found = parts(parse(CASE, name="c", origin="c.pct"), "/export")
    assert [(part.name, part.operations) for part in found] == [
        ("client0", ""),
        ("server1", "{ drop_caches = true }"),
        ("client2", ""),
        ("server3", '{ write = "/export/f", offset = "0 B", size = "1 B" }'),
        ("client4", ""),
    ]
    assert {line.phase for line in found[2].program.lines} == {"write", "close"}
    assert {line.phase for line in found[4].program.lines} == {"again"}


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ("open 0 MNT/f wct\nsh srv drop\nclose 0\n", "a file is open"),
        ("sh reboot\n", "`sh reboot` is no command that can be forecast"),
    ],
)
def test_what_cannot_be_forecast_is_refused(steps, what):
    with pytest.raises(UnsupportedError, match=what):
        parts(parse(steps, name="c", origin="c.pct"), "/export")


def test_a_write_is_judged_with_what_ends_it():
    phases = ["write", "close", "write2", "fsync2", "close2", "cold"]
    assert list(dict.fromkeys(joined(phases).values())) == ["write+close", "write2+fsync2+close2", "cold"]


def test_times_and_calls_are_compared(data):
    outcome = run(data=data, models=["kernel", "no-cache"])
    found = {(row.operation, row.model): row for row in outcome.rows}
    writing = found["write+close", "kernel"]
    assert writing.measured_s == pytest.approx(7.1)
    assert writing.forecast_s == pytest.approx(20 * MIB / GOODPUT + 20 * MIB / DISK, rel=0.05)
    assert found["again", "kernel"].forecast_s == pytest.approx(20 * MIB / GOODPUT, rel=0.03)
    assert found["total", "kernel"].forecast_s == pytest.approx(
        writing.forecast_s + found["again", "kernel"].forecast_s, rel=0.01
    )
    counts = {(each.phase, each.call): (each.measured, each.forecast) for each in outcome.calls}
    assert counts == {
        ("write+close", "WRITE"): (40, 40), ("write+close", "COMMIT"): (1, 1), ("again", "READ"): (20, 20),
    }  # fmt: skip
    console = Console(file=io.StringIO(), width=120)
    outcome.print_to(console)
    printed = console.file.getvalue()
    assert "Of 3 counts of WRITE, COMMIT and READ 3 are within 20 % or one." in printed
    assert "calibration on m_memory; calls and pages cost nothing" in printed


def test_totals_have_a_range_of_the_errors_of_nfs_elsewhere(data, monkeypatch):
    learned = [Learned.of(name, "nfs", [("c", error)] * 50) for name, error in ((data.name, 2.0), ("b", 0.1))]
    monkeypatch.setattr(study, "shipped", lambda: ModelError(tuple(learned)))
    rows = run(data=data, models=["kernel"], uncertain=20).rows
    ranged = {row.operation: row for row in rows if row.range_s is not None}
    assert set(ranged) == {"total"}
    total = ranged["total"]
    assert total.range_s == pytest.approx((total.forecast_s * math.exp(-0.1),) * 2)


def test_calls_are_not_counted_where_events_were_left_out():
    assert forecast._calls(SimpleNamespace(model="kernel", events_left_out=1), {}) is None


def test_a_machine_file_is_refused(data):
    with pytest.raises(StudyError, match="leave --machine out"):
        run(data=data, machine="live-guest612")


def test_the_clients_hard_limit_is_what_it_was_before_the_case(data):
    (data / "global_dirty_state.csv").write_text("case,rep,t_s,limit\nc,1,0.1,5000\nc,1,9.0,60000\n")
    asked = []

    def simulated(scenario, **of):
        asked.append(of["options"])
        return simulate(scenario, **of)

    platform = platforms(data)[0]
    study.forecast_case(
        platform.of.cases["c"],
        platform.described,
        values={},
        model="kernel",
        options={},
        overrides=(),
        simulate=simulated,
        dirty_limit_bytes=study._dirty_limit(platform, "c"),
    )
    assert asked[0]["dirty_limit"] == f"{5000 * 4096} B"
