"""Scripts that mount something, where nobody else sees it."""

import subprocess
from pathlib import Path

import pytest

NOT_HERE = 77
"""A script ends with it where it cannot mount."""


def in_own_mounts(script: str, folder: Path, what: str) -> "subprocess.CompletedProcess[str]":
    """Run a script in a mount namespace of its own, or skip if nothing can be mounted; `what` says what."""
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if ended.returncode == NOT_HERE or "unshare" in ended.stderr:
        pytest.skip(f"{what} cannot be mounted here")
    return ended
