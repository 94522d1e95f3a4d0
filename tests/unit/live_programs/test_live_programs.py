"""The study on a small made-up recording, simulated for real: rows, tables, report."""

import gzip
import io

import pytest
from rich.console import Console

from pagecast.errors import StudyError
from pagecast.studies.live_kernel.recordings import Call, Recording
from pagecast.studies.live_programs import run
from pagecast.studies.live_programs.requests import latencies

MACHINE = """\
cores = 1
memory = { size = "2 GB", read = "5 GB/s", write = "2 GB/s" }
disk.ssd = { size = "20 GB", read = "100 MB/s", write = "100 MB/s", latency = "100 us" }
mount."/data" = { disk = "ssd", create = "50 ms" }
"""
JOB = """\
# set-up: caches dropped
[global]
directory=${MNT}
[r]
rw=randread
bs=4k
size=4m
"""
FIO = """\
case,rep,job,dir,bw_MiBps,p50_us,p99_us
one,1,r,read,26.0,141.0,150.0
"""
EXEC = """\
case,rep,proc,t_start_s,duration_s,rchar,wchar,syscr,syscw,command
one,1,p0,0.0,9.0,0,0,0,0,fio /cases/one.fio
two,1,p0,0.0,9.0,0,0,0,0,dash /cases/two.sh.set-up
two,1,p0,1.0,0.5,50000000,50000005,4,2,dash /cases/two.sh
two,1,p0,2.0,0.01,50000000,50000005,4,2,dash /cases/two.sh
two,1,p0,3.0,0.6,50000000,50000005,4,2,strace -f -o /tmp/cold.strace dash /cases/two.sh
two,1,p0,4.0,0.02,50000000,50000005,4,2,strace -f -o /tmp/warm.strace dash /cases/two.sh
"""
TRACE = """\
71 1700000000.001000 openat(AT_FDCWD</data>, "a", O_RDONLY) = 3</data/a> <0.000001>
71 1700000000.001002 openat(AT_FDCWD</data>, "b", O_WRONLY|O_CREAT, 0644) = 4</data/b> <0.050000>
71 1700000000.051004 copy_file_range(3</data/a>, NULL, 4</data/b>, NULL, 99000000, 0) = 50000000 <0.04>
71 1700000000.091006 read(3</data/a>, "", 10) = 0 <0.000001>
71 1700000000.091007 pread64(3</data/a>, "", 10, 60000000) = 0 <0.000001>
71 1700000000.091008 read(5</proc/x>, "", 10) = 0 <0.000001>
71 1700000000.091010 write(1</dev/null>, "", 5) = 5 <0.000001>
71 1700000000.091012 close(4</data/b>) = 0 <0.000001>
71 1700000000.091014 +++ exited with 0 +++
"""


@pytest.fixture
def data(tmp_path):
    """A folder with one platform."""
    folder = tmp_path / "guest"
    for name, text in {
        "machine.toml": MACHINE, "cases/one.fio": JOB, "fio.csv": FIO, "exec.csv": EXEC,
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "strace").mkdir()
    for state in ("cold", "warm"):
        (folder / "strace" / f"two.{state}.1.strace.gz").write_bytes(gzip.compress(TRACE.encode()))
    return tmp_path


def test_bandwidth_and_percentiles_of_a_job_are_those_of_its_forecast(data):
    outcome = run(data=data, models=["kernel", "endless-cache"])
    kernel, endless = outcome.fio
    assert kernel.forecast.rate_bytes_per_s == pytest.approx(4096 / 141e-6, rel=0.02)
    assert kernel.forecast.p50_s == pytest.approx(141e-6, rel=0.02)
    assert endless.forecast.p50_s < kernel.forecast.p50_s
    rows = {row.operation: row for row in outcome.rows if row.case == "one" and row.model == "kernel"}
    assert list(rows) == ["GiB read r", "p50 read r", "p99 read r"]
    assert rows["GiB read r"].measured_s == pytest.approx(1024 / 26)


def test_a_command_is_forecast_cold_and_warm_with_the_bytes_that_the_kernel_counted(data):
    outcome = run(data=data, models=["kernel"])
    cold, warm = outcome.commands
    assert (cold.command.state, warm.command.state) == ("cold", "warm")
    # Making b takes 50 ms in the trace, and on the machine: once.
    assert cold.forecast.wall_s > 0.45 > 0.12 > warm.forecast.wall_s > 0.05
    for of in (cold, warm):
        for name in ("read_bytes", "write_bytes", "read_calls", "write_calls"):
            assert getattr(of.forecast, name) == getattr(of.command, name), name


def test_tables_conclusion_and_report_say_what_is_close(data, tmp_path):
    outcome = run(data=data, models=["kernel", "no-cache"])
    console = Console(file=io.StringIO(), width=140)
    outcome.print_to(console)
    text = console.file.getvalue()
    for part in ("guest: fio's numbers", "read r", "commands without strace", "the bandwidth of 1 of 1 jobs"):
        assert part in text
    assert set(outcome.to_json()) >= {"rows", "fio", "commands", "provenance"}
    outcome.write_report(tmp_path / "report.html")
    assert "Programs: forecast and measured" in (tmp_path / "report.html").read_text()


def test_what_is_missing_is_said(data, tmp_path):
    with pytest.raises(StudyError, match="name their folder with --data DIR"):
        run()
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError, match="no recording of programs in it"):
        run(data=tmp_path / "empty")
    with pytest.raises(StudyError, match="no platform other"):
        run(data=data, experiments=["other"])
    (data / "guest" / "machine.toml").unlink()
    with pytest.raises(StudyError, match=r"no machine\.toml in it"):
        run(data=data)
    (data / "guest" / "exec.csv").write_text("\n".join(EXEC.splitlines()[:4]))
    with pytest.raises(StudyError, match="two was not run cold and warm"):
        run(data=data)


def test_a_request_takes_what_is_beside_the_call_and_its_bytes():
    calls = [
        Call("p0", 0.0, "mark", "read", 0, 0.0, 1),
        Call("p0", 0.1, "read", "f", 1 << 20, 256 * 150e-6, 256),
        Call("p0", 0.2, "mark", "write", 0, 0.0, 1),
        Call("p0", 0.3, "write", "f", 1 << 20, 256 * 120e-6, 256),
    ]
    nothing = dict.fromkeys(
        ("levels", "throttling", "write_bandwidth_bytes_per_s", "dirty_ratelimit_bytes_per_s",
         "dirty_limit_bytes", "writeout_fraction", "completions_bytes"),
    )  # fmt: skip
    recording = Recording(case="m_disk", repetition=1, calls=tuple(calls), looks=(), **nothing)
    rates = {"read": "409600000 B/s", "write": "409600000 B/s"}

    def machine(**keys: str):
        return {"disk": {"ssd": rates | keys}, "memory": {"write": "4096 MB/s"}}

    found = latencies([recording], "ssd", machine(), call_s=1e-6)
    assert found == {"disk.ssd.latency": "139000 ns", "disk.ssd.write_latency": "109000 ns"}
    limited = latencies([recording], "ssd", machine(burst="20 ms"), call_s=1e-6)
    assert limited["disk.ssd.latency"] == "149000 ns"
    served = latencies([recording], "ssd", machine(service="100 us"), call_s=1e-6)
    assert served["memory.cost.request"] == "24000 ns"
    in_memory = latencies([recording], "ssd", machine(service="100 us", limit_interval="20 ms"), call_s=1e-6)
    assert in_memory["memory.cost.request"] == "33000 ns"
    assert latencies([], "ssd", machine(), call_s=0.0) == {}
