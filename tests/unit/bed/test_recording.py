"""What the guest hands out becomes a folder that the study reads."""

import gzip
import json

import pytest

from bed.packages import BedError
from bed.recording import events, write
from pagecast.studies.live_kernel.recordings import platforms

TRACE = """\
# tracer: nop
            play-169     [000] .N...     9.119994: balance_dirty_pages: bdi 254:0: limit=10677 \
setpoint=39412 dirty=68250 bdi_setpoint=39403 bdi_dirty=68248 dirty_ratelimit=102400 task_ratelimit=213200 \
dirtied=128 dirtied_pause=128 paused=0 pause=-4 period=0 think=0 cgroup_ino=1
    kworker/u4:1-29      [000] .N.1.     9.513291: bdi_dirty_ratelimit: bdi 254:0: write_bw=80532 \
awrite_bw=99212 dirty_rate=196076 dirty_ratelimit=102400 task_ratelimit=103304 \
balanced_dirty_ratelimit=52268 cgroup_ino=1
            play-170     [000] .....     8.073304: global_dirty_state: dirty=0 writeback=0 bg_thresh=45639 \
thresh=91391 limit=10677 dirtied=1057 written=1057
            play-170     [000] .....     9.000000: sched_switch: prev=1
"""

PERCENTILES = {"50.000000": 1500, "90.000000": 2000, "99.000000": 9000, "99.900000": 9500}
SIDE = {
    "total_ios": 512, "io_bytes": 2 << 20, "runtime": 1000, "bw_bytes": 2 << 20, "iops": 512.0,
    "clat_ns": {"mean": 1600.0, "max": 9600, "percentile": PERCENTILES},
}  # fmt: skip
NOTHING = {"total_ios": 0}
JOB = {"jobname": "a", "read": SIDE, "write": NOTHING, "trim": NOTHING, "sync": NOTHING}
SAID = "fio: a warning\n" + json.dumps({"jobs": [JOB]})

CASE = "mark one\nopen 0 MNT/f wct\nwrite 0 0 1m 1m\nstat after MNT/f\n"

IO = """\
case,rep,proc,t_start_s,op,file,offset,bytes,duration_s,result,calls
NAME,REP,p0,0.000500,mark,one,0,0,0.000000000,0,1
NAME,REP,p0,0.001000,open,f,0,0,0.000100000,0,1
NAME,REP,p0,0.002000,write,f,0,1048576,0.001500000,1048576,1
"""
CACHE = """\
case,rep,proc,t_s,label,file,size_bytes,cached_bytes,dirty_bytes,writeback_bytes
NAME,REP,p0,0.004000,after,f,1048576,1048576,1048576,0
"""
MEM = """\
case,rep,t_s,MemFree_kB,Active(file)_kB,Inactive(file)_kB,Dirty_kB,Writeback_kB,nr_dirty_threshold,\
BdiWriteBandwidth_kBps
NAME,REP,0.0002,1000,10,20,0,0,50,102400
"""


@pytest.fixture
def handed_out(tmp_path):
    """Give what makes a guest's folder for a case."""

    def make(name, repetitions=2):
        out = tmp_path / "out" / name
        for repetition in range(1, repetitions + 1):
            folder = out / str(repetition)
            folder.mkdir(parents=True)
            for table, text in {"io": IO, "cache": CACHE, "mem": MEM}.items():
                (folder / f"{table}.csv").write_text(
                    text.replace("NAME", name).replace("REP", str(repetition))
                )
            (folder / "exec.csv").write_text("case,rep,command\n")
            (folder / "start").write_text("8.5\n")
            (folder / "trace").write_text(TRACE)
        (out / "platform.txt").write_text("Linux (none) 6.12.95 #1 SMP\n")
        return out

    return make


def test_events_are_those_of_the_case_with_its_times():
    (event, row), (other, limits) = events(TRACE, start_s=8.5)
    assert (event, row[:4], row[-4:]) == (
        "balance_dirty_pages", ["0.619994", "play-169", "10677", "39412"], ["0", "-4", "0", "0"],
    )  # fmt: skip
    assert (other, limits) == (
        "bdi_dirty_ratelimit",
        ["1.013291", "kworker/u4:1-29", "80532", "99212", "196076", "102400", "103304", "52268"],
    )


def test_a_field_has_the_same_column_under_every_kernel():
    older, newer = TRACE, TRACE.replace("bdi_setpoint", "wb_setpoint").replace("bdi_dirty=", "wb_dirty=")
    assert list(events(older, start_s=0.0)) == list(events(newer, start_s=0.0))


def test_the_study_reads_what_was_recorded(tmp_path, handed_out):
    folder = tmp_path / "recordings" / "guest"
    write(folder, {"a": handed_out("a"), "b": handed_out("b", 1)}, {"a": CASE, "b": CASE})
    (platform,) = platforms(tmp_path / "recordings")
    assert [(r.case, r.repetition) for r in platform.recordings] == [("a", 1), ("a", 2), ("b", 1)]
    first = platform.recordings[0]
    assert first.phases() == {("p0", "one"): pytest.approx(0.0016)}
    assert first.looks[0].cached_bytes == 1 << 20
    assert first.dirty_ratelimit_bytes_per_s == 102400 * 1024
    assert first.write_bandwidth_bytes_per_s == 102400 * 1024
    assert first.throttling.setpoint_bytes[0] == 39412 * 4096


def test_a_case_that_is_recorded_again_replaces_itself_alone(tmp_path, handed_out):
    folder = tmp_path / "guest"
    outs = {"a": handed_out("a"), "b": handed_out("b")}
    write(folder, outs, {"a": CASE, "b": CASE})
    before = (folder / "io.csv.gz").read_bytes()
    write(folder, {"b": outs["b"]}, {"b": CASE})
    assert (folder / "io.csv.gz").read_bytes() == before
    assert len(gzip.decompress(before).splitlines()) == 1 + 4 * 3


def test_what_programs_left_is_kept_beside_the_tables(tmp_path, handed_out):
    out = handed_out("one", repetitions=1)
    (out / "1" / "exec.csv").write_text("case,rep,command\none,1,dash /cases/one.sh\n")
    (out / "1" / "fio.json").write_text(SAID)
    (out / "1" / "cold.strace").write_text("1 1.0 close(3) = 0 <0.1>\n")
    folder = tmp_path / "guest"
    write(folder, {"one": out}, {"one": CASE}, files={"one.fio": "[a]\n", "one.fio.set-up": "true\n"})
    assert sorted(path.name for path in (folder / "cases").iterdir()) == ["one.fio"]
    assert gzip.decompress((folder / "strace" / "one.cold.1.strace.gz").read_bytes()).startswith(
        b"1 1.0 close"
    )
    assert gzip.decompress((folder / "fio" / "one.1.json.gz").read_bytes()).decode() == SAID
    assert gzip.decompress((folder / "exec.csv.gz").read_bytes()).endswith(b"one,1,dash /cases/one.sh\n")
    header, row = gzip.decompress((folder / "fio.csv.gz").read_bytes()).decode().splitlines()
    found = dict(zip(header.split(","), row.split(","), strict=True))
    assert (found["case"], found["job"], found["dir"], found["bw_MiBps"]) == ("one", "a", "read", "2.0000")
    assert (found["p50_us"], found["p99_us"], found["syncs"]) == ("1.500", "9.000", "0")


def test_half_a_recording_is_an_error_that_names_it(tmp_path, handed_out):
    out = handed_out("a")
    (out / "2" / "mem.csv").unlink()
    with pytest.raises(BedError, match="/2: the guest left no whole recording"):
        write(tmp_path / "guest", {"a": out}, {"a": CASE})
