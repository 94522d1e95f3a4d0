"""Where the processor time of buffered calls goes: recorded with perf, drawn as a flame graph.

The core names its threads after what they do, so a sample says by its thread's name which access it belongs
to. Samples of other threads are left out: files made and warmed, O_DIRECT, Python.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from types import TracebackType

from pagecast import procfs
from pagecast.benchmark.plan import ACCESSES
from pagecast.errors import NotAllowedError, ProbeError

__all__ = ["Profile", "draw_flames", "fold"]

_PARANOID = procfs.PROC / "sys/kernel/perf_event_paranoid"
_SAMPLES_PER_S = 499
_PATIENCE_S = 60.0

_WIDTH = 1200
_ROW = 17
_LEAST_WIDTH = 0.3
"""Frames narrower than this many pixels are not drawn."""

_CHARACTER = 6.6
"""How wide a character of the labels is, in pixels."""

Stack = tuple[str, ...]


class Profile:
    """Records as long as a ``with`` block lasts.

    Raises
    ------
    ProbeError
        perf is not installed, or cannot record.
    NotAllowedError
        This user may not see the kernel's samples.
    """

    def __init__(self) -> None:
        found = shutil.which("perf")
        if found is None:
            raise ProbeError("perf is not installed here; install it (linux-perf), or leave --profile out")
        level = procfs.number(_PARANOID)
        level = 2 if level is None else level
        if os.geteuid() != 0 and level > 1:
            raise NotAllowedError(
                f"perf may not look into the kernel for this user (kernel.perf_event_paranoid is {level}); "
                "run it with sudo, set that to 1, or leave --profile out"
            )
        self._perf = found
        self._recorded = b""
        self._said = ""

    def __enter__(self) -> "Profile":
        self._folder = tempfile.TemporaryDirectory(prefix="pagecast-profile-")
        self._file = Path(self._folder.name) / "perf.data"
        # cpu-clock, as virtual machines often have no counters of the processor.
        options = ["record", "-q", "-F", str(_SAMPLES_PER_S), "-e", "cpu-clock", "-g"]
        self._process = subprocess.Popen(  # noqa: S603 - perf, as the user asked
            [self._perf, *options, "-o", self._file, "-p", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us; perf ends when we say so
        )
        self._wait_for_beginning()
        return self

    def _wait_for_beginning(self) -> None:
        """Wait until perf records, so that nothing is measured in vain if it cannot."""
        until = time.monotonic() + _PATIENCE_S
        while not self._has_begun() and time.monotonic() < until:
            if self._process.poll() is not None:
                self._end()
                raise ProbeError(self._problem())
            time.sleep(0.02)

    def _has_begun(self) -> bool:
        return self._file.exists() and self._file.stat().st_size > 0

    def _problem(self) -> str:
        reason = self._said.splitlines()[-1] if self._said else "it gave no reason"
        return f"perf could not record ({reason}); leave --profile out"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        """End perf, and keep its recording."""
        try:
            if self._process.poll() is None:
                self._process.send_signal(signal.SIGINT)
            self._said = self._process.communicate(timeout=_PATIENCE_S)[1].decode(errors="replace").strip()
            if self._has_begun():
                self._recorded = self._script()
        except subprocess.TimeoutExpired as error:
            self._said = str(error)
        finally:
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
            self._folder.cleanup()

    def _script(self) -> bytes:
        command = [self._perf, "script", "-i", str(self._file), "-F", "comm,ip,sym"]
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=10 * _PATIENCE_S
        )
        return done.stdout

    def flame_graph(self) -> str:
        """Give the recording as an SVG.

        Raises
        ------
        ProbeError
            Nothing was recorded of buffered calls.
        """
        stacks = fold(self._recorded.decode(errors="replace").splitlines())
        if not stacks and not self._recorded:
            raise ProbeError(self._problem())
        if not stacks:
            raise ProbeError("perf has no sample of buffered calls; take a larger --size")
        return draw_flames(stacks)


def fold(lines: Iterable[str]) -> Counter[Stack]:
    """Count the stacks of a ``perf script -F comm,ip,sym``, outermost first, with the access as their root.

    Parameters
    ----------
    lines : iterable of str

    Returns
    -------
    Counter of tuple of str
    """
    stacks: Counter[Stack] = Counter()
    comm, frames = "", list[str]()
    for line in (*lines, ""):
        if not line.strip():
            if comm in ACCESSES and frames:
                stacks[comm, *reversed(frames)] += 1
            comm, frames = "", []
        elif not line[0].isspace():
            comm = line.strip()
        else:
            frames.append(_symbol(line))
    return stacks


def _symbol(line: str) -> str:
    """Give the function of a line "  ffffffff81 copy_page_from_iter (...)"."""
    words = line.split(maxsplit=1)
    return words[1].strip() if len(words) > 1 and words[1].strip() != "[unknown]" else "?"


def draw_flames(stacks: Counter[Stack]) -> str:
    """Draw stacks as a flame graph: width is time on the processor, callers are below.

    Parameters
    ----------
    stacks : Counter of tuple of str

    Returns
    -------
    str
        An SVG file; a title on each frame says its share.
    """
    total = sum(stacks.values())
    rows = list(_frames(sorted(stacks.items()), 0, 0))
    depth = 1 + max(row[0] for row in rows)
    height = (depth + 3) * _ROW
    scale = _WIDTH / total
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" font-family="monospace" font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="4" y="14">Processor time of buffered calls: {total} samples at {_SAMPLES_PER_S} Hz</text>',
    ]
    for level, name, begin, count in rows:
        width = count * scale
        if width < _LEAST_WIDTH:
            continue
        x, y = begin * scale, height - (level + 1) * _ROW
        share = f"{escape(name)}: {100 * count / total:.1f} % ({count} samples)"
        room = int((width - 6) / _CHARACTER)
        label = name if len(name) <= room else f"{name[: room - 1]}…"
        text = f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(label)}</text>' if room >= 3 else ""
        parts.append(
            f'<g><title>{share}</title><rect x="{x:.1f}" y="{y}" width="{max(width - 0.5, 0.2):.1f}" '
            f'height="{_ROW - 1}" fill="{_colour(name)}"/>{text}</g>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _frames(stacks: list[tuple[Stack, int]], level: int, begin: int) -> Iterator[tuple[int, str, int, int]]:
    """Give each frame as level, name, where it begins and how many samples it has; `stacks` are sorted."""
    at = 0
    while at < len(stacks):
        name = stacks[at][0][level] if level < len(stacks[at][0]) else None
        to = at
        while to < len(stacks) and stacks[to][0][level : level + 1] == stacks[at][0][level : level + 1]:
            to += 1
        count = sum(number for _, number in stacks[at:to])
        if name is not None:
            yield level, name, begin, count
            yield from _frames(stacks[at:to], level + 1, begin)
        begin, at = begin + count, to


def _colour(name: str) -> str:
    """Give a warm colour that is always the same for a name."""
    number = sum(ord(letter) * (place + 1) for place, letter in enumerate(name))
    return f"hsl({20 + number % 35} 85% {62 + number // 35 % 12}%)"
