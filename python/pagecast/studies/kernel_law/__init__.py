"""The kernel's throttling law against published traces, and what came of it: the throughput of many writers.

Source and pitfalls of the data: README.md in this folder. Left out: JBOD, RAID, NFS and USB sticks, writing
through mmap.
"""

from pagecast.studies.kernel_law.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
