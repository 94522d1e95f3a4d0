"""``pagecast convert``: recordings become tables or the binary form, whole or not at all."""

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Pagecast

TABLE = """\
time_s,duration_s,process,op,file,offset_bytes,bytes
0,0.001,a,read,/data/x,0,4096
0.5,,b,write,/data/y,0,100
"""
FULL = """\
time_s,duration_s,process,op,file,offset_bytes,bytes,call_bytes,to,fd,depth,by,flags
0,0.001,a,read,/data/x,0,4096,,,,,,
0.5,,b,write,/data/y,0,100,,,,,,
"""


@pytest.mark.parametrize("form", ["csv", "pctrace", "parquet"])
def test_a_recording_is_the_same_in_every_form(pagecast: Pagecast, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    (pagecast.folder / "in.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    outcome = pagecast("convert", "in.csv.gz", f"out.{form}")
    assert (outcome.code, outcome.stdout) == (0, "")
    assert f"out.{form}: 2 operations of 2 processes" in outcome.stderr
    again = pagecast("convert", f"out.{form}", "again.csv")
    assert again.code == 0, again.stderr
    assert (pagecast.folder / "again.csv").read_text() == FULL


def test_a_recording_is_simulated_in_every_form(pagecast: Pagecast) -> None:
    pytest.importorskip("pyarrow")
    (pagecast.folder / "in.csv").write_text(TABLE)
    (pagecast.folder / "m.toml").write_text(
        '[machine]\ncores = 1\nmemory = { size = "10 GB", read = "4 GB/s", write = "2 GB/s" }\n'
        'disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }\n'
        'mount."/data" = { disk = "ssd" }\n'
    )
    answers = []
    for name in ("in.csv", "x.pctrace", "x.parquet"):
        if name != "in.csv":
            assert pagecast("convert", "in.csv", name).code == 0
        outcome = pagecast("simulate", name, "--machine", "m.toml", "--model", "no-cache")
        assert outcome.code == 0, outcome.stderr
        answers.append(outcome.stdout.partition("Note:")[0])
    assert answers[0] == answers[1] == answers[2]
    assert "read /data/x" in answers[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("missing.csv", "out.csv"), "missing.csv: cannot be read: No such file or directory"),
        (("in.csv", "out.txt"), "out.txt: ends in none of .csv, .parquet, .pctrace; choose one of these"),
        (("in.csv", "in.csv"), "in.csv: is there already; choose another name or add --force"),
        (("in.csv", "nowhere/out.csv"), "nowhere is no directory that can be written"),
        (("scenario.toml", "out.csv"), "is of no format that is known; name one with --format: trace, csv"),
        (("in.csv", "out.csv", "--format", "cvs"), "there is no format `cvs`"),
        (("in.csv", "out.csv", "--columns", "op=1"), "leave out --columns"),
        (("in.csv", "out.csv", "--format", "table", "--columns", "op=3,offset=5,bytes=x"), "no column `x`"),
        (("bad.csv", "out.csv"), "bad.csv:2: there is no operation `raed`; did you mean `read`?"),
        (("cut.pctrace", "out.csv"), "cut.pctrace, byte 100: the file does not end where its header says"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_left(
    pagecast: Pagecast, arguments: tuple[str, ...], says: str
) -> None:
    (pagecast.folder / "in.csv").write_text(TABLE)
    (pagecast.folder / "bad.csv").write_text("op,file\nraed,/x\n")
    assert pagecast("convert", "in.csv", "cut.pctrace").code == 0
    whole = (pagecast.folder / "cut.pctrace").read_bytes()
    (pagecast.folder / "cut.pctrace").write_bytes(whole[:100])
    before = pagecast.left_behind()
    outcome = pagecast("convert", *arguments)
    assert outcome.code == 2
    assert says in outcome.stderr
    assert pagecast.left_behind() == before


def test_a_lenient_reader_says_what_it_passed_over(pagecast: Pagecast) -> None:
    (pagecast.folder / "bad.csv").write_text("op,file\nraed,/x\nread,/x\n")
    outcome = pagecast("convert", "bad.csv", "-", "--lenient")
    assert outcome.code == 0
    assert outcome.stdout.count("\n") == 2
    assert "Note: bad.csv:2: 1 rows were passed over; here: there is no operation `raed`" in outcome.stderr


def test_a_block_trace_is_refused_by_a_run(pagecast: Pagecast) -> None:
    text = "128166372003061629,hm,1,Read,383496192,32768,413\n"
    (pagecast.folder / "disk.csv").write_text(text)
    assert pagecast("convert", "disk.csv", "disk.pctrace").code == 0
    for name in ("disk.csv", "disk.pctrace"):
        outcome = pagecast("run", name, "--dir", str(pagecast.folder))
        assert outcome.code == 2
        assert "Traceback" not in outcome.stderr


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pagecast", "convert", *arguments]


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    rows = "".join(f"{at},read,/f,{at * 4096},4096\n" for at in range(100_000))
    (tmp_path / "in.csv").write_text(f"time_s,op,file,offset_bytes,bytes\n{rows}")
    command = " ".join(_command("in.csv", "-"))
    script = f"set -o pipefail; {command} | head -n 1"
    answer = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout.count("\n")) == (0, 1), answer.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(TABLE)
    (tmp_path / "out.csv").symlink_to("/dev/full")
    answer = subprocess.run(
        _command("in.csv", "out.csv", "--force"), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert "No space left on device" in answer.stderr


def test_ctrl_c_leaves_nothing_half_written(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        _command("-", "out.pctrace"), cwd=tmp_path, stdin=read_end, stderr=subprocess.PIPE, text=True
    )
    os.close(read_end)
    os.write(write_end, b"op,file\n" + b"read,/f\n" * 100)
    time.sleep(1)  # it waits for more
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    os.close(write_end)
    assert process.returncode == 130, stderr
    assert list(tmp_path.iterdir()) == []
