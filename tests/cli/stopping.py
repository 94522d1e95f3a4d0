"""Stops a command that runs."""

import signal
import subprocess
import time

from pagecast.exit_codes import ExitCode

__all__ = ["ENDINGS", "stop"]

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What a command is interrupted by."""


def stop(process: subprocess.Popen, ending: signal.Signals) -> None:
    """Interrupt a command, which must say so and end soon."""
    process.send_signal(ending)
    begun = time.monotonic()
    assert process.communicate(timeout=60)[1].endswith("\npagecast: interrupted\n")
    assert process.returncode == ExitCode.INTERRUPTED
    assert time.monotonic() - begun < 30
