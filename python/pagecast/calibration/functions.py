"""Times of the kernel's functions, from the tracer function_graph (Documentation/trace/ftrace.rst).

Traced are the calls of one thread of this process, and functions none of which calls another. So there is no
other hook within what is timed; what the hook of a function itself adds is in the time of getppid, which does
next to nothing, and is taken off. Time in which the thread sleeps is left out by the tracer (`sleep-time`).
A shell puts every setting back when this process has ended, however it has ended.
Left out: function_graph in an instance of tracefs, which is new in Linux 6.11.
"""

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from pagecast import procfs
from pagecast.arguments import shown
from pagecast.calibration.facts import PAGE_BYTES
from pagecast.errors import NotAllowedError, ProbeError
from pagecast.progress import Progress, teller

__all__ = ["WRITTEN_BYTES", "Tracer", "durations", "find_tracer", "function_times"]

PLACES: Final = ("kernel/tracing", "kernel/debug/tracing")
"""Of tracefs, below /sys."""

ROUNDS: Final = 9
NAMES: Final = 100
PAGES: Final = 2048
"""New ones in a round, and written over: 8 MiB."""
WRITTEN_BYTES: Final = ROUNDS * 2 * PAGES * PAGE_BYTES

_SYSCALL: Final = r"__(?:x64|arm64|riscv|s390x|powerpc)_sys_"
FUNCTIONS: Final = {
    "getppid": r"__(?:x64|arm64|riscv|s390x|powerpc|do)_sys_getppid",
    "open": rf"{_SYSCALL}open(?:at)?",
    "rename": rf"{_SYSCALL}rename(?:at2?)?",
    "unlink": rf"{_SYSCALL}unlink(?:at)?",
    "writeback": "do_writepages",
    "block": "ext4_da_get_block_prep",
}
"""Patterns of what is traced. The last one is of ext4, and may be missing."""

_AT_REST: Final = {
    "current_tracer": "nop",
    "set_ftrace_filter": "#### all functions enabled ####",
    "set_graph_function": "#### all functions enabled ####",
    "set_ftrace_pid": "no pid",
    "max_graph_depth": "0",
    "options/sleep-time": "1",
    "options/funcgraph-tail": "0",
    "events/enable": "0",
}
"""The settings of a tracefs that nobody uses."""

_RESTORE: Final = """\
trap '' HUP INT TERM
cat >/dev/null
cd "$1" || exit
echo 0 >tracing_on
echo nop >current_tracer
echo >set_ftrace_filter
echo >set_ftrace_pid
echo 0 >max_graph_depth
echo 1 >options/sleep-time
echo 0 >options/funcgraph-tail
echo "$2" >tracing_on
rm -rf "$3"
"""
"""Ends when its input does: when this process closes it, or is killed."""

_LINE: Final = re.compile(r"([\d.]+) us +\| +(?:(\w+)[^()]*\(\);|\} /\* (\w+).*\*/)")


@dataclass(frozen=True, slots=True)
class Tracer:
    """A tracefs at rest, and the functions there that are traced."""

    place: Path
    functions: tuple[str, ...]
    was_on: str

    def settings(self, thread: int) -> list[tuple[str, str]]:
        """Give the files of tracefs and what is written into them, in this order.

        Parameters
        ----------
        thread : int
            Whose calls are traced.

        Returns
        -------
        list of tuple of str
        """
        return [
            ("tracing_on", "0"),
            ("set_ftrace_pid", str(thread)),
            ("set_ftrace_filter", " ".join(self.functions)),
            ("max_graph_depth", "1"),
            ("options/sleep-time", "0"),
            ("options/funcgraph-tail", "1"),
            ("current_tracer", "function_graph"),
        ]

    @contextmanager
    def tracing(self, folder: Path) -> Iterator[Callable[[Callable[[], None]], dict[str, list[float]]]]:
        """Trace this thread; everything is put back at the end, and the folder removed.

        Parameters
        ----------
        folder : Path

        Yields
        ------
        callable
            Calls something, and gives the seconds of each call of a function by its key of `FUNCTIONS`.

        Raises
        ------
        ProbeError
            The kernel refuses a setting, or something cannot be put back.
        """
        words = ["sh", "-c", _RESTORE, "sh", str(self.place), self.was_on, str(folder.absolute())]
        restoring = subprocess.Popen(  # noqa: S603
            words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        try:
            for name, text in self.settings(threading.get_native_id()):
                _write(self.place / name, text)
            switch = os.open(self.place / "tracing_on", os.O_WRONLY | os.O_CLOEXEC)
            try:
                yield lambda act: self._traced(switch, act)
            finally:
                os.close(switch)
        finally:
            _, said = restoring.communicate()
            if restoring.returncode or said:
                last = said.decode(errors="replace").strip() or f"exit code {restoring.returncode}"
                raise ProbeError(f"{self.place}: could not be put back ({last}); see its files")

    def _traced(self, switch: int, act: Callable[[], None]) -> dict[str, list[float]]:
        _write(self.place / "trace", "")
        os.write(switch, b"1")
        try:
            act()
        finally:
            os.write(switch, b"0")
        return durations((self.place / "trace").read_text())


def find_tracer() -> Tracer:
    """Find a tracefs with function_graph that nobody uses; nothing is changed.

    Returns
    -------
    Tracer

    Raises
    ------
    NotAllowedError
        This is not root.
    ProbeError
        There is none, it lacks something, or it is in use.
    """
    if os.geteuid() != 0:
        raise NotAllowedError("--ftrace writes settings of the kernel's tracer, which needs root; use sudo")
    places = (procfs.SYS / place for place in PLACES)
    place = next((each for each in places if (each / "current_tracer").exists()), None)
    if place is None:
        raise ProbeError(
            "--ftrace: there is no tracefs; `mount -t tracefs none /sys/kernel/tracing`, if the kernel has it"
        )
    if "function_graph" not in _read(place / "available_tracers").split():
        raise ProbeError(f"--ftrace: {place} has no tracer function_graph (CONFIG_FUNCTION_GRAPH_TRACER)")
    for name, rest in _AT_REST.items():
        if (text := _read(place / name)) != rest:
            first = shown(text.splitlines()[0] if text else "")
            raise ProbeError(
                f"--ftrace: {place / name} is `{first}`, not `{rest}`: somebody traces; end that first"
            )
    lines = _read(place / "available_filter_functions").splitlines()
    names = [line.split()[0] for line in lines if line]
    found = {key: [name for name in names if re.fullmatch(of, name)] for key, of in FUNCTIONS.items()}
    if missing := [key for key, of in found.items() if not of and key != "block"]:
        raise ProbeError(f"--ftrace: this kernel lets nobody trace {', '.join(missing)}")
    functions = tuple(dict.fromkeys(name for of in found.values() for name in of))
    return Tracer(place, functions, _read(place / "tracing_on"))


def durations(trace: str) -> dict[str, list[float]]:
    """Read a trace of function_graph.

    Parameters
    ----------
    trace : str
        Text of the file ``trace``.

    Returns
    -------
    dict of str to list of float
        Seconds of each call, by keys of `FUNCTIONS`.
    """
    found: dict[str, list[float]] = {key: [] for key in FUNCTIONS}
    for took, leaf, ended in _LINE.findall(trace):
        for key, pattern in FUNCTIONS.items():
            if re.fullmatch(pattern, leaf or ended):
                found[key].append(1e-6 * float(took))
    return found


def function_times(
    tracer: Tracer, directory: Path, *, progress: Progress | None = None
) -> dict[str, list[float]]:
    """Measure what functions take, in a folder of the directory that is gone afterwards.

    Parameters
    ----------
    tracer : Tracer
    directory : Path
        On the file system that is measured.
    progress : callable, optional

    Returns
    -------
    dict of str to list of float
        Seconds of each round, by the last part of a key of a machine file, and "hook" of what a hook adds.

    Raises
    ------
    ProbeError
        The kernel refuses something, or calls are missing in its trace.
    """
    say = teller(progress)
    folder = Path(tempfile.mkdtemp(prefix=".pagecast-ftrace-", dir=directory))
    processors = os.sched_getaffinity(0)
    found: dict[str, list[float]] = {}
    try:
        with tracer.tracing(folder) as traced:
            os.sched_setaffinity(0, {min(processors)})  # what begins on one ends there: a line for each call
            for number in range(ROUNDS):
                say(number / ROUNDS, "the kernel's functions")
                for key, seconds in _round(traced, folder, has_blocks=_has_blocks(tracer)).items():
                    found.setdefault(key, []).append(seconds)
    except OSError as error:
        raise ProbeError(f"--ftrace: the kernel refuses something ({error})") from error
    finally:
        os.sched_setaffinity(0, processors)
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _has_blocks(tracer: Tracer) -> bool:
    return any(re.fullmatch(FUNCTIONS["block"], name) for name in tracer.functions)


def _round(
    traced: Callable[[Callable[[], None]], dict[str, list[float]]], folder: Path, *, has_blocks: bool
) -> dict[str, float]:
    names = _all_of(traced(lambda: _change_names(folder)), getppid=NAMES, open=2 * NAMES, rename=NAMES)
    hook = median(names["getppid"])
    calls = {
        "create": names["open"][::2],
        "open": names["open"][1::2],
        "rename": names["rename"],
        "unlink": names["unlink"],
    }
    found = {"hook": hook} | {key: max(median(of) - hook, 0.0) for key, of in calls.items()}
    path = folder / "pages"
    file = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        new = traced(lambda: _write_pages(file))
        synced = traced(lambda: os.fdatasync(file))
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        over = traced(lambda: _write_pages(file))
    finally:
        os.close(file)
        path.unlink()
    if synced["writeback"]:
        found["page_writeback"] = sum(synced["writeback"]) / PAGES
    if has_blocks and len(new["block"]) == len(over["block"]) == PAGES:
        found["block_reserve"] = median(new["block"]) - median(over["block"])
    return found


def _all_of(found: Mapping[str, list[float]], **counts: int) -> Mapping[str, list[float]]:
    for key, count in counts.items():
        if len(found[key]) != count:
            raise ProbeError(f"--ftrace: the trace has {len(found[key])} of {count} calls of {key}")
    return found


def _change_names(folder: Path) -> None:
    """Make a file, open it, give it another name and remove that, over and over; no other name is there."""
    one, other = str(folder / "one"), str(folder / "other")
    for _ in range(NAMES):
        os.getppid()
        os.close(os.open(one, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.close(os.open(one, os.O_RDONLY))
        os.rename(one, other)
        os.unlink(other)


def _write_pages(file: int) -> None:
    page = b"\x5a" * PAGE_BYTES
    for at in range(PAGES):
        os.pwrite(file, page, at * PAGE_BYTES)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError as error:
        raise ProbeError(f"--ftrace: {path}: cannot be read ({error.strerror})") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise ProbeError(f"--ftrace: the kernel refuses `{text}` in {path} ({error.strerror})") from error
