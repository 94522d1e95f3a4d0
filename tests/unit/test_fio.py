"""fio job files: beside fio itself where it is installed, and its examples where its package is."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import ArgumentError
from pagecast.fio import _bin, _middle, json_plus
from pagecast.workloads import Reading

FIO = shutil.which("fio")

EXAMPLES = Path(os.environ.get("FIO_EXAMPLES", "/usr/share/doc/fio/examples"))
"""Of Debian's package fio-examples."""

MACHINE = """\
cores = 4
memory = { size = "64 GB", read = "4 GB/s", write = "4 GB/s" }
disk.ssd = { size = "8 TB", read = "500 MB/s", write = "500 MB/s" }
mount."/data" = { disk = "ssd" }
"""

JOBS = {
    "in order": "rw=read\nsize=1m\nbs=64k",
    "with holes": "rw=read:4k\nsize=256k\nbs=8k",
    "backwards": "rw=read:-8k\nsize=256k",
    "random": "rw=randread\nsize=1m",
    "random writes": "rw=randwrite\nsize=1m\nbs=8k\nfsync=8\nend_fsync=1",
    "mixed": "rw=randrw\nsize=1m\nrwmixread=70",
    "without a map": "rw=randread\nsize=256k\nnorandommap\nio_size=400k",
    "repeated offsets": "rw=randread:4\nrw_sequencer=identical\nsize=256k\nnorandommap",
    "ranges": "rw=randread\nsize=1m\nbsrange=4k-32k",
    "splits": "rw=randrw\nsize=1m\nbssplit=4k/10:64k/50:32k/40,8k",
    "zipf": "rw=randread\nsize=4m\nrandom_distribution=zipf:1.2",
    "pareto": "rw=randread\nsize=4m\nrandom_distribution=pareto:0.2:0.5",
    "normal": "rw=randread\nsize=4m\nrandom_distribution=normal:10",
    "zones": "rw=randread\nsize=1m\nrandom_distribution=zoned:50/5:30/15:20/",
    "zones in bytes": "rw=randread\nsize=1m\nrandom_distribution=zoned_abs:60/128k:40/512k",
    "half random": "rw=randread\nsize=1m\npercentage_random=40",
    "shift register": "rw=randread\nsize=1m\nrandom_generator=lfsr",
    "64 bits": "rw=randread\nsize=1m\nrandom_generator=tausworthe64",
    "a seed": "rw=randrw\nsize=1m\nrandseed=42\nrandrepeat=0",
    "a seed that repeats": "rw=randrw\nsize=64k\nrandseed=42\nloops=3",
    "seeds of all": "rw=randrw\nsize=1m\nallrandrepeat=1",
    "more than the file": "rw=randwrite\nsize=64k\nio_size=160k",
    "several files": "rw=randread\nsize=256k\nnrfiles=4\nfile_service_type=random:3",
    "files in order": "rw=write\nsize=256k\nnrfiles=4\nfile_service_type=sequential",
    "sizes of files": "rw=read\nfilesize=16k-64k\nnrfiles=4\nsize=1m",
    "strides": "rw=read\nsize=1m\nzonemode=strided\nzonesize=64k\nzonerange=128k\nzoneskip=32k\nbs=16k",
    "alignment": "rw=randread\nsize=1m\nba=512\nbs=4k",
    "odd sizes": "rw=randread\nsize=1000k\nbs=3k\nnumber_ios=37",
    "read back": "rw=randwrite\nsize=64k\nverify=crc32c",
    "read back between": "rw=randwrite\nsize=64k\nverify=crc32c\nverify_backlog=3",
    "asynchronous": "rw=randread\nsize=1m\nioengine=libaio\niodepth=8\ndirect=1\nloops=2",
}

REFUSED_JOBS = {
    "butterfly.fio": "says no size, and its files do not exist",
    "enospc-pressure.fio": "rw",
    "steadystate.fio": "/dev/null is no disk",
    "xnvme-zoned.fio": "zonemode",
    "zbd-rand-write.fio": "zonemode",
    "zbd-seq-read.fio": "zonemode",
}
"""Examples whose engines do file or block I/O, but that ask for something else: the option, or words."""


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text(MACHINE)
    return path


def simulated(text, machine, model="no-cache"):
    job = machine.with_name("job.fio")
    job.write_text(text)
    return pc.simulate(pc.Scenario.from_workload(job, machine=str(machine)), model=model), job


def requests(result):
    """Give the requests and syncs of a result in their order."""
    table = result.operations
    rows = zip(table["index"], table["operation"], table["offset_bytes"], table["bytes"], strict=True)
    kinds = {"read": "read", "write": "write", "fsync": "sync", "fdatasync": "datasync"}
    for _, kind, offset, size in sorted((int(row[0]), *row[1:]) for row in rows):
        if name := kinds.get(kind):
            yield (name, int(offset), int(size)) if name in ("read", "write") else (name, 0, 0)


def of_fio(text, folder):
    """Give the requests that fio itself makes."""
    folder.mkdir()
    (folder / "job.fio").write_text(text.replace("[global]", "[global]\nwrite_iolog=log"))
    subprocess.run([FIO, "job.fio", "--output=report"], cwd=folder, check=True, capture_output=True)
    for line in (folder / "log").read_text().splitlines():
        match line.split():
            case [_, _, ("read" | "write") as kind, offset, size]:
                yield kind, int(offset), int(size)
            case [_, _, ("sync" | "datasync") as kind, *_]:
                yield kind, 0, 0


@pytest.mark.skipif(FIO is None, reason="needs fio")
@pytest.mark.parametrize("name", JOBS)
def test_requests_are_those_that_fio_makes(name, machine, tmp_path):
    text = f"[global]\n[j]\n{JOBS[name]}\n"
    result, _ = simulated(text, machine)
    assert list(requests(result)) == list(of_fio(text, tmp_path / "fio"))


def keys(tree):
    """Give a report without its numbers: which keys it has, but for bins and percentiles."""
    if isinstance(tree, dict):
        return {key: keys(value) for key, value in tree.items() if key not in ("bins", "percentile")}
    return [keys(each) for each in tree] if isinstance(tree, list) else None


@pytest.mark.skipif(FIO is None, reason="needs fio")
def test_a_report_has_the_keys_of_fio(machine, tmp_path):
    text = "[global]\nsize=64k\n[mixed]\nrw=randrw\nfsync=4\n[all]\nstonewall\nnumjobs=2\ngroup_reporting\n"
    result, job = simulated(text, machine)
    folder = tmp_path / "fio"
    folder.mkdir()
    command = [FIO, "--output-format=json+", str(job)]
    theirs = json.loads(subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout)
    ours = json_plus(result, job)
    assert keys(ours["jobs"]) == keys(theirs["jobs"])
    for mine, other in zip(ours["jobs"], theirs["jobs"], strict=True):
        for key in ("jobname", "groupid", "job options"):
            assert mine[key] == other[key]
        for direction in ("read", "write"):
            for key in ("io_bytes", "total_ios"):
                assert mine[direction][key] == other[direction][key]
        assert mine["sync"]["total_ios"] == other["sync"]["total_ios"]
        assert list(mine["read"]["clat_ns"]["percentile"]) == list(other["read"]["clat_ns"]["percentile"])
    assert ours["global options"] == theirs["global options"]


@pytest.mark.skipif(shutil.which("fio_jsonplus_clat2csv") is None, reason="needs fio")
def test_a_script_of_fio_reads_a_report(machine, tmp_path):
    python = next((each for each in ("/usr/bin/python3", sys.executable) if has_six(each)), None)
    if python is None:
        pytest.skip("needs the package six, as fio_jsonplus_clat2csv does")
    result, job = simulated("[a]\nsize=1m\nrw=randrw\n", machine)
    (tmp_path / "report").write_text(json.dumps(json_plus(result, job)))
    script = shutil.which("fio_jsonplus_clat2csv")
    for more in ([], ["--validate"]):
        done = subprocess.run(
            [python, script, "report", "clat.csv", *more], cwd=tmp_path, check=True, capture_output=True
        )
    assert done.stdout.decode() == "clat_job0.csv validated\n"


def has_six(python):
    return Path(python).exists() and not subprocess.run([python, "-c", "import six"], check=False).returncode


def refusal(path, machine):
    """Give the message with which a job file is refused, if it is."""
    try:
        pc.Scenario.from_workload(path, machine=str(machine))
    except pc.ScenarioError as error:
        return str(error)
    return None


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the package fio-examples")
def test_every_example_is_read_or_refused(machine, monkeypatch):
    for name, value in {"FIO_RW": "randread", "FIO_IODEPTH": "1", "FIO_BS": "4k"}.items():
        monkeypatch.setenv(name, value)
    found = sorted(EXAMPLES.glob("*.fio"))
    assert len(found) == 86
    refusals = {path.name: refusal(path, machine) for path in found}
    read = [name for name, text in refusals.items() if text is None]
    for name, text in refusals.items():
        reason = REFUSED_JOBS.get(name, "the engine `")
        assert text is None or reason in text or f"`{reason}`" in text, name
    assert len(read) == 31
    mind_others = {"exitwhat.fio", "flow.fio", "latency-profile.fio"}
    assert mind_others | {"cross-stripe-verify.fio", "jesd219.fio", "xnvme-compare.fio"} <= set(read)


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the package fio-examples")
@pytest.mark.parametrize(
    ("name", "shorter"),
    [
        ("exitwhat", {"filesize=1G": "filesize=16M"}),
        ("flow", {"runtime=30": "runtime=1", "size=100g": "size=1g"}),
        ("butterfly", {"bs=4k": "bs=64k\nsize=16m"}),
        ("latency-profile", {"latency_window=5000000": "latency_window=20ms\nsize=1g", "500000": "2000"}),
    ],
)
def test_examples_that_mind_others_run(name, shorter, machine, tmp_path):
    text = (EXAMPLES / f"{name}.fio").read_text()
    for before, after in shorter.items():
        text = text.replace(before, after)
    (tmp_path / "job.fio").write_text(text)
    result, _ = simulated(text, machine, model="kernel")
    table = result.operations
    kinds = zip(table["process"], table["operation"], strict=True)
    made = Counter(process for process, kind in kinds if kind in ("read", "write"))
    if name == "exitwhat":
        assert (made["slow1"], made["slow2"]) == (1000, 1000)
        assert 0 < made["fast1.0"] < 10
        assert 0 < made["fast2.0"] < 10
    elif name == "flow":
        assert made["job1"] / made["job2"] == pytest.approx(8, rel=0.05)
    elif name == "butterfly":
        assert made == {"forward": 256, "backward": 256}
    else:
        assert made["device"] > 0


def test_bins_are_those_of_fio():
    values = np.array([0, 1, 127, 128, 129, 130, 62963, 310241, 2810068])
    middles = [_middle(number) for number in _bin(values).tolist()]
    assert middles == [0, 1, 127, 129, 129, 131, 62720, 309248, 2801664]


def test_a_report_counts_what_follows_the_ramp(machine):
    text = "[a]\nrw=read\nsize=1m\nbs=64k\nrate_iops=4\nramp_time=1\ntime_based\nruntime=2\n"
    result, job = simulated(text, machine)
    (entry,) = json_plus(result, job)["jobs"]
    assert entry["read"]["total_ios"] == pytest.approx(10, abs=1)
    assert entry["read"]["runtime"] == pytest.approx(2000, abs=300)
    assert len(list(requests(result))) == pytest.approx(14, abs=2)


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nsize=4m\nrw=randrw\nfsync=16\n[b]\nstonewall\nsize=2m\nbs=64k\nnumjobs=2\ngroup_reporting\n",
        "[a]\nsize=8m\nrw=randread\ndirect=1\nioengine=libaio\niodepth=16\n",
        "[a]\nsize=1m\nrw=write\nbs=64k\nend_fsync=1\n",
    ],
)
def test_a_report_of_histograms_is_that_of_rows(machine, text):
    of_rows, job = simulated(text, machine, model="kernel")
    scenario = pc.Scenario.from_workload(job, machine=str(machine))
    of_histograms = pc.simulate(scenario, model="kernel", record="histogram")
    for whole, sums in zip(
        json_plus(of_rows, job)["jobs"], json_plus(of_histograms, job)["jobs"], strict=True
    ):
        assert keys(whole) == keys(sums)
        assert sums["job_runtime"] == pytest.approx(whole["job_runtime"], abs=2)
        assert sums["sync"]["total_ios"] == pytest.approx(whole["sync"]["total_ios"], abs=1)
        for direction in ("read", "write"):
            mine, theirs = sums[direction], whole[direction]
            for key in ("io_bytes", "total_ios", "runtime"):
                assert mine[key] == pytest.approx(theirs[key], abs=2 if key == "runtime" else 0)
            for key in ("mean", "min", "max", "N"):
                assert mine["clat_ns"][key] == pytest.approx(theirs["clat_ns"][key], rel=1.1e-3)
            found, wanted = mine["clat_ns"].get("percentile", {}), theirs["clat_ns"].get("percentile", {})
            assert list(found) == list(wanted)
            assert list(found.values()) == pytest.approx(list(wanted.values()), rel=0.02)


def test_a_report_needs_a_job_file(machine):
    result, _ = simulated("[a]\nsize=1m\nrw=read\n", machine)
    with pytest.raises(ArgumentError, match="is no fio job file"):
        json_plus(result, machine)


def test_groups_report_as_one(machine):
    text = "[a]\nsize=64k\nnumjobs=3\ngroup_reporting\nunified_rw_reporting=both\n[b]\nsize=64k\nstats=0\n"
    result, job = simulated(text, machine)
    (entry,) = json_plus(result, job)["jobs"]
    assert entry["read"]["io_bytes"] == entry["mixed"]["io_bytes"] == 3 * 65536
    assert entry["iodepth_level"]["1"] == 100.0
    assert sum(entry["read"]["clat_ns"]["bins"].values()) == 48


@pytest.mark.parametrize(("given", "between_s"), [(None, 16e-6), ("3 us", 3e-6), ("0 s", 0.0)])
def test_fio_itself_takes_time_for_a_request_that_is_in_no_latency(tmp_path, given, between_s):
    job, machine = tmp_path / "job.fio", tmp_path / "machine.toml"
    job.write_text("[global]\ndirectory=/data\n[r]\nrw=randread\nbs=4k\nsize=4m\ninvalidate=0\n")
    machine.write_text(
        'cores = 1\nmemory = { size = "1 GB", read = "4096 MB/s", write = "4 GB/s", cost.call = "10 us" }\n'
        'disk.d = { size = "9 GB", read = "1 GB/s", write = "1 GB/s" }\nmount."/data" = { disk = "d" }\n'
    )
    reading = Reading(cached=True, fio_overhead=given)
    result = pc.simulate(pc.Scenario.from_workload(job, machine=machine, reading=reading), model="kernel")
    (read,) = (job["read"] for job in json_plus(result, job)["jobs"])
    assert read["clat_ns"]["mean"] == pytest.approx(10_000, rel=0.01)
    assert read["iops"] == pytest.approx(1 / (10e-6 + between_s), rel=0.04)
