"""The WRENCH-cache paper (Do et al., CLUSTER 2021): four experiments with a synthetic and a real application.

Models: a Linux cluster node with one SSD, and NFS. Source and pitfalls of the data: README.md in this folder.
Left out: the runs in which old output files were overwritten, and those with a warm server cache.
"""

from pagecast.studies.wrench_cache.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
