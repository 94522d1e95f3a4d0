"""Where the tests of the real page cache find a disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pagecast import cache

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
