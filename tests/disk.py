"""Where the tests of the real page cache find a disk."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pagecast import cache

TRIES = 6
"""Of a test that needs something to stay cached: see `patiently`."""
OUT = Path(__file__).parents[1] / "out"


@contextmanager
def folder_on_disk(usual: Path) -> Iterator[Path]:
    """Give a folder that is not in memory: the usual one, or one in the checkout; else skip."""
    if _is_on_disk(usual):
        yield usual
        return
    OUT.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=OUT) as other:
        if not _is_on_disk(Path(other)):
            pytest.skip("there is no disk: the temporary directory and the checkout are in memory")
        yield Path(other)


def _is_on_disk(folder: Path) -> bool:
    probe = folder / "what-is-this-on"
    probe.write_bytes(b"x")
    try:
        return cache.status([probe]).file_systems[0]["type"] not in ("tmpfs", "ramfs")
    finally:
        probe.unlink()


def patiently(test: Callable[..., None]) -> Callable[..., None]:
    """Give a test that needs something to stay cached several tries.

    There are machines that take back page cache at any moment, though nobody needs the memory: a balloon, a
    host that reclaims. The files of the test are read into memory again before each new try.
    """

    @functools.wraps(test)
    def retried(*arguments: Any, **fixtures: Any) -> None:
        for _ in range(TRIES - 1):
            try:
                return test(*arguments, **fixtures)
            except AssertionError:
                cache.warm(Path())
        return test(*arguments, **fixtures)

    return retried
