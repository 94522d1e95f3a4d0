"""Finds features that reclaim page cache on this machine although no task needs memory.

Source: Documentation/admin-guide/mm/damon/usage.rst and reclaim.rst. Left out: programs that write to
`memory.reclaim` of a cgroup, which nobody can see.
"""

from pathlib import Path
from typing import Final

from pagecast import procfs

__all__ = ["proactive_reclaim"]

_WHAT: Final = (
    "is on: this kernel takes pages out of the cache that nobody has touched for a while, so that cached "
    "files may shrink by themselves"
)


def proactive_reclaim(sys: Path = procfs.SYS) -> str | None:
    """Name the features that reclaim pages that were not touched for a while; None if nothing is known to.

    Whether a kdamond is at work only root can see; that there is one, everybody.
    """
    kdamonds = sorted((sys / "kernel/mm/damon/admin/kdamonds").glob("[0-9]*"))
    if any(procfs.text(kdamond / "state") in (None, "on") for kdamond in kdamonds):
        return f"DAMON {_WHAT}"
    if procfs.text(sys / "module/damon_reclaim/parameters/enabled") == "Y":
        return f"DAMON_RECLAIM {_WHAT}"
    return None
