"""The command line as a user without rights; only root can become one."""

import ctypes
import os
import resource
import sys
from typing import TYPE_CHECKING

import pytest

from pagecast.cli import cli
from pagecast.cli.failures import run

if TYPE_CHECKING:
    from tests.cli.conftest import Outcome, Pagecast

NOBODY = 65534
_PR_SET_DUMPABLE = 4


def skip_unless_root() -> None:
    """Skip a test that becomes another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; as it is, all other tests run without rights")


class Unprivileged:
    """The command line as a user without rights, in a folder of that user.

    Parameters
    ----------
    pagecast : Pagecast
    prefix : str
        Words that every command begins with.
    """

    def __init__(self, pagecast: "Pagecast", *prefix: str) -> None:
        self._pagecast = pagecast
        self._prefix = prefix
        self.folder = pagecast.folder
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)

    def __call__(self, *arguments: str, lock_limit: int | None = None) -> "Outcome":
        """Run a command; the answer is an outcome, as of the fixture."""
        child = os.fork()
        if child == 0:
            try:
                if lock_limit is not None:
                    resource.setrlimit(resource.RLIMIT_MEMLOCK, (lock_limit, lock_limit))
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                # As after the exec that usually follows; without it a process may not even look at itself.
                ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1)
                code = run(cli, [*self._prefix, *arguments])
                sys.stdout.flush()
            except BaseException as error:
                os.write(2, f"{error!r}\n".encode())
                code = 99
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        outcome = self._pagecast("--version")
        outcome.code, outcome.stdout = code, outcome.stdout.rpartition("pagecast ")[0]
        return outcome
