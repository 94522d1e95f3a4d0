"""What a bed changes on this machine: noted before it is done; undone at the end, or at the next start."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bed.ending import undisturbed
from bed.packages import BedError

__all__ = ["ZRAM", "Undo", "run", "started_at", "undoing"]

ZRAM: Final = Path("/sys/class/zram-control")
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_WAIT_S: Final = 10.0


class Undo:
    """What must be undone, in a file that outlives this process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._boot = _BOOT.read_text().strip()
        self._steps: list[list[str]] = []

    def note(self, *step: str) -> None:
        """Note a step: before what it undoes is done, where that does not choose the name itself."""
        self._steps.append(list(step))
        scratch = self._path.with_suffix(".new")
        scratch.write_text(json.dumps({"boot": self._boot, "steps": self._steps}))
        scratch.replace(self._path)

    def left_over(self) -> bool:
        """Read what an earlier process left; what is older than the machine's last start is gone."""
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return False
        if found["boot"] == self._boot:
            self._steps = found["steps"]
        return bool(self._steps)

    def all(self) -> list[str]:
        """Undo everything, the last step first; gives what could not be undone."""
        failed = [problem for step in reversed(self._steps) if (problem := _undone(step))]
        self._steps = []
        if not failed:
            self._path.unlink(missing_ok=True)
        return failed


def _undone(step: Sequence[str]) -> str | None:
    """Undo one step; what is gone already needs nothing. Gives what went wrong."""
    kind, *words = step
    try:
        match kind:
            case "kill":
                pid, started = words
                if started_at(int(pid)) == started:
                    os.kill(int(pid), signal.SIGKILL)
            case "umount":
                if os.path.ismount(words[0]):
                    _patiently("umount", words[0])
            case "detach":
                if Path(f"/sys/block/{Path(words[0]).name}/loop").exists():
                    _patiently("losetup", "--detach", words[0])
            case "rmdir":
                if Path(words[0]).is_dir():
                    Path(words[0]).rmdir()
            case "write":
                Path(words[0]).write_text(words[1])
            case "remove":
                zram = Path(f"/sys/block/zram{words[0]}")
                if zram.exists():
                    (zram / "reset").write_text("1")
                    (ZRAM / "hot_remove").write_text(words[0])
    except OSError as error:
        if error.errno == errno.ENODEV:  # a limit of a device that is gone is gone too
            return None
        return f"{' '.join(step)}: {error}"
    except BedError as error:
        return f"{' '.join(step)}: {error}"
    return None


def _patiently(*words: str) -> None:
    """Run a command that fails as long as somebody still uses the device."""
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            run(*words)
            return
        except BedError:
            if time.monotonic() > until:
                raise
        time.sleep(0.2)


def run(*words: str) -> str:
    """Run a tool of the system and give what it prints.

    Raises
    ------
    BedError
        It failed; the text has the last line of what it says.
    """
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BedError(f"{' '.join(words)}: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    return done.stdout.strip()


def started_at(pid: int) -> str | None:
    """Give when a process was started, in ticks: with its number, that names one process for ever."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


@contextlib.contextmanager
def undoing(folder: Path) -> Iterator[Undo]:
    """Undo what an earlier run has left in this folder, and at the end all that is noted meanwhile.

    Raises
    ------
    BedError
        The folder cannot be used, or something cannot be undone.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BedError(f"{folder}: cannot be used ({error})") from error
    undo = Undo(folder / "undo.json")
    if undo.left_over():
        print("bed: undoing what an earlier run has left", file=sys.stderr)
        _finish(undo)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        yield undo
    except OSError as error:
        raise BedError(str(error)) from error
    finally:
        with undisturbed():
            _finish(undo)


def _finish(undo: Undo) -> None:
    if failed := undo.all():
        raise BedError("could not be undone: " + "; ".join(failed))
