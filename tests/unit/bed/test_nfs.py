"""Cases of NFS in the guest: what is started, what is played, and what becomes of what the kernel counted."""

import gzip
import re
import subprocess
from pathlib import Path

import pytest

from bed import nfs_tables
from bed.__main__ import main
from bed.guest import Settings, command, kernel_line
from bed.nfs import Nfs
from bed.nfs_cases import CASES, Scale, text_of
from bed.packages import BedError, Packages
from pagecast.studies.live_kernel.case import parse
from pagecast.studies.live_nfs.program import parts

SCRIPTS = Path(__file__).parents[3] / "bed" / "guest"

COUNTERS = """\
mark 0.100000 begin
device 10.0.0.1:/ mounted on /n with fstype nfs4 statvers=1.1
\tevents:\t1 2
\txprt:\ttcp 0 0
\tper-op statistics
\t       WRITE: 64 64 0 670 117 5 900 950 0
\t   READ_PLUS: 0 0 0 0 0 0 0 0 0
net 5 0 5 1
mark 0.500000 write
\t       WRITE: 64 64 0 670 117 5 900 950 0
mark 0.700000 close
\t       WRITE: 96 96 0 670 117 5 900 950 0
\t      COMMIT: 1 1 0 1 1 0 30 30 0
\t   READ_PLUS: 8 8 0 1 1 0 30 30 0
mark 0.900000 end
\t       WRITE: 128 96 0 670 117 5 900 950 0
\t      COMMIT: 2 1 0 1 1 0 30 30 0
\t   READ_PLUS: 8 8 0 1 1 0 30 30 0
"""

_WRITE = "fileid=00:1:1 fhandle=0x1 offset=4096 count=8192"
TRACE = f"""\
 play-1 [000] ..... 9.000000: nfs_initiate_write: {_WRITE} stable=UNSTABLE
 play-1 [000] ..... 12.5: nfs_initiate_write: {_WRITE} stable=UNSTABLE
 kworker/u4:1-29 [000] ..... 12.750000: nfs_writeback_done: error=8192 {_WRITE} res=8192 stable=UNSTABLE
 kworker/u4:1-29 [000] ..... 13.000000: nfs_commit_done: error=0 fileid=00:1:1 offset=0 stable=FILE_SYNC
"""


def test_the_guest_is_told_of_link_mount_and_server():
    told = kernel_line(
        Settings(nfs=Nfs("2hosts", export="async", options=("noac", "nconnect=2"))), "a"
    ).split()
    for word in (
        "BED_NFS=2hosts", "BED_NFS_LINK=838860800", "BED_NFS_EXPORT=async", "BED_NFS_SERVER_MEMORY=1024",
        "BED_NFS_OPTIONS=,noac,nconnect=2",
    ):  # fmt: skip
        assert word in told
    assert not any(word.startswith("memmap=") for word in told)
    # The kernel adds HOME and TERM, and hands on no more (init/main.c: MAX_INIT_ENVS).
    assert sum(word.startswith("BED_") for word in told) + 2 <= 32


def test_every_word_that_the_scripts_use_is_told():
    used = set(re.findall(r"\$\{?(BED_NFS\w*)", (SCRIPTS / "nfs.sh").read_text()))
    assert used == {f"BED_{name}" for name in Nfs("dax").words()}


def test_persistent_memory_lies_above_the_guests_own(tmp_path):
    packages = Packages(tmp_path)
    loader = packages.root / "lib" / "x86_64-linux-gnu" / "ld-linux-x86-64.so.2"
    loader.parent.mkdir(parents=True)
    loader.touch()
    words = command(packages, Path("k"), Path("i"), tmp_path, Settings(memory_mib=2048, nfs=Nfs("dax")), "a")
    assert words[words.index("-m") + 1] == "6144"
    assert "pc,max-ram-below-4g=2048M" in words
    assert "memmap=4096M!4G" in words[words.index("-append") + 1]


@pytest.mark.parametrize("script", ["nfs.sh", "server", "srv"])
def test_the_scripts_are_shell(script):
    subprocess.run(["sh", "-n", SCRIPTS / script], check=True)


def test_a_name_says_what_is_not_by_default():
    assert Nfs("dax").name() == "nfs-dax"
    assert Nfs("2hosts", export="async", wsize=65536, server_write_bytes_per_s=20 << 20).name() == (
        "nfs-2hosts-async-wsize64k-write20"
    )
    assert Nfs("dax", export="async", options=("noac",)).name() == "nfs-dax-async-noac"


@pytest.mark.parametrize("server_memory_mib", [0, 1024])
@pytest.mark.parametrize("name", CASES)
def test_the_study_can_forecast_every_case(name, server_memory_mib):
    text = text_of(name, Scale.of(2048, 20, server_memory_mib))
    found = parts(parse(text, name=name, origin="x"), "/export")
    assert any(part.program is not None for part in found)
    assert any(part.program is None for part in found) == (server_memory_mib > 0 and name != "m_memory") or (
        name == "c_read"
    )


def test_calls_are_counted_by_mark():
    rows = list(nfs_tables.counters(COUNTERS))
    assert ["0.100000", "begin", "WRITE", "64", "64", "0", "670", "117", "5", "900", "950", "0", ""] in rows
    assert ["0.100000", "begin", "srv_net", *[""] * 9, "5;0;5;1"] in rows
    assert not any(row[2] == "READ_PLUS" and row[1] == "begin" for row in rows), "it was never called"
    found = list(nfs_tables.phases("a", {"1": rows}, {"1": {"write": 0.25}}))
    assert found == [
        ["a", "setup", "0.0000", "0", "0", "0"],
        ["a", "write", "0.2500", "32", "1", "8"],
        ["a", "close", "0.0000", "32", "1", "0"],
    ]


def test_each_call_has_a_row_from_the_start_of_the_case_on():
    assert list(nfs_tables.calls(TRACE, start_s=12.0)) == [
        ["0.500000", "play-1", "initiate_write", "4096", "8192", "", "UNSTABLE"],
        ["0.750000", "kworker/u4:1-29", "writeback_done", "4096", "8192", "8192", "UNSTABLE"],
        ["1.000000", "kworker/u4:1-29", "commit_done", "0", "", "0", "FILE_SYNC"],
    ]


def test_tables_are_written_beside_each_other_and_looks_of_the_server_have_their_time(tmp_path):
    out, folder = tmp_path / "out", tmp_path / "platform"
    (out / "1").mkdir(parents=True)
    folder.mkdir()
    (out / "1" / "start").write_text("12.0\n")
    (out / "1" / "counters").write_text(COUNTERS)
    (out / "1" / "trace").write_text(TRACE)
    (out / "1" / "srv_looks").write_text("look,1,p0,0.01,srv_end,f,9,8,0,0\n")
    header = "case,rep,proc,t_start_s,op,file,offset,bytes,duration_s,result,calls\n"
    rows = ["0.2,sh,,0,0,0.1", "0.5,mark,write,0,0,0", "0.5,write,f,0,9,0.25", "0.8,sh,,0,0,0.1"]
    (out / "1" / "io.csv").write_text(header + "".join(f"a,1,p0,{row},0,1\n" for row in rows))
    cache = "case,rep,proc,t_s,label,file,size_bytes,cached_bytes,dirty_bytes,writeback_bytes\n"
    (folder / "cache.csv.gz").write_bytes(gzip.compress(cache.encode()))
    text = "sh srv drop > /dev/null\nmark write\nwrite 0 0 9 9\nsh srv stat end f >> /tmp/srv_looks\n"
    nfs_tables.write(folder, "a", out, text)
    nfs_tables.write(folder, "b", out, text)
    looks = gzip.decompress((folder / "cache.csv.gz").read_bytes()).decode().splitlines()[1:]
    assert looks == [f"{case},1,p0,0.8,srv_end,f,9,8,0,0" for case in "ab"]
    phases = gzip.decompress((folder / "phases.csv.gz").read_bytes()).decode().splitlines()
    assert len(phases) == 7
    assert "a,write,0.2500,32,1,8" in phases
    (out / "1" / "counters").unlink()
    with pytest.raises(BedError, match="no whole recording of NFS"):
        nfs_tables.write(folder, "a", out, text)


def test_a_dry_run_says_what_server_and_link_are(tmp_path, capsys):
    folder = str(tmp_path / "bed")
    assert main(["guest", folder, "--dry-run", "--nfs", "2hosts", "--link", "40", "a_small"]) == 0
    text = capsys.readouterr().out
    for part in ("230 MB", "user-mode-linux", "link 40 MiB/s", "user-mode Linux, 1024 MiB", "for a_small:"):
        assert part in text
    assert "machine file" not in text
    assert main(["guest", folder, "--dry-run", "--nfs", "dax", "--disk", "null"]) == 1
    assert "leave --disk null and --cgroup out" in capsys.readouterr().err
    assert main(["guest", folder, "--dry-run", "--nfs", "2hosts", "--memory", "1500"]) == 1
    assert "use --memory 1792 or more" in capsys.readouterr().err
