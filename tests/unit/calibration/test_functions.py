"""Times of the kernel's functions: what is read from a trace, what is written into tracefs and put back."""

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest

from pagecast.calibration import _calibrated, functions
from pagecast.calibration.functions import Tracer, durations, find_tracer, function_times
from pagecast.errors import NotAllowedError, ProbeError
from tests.unit.calibration.known_machine import KnownMachine
from tests.unit.calibration.test_measure import calibrated

TRACE = (Path(__file__).parent / "function_graph.txt").read_text()
"""Of Linux 6.12 in the guest of the test bed, in virtual time: names twice, two pages and an fdatasync."""

AT_REST = {
    "available_tracers": "blk function_graph function nop\n",
    "available_filter_functions": "__do_sys_getppid\n__x64_sys_openat\n__ia32_sys_openat\n__x64_sys_rename\n"
    "__x64_sys_unlink\ndo_writepages\next4_do_writepages [ext4]\next4_da_get_block_prep [ext4]\n",
    "current_tracer": "nop\n",
    "set_ftrace_filter": "#### all functions enabled ####\n",
    "set_graph_function": "#### all functions enabled ####\n",
    "set_ftrace_pid": "no pid\n",
    "max_graph_depth": "0\n",
    "tracing_on": "1\n",
    "trace": "",
    "options/sleep-time": "1\n",
    "options/funcgraph-tail": "0\n",
    "events/enable": "0\n",
}
PUT_BACK = {
    "current_tracer": "nop\n",
    "set_ftrace_filter": "\n",
    "set_ftrace_pid": "\n",
    "max_graph_depth": "0\n",
    "tracing_on": "1\n",
    "options/sleep-time": "1\n",
    "options/funcgraph-tail": "0\n",
}
"""An empty line is all functions, and no pid."""


@pytest.fixture
def tracefs(tmp_path, monkeypatch):
    """A folder with files like those of a tracefs at rest, which root looks at."""
    place = tmp_path / "tracing"
    for name, text in AT_REST.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    monkeypatch.setattr(functions, "PLACES", (str(place),))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return place


def texts(place, names):
    return {name: (place / name).read_text() for name in names}


def test_a_trace_of_the_kernel_is_read():
    found = durations(TRACE)
    assert {key: len(of) for key, of in found.items()} == {
        "getppid": 2, "open": 4, "rename": 2, "unlink": 2, "writeback": 1, "block": 2,
    }  # fmt: skip
    assert found["getppid"] == pytest.approx([0.851e-6, 0.850e-6])
    assert found["open"][1] < found["open"][0] / 5, "a file is made, then opened"
    assert found["writeback"][0] > 100 * found["block"][0]


@pytest.mark.parametrize(
    "line",
    [
        " 1) ! 512.250 us  |  do_writepages();",
        " 1) ! 512.250 us  |  do_writepages(); /* = 0x0 */",
        " 1) ! 512.250 us  |  do_writepages.isra.0();",
        " 1) ! 512.250 us  |  } /* do_writepages */",
        " 1) ! 512.250 us  |  } /* do_writepages = 0x0 */",
        " 1)   fio-123     | ! 512.250 us  |  do_writepages();",
    ],
)
def test_ways_to_write_a_call_are_read(line):
    begun = " 1)               |  do_writepages() {\n"
    assert durations(f"{begun}{line}\n")["writeback"] == pytest.approx([512.25e-6])


def test_what_is_traced_is_found_and_nothing_is_changed(tracefs):
    tracer = find_tracer()
    assert tracer.functions == (
        "__do_sys_getppid",
        "__x64_sys_openat",
        "__x64_sys_rename",
        "__x64_sys_unlink",
        "do_writepages",
        "ext4_da_get_block_prep",
    )
    assert ("set_ftrace_filter", " ".join(tracer.functions)) in tracer.settings(7)
    assert ("set_ftrace_pid", "7") in tracer.settings(7)
    assert texts(tracefs, AT_REST) == AT_REST


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("available_tracers", "function nop\n", "has no tracer function_graph"),
        ("current_tracer", "function\n", "current_tracer is `function`, not `nop`: somebody traces"),
        ("set_ftrace_filter", "vfs_read\nvfs_write\n", "set_ftrace_filter is `vfs_read`, not"),
        ("events/enable", "X\n", "events/enable is `X`, not `0`"),
        ("available_filter_functions", "do_writepages\n", "lets nobody trace getppid, open, rename, unlink"),
    ],
)
def test_a_tracefs_that_cannot_be_used_is_refused_in_a_line(tracefs, name, text, message):
    (tracefs / name).write_text(text)
    with pytest.raises(ProbeError, match=message) as error:
        find_tracer()
    assert "\n" not in str(error.value)


def test_without_tracefs_or_root_it_is_refused(tracefs, monkeypatch):
    (tracefs / "current_tracer").unlink()
    with pytest.raises(ProbeError, match="there is no tracefs; `mount -t tracefs"):
        find_tracer()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotAllowedError, match="needs root"):
        find_tracer()


def test_settings_hold_while_it_traces_and_are_put_back(tracefs, tmp_path, monkeypatch):
    tracer = find_tracer()
    monkeypatch.chdir(tmp_path)
    (folder := Path("work")).mkdir()
    (folder / "file").touch()
    with tracer.tracing(folder) as traced:
        wanted = dict(tracer.settings(os.getpid()))
        assert texts(tracefs, wanted) == wanted
        traced(lambda: None)
    assert texts(tracefs, PUT_BACK) == PUT_BACK
    assert not folder.exists()


def test_an_error_puts_back_too(tracefs, tmp_path):
    with pytest.raises(KeyboardInterrupt), find_tracer().tracing(tmp_path / "work"):
        raise KeyboardInterrupt
    assert texts(tracefs, PUT_BACK) == PUT_BACK


def test_what_cannot_be_put_back_is_said(tracefs, tmp_path):
    with pytest.raises(ProbeError, match="could not be put back"), find_tracer().tracing(tmp_path / "work"):
        shutil.rmtree(tracefs / "options")


KILLED = """\
import os, pathlib, signal, sys
from pagecast.calibration.functions import Tracer
place, folder = map(pathlib.Path, sys.argv[1:])
with Tracer(place, ("do_writepages",), "1").tracing(folder):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_nothing(tracefs, tmp_path):
    (folder := tmp_path / "work").mkdir()
    ended = subprocess.run([sys.executable, "-c", KILLED, tracefs, folder], check=False)
    assert ended.returncode == -signal.SIGKILL
    until = time.monotonic() + 10
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not folder.exists()
    assert texts(tracefs, PUT_BACK) == PUT_BACK


NONE = {key: [] for key in functions.FUNCTIONS}
NAMES = NONE | {
    "getppid": [0.8e-6] * functions.NAMES,
    "open": [45.8e-6, 5.8e-6] * functions.NAMES,
    "rename": [52.8e-6] * functions.NAMES,
    "unlink": [54.8e-6] * functions.NAMES,
}
NEW = NONE | {"block": [2.9e-6] * functions.PAGES}
SYNCED = NONE | {"writeback": [1e-6 * functions.PAGES] * 2}
OVER = NONE | {"block": [2.1e-6] * functions.PAGES}
TRACER = Tracer(Path("/nowhere"), ("do_writepages", "ext4_da_get_block_prep"), "1")


def times(monkeypatch, folder, *answers, tracer=TRACER):
    """Time functions that take what is told, again in each round; calls are made, and none is traced."""
    found = itertools.cycle(answers)

    @contextmanager
    def tracing(self, folder):
        yield lambda act: (act(), next(found))[1]

    monkeypatch.setattr(Tracer, "tracing", tracing)
    return function_times(tracer, folder)


def test_a_hook_is_taken_off_and_a_reservation_is_a_difference(tmp_path, monkeypatch):
    processors = os.sched_getaffinity(0)
    found = times(monkeypatch, tmp_path, NAMES, NEW, SYNCED, OVER)
    assert {key: pytest.approx(of) for key, of in found.items()} == {
        key: [seconds] * functions.ROUNDS
        for key, seconds in {
            "hook": 0.8e-6, "create": 45e-6, "open": 5e-6, "rename": 52e-6, "unlink": 54e-6,
            "page_writeback": 2e-6, "block_reserve": 0.8e-6,
        }.items()
    }  # fmt: skip
    assert [*tmp_path.iterdir()] == []
    assert os.sched_getaffinity(0) == processors


def test_another_file_system_has_no_reservation(tmp_path, monkeypatch):
    tracer = Tracer(Path("/nowhere"), ("do_writepages",), "1")
    found = times(monkeypatch, tmp_path, NAMES, NONE, SYNCED, NONE, tracer=tracer)
    assert "block_reserve" not in found
    assert "page_writeback" in found


def test_calls_that_the_trace_lost_are_an_error(tmp_path, monkeypatch):
    lost = NAMES | {"rename": NAMES["rename"][1:]}
    with pytest.raises(ProbeError, match="the trace has 99 of 100 calls of rename"):
        times(monkeypatch, tmp_path, lost, NEW, SYNCED, OVER)
    assert [*tmp_path.iterdir()] == []


def test_costs_are_in_the_machine_file_and_page_insert_has_no_reservation(tmp_path, monkeypatch):
    machine = KnownMachine(insert_s=900e-9)
    plain = calibrated(machine, tmp_path)
    plain.measurements.functions = times(monkeypatch, tmp_path, NAMES, NEW, SYNCED, OVER)
    done = _calibrated(plain.survey, plain.measurements, "calibrate")
    described = tomllib.loads(done.toml)
    assert {key: described["mount"]["/data"][key] for key in ("open", "create", "rename", "unlink")} == {
        "open": "5000 ns", "create": "45 us", "rename": "52 us", "unlink": "54 us",
    }  # fmt: skip
    cost = described["memory"]["cost"]
    assert (cost["page_writeback"], cost["block_reserve"], cost["page_insert"]) == (
        "2000 ns", "800 ns", "100 ns",
    )  # fmt: skip
    assert (
        "# measured: 5000 ns to 5000 ns (95 %, 9 rounds), noise 0 %; opening a file that is there"
        in done.toml
    )
    assert "800 ns  getppid, traced: what a hook of function_graph adds" in done.toml
    assert done.machine.hash
