"""Every simulation ends, or is refused with a reason, in 2 GB of memory, and can be stopped at any time."""

import resource
import signal
import subprocess
import sys
import threading
import time

import pytest

import pagecast as pc
from pagecast.exit_codes import ExitCode

COMMAND = [sys.executable, "-m", "pagecast", "simulate"]
TIMEOUT_S = 120
"""Each of these never ended, or took half a minute; now none takes more than some seconds."""
MEMORY_BYTES = 2 * 2**30

MACHINE = """\
[machine]
cores = 4
kernel.version = "6.18"
memory = { size = "MEMORY", read = "8 GB/s", write = "5 GB/s" }
disk.d = { size = "500 GB", read = "RATE", write = "RATE", stable_writes = STABLE }
mount."/d" = { disk = "d" }
"""

EACH_CALL = """\
[model.cawl]
bw_ramdisk = "2 GB/s"
bw_reduced = "1 GB/s"
"""


def scenario(do, *, memory="8 GB", rate="450 MB/s", stable="false", more="", keys=""):
    """Give the text of a scenario with one process, or several copies of it."""
    machine = MACHINE.replace("MEMORY", memory).replace("RATE", rate).replace("STABLE", stable)
    return (
        f'{machine}{more}\n[[process]]\nname = "p{"{n}" if "count" in keys else ""}"\n{keys}\ndo = [ {do} ]\n'
    )


def repeated(do, *times):
    """Put loops around operations."""
    for rounds in times:
        do = f"{{ repeat = {rounds}, do = [ {do} ] }}"
    return do


MILLION = 1_000_000
NESTED = "{p}" * 10
LEVELS = "\n".join(f'p{n} = "{NESTED.replace("p", f"p{n - 1}")}"' for n in range(1, 10))
BOMB = f'[[file]]\npath = "/d/{{p9}}"\nsize = "1 GB"\n[parameter]\np0 = "aaaaaaaaaa"\n{LEVELS}'
READERS = '[[file]]\npath = "/d/f"\nsize = "1 GB"'
TWICE = '{ write = "/d/x", size = "100 MB" }, ' * 2

ENDING = {
    "a writer as fast as a disk with stable pages": (
        "kernel",
        scenario('{ compute = "4 s" }, ' + TWICE, memory="1 GB", rate="2 GB/s", stable="true"),
    ),
    "memory of 1 MB": ("kernel", scenario(TWICE + '{ fsync = "/d/x" }', memory="1 MB")),
    "memory of 2 MB": ("kernel", scenario(TWICE + '{ fsync = "/d/x" }', memory="2 MB")),
    "periodic write-back switched off": (
        "wrench",
        scenario(TWICE + '{ sleep = "100 s" }', more="vm.dirty_writeback_centisecs = 0"),
    ),
    "loops around nothing": (
        "no-cache",
        scenario(repeated('{ sleep = "1 s" }', 0, MILLION, MILLION) + ', { sleep = "1 s" }'),
    ),
    "10,000 readers of one file": (
        "kernel",
        scenario('{ read = "/d/f" }', more=READERS, keys="count = 10000"),
    ),
    "a slow disk": (
        "kernel",
        scenario('{ write = "/d/x", size = "5 GB" }, { fsync = "/d/x" }', rate="10 kB/s"),
    ),
    "a century of sleep": ("wrench", scenario(repeated('{ sleep = "9000000 s" }', 350) + ", " + TWICE)),
}

REFUSED = {
    "a slow disk": (
        ExitCode.BAD_INPUT,
        "`read`: `3.3 B/s` is no rate that can be simulated; rates go from 10 kB/s to 1000 TB/s",
        "kernel",
        scenario(TWICE, rate="3.3 B/s"),
    ),
    "three centuries of sleep": (
        ExitCode.SIMULATION_FAILED,
        "which goes on for longer than can be simulated (292 years, 2^63 ns)",
        "wrench",
        scenario(repeated('{ sleep = "9000000 s" }', 1200)),
    ),
    "parameters of 10 GB": (
        ExitCode.BAD_INPUT,
        f'14: "{NESTED.replace("p", "p2")}" is longer than 4096 bytes with its parameters',
        "kernel",
        scenario(TWICE, more=BOMB),
    ),
    "a million times a million rounds of nothing": (
        ExitCode.BAD_INPUT,
        "there are more than 10000000 operations that take no time; give `repeat` or `count` less",
        "kernel",
        scenario(repeated('{ compute = "0 s" }', MILLION, MILLION)),
    ),
    "a million copies of a million rounds of nothing": (
        ExitCode.BAD_INPUT,
        "there are more than 10000000 operations that take no time; give `repeat` or `count` less",
        "kernel",
        scenario(repeated('{ signal = "x" }', MILLION), keys=f"count = {MILLION}"),
    ),
    "10 GB in calls of a byte": (
        ExitCode.SIMULATION_FAILED,
        "model `cawl` computes each of its more than 100 million calls",
        "cawl",
        scenario('{ write = "/d/x", size = "10 GB", call = "1 B" }', more=EACH_CALL),
    ),
}

DEEP = scenario('{ write = "/d/x", size = "90 MB", call = "1 B" }', more=EACH_CALL)
"""A minute and a half in one event of the core."""


def limit_memory():
    """Let this process, which is to run the command, have little memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def simulate(text, model, folder):
    """Run the command as a user does, with little memory."""
    path = folder / "long.toml"
    path.write_text(text)
    return subprocess.run(
        [*COMMAND, path, "--model", model],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        preexec_fn=limit_memory,
    )


@pytest.mark.parametrize("name", ENDING)
def test_what_never_ended_ends(name, tmp_path):
    # From the field: each of these ran until it was killed, some with ever more memory.
    model, text = ENDING[name]
    ended = simulate(text, model, tmp_path)
    assert (ended.returncode, ended.stderr) == (ExitCode.OK, "")


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_end_is_refused(name, tmp_path):
    # From the field: exit 70 for too much time, or hours and all memory.
    code, why, model, text = REFUSED[name]
    ended = simulate(text, model, tmp_path)
    assert ended.returncode == code
    assert why in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_one_long_event_can_be_stopped(ending, tmp_path):
    # Ctrl-C was heard between events only: not while 90 million calls were computed in one.
    (tmp_path / "deep.toml").write_text(DEEP)
    command = [*COMMAND, tmp_path / "deep.toml", "--model", "cawl"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    process.send_signal(ending)
    process.communicate(timeout=20)
    assert process.returncode in (ExitCode.INTERRUPTED, -ending)


def test_ctrl_c_is_an_exception_of_who_simulates(tmp_path):
    (tmp_path / "deep.toml").write_text(DEEP)
    loaded = pc.Scenario.load(tmp_path / "deep.toml")
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pc.simulate(loaded, model="cawl")
    timer.join()
    # The next one is not stopped by what stopped that.
    assert pc.simulate(loaded, model="no-cache").operations["duration_s"][0] > 0


def test_ctrl_c_stops_reading_a_scenario(tmp_path):
    # A million copies are read in a call of the core of some seconds.
    path = tmp_path / "many.toml"
    copies = scenario('{ write = "/d/x{n}", size = "{n} B" }', keys=f"count = {MILLION}")
    path.write_text(copies)
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pc.Scenario.load(path)
    timer.join()
