"""Studies: published experiments, run again and compared with measurements.

A study is a folder or module with a `Study` called ``STUDY``. Adding one is that and one entry in `STUDIES`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from pagecast.errors import StudyError

if TYPE_CHECKING:
    from pagecast.studies.skeleton import Study

__all__ = ["STUDIES", "Entry", "load"]


class Entry(NamedTuple):
    """Module, subject and experiments of a study."""

    module: str
    what: str
    experiments: str


STUDIES: Final = {
    "wrench-cache": Entry(
        "pagecast.studies.wrench_cache",
        "the cluster of the WRENCH-cache paper: four experiments, local SSD and NFS",
        "1 to 4",
    ),
    "cawl": Entry(
        "pagecast.studies.cawl",
        "two machines of the CAWL paper: long series of writes",
        "buffered or other",
    ),
    "live-kernel": Entry(
        "pagecast.studies.live_kernel",
        "cases recorded call by call on live kernels, any of them",
        "a platform",
    ),
    "live-nfs": Entry(
        "pagecast.studies.live_nfs",
        "cases of NFS recorded call by call: page caches of client and server",
        "a platform",
    ),
    "live-programs": Entry(
        "pagecast.studies.live_programs",
        "fio's own numbers and traced commands on live kernels, any of them",
        "a platform",
    ),
    "kernel-law": Entry(
        "pagecast.studies.kernel_law",
        "printed events and limits of the throttling law, and published throughputs",
        "law, throughput or foreground",
    ),
    "nfs": Entry(
        "pagecast.studies.nfs",
        "published throughputs of writers over NFS and sizes of COMMITs, by the client's dirty limit",
        "throughput",
    ),
    "ext3": Entry(
        "pagecast.studies.ext3",
        "a dissertation's server with ext3: journal modes, block and file sizes, the L2 cache",
        "tables, traces or figures",
    ),
    "pvfs": Entry(
        "pagecast.studies.pvfs",
        "the same dissertation's PVFS: one to eight clients on four servers, block and file sizes",
        "clients, buffer, starts, files or memory",
    ),
    "nvme-note": Entry(
        "pagecast.studies.notes.nvme",
        "five rates of a page cache benchmark on a fast NVMe disk",
        "device or file",
    ),
    "checksum-note": Entry(
        "pagecast.studies.notes.checksum",
        "a checksum of 1 GiB three times, with and without eviction",
        "kept or evicted",
    ),
}
"""The studies by name; a module is imported when its study is asked for."""


def load(name: str) -> "Study[Any]":
    """Find a study by its name.

    Raises
    ------
    StudyError
        There is no such study.
    """
    if name not in STUDIES:
        raise StudyError(f"there is no study {name!r}; there is {', '.join(STUDIES)}")
    return cast("Study[Any]", import_module(STUDIES[name].module).STUDY)
