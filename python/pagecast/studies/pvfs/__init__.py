"""A dissertation on Petri nets of ext3 and PVFS: throughputs of PVFS clients, by block, clients and file.

It prints no throughput of PVFS. `shapes` has what its text says of the figures; sources: README.md in this
folder.
"""

from pagecast.studies.pvfs.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
