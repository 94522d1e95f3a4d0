"""The same cells measured by fio, where it is installed."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from pagecast import _core
from pagecast.benchmark.plan import Cell
from pagecast.errors import ProbeError

__all__ = ["Fio"]

_PATIENCE_S = 60.0
"""How much longer than the limit fio may take to begin and to end."""


class Fio:
    """The program.

    Raises
    ------
    ProbeError
        It is not installed.
    """

    def __init__(self) -> None:
        found = shutil.which("fio")
        if found is None:
            raise ProbeError("fio is not installed here; install the package fio, or leave --with-fio out")
        self._program = found
        self.version = _output([found, "--version"], timeout_s=_PATIENCE_S).strip()

    def run(self, core: _core.Bench, cell: Cell, limit_s: float, device: Path | None = None) -> float:
        """Bring files or the device into the state that a cell wants, and let fio measure it.

        Parameters
        ----------
        core : Bench
        cell : Cell
        limit_s : float
        device : Path, optional
            Of a cell of the device; its content is lost.

        Returns
        -------
        float
            Bytes per second.

        Raises
        ------
        ProbeError
            fio failed.
        """
        bytes_each, _ = core.prepare(cell.asked())
        options = {
            "name": "thread",
            **_place(core, cell, device, bytes_each),
            "rw": cell.direction,
            "bs": cell.call_bytes,
            "size": bytes_each,
            "numjobs": cell.threads,
            "ioengine": "psync",
            "direct": int(cell.mode == "direct"),
            "invalidate": 0,  # what is cached stays so
            "fallocate": "none",
            "refill_buffers": 0,
            "runtime": limit_s,
            "output-format": "json",
        }
        command = [self._program, "--thread", "--group_reporting"]
        command += [f"--{name}={value}" for name, value in options.items()]
        text = _output(command, timeout_s=limit_s + _PATIENCE_S)
        return _rate(text, cell.direction)


def _place(core: _core.Bench, cell: Cell, device: Path | None, bytes_each: int) -> dict[str, Any]:
    """Say where fio reads and writes: what the core does, a file or a range of the device for each thread."""
    if cell.target == "file":
        return {"directory": core.path, "filename_format": "thread.$jobnum"}
    name = os.fspath(device or "").replace(":", "\\:")  # between two names fio wants one
    return {"filename": name, "offset_increment": bytes_each, "allow_file_create": 0}


def _rate(text: str, direction: str) -> float:
    """Find the rate in the output of fio; warnings may come before."""
    try:
        document: dict[str, Any] = json.loads(text[text.index("{") :])
        return float(document["jobs"][0][direction]["bw_bytes"])
    except (ValueError, LookupError, TypeError) as error:
        raise ProbeError(f"the output of fio cannot be understood ({error}); leave --with-fio out") from error


def _output(command: list[str], *, timeout_s: float) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the program that the user asked for
            command, capture_output=True, text=True, check=False, timeout=timeout_s, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProbeError(f"fio cannot be run ({error}); leave --with-fio out") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise ProbeError(f"fio failed ({said[-1]}); leave --with-fio out")
    return done.stdout
