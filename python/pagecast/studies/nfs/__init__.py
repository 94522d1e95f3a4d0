"""Writing over NFS when throttling became IO-less: published throughputs and sizes of COMMITs.

The data are read from a folder; README.md in this one says which.
"""

from pagecast.studies.nfs.study import STUDY

__all__ = ["STUDY", "run"]

run = STUDY.run
