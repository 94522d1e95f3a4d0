"""The cgroups that this process is in, from its own up: ``/proc/self/cgroup``, cgroups(7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pagecast.procfs import lines

__all__ = ["OwnCgroup", "own_cgroups"]


@dataclass(frozen=True, slots=True)
class OwnCgroup:
    """Where a cgroup is, in which hierarchy, and of which version that is."""

    place: Path
    tree: Path
    version: int


def own_cgroups(proc: Path, sys: Path, controller: str) -> Iterator[OwnCgroup]:
    """Give the cgroups of version 2, and those of version 1 whose hierarchy has a controller.

    Parameters
    ----------
    proc, sys : Path
        Where they are mounted.
    controller : str
        Such as "memory".

    Yields
    ------
    OwnCgroup
        Nothing where the kernel does not tell.
    """
    unified = sys / "fs/cgroup"
    for line in lines(proc / "self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            trees, version = [unified, unified / "unified"], 2
        elif controller in controllers.split(","):
            trees, version = [unified / controller], 1
        else:
            continue
        tree = next((tree for tree in trees if (tree / path.lstrip("/")).is_dir()), trees[0])
        group = tree / path.lstrip("/")
        for place in (group, *group.parents):
            yield OwnCgroup(place, tree, version)
            if place == tree:
                break
